"""Error of a mean from few labels and a judge, on real judgements.

Of each system's rows a few random ones keep their label and at most 1,000 others are
the pool; the truth is the mean label of all rows. The systems are three chat models
(XSTest, refusals), five question answerers (QA-Eval, correctness) and 24 summarisers
(REALSumm, pyramid recall). All methods see the same draws.

    python -m benchmarks.mean_error [--data FOLDER] [--trials 5000] [--slow-trials 100]

The folder holds `xstest_refusal.csv`, `qa_eval_nq.npz` and `realsumm.npz`; its default
is the variable SKDIFFUSE_DATA. Closed forms are worked out for all draws at once; the
first ones of each setting are fitted by the library too, and the run fails if a mean
differs. The two slow methods take the first `--slow-trials` draws (350 in the paper of
eq. 6), of all models of XSTest and of `--slow-systems` systems of QA-Eval and of
REALSumm (three metrics). The table goes to `benchmarks/results/mean_error.csv`, a
picture beside it, the summaries into `docs/evidence.md`; `--summary-only` makes these
from the table alone.
"""

import numpy as np
import polars as pl

from benchmarks import options
from benchmarks.cells import generator, qa_cells, summary_cells, xstest_cells
from benchmarks.documents import fill
from benchmarks.runs import (
    ALONE,
    by_library,
    compare_errors,
    in_closed_form,
    make,
    read,
    say_difference,
)

NAME, NEEDS_DATA = "mean_error", True
N_LABELED = (5, 10, 15, 20, 30, 50, 100, 200)
LARGEST_POOL, SMALLEST_POOL = 1000, 20
FAST = [
    ALONE,
    "PPI",
    "eq. 6",
    "ols",
    "ppi++ clipped",
    "ppi++",
    "Ridge",
    "Ridge plug-in",
]
SLOW = ["Ridge cv=5", "Sigmoid"]
RIVALS = ("ppi++ clipped", "eq. 6", "ols")
# A metric of REALSumm that the slow methods leave out.
NOT_SLOW = "rouge2"
PLACE = ("data", "system", "judge", "n_labeled")
USELESS = {"system": "mistralinstruct", "judge": "judge_gpt4"}


def study(cell, n_labeled, trials, slow_trials):
    """Return the errors of all trials, and of the first ones with the slow methods."""
    values = (cell.data, cell.system, cell.judge, n_labeled)
    place = dict(zip(PLACE, values, strict=True))
    rng = generator(cell, n_labeled)
    sample = cell.split(rng, trials, n_labeled, LARGEST_POOL)
    means, _, difference = in_closed_form(sample, without_interval(FAST))
    errors = np.abs(means - cell.truth)
    place |= {"difference": float(f"{difference:.1e}")}
    records = [
        place | {"draws": "all"} | r for r in compare_errors(errors, FAST, RIVALS)
    ]
    if slow_trials:
        first = sample.take(slice(slow_trials))
        means, _ = by_library(first, without_interval(SLOW))
        errors = np.hstack([errors[:slow_trials], np.abs(means - cell.truth)])
        records += [
            place | {"draws": "first"} | r
            for r in compare_errors(errors, FAST + SLOW, RIVALS)
        ]
    return records


def without_interval(names):
    return [(name, None) for name in names]


def tasks(chosen):
    """Yield the arguments of each study."""
    for load in (xstest_cells, qa_cells, summary_cells):
        cells = load(chosen.data)
        slow_cells = {id(cell) for cell in few(cells, chosen.slow_systems)}
        for cell in cells:
            slow_trials = chosen.slow_trials * (id(cell) in slow_cells)
            for n_labeled in N_LABELED:
                if n_labeled + SMALLEST_POOL <= len(cell.labels):
                    yield cell, n_labeled, chosen.trials, slow_trials


