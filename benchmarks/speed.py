"""How long it takes and how much memory, beside what else could be called.

Each part is measured in a process of its own: its calls in turn, so that a noisy
machine is noisy for all of them, and the results compared. Ratios are to the first call
of the part.

    python -m benchmarks.speed [--only WORD]

The table goes to `benchmarks/results/speed.csv` and into `docs/speed.md`; with `--only`
the parts whose name holds the word are measured again, the others kept.
"""

import polars as pl

from benchmarks import (
    options,
    speed_comparison,
    speed_mean,
    speed_selection,
    speed_start,
)
from benchmarks.documents import fill
from benchmarks.measure import measure
from benchmarks.runs import path, read
from benchmarks.tables import RESULTS, rounded

NAME, NEEDS_DATA = "speed", False
PAGE = "speed.md"
TOPICS = {
    "choosing": speed_selection.PARTS,
    "comparing": speed_comparison.PARTS,
    "means": speed_mean.PARTS,
    "starting": speed_start.PARTS,
}
PARTS = [part for parts in TOPICS.values() for part in parts]


def tables():
    """Return a table of the document for each topic, by its name."""
    table = read(NAME)
    return {
        f"{NAME}_{topic}": summary(
            table.filter(pl.col("part").is_in([part.name for part in parts]))
        )
        for topic, parts in TOPICS.items()
    }


def summary(table):
    """Return times and memory as people read them."""
    again = pl.col("part") == pl.col("part").shift()
    return table.select(
        pl.when(again.fill_null(False))
        .then(pl.lit(""))
        .otherwise("part")
        .alias("part"),
        "what",
        pl.col("seconds").round_sig_figs(2),
        pl.col("megabytes").round(0).cast(int),
        pl.col("time").round(2).alias("time, relative"),
        pl.col("memory").round(2).alias("memory, relative"),
    )


def main(arguments=None):
    parse = options.parser(__doc__)
    parse.add_argument("--only", default="", help="parts whose name holds this word")
    chosen = options.parse(parse, arguments)
    if not chosen.summary_only:
        parts = [part for part in PARTS if chosen.only in part.name]
        if not parts:
            names = "; ".join(part.name for part in PARTS)
            parse.error(f"no part is named so; there are: {names}")
        table = pl.concat([_shown(part, chosen.quick) for part in parts])
        if chosen.quick:
            return
        RESULTS.mkdir(exist_ok=True)
        in_order(kept(table), table).write_csv(path(NAME))
    fill(tables(), PAGE)


def _shown(part, quick):
    table = rounded(measure(part, quick))
    print(summary(table))
    return table


def kept(table):
    """Return the parts measured before that were not measured again."""
    if not path(NAME).exists():
        return table.clear()
    return read(NAME).join(table, on="part", how="anti")


def in_order(*tables):
    """Return the parts there are, in the order of this benchmark."""
    table = pl.concat(tables)
    return pl.concat([table.filter(part=part.name) for part in PARTS])


if __name__ == "__main__":
    main()
