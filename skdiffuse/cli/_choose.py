"""The commands `select` and `decide`: a batch of examples for any tool, and back."""

from pathlib import Path
from typing import Annotated

import numpy as np
import polars as pl
import typer

from skdiffuse._validation import rows_in_words
from skdiffuse.cli import (
    _answers,
    _design,
    _embed,
    _files,
    _pairs,
    _report,
    _selectors,
    _terminal,
)
from skdiffuse.cli._options import (
    ClusteringOption,
    ConfidenceOption,
    EmbedderOption,
    FileArgument,
    InputOption,
    JsonOption,
    KnownTiesOption,
    OutputAOption,
    OutputBOption,
    RepresentativeOption,
    SeedOption,
    SelectorOption,
    check_confidence,
)


def select(
    file: FileArgument,
    out: Annotated[
        Path, typer.Option(help=f"Where to write the chosen rows: {_files.FORMATS}.")
    ],
    budget: Annotated[
        int, typer.Option(min=1, help="How many examples to judge.")
    ] = 50,
    output_a: OutputAOption = "output_a",
    output_b: OutputBOption = "output_b",
    input_column: InputOption = None,
    selector: SelectorOption = "diffuse",
    known_ties: KnownTiesOption = None,
    clustering: ClusteringOption = "ward",
    representative: RepresentativeOption = "cosine",
    embedder: EmbedderOption = _embed.DEFAULT,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Choose the examples to judge and write them to a file, to annotate anywhere.

    The file has the number of each row (counted from zero), the input, both outputs,
    an empty column `preference`, and six columns that say how the rows were chosen:
    leave those and `row` as they are; by them `decide` and `estimate` know what may be
    said.
    """
    _files.check_new(out)
    pairs = _pairs.read(file, output_a, output_b, input_column)
    _pairs.refuse_selection(file, pairs, "select from the file with all examples")
    chooser = _selectors.make(selector, budget, clustering, representative, seed)
    asked = pairs.not_tied(known_ties)
    with _terminal.progress() as stage:
        X = _selectors.vectors(selector, pairs, embedder, seed, stage)
        places = chooser.fit(X[asked]).selected_indices_
    rows = asked[places].tolist()
    n_ties = len(pairs) - len(asked)
    chosen = {
        "row": rows,
        "input": pairs.inputs and [pairs.inputs[row] for row in rows],
        "output_a": [pairs.texts_a[row] for row in rows],
        "output_b": [pairs.texts_b[row] for row in rows],
        "preference": pl.Series([None] * len(rows), dtype=pl.String),
        **_design.columns(
            chooser,
            places.tolist(),
            _selectors.describe(selector, chooser, seed),
            n_ties,
        ),
    }
    _files.write_table(
        pl.DataFrame({k: v for k, v in chosen.items() if v is not None}), out
    )
    result = {
        "n_selected": len(rows),
        "n_pool": len(pairs),
        "selected": rows,
        "out": str(out),
        "notes": _answers.notes_on_selection(len(rows), budget, len(pairs)),
    }
    _terminal.show(result, as_json, _report.selection)


def decide(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="The file that select wrote, filled in."),
    ],
    preference: Annotated[
        str, typer.Option(help="Column with the preferences: A, B or tie, or numbers.")
    ] = "preference",
    confidence: ConfidenceOption = 0.95,
    as_json: JsonOption = False,
) -> None:
    """Count the answers in a file that `select` wrote, by how its rows were chosen.

    Says who wins; and by how much, where the rows were chosen at random (--selector
    random or weighted, or one random example a cluster).
    """
    check_confidence(confidence)
    table = _files.read_table(file)
    design = _design.read(table)
    if design is None:
        raise ValueError(
            f"{file} has no columns {', '.join(_design.COLUMNS)}, which select writes "
            "and which say how its rows were chosen; if they were lost, select anew "
            "with the same options, and copy the answers by the column row."
        )
    if "row" in table.columns:
        rows = table["row"].filter(pl.Series(design.chosen))
        if rows.n_unique() < len(rows):
            raise ValueError("column 'row' holds a row twice; give each row once.")
    table = table.filter(pl.Series(design.chosen))
    answered = _files.column(table, preference, "--preference")
    missing = np.flatnonzero(_files.is_empty(answered)).tolist()
    if missing:
        raise ValueError(
            f"column {preference!r} has no answer in {rows_in_words(missing)} (counted "
            f"from zero) of {len(table)}; judge all that were chosen, since those left "
            "out may differ from the others."
        )
    answers = _files.preferences(
        table, preference, "--preference", mend="for each chosen row"
    )
    result = _answers.decision(design, answers, confidence)
    if "row" in table.columns:
        result["selected"] = [int(row) for row in table["row"]]
    _terminal.show(result, as_json, _report.verdict)