def few(cells, n_systems):
    """Return the cells of that many systems of a list, but all models of XSTest."""
    systems = list(dict.fromkeys(cell.system for cell in cells))
    if cells[0].data != "XSTest":
        systems = systems[:: -(-len(systems) // n_systems)]
    return [c for c in cells if c.system in systems and c.judge != NOT_SLOW]


def by_judge(table):
    """Average over the systems of REALSumm, so that its many cells count as four."""
    system = pl.when(pl.col("data") == "REALSumm").then(pl.lit("all"))
    return (
        table.with_columns(system.otherwise("system").alias("system"))
        .group_by(*PLACE, "draws", "method", maintain_order=True)
        .agg(pl.col("ratio").mean())
    )


def ratio_by_n(table, draws, **place):
    """Return a column a method: the mean ratio to the labels alone."""
    rows = by_judge(table).filter(
        pl.col("method") != ALONE, pl.col("draws") == draws, **place
    )
    return (
        rows.group_by("n_labeled", "method", maintain_order=True)
        .agg(pl.len().alias("cells"), pl.col("ratio").mean().round(3))
        .pivot(on="method", index=["n_labeled", "cells"], values="ratio")
        .sort("n_labeled")
        .rename({"n_labeled": "labels"})
    )


def useless(table):
    """Return the ratios where the judge says nothing, slow methods from few draws."""
    many = ratio_by_n(table, "all", **USELESS)
    few = ratio_by_n(table, "first", **USELESS).select("labels", *SLOW)
    return many.join(few, on="labels", how="left").drop("cells")


def worst(table):
    """Return for each rival where a method is worst, in paired standard errors."""
    tables = []
    for method, draws in (
        ("Ridge", "all"),
        ("Ridge plug-in", "all"),
        *((name, "first") for name in SLOW),
    ):
        rows = table.filter(method=method, draws=draws)
        tables += [_worst_against(rows, rival) for rival in RIVALS if len(rows)]
    return pl.concat(tables)


def _worst_against(rows, rival):
    difference, error = pl.col(f"minus {rival}"), pl.col(f"minus {rival} error")
    score = pl.when(error > 0).then(difference / error).otherwise(0.0)
    loss = 100 * difference / (pl.col("mean_error") - difference)
    rows = rows.with_columns(score.alias("score")).sort("score", descending=True)
    return rows.select(
        "method",
        pl.lit(rival).alias("against"),
        pl.len().alias("cells"),
        (pl.col("score") > 3).sum().alias("worse by 3 s.e."),
        (pl.col("score") < -3).sum().alias("better by 3 s.e."),
        pl.col("score").round(1).alias("worst, in s.e."),
        loss.round(1).alias("its loss, %"),
        pl.format("{}/{}/{}", "data", "system", "judge").alias("its cell"),
        pl.col("n_labeled").alias("its labels"),
    ).head(1)


def panels(table):
    """Return the title and the ratios of each panel of the picture."""
    rows = by_judge(table)
    choices = {
        "XSTest, gpt4 and llama2, both judges": (pl.col("data") == "XSTest")
        & (pl.col("system") != USELESS["system"]),
        "XSTest, mistral, GPT-4 as judge": pl.col("system").eq(USELESS["system"])
        & pl.col("judge").eq(USELESS["judge"]),
        "QA-Eval, lexical match": pl.col("judge") == "lexical_match",
        "QA-Eval, F1": pl.col("judge") == "f1",
        "REALSumm, ROUGE": pl.col("judge").str.starts_with("rouge"),
        "REALSumm, BERTScore": pl.col("judge") == "bertscore",
    }
    # Elsewhere the slow methods have other cells than the rest.
    shown_slow = pl.col("method").is_in(SLOW) & (pl.col("data") == "XSTest")
    for title, choice in choices.items():
        chosen = rows.filter(
            choice,
            pl.col("method") != ALONE,
            (pl.col("draws") == "all") | shown_slow,
        )
        yield title, chosen.group_by("method", "n_labeled").agg(pl.col("ratio").mean())


def tables():
    """Return the tables of the documents by their names."""
    table = read(NAME)
    return {
        "mean_error": ratio_by_n(table, "all"),
        "mean_error_slow": ratio_by_n(table, "first"),
        "mean_error_useless": useless(table),
        "mean_error_worst": worst(table),
    }


def main(arguments=None):
    parse = options.parser(__doc__, "folder of the files")
    parse.add_argument("--trials", type=options.positive, default=5000)
    parse.add_argument(
        "--slow-trials", type=int, default=100, help="350 in the paper; 0: leave out"
    )
    parse.add_argument("--slow-systems", type=options.positive, default=2)
    chosen = options.parse(parse, arguments, trials=40, slow_trials=2)
    if make(NAME, chosen, study, tasks):
        from benchmarks import plots

        table = read(NAME)
        say_difference(table)
        fill(tables())
        plots.ratios_by_n(NAME, dict(panels(table)))


if __name__ == "__main__":
    main()
