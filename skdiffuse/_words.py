"""Rows in the words of a message."""

from collections.abc import Sequence


def rows_in_words(rows: Sequence[int]) -> str:
    """Name the first rows of a list: ``row 3``, ``rows 3, 7 and 12 more``."""
    if len(rows) == 1:
        return f"row {rows[0]}"
    shown = ", ".join(str(row) for row in rows[:3])
    more = f" and {len(rows) - 3} more" if len(rows) > 3 else ""
    return f"rows {shown}{more}"
