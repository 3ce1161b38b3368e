"""The commands `estimate` and `plan`: means from few labels and a judge."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

import skdiffuse
from skdiffuse.cli import (
    _answers,
    _files,
    _judged,
    _report,
    _terminal,
)
from skdiffuse.cli._options import (
    ConfidenceOption,
    FileArgument,
    JsonOption,
    ReportOption,
    check_confidence,
)


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
    report: ReportOption = None,
    as_json: JsonOption = False,
) -> None:
    """Estimate a mean from a few labels and a judge on every row, with intervals.

    The labelled rows must be a random sample of all rows. In a file that `select`
    wrote, or with its six columns beside the labels, their weights are known.
    """
    from skdiffuse.cli import _html

    check_confidence(confidence)
    _html.check(report)
    if pair_by is not None and paired_with is None:
        raise ValueError("--pair-by needs the second file, --paired-with.")
    table = _files.read_table(file)
    reader = _judged.Reader(label, judge, groups, weight, label_range)
    if paired_with is None:
        judged = reader.single(table)
    else:
        judged = reader.pair(table, _files.read_table(paired_with), pair_by)
    result = _answers.estimates(judged, confidence)
    _terminal.show(result, as_json, _report.estimates)
    if report is not None:
        with _html.drawn(report):
            _html.write_estimates(report, result)


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
    result = skdiffuse.plan_labels(
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
