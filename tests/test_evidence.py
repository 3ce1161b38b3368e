"""The numbers of the evidence page are those of the committed results."""

import re
import sys
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "evidence.md"
TEXT = PAGE.read_text(encoding="utf-8")
pytest.importorskip("polars")


@pytest.fixture(scope="module", autouse=True)
def benchmarks():
    sys.path.append(str(ROOT))
    yield import_module("benchmarks")
    sys.path.remove(str(ROOT))


def all_tables(benchmarks):
    tables = {}
    for name in benchmarks.NAMES:
        tables |= import_module(f"benchmarks.{name}").tables()
    return tables


def test_every_table_of_the_page_is_made_from_the_results(benchmarks):
    documents = import_module("benchmarks.documents")
    tables = all_tables(benchmarks)
    assert documents.filled(TEXT, tables) == TEXT
    assert set(re.findall(r"<!-- table (\w+) -->", TEXT)) == set(tables)


def test_a_table_that_differs_is_noticed(benchmarks):
    documents = import_module("benchmarks.documents")
    tables = all_tables(benchmarks)
    wrong = TEXT.replace("| 0.9", "| 0.8", 1)
    assert wrong != TEXT
    assert documents.filled(wrong, tables) == TEXT
    with pytest.raises(ValueError, match="0 tables named nothing"):
        documents.filled(TEXT, {"nothing": tables["large_n"]})


def test_every_picture_of_the_page_is_there():
    pictures = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", TEXT)
    assert len(pictures) >= 5
    for picture in pictures:
        assert (PAGE.parent / picture).is_file(), picture
