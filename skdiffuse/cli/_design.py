"""How the rows of a file were chosen, written beside them and read back."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from skdiffuse._validation import rows_in_words
from skdiffuse.cli import _files
from skdiffuse.selection._draws import sequential_weights

COLUMNS = ("selector", "draw", "probability", "n_pool")


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
    chosen : ndarray of bool of shape (n_rows,)
        Which rows of the file belong to the selection.
    """

    selector: str
    draws: np.ndarray
    probabilities: np.ndarray
    n_pool: int
    chosen: np.ndarray

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


def columns(chooser: Any, rows: list[int], description: str) -> dict[str, Any]:
    """Return the columns that say how a fitted selector chose these rows."""
    draws: list[int | None] = [None] * len(rows)
    probabilities: list[float | None] = [None] * len(rows)
    if chooser.draw_probabilities_ is not None:
        place = {row: t for t, row in enumerate(chooser.annotation_order().tolist())}
        draws = [place[row] + 1 for row in rows]
        each = chooser.draw_probabilities_
        probabilities = [float(each[place[row]]) for row in rows]
    elif chooser.inclusion_probabilities_ is not None:
        probabilities = chooser.inclusion_probabilities_[rows].tolist()
    values = (
        [description] * len(rows),
        pl.Series(draws, dtype=pl.Int64),
        pl.Series(probabilities, dtype=pl.Float64),
        [len(chooser.get_support())] * len(rows),
    )
    return dict(zip(COLUMNS, values, strict=True))


def read(table: pl.DataFrame) -> Design | None:
    """Read the columns back; None if the file has none of them.

    Raises
    ------
    ValueError
        If some are missing, or disagree with each other.
    """
    there = [name for name in COLUMNS if name in table.columns]
    # Other files have a column of such a name too.
    if len(there) < 2:
        return None
    if len(there) < len(COLUMNS):
        missing = [name for name in COLUMNS if name not in table.columns]
        raise ValueError(
            f"the file has the columns {', '.join(there)} of a selection, but not "
            f"{', '.join(missing)}; keep all of them, or drop all."
        )
    chosen = ~_files.is_empty(table["selector"])
    if not chosen.any():
        raise ValueError("column 'selector' is empty in every row; drop these columns.")
    selectors = table["selector"].filter(pl.Series(chosen)).unique().to_list()
    sizes = _number(table, "n_pool")[chosen]
    if len(selectors) > 1 or np.isnan(sizes).any() or len(np.unique(sizes)) > 1:
        raise ValueError(
            "the columns selector and n_pool differ between rows: these are rows of "
            "several selections; give the rows of one."
        )
    design = Design(
        str(selectors[0]),
        _number(table, "draw"),
        _number(table, "probability"),
        int(sizes[0]),
        chosen,
    )
    _check(design)
    return design


def weights(design: Design) -> np.ndarray | None:
    """Return how many rows each stands for; None if equally many."""
    probabilities = design.probabilities
    each = np.zeros(len(probabilities))
    if not design.is_drawn:
        each[design.chosen] = 1 / probabilities[design.chosen]
        return each
    rows = np.flatnonzero(design.chosen)
    rows = rows[np.argsort(design.draws[rows])]
    drawn = sequential_weights(probabilities[rows], design.n_pool)
    if np.ptp(drawn) < 1e-9:
        return None
    each[rows] = drawn * design.n_pool / len(rows)
    return each


def _number(table: pl.DataFrame, name: str) -> np.ndarray:
    return _files.numbers(table, name, f"of a selection ({name})", optional=True)


def _check(design: Design) -> None:
    probabilities = design.probabilities[design.chosen]
    some = ~np.isnan(probabilities)
    if some.any() and not some.all():
        rows = np.flatnonzero(design.chosen)[~some].tolist()
        raise ValueError(
            f"column 'probability' is empty in {rows_in_words(rows)} (counted from "
            "zero), but not in the others; write the file anew with select."
        )
    if some.all() and not ((probabilities > 0) & (probabilities <= 1)).all():
        raise ValueError("column 'probability' holds a number outside (0, 1].")
    if design.chosen.sum() > design.n_pool:
        raise ValueError(
            f"the file has {design.chosen.sum()} chosen rows, more than the "
            f"{design.n_pool} that n_pool says they were chosen from."
        )
    if design.is_probability_sample and design.is_drawn:
        places = np.sort(design.draws[design.chosen])
        if not np.array_equal(places, np.arange(1, len(places) + 1)):
            raise ValueError(
                "column 'draw' does not hold 1, 2, 3 and so on, each once: rows of "
                "the selection are missing or twice in the file; give all of them."
            )
