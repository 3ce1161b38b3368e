"""Rows of two files that belong together, by a column that both have."""

from collections.abc import Sequence

import polars as pl

from skdiffuse._words import rows_in_words
from skdiffuse.cli import _files

_FILES = ("first", "second")
_SHOWN = 40  # characters of a key: it may be a whole prompt


def names(table: pl.DataFrame, name: str, option: str) -> pl.Series:
    """Return a column of names as text; each row has one."""
    series = _files.column(table, name, option)
    found = _files.as_text(series)
    empty = found.str.strip_chars().fill_null("") == ""
    if series.dtype.is_float():
        empty = empty | series.is_nan().fill_null(True)
    # A text that reads nan is a name like others.
    missing = empty.arg_true().to_list()
    if missing:
        raise ValueError(
            f"column {name!r} ({option}) is empty in {rows_in_words(missing)} (counted "
            "from zero); give each row a name there."
        )
    return found


def matched(
    a: pl.DataFrame, b: pl.DataFrame, by: str, option: str, verb: str
) -> pl.DataFrame:
    """Return the rows of b in the order of a; both have each key once."""
    keys = [names(table, by, option) for table in (a, b)]
    for which, key in zip(_FILES, keys, strict=True):
        _check_unique(key, by, which)
    places = {key: row for row, key in enumerate(keys[1])}
    alone = [
        [key for key in keys[0] if key not in places],
        keys[1].filter(~keys[1].is_in(keys[0].implode())).to_list(),
    ]
    faults = [
        f"{_in_words(missing)} of the {one} file {_be(missing)} not in the {other} "
        f"({len(missing)} of {len(key)} rows)"
        for missing, key, one, other in zip(
            alone, keys, _FILES, reversed(_FILES), strict=True
        )
        if missing
    ]
    if faults:
        raise ValueError(
            f"the files cannot be {verb} by {by!r}: {', and '.join(faults)}; give both "
            f"the same inputs, drop these rows, or name another column with {option}."
        )
    return b[[places[key] for key in keys[0]]]


def _check_unique(keys: pl.Series, by: str, which: str) -> None:
    twice = keys.is_duplicated().arg_true().to_list()
    if not twice:
        return
    copies = keys[twice].unique(maintain_order=True).to_list()
    more = f"; {len(copies) - 1} more keys are not alone" if len(copies) > 1 else ""
    rows = (keys == copies[0]).arg_true().to_list()
    raise ValueError(
        f"column {by!r} of the {which} file has {_short(copies[0])} in "
        f"{rows_in_words(rows)} (counted from zero{more}); a key is there once: drop "
        "the copies, or name another column."
    )


def _in_words(keys: Sequence[str]) -> str:
    """Name the first keys of a list."""
    shown = ", ".join(_short(key) for key in keys[:3])
    return f"{shown} and {len(keys) - 3} more" if len(keys) > 3 else shown


def _be(keys: Sequence[str]) -> str:
    return "is" if len(keys) == 1 else "are"


def _short(key: str) -> str:
    return repr(key if len(key) <= _SHOWN else key[:_SHOWN] + "...")
