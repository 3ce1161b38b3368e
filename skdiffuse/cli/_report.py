"""What a person reads in the terminal."""

import os
import shlex
import subprocess
import textwrap
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

_FEWEST = 10  # labels from which on something is said of the judge
METHODS = {
    "classical": "labels alone",
    "judge_only": "judge alone",
    "ppi": "PPI",
    "ridge": "ridge PPI",
    "sigmoid": "sigmoid PPI",
    "plugin": "shrunk PPI",
}


def verdict(console: Console, result: dict[str, Any]) -> None:
    """Print who wins and from what."""
    _headline(console, result["headline"])
    for name, value in result["details"].items():
        console.print(Text(f"  {name}: {value}"))
    _notes(console, result)


def joined(console: Console, result: dict[str, Any]) -> None:
    """Print what was written, and what can be done with it."""
    out, columns = result["out"], ", ".join(result["columns"])
    n_rows, word = result["n_rows"], _word(out)
    console.print(
        Text(
            f"{n_rows} example{'s' if n_rows > 1 else ''} written to {out}, joined by "
            f"{result['on']}: columns {columns}.\nTo judge by hand: skdiffuse annotate "
            f"{word}\nBy a column or a program: skdiffuse compare {word} --oracle "
            "COLUMN (or --oracle-command PROGRAM)"
        )
    )
    _notes(console, result)


def annotation(console: Console, result: dict[str, Any]) -> None:
    """Print the verdict of people, or how to go on."""
    verdict(console, result)
    ended = result["termination_condition"] != "in_progress"
    told = "The answers are in" if ended else "Saved; the same command goes on. See"
    _line(console, f"{told} {result['log']}")


def selection(console: Console, result: dict[str, Any]) -> None:
    """Print how many rows were written, where, and what to do next."""
    console.print(
        Text(
            f"{result['n_selected']} of {result['n_pool']} "
            f"example{'s' if result['n_pool'] > 1 else ''} written to {result['out']}: "
            f"{_next(result)}"
        )
    )
    _notes(console, result)


def _next(result: dict[str, Any]) -> str:
    """Say how to get from a selection to its verdict."""
    out, word = result["out"], _word(result["out"])
    if result["format"] == "label-studio":
        return (
            f"paste {result['configuration']} into Settings > Labeling Interface > "
            f"Code of a project of Label Studio and import {out}; when all are judged, "
            f"export as JSON and run: skdiffuse decide {word} EXPORT.json"
        )
    if result["format"] == "argilla":
        return (
            f"in Python, argilla.Dataset.from_disk({out!r}, workspace=...) puts them "
            "on your server; when all are judged, dataset.to_disk('ANSWERS') writes "
            "them into that empty folder; then run: skdiffuse decide "
            f"{word} ANSWERS"
        )
    return (
        "fill in the column preference with A, B or tie, then run: skdiffuse decide "
        f"{word}"
    )


def _word(path: str) -> str:
    """Return a path as a shell takes it for one word."""
    return subprocess.list2cmdline([path]) if os.name == "nt" else shlex.quote(path)


def estimates(console: Console, result: dict[str, Any]) -> None:
    """Print the estimates side by side."""
    console.print(_table(result))
    _line(
        console,
        f"{result['n_labeled']} labelled rows, {result['n_unlabeled']} in the pool. "
        "The judge alone is not corrected by any label and may be far off.",
    )
    _line(
        console,
        "* Recommended whatever the rows say: it errs least with few labels "
        f"(do not pick the narrowest). {_worth(result)}",
    )
    _notes(console, result)


def plan(console: Console, result: dict[str, Any]) -> None:
    """Print how many labels and predictions to pay for."""
    _headline(
        console,
        f"{result['n_labels']} random labels in all, {result['n_predictions']} "
        "predictions"
        if result["feasible"]
        else "Not feasible.",
    )
    console.print(f"  {result['reason']}")
    console.print(f"  cost: {result['cost']:.6g}")
    console.print(
        f"  as good as {result['effective_sample_size']:.0f} labels alone; interval "
        f"about {result['width']:.3g} wide"
        if result["effective_sample_size"]
        else "  nothing can be said from so little"
    )
    _line(
        console,
        f"assumed: correlation {result['rho']:.3g} of judge and label, standard "
        f"deviation {result['spread']:.3g} of the labels",
    )


def demo(console: Console, result: dict[str, Any]) -> None:
    """Print both jobs on the bundled data, beside the truth."""
    counts = result["counts"]
    _headline(console, "Which captioner of handwritten digits is better?")
    console.print(
        f"  {result['n_annotations']} of {result['n_pool']} pairs judged: A wins "
        f"{counts['A']}, B wins {counts['B']}, {counts['tie']} ties."
    )
    console.print(f"  So {_says(result['winner'])}.")
    agrees = result["winner"] == result["full_judgement"]
    console.print(
        f"  Judging all says: {_says(result['full_judgement'])}. "
        f"{'The few agree.' if agrees else 'The few are wrong.'}"
    )
    console.print(
        f"  A random choice of as many says: {_says(result['random_order'])}."
    )
    console.print(
        f"  Of 1000 random choices {result['random_order_agrees']:.1%} are right."
    )
    console.print()
    accuracy = result["accuracy"]
    _headline(console, f"How often is captioner {result['captioner']} right?")
    console.print(_table(accuracy))
    console.print(
        f"  {accuracy['n_labeled']} captions labelled, {accuracy['n_unlabeled']} only "
        "judged by a classifier."
    )
    console.print(f"  The truth: {result['truth']:.3f}   (* recommended)")
    _notes(console, accuracy)


def _worth(result: dict[str, Any]) -> str:
    """Say what the judge is worth."""
    reason = result["judge_reason"]
    if result["fallback"] or result["n_labeled"] < _FEWEST:
        return f"{reason[0].upper()}{reason[1:]}." if result["fallback"] else ""
    saved = round(result["labels_saved"])
    if saved <= 0:
        return "Here the judge does not help: the labels alone are as good."
    return (
        f"The judge is worth {saved} more labels that would be drawn in the same way."
    )


def _headline(console: Console, text: str) -> None:
    console.print(Text(text, style="bold"))


def _notes(console: Console, result: dict[str, Any]) -> None:
    for note in result["notes"]:
        _line(console, f"Note: {note}", style="italic")


def _line(console: Console, text: str, style: str = "") -> None:
    """Print an indented text, also where it wraps."""
    indent = "  "
    wrapped = textwrap.fill(
        text, console.width, initial_indent=indent, subsequent_indent=indent
    )
    console.print(Text(wrapped, style=style))


def _says(winner: str | None) -> str:
    return f"{winner} is better" if winner else "neither is ahead"


def _table(result: dict[str, Any]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2))
    table.add_column("  estimate from")
    table.add_column("mean", justify="right")
    table.add_column(f"{result['confidence_level']:g} interval", justify="right")
    table.add_column("worth labels", justify="right")
    for row in result["estimates"]:
        name = f"  {METHODS[row['method']]}"
        recommended = row.get("recommended", False)
        if "judge" in row:
            name += f" ({row['judge']})"
        worth = row.get("effective_sample_size")
        # A few labels say nothing of how well a judge predicts them.
        told = worth is not None and result["n_labeled"] >= _FEWEST
        table.add_row(
            Text(name + (" *" if recommended else "")),
            f"{row['mean']:.4g}",
            f"{row['low']:.4g} to {row['high']:.4g}",
            f"{worth:.0f}" if told else "-",
            style="bold" if recommended else None,
        )
    return table
