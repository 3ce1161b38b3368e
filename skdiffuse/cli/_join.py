"""The command `join`: two files, one a generator, become one."""

from collections import Counter
from pathlib import Path
from typing import Annotated

import polars as pl
import typer

from skdiffuse.cli import _files, _keys, _report, _terminal
from skdiffuse.cli._options import JsonOption


def join(
    file_a: Annotated[
        Path,
        typer.Argument(metavar="A", help=f"The outputs of A: {_files.FORMATS}."),
    ],
    file_b: Annotated[
        Path, typer.Argument(metavar="B", help="The outputs of B to the same inputs.")
    ],
    out: Annotated[
        Path, typer.Option(help=f"Where to write the pairs: {_files.FORMATS}.")
    ],
    on: Annotated[
        str | None,
        typer.Option(
            help="Column that says which outputs belong together.  [default: id, if "
            "both files have it, or else input]"
        ),
    ] = None,
    output: Annotated[
        str, typer.Option(help="Column with the outputs, in each file.")
    ] = "output",
    as_json: JsonOption = False,
) -> None:
    """Join the outputs of two generators to the one file that other commands take.

    The rows are in the order of A. A column that both files have is kept once if it is
    the same in both, and else with the endings _a and _b.
    """
    _files.check_new(out)
    a, b = _files.read_table(file_a), _files.read_table(file_b)
    if on == output:
        raise ValueError(f"--on and --output are both {on!r}; name two columns.")
    # Whoever names the key says that it is one, as for two prompts of one question.
    other_inputs = on is not None
    if on is None:
        on = "id" if "id" in a.columns and "id" in b.columns else "input"
    for path, table in ((file_a, a), (file_b, b)):
        _check(path, table, on, output)
    joined = align(a, b, on, output, other_inputs=other_inputs)
    if out.suffix.lower() == ".csv":
        joined = joined.select(_files.as_text(series) for series in joined)
    result = {"n_rows": len(joined), "on": on, "columns": joined.columns}
    result |= {"out": str(out), "notes": _notes(joined)}
    _files.write_table(joined, out)
    _terminal.show(result, as_json, _report.joined)


def align(
    a: pl.DataFrame, b: pl.DataFrame, on: str, output: str, *, other_inputs: bool = True
) -> pl.DataFrame:
    """Put the outputs of two tables side by side.

    Parameters
    ----------
    a, b : DataFrame
        The outputs of A and of B to the same inputs, in any order.
    on : str
        Column whose values are there once in each table, and are the same.
    output : str
        Column with the outputs.
    other_inputs : bool
        Whether the inputs of one key may differ.

    Returns
    -------
    DataFrame
        The key, the input, `output_a` and `output_b`, then all other columns: in the
        order of `a`.
    """
    b = _keys.matched(a, b, on, "--on", "joined")
    differ: list[int] = []
    if on != "input" and "input" in a.columns and "input" in b.columns:
        differ = _plain(a["input"]).ne_missing(_plain(b["input"])).arg_true().to_list()
    if differ and not other_inputs:
        raise ValueError(
            f"joined by {on!r}, the inputs differ in {len(differ)} of {len(a)} rows "
            f"(first: row {differ[0]} of the first file, counted from zero). If equal "
            f"{on}s are the same example all the same, as for two prompts of one "
            f"question, say so with --on {on}; else give --on input."
        )
    # Line ends and outer blanks make no other input.
    alike = () if differ else ("input",)
    columns = [a[on]]
    for which, table in (("a", a), ("b", b)):
        texts = _files.texts(table, output, "--output")
        columns.append(pl.Series(f"output_{which}", texts, dtype=pl.String))
    for name in dict.fromkeys(a.columns + b.columns):
        if name in (on, output):
            continue
        if name not in a.columns:
            columns.append(b[name])
        elif name not in b.columns or name in alike or _same(a[name], b[name]):
            columns.append(a[name])
        else:
            columns += [a[name].alias(f"{name}_a"), b[name].alias(f"{name}_b")]
    names = Counter(column.name for column in columns)
    twice = [name for name, count in names.items() if count > 1]
    if twice:
        raise ValueError(
            f"the joined file would have two columns {twice[0]!r}; rename or drop the "
            "one that your files have."
        )
    if "input" in names:
        columns.sort(key=lambda column: column.name not in (on, "input"))
    return pl.DataFrame(columns)


def _plain(inputs: pl.Series) -> pl.Series:
    """Return inputs as they read, whatever wrote their line ends and outer blanks."""
    texts = _files.as_text(inputs).fill_null("").str.replace_all("\r\n?", "\n")
    return texts.str.strip_chars()


def _same(a: pl.Series, b: pl.Series) -> bool:
    """Tell whether two columns read the same, whatever their types."""
    if a.dtype == b.dtype:
        return a.equals(b)
    return bool(_files.as_text(a).eq_missing(_files.as_text(b)).all())


def _check(path: Path, table: pl.DataFrame, on: str, output: str) -> None:
    """Raise a ValueError that names the file unless it has keys and outputs."""
    try:
        _keys.names(table, on, "--on")
        _files.texts(table, output, "--output")
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def _notes(joined: pl.DataFrame) -> list[str]:
    notes = []
    if joined["output_a"].equals(joined["output_b"], check_names=False):
        notes.append("The outputs are equal in every row: is it one file twice?")
    if {"input_a", "input_b"} <= set(joined.columns):
        a, b = (_plain(joined[name]) for name in ("input_a", "input_b"))
        differ = int(a.ne_missing(b).sum())
        notes.append(
            f"The inputs differ in {differ} of {len(joined)} rows and are kept as "
            "input_a and input_b; other commands show one with --input input_a."
        )
    return notes
