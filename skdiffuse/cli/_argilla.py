"""Argilla: a dataset on disk, out and in."""

import json
import re
import shutil
from collections.abc import Iterable
from itertools import zip_longest
from pathlib import Path
from typing import Any

import polars as pl

from skdiffuse.cli import _files
from skdiffuse.cli._sheet import (
    CARRIED,
    LEFT,
    QUESTION,
    RIGHT,
    TIE,
    Answer,
    Sheet,
    blinded,
    carried,
    check_rows,
    read_json,
    texts_of,
)

TOOL = "Argilla"
RECORDS = "records.json"
_HIDDEN = ".argilla"
_GUIDELINES = (
    "Read both outputs, and say which is better. Take tie only if neither is. Which "
    "generator stands on which side was drawn for each record."
)
_DISTRIBUTION = {"strategy": "overlap", "min_submitted": 1}


def check_new(path: Path) -> None:
    """Raise a ValueError if the dataset cannot be written to `path`."""
    if path.suffix.lower() in (".csv", ".jsonl", ".ndjson", ".parquet", ".json"):
        raise ValueError(
            f"--format argilla writes a folder, and {path} has the ending of a file; "
            f"give --out {path.with_suffix('')}."
        )
    _files.check_absent(path)


def write(table: pl.DataFrame, path: Path, seed: int) -> None:
    """Write a dataset as Argilla keeps it on disk; never over a folder."""
    check_new(path)
    examples = blinded(table, seed)
    with _files.writing(path):
        path.mkdir()
    try:
        (path / _HIDDEN).mkdir()
        contents = {
            path / _HIDDEN / "dataset.json": _dataset(path),
            path / _HIDDEN / "settings.json": _settings(examples[0]),
            path / RECORDS: [_record(example) for example in examples],
        }
        # ASCII, since Argilla reads it in the encoding of its machine.
        _files.write_new(
            {one: json.dumps(content).encode() for one, content in contents.items()}
        )
    except BaseException:
        shutil.rmtree(path)
        raise


def is_record(item: dict[str, Any]) -> bool:
    """Tell whether this is a record of a dataset."""
    return isinstance(item.get("fields"), dict) and "metadata" in item


def read_folder(path: Path, question: str) -> Sheet:
    """Read a dataset from its folder."""
    records = path / RECORDS
    if not records.is_file():
        raise ValueError(
            f"the folder {path} has no {RECORDS}, so it holds no dataset of Argilla "
            "with its records; give the folder that select or to_disk wrote."
        )
    items = read_json(records)
    if not all(is_record(item) for item in items):
        raise ValueError(f"{records} holds no records of Argilla; export it anew.")
    return read_records(path, items, question)


def is_flat(item: dict[str, Any]) -> bool:
    """Tell whether this is a record as to_list(flatten=True) returns it."""
    return "_server_id" in item and "fields" not in item


def read_records(path: Path, records: list[dict[str, Any]], question: str) -> Sheet:
    """Read records, with the responses of all users."""
    metadata = [
        record["metadata"] if isinstance(record.get("metadata"), dict) else {}
        for record in records
    ]
    check_rows(path, [each.get("row") for each in metadata], "record (metadata)")
    answers = []
    names: dict[str, None] = {}
    n_unsure = 0
    for place, (record, each) in enumerate(zip(records, metadata, strict=True)):
        responses = record.get("responses")
        responses = responses if isinstance(responses, dict) else {}
        names.update(dict.fromkeys(responses))
        given = _listed(path, place, responses.get(question), dict)
        # What to_json leaves out; a record with a submitted response is completed.
        pending = record.get("status") == "pending"
        skipped = "draft or discarded, in a pending record" if pending else None
        n_unsure += not pending and len(given) > 1
        answers += [
            Answer(each["row"], one.get("value"), each.get("left"), skipped)
            for one in given
        ]
    _check_question(path, names, question)
    notes = []
    if n_unsure:
        notes.append(
            f"{n_unsure} records have several responses, and to_disk and to_json do "
            "not write which are drafts or discarded: all were counted. Where that "
            "matters, write dataset.records(with_responses=True).to_list(flatten=True) "
            "to a JSON file, which says it."
        )
    texts = [
        {**each, **record["fields"]}
        for record, each in zip(records, metadata, strict=True)
    ]
    return Sheet(path, TOOL, carried(metadata), answers, notes, texts_of(texts))


