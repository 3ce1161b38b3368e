"""Do outputs that differ more tell more? Preferences by the norm of the difference.

The examples of each pair of systems in 50 bins of equally many, by the norm of their
difference vectors; in each bin the shares that the winner of the pair wins, ties and
loses, averaged over the pairs.

    python -m benchmarks.norm_bins --data FILE.npz

The table goes to `benchmarks/results/norm_bins_DATA.csv`, a picture of all data sets so
far beside it, and a table into `docs/evidence.md`. `--quick` takes few pairs and writes
nothing; `--summary-only` makes picture and table from the files.
"""

import polars as pl

from benchmarks import options
from benchmarks.documents import fill
from benchmarks.pairs import make
from benchmarks.tables import of_all, rounded
from skdiffuse.evaluation import norm_agreement

NAME, NEEDS_DATA = "norm_bins", True
N_BINS = 50


def study(pairs, chosen):
    """Return the bins of all pairs."""
    return norm_agreement(pairs, n_bins=N_BINS)


def writing(rows):
    """Return the table that is written: the means over the pairs."""
    table = pl.DataFrame(rows)
    means = table.group_by("judge", "bin", maintain_order=True).agg(
        pl.col("norm", "winner", "tie", "loser").mean(), n_pairs=pl.len()
    )
    return {NAME: rounded(means.sort("judge", "bin").to_dicts())}


def tables():
    """Return the table of the documents by its name."""
    fifth = (pl.col("bin") * 5 // N_BINS + 1).alias("fifth")
    shares = (
        of_all(NAME)
        .with_columns(fifth)
        .group_by("data", "judge", "fifth", maintain_order=True)
        .agg(pl.col("winner", "tie", "loser").mean().round(3))
    )
    return {NAME: shares.filter(pl.col("fifth").is_in([1, 3, 5]))}


def main(arguments=None):
    parse = options.parser(__doc__, "the file, or a folder of several")
    parse.add_argument("--pairs", type=options.positive, help="at most so many")
    chosen = options.parse(parse, arguments, pairs=2)
    if make(NAME, chosen, study, writing):
        from benchmarks import plots

        fill(tables())
        plots.norm_bins(NAME, of_all(NAME))


if __name__ == "__main__":
    main()
