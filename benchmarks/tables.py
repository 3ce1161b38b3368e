"""Where results are, and how they are rounded."""

from pathlib import Path

import polars as pl
import polars.selectors as cs

from benchmarks.pairs import JUDGES

RESULTS = Path(__file__).parent / "results"


def of_all(name):
    """Return the tables of a benchmark of all data sets so far, or None."""
    tables = []
    for data in JUDGES:
        path = RESULTS / f"{name}_{data}.csv"
        if path.exists():
            table = pl.read_csv(path, infer_schema_length=None)
            tables.append(table.with_columns(data=pl.lit(data)))
    return pl.concat(tables, how="diagonal_relaxed") if tables else None


def rounded(rows):
    """Return rows as a table with four decimals."""
    table = pl.DataFrame(rows, infer_schema_length=None)
    return table.with_columns(cs.float().round(4))
