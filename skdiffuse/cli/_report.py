"""What a person reads in the terminal."""

from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

_METHODS = {"classical": "labels alone", "judge_only": "judge alone", "ppi": "PPI"}


def verdict(console: Console, result: dict[str, Any]) -> None:
    """Print who wins and from what."""
    console.print(Text(_headline(result["winner"]), style="bold"))
    console.print(
        f"{result['n_annotations']} of {result['n_pool']} examples judged: "
        f"{_votes(result['counts'])}."
    )
    console.print(
        "These examples were chosen to find the winner; their shares are not rates."
    )


def selection(console: Console, result: dict[str, Any]) -> None:
    """Print how many rows were written, and where."""
    console.print(
        Text(
            f"{result['n_selected']} of {result['n_pool']} examples written to "
            f"{result['out']}: fill in the column preference with A, B or tie."
        )
    )


def estimates(console: Console, result: dict[str, Any]) -> None:
    """Print the estimates side by side."""
    console.print(_table(result))
    console.print(
        f"{result['n_labeled']} labelled rows, {result['n_unlabeled']} in the pool."
    )
    if result["fallback"]:
        console.print(f"PPI is the mean of the labels here: {result['fallback']}.")
    console.print("The judge alone has no labels to correct it; trust PPI.")


def demo(console: Console, result: dict[str, Any]) -> None:
    """Print both jobs on the bundled data, beside the truth."""
    comparison = result["comparison"]
    console.print(Text("Which captioner of handwritten digits is better?", "bold"))
    console.print(
        f"  {comparison['n_annotations']} of {comparison['n_pool']} examples judged: "
        f"{_votes(comparison['counts'])}.  {_headline(comparison['winner'])}"
    )
    agrees = comparison["winner"] == result["full_judgement"]
    console.print(
        f"  Judging all {comparison['n_pool']} says: "
        f"{_headline(result['full_judgement'])}  "
        f"{'The few agree.' if agrees else 'The few were wrong.'}"
    )
    console.print(
        f"  A random order at that budget says: {_headline(result['random_order'])}  "
        f"Of 1000 random orders {result['random_order_agrees']:.1%} are right."
    )
    console.print()
    accuracy = result["accuracy"]
    console.print(Text(f"How often is captioner {result['captioner']} right?", "bold"))
    console.print(_table(accuracy))
    console.print(
        f"  {accuracy['n_labeled']} captions labelled, {accuracy['n_unlabeled']} only "
        f"judged by a cheap classifier.  The truth: {result['truth']:.3f}"
    )


def _headline(winner: str | None) -> str:
    return f"{winner} is better." if winner else "Neither is ahead."


def _votes(counts: dict[str, int]) -> str:
    return f"A wins {counts['A']}, B wins {counts['B']}, {counts['tie']} ties"


def _table(result: dict[str, Any]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2))
    table.add_column("estimate from")
    table.add_column("mean", justify="right")
    table.add_column(f"{result['confidence_level']:g} interval", justify="right")
    for row in result["estimates"]:
        name = _METHODS[row["method"]]
        if "judge" in row:
            name += f" ({row['judge']})"
        table.add_row(
            Text(name),
            f"{row['mean']:.4g}",
            f"{row['low']:.4g} to {row['high']:.4g}",
            style="bold" if row["method"] == "ppi" else None,
        )
    return table
