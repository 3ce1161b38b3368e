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


def check_confidence(confidence: float) -> None:
    """Raise a ValueError unless a confidence level lies between 0 and 1."""
    if not 0 < confidence < 1:
        raise ValueError(
            f"--confidence {confidence:g} is not between 0 and 1; give, for example, "
            "0.95."
        )
