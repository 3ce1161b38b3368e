"""Tables of the documents, filled from the results."""

import re
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
EVIDENCE = "evidence.md"


def fill(tables, page=EVIDENCE):
    """Replace the tables of those names in a page of `docs`, and print them."""
    path = DOCS / page
    path.write_text(filled(path.read_text(), tables))
    for table in tables.values():
        print(markdown(table))


def filled(document, tables):
    """Return a document with its tables of those names replaced.

    Raises
    ------
    ValueError
        If the document has not one place for a table.
    """
    for name, table in tables.items():
        start, end = f"<!-- table {name} -->\n", f"\n<!-- end {name} -->"
        text = start + markdown(table) + end
        pattern = re.escape(start) + ".*?" + re.escape(end)
        document, count = re.subn(
            pattern, lambda _, text=text: text, document, flags=re.S
        )
        if count != 1:
            raise ValueError(f"the document has {count} tables named {name}")
    return document


def markdown(table):
    """Return a table as text."""
    lines = ["| " + " | ".join(table.columns) + " |", "|---" * table.width + "|"]
    lines += ["| " + " | ".join(map(str, row)) + " |" for row in table.rows()]
    return "\n".join(lines)
