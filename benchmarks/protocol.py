"""The whole protocol of the DiffUse paper: how long, how much memory, on what workers.

Every pair of the ordinary systems of AlpacaEval, ten draws of 80 % of the examples, 40
budgets, all hierarchical and sampling arms; k-means, which clusters anew for each
budget, at five budgets, with one draw a pair, and timed apart. Then a part of the pairs
on the workers of joblib and on a Dask cluster on this machine: the same numbers.

    python -m benchmarks.protocol --data FOLDER [--pairs 528] [--shared-pairs 32]

The folder holds `alpaca_eval.npz`. The table goes to `benchmarks/results/protocol.csv`
and into `docs/speed.md`; `--quick` takes few pairs and writes nothing,
`--summary-only` makes the document from the table.
"""

import time

import polars as pl
from joblib import parallel_config

from benchmarks import options
from benchmarks.documents import fill
from benchmarks.measure import PeakOfProcesses
from benchmarks.pairs import Pairs, files
from benchmarks.runs import path, read
from benchmarks.success_curves import ARMS, KMEANS
from benchmarks.tables import RESULTS, rounded
from skdiffuse import NormSelector
from skdiffuse.evaluation import success_curve

NAME, NEEDS_DATA = "protocol", True
PAGE = "speed.md"
ALL = {**ARMS, "norm, drawn": NormSelector(probability=True)}
BUDGETS = range(5, 205, 5)
KMEANS_ONE = {"kmeans centroid": KMEANS["kmeans centroid"]}
KMEANS_BUDGETS = (10, 30, 60, 100, 200)


def timed(what, workers, arms, pairs, budgets, repeats):
    """Return a record of a study, and its rows."""
    start = time.monotonic()
    with PeakOfProcesses() as peak:
        rows = success_curve(arms, pairs, budgets=budgets, n_repeats=repeats)
    print(f"{what}, {workers}: {time.monotonic() - start:.0f} s", flush=True)
    record = {
        "what": what,
        "workers": workers,
        "pairs": len(pairs),
        "draws": repeats,
        "arms": len(arms),
        "budgets": len(budgets),
        "seconds": time.monotonic() - start,
        "megabytes": peak.megabytes,
    }
    return record, rows


def study(data, chosen):
    """Return the records of all runs."""
    loky, dask = f"{chosen.jobs} processes", f"Dask, {chosen.jobs} workers"
    pairs = Pairs(data, chosen.pairs)
    fewer = Pairs(data, min(chosen.shared_pairs, chosen.pairs))
    with parallel_config("loky", n_jobs=chosen.jobs, inner_max_num_threads=1):
        whole, _ = timed(
            "hierarchical and sampling", loky, ALL, pairs, BUDGETS, chosen.repeats
        )
        kmeans, _ = timed(
            "k-means", loky, KMEANS_ONE, pairs, KMEANS_BUDGETS, chosen.kmeans_repeats
        )
        part, rows = timed("a part", loky, ALL, fewer, BUDGETS, chosen.repeats)
    with _cluster(chosen.jobs), parallel_config("dask"):
        same, theirs = timed("a part", dask, ALL, fewer, BUDGETS, chosen.repeats)
    if theirs != rows:
        raise SystemExit("the numbers from Dask differ")
    return [whole, kmeans, part, same]


def _cluster(workers):
    from distributed import Client, LocalCluster

    cluster = LocalCluster(
        n_workers=workers, threads_per_worker=1, dashboard_address=":0"
    )
    return Client(cluster)


def tables():
    """Return the table of the document by its name."""
    table = read(NAME).with_columns(
        pl.col("seconds").round(0).cast(int), pl.col("megabytes").round(0).cast(int)
    )
    return {NAME: table}


def main(arguments=None):
    parse = options.parser(__doc__, "the folder of the file")
    parse.add_argument("--pairs", type=options.positive, default=528)
    parse.add_argument("--shared-pairs", type=options.positive, default=32)
    parse.add_argument("--repeats", type=options.positive, default=10)
    parse.add_argument("--kmeans-repeats", type=options.positive, default=1)
    chosen = options.parse(parse, arguments, pairs=2, shared_pairs=2, repeats=1)
    if not chosen.summary_only:
        [data] = [file for file in files(chosen.data) if file.stem == "alpaca_eval"]
        table = rounded(study(data, chosen))
        if chosen.quick:
            print(table)
            return
        RESULTS.mkdir(exist_ok=True)
        table.write_csv(path(NAME))
    fill(tables(), PAGE)


if __name__ == "__main__":
    main()
