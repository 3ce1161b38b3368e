"""Options that several commands share."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from skdiffuse.cli import _files

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
InputOption = Annotated[
    str | None,
    typer.Option("--input", help="Column with the inputs.  [default: input, if any]"),
]
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
ReportOption = Annotated[
    Path | None,
    typer.Option(
        help="Also write a page (.html) with pictures, which needs no network (extra "
        "'plot')."
    ),
]
KnownTiesOption = Annotated[
    Literal["identical"] | None,
    typer.Option(
        help="identical: examples with equal outputs are ties, and are not asked for. "
        "Default: they are asked for like others."
    ),
]
RuleOption = Annotated[
    Literal["hypergeometric", "betting", "fixed"] | None,
    typer.Option(
        help="When to stop: by the heuristic of the DiffUse paper (default), by "
        "bets with a guarantee (in random order), or at --max-annotations."
    ),
]
RiskOption = Annotated[
    float | None,
    typer.Option(
        help="Stop when the rule's risk is below this (default 0.05): a rule of "
        "thumb, or a guarantee under --rule betting."
    ),
]
TiesOption = Annotated[
    Literal["draw", "drop"] | None,
    typer.Option(
        help="Under --rule hypergeometric a tie is no draw at all (drop, the "
        "default), or a draw that nobody wins."
    ),
]
LeastOption = Annotated[
    int | None,
    typer.Option(min=1, help="Judge at least so many examples. Default: 5."),
]
MostOption = Annotated[
    int | None,
    typer.Option(min=1, help="Judge at most so many examples. Default: 200."),
]
OrderOption = Annotated[
    SelectorName | None,
    typer.Option(
        help="Which examples come first: representatives of clusters of "
        "differences (default), random ones (default of --rule betting), random "
        "ones of which those come more often whose outputs differ (weighted), or "
        "those whose outputs differ most (norm)."
    ),
]
JudgeOption = Annotated[
    str | None,
    typer.Option(
        help="Column with a cheap judge's preferences in every row (a number in "
        "[-1, 1], or A, B or tie; 0 for no opinion), made without a look at the "
        "oracle: with random or weighted examples a good one saves judgements, and "
        "none breaks a guarantee."
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


def check_confidence(confidence: float) -> None:
    """Raise a ValueError unless a confidence level lies between 0 and 1."""
    if not 0 < confidence < 1:
        raise ValueError(
            f"--confidence {confidence:g} is not between 0 and 1; give, for example, "
            "0.95."
        )
