"""Where results are, and how they are rounded."""

from pathlib import Path

import polars as pl
import polars.selectors as cs

RESULTS = Path(__file__).parent / "results"
# The scores by which one output is better than another, by file; MQM counts errors.
JUDGES = {
    "alpaca_eval": ("score",),
    "qa_eval_nq": ("human", "f1"),
    "openqa_nq": ("f1", "em", "exact_match"),
    "realsumm": ("human", "rouge1", "rougeL"),
    "wmt23_sxs_zhen": ("mqm",),
}


def of_all(name):
    """Return the tables of a benchmark of all data sets so far, or None."""
    tables = []
    for data in JUDGES:
        path = RESULTS / f"{name}_{data}.csv"
        if path.exists():
            table = pl.read_csv(path, infer_schema_length=None)
            tables.append(table.with_columns(data=pl.lit(data)))
    return pl.concat(tables, how="diagonal_relaxed") if tables else None


def with_ends(middle, low, high, digits):
    """Return an expression for a value with the ends of its interval."""
    numbers = (pl.col(name).round(digits) for name in (middle, low, high))
    return pl.format("{} ({} to {})", *numbers)


def rounded(rows):
    """Return rows as a table with four decimals."""
    table = pl.DataFrame(rows, infer_schema_length=None)
    return table.with_columns(cs.float().round(4))
