"""Coverage of intervals of a refusal rate from few labels, on real judgements.

For each of the three chat models of XSTest (Röttger et al., 2024; people's labels of
450 prompts a model), a few random labels are kept and the rest is the pool. The truth
is the model's rate over all its prompts.

    python -m benchmarks.refusal_coverage [--data FOLDER] [--runs 2000]

The folder holds `xstest_refusal.csv`; its default is the variable SKDIFFUSE_DATA.
The table goes to `benchmarks/results/refusal_coverage.csv`, its summary into
`docs/evidence.md`; `--summary-only` makes the summary from the table alone.
"""

import math

import numpy as np
import polars as pl
from sklearn.utils import check_random_state

from benchmarks import options
from benchmarks.cells import xstest_cells
from benchmarks.documents import fill
from benchmarks.runs import make, read
from skdiffuse import PPIMeanEstimator

NAME, NEEDS_DATA = "refusal_coverage", True
METHODS = {
    "labels alone Wilson": (0.0, "wilson"),
    "ols Wilson (default)": ("ols", "wilson"),
    "ols t": ("ols", "t"),
    "ppi++ normal": ("ppi++", "normal"),
}


def study(cell, n_labeled, runs):
    """Return coverage, width and error, a record a method."""
    X, refusal = cell.scores, cell.labels
    ends = {name: np.empty((runs, 2)) for name in METHODS}
    means = {name: np.empty(runs) for name in METHODS}
    for run in range(runs):
        y = np.full(len(refusal), np.nan)
        labeled = check_random_state(run).permutation(len(y))[:n_labeled]
        y[labeled] = refusal[labeled]
        for name, (lam, method) in METHODS.items():
            estimator = PPIMeanEstimator(lam, clip=lam == "ppi++").fit(X, y)
            means[name][run] = estimator.mean_
            ends[name][run] = estimator.confidence_interval(method=method)
    place = {
        "model": cell.system,
        "judge": cell.judge,
        "rate": round(cell.truth, 4),
        "n_labeled": n_labeled,
        "runs": runs,
    }
    return [
        place | {"method": name} | compare(ends[name], means[name], cell.truth)
        for name in METHODS
    ]


def compare(ends, means, truth):
    """Return coverage and width of intervals, and the error of means."""
    low, high = ends.T
    coverage = np.mean((low <= truth) & (truth <= high))
    return {
        "coverage": round(coverage, 4),
        "coverage_error": round(math.sqrt(coverage * (1 - coverage) / len(ends)), 4),
        "mean_width": round(np.mean(high - low), 4),
        "zero_width": round(np.mean(high == low), 4),
        "rmse": round(math.sqrt(np.mean((means - truth) ** 2)), 4),
    }


def summary(table):
    """Return the least coverage, mean width and error over models and judges."""
    return (
        table.group_by("n_labeled", "method", maintain_order=True)
        .agg(
            pl.col("coverage").min().alias("least coverage"),
            pl.col("coverage").mean().round(3).alias("mean coverage"),
            pl.col("mean_width").mean().round(3).alias("mean width"),
            pl.col("rmse").mean().round(3).alias("root mean squared error"),
        )
        .rename({"n_labeled": "labels"})
    )


def tasks(chosen):
    """Yield the arguments of each study."""
    for cell in xstest_cells(chosen.data):
        for n_labeled in (10, 20, 40, 100):
            yield cell, n_labeled, chosen.runs


def tables():
    """Return the tables of the documents by their names."""
    return {NAME: summary(read(NAME))}


def main(arguments=None):
    parse = options.parser(__doc__, "folder of the file")
    parse.add_argument("--runs", type=options.positive, default=2000)
    if make(NAME, options.parse(parse, arguments, runs=10), study, tasks):
        fill(tables())


if __name__ == "__main__":
    main()
