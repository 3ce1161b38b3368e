"""The commands."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import polars as pl
import typer

import skdiffuse
from skdiffuse import (
    FixedBudget,
    PreferenceComparison,
    identical_outputs,
    plan_labels,
)
from skdiffuse._validation import rows_in_words
from skdiffuse.cli import (
    _answers,
    _demo,
    _design,
    _embed,
    _files,
    _judged,
    _report,
    _selectors,
    _terminal,
)

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    help="Judge generated text on a small budget: which of two generators is better, "
    "and how often.",
)

FileArgument = Annotated[
    Path, typer.Argument(metavar="FILE", help=f"The examples: {_files.FORMATS}.")
]
SeedOption = Annotated[
    int, typer.Option(min=0, max=2**32 - 1, help="Seed of every random step.")
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print one JSON object, for machines.")
]
OutputAOption = Annotated[str, typer.Option(help="Column with the outputs of A.")]
OutputBOption = Annotated[str, typer.Option(help="Column with the outputs of B.")]
ConfidenceOption = Annotated[
    float,
    typer.Option(
        "--confidence",
        "--confidence-level",
        help="Confidence level of the intervals, between 0 and 1.",
    ),
]
EmbedderOption = Annotated[
    str,
    typer.Option(
        help="What turns an output into a vector: tfidf (TF-IDF reduced by truncated "
        "SVD; nothing to download) or sentence-transformers:NAME (extra 'text')."
    ),
]
SelectorName = Literal["diffuse", "random", "weighted", "norm"]
SelectorOption = Annotated[
    SelectorName,
    typer.Option(
        help="Which examples come first: representatives of clusters of differences, "
        "random ones, random ones of which those come more often whose outputs differ "
        "(weighted), or those whose outputs differ most (norm). Random and weighted "
        "ones tell by how much one is ahead, too."
    ),
]
KnownTiesOption = Annotated[
    Literal["identical"] | None,
    typer.Option(
        help="identical: examples with equal outputs are ties, and are not asked for. "
        "Default: they are asked for like others."
    ),
]
ClusteringOption = Annotated[
    Literal["ward", "cosine", "kmeans"],
    typer.Option(help="How the diffuse selector clusters the differences."),
]
RepresentativeOption = Annotated[
    Literal["centroid", "cosine", "max_norm", "random"],
    typer.Option(help="Which example of a cluster the diffuse selector takes."),
]


@app.command()
def demo(
    budget: Annotated[int, typer.Option(min=1, help="How many pairs to judge.")] = 50,
    labels: Annotated[
        int, typer.Option(min=2, max=1797, help="How many captions to label.")
    ] = 40,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Run both jobs on bundled data: captions of handwritten digits."""
    with _terminal.progress() as stage:
        result = _demo.run(budget, labels, seed, stage)
    _terminal.show(result, as_json, _report.demo)


@app.command()
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
    input_column: Annotated[
        str | None,
        typer.Option(
            "--input", help="Column with the inputs.  [default: input, if any]"
        ),
    ] = None,
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
    table, texts_a, texts_b = _read_pairs(file, output_a, output_b)
    if _design.read(table) is not None:
        raise ValueError(
            f"{file} is itself a selection; select from the file with all examples."
        )
    if input_column is None and "input" in table.columns:
        input_column = "input"
    inputs = None
    if input_column is not None:
        inputs = _files.as_text(_files.column(table, input_column, "--input"))
    chooser = _selectors.make(selector, budget, clustering, representative, seed)
    asked = _not_tied(texts_a, texts_b, known_ties)
    with _terminal.progress() as stage:
        X = _selectors.vectors(selector, texts_a, texts_b, embedder, seed, stage)
        places = chooser.fit(X[asked]).selected_indices_
    rows = asked[places].tolist()
    n_ties = len(table) - len(asked)
    chosen = {
        "row": rows,
        "input": None if inputs is None else inputs[rows],
        "output_a": [texts_a[row] for row in rows],
        "output_b": [texts_b[row] for row in rows],
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
        "n_pool": len(table),
        "selected": rows,
        "out": str(out),
        "notes": _answers.notes_on_selection(len(rows), budget, len(table)),
    }
    _terminal.show(result, as_json, _report.selection)


