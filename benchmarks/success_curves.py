"""How often few judgements name the winner: the protocol of the DiffUse paper.

From each pair of systems 80 % of the examples are drawn again and again; a selector
chooses some of them, and is right if these have the winner of all that were drawn.

    python -m benchmarks.success_curves --data FILE.npz [--pairs 100] [--repeats 10]

The curves go to `benchmarks/results/success_curves_DATA.csv`, their mean gain over
random examples to `success_gains_DATA.csv`, the number of labels for a wanted success
rate to `labels_to_rate_DATA.csv`, a picture beside them, and the tables of all data
sets so far into `docs/evidence.md`. `--quick` takes few pairs and
draws and writes nothing; `--summary-only` makes tables and pictures from the files.
"""

import sys

import numpy as np
import polars as pl

from benchmarks import options
from benchmarks.documents import fill
from benchmarks.pairs import make
from benchmarks.tables import of_all, rounded, with_ends
from skdiffuse import DiffUseSelector, NormSelector, RandomSelector
from skdiffuse.evaluation import success_curve, summarise

NAME, NEEDS_DATA = "success_curves", True
BUDGETS = (5, 10, 15, 20, 30, 40, 60, 80, 100, 120, 160, 200)
KMEANS_BUDGETS = (10, 30, 60, 100, 200)
RATES = (0.85, 0.90, 0.95)
CLUSTERINGS = ("ward", "cosine")
REPRESENTATIVES = ("centroid", "cosine", "max_norm", "random")
ARMS = {
    "random": RandomSelector(),
    "maximum norm": NormSelector(),
    **{
        f"{clustering} {representative}": DiffUseSelector(
            clustering=clustering, representative=representative
        )
        for clustering in CLUSTERINGS
        for representative in REPRESENTATIVES
    },
}
KMEANS = {
    f"kmeans {representative}": DiffUseSelector(
        clustering="kmeans", representative=representative
    )
    for representative in ("centroid", "max_norm")
}
INPUTS = {"inputs ward centroid": DiffUseSelector(representative="centroid")}
SHOWN = ("random", "maximum norm", "ward centroid", "ward cosine", "ward max_norm")


def study(pairs, chosen):
    """Return the table of all arms."""
    half = int(0.8 * pairs.smallest()) // 2
    budgets = [budget for budget in BUDGETS if budget <= half]
    how = {"n_jobs": chosen.jobs, "verbose": sys.stderr.isatty()}
    often = {"n_repeats": chosen.repeats, **how}
    rows = success_curve(ARMS, pairs, budgets=budgets, **often)
    if pairs.of_inputs is not None:
        rows += success_curve(INPUTS, pairs.inputs(), budgets=budgets, **often)
    if chosen.kmeans_repeats:
        fewer = [budget for budget in KMEANS_BUDGETS if budget <= half]
        often["n_repeats"] = chosen.kmeans_repeats
        rows += success_curve(KMEANS, pairs, budgets=fewer, **often)
    return rows


def labels_to_rate(rows, rate, n_bootstrap=1000):
    """Return the labels for a success rate of each judge and arm, relative to random.

    The budget is interpolated on the mean curve over the pairs, which are drawn again
    and again for the interval. NaN: not reached.
    """
    records = []
    for judge in dict.fromkeys(row["judge"] for row in rows):
        curves = _curves([row for row in rows if row["judge"] == judge])
        n_pairs = len(next(iter(curves.values()))[1])
        rng = np.random.default_rng(0)
        weights = np.vstack(
            [
                np.ones(n_pairs),
                rng.multinomial(n_pairs, np.full(n_pairs, 1 / n_pairs), n_bootstrap),
            ]
        )
        needed = {
            arm: _first_budget(budgets, weights @ values / n_pairs, rate)
            for arm, (budgets, values) in curves.items()
        }
        for arm, budgets in needed.items():
            ratios = budgets / needed["random"]
            drawn = ratios[1:][np.isfinite(ratios[1:])]
            enough = len(drawn) >= 0.9 * n_bootstrap
            low, high = np.quantile(drawn, [0.025, 0.975]) if enough else (None, None)
            records.append(
                {
                    "judge": judge,
                    "selector": arm,
                    "rate": rate,
                    "labels": _plain(budgets[0]),
                    "of_random": _plain(ratios[0]),
                    "low": _plain(low),
                    "high": _plain(high),
                }
            )
    return records


def _curves(rows):
    """Return budgets and the success of each pair (n_pairs, n_budgets) by arm."""
    curves = {}
    for arm in dict.fromkeys(row["selector"] for row in rows):
        of_arm = [row for row in rows if row["selector"] == arm]
        budgets = sorted({row["budget"] for row in of_arm})
        pairs = list(dict.fromkeys(row["pair"] for row in of_arm))
        values = np.empty((len(pairs), len(budgets)))
        for row in of_arm:
            place = pairs.index(row["pair"]), budgets.index(row["budget"])
            values[place] = row["success"]
        curves[arm] = np.array(budgets), values
    return curves


