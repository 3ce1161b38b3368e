"""The commands."""

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import polars as pl
import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

import skdiffuse
from skdiffuse import DiffUseSelector, PPIMeanEstimator
from skdiffuse.cli import _embed, _files, _report
from skdiffuse.datasets import load_digit_captions
from skdiffuse.metrics import winner

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    help="Judge generated text on a small budget: which of two generators is better, "
    "and how often.",
)

FileArgument = Annotated[
    Path, typer.Argument(metavar="FILE", help=f"The examples: {_files.FORMATS}.")
]
BudgetOption = Annotated[
    int, typer.Option(min=1, help="How many examples to judge.", show_default=True)
]
SeedOption = Annotated[
    int, typer.Option(min=0, max=2**32 - 1, help="Seed of every random step.")
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print one JSON object, for machines.")
]
OutputAOption = Annotated[str, typer.Option(help="Column with the outputs of A.")]
OutputBOption = Annotated[str, typer.Option(help="Column with the outputs of B.")]
EmbedderOption = Annotated[
    str,
    typer.Option(
        help="What turns an output into a vector: tfidf (TF-IDF reduced by truncated "
        "SVD; nothing to download) or sentence-transformers:NAME (extra 'text')."
    ),
]
ConfidenceOption = Annotated[
    float, typer.Option(help="Confidence level of the intervals, between 0 and 1.")
]


