"""What eight judges of pure noise cost, with 15 labels.

Labels are 0/1 at three rates, or normal; the judges are eight columns of noise, or
those and a good judge. There are 15 labels and a pool of 1,000 rows.

    python -m benchmarks.many_judges [--runs 1000] [--slow-runs 100]

Ridge with five folds takes the first `--slow-runs` draws. The table goes to
`benchmarks/results/many_judges.csv`, a picture beside it, the summary into
`docs/evidence.md`; `--summary-only` makes these from the table alone.
"""

import numpy as np
import polars as pl

from benchmarks import options
from benchmarks.cells import GaussCell, RateCell, generator
from benchmarks.documents import fill
from benchmarks.runs import (
    ALONE,
    LEVEL,
    by_library,
    compare_errors,
    coverage,
    make,
    read,
)

NAME, NEEDS_DATA = "many_judges", False
N_LABELED, N_POOL = 15, 1000
NOISE = (0.0,) * 8
JUDGES = {"8 of noise": NOISE, "8 of noise, 1 good": (*NOISE, 0.9)}
FAST = [ALONE, "ols", "Ridge", "Ridge plug-in"]
SLOW = "Ridge cv=5"


def cells():
    """Yield the made cells."""
    for judge, correlations in JUDGES.items():
        for rate in (0.1, 0.3, 0.5):
            yield RateCell("made", f"0/1, rate {rate}", judge, rate, correlations)
        yield GaussCell("made", "normal", judge, correlations)


def study(cell, runs, slow_runs):
    """Return error and coverage of each method; the slow one takes the first draws."""
    sample = cell.draw(generator(cell), runs, N_LABELED, N_POOL)
    means, ends = by_library(sample, [(name, "auto") for name in FAST])
    records = compare(cell, FAST, means, ends)
    if slow_runs:
        first = sample.take(slice(slow_runs))
        slow_means, slow_ends = by_library(first, [(SLOW, "auto")])
        means = np.hstack([means[:slow_runs, :1], slow_means])
        ends = np.hstack([ends[:slow_runs, :1], slow_ends])
        records += compare(cell, [ALONE, SLOW], means, ends)[1:]
    return records


def compare(cell, names, means, ends):
    place = {"judges": cell.judge, "labels": cell.system}
    errors = compare_errors(np.abs(means - cell.truth), names)
    return [
        place | record | coverage(ends[:, column], cell.truth)
        for column, record in enumerate(errors)
    ]


def tasks(chosen):
    """Yield the arguments of each study."""
    for cell in cells():
        yield cell, chosen.runs, chosen.slow_runs


def summary(table):
    """Return a column a method: error relative to the labels alone, and coverage."""
    both = pl.format(
        "{} ({} %)", pl.col("ratio").round(2), (100 * pl.col("coverage")).round(1)
    )
    return table.with_columns(both.alias("both")).pivot(
        on="method", index=["judges", "labels"], values="both"
    )


def figure_rows(table):
    """Return what the picture shows: errors and coverage, by the judges."""
    table = table.with_columns(pl.col("labels").alias("series"))
    for column, goal, label in (
        ("ratio", 1, "error / labels alone"),
        ("coverage", LEVEL, "coverage"),
    ):
        rows = table.with_columns(pl.col(column).alias("value"))
        panels = {
            f"{judges}: {label.split(' /')[0]}": rows.filter(judges=judges)
            for judges in JUDGES
        }
        yield label, goal, None, panels


def tables():
    """Return the tables of the documents by their names."""
    return {NAME: summary(read(NAME))}


def main(arguments=None):
    parse = options.parser(__doc__)
    parse.add_argument("--runs", type=options.positive, default=1000)
    parse.add_argument("--slow-runs", type=int, default=100, help="0: leave out")
    chosen = options.parse(parse, arguments, runs=4, slow_runs=2)
    if make(NAME, chosen, study, tasks):
        from benchmarks import plots

        fill(tables())
        plots.strips(NAME, list(figure_rows(read(NAME))))


if __name__ == "__main__":
    main()
