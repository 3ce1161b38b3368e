"""Tables of the documents, filled from the results."""

import re
from pathlib import Path

EVIDENCE = Path(__file__).parents[1] / "docs" / "evidence.md"


def fill_table(name, table):
    """Replace the table of that name in `docs/evidence.md`, and print it."""
    lines = ["| " + " | ".join(table.columns) + " |", "|---" * table.width + "|"]
    lines += ["| " + " | ".join(map(str, row)) + " |" for row in table.rows()]
    text = "\n".join(lines)
    start, end = f"<!-- table {name} -->\n", f"\n<!-- end {name} -->"
    document = EVIDENCE.read_text()
    pattern = re.escape(start) + ".*?" + re.escape(end)
    filled, count = re.subn(pattern, lambda _: start + text + end, document, flags=re.S)
    if count != 1:
        raise ValueError(f"{EVIDENCE} has {count} tables named {name}")
    EVIDENCE.write_text(filled)
    print(text)
