"""Files of outputs and labels: read, check, write."""

from pathlib import Path

import numpy as np
import polars as pl

from skdiffuse._validation import rows_in_words

FORMATS = "a .csv, .jsonl (.ndjson) or .parquet file"
_PREFERENCES = {"a": 1.0, "b": -1.0, "tie": 0.0}
_BOOLEANS = {"true": 1.0, "false": 0.0}


def read_table(path: Path) -> pl.DataFrame:
    """Read a table; the columns of a CSV file stay text."""
    if not path.is_file():
        raise ValueError(f"{path} is not a file; give {FORMATS}.")
    try:
        match path.suffix.lower():
            case ".csv":
                table = pl.read_csv(path, infer_schema=False)
            case ".jsonl" | ".ndjson":
                table = pl.read_ndjson(path, infer_schema_length=None)
            case ".parquet":
                table = pl.read_parquet(path)
            case _:
                raise ValueError(f"{path} has an unknown ending; give {FORMATS}.")
    except pl.exceptions.PolarsError as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ValueError(f"{path} cannot be read: {reason}.") from error
    if table.is_empty():
        raise ValueError(f"{path} has no rows.")
    return table


def write_table(table: pl.DataFrame, path: Path) -> None:
    """Write a table in the format of the file's ending; never over a file."""
    if path.exists():
        raise ValueError(
            f"{path} exists and may hold annotations; move it or give another --out."
        )
    match path.suffix.lower():
        case ".csv":
            table.write_csv(path)
        case ".jsonl" | ".ndjson":
            table.write_ndjson(path)
        case ".parquet":
            table.write_parquet(path)
        case _:
            raise ValueError(f"{path} has an unknown ending; give {FORMATS}.")


def column(table: pl.DataFrame, name: str, option: str) -> pl.Series:
    """Return a column, or say which ones there are."""
    if name not in table.columns:
        raise ValueError(
            f"there is no column {name!r}; the file has "
            f"{', '.join(table.columns)}: name one of them with {option}."
        )
    return table[name]


def texts(table: pl.DataFrame, name: str, option: str) -> list[str]:
    """Return a column of outputs; an output must be there, if empty."""
    series = column(table, name, option)
    if series.dtype.is_nested():
        raise ValueError(
            f"column {name!r} holds {series.dtype} instead of text; join its parts to "
            "one text an example."
        )
    series = series.cast(pl.String)
    missing = series.is_null().arg_true().to_list()
    if missing:
        raise ValueError(
            f"column {name!r} has no output in {rows_in_words(missing)} (counted from "
            'zero); drop these examples, or write "" for an empty output.'
        )
    return series.to_list()


def numbers(
    table: pl.DataFrame, name: str, option: str, *, words: dict[str, float] = _BOOLEANS
) -> np.ndarray:
    """Return a column of numbers, NaN where it is empty.

    Texts are read as numbers or, in lower case, as one of `words`.
    """
    series = column(table, name, option)
    if series.dtype.is_numeric() or series.dtype == pl.Boolean:
        return series.cast(pl.Float64).to_numpy().astype(np.float64)
    if series.dtype not in (pl.String, pl.Null):
        raise ValueError(f"column {name!r} holds {series.dtype} instead of numbers.")
    values = np.full(len(series), np.nan)
    for row, text in enumerate(series.to_list()):
        word = "" if text is None else text.strip().lower()
        if not word or word == "nan":
            continue
        try:
            values[row] = words[word] if word in words else float(word)
        except ValueError:
            raise ValueError(
                f"column {name!r} holds {text!r} in row {row} (counted from zero); "
                f"write a number{_or_one_of(words)}, or leave it empty."
            ) from None
    return values


def complete_numbers(table: pl.DataFrame, name: str, option: str) -> np.ndarray:
    """Return a column of numbers that has one in each row."""
    values = numbers(table, name, option)
    missing = np.flatnonzero(~np.isfinite(values)).tolist()
    if missing:
        raise ValueError(
            f"column {name!r} has no finite number in {rows_in_words(missing)} "
            "(counted from zero); a judge must score every row."
        )
    return values


def preferences(
    table: pl.DataFrame, name: str, option: str, rows: np.ndarray
) -> np.ndarray:
    """Ask the oracle column for the preferences of some rows, and read no other."""
    answers = numbers(table[rows.tolist()], name, option, words=_PREFERENCES)
    bad = np.flatnonzero(~(np.abs(answers) <= 1))
    if len(bad):
        row, answer = rows[bad[0]], answers[bad[0]]
        found = "no preference" if np.isnan(answer) else f"the preference {answer:g}"
        raise ValueError(
            f"column {name!r} has {found} in row {row} (counted from zero), which was "
            "chosen to be judged; write A, B or tie, or a number in [-1, 1] that is "
            "positive where A is better."
        )
    return answers


def _or_one_of(words: dict[str, float]) -> str:
    return f" or one of {', '.join(words)}"
