"""Where results are, and how they are rounded."""

from pathlib import Path

import polars as pl
import polars.selectors as cs

RESULTS = Path(__file__).parent / "results"


def rounded(rows):
    """Return rows as a table with four decimals."""
    table = pl.DataFrame(rows, infer_schema_length=None)
    return table.with_columns(cs.float().round(4))
