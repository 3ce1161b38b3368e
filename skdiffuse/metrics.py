"""Winner, winning distance, success: what the preferences of some examples say.

A preference is +1 where A is better, 0 for a tie and -1 where B is better; any real
number in between is a graded preference.
"""

import math
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils import check_array, column_or_1d

from skdiffuse._validation import check_finite_rows

__all__ = ["success", "winner", "winning_distance"]

_LARGEST = 1e290
_EPSILON = float(np.finfo(np.float64).eps)


def _check_preferences(preferences: Any) -> np.ndarray:
    values = check_array(
        preferences,
        ensure_2d=False,
        dtype=None,
        ensure_all_finite=False,
        input_name="preferences",
    )
    values = column_or_1d(values)
    if values.dtype.kind in "bSU" or (
        values.dtype == object
        and any(isinstance(value, str | bool | np.bool_) for value in values)
    ):
        raise ValueError(
            "preferences hold words or booleans; write numbers: 1 where A is better, 0 "
            "for a tie, -1 where B is (for a pandas column: "
            ".map({'A': 1, 'tie': 0, 'B': -1}))."
        )
    try:
        values = values.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(
            f"preferences hold something else than numbers: {error}."
        ) from error
    check_finite_rows(
        values, "preferences", "judge these examples or leave them out of the count"
    )
    largest = np.abs(values).max()
    if largest > _LARGEST:
        raise ValueError(
            f"preferences hold {largest:.3g}, whose sum may overflow; divide them by a "
            "constant."
        )
    return values


def winner(preferences: Any) -> int:
    """Name the better of two generators from the preferences of some examples.

    Parameters
    ----------
    preferences : array-like of shape (n_examples,)
        +1 where A is better, 0 for a tie, -1 where B is better; real numbers are
        graded preferences.

    Returns
    -------
    int
        +1 if A is ahead, -1 if B is ahead, 0 if neither is.

    Raises
    ------
    ValueError
        If `preferences` is empty, is not one-dimensional, or holds NaN or infinity.

    Notes
    -----
    The winner is the sign of the sum, up to rounding. For preferences in {-1, 0, +1}
    that is the majority among the examples that are not ties.

    Examples
    --------
    >>> from skdiffuse.metrics import winner
    >>> winner([1, 0, 0, -1, 1])
    1
    >>> winner([1, 0, -1])
    0
    """
    return sign_of_sum(_check_preferences(preferences))


def sign_of_sum(values: np.ndarray) -> int:
    """Return the sign of a sum of finite numbers; 0 if rounding could explain it."""
    total, size = float(values.sum()), float(np.abs(values).sum())
    # A fast sum is off by less than this; an exact one is slow, and seldom needed.
    if abs(total) <= 2 * len(values) * _EPSILON * size:
        total = math.fsum(values)
        # Graded preferences such as 0.1 are rounded where they are written down.
        if abs(total) <= _EPSILON * math.fsum(np.abs(values)):
            return 0
    return 1 if total > 0 else -1


def winning_distance(preferences: Any) -> float:
    """Measure how far A is ahead: P(A wins) - P(B wins), ties in the denominator.

    Parameters
    ----------
    preferences : array-like of shape (n_examples,)
        +1 where A is better, 0 for a tie, -1 where B is better; real numbers are
        graded preferences.

    Returns
    -------
    float
        The mean preference: in [-1, 1] for preferences in [-1, 1], positive where A
        is ahead. The tables of [1]_ print its absolute value.

    Raises
    ------
    ValueError
        If `preferences` is empty, is not one-dimensional, or holds NaN or infinity.

    Notes
    -----
    Over *all* examples this is the truth. Over examples that were chosen for being
    different, as DiffUse chooses them, it is biased towards the winner; use it for a
    size only over a probability sample.

    References
    ----------
    .. [1] Ashury-Tahan et al., "Label-Efficient Model Selection for Text
       Generation", ACL 2024, arXiv:2402.07891.

    Examples
    --------
    >>> from skdiffuse.metrics import winning_distance
    >>> winning_distance([1, 0, 0, -1, 1])
    0.2
    """
    values = _check_preferences(preferences)
    return math.fsum(values) / len(values)


def success(verdict: int, preferences: Any) -> float:
    """Tell whether a verdict agrees with the preferences of all examples.

    Parameters
    ----------
    verdict : {-1, 0, 1}
        The winner that was named; 0 if the comparison was inconclusive.
    preferences : array-like of shape (n_examples,)
        The preferences of all examples.

    Returns
    -------
    float
        1 if their winner was named, 0 if the other was, 0.5 if none was or they are
        tied. The mean over many comparisons is the success rate.

    Raises
    ------
    ValueError
        If `verdict` is not -1, 0 or 1, or `preferences` is empty, is not
        one-dimensional, or holds NaN or infinity.

    Examples
    --------
    >>> from skdiffuse.metrics import success
    >>> success(1, [1, 1, -1]), success(-1, [1, 1, -1]), success(0, [1, 1, -1])
    (1.0, 0.0, 0.5)
    """
    if not isinstance(verdict, Real) or verdict not in (-1, 0, 1):
        raise ValueError(
            f"verdict={verdict!r} is no winner; pass 1 (A), -1 (B) or 0 (inconclusive)."
        )
    return (1 + int(verdict) * winner(preferences)) / 2
