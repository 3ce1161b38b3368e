"""Coverage of the intervals of a mean from few labels and a judge.

Rows are drawn independently, n with a label and N for the pool: with replacement from
real judgements (XSTest, QA-Eval, REALSumm), whose truth is the mean of all rows, and
afresh from made ones, whose truth is known.

    python -m benchmarks.mean_coverage [--data FOLDER] [--runs 4000]

The folder holds `xstest_refusal.csv`, `qa_eval_nq.npz` and `realsumm.npz`; its default
is the variable SKDIFFUSE_DATA. Closed forms are worked out for all draws at once; the
first ones of each setting are fitted by the library (and ppi-python) too, and the run
fails if an end differs. The slow intervals of evalstats and of the logistic curve take
the first draws only, a pool of 1,000 rows, and the latter few cells. The table goes to
`benchmarks/results/mean_coverage.csv`, a picture beside it, the summaries into
`docs/evidence.md`; `--summary-only` makes these from the table alone.
"""

import warnings
import zlib

import numpy as np
import polars as pl

from benchmarks import options
from benchmarks.cells import (
    generator,
    likert_cells,
    pooled_summary_cells,
    qa_cells,
    rate_cells,
    xstest_cells,
)
from benchmarks.documents import fill
from benchmarks.runs import (
    ALONE,
    CHECKED,
    LEVEL,
    by_library,
    coverage,
    difference_of_first,
    in_closed_form,
    make,
    read,
    say_difference,
)

NAME, NEEDS_DATA = "mean_coverage", True
N_LABELED = (10, 20, 40, 100)
LARGEST_POOL = 1000
# What evalstats.judge_debias_mean_ci asks for.
EVALSTATS_LABELS = 15
SIGMOID_CELLS = {
    ("gpt4", "judge_gpt4"),
    ("mistralinstruct", "judge_gpt4"),
    ("fid", "lexical_match"),
    ("rate 0.1", "good"),
    ("rate 0.1", "useless"),
    ("rate 0.5", "mediocre"),
    ("rate 0.97", "good"),
}
PLACE = ("kind", "data", "system", "judge", "half", "n_labeled", "n_pool")


def ppi_python(X, y, pool):
    from ppi_py import ppi_mean_ci

    with np.errstate(all="ignore"):
        low, high = ppi_mean_ci(y, X[:, 0], pool[:, 0], alpha=1 - LEVEL)
    return low.item(), high.item()


def evalstats_interval(X, y, pool):
    import evalstats

    judge = np.concatenate([X[:, 0], pool[:, 0]])
    human = np.concatenate([y, np.full(len(pool), np.nan)])
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        answer = evalstats.judge_debias_mean_ci(judge, human, alpha=1 - LEVEL, rng=0)
    return answer.ci_low, answer.ci_high


RATE_METHODS = {
    "labels alone Wilson": (ALONE, "wilson"),
    "ols (default)": ("ols", "auto"),
    "ols t": ("ols", "t"),
    "Ridge": ("Ridge", "auto"),
    "Ridge plug-in": ("Ridge plug-in", "auto"),
    "ppi-python": ("ppi++ clipped", "normal"),
}
REAL_METHODS = {
    "labels alone t": (ALONE, "t"),
    "ols (default)": ("ols", "auto"),
    "Ridge": ("Ridge", "auto"),
    "Ridge plug-in": ("Ridge plug-in", "auto"),
    "ppi-python": ("ppi++ clipped", "normal"),
}
METHODS = {"rates": RATE_METHODS, "real labels": REAL_METHODS}
SLOW_METHODS = ("evalstats", "Sigmoid")


def study(kind, cell, half, n_labeled, n_pool, runs, slow_runs):
    """Return the coverage of each method; widths are relative to the labels alone."""
    rng = generator(cell, n_labeled, n_pool)
    sample = cell.draw(rng, runs, n_labeled, n_pool)
    ends, difference = fast_ends(sample, METHODS[kind])
    for name, few in slow_runs.items():
        ends[name] = slow_ends(sample.take(slice(few)), name)
    values = (kind, cell.data, cell.system, cell.judge, half, n_labeled, n_pool)
    place = dict(zip(PLACE, values, strict=True)) | {"truth": round(cell.truth, 4)}
    place |= {"difference": float(f"{difference:.1e}")}
    alone = next(iter(ends.values()))
    return [
        place | {"method": name} | compare(both, alone, cell.truth)
        for name, both in ends.items()
    ]


def fast_ends(sample, methods):
    """Return the ends of each method, and the difference to the libraries."""
    _, ends, difference = in_closed_form(sample, list(methods.values()))
    ends = dict(zip(methods, ends.swapaxes(0, 1), strict=True))
    # It is undefined where the judge agrees everywhere.
    everywhere = np.concatenate([sample.scores, sample.pool], axis=1)
    constant = np.ptp(everywhere, axis=(1, 2)) == 0
    both = ends["ppi-python"]
    both[constant] = of_each(ppi_python, sample.take(constant))
    first = of_each(ppi_python, sample.take(slice(CHECKED)))
    return ends, max(difference, difference_of_first(sample, both, first))


