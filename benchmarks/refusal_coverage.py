"""Coverage of intervals of a refusal rate from few labels, on real judgements.

For each of the three chat models of XSTest (Röttger et al., 2024; people's labels of
450 prompts a model), a few random labels are kept and the rest is the pool. The truth
is the model's rate over all its prompts.

    python -m benchmarks.refusal_coverage [--data FOLDER] [--runs 2000]

The folder holds `xstest_refusal.csv`; its default is the variable SKDIFFUSE_DATA.
The table goes to `benchmarks/results/refusal_coverage.csv`, its summary into
`docs/evidence.md`; `--summary-only` makes the summary from the table alone.
"""

import argparse
import math
import os
from pathlib import Path

import numpy as np
import polars as pl
from sklearn.utils import check_random_state

from benchmarks.documents import fill_table
from skdiffuse import PPIMeanEstimator

METHODS = {
    "labels alone Wilson": (0.0, "wilson"),
    "ols Wilson (default)": ("ols", "wilson"),
    "ols t": ("ols", "t"),
    "ppi++ normal": ("ppi++", "normal"),
}
OUT = Path(__file__).parent / "results" / "refusal_coverage.csv"


def study(X, refusal, n_labeled, runs):
    """Return rows of coverage, width and error, one a method."""
    truth = refusal.mean()
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
    for name in METHODS:
        low, high = ends[name].T
        coverage = np.mean((low <= truth) & (truth <= high))
        yield {
            "method": name,
            "coverage": round(coverage, 4),
            "coverage_error": round(math.sqrt(coverage * (1 - coverage) / runs), 4),
            "mean_width": round(np.mean(high - low), 4),
            "zero_width": round(np.mean(high == low), 4),
            "rmse": round(math.sqrt(np.mean((means[name] - truth) ** 2)), 4),
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


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=os.environ.get("SKDIFFUSE_DATA"))
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--summary-only", action="store_true")
    options = parser.parse_args()
    if options.summary_only:
        fill_table("refusal_coverage", summary(pl.read_csv(OUT)))
        return
    if not options.data:
        parser.error("name the folder of xstest_refusal.csv: --data or SKDIFFUSE_DATA")
    table = pl.read_csv(Path(options.data) / "xstest_refusal.csv")
    records = []
    for (model,), rows in table.group_by("model", maintain_order=True):
        refusal = rows["refusal"].to_numpy().astype(float)
        for judge in ("judge_gpt4", "judge_string"):
            X = rows[[judge]].to_numpy().astype(float)
            for n_labeled in (10, 20, 40, 100):
                cell = {
                    "model": model,
                    "judge": judge,
                    "rate": round(refusal.mean(), 4),
                    "n_labeled": n_labeled,
                    "runs": options.runs,
                }
                records += [
                    cell | r for r in study(X, refusal, n_labeled, options.runs)
                ]
    result = pl.DataFrame(records)
    OUT.parent.mkdir(exist_ok=True)
    result.write_csv(OUT)
    fill_table("refusal_coverage", summary(result))


if __name__ == "__main__":
    main()
