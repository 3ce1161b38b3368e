"""Files of outputs and labels: read, check, write."""

import codecs
import io
import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
import polars as pl
import polars.selectors as cs

from skdiffuse._words import rows_in_words

FORMATS = "a .csv, .jsonl (.ndjson) or .parquet file"
_SHOWN = 200  # characters of a value that is wrong
_BOOLEANS = {"true": 1.0, "false": 0.0}
_WORDS = {**_BOOLEANS, "a": 1.0, "b": -1.0, "tie": 0.0}
_WRITERS: dict[str, Callable[[pl.DataFrame, IO[bytes]], object]] = {
    ".csv": pl.DataFrame.write_csv,
    ".jsonl": pl.DataFrame.write_ndjson,
    ".ndjson": pl.DataFrame.write_ndjson,
    ".parquet": pl.DataFrame.write_parquet,
}


def check_there(path: Path) -> None:
    """Raise a ValueError unless there is a file to read."""
    if not path.is_file():
        raise ValueError(f"{path} is not a file; give {FORMATS}.")


def read_table(path: Path) -> pl.DataFrame:
    """Read a table; the columns of a CSV file stay text."""
    check_there(path)
    if path.stat().st_size == 0:
        raise ValueError(f"{path} is empty.")
    # Bytes, since a name is a pattern to polars; Windows puts a mark before the first.
    content = path.read_bytes().removeprefix(codecs.BOM_UTF8)
    if path.suffix.lower() in (".csv", ".jsonl", ".ndjson"):
        _check_text(path, content)
    source = io.BytesIO(content)
    try:
        match path.suffix.lower():
            case ".csv":
                table = pl.read_csv(source, infer_schema=False)
            case ".jsonl" | ".ndjson":
                table = pl.read_ndjson(source, infer_schema_length=None)
            case ".parquet":
                table = pl.read_parquet(source)
            case _:
                raise ValueError(f"{path} has an unknown ending; give {FORMATS}.")
    # RuntimeError is what older polars raises.
    except (pl.exceptions.PolarsError, RuntimeError) as error:
        raise ValueError(f"{path} cannot be read: {_reason(path, error)}.") from error
    if table.is_empty():
        raise ValueError(f"{path} has no rows.")
    if path.suffix.lower() == ".csv":
        _check_names(path, table.columns)
    return table.with_columns(cs.by_dtype(pl.Categorical, pl.Enum).cast(pl.String))


def _check_text(path: Path, content: bytes) -> None:
    """Raise a ValueError if a text is written in another way than ours."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise ValueError(f"{path} is UTF-16 text; save it anew as UTF-8.")
    try:
        content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(
            f"{path} is not UTF-8 text (line {line}); save it anew as UTF-8."
        ) from error
    header = content.split(b"\n", 1)[0]
    if path.suffix.lower() != ".csv" or b"," in header:
        return
    for sign, name in ((b";", "semicolons"), (b"\t", "tabs"), (b"|", "bars")):
        if sign in header:
            raise ValueError(
                f"{path} has {name} between its columns, and a CSV file needs commas; "
                "save it anew with commas."
            )


def _check_names(path: Path, names: list[str]) -> None:
    """Raise a ValueError if a header names a column twice."""
    for name in names:
        # How polars names the second one.
        again = re.fullmatch(r"(.+)_duplicated_\d+", name, re.DOTALL)
        if again and again[1] in names:
            raise ValueError(
                f"{path} has two columns {shown(again[1])}; rename or drop one of them."
            )


def check_new(path: Path) -> None:
    """Raise a ValueError if a table cannot be written to `path`, or would be lost."""
    if path.suffix.lower() not in _WRITERS:
        raise ValueError(f"{path} has an unknown ending; give {FORMATS}.")
    check_absent(path)


def check_absent(path: Path, option: str = "--out") -> None:
    """Raise a ValueError if something is at `path`, or no folder to hold it."""
    if os.path.lexists(path):
        raise ValueError(
            f"{path} exists and may hold annotations; move it or give another {option}."
        )
    folder = path.absolute().parent
    if not os.path.isdir(folder):
        raise ValueError(f"the folder of {path} does not exist; make it first.")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ValueError(
            f"the folder of {path} may not be written to; give another {option}."
        )


def write_table(table: pl.DataFrame, path: Path) -> None:
    """Write a table in the format of the file's ending; never over a file."""
    check_new(path)
    if path.suffix.lower() != ".parquet":
        table = table.with_columns(
            as_text(series) for series in table if _holds_bytes(series.dtype)
        )
    content = io.BytesIO()
    _WRITERS[path.suffix.lower()](table, content)
    write_new({path: content.getvalue()})


