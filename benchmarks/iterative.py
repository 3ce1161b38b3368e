"""Comparisons that stop by themselves: what they cost, and how often they err.

Algorithm 1 of the DiffUse paper at three risks, with both readings of ties, with
random and with chosen examples, and the rule with a guarantee, in random order. From
each pair of systems 80 % of the examples are drawn again and again.

    python -m benchmarks.iterative --data FILE.npz [--pairs 100] [--repeats 10]

The table goes to `benchmarks/results/iterative_DATA.csv`, and that of all data sets so
far into `docs/evidence.md`. `--quick` takes few pairs and draws and writes nothing;
`--summary-only` makes the tables from the files.
"""

import sys

import polars as pl

from benchmarks import options
from benchmarks.documents import fill
from benchmarks.pairs import make
from benchmarks.tables import of_all, rounded
from skdiffuse import (
    BettingRule,
    DiffUseSelector,
    HypergeometricRule,
    NormSelector,
    PreferenceComparison,
    RandomSelector,
)
from skdiffuse.evaluation import iterative_study, summarise

NAME, NEEDS_DATA = "iterative", True
RISKS = (0.05, 0.1, 0.2)
SELECTORS = {
    "random": RandomSelector(),
    "ward centroid": DiffUseSelector(representative="centroid"),
    "ward cosine": DiffUseSelector(representative="cosine"),
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
SHOWN = (
    "random, ties drop",
    "maximum norm, ties drop",
    "ward centroid, ties drop",
    "ward cosine, ties drop",
    "ward cosine, ties draw",
    "random, betting",
)
DISTANCES = ("distance_right", "distance_wrong")
COLUMNS = (
    "annotations",
    "success",
    "error",
    "inconclusive",
    *DISTANCES,
)


def study(pairs, chosen):
    """Return the verdicts of all comparisons."""
    return iterative_study(
        COMPARISONS,
        pairs,
        n_repeats=chosen.repeats,
        n_jobs=chosen.jobs,
        verbose=sys.stderr.isatty(),
    )


def writing(rows):
    """Return the table that is written: means over the pairs, shares with errors."""
    records = {}
    for column in COLUMNS:
        for row in summarise(rows, by=["judge", "comparison"], value=column):
            place = row["judge"], row["comparison"]
            first = {"judge": row["judge"], "comparison": row["comparison"]}
            record = records.setdefault(place, first | dict.fromkeys(COLUMNS))
            record[column] = row["mean"]
            if column not in DISTANCES:
                record[f"{column}_mc"] = row["error"]
    return {NAME: rounded(list(records.values()))}


def tables():
    """Return the table of the documents by its name."""
    parts = pl.col("comparison").str.split("; ")
    table = of_all(NAME).with_columns(
        parts.list.get(0).alias("examples"),
        parts.list.get(1).alias("rule"),
        parts.list.get(2).str.strip_prefix("risk ").alias("risk"),
    )
    shares = pl.col("success", "error", "inconclusive")
    cell = pl.format(
        "{} ({} / {} / {})",
        pl.col("annotations").round(0).cast(int),
        *(pl.col(c).round(2) for c in ("success", "error", "inconclusive")),
    )
    default = table.filter(risk="0.05").with_columns(
        arm=pl.format("{}, {}", "examples", "rule"), cell=cell
    )
    shown = default.pivot("arm", index=["data", "judge"], values="cell")
    distances = pl.col(*DISTANCES).cast(float)
    overall = table.group_by("examples", "rule", "risk", maintain_order=True).agg(
        pl.col("annotations").mean().round(0).cast(int),
        shares.mean().round(2),
        distances.mean().round(2),
    )
    return {
        NAME: shown.select("data", "judge", *SHOWN),
        "iterative_overall": overall,
    }


def main(arguments=None):
    parse = options.parser(__doc__, "the file, or a folder of several")
    parse.add_argument(
        "--pairs", type=options.positive, default=100, help="at most so many"
    )
    parse.add_argument("--repeats", type=options.positive, default=10)
    chosen = options.parse(parse, arguments, pairs=2, repeats=1)
    if make(NAME, chosen, study, writing):
        fill(tables())


if __name__ == "__main__":
    main()