def read_flat(path: Path, records: list[dict[str, Any]], question: str) -> Sheet:
    """Read records whose metadata and responses stand beside their fields."""
    check_rows(path, [record.get("row") for record in records], "record")
    ending = ".responses"
    names = {
        name.removesuffix(ending): None
        for record in records
        for name in record
        if name.endswith(ending)
    }
    _check_question(path, names, question)
    answers = []
    for place, record in enumerate(records):
        values, statuses = (
            _listed(path, place, record.get(f"{question}{name}"), object)
            for name in (ending, f"{ending}.status")
        )
        for value, status in zip_longest(values, statuses):
            skipped = None if status in (None, "submitted") else str(status)
            answers.append(Answer(record["row"], value, record.get("left"), skipped))
    return Sheet(path, TOOL, carried(records), answers, texts=texts_of(records))


def _listed(path: Path, place: int, responses: Any, kind: type) -> list[Any]:
    """Return the responses of a record, which are a list of one kind of things."""
    if responses is None:
        return []
    if not isinstance(responses, list) or not all(
        isinstance(one, kind) for one in responses
    ):
        raise ValueError(
            f"{path} has responses in its record {place} (counted from zero) that are "
            f"no list as Argilla writes it ({_files.shown(responses)}); export it anew."
        )
    return responses


def _check_question(path: Path, names: Iterable[str], question: str) -> None:
    """Raise a ValueError if only other questions were answered."""
    others = list(names)
    if others and question not in others:
        raise ValueError(
            f"{path} has no answers to {question!r}, but to {', '.join(others)}: name "
            "one of them with --preference."
        )


def _dataset(path: Path) -> dict[str, Any]:
    """Return the model of the dataset, named like its folder."""
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", path.name).strip("-_")
    return {
        "name": name or "selection",
        "status": "draft",
        "guidelines": _GUIDELINES,
        "allow_extra_metadata": True,
        "distribution": _DISTRIBUTION,
    }


def _settings(example: dict[str, Any]) -> dict[str, Any]:
    """Return what an annotator sees; the metadata are for `decide` alone."""
    labels = (LEFT, "Left"), (TIE, "Tie"), (RIGHT, "Right")
    shown = ("input", "Input"), ("left_output", "Left"), ("right_output", "Right")
    return {
        "guidelines": _GUIDELINES,
        "fields": [
            {
                "name": name,
                "title": title,
                "required": name != "input",
                "settings": {"type": "text", "use_markdown": False},
            }
            for name, title in shown
            if name in example
        ],
        "questions": [
            {
                "name": "preference",
                "title": QUESTION,
                "required": True,
                "settings": {
                    "type": "label_selection",
                    "options": [{"value": v, "text": text} for v, text in labels],
                },
            }
        ],
        "vectors": [],
        "metadata": [],
        "allow_extra_metadata": True,
        "distribution": _DISTRIBUTION,
    }


def _record(example: dict[str, Any]) -> dict[str, Any]:
    """Return a record; what is missing is left out, as Argilla wants it."""
    there = {name: value for name, value in example.items() if value is not None}
    return {
        "id": str(example["row"]),
        "fields": {name: there[name] for name in there if name not in CARRIED},
        "metadata": {name: there[name] for name in there if name in CARRIED},
        "suggestions": {},
        "responses": {},
        "vectors": {},
        "status": "pending",
        "_server_id": None,
    }
