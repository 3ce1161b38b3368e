"""Labels and judge scores from files: one, or one of each generator."""

from dataclasses import dataclass

import numpy as np
import polars as pl

from skdiffuse._words import rows_in_words
from skdiffuse.cli import _design, _files, _keys
from skdiffuse.cli._answers import Judged


@dataclass
class Reader:
    """Which columns hold what.

    Attributes
    ----------
    label : str
    judges : list of str
    groups, weight : str or None
    label_range : (low, high) or None
    """

    label: str
    judges: list[str]
    groups: str | None = None
    weight: str | None = None
    label_range: tuple[float, float] | None = None

    def single(self, table: pl.DataFrame) -> Judged:
        """Read the labels and judges of one file."""
        y = _files.numbers(table, self.label, "--label", optional=True)
        if np.isnan(y).all():
            raise ValueError(
                f"column {self.label!r} has no label; label some rows at random."
            )
        X = self._scores(table)
        return Judged(
            X,
            y,
            self.judges,
            dict(zip(self.judges, X.T, strict=True)),
            self._weights(table, ~np.isnan(y)),
            self._groups(table),
            self._range(table, y),
        )

    def pair(self, a: pl.DataFrame, b: pl.DataFrame, by: str | None) -> Judged:
        """Read the differences of two files with the same columns."""
        notes = []
        if by is not None:
            b = _keys.matched(a, b, by, "--pair-by", "paired")
        elif len(a) == len(b):
            notes.append(
                "Row by row, the two files are taken to have the same inputs; name the "
                "column of the inputs with --pair-by to be sure."
            )
        else:
            raise ValueError(
                f"the two files have {len(a)} and {len(b)} rows; name the column of "
                "the inputs with --pair-by, or give files with the same rows."
            )
        labels = [
            _files.numbers(t, self.label, "--label", optional=True) for t in (a, b)
        ]
        y = labels[0] - labels[1]
        alone = int(np.sum(np.isnan(y)) - np.sum(np.isnan(labels).all(axis=0)))
        if alone:
            notes.append(f"{alone} rows have a label in one file only: not used.")
        if np.isnan(y).all():
            raise ValueError(
                f"no input has a label {self.label!r} in both files; label the same "
                "rows of both."
            )
        _check_same_design(a, b)
        scores = [self._scores(table) for table in (a, b)]
        # Both judges of an input, since one may be worth more than the other.
        differences = dict(zip(self.judges, (scores[0] - scores[1]).T, strict=True))
        return Judged(
            np.hstack(scores),
            y,
            [
                f"{name} of {which} file"
                for which in ("the first", "the second")
                for name in self.judges
            ],
            differences,
            self._weights(a, ~np.isnan(y)),
            self._groups(a),
            self._range_of_differences((a, b), labels),
            notes,
            paired=True,
        )

    def _scores(self, table: pl.DataFrame) -> np.ndarray:
        columns = [_files.numbers(table, name, "--judge") for name in self.judges]
        return np.column_stack(columns)

    def _weights(self, table: pl.DataFrame, labeled: np.ndarray) -> np.ndarray | None:
        design = _design.read(table)
        if design is not None:
            return self._weights_of(design, labeled)
        if self.weight is None:
            return None
        values = _files.numbers(table, self.weight, "--weight", optional=True)
        bad = np.flatnonzero(labeled & ~(values > 0))
        if len(bad):
            raise ValueError(
                f"column {self.weight!r} holds {values[bad[0]]:g} in labelled "
                f"{rows_in_words(bad.tolist())} (counted from zero); write 1 / the "
                "chance that the row had to be labelled."
            )
        if (values[labeled] <= 1).all() and (values[labeled] < 1).any():
            raise ValueError(
                f"column {self.weight!r} holds numbers up to "
                f"{values[labeled].max():g}, which look like the chances themselves; "
                "write 1 / chance."
            )
        return values

    def _weights_of(
        self, design: _design.Design, labeled: np.ndarray
    ) -> np.ndarray | None:
        """Return the weights that a selection gives, or say why it gives none."""
        if not design.is_probability_sample:
            raise ValueError(f"{design.refusal()}.")
        if self.weight is not None:
            raise ValueError(
                "the columns of select say how the rows were chosen; drop --weight, or "
                "these columns."
            )
        odd = np.flatnonzero(labeled != design.chosen)
        if len(odd):
            what = "no label" if design.chosen[odd[0]] else "a label, but no selector"
            raise ValueError(
                f"the selection is judged in part: {rows_in_words(odd.tolist())} "
                f"(counted from zero) has {what}; label all of its rows, and no others."
            )
        return _design.weights(design)

    def _groups(self, table: pl.DataFrame) -> np.ndarray | None:
        if self.groups is None:
            return None
        return _keys.names(table, self.groups, "--groups").to_numpy()

    def _range(self, table: pl.DataFrame, y: np.ndarray) -> tuple[float, float] | None:
        if self.label_range is not None or not _files.has_preferences(
            table, self.label
        ):
            return self.label_range
        return (-1.0, 1.0)

    def _range_of_differences(
        self, tables: tuple[pl.DataFrame, pl.DataFrame], labels: list[np.ndarray]
    ) -> tuple[float, float] | None:
        values = np.concatenate(labels)
        values = values[~np.isnan(values)]
        if self.label_range is not None:
            low, high = self.label_range
            outside = values[(values < low) | (values > high)]
            if len(outside):
                raise ValueError(
                    f"--label-range {low:g} {high:g}, but column {self.label!r} holds "
                    f"{outside[0]:g}; it is the range of the labels of each file."
                )
        elif any(_files.has_preferences(table, self.label) for table in tables):
            low, high = -1.0, 1.0
        elif np.isin(values, (0, 1)).all():
            low, high = 0.0, 1.0
        else:
            return None
        return (low - high, high - low)


def _check_same_design(a: pl.DataFrame, b: pl.DataFrame) -> None:
    first, second = _design.read(a), _design.read(b)
    if second is not None and (first is None or first.selector != second.selector):
        raise ValueError(
            f"the second file was selected by {second.selector}, the first was not; "
            "select the same rows of both."
        )
