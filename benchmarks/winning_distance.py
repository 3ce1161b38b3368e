"""Whether the interval of the winning distance is honest, and how wide it is.

From each pair of systems a fixed number of examples is drawn again and again: at
random, with weights by the norm, each with and without a cheap judge, and one random
example of each cluster of differences. The truth is the distance over all examples.

    python -m benchmarks.winning_distance --data FILE.npz [--pairs 6] [--runs 500]

The table goes to `benchmarks/results/winning_distance_DATA.csv`, and that of all data
sets so far into `docs/evidence.md`. `--quick` takes few pairs and draws and writes
nothing; `--summary-only` makes the tables from the files.
"""

import numpy as np
import polars as pl
from scipy import stats
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import cross_val_predict

from benchmarks import options
from benchmarks.documents import fill
from benchmarks.pairs import make, of_each
from benchmarks.tables import of_all, rounded
from skdiffuse import (
    DiffUseSelector,
    FixedBudget,
    NormSelector,
    PreferenceComparison,
    RandomSelector,
)
from skdiffuse.comparison import distance_of_sample

NAME, NEEDS_DATA = "winning_distance", True
BUDGETS = (20, 50, 100, 200)
DRAWN = {
    "random": RandomSelector(),
    "weighted": NormSelector(probability=True),
}
STRATA = "one a cluster"
ARMS = ("random", "random, judge", "weighted", "weighted, judge", STRATA)


def study(pairs, chosen):
    """Return bias, coverage and width, a record for each pair, arm and budget."""
    return of_each(of_pair, pairs, chosen.runs, chosen.jobs)


def of_pair(number, name, X, y, predicted, runs):
    """Return the records of a pair."""
    truth, records = y.mean(), []
    norms = np.linalg.norm(X.astype(np.float64), axis=1, keepdims=True)
    clusters = DiffUseSelector(representative="random").fit(X)
    for budget in BUDGETS:
        if budget > len(y) / 2:
            continue
        place = {"pair": name, "budget": budget, "n": len(y), "runs": runs}
        place |= {"predicts": explained(X, y, budget)}
        for arm in ARMS:
            # Other draws in each cell, so that their errors are independent.
            seed = [number, budget, ARMS.index(arm)]
            if arm == STRATA:
                strata = clusters.strata(budget)
                ends = [of_clusters(strata, y, [*seed, run]) for run in range(runs)]
            else:
                selector = DRAWN[arm.split(",")[0]]
                judge = predicted if "judge" in arm else None
                ends = [
                    of_draws(selector, budget, norms, y, judge, [*seed, run])
                    for run in range(runs)
                ]
            records.append(place | {"arm": arm} | compared(np.array(ends), truth))
    return records


def of_draws(selector, budget, norms, y, judge, seed):
    """Return estimate and ends from the first draws."""
    seed = int(np.random.default_rng(seed).integers(2**31))
    selector.set_params(random_state=seed)
    if judge is None:
        order = selector.fit(norms).annotation_order(budget)
        chances = selector.draw_probabilities_[:budget]
        found = distance_of_sample(y[order], len(y), draw_probabilities=chances)
    else:
        comparison = PreferenceComparison(selector, FixedBudget(), 1, budget)
        order = comparison.start(norms, judge=judge).ask(budget)
        found = comparison.tell(order, y[order]).winning_distance()
    return found.mean, found.low, found.high


def of_clusters(strata, y, seed):
    """Return estimate and ends from one random example of each cluster."""
    priority = np.random.default_rng(seed).permutation(len(y))
    rows = priority[np.unique(strata[priority], return_index=True)[1]]
    sizes = np.bincount(strata)[strata[rows]]
    found = distance_of_sample(y[rows], len(y), inclusion_probabilities=1 / sizes)
    return found.mean, found.low, found.high


def explained(X, y, budget):
    """Return how much of the preferences a ridge on the differences explains.

    Cross-fitted on random examples, as a judge made of the labels themselves would be.
    """
    shares = []
    for seed in range(5):
        rows = np.random.default_rng(seed).permutation(len(y))[:budget]
        if np.ptp(y[rows]) == 0:
            continue
        ridge = RidgeCV(np.logspace(-1, 4, 11))
        predicted = cross_val_predict(ridge, X[rows].astype(np.float64), y[rows])
        shares.append(1 - np.mean((y[rows] - predicted) ** 2) / y[rows].var())
    return float(np.median(shares)) if shares else np.nan


def compared(ends, truth):
    """Return what the estimates and intervals of a cell are worth."""
    means, low, high = ends.T
    error = means.std() / np.sqrt(len(means))
    return {
        "truth": truth,
        "bias": means.mean() - truth,
        "bias_errors": (means.mean() - truth) / error if error else 0.0,
        "rmse": np.sqrt(np.mean((means - truth) ** 2)),
        "coverage": np.mean((low - 1e-9 <= truth) & (truth <= high + 1e-9)),
        "width": np.mean(high - low),
    }


def writing(rows):
    """Return the table that is written, with widths beside those of random draws."""
    table = pl.DataFrame(rows)
    random = table.filter(pl.col("arm") == "random").select(
        "pair", "budget", random_width="width", random_rmse="rmse"
    )
    table = table.join(random, on=["pair", "budget"], maintain_order="left")
    table = table.with_columns(
        of_random_width=pl.col("width") / pl.col("random_width"),
        of_random_rmse=pl.col("rmse") / pl.col("random_rmse"),
    ).drop("random_width", "random_rmse")
    return {NAME: rounded(table.to_dicts())}


def tables():
    """Return the tables of the documents by their names."""
    table = of_all(NAME)
    cells = table.group_by("arm", maintain_order=True).agg(
        pl.len().alias("cells"),
        *_bias(),
        pl.col("coverage").min().round(3).alias("least coverage"),
        (pl.col("coverage") >= 0.93).mean().round(3).alias("cells of .93 and more"),
        pl.col("coverage").mean().round(3).alias("mean coverage"),
    )
    widths = (
        table.group_by("data", "judge", "budget", "arm", maintain_order=True)
        .agg(
            pl.format(
                "{} ({})",
                pl.col("of_random_width").mean().round(2),
                pl.col("of_random_rmse").mean().round(2),
            ).alias("cell")
        )
        .pivot("arm", index=["data", "judge", "budget"], values="cell")
    )
    predicts = (
        table.filter(pl.col("arm") == "random")
        .group_by("data", "judge", "budget", maintain_order=True)
        .agg(pl.col("predicts").mean().round(2).alias("ridge explains"))
    )
    return {
        NAME: cells,
        "distance_widths": widths.join(
            predicts, on=["data", "judge", "budget"], maintain_order="left"
        ).select("data", "judge", "budget", *ARMS[1:], "ridge explains"),
    }


def _bias():
    errors = pl.col("bias_errors")
    chance = errors.map_batches(
        lambda z: pl.Series([float(stats.chi2.sf((z**2).sum(), len(z)))]),
        return_dtype=pl.Float64,
        returns_scalar=True,
    )
    return (
        errors.abs().max().round(1).alias("largest bias, in errors"),
        (errors.abs() > 3).sum().alias("beyond 3"),
        chance.round(2).alias("joint p-value"),
    )


def main(arguments=None):
    parse = options.parser(__doc__, "the file, or a folder of several")
    parse.add_argument(
        "--pairs", type=options.positive, default=6, help="at most so many"
    )
    parse.add_argument("--runs", type=options.positive, default=500)
    chosen = options.parse(parse, arguments, pairs=1, runs=5)
    if make(NAME, chosen, study, writing):
        fill(tables())


if __name__ == "__main__":
    main()