def _holds_bytes(dtype: Any) -> bool:
    """Tell whether there are bytes in a column, which no text file has."""
    if isinstance(dtype, pl.Struct):
        return any(_holds_bytes(field.dtype) for field in dtype.fields)
    inner = getattr(dtype, "inner", None)
    return dtype == pl.Binary if inner is None else _holds_bytes(inner)


@contextmanager
def writing(path: Path, option: str = "--out") -> Iterator[None]:
    """Say in words which file the system does not let us write."""
    try:
        yield
    except FileExistsError:
        raise
    except OSError as error:
        raise ValueError(
            f"{path} cannot be written ({error.strerror or error}); mend that, or give "
            f"another {option}."
        ) from error


def write_new(contents: dict[Path, bytes]) -> None:
    """Write files that are not there yet: all of them, or none."""
    written = []
    try:
        for path, content in contents.items():
            with writing(path), path.open("xb") as file:
                written.append(path)
                file.write(content)
    except BaseException:
        for path in written:
            path.unlink()
        raise


def shown(value: Any) -> str:
    """Quote a value that is wrong, or the start of it."""
    text = repr(value)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."


def column(table: pl.DataFrame, name: str, option: str) -> pl.Series:
    """Return a column, or say which ones there are."""
    if name in table.columns:
        return table[name]
    message = (
        f"there is no column {name!r}; the file has {', '.join(table.columns)}: name "
        f"one of them with {option}"
    )
    close = [other for other in table.columns if other.lower() == name.lower()]
    if close:
        message += f" (did you mean {close[0]}?)"
    raise ValueError(f"{message}.")


def texts(table: pl.DataFrame, name: str, option: str) -> list[str]:
    """Return a column of outputs; an output must be there, if empty."""
    series = column(table, name, option)
    if series.dtype not in (pl.String, pl.Null) and not series.dtype.is_numeric():
        raise ValueError(
            f"column {name!r} holds {series.dtype} instead of text; write one text an "
            "example."
        )
    series = series.cast(pl.String)
    missing = series.is_null().arg_true().to_list()
    if missing:
        raise ValueError(
            f"column {name!r} has no output in {rows_in_words(missing)} (counted from "
            'zero); drop these examples, or write "" for an empty output.'
        )
    return series.to_list()


def as_text(series: pl.Series) -> pl.Series:
    """Return a column as text: nested values, such as chats, as JSON."""
    if series.dtype.is_nested():
        return _each_as_text(series, _as_json)
    try:
        return series.cast(pl.String)
    except pl.exceptions.PolarsError:  # bytes that are no text, and what else there is
        return _each_as_text(series, str)


def _each_as_text(series: pl.Series, write: Callable[[Any], str]) -> pl.Series:
    texts = [None if value is None else write(value) for value in series.to_list()]
    return pl.Series(series.name, texts, dtype=pl.String)


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def numbers(
    table: pl.DataFrame, name: str, option: str, *, optional: bool = False
) -> np.ndarray:
    """Return a column of finite numbers; where `optional`, NaN where it is empty.

    Texts are read as numbers or as one of the words true, false, A, B and tie.
    """
    series = column(table, name, option)
    if series.dtype.is_numeric() or series.dtype == pl.Boolean:
        values = series.cast(pl.Float64).to_numpy().astype(np.float64)
    elif series.dtype in (pl.String, pl.Null):
        values = np.array([_number(text) for text in series.to_list()])
    else:
        raise ValueError(f"column {name!r} holds {series.dtype} instead of numbers.")
    empty = is_empty(series)
    bad = np.flatnonzero(~np.isfinite(values) & ~(empty if optional else False))
    if len(bad) == 0:
        return values
    found = "nothing" if empty[bad[0]] else shown(series[int(bad[0])])
    mend = "write a number, true or false, or A, B or tie"
    mend += (
        ", or leave it empty" if optional else " in every row: a judge scores them all"
    )
    raise ValueError(
        f"column {name!r} holds {found} in {rows_in_words(bad.tolist())} (counted from "
        f"zero); {mend}."
    )


