"""How the rows of a file were chosen, written beside them and read back."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from skdiffuse._words import rows_in_words
from skdiffuse.cli import _files

COLUMNS = ("selector", "draw", "probability", "n_selected", "n_pool", "n_ties")
# How the description of a selector begins.
_NAMES = ("diffuse, ", "random, ", "weighted, ", "norm, ")
# Where the columns are lost, the answers are not.
MEND = (
    "select anew with the same options into another file, and give decide that one as "
    "FILE and this one, for its answers, as ANNOTATIONS"
)


@dataclass(frozen=True)
class Design:
    """What the columns of a selection say of its rows.

    Attributes
    ----------
    selector : str
        What chose them.
    draws : ndarray of shape (n_rows,)
        The place of each row in the order of draws, from 1; NaN where it has none.
    probabilities : ndarray of shape (n_rows,)
        Of the draw of each row, or (without draws) of its inclusion; NaN where it has
        none.
    n_pool : int
        Number of rows that were chosen from.
    n_ties : int
        Number of rows beside them that are ties without asking.
    chosen : ndarray of bool of shape (n_rows,)
        Which rows of the file belong to the selection.
    """

    selector: str
    draws: np.ndarray
    probabilities: np.ndarray
    n_pool: int
    n_ties: int
    chosen: np.ndarray

    @property
    def is_complete(self) -> bool:
        """Whether all rows were chosen."""
        return bool(self.chosen.sum() == self.n_pool)

    @property
    def is_probability_sample(self) -> bool:
        """Whether a size may be told from it."""
        return not np.isnan(self.probabilities[self.chosen]).any()

    @property
    def is_drawn(self) -> bool:
        """Whether its rows were drawn one after the other."""
        return not np.isnan(self.draws[self.chosen]).any()

    def refusal(self) -> str:
        """Say why no size may be told from it."""
        return (
            f"the rows were chosen by {self.selector} to find the winner, and their "
            "mean is not that of all rows; for a size, select with --selector random "
            "or weighted"
        )


def columns(chooser: Any, places: list[int], description: str, n_ties: int) -> dict:
    """Return the columns that say how a fitted selector chose these places."""
    n = len(places)
    draws: list[int | None] = [None] * n
    probabilities: list[float | None] = [None] * n
    if chooser.draw_probabilities_ is not None:
        turn = {place: t for t, place in enumerate(chooser.annotation_order().tolist())}
        draws = [turn[place] + 1 for place in places]
        each = chooser.draw_probabilities_
        probabilities = [float(each[turn[place]]) for place in places]
    elif chooser.inclusion_probabilities_ is not None:
        probabilities = chooser.inclusion_probabilities_[places].tolist()
    values = (
        [description] * n,
        pl.Series(draws, dtype=pl.Int64),
        pl.Series(probabilities, dtype=pl.Float64),
        [n] * n,
        [len(chooser.get_support())] * n,
        [n_ties] * n,
    )
    return dict(zip(COLUMNS, values, strict=True))


def read(table: pl.DataFrame) -> Design | None:
    """Read the columns back; None if the file has none of them.

    Raises
    ------
    ValueError
        If some are missing, or disagree with each other.
    """
    names = {name.strip().lower(): name for name in table.columns}
    there = [name for name in COLUMNS if name in names]
    # Other files have a column of such a name too.
    if not ("n_pool" in there or _is_ours(table, names.get("selector"))):
        return None
    if len(there) < len(COLUMNS):
        missing = [name for name in COLUMNS if name not in there]
        raise ValueError(
            f"the file has the columns {', '.join(there)} of a selection, but not "
            f"{', '.join(missing)}; keep all of them."
        )
    table = table.select(pl.col(names[name]).alias(name) for name in COLUMNS)
    chosen = ~_files.is_empty(table["selector"])
    if not chosen.any():
        raise ValueError("column 'selector' is empty in every row; drop these columns.")
    odd = [
        name
        for name in ("selector", "n_selected", "n_pool", "n_ties")
        if table[name].filter(pl.Series(chosen)).cast(pl.String).n_unique() > 1
    ]
    if odd:
        raise ValueError(
            f"the column {odd[0]!r} differs between rows: these are rows of several "
            "selections; give the rows of one."
        )
    return _checked(table, chosen)


def _checked(table: pl.DataFrame, chosen: np.ndarray) -> Design:
    first = int(np.flatnonzero(chosen)[0])
    draws, probabilities = (_numbers(table, name) for name in ("draw", "probability"))
    sizes = []
    for name in ("n_selected", "n_pool", "n_ties"):
        value = _numbers(table, name)[first]
        if not (value >= 0 and value == round(value) and value < 1e15):
            raise ValueError(
                f"column {name!r} holds {_files.shown(table[name][first])}, which is "
                f"no number of rows; {MEND}."
            )
        sizes.append(int(value))
    n_selected, n_pool, n_ties = sizes
    design = Design(
        str(table["selector"][first]), draws, probabilities, n_pool, n_ties, chosen
    )
    n = int(chosen.sum())
    if n != n_selected or n > n_pool:
        raise ValueError(
            f"the file has {n} chosen rows, but {n_selected} of {n_pool} were "
            "selected: rows are missing or twice; give all of them, also those without "
            "an answer."
        )
    _check_probabilities(design)
    return design


def _check_probabilities(design: Design) -> None:
    for name, values in (
        ("draw", design.draws),
        ("probability", design.probabilities),
    ):
        empty = np.isnan(values[design.chosen])
        if empty.any() and not empty.all():
            rows = np.flatnonzero(design.chosen)[empty].tolist()
            raise ValueError(
                f"column {name!r} is empty in {rows_in_words(rows)} (counted from "
                f"zero), but not in the others; {MEND}."
            )
    draws, chances = (
        values[design.chosen] for values in (design.draws, design.probabilities)
    )
    if not design.is_probability_sample:
        drawn = design.selector.startswith(("random, ", "weighted, "))
        if drawn or design.is_drawn:
            raise ValueError(
                "column 'probability' is empty, although the rows were drawn by "
                f"{design.selector}; {MEND}."
            )
        return
    if not ((chances > 0) & (chances <= 1)).all():
        raise ValueError(f"column 'probability' holds a number outside (0, 1]; {MEND}.")
    if design.is_drawn:
        if not np.array_equal(np.sort(draws), np.arange(1, len(draws) + 1)):
            raise ValueError(
                f"column 'draw' does not hold 1, 2, 3 and so on, each once; {MEND}."
            )
        _check_draws(design)
        return
    if not np.isclose((1 / chances).sum(), design.n_pool, rtol=1e-6):
        raise ValueError(
            "column 'probability' does not add up to the rows that were selected from; "
            f"{MEND}."
        )


def _check_draws(design: Design) -> None:
    """Raise a ValueError if the chances of the draws were rounded or changed."""
    draws, chances = (
        values[design.chosen] for values in (design.draws, design.probabilities)
    )
    equal = 1 / (design.n_pool - draws + 1)
    odd = ~np.isclose(chances, equal, rtol=1e-6, atol=0)
    if not odd.any():
        return
    if design.selector.startswith("random, "):
        row = int(np.flatnonzero(design.chosen)[odd][0])
        raise ValueError(
            f"column 'probability' holds {design.probabilities[row]:g} in row {row} "
            f"(counted from zero), where random draws have {equal[odd][0]:.9g}: a "
            f"spreadsheet may have rounded it; {MEND}."
        )
    # Chances that differ are no short decimals; a few may be, by accident.
    if len(chances) >= 5 and all(float(f"{p:.4g}") == p for p in chances):
        raise ValueError(
            "column 'probability' has four digits or fewer in every row, so that a "
            f"spreadsheet seems to have rounded it; {MEND}."
        )


def weights(design: Design) -> np.ndarray | None:
    """Return how many rows each stands for; None if equally many."""
    probabilities = design.probabilities
    each = np.zeros(len(probabilities))
    if not design.is_drawn:
        each[design.chosen] = 1 / probabilities[design.chosen]
        return each
    if design.selector.startswith("random, "):
        return None
    rows = np.flatnonzero(design.chosen)
    rows = rows[np.argsort(design.draws[rows])]
    from skdiffuse.selection._draws import sequential_weights

    drawn = sequential_weights(probabilities[rows], design.n_pool)
    if np.ptp(drawn) < 1e-9:
        return None
    each[rows] = drawn * design.n_pool / len(rows)
    return each


def _is_ours(table: pl.DataFrame, name: str | None) -> bool:
    """Tell whether a column of selectors is one that select wrote."""
    if name is None or table[name].dtype != pl.String:
        return False
    return any(value.startswith(_NAMES) for value in table[name].drop_nulls())


def _numbers(table: pl.DataFrame, name: str) -> np.ndarray:
    """Return a column of numbers, NaN where it is empty."""
    series = table[name]
    empty = _files.is_empty(series)
    # To Python a number may have an underscore.
    values = (
        series.cast(pl.String)
        .str.strip_chars()
        .cast(pl.Float64, strict=False)
        .to_numpy()
        .astype(np.float64)
    )
    bad = np.flatnonzero(~empty & ~np.isfinite(values))
    if len(bad):
        raise ValueError(
            f"column {name!r} holds {_files.shown(series[int(bad[0])])} in "
            f"{rows_in_words(bad.tolist())} (counted from zero) instead of a number, "
            f"as select wrote it; {MEND}."
        )
    return np.where(empty, np.nan, values)
