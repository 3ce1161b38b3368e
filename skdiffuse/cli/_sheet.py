"""A selection, and answers to it, whatever tool the file comes from."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from skdiffuse.cli import _design

LEFT, TIE, RIGHT = "left", "tie", "right"
QUESTION = "Which output is better?"
# What a tool carries beside the texts: which generator stood on the left, too.
CARRIED = ("row", "left", *_design.COLUMNS)
TEXTS = ("output_a", "output_b", "left_output", "right_output")


@dataclass(frozen=True)
class Answer:
    """What was said of a row, as the tool wrote it.

    Attributes
    ----------
    row : object
        The number of the row.
    choice : object
        None or blank where nothing was chosen.
    left : object
        Which generator stood on the left, if the file says so.
    skipped : str or None
        Why it does not count.
    """

    row: Any
    choice: Any
    left: Any = None
    skipped: str | None = None


@dataclass(frozen=True)
class Sheet:
    """A file that holds a selection, or answers, or both.

    Attributes
    ----------
    path : Path
        Where it was read.
    tool : str or None
        What wrote it; None for a table.
    table : DataFrame
        One row an example.
    answers : list of Answer
        In the order of the file; several of a row where a tool allows that.
    notes : list of str
        What was noticed in reading.
    texts : list of dict
        The number of a row and its outputs, as far as the file has them.
    """

    path: Path
    tool: str | None
    table: pl.DataFrame
    answers: list[Answer]
    notes: list[str] = field(default_factory=list)
    texts: list[dict[str, Any]] = field(default_factory=list)

    @property
    def is_answered(self) -> bool:
        """Whether anything was chosen."""
        return any(not is_blank(answer.choice) for answer in self.answers)


def is_blank(value: Any) -> bool:
    """Tell whether a cell holds nothing."""
    return value is None or str(value).strip().lower() in ("", "nan")


def texts_of(examples: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the outputs of examples, and nothing else but their rows."""
    names = ("row", *TEXTS)
    return [{name: one[name] for name in names if name in one} for one in examples]


def row_number(value: Any) -> int | None:
    """Read the number of a row, also as spreadsheets write it (3.0); None if none."""
    found = re.fullmatch(r"\s*([0-9]{1,18})(\.0*)?\s*", str(value))
    return int(found[1]) if found else None


def sides(n_rows: int, seed: int) -> list[str]:
    """Draw which generator stands on the left of each row: either as often."""
    rng = np.random.default_rng(seed)
    names = np.array(["A", "B"])[(np.arange(n_rows) + rng.integers(2)) % 2]
    return rng.permutation(names).tolist()


def blinded(table: pl.DataFrame, seed: int) -> list[dict[str, Any]]:
    """Return the examples of a selection with their outputs on random sides."""
    examples = []
    names = sides(len(table), seed)
    for example, left in zip(table.iter_rows(named=True), names, strict=True):
        outputs = [example.pop(f"output_{which}") for which in "ab"]
        if left == "B":
            outputs.reverse()
        del example["preference"]
        texts = dict(zip(("left_output", "right_output"), outputs, strict=True))
        examples.append({**example, **texts, "left": left})
    return examples


def carried(examples: Iterable[dict[str, Any]]) -> pl.DataFrame:
    """Return the columns of a selection that a tool carried along; a row once."""
    by_row = {str(example.get("row")): example for example in examples}
    each = list(by_row.values())
    there = {name for one in each for name in one}
    if "selector" in there:
        # Argilla keeps no empty cells, and some selections have nothing else here.
        there |= {"draw", "probability"}
    # As text, like a CSV file: tools change the types of numbers.
    return pl.DataFrame(
        {
            name: pl.Series([_text(one.get(name)) for one in each], dtype=pl.String)
            for name in CARRIED
            if name in there
        }
    )


def check_rows(path: Path, rows: Sequence[Any], what: str) -> None:
    """Raise a ValueError unless each example has the number of its row."""
    for place, row in enumerate(rows):
        if row is None:
            raise ValueError(
                f"{path} has no `row` in its {what} {place} (counted from zero); give "
                "what came of a file that select wrote."
            )


def read_json(path: Path) -> list[dict[str, Any]]:
    """Read a list of JSON objects."""
    try:
        content = json.loads(path.read_bytes().decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8 text; export it anew.") from error
    except (ValueError, RecursionError) as error:
        if not path.stat().st_size:
            raise ValueError(f"{path} is empty.") from error
        raise ValueError(f"{path} is not JSON ({error}); export it anew.") from error
    if not isinstance(content, list) or not all(
        isinstance(item, dict) for item in content
    ):
        raise ValueError(
            f"{path} is not a list of JSON objects, as Label Studio and Argilla write "
            "it; export it anew."
        )
    if not content:
        raise ValueError(f"{path} has no examples.")
    return content


def _text(value: Any) -> str | None:
    # Half of a character is kept as its escape: a table has none.
    return (
        None if value is None else str(value).encode(errors="backslashreplace").decode()
    )
