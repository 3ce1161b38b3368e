"""What clustering from micro-clusters on costs in success, beside exact clustering.

Pools of 10,000 real difference vectors: random matches of the systems of AlpacaEval,
all examples of all matches in one pool. The preferences are those of its judge, or made
ones that depend on a random direction of the vectors; for these the same clustering is
asked again and again.

    python -m benchmarks.micro_clusters --data FOLDER [--pools 24] [--made 400]

The folder holds `alpaca_eval.npz`. The table goes to
`benchmarks/results/micro_clusters.csv`, the summary into `docs/speed.md`; `--quick`
takes small pools and writes nothing, `--summary-only` makes the summary from the table.
"""

import warnings

import numpy as np
import polars as pl

from benchmarks import options
from benchmarks.documents import fill
from benchmarks.pairs import TIES, files
from benchmarks.runs import make, read
from skdiffuse import DiffUseSelector
from skdiffuse.selection import ApproximateClusteringWarning

NAME, NEEDS_DATA = "micro_clusters", True
PAGE = "speed.md"
BUDGETS = (5, 10, 15, 20, 30, 40, 60, 80, 100, 120, 160, 200)
ROWS = 10_000
# So many rows are clustered one by one; more from as many micro-clusters on.
EXACT, MICRO = 10_000, (2000, 500)
DISTANCE = 0.1


def pool(path, seed, n_rows):
    """Return vectors and preferences of the examples of randomly matched systems."""
    rng = np.random.default_rng([seed, 0])
    with np.load(path) as file:
        kept = rng.permutation(np.flatnonzero(file["special"] == ""))
        embeddings, scores = file["embeddings"], file["score"]
    matches = kept[: len(kept) // 2 * 2].reshape(-1, 2)
    # A is the better one of most matches, so that it is ahead in the whole pool.
    level = np.nanmean(scores, axis=1)[matches]
    turned = (level[:, 0] < level[:, 1]) == (rng.uniform(size=len(matches)) < 0.85)
    matches[turned] = matches[turned, ::-1]
    first, second = matches.T
    X = embeddings[first].astype(np.float32) - embeddings[second].astype(np.float32)
    steps = scores[first] - scores[second]
    X, steps = X.reshape(-1, X.shape[-1]), steps.ravel()
    rows = np.flatnonzero(np.isfinite(steps))
    rows = rng.permutation(rows)[:n_rows]
    y = np.where(np.abs(steps[rows]) > TIES["alpaca_eval"], np.sign(steps[rows]), 0)
    return X[rows], y


def made_preferences(X, n, seed):
    """Yield preferences that a random direction of the vectors tells something of."""
    rng = np.random.default_rng([seed, 1])
    for _ in range(n):
        direction = rng.normal(size=X.shape[1])
        advantage = X @ direction
        advantage = advantage / advantage.std() + rng.normal(size=len(X))
        low, high = np.quantile(advantage, [0.4 - DISTANCE / 2, 0.6 - DISTANCE / 2])
        yield np.where(advantage > high, 1, np.where(advantage < low, -1, 0))


def study(path, seed, n_rows, n_made):
    """Return the success of each representative, clustering and budget in a pool."""
    X, y = pool(path, seed, n_rows)
    outcomes = {
        "judge": y[np.newaxis],
        "made": np.array(list(made_preferences(X, n_made, seed))),
    }
    records = []
    for max_exact in (EXACT, *MICRO):
        if max_exact != EXACT:
            max_exact = max_exact * n_rows // ROWS
        selector = DiffUseSelector(max_exact=max_exact, random_state=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ApproximateClusteringWarning)
            selector.fit(X)
        for representative in ("centroid", "cosine", "max_norm", "random"):
            selector.set_params(representative=representative)
            for budget in BUDGETS:
                rows = selector.select(budget)
                for preferences, ys in outcomes.items():
                    found = np.sign(ys[:, rows].sum(axis=1))
                    right = (1 + found * np.sign(ys.sum(axis=1))) / 2
                    records.append(
                        {
                            "pool": seed,
                            "preferences": preferences,
                            "representative": representative,
                            "max_exact": max_exact,
                            "budget": budget,
                            "success": round(float(np.mean(right)), 5),
                        }
                    )
    return records


def tasks(chosen):
    """Yield the arguments of each study."""
    [path] = [path for path in files(chosen.data) if path.stem == "alpaca_eval"]
    for seed in range(chosen.pools):
        yield path, seed, chosen.rows, chosen.made


def summary(table):
    """Return mean success, and by how much that of micro-clusters differs."""
    by = ["preferences", "representative"]
    # Sums in another order may be rounded otherwise.
    curves = table.group_by("pool", *by, "max_exact", maintain_order=True).agg(
        pl.col("success").mean()
    )
    exact = curves.filter(max_exact=EXACT).drop("max_exact")
    both = curves.filter(pl.col("max_exact") != EXACT).join(
        exact, on=["pool", *by], suffix=" exact"
    )
    step = 100 * (pl.col("success") - pl.col("success exact"))
    return (
        both.sort("pool", *by, "max_exact")
        .group_by(*by, "max_exact", maintain_order=True)
        .agg(
            (100 * pl.col("success exact").mean()).round(1).alias("exact, %"),
            (100 * pl.col("success").mean()).round(1).alias("micro-clusters, %"),
            step.mean().round(2).alias("difference, points"),
            (step.std() / pl.len().sqrt()).round(2).alias("standard error"),
        )
        .sort(*by, "max_exact", descending=[False, False, True])
        .rename({"max_exact": "micro-clusters"})
    )


def tables():
    """Return the table of the document by its name."""
    return {NAME: summary(read(NAME))}


def main(arguments=None):
    parse = options.parser(__doc__, "the folder of the file")
    parse.add_argument("--pools", type=options.positive, default=24)
    parse.add_argument("--made", type=options.positive, default=400)
    parse.add_argument("--rows", type=options.positive, default=ROWS)
    chosen = options.parse(parse, arguments, pools=1, made=2, rows=600)
    if make(NAME, chosen, study, tasks):
        fill(tables(), PAGE)


if __name__ == "__main__":
    main()