def slow_ends(sample, name):
    if name == "evalstats":
        return of_each(evalstats_interval, sample)
    _, ends = by_library(sample, [(name, "auto")])
    return ends[:, 0]


def of_each(interval, sample):
    """Return the ends of each draw, of shape (draws, 2)."""
    return np.reshape([interval(*rows) for rows in sample], (-1, 2))


def compare(ends, ends_alone, truth):
    """Return coverage and width, relative to the labels alone on the same draws."""
    record = coverage(ends, truth)
    width = coverage(ends_alone[: len(ends)], truth)["mean_width"]
    relative = {"relative_width": round(record["mean_width"] / width, 4)}
    return {"runs": len(ends)} | record | relative


def halved(cells):
    """Yield each cell with its half: every other one in the order of a hash."""
    named = sorted(cells, key=lambda c: zlib.crc32(f"{c.system}/{c.judge}".encode()))
    for number, cell in enumerate(named):
        yield cell, "reported on" if number % 2 else "fixed on"


def tasks(chosen):
    """Yield the arguments of each study."""
    folder = chosen.data
    groups = [
        ("rates", xstest_cells(folder)),
        ("rates", qa_cells(folder)),
        ("rates", rate_cells()),
        ("real labels", pooled_summary_cells(folder)),
        ("real labels", likert_cells()),
    ]
    for kind, cells in groups:
        for cell, half in halved(cells):
            for n_labeled in N_LABELED:
                for n_pool in sorted({n_labeled, 10 * n_labeled, LARGEST_POOL}):
                    place = (kind, cell, half, n_labeled, n_pool)
                    yield *place, chosen.runs, slow_runs(*place, chosen)


def slow_runs(kind, cell, half, n_labeled, n_pool, chosen):
    """Return how many draws each slow method takes."""
    if kind != "rates" or n_pool != LARGEST_POOL:
        return {}
    runs = {}
    if n_labeled >= EVALSTATS_LABELS and chosen.evalstats_runs:
        runs["evalstats"] = chosen.evalstats_runs
    if (cell.system, cell.judge) in SIGMOID_CELLS and chosen.sigmoid_runs:
        runs["Sigmoid"] = chosen.sigmoid_runs
    return runs


def summary(table, *keys):
    """Return coverage and width of each method; a setting is a cell, n and N."""
    least = pl.col("coverage").arg_min()
    where = pl.format("{}/{}, {} of {}", "system", "judge", "n_labeled", "n_pool")
    return table.group_by(*keys, "method", maintain_order=True).agg(
        pl.len().alias("settings"),
        pl.col("coverage").mean().round(3).alias("mean coverage"),
        (100 * (pl.col("coverage") < 0.93).mean()).round(1).alias("below 0.93, %"),
        pl.col("coverage").min().round(3).alias("least coverage"),
        where.get(least).alias("where (labels of pool)"),
        pl.col("relative_width").mean().round(3).alias("relative width"),
        (100 * pl.col("zero_width").mean()).round(1).alias("no width, %"),
    )


def beside(table, method):
    """Return the rows of the cells for which a slow method was run."""
    place = table.filter(method=method).select(PLACE)
    others = set(SLOW_METHODS) - {method}
    return table.join(place, on=PLACE, how="semi").filter(
        ~pl.col("method").is_in(others)
    )


def figure_rows(table):
    """Return what the picture shows: the coverage of each cell, by labels."""
    table = table.with_columns(pl.col("coverage").alias("value"))
    for kind, title in (("rates", "0/1 labels"), ("real labels", "other labels")):
        panels = {
            f"{title}, {n_labeled} of them": table.filter(
                kind=kind, n_labeled=n_labeled
            )
            for n_labeled in N_LABELED
        }
        yield "coverage (0.7: or less)", LEVEL, 0.7, panels


def tables():
    """Return the tables of the documents by their names."""
    table = read(NAME)
    rates = table.filter(kind="rates")
    fast = rates.filter(~pl.col("method").is_in(SLOW_METHODS))
    real = table.filter(kind="real labels").sort("half", maintain_order=True)
    return {
        "mean_coverage": summary(fast.sort("half", maintain_order=True), "half"),
        **{
            f"mean_coverage_{method.lower()}": summary(beside(rates, method))
            for method in SLOW_METHODS
        },
        "mean_coverage_real_labels": summary(real, "half"),
    }


def main(arguments=None):
    parse = options.parser(__doc__, "folder of the files")
    parse.add_argument("--runs", type=options.positive, default=4000)
    parse.add_argument("--evalstats-runs", type=int, default=200, help="0: leave out")
    parse.add_argument("--sigmoid-runs", type=int, default=200, help="0: leave out")
    chosen = options.parse(parse, arguments, runs=40, evalstats_runs=2, sigmoid_runs=2)
    if make(NAME, chosen, study, tasks):
        from benchmarks import plots

        table = read(NAME)
        say_difference(table)
        fill(tables())
        plots.strips(NAME, list(figure_rows(table)))


if __name__ == "__main__":
    main()
