"""How often the DiffUse of subset2evaluate names the winner, beside this library's.

Both get the same difference vectors and the same draws, those of
`benchmarks.success_curves`. With two systems, version 1.0 of subset2evaluate averages
each difference vector over its coordinates, and so clusters one number an example; the
arm "mended" is its code with the mean over pairs of systems instead.

    python -m benchmarks.peer_diffuse --data FILE.npz [--pairs 100] [--repeats 3]

subset2evaluate brings PyTorch and others, so it has an environment of its own:
`pip install -e '.[bench]' subset2evaluate`. The table goes to
`benchmarks/results/peer_diffuse_DATA.csv`, and that of all data sets so far into
`docs/evidence.md`. `--quick` takes few pairs and draws and writes nothing;
`--summary-only` makes the table from the files.
"""

import copy
import inspect
import sys
import time
from importlib.util import find_spec
from unittest.mock import patch

import numpy as np
import polars as pl
from sklearn.base import BaseEstimator, clone

from benchmarks import options
from benchmarks.documents import fill
from benchmarks.pairs import make
from benchmarks.success_curves import gains
from benchmarks.tables import of_all, rounded, with_ends
from skdiffuse import DiffUseSelector, RandomSelector
from skdiffuse.evaluation import success_curve, summarise

NAME, NEEDS_DATA = "peer_diffuse", True
BUDGETS = (5, 10, 20, 40, 80)
TIMED_ROWS, TIMED_BUDGET = 300, 40
OF_PEER = "axis=1,\n        )\n        for line in data_x"


class PeerSelector(BaseEstimator):
    """Choose by a method of subset2evaluate, which starts anew for each budget.

    It uses the two embeddings of a row by their difference alone, so the difference
    vector and zero stand for them.
    """

    def __init__(self, method="diffuse", as_it_is=False, random_state=None):
        self.method = method
        self.as_it_is = as_it_is
        self.random_state = random_state

    def fit(self, X, y=None):
        """Keep the difference vectors."""
        self.X_ = X
        return self

    def select(self, k):
        """Return the chosen rows, ascending."""
        from subset2evaluate import methods, select_subset

        methods.METHODS["mended"] = mended(methods)
        # It embeds texts; these name the rows of embeddings that are known.
        data = [
            {"i": row, "tgt": {"first": f"{row}", "second": "zero"}}
            for row in range(len(self.X_))
        ]
        # Nearly all of its time goes into deep copies of sets of frozen sets.
        copying = copy.deepcopy if self.as_it_is else copy.copy
        with patch("copy.deepcopy", copying):
            ordered = select_subset.basic(
                data,
                method=self.method,
                budget=k,
                seed=self.random_state,
                load_model=_Known(self.X_),
            )
        return np.sort([item["i"] for item in ordered[:k]])


class _Known:
    """An embedding model that looks up what it is asked for."""

    def __init__(self, X):
        self.X = X
        self.zero = np.zeros_like(X[0])

    def encode(self, texts):
        return np.array(
            [self.zero if text == "zero" else self.X[int(text)] for text in texts]
        )


def mended(methods):
    """Return its `diffuse` with the mean over pairs of systems, not coordinates."""
    source = inspect.getsource(methods.diffuse)
    if source.count(OF_PEER) != 1:
        raise SystemExit("subset2evaluate averages otherwise by now; see its diffuse")
    namespace = dict(vars(methods))
    exec(source.replace(OF_PEER, OF_PEER.replace("axis=1", "axis=0")), namespace)
    return namespace["diffuse"]


ARMS = {
    "random": RandomSelector(),
    "subset2evaluate random": PeerSelector("random"),
    "subset2evaluate diffuse": PeerSelector("diffuse"),
    "subset2evaluate diffuse, mended": PeerSelector("mended"),
    "ward centroid": DiffUseSelector(representative="centroid"),
    "ward cosine": DiffUseSelector(),
}


def study(pairs, chosen):
    """Return the curves of all arms, and the seconds that each takes."""
    rows = success_curve(
        ARMS,
        pairs,
        budgets=BUDGETS,
        n_repeats=chosen.repeats,
        n_jobs=chosen.jobs,
        verbose=sys.stderr.isatty(),
    )
    _, X, _ = next(iter(pairs))
    return rows, {arm: seconds(selector, X) for arm, selector in ARMS.items()}


def seconds(selector, X):
    """Return how long a selector takes to choose 40 of 300 rows."""
    fresh = clone(selector)
    if isinstance(fresh, PeerSelector):
        fresh.set_params(as_it_is=True)
    # The first call imports what it needs.
    fresh.fit(X[:20]).select(2)
    start = time.perf_counter()
    fresh.fit(X[:TIMED_ROWS]).select(TIMED_BUDGET)
    return time.perf_counter() - start


def writing(result):
    """Return the table that is written: success, gain over random, and time."""
    rows, taken = result
    by = ["judge", "selector"]
    gained = {tuple(r[c] for c in by): r for r in gains(rows)}
    records = []
    for row in summarise(rows, by=by):
        gain = gained[tuple(row[c] for c in by)]
        columns = {f"gain_{name}": gain[name] for name in ("mean", "low", "high")}
        ratio = taken[row["selector"]] / taken["ward centroid"]
        records.append(row | columns | {"time_of_ward_centroid": ratio})
    return {NAME: rounded(records)}


def tables():
    """Return the table of the documents by its name."""
    gain = with_ends("gain_mean", "gain_low", "gain_high", 3)
    shown = of_all(NAME).select(
        "data",
        "judge",
        "selector",
        pl.col("mean").round(3).alias("success"),
        gain.alias("more than random"),
        pl.col("time_of_ward_centroid").round(1).alias("time / ward centroid"),
    )
    return {NAME: shown}


def main(arguments=None):
    parse = options.parser(__doc__, "the file, or a folder of several")
    parse.add_argument(
        "--pairs", type=options.positive, default=100, help="at most so many"
    )
    parse.add_argument("--repeats", type=options.positive, default=3)
    chosen = options.parse(parse, arguments, pairs=1, repeats=1)
    if find_spec("subset2evaluate") is None and not chosen.summary_only:
        print(f"{NAME}: left out, subset2evaluate is not installed")
    elif make(NAME, chosen, study, writing):
        fill(tables())


if __name__ == "__main__":
    main()
