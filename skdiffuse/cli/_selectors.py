"""Selectors and rules that can be named on the command line."""

from collections.abc import Callable
from typing import Any

import numpy as np

import skdiffuse
from skdiffuse.cli import _embed
from skdiffuse.cli._pairs import Pairs

NAMES = ("diffuse", "random", "weighted", "norm")
DRAWN = ("random", "weighted")
_LEAST, _MOST = 5, 200

Stage = Callable[[str], Callable[[int, int], None]]


def make(
    name: str, budget: int, clustering: str, representative: str, seed: int
) -> Any:
    """Return the selector of that name."""
    if name == "random":
        return skdiffuse.RandomSelector(budget, random_state=seed)
    if name == "norm":
        return skdiffuse.NormSelector(budget)
    if name == "weighted":
        return skdiffuse.NormSelector(budget, probability=True, random_state=seed)
    return skdiffuse.DiffUseSelector(
        budget,
        clustering=clustering,
        representative=representative,
        random_state=seed,
    )


def order_of(selector: str | None, rule: str | None) -> str:
    """Return the name of the selector where none was given."""
    return selector or ("random" if rule == "betting" else "diffuse")


def limits(least: int | None, most: int | None) -> tuple[int, int]:
    """Return between how many annotations a rule may stop."""
    most = most or max(_MOST, least or 0)
    return least or min(_LEAST, most), most


def check_judge(judge: str | None, selector: str) -> None:
    """Raise a ValueError if a judge's column is of no use."""
    if judge is not None and selector not in DRAWN:
        raise ValueError(
            f"--judge is of use with --selector random or weighted, not with "
            f"{selector}."
        )


def describe(name: str, chooser: Any, seed: int) -> str:
    """Say in a few words what chose the rows, so that it can be done again."""
    if name == "random":
        return f"random, seed {seed}"
    if name == "norm":
        return "norm, the longest"
    if name == "weighted":
        how = f"power {chooser.power:g}, floor {chooser.floor:g}"
        return f"weighted, {how}, seed {seed}"
    return f"diffuse, {chooser.clustering}, {chooser.representative}, seed {seed}"


def make_rule(
    name: str | None, risk: float | None, ties: str | None, selector: str
) -> Any:
    """Return the stopping rule of that name; None is the hypergeometric one."""
    if name in ("fixed", "betting") and ties is not None:
        raise ValueError(f"--rule {name} takes a tie for half a win; drop --ties.")
    if name == "fixed":
        if risk is not None:
            raise ValueError("--rule fixed does not look at the risk; drop --risk.")
        return skdiffuse.FixedBudget()
    if name == "betting" and selector not in DRAWN:
        raise ValueError(
            f"--rule betting holds for random draws only, and --selector {selector} "
            "makes none; take --selector random or weighted, or another rule."
        )
    if risk is not None and not 0 < risk < 1:
        raise ValueError(f"--risk {risk:g} is not between 0 and 1; give, say, 0.1.")
    if name == "betting":
        return skdiffuse.BettingRule(**_given(alpha=risk))
    return skdiffuse.HypergeometricRule(**_given(risk=risk, ties=ties))


def _given(**options: Any) -> dict[str, Any]:
    """Leave out what was not given, so that the defaults stand in one place."""
    return {name: value for name, value in options.items() if value is not None}


def vectors(
    selector: str,
    pairs: Pairs,
    embedder: str,
    seed: int,
    stage: Stage,
) -> np.ndarray:
    """Return the difference vectors; a random order needs none."""
    if selector == "random":
        return np.zeros((len(pairs), 1))
    advance = stage(f"Embedding {2 * len(pairs)} outputs")
    X = _embed.difference_vectors(pairs.texts_a, pairs.texts_b, embedder, seed, advance)
    advance(1, 1)
    stage(f"Ordering {len(X)} differences")
    return X
