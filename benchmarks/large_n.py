"""Bias and coverage with 1,000 labels and more, where a logistic curve could be biased.

Rows of the five question answerers of QA-Eval are drawn with replacement, n with a
label and 2,000 for the pool; the truth is the share of correct answers in all 2,000
rows.

    python -m benchmarks.large_n [--data FOLDER] [--runs 150]

The folder holds `qa_eval_nq.npz`; its default is the variable SKDIFFUSE_DATA. The table
goes to `benchmarks/results/large_n.csv`, a picture beside it, the summary into
`docs/evidence.md`; `--summary-only` makes these from the table alone.
"""

import numpy as np
import polars as pl

from benchmarks import options
from benchmarks.cells import generator, qa_cells
from benchmarks.documents import fill
from benchmarks.runs import (
    ALONE,
    LEVEL,
    by_library,
    compare_errors,
    coverage,
    make,
    read,
)

NAME, NEEDS_DATA = "large_n", True
N_LABELED, N_POOL = (1000, 1500), 2000
METHODS = [ALONE, "ols", "Ridge", "Sigmoid"]


def study(cell, n_labeled, runs):
    """Return bias, error and coverage of each method."""
    sample = cell.draw(generator(cell, n_labeled), runs, n_labeled, N_POOL)
    means, ends = by_library(sample, [(name, "auto") for name in METHODS])
    deviations = means - cell.truth
    place = {"system": cell.system, "judge": cell.judge, "n_labeled": n_labeled}
    records = []
    for column, record in enumerate(compare_errors(np.abs(deviations), METHODS)):
        record |= bias(deviations[:, column])
        record |= coverage(ends[:, column], cell.truth)
        records.append(place | record)
    return records


def bias(deviations):
    """Return the bias, its Monte-Carlo error, and the spread of the estimate."""
    spread = deviations.std(ddof=1)
    return {
        "bias": round(deviations.mean(), 6),
        "bias_error": round(spread / np.sqrt(len(deviations)), 6),
        "spread": round(spread, 6),
    }


def summary(table):
    """Return bias and coverage of each method over systems and judges."""
    in_errors = (pl.col("bias") / pl.col("bias_error")).abs()
    return (
        table.group_by("n_labeled", "method", maintain_order=True)
        .agg(
            (1e4 * pl.col("bias").mean()).round(2).alias("mean bias, 1e-4"),
            (1e4 * pl.col("bias").abs().max()).round(2).alias("largest bias, 1e-4"),
            in_errors.max().round(2).alias("largest, in Monte-Carlo errors"),
            (pl.col("bias") / pl.col("spread"))
            .abs()
            .max()
            .round(3)
            .alias("largest, in standard errors of the estimate"),
            pl.col("ratio").mean().round(3).alias("mean ratio of errors"),
            pl.col("coverage").mean().round(3).alias("mean coverage"),
            pl.col("coverage").min().round(3).alias("least coverage"),
        )
        .rename({"n_labeled": "labels"})
    )


def figure_rows(table):
    """Return what the picture shows: bias and coverage of each cell, by labels."""
    for value, goal, label in (
        (pl.col("bias") / pl.col("bias_error"), 0, "bias / its Monte-Carlo error"),
        (pl.col("coverage"), LEVEL, "coverage"),
    ):
        rows = table.with_columns(value.alias("value"))
        panels = {
            f"{label.split(' /')[0]}, {n_labeled} labels": rows.filter(
                n_labeled=n_labeled
            )
            for n_labeled in N_LABELED
        }
        yield label, goal, None, panels


def tasks(chosen):
    """Yield the arguments of each study."""
    for n_labeled in N_LABELED:
        for cell in qa_cells(chosen.data):
            yield cell, n_labeled, chosen.runs


def tables():
    """Return the tables of the documents by their names."""
    return {NAME: summary(read(NAME))}


def main(arguments=None):
    parse = options.parser(__doc__, "folder of the file")
    parse.add_argument("--runs", type=options.positive, default=150)
    chosen = options.parse(parse, arguments, runs=2)
    if make(NAME, chosen, study, tasks):
        from benchmarks import plots

        fill(tables())
        plots.strips(NAME, list(figure_rows(read(NAME))))


if __name__ == "__main__":
    main()
