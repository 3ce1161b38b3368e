"""Comparisons that stop by themselves: what they cost, and how often they err.

Algorithm 1 of the DiffUse paper at three risks, with both readings of ties, with
random and with chosen examples, and the rule with a guarantee, in random order. From
each pair of systems 80 % of the examples are drawn again and again.

    python -m benchmarks.iterative --data FILE.npz [--pairs 100] [--repeats 10]

The table goes to `benchmarks/results/iterative_DATA.csv`, and that of all data sets so
far into `docs/evidence.md`. `--quick` takes few pairs and draws and writes nothing;
`--summary-only` makes the tables from the files.
"""

import argparse
import sys

import polars as pl

from benchmarks.documents import fill_table
from benchmarks.pairs import Pairs, add_data, find
from benchmarks.tables import RESULTS, of_all, rounded
from skdiffuse import (
    BettingRule,
    DiffUseSelector,
    HypergeometricRule,
    NormSelector,
    PreferenceComparison,
    RandomSelector,
)
from skdiffuse.evaluation import iterative_study, summarise

RISKS = (0.05, 0.1, 0.2)
SELECTORS = {
    "random": RandomSelector(),
    "ward centroid": DiffUseSelector(),
    "ward max_norm": DiffUseSelector(representative="max_norm"),
    "maximum norm": NormSelector(),
}
COMPARISONS = {
    f"{name}; ties {ties}; risk {risk:g}": PreferenceComparison(
        selector, HypergeometricRule(risk, ties=ties)
    )
    for name, selector in SELECTORS.items()
    for ties in ("draw", "drop")
    for risk in RISKS
} | {
    f"random; betting; risk {risk:g}": PreferenceComparison(
        RandomSelector(), BettingRule(risk)
    )
    for risk in RISKS
}
COLUMNS = (
    "annotations",
    "success",
    "error",
    "inconclusive",
    "distance_right",
    "distance_wrong",
)


def table_of(rows):
    """Return means over the pairs with the errors of the first four."""
    by = ["judge", "comparison"]
    table = None
    for column in COLUMNS:
        part = pl.DataFrame(summarise(rows, by=by, value=column))
        kept = [pl.col("mean").alias(column)]
        if column in ("annotations", "success", "error", "inconclusive"):
            kept.append(pl.col("error").alias(f"{column}_mc"))
        part = part.select(*by, *kept)
        table = part if table is None else table.join(part, on=by, how="left")
    return rounded(table.to_dicts())


def summaries():
    """Fill the table of the documents from the files."""
    table = of_all("iterative")
    if table is None:
        return
    parts = pl.col("comparison").str.split("; ")
    shown = table.filter(pl.col("comparison").str.ends_with("risk 0.2")).select(
        "data",
        "judge",
        parts.list.get(0).alias("examples"),
        parts.list.get(1).alias("rule"),
        pl.col("annotations").round(0),
        pl.col("success", "error", "inconclusive").round(2),
    )
    fill_table("iterative", shown)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_data(parser)
    parser.add_argument("--pairs", type=int, default=100, help="at most so many")
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=-1)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--summary-only", action="store_true")
    options = parser.parse_args()
    if not options.summary_only:
        pairs = Pairs(find(options.data), 3 if options.quick else options.pairs)
        rows = iterative_study(
            COMPARISONS,
            pairs,
            n_repeats=1 if options.quick else options.repeats,
            n_jobs=options.jobs,
            verbose=sys.stderr.isatty(),
        )
        table = table_of(rows)
        if options.quick:
            print(table)
            return
        RESULTS.mkdir(exist_ok=True)
        table.write_csv(RESULTS / f"iterative_{pairs.data}.csv")
    summaries()


if __name__ == "__main__":
    main()