@app.command()
def demo(
    budget: BudgetOption = 50,
    labels: Annotated[
        int, typer.Option(min=2, max=1797, help="How many captions to label.")
    ] = 40,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Run both jobs on bundled data: captions of handwritten digits."""
    captions = load_digit_captions()
    with _progress() as stage:
        selector = _fit_selector(
            list(captions.text_a),
            list(captions.text_b),
            budget,
            _embed.DEFAULT,
            seed,
            stage,
        )
    selected = selector.selected_indices_
    verdict = _verdict(captions.preference[selected], selected, len(captions.data))
    truth = winner(captions.preference)
    rng = np.random.default_rng(seed)
    random_winners = [
        winner(rng.choice(captions.preference, len(selected), replace=False))
        for _ in range(1000)
    ]
    better = "b" if truth < 0 else "a"
    correct, judge = captions[f"correct_{better}"], captions[f"judge_{better}"]
    y = np.full(len(correct), np.nan)
    labeled = rng.choice(len(y), labels, replace=False)
    y[labeled] = correct[labeled]
    result = {
        "comparison": verdict,
        "full_judgement": _name(truth),
        "random_order": _name(random_winners[0]),
        "random_order_agrees": float(np.mean(np.array(random_winners) == truth)),
        "captioner": better.upper(),
        "truth": float(correct.mean()),
        "accuracy": _estimates(judge[:, np.newaxis], y, ["judge"], 0.95),
    }
    _print(result, as_json, _report.demo)


@app.command()
def select(
    file: FileArgument,
    out: Annotated[
        Path, typer.Option(help=f"Where to write the chosen rows: {_files.FORMATS}.")
    ],
    budget: BudgetOption = 50,
    output_a: OutputAOption = "output_a",
    output_b: OutputBOption = "output_b",
    input_column: Annotated[
        str, typer.Option("--input", help="Column with the inputs, if there is one.")
    ] = "input",
    embedder: EmbedderOption = _embed.DEFAULT,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Choose the examples to judge and write them to a file, to annotate anywhere.

    The file has the number of each row (counted from zero), the input, both outputs
    and an empty column `preference`.
    """
    table, texts_a, texts_b = _read_pairs(file, output_a, output_b)
    with _progress() as stage:
        selector = _fit_selector(texts_a, texts_b, budget, embedder, seed, stage)
    rows = selector.selected_indices_.tolist()
    chosen = {
        "row": rows,
        "input": table[input_column][rows] if input_column in table.columns else None,
        "output_a": [texts_a[row] for row in rows],
        "output_b": [texts_b[row] for row in rows],
        "preference": pl.Series([None] * len(rows), dtype=pl.String),
    }
    _files.write_table(
        pl.DataFrame({k: v for k, v in chosen.items() if v is not None}), out
    )
    result = {"n_selected": len(rows), "n_pool": len(table), "selected": rows}
    _print(result | {"out": str(out)}, as_json, _report.selection)


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
    budget: BudgetOption = 50,
    output_a: OutputAOption = "output_a",
    output_b: OutputBOption = "output_b",
    embedder: EmbedderOption = _embed.DEFAULT,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Say which of two generators is better from a few judged examples."""
    table, texts_a, texts_b = _read_pairs(file, output_a, output_b)
    _files.column(table, oracle, "--oracle")
    with _progress() as stage:
        selector = _fit_selector(texts_a, texts_b, budget, embedder, seed, stage)
    selected = selector.selected_indices_
    answers = _files.preferences(table, oracle, "--oracle", selected)
    _print(_verdict(answers, selected, len(table)), as_json, _report.verdict)


@app.command()
def estimate(
    file: FileArgument,
    label: Annotated[
        str,
        typer.Option(
            help="Column with the labels; rows where it is empty are the pool."
        ),
    ],
    judge: Annotated[
        list[str], typer.Option(help="Column with a judge's scores; may be repeated.")
    ],
    confidence_level: ConfidenceOption = 0.95,
    as_json: JsonOption = False,
) -> None:
    """Estimate a mean from a few labels and a judge on every row, with intervals.

    The labelled rows must be a random sample of all rows.
    """
    table = _files.read_table(file)
    y = _files.numbers(table, label, "--label")
    if np.isnan(y).all():
        raise ValueError(f"column {label!r} has no label; label at least two rows.")
    X = np.column_stack(
        [_files.complete_numbers(table, name, "--judge") for name in judge]
    )
    result = _estimates(X, y, judge, confidence_level)
    _print(result, as_json, _report.estimates)


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
    command = typer.main.get_command(app)
    try:
        code = command.main(
            arguments if arguments is None else list(arguments),
            prog_name="skdiffuse",
            standalone_mode=False,
        )
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except (BrokenPipeError, SystemExit):
        # The reader (say, `head`) has left, which rich answers by SystemExit; Python
        # must not write to it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (KeyboardInterrupt, typer.Abort):
        return _fail("interrupted")
    except (ValueError, OSError) as error:
        return _fail(str(error))
    except Exception as error:
        if hasattr(error, "format_message"):  # what typer says of the arguments
            return _fail(error.format_message())
        return _fail(f"unexpected {type(error).__name__}: {error}; please report it.")


def _fail(message: str) -> int:
    print("skdiffuse: error:", " ".join(message.split()), file=sys.stderr)
    return 2


def _print(result: dict[str, Any], as_json: bool, show: Callable) -> None:
    if as_json:
        print(json.dumps(result, allow_nan=False))
    else:
        show(Console(highlight=False), result)


@contextmanager
def _progress() -> Iterator[Callable[..., Callable[[int, int], None]]]:
    """Show a bar a stage on stderr, where that is a terminal."""
    columns = TextColumn("{task.description}"), BarColumn()
    console = Console(stderr=True)
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as progress:

        def stage(description: str) -> Callable[[int, int], None]:
            task = progress.add_task(description, total=None)
            return lambda done, total: progress.update(
                task, completed=done, total=total
            )

        yield stage


def _read_pairs(
    file: Path, output_a: str, output_b: str
) -> tuple[pl.DataFrame, list[str], list[str]]:
    table = _files.read_table(file)
    texts_a = _files.texts(table, output_a, "--output-a")
    return table, texts_a, _files.texts(table, output_b, "--output-b")


def _fit_selector(
    texts_a: list[str],
    texts_b: list[str],
    budget: int,
    embedder: str,
    seed: int,
    stage: Callable[[str], Callable[[int, int], None]],
) -> DiffUseSelector:
    advance = stage(f"Embedding {2 * len(texts_a)} outputs")
    X = _embed.difference_vectors(texts_a, texts_b, embedder, seed, advance)
    advance(1, 1)
    done = stage(f"Clustering {len(X)} differences")
    selector = DiffUseSelector(budget, random_state=seed).fit(X)
    done(1, 1)
    return selector


def _name(sign: int) -> str | None:
    return {1: "A", -1: "B", 0: None}[sign]


def _verdict(answers: np.ndarray, selected: np.ndarray, n_pool: int) -> dict[str, Any]:
    counts = {"A": answers > 0, "B": answers < 0, "tie": answers == 0}
    return {
        "winner": _name(winner(answers)),
        "n_annotations": len(answers),
        "n_pool": n_pool,
        "counts": {side: int(np.count_nonzero(is_)) for side, is_ in counts.items()},
        "selected": selected.tolist(),
    }


def _estimates(
    X: np.ndarray, y: np.ndarray, judges: list[str], confidence_level: float
) -> dict[str, Any]:
    """Estimate the mean by the labels, by each judge alone, and by both."""
    ppi = PPIMeanEstimator().fit(X, y)
    rows: list[tuple[dict[str, str], PPIMeanEstimator]] = [
        ({"method": "classical"}, PPIMeanEstimator(lam=0).fit(X, y))
    ]
    for name, scores in zip(judges, X.T, strict=True):
        alone = PPIMeanEstimator(lam=0).fit(X, scores)
        rows.append(({"method": "judge_only", "judge": name}, alone))
    rows.append(({"method": "ppi"}, ppi))
    estimates = []
    for names, estimator in rows:
        low, high = estimator.confidence_interval(confidence_level)
        estimates.append(names | {"mean": estimator.mean_, "low": low, "high": high})
    return {
        "estimates": estimates,
        "n_labeled": ppi.n_labeled_,
        "n_unlabeled": ppi.n_unlabeled_,
        "confidence_level": confidence_level,
        "fallback": ppi.fallback_,
    }
