"""The examples of a file: an input, if there is one, and both outputs."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

import skdiffuse
from skdiffuse.cli import _design, _files


@dataclass(frozen=True)
class Pairs:
    """Examples with the outputs of both generators.

    Attributes
    ----------
    table : DataFrame
        The whole file.
    texts_a, texts_b : list of str
        The outputs of A and of B.
    inputs : list of (str or None), or None
        What both answered; None where the file does not say.
    """

    table: pl.DataFrame
    texts_a: list[str]
    texts_b: list[str]
    inputs: list[str | None] | None

    def __len__(self) -> int:
        return len(self.texts_a)

    @property
    def all_equal(self) -> bool:
        """Whether A and B are the same in every row."""
        return self.texts_a == self.texts_b

    def not_tied(self, known_ties: str | None) -> np.ndarray:
        """Return the rows that have to be asked for."""
        if known_ties is None:
            return np.arange(len(self))
        pairs = list(zip(self.texts_a, self.texts_b, strict=True))
        asked = np.flatnonzero(~skdiffuse.identical_outputs(pairs))
        if not len(asked):
            raise ValueError(
                "both outputs are equal in every row: nothing is to be asked."
            )
        return asked

    def mask_without(self, asked: np.ndarray) -> np.ndarray:
        """Return a mask of the other rows."""
        return ~np.isin(np.arange(len(self)), asked)


def read(
    file: Path, output_a: str, output_b: str, input_column: str | None = None
) -> Pairs:
    """Read a file of examples; without a name, a column `input` is the input."""
    table = _files.read_table(file)
    _check_joined(table, output_a, output_b)
    texts_a = _files.texts(table, output_a, "--output-a")
    texts_b = _files.texts(table, output_b, "--output-b")
    if input_column is None and "input" in table.columns:
        input_column = "input"
    inputs = None
    if input_column is not None:
        column = _files.column(table, input_column, "--input")
        inputs = _files.as_text(column).to_list()
    return Pairs(table, texts_a, texts_b, inputs)


def _check_joined(table: pl.DataFrame, output_a: str, output_b: str) -> None:
    """Raise a ValueError if a file has the outputs of one generator alone."""
    if not {output_a, output_b} & set(table.columns) and "output" in table.columns:
        raise ValueError(
            f"there are no columns {output_a!r} and {output_b!r}, but 'output': if "
            "there is a file for each generator, join the two first: skdiffuse join A "
            "B --out PAIRS; else name the columns with --output-a and --output-b."
        )


def read_whole(
    file: Path, output_a: str, output_b: str, input_column: str | None
) -> Pairs:
    """Read a file of all examples, of which some differ."""
    pairs = read(file, output_a, output_b, input_column)
    if pairs.all_equal:
        raise ValueError(
            f"columns {output_a!r} and {output_b!r} have equal outputs in every row, "
            "so there is nothing to compare; look at --output-a and --output-b."
        )
    refuse_selection(
        file,
        pairs,
        "its other examples are not in it; count its answers with: skdiffuse decide",
    )
    return pairs


def refuse_selection(file: Path, pairs: Pairs, mend: str) -> None:
    """Raise a ValueError if a file holds some examples of another."""
    if _design.read(pairs.table) is not None:
        raise ValueError(f"{file} is itself a selection; {mend}.")
