"""Label Studio: tasks and a labelling configuration out, exports in."""

import json
from pathlib import Path
from typing import Any

import polars as pl

from skdiffuse.cli import _files
from skdiffuse.cli._sheet import (
    LEFT,
    QUESTION,
    RIGHT,
    TIE,
    Answer,
    Sheet,
    blinded,
    carried,
    check_rows,
    is_blank,
    texts_of,
)

TOOL = "Label Studio"
# What a flat export has beside the data of the tasks.
_FLAT = {"annotation_id", "annotator", "created_at", "updated_at", "lead_time"}
_INPUT = """  <Header value="Input" size="5"/>
  <Text name="input" value="$input" valueType="text"/>
"""
# Text shows tags as they are written, and the style keeps blanks and wraps long words.
_CONFIGURATION = """<View style="white-space: pre-wrap; overflow-wrap: anywhere">
{input}  <View style="display: grid; grid-template-columns: repeat(2, minmax(0, 1fr))">
    <View>
      <Header value="Left" size="5"/>
      <Text name="left_output" value="$left_output" valueType="text"/>
    </View>
    <View>
      <Header value="Right" size="5"/>
      <Text name="right_output" value="$right_output" valueType="text"/>
    </View>
  </View>
  <Header value="{question}"/>
  <Choices name="preference" toName="left_output" choice="single-radio"
           showInline="true" required="true">
    <Choice value="{left}" hotkey="1"/>
    <Choice value="{tie}" hotkey="0"/>
    <Choice value="{right}" hotkey="2"/>
  </Choices>
</View>
"""


def configuration_of(path: Path) -> Path:
    """Return where the labelling configuration of a file of tasks lies."""
    return path.with_suffix(".xml")


def check_new(path: Path) -> None:
    """Raise a ValueError if the tasks cannot be written to `path`."""
    if path.suffix.lower() != ".json":
        raise ValueError(
            f"--format label-studio writes a .json file, and {path} has another "
            f"ending; give --out {path.with_suffix('.json')}."
        )
    for one in (path, configuration_of(path)):
        _files.check_absent(one)


def write(table: pl.DataFrame, path: Path, seed: int) -> None:
    """Write tasks to import, and beside them how to show them; never over a file."""
    check_new(path)
    tasks = []
    for example in blinded(table, seed):
        if "input" in example:
            # A task with a null is refused.
            example["input"] = example["input"] or ""
        tasks.append({"data": example})
    configuration = _CONFIGURATION.format(
        input=_INPUT if "input" in table.columns else "",
        question=QUESTION,
        left=LEFT,
        tie=TIE,
        right=RIGHT,
    )
    _files.write_new(
        {
            path: json.dumps(tasks, ensure_ascii=False, indent=1).encode(),
            configuration_of(path): configuration.encode(),
        }
    )


def is_flat(names: set[str]) -> bool:
    """Tell whether these are the columns of an export as CSV or JSON-MIN."""
    return names >= _FLAT


def is_full(item: dict[str, Any]) -> bool:
    """Tell whether this is a task, with its data on their own."""
    return isinstance(item.get("data"), dict)


def read_tasks(path: Path, tasks: list[dict[str, Any]], question: str) -> Sheet:
    """Read tasks as imported, or exported as JSON."""
    data = [task["data"] if is_full(task) else {} for task in tasks]
    check_rows(path, [each.get("row") for each in data], "task")
    answers = []
    names: dict[str, None] = {}
    for task, each in zip(tasks, data, strict=True):
        row, left = each["row"], each.get("left")
        for annotation in _list(task, "annotations"):
            skipped = "cancelled" if annotation.get("was_cancelled") else None
            choices = _choices(annotation, names)
            answers.append(Answer(row, choices.get(question), left, skipped))
        for draft in _list(task, "drafts"):
            choices = _choices(draft, names)
            answers.append(Answer(row, choices.get(question), left, "draft"))
    if names and question not in names:
        raise ValueError(
            f"{path} has no answers to {question!r}, but to {', '.join(names)}: name "
            "one of them with --preference."
        )
    return Sheet(path, TOOL, carried(data), answers, texts=texts_of(data))


def read_flat(path: Path, records: list[dict[str, Any]], question: str) -> Sheet:
    """Read annotations as exported as CSV or JSON-MIN: one record each."""
    check_rows(path, [record.get("row") for record in records], "annotation")
    answers = [
        Answer(record["row"], record.get(question), record.get("left"))
        for record in records
        # A task without an annotation has a record as well.
        if not is_blank(record.get("annotation_id"))
    ]
    if answers and not any(question in record for record in records):
        raise ValueError(
            f"{path} has no answers to {question!r}; name what was asked with "
            "--preference."
        )
    return Sheet(path, TOOL, carried(records), answers, texts=texts_of(records))


def _list(task: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """Return what hangs on a task; other software may leave numbers in its place."""
    found = task.get(name)
    items = found if isinstance(found, list) else []
    return [item for item in items if isinstance(item, dict)]


def _choices(annotation: dict[str, Any], names: dict[str, None]) -> dict[str, Any]:
    """Return what was chosen by the name of the control, and note the names."""
    found = {}
    for result in _list(annotation, "result"):
        value = result.get("value")
        if not isinstance(value, dict) or "choices" not in value:
            continue
        chosen = value["choices"]
        one = isinstance(chosen, list) and len(chosen) == 1
        name = str(result.get("from_name"))
        found[name] = chosen[0] if one else chosen
        names[name] = None
    return found