def has_preferences(table: pl.DataFrame, name: str) -> bool:
    """Tell whether a column holds one of the words A, B and tie."""
    series = table[name]
    if series.dtype != pl.String:
        return False
    words = series.drop_nulls().str.strip_chars().str.to_lowercase()
    return bool(words.is_in(sorted(_WORDS.keys() - _BOOLEANS.keys())).any())


def preference(value: Any) -> float:
    """Read one of the words A, B and tie, or a number; anything else is NaN."""
    text = str(value)
    return float("nan") if text.strip().lower() in _BOOLEANS else _number(text)


def preferences(
    table: pl.DataFrame,
    name: str,
    option: str,
    rows: np.ndarray | None = None,
    *,
    mend: str = "or delete the row",
) -> np.ndarray:
    """Ask the oracle column for the preferences of some rows, and read no other."""
    rows = np.arange(len(table)) if rows is None else rows
    series = column(table, name, option)[rows.tolist()]
    if series.dtype == pl.Boolean:
        raise ValueError(
            f"column {name!r} holds true and false, which cannot tell a tie from a win "
            "of B; write A, B or tie."
        )
    if series.dtype not in (pl.String, pl.Null) and not series.dtype.is_numeric():
        raise ValueError(f"column {name!r} holds {series.dtype}; write A, B or tie.")
    values = np.array([preference(value) for value in series.to_list()])
    bad = np.flatnonzero(~(np.abs(values) <= 1))
    if len(bad):
        empty = is_empty(series)
        what = "nothing" if empty[bad[0]] else shown(series[int(bad[0])])
        raise ValueError(
            f"column {name!r} holds {what} in {rows_in_words(rows[bad].tolist())} "
            "(counted from zero), chosen to be judged; write A, B or tie, or a number "
            f"in [-1, 1] that is positive where A is better, {mend}."
        )
    return values


def predictions(table: pl.DataFrame, name: str) -> np.ndarray:
    """Return the preferences that a judge predicts: one in every row."""
    values = numbers(table, name, "--judge")
    outside = np.flatnonzero(np.abs(values) > 1)
    if len(outside):
        raise ValueError(
            f"column {name!r} holds {values[outside[0]]:g} in "
            f"{rows_in_words(outside.tolist())} (counted from zero); a judge's "
            "preferences are in [-1, 1]: divide them by the largest possible size."
        )
    return values


def _reason(path: Path, error: Exception) -> str:
    """Say in a line why a file cannot be read."""
    if path.suffix.lower() in (".jsonl", ".ndjson"):
        with path.open(encoding="utf-8", errors="replace") as lines:
            for number, line in enumerate(lines, start=1):
                try:
                    if line.strip() and not isinstance(json.loads(line), dict):
                        return f"line {number} is not a JSON object"
                except ValueError as fault:
                    return f"line {number} is not JSON ({fault})"
    text = str(error).strip()
    return text.splitlines()[0].rstrip(".") if text else type(error).__name__


def is_empty(series: pl.Series) -> np.ndarray:
    """Tell where a cell holds nothing: null, NaN, blanks, or the word nan."""
    if series.dtype == pl.String:
        cells = series.fill_null("").str.strip_chars().str.to_lowercase()
        return cells.is_in(["", "nan"]).to_numpy()
    empty = series.is_null()
    if series.dtype.is_float():
        empty = empty | series.is_nan().fill_null(True)
    return empty.to_numpy()


def _number(text: str | None) -> float:
    """Read a number or a word; anything else is NaN."""
    word = "" if text is None else text.strip().lower()
    if word in _WORDS:
        return _WORDS[word]
    # To Python a number may have an underscore, and digits of any script.
    if "_" in word or not word.isascii():
        return float("nan")
    try:
        return float(word)
    except ValueError:
        return float("nan")