def _first_budget(budgets, curves, rate):
    """Return the budget at which each curve first reaches the rate, or NaN."""
    reached = curves >= rate
    first = np.argmax(reached, axis=1)
    before = np.maximum(first - 1, 0)
    rows = np.arange(len(curves))
    rise = curves[rows, first] - curves[rows, before]
    share = np.where(
        first > 0, (rate - curves[rows, before]) / np.where(rise, rise, 1), 1
    )
    found = budgets[before] + share * (budgets[first] - budgets[before])
    return np.where(reached.any(axis=1), found, np.nan)


def _plain(number):
    return None if number is None or np.isnan(number) else float(number)


def gains(rows):
    """Return by how much arms succeed more often than random examples do.

    The mean over the budgets of an arm; the interval is over the pairs.
    """
    key = ("pair", "judge", "budget")
    of_random = {
        tuple(row[column] for column in key): row["success"]
        for row in rows
        if row["selector"] == "random"
    }
    gained = [
        row | {"gain": row["success"] - of_random[tuple(row[c] for c in key)]}
        for row in rows
    ]
    return summarise(gained, by=["judge", "selector"], value="gain")


def writing(rows):
    """Return the tables that are written, by their names."""
    by = ["judge", "selector", "budget"]
    curves = summarise(rows, by=by)
    bias = {tuple(r[c] for c in by): r for r in summarise(rows, by=by, value="bias")}
    for row in curves:
        row["bias"] = bias[tuple(row[column] for column in by)]["mean"]
    needed = [record for rate in RATES for record in labels_to_rate(rows, rate)]
    return {
        NAME: rounded(curves),
        "success_gains": rounded(gains(rows)),
        "labels_to_rate": rounded(needed),
    }


def tables():
    """Return the tables of the documents by their names."""
    curves = of_all(NAME)
    return {
        NAME: _mean_success(curves),
        "success_gains": _gains(of_all("success_gains")),
        "distance_bias": _bias(curves),
        "labels_to_rate": _labels(of_all("labels_to_rate")),
    }


def _mean_success(table):
    means = table.group_by("data", "judge", "selector", maintain_order=True).agg(
        pl.col("mean").mean().round(3)
    )
    arms = [arm for arm in (*ARMS, *INPUTS) if arm in means["selector"]]
    return means.pivot("selector", index=["data", "judge"], values="mean").select(
        "data", "judge", *arms
    )


def _gains(table):
    arms = [*SHOWN[1:], "kmeans centroid", *INPUTS]
    wide = table.with_columns(both=with_ends("mean", "low", "high", 3)).pivot(
        "selector", index=["data", "judge", "n"], values="both"
    )
    return wide.select("data", "judge", pl.col("n").alias("pairs"), *arms)


def _bias(table):
    rows = table.filter(
        pl.col("budget").is_in([20, 60]) & pl.col("selector").is_in(SHOWN)
    ).with_columns(pl.col("bias").round(3))
    return rows.pivot("selector", index=["data", "judge", "budget"], values="bias")


def _labels(table):
    rows = table.filter(pl.col("selector").is_in([*ARMS, *INPUTS]))
    # A column without any number is read as text.
    numbers = ("labels", "of_random", "low", "high")
    rows = rows.with_columns(pl.col(*numbers).cast(pl.Float64))
    share = (
        pl.when(pl.col("of_random").is_null())
        .then(pl.lit("not reached"))
        .when(pl.col("low").is_null())
        .then(pl.format("{}", pl.col("of_random").round(2)))
        .otherwise(with_ends("of_random", "low", "high", 2))
    )
    text = rows.with_columns(
        share=pl.when(pl.col("labels").is_null())
        .then(pl.lit("not reached"))
        .when(pl.col("selector") == "random")
        .then(pl.format("{} labels", pl.col("labels").round(0)))
        .otherwise(share)
    ).filter(pl.col("selector").is_in(SHOWN))
    return text.pivot("selector", index=["data", "judge", "rate"], values="share")


def main(arguments=None):
    parse = options.parser(__doc__, "the file, or a folder of several")
    parse.add_argument(
        "--pairs", type=options.positive, default=100, help="at most so many"
    )
    parse.add_argument("--repeats", type=options.positive, default=10)
    parse.add_argument("--kmeans-repeats", type=int, default=2, help="0: leave out")
    chosen = options.parse(parse, arguments, pairs=2, repeats=1, kmeans_repeats=0)
    if make(NAME, chosen, study, writing):
        from benchmarks import plots

        fill(tables())
        for (data,), rows in of_all(NAME).group_by("data", maintain_order=True):
            plots.success_curves(f"{NAME}_{data}", rows)


if __name__ == "__main__":
    main()
