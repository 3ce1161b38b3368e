"""How many annotations a comparison will probably still take."""

from copy import deepcopy
from typing import Any

import numpy as np

# Beyond so many more annotations nothing is guessed.
_FAR = 1000


def likely_left(
    rule: Any,
    preferences: np.ndarray,
    n_examples: int,
    least: int,
    most: int,
) -> int | None:
    """Return after how many more annotations a rule stops, if the answers repeat.

    Parameters
    ----------
    rule : StoppingRule
    preferences : ndarray of shape (n_annotations,)
        What was told so far; repeated from its beginning as what is still to come.
    n_examples : int
        Number of all examples.
    least, most : int
        Between how many annotations in all the rule may stop.

    Returns
    -------
    int or None
        None if it does not stop, or only after more than a thousand, or nothing was
        told yet.
    """
    n = len(preferences)
    if n == 0:
        return None
    # A rule may remember its last look.
    rule = deepcopy(rule)
    last = most == n_examples or rule.decides_at_budget
    for total in _looks(n, least, most):
        if total == most and last:
            return total - n
        if total - n > _FAR:
            break
        if rule.assess(np.resize(preferences, total), n_examples).stop:
            return total - n
    return None


def _looks(n: int, least: int, most: int) -> list[int]:
    """Return at which numbers of annotations to look: all near ones, few far ones."""
    looks = []
    total = max(n + 1, least)
    while total < min(most, n + _FAR):
        looks.append(total)
        total += 1 + (total - n) // 10
    return [*looks, most]
