"""The commands, put together."""

from collections.abc import Sequence
from typing import Annotated

import typer

import skdiffuse
from skdiffuse.cli import (
    _annotate,
    _choose,
    _compare,
    _demo,
    _join,
    _mean,
    _report,
    _terminal,
)
from skdiffuse.cli._options import JsonOption, SeedOption

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    help="Judge generated text on a small budget: which of two generators is better, "
    "and how often.",
)


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


for command in (
    _join.join,
    _annotate.annotate,
    _choose.select,
    _compare.compare,
    _choose.decide,
    _mean.estimate,
    _mean.plan,
):
    app.command()(command)


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