@app.command()
def compare(
    file: FileArgument,
    oracle: Annotated[
        str,
        typer.Option(
            help="Column with the preferences: A, B or tie, or a number in [-1, 1] "
            "that is positive where A is better. Only the chosen rows are read."
        ),
    ],
    rule: Annotated[
        Literal["hypergeometric", "betting", "fixed"] | None,
        typer.Option(
            help="When to stop: by the heuristic of the DiffUse paper (default), by "
            "bets with a guarantee (in random order), or at --max-annotations."
        ),
    ] = None,
    risk: Annotated[
        float | None,
        typer.Option(
            help="Stop when the rule's risk is below this (default 0.05): a rule of "
            "thumb, or a guarantee under --rule betting."
        ),
    ] = None,
    ties: Annotated[
        Literal["draw", "drop"] | None,
        typer.Option(
            help="Under --rule hypergeometric a tie is no draw at all (drop, the "
            "default), or a draw that nobody wins."
        ),
    ] = None,
    min_annotations: Annotated[
        int | None,
        typer.Option(min=1, help="Judge at least so many examples. Default: 5."),
    ] = None,
    max_annotations: Annotated[
        int | None,
        typer.Option(min=1, help="Judge at most so many examples. Default: 200."),
    ] = None,
    budget: Annotated[
        int | None,
        typer.Option(
            min=1, help="Instead of a rule: choose so many examples at once, judge all."
        ),
    ] = None,
    output_a: OutputAOption = "output_a",
    output_b: OutputBOption = "output_b",
    selector: Annotated[
        SelectorName | None,
        typer.Option(
            help="Which examples come first: representatives of clusters of "
            "differences (default), random ones (default of --rule betting), random "
            "ones of which those come more often whose outputs differ (weighted), or "
            "those whose outputs differ most (norm)."
        ),
    ] = None,
    judge: Annotated[
        str | None,
        typer.Option(
            help="Column with a cheap judge's preferences in every row (a number in "
            "[-1, 1], or A, B or tie; 0 for no opinion), made without a look at the "
            "oracle: with random or weighted examples a good one saves judgements, and "
            "none breaks a guarantee."
        ),
    ] = None,
    known_ties: KnownTiesOption = None,
    confidence: ConfidenceOption = 0.95,
    clustering: ClusteringOption = "ward",
    representative: RepresentativeOption = "cosine",
    embedder: EmbedderOption = _embed.DEFAULT,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Say which of two generators is better from a few judged examples."""
    options = {
        "--rule": rule,
        "--risk": risk,
        "--ties": ties,
        "--min-annotations": min_annotations,
        "--max-annotations": max_annotations,
    }
    given = [option for option, value in options.items() if value is not None]
    if budget is not None and given:
        raise ValueError(
            f"--budget judges so many, whatever {' and '.join(given)} may say; drop "
            "one of them."
        )
    _check_confidence(confidence)
    name = selector or ("random" if rule == "betting" else "diffuse")
    if judge is not None and name not in _selectors.DRAWN:
        raise ValueError(
            f"--judge is of use with --selector random or weighted, not with {name}."
        )
    stopping_rule = _selectors.make_rule(rule, risk, ties, name)
    most = max_annotations or max(200, min_annotations or 0)
    table, texts_a, texts_b = _read_pairs(file, output_a, output_b)
    if texts_a == texts_b:
        raise ValueError(
            f"columns {output_a!r} and {output_b!r} have equal outputs in every row, "
            "so there is nothing to compare; look at --output-a and --output-b."
        )
    _files.column(table, oracle, "--oracle")
    if _design.read(table) is not None:
        raise ValueError(
            f"{file} is a selection, whose other examples are not in it; count its "
            "answers with: skdiffuse decide."
        )
    predicted = None
    if judge == oracle:
        raise ValueError(f"--judge and --oracle are both {judge!r}; name two columns.")
    if judge is not None:
        predicted = _files.predictions(table, judge)
    asked = _not_tied(texts_a, texts_b, known_ties)
    known = ~np.isin(np.arange(len(table)), asked)

    def ask(rows: np.ndarray) -> np.ndarray:
        return _files.preferences(table, oracle, "--oracle", rows)

    chooser = _selectors.make(name, budget or most, clustering, representative, seed)
    size = None
    with _terminal.progress() as stage:
        X = _selectors.vectors(name, texts_a, texts_b, embedder, seed, stage)
        drawn = name in _selectors.DRAWN or (
            name == "diffuse" and representative == "random"
        )
        if budget is not None and not drawn:
            selected = asked[chooser.fit(X[asked]).selected_indices_]
            verdict = _answers.fixed_verdict(ask(selected), len(asked), len(X))
        else:
            most = budget or most
            comparison = PreferenceComparison(
                chooser,
                stopping_rule if budget is None else FixedBudget(),
                min_annotations=min_annotations or min(5, most),
                max_annotations=most,
            ).fit(X, ask, judge=predicted, known_ties=known)
            selected, verdict = comparison.annotated_indices_, comparison.verdict_
            size = _answers.size_of(comparison, confidence)
    result = _answers.from_verdict(verdict, selected, size)
    result["notes"] = _answers.notes_on_verdict(
        verdict,
        rule=rule if budget is None else "fixed",
        size=size,
        equal_chances=name == "random",
        ties_are_draws=ties == "draw",
        selected_before="row" in table.columns,
    )
    _terminal.show(result, as_json, _report.verdict)


@app.command()
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
    _check_confidence(confidence)
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


@app.command()
def estimate(
    file: FileArgument,
    label: Annotated[
        str,
        typer.Option(
            help="Column with the labels: numbers, true/false, or A/B/tie (1, -1, 0). "
            "The rows where it is empty are the pool."
        ),
    ],
    judge: Annotated[
        list[str],
        typer.Option(
            help="Column with a judge's scores, one in every row; may be repeated. The "
            "judge alone is the mean of that column over all rows."
        ),
    ],
    groups: Annotated[
        str | None,
        typer.Option(
            help="Column with what belongs together, such as the prompt: rows of a "
            "group may resemble each other, and may be labelled together."
        ),
    ] = None,
    weight: Annotated[
        str | None,
        typer.Option(
            help="Column with 1 / the chance that the row had to be labelled, where "
            "the chances differed."
        ),
    ] = None,
    paired_with: Annotated[
        Path | None,
        typer.Option(
            help="A second file of another generator on the same inputs: estimate by "
            "how much the first is ahead. Groups and weights are those of the first."
        ),
    ] = None,
    pair_by: Annotated[
        str | None,
        typer.Option(
            help="Column by which the rows of the two files are matched, such as the "
            "input. Default: by their place."
        ),
    ] = None,
    label_range: Annotated[
        tuple[float, float] | None,
        typer.Option(
            help="The least and the greatest value that a label can have, such as 1 5. "
            "Default: 0 1 if all are, -1 1 for A, B and tie, else none."
        ),
    ] = None,
    confidence: ConfidenceOption = 0.95,
    as_json: JsonOption = False,
) -> None:
    """Estimate a mean from a few labels and a judge on every row, with intervals.

    The labelled rows must be a random sample of all rows. In a file that `select`
    wrote, or with its six columns beside the labels, their weights are known.
    """
    _check_confidence(confidence)
    if pair_by is not None and paired_with is None:
        raise ValueError("--pair-by needs the second file, --paired-with.")
    table = _files.read_table(file)
    reader = _judged.Reader(label, judge, groups, weight, label_range)
    if paired_with is None:
        judged = reader.single(table)
    else:
        judged = reader.pair(table, _files.read_table(paired_with), pair_by)
    _terminal.show(_answers.estimates(judged, confidence), as_json, _report.estimates)


@app.command()
def plan(
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FILE]", help="A pilot: rows with a judge, some with a label."
        ),
    ] = None,
    rho: Annotated[
        float | None,
        typer.Option(help="Correlation of judge and label, instead of a pilot."),
    ] = None,
    label: Annotated[
        str | None, typer.Option(help="Column of the pilot with the labels.")
    ] = None,
    judge: Annotated[
        list[str] | None, typer.Option(help="Column with a judge; may be repeated.")
    ] = None,
    width: Annotated[
        float | None, typer.Option(help="Width of the interval that is wanted.")
    ] = None,
    budget: Annotated[float | None, typer.Option(help="What may be spent.")] = None,
    label_cost: Annotated[float, typer.Option(help="Price of a label.")] = 1.0,
    prediction_cost: Annotated[
        float, typer.Option(help="Price of a judge's score.")
    ] = 0.0,
    pool_size: Annotated[
        int | None, typer.Option(help="How many rows there are at most.")
    ] = None,
    spread: Annotated[
        float | None,
        typer.Option(
            help="Standard deviation of the labels. Default: the pilot's, or 0.5."
        ),
    ] = None,
    confidence: ConfidenceOption = 0.95,
    as_json: JsonOption = False,
) -> None:
    """Plan how many labels and predictions to pay for, for a width or a budget."""
    pilot = None
    if file is not None:
        if label is None or not judge:
            raise ValueError("a pilot FILE needs --label and --judge.")
        judged = _judged.Reader(label, judge).single(_files.read_table(file))
        pilot = _answers.fit_recommended(judged)
    if (rho is None) == (pilot is None):
        raise ValueError(
            "give --rho or a pilot FILE (with --label and --judge), one of them."
        )
    if (width is None) == (budget is None):
        raise ValueError("give --width or --budget, one of them.")
    if prediction_cost == 0 and pool_size is None:
        raise ValueError(
            "free predictions need --pool-size, the number of rows that there are; or "
            "give --prediction-cost."
        )
    result = plan_labels(
        rho,
        pilot=pilot,
        width=width,
        budget=budget,
        label_cost=label_cost,
        prediction_cost=prediction_cost,
        pool_size=pool_size,
        spread=spread,
        confidence_level=confidence,
    )
    answer = asdict(result)
    if not np.isfinite(result.width):
        answer["width"] = None
    _terminal.show(answer, as_json, _report.plan)


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True)
    ] = False,
) -> None:
    # No docstring: the help of the application is that of `app`.
    if version:
        print(f"skdiffuse {skdiffuse.__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        print(context.get_help())


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command; an error is one line on stderr and exit code 2."""
    return _terminal.run(typer.main.get_command(app), arguments)


def _check_confidence(confidence: float) -> None:
    if not 0 < confidence < 1:
        raise ValueError(
            f"--confidence {confidence:g} is not between 0 and 1; give, for example, "
            "0.95."
        )


def _not_tied(
    texts_a: list[str], texts_b: list[str], known_ties: str | None
) -> np.ndarray:
    """Return the rows that have to be asked for."""
    if known_ties is None:
        return np.arange(len(texts_a))
    asked = np.flatnonzero(~identical_outputs(list(zip(texts_a, texts_b, strict=True))))
    if not len(asked):
        raise ValueError("both outputs are equal in every row: nothing is to be asked.")
    return asked


def _read_pairs(
    file: Path, output_a: str, output_b: str
) -> tuple[pl.DataFrame, list[str], list[str]]:
    table = _files.read_table(file)
    texts_a = _files.texts(table, output_a, "--output-a")
    return table, texts_a, _files.texts(table, output_b, "--output-b")
