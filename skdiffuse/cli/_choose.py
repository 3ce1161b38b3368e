"""The commands `select` and `decide`: a batch of examples for any tool, and back."""

from pathlib import Path
from typing import Annotated

import numpy as np
import polars as pl
import typer

from skdiffuse._words import rows_in_words
from skdiffuse.cli import (
    _answers,
    _design,
    _embed,
    _exchange,
    _files,
    _label_studio,
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
        Path,
        typer.Option(
            help=f"Where to write the chosen rows: {_files.FORMATS}; a .json file for "
            "Label Studio, a folder for Argilla."
        ),
    ],
    form: Annotated[
        _exchange.Format | None,
        typer.Option(
            "--format",
            help="The tool to annotate in. label-studio and argilla show the outputs "
            "side by side, on sides drawn by --seed; label-studio writes the labelling "
            "configuration, too (.xml). Default: by the ending of --out.",
        ),
    ] = None,
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
    said. For Label Studio and Argilla the same is in the data of the tasks; the answers
    are left, tie or right, and `decide` knows which side was whose.
    """
    _exchange.check_new(out, form)
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
    table = pl.DataFrame({k: v for k, v in chosen.items() if v is not None})
    _exchange.write(table, out, form, seed)
    result = {
        "n_selected": len(rows),
        "n_pool": len(pairs),
        "selected": rows,
        "out": str(out),
        "format": form or out.suffix.lower().removeprefix("."),
        "notes": _answers.notes_on_selection(len(rows), budget, len(pairs)),
    }
    if form == "label-studio":
        result["configuration"] = str(_label_studio.configuration_of(out))
    _terminal.show(result, as_json, _report.selection)


def decide(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="What select wrote; filled in, unless ANNOTATIONS has the answers.",
        ),
    ],
    annotations: Annotated[
        Path | None,
        typer.Argument(
            metavar="ANNOTATIONS",
            help=f"The answers, in any order: {_exchange.ANNOTATIONS}.",
            show_default=False,
        ),
    ] = None,
    preference: Annotated[
        str,
        typer.Option(
            help="Column with the preferences: A, B or tie, or numbers; or the name of "
            "the choices (Label Studio) or question (Argilla)."
        ),
    ] = "preference",
    confidence: ConfidenceOption = 0.95,
    as_json: JsonOption = False,
) -> None:
    """Count the answers to what `select` wrote, by how its rows were chosen.

    Says who wins; and by how much, where the rows were chosen at random (--selector
    random or weighted, or one random example a cluster). Several answers to one
    example are averaged.
    """
    check_confidence(confidence)
    selection = _exchange.read(file, preference)
    answered = None
    if annotations is not None:
        answered = _exchange.read(annotations, preference)
    design = _exchange.design_of(selection, answered)
    table = selection.table.filter(pl.Series(design.chosen))
    rows = None
    if "row" in table.columns:
        rows = _exchange.numbers_of(selection, table)
    notes: list[str] = []
    as_numbers = False
    if answered is None and selection.tool is None:
        answers = _filled_in(table, preference)
        as_numbers = not _files.has_preferences(table, preference)
    else:
        answers, notes = _exchange.match(
            selection, table, answered or selection, preference
        )
    result = _answers.decision(design, answers, confidence, as_numbers=as_numbers)
    result["selected"] = rows
    result["notes"] = notes + result["notes"]
    _terminal.show(result, as_json, _report.verdict)


def _filled_in(table: pl.DataFrame, preference: str) -> np.ndarray:
    """Return the answers that were written into a selection."""
    cells = _files.column(table, preference, "--preference")
    missing = np.flatnonzero(_files.is_empty(cells)).tolist()
    if missing:
        raise ValueError(
            f"column {preference!r} has no answer in {rows_in_words(missing)} (counted "
            f"from zero) of {len(table)}; judge all that were chosen, since those left "
            "out may differ from the others."
        )
    return _files.preferences(
        table, preference, "--preference", mend="for each chosen row"
    )
