"""Do outputs that differ more tell more? Preferences by the norm of the difference.

The examples of each pair of systems in 50 bins of equally many, by the norm of their
difference vectors; in each bin the shares that the winner of the pair wins, ties and
loses, averaged over the pairs.

    python -m benchmarks.norm_bins --data FILE.npz

The table goes to `benchmarks/results/norm_bins_DATA.csv`, a picture of all data sets so
far beside it, and a table into `docs/evidence.md`. `--quick` takes few pairs and writes
nothing; `--summary-only` makes picture and table from the files.
"""

import argparse

import polars as pl

from benchmarks.documents import fill_table
from benchmarks.pairs import Pairs, add_data, find
from benchmarks.tables import RESULTS, of_all, rounded
from skdiffuse.evaluation import norm_agreement

N_BINS = 50


def table_of(rows):
    """Return the means over the pairs."""
    table = pl.DataFrame(rows)
    means = table.group_by("judge", "bin", maintain_order=True).agg(
        pl.col("norm", "winner", "tie", "loser").mean(), n_pairs=pl.len()
    )
    return rounded(means.sort("judge", "bin").to_dicts())


def summaries():
    """Fill the table of the documents from the files, and draw the picture."""
    table = of_all("norm_bins")
    if table is None:
        return
    from benchmarks.plots import norm_bins

    norm_bins("norm_bins", table)
    fifth = (pl.col("bin") * 5 // N_BINS + 1).alias("fifth")
    shares = (
        table.with_columns(fifth)
        .group_by("data", "judge", "fifth", maintain_order=True)
        .agg(pl.col("winner", "tie", "loser").mean().round(3))
    )
    fill_table("norm_bins", shares.filter(pl.col("fifth").is_in([1, 3, 5])))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_data(parser)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--summary-only", action="store_true")
    options = parser.parse_args()
    if not options.summary_only:
        pairs = Pairs(find(options.data), 3 if options.quick else None)
        table = table_of(norm_agreement(pairs, n_bins=N_BINS))
        if options.quick:
            print(table)
            return
        RESULTS.mkdir(exist_ok=True)
        table.write_csv(RESULTS / f"norm_bins_{pairs.data}.csv")
    summaries()


if __name__ == "__main__":
    main()
