"""Selections to other tools, and their answers back."""

from collections import Counter
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl

from skdiffuse._words import rows_in_words
from skdiffuse.cli import _argilla, _design, _files, _label_studio
from skdiffuse.cli._sheet import (
    CARRIED,
    LEFT,
    RIGHT,
    TEXTS,
    TIE,
    Answer,
    Sheet,
    is_blank,
    read_json,
    row_number,
    texts_of,
)

Format = Literal["csv", "jsonl", "label-studio", "argilla"]

_TOOLS = {"label-studio": _label_studio, "argilla": _argilla}
_ENDINGS = {"csv": (".csv",), "jsonl": (".jsonl", ".ndjson")}
ANNOTATIONS = (
    f"{_files.FORMATS} with the columns row and preference, an export of Label Studio "
    "(.json or .csv), or a dataset of Argilla (its folder or records.json)"
)


def check_new(path: Path, form: Format | None) -> None:
    """Raise a ValueError if a selection cannot be written to `path`."""
    if form in _TOOLS:
        _TOOLS[form].check_new(path)
        return
    ending = path.suffix.lower()
    if form is not None and ending not in _ENDINGS[form]:
        raise ValueError(
            f"--format {form} writes a {_ENDINGS[form][0]} file, and {path} has "
            f"another ending; give --out {path.with_suffix(_ENDINGS[form][0])}."
        )
    if form is None and ending == ".json":
        raise ValueError(
            f"{path} has an unknown ending; give {_files.FORMATS}, or add --format "
            "label-studio."
        )
    _files.check_new(path)


def write(table: pl.DataFrame, path: Path, form: Format | None, seed: int) -> None:
    """Write a selection for a tool; the seed says which output stands on the left."""
    if form in _TOOLS:
        _TOOLS[form].write(table, path, seed)
    else:
        _files.write_table(table, path)


def read(path: Path, question: str) -> Sheet:
    """Read a selection or answers, whatever tool the file comes from."""
    if not path.exists():
        raise ValueError(f"{path} does not exist; give what select wrote, or answers.")
    if path.is_dir():
        return _argilla.read_folder(path, question)
    if path.suffix.lower() == ".json":
        return _read_json(path, question)
    if path.suffix.lower() not in (".csv", ".jsonl", ".ndjson", ".parquet"):
        raise ValueError(
            f"{path} has an unknown ending; give what select wrote, or {ANNOTATIONS}."
        )
    return _read_table(path, question)


def _read_table(path: Path, question: str) -> Sheet:
    table = _named_as_written(_files.read_table(path))
    if _label_studio.is_flat(set(table.columns)):
        records = [
            record
            for record in table.iter_rows(named=True)
            if not all(is_blank(cell) for cell in record.values())
        ]
        return _label_studio.read_flat(path, records, question)
    if "row" not in table.columns:
        return Sheet(path, None, table, [])
    answers = []
    if question in table.columns:
        cells = table.to_dict(as_series=False)
        left = cells.get("left", [None] * len(table))
        answers = [
            Answer(row, choice, side)
            for row, choice, side in zip(
                cells["row"], cells[question], left, strict=True
            )
        ]
    there = [name for name in ("row", *TEXTS) if name in table.columns]
    texts = texts_of(table.select(there).iter_rows(named=True))
    return Sheet(path, None, table, answers, texts=texts)


def _named_as_written(table: pl.DataFrame) -> pl.DataFrame:
    """Give the columns that select writes their names back: `Row` is `row`."""
    names = {name.strip().lower(): name for name in reversed(table.columns)}
    return table.rename(
        {
            names[name]: name
            for name in (*CARRIED, *TEXTS)
            if name in names and name not in table.columns
        }
    )


def _read_json(path: Path, question: str) -> Sheet:
    items = read_json(path)
    if all(_label_studio.is_full(item) for item in items):
        return _label_studio.read_tasks(path, items, question)
    if all(_argilla.is_record(item) for item in items):
        return _argilla.read_records(path, items, question)
    if all(_argilla.is_flat(item) for item in items):
        return _argilla.read_flat(path, items, question)
    if all(_label_studio.is_flat(set(item)) for item in items):
        return _label_studio.read_flat(path, items, question)
    raise ValueError(
        f"{path} is JSON, but no export of Label Studio (JSON or JSON-MIN) nor records "
        f"of Argilla; give {ANNOTATIONS}."
    )


def design_of(selection: Sheet, annotations: Sheet | None) -> _design.Design:
    """Return how the rows of a selection were chosen."""
    if annotations is not None:
        _check_order(selection, annotations)
    try:
        design = _design.read(selection.table)
    except ValueError as error:
        if selection.tool is None:
            raise
        raise ValueError(
            f"{error} An export leaves out what nobody answered: give the file that "
            f"select wrote first, and {selection.path} second."
        ) from error
    if design is None:
        raise ValueError(
            f"{selection.path} has no columns {', '.join(_design.COLUMNS)}, which "
            "select writes and which say how its rows were chosen; if they were lost, "
            f"{_design.MEND}."
        )
    return design


def _check_order(selection: Sheet, annotations: Sheet) -> None:
    """Raise a ValueError unless the first file is asked and the second answers."""
    mend = "give the file that select wrote first, and the annotations second"
    if _is_selection(annotations) and not _is_selection(selection):
        raise ValueError(
            f"{selection.path} does not say how its rows were chosen, but "
            f"{annotations.path} does: {mend}."
        )
    if not _is_selection(selection) or not selection.is_answered:
        return
    if not annotations.is_answered:
        raise ValueError(
            f"{selection.path} holds answers and {annotations.path} none: {mend}."
        )
    raise ValueError(
        f"{selection.path} and {annotations.path} both hold answers; {mend}, or leave "
        "one of them out."
    )


def _is_selection(sheet: Sheet) -> bool:
    return set(_design.COLUMNS) <= set(sheet.table.columns)


def match(
    selection: Sheet, chosen: pl.DataFrame, annotations: Sheet, question: str
) -> tuple[np.ndarray, list[str]]:
    """Return the preference for each chosen row, and what is to be said of them.

    Parameters
    ----------
    selection : Sheet
        What select wrote.
    chosen : DataFrame
        Its chosen rows.
    annotations : Sheet
        Holds the answers; the same one, if they were given with the selection.
    question : str
        The column, control or question with the answers.
    """
    rows = numbers_of(selection, chosen)
    left = _sides(selection, chosen, rows)
    answers = _by_row(annotations, rows, question)
    if annotations is not selection and _is_selection(annotations):
        _check_same_design(selection, annotations)
    _check_sides(annotations, answers, left)
    if annotations is not selection:
        _check_same_texts(selection, annotations, left)
    values: dict[int, list[float]] = {row: [] for row in rows}
    skipped: dict[int, list[str]] = {}
    for row, answer in answers:
        if answer.skipped:
            skipped.setdefault(row, []).append(answer.skipped)
        elif not is_blank(answer.choice):
            values[row].append(_value(annotations, row, answer, left))
    _check_missing(annotations, values, skipped)
    notes = [*annotations.notes, *_notes(values, skipped)]
    return np.array([np.mean(values[row]) for row in rows]), notes


def _check_same_design(selection: Sheet, annotations: Sheet) -> None:
    """Raise a ValueError if the answers belong to rows that were chosen otherwise.

    Probabilities may differ: a spreadsheet rounds them.
    """
    names = [name for name in _design.COLUMNS if name != "probability"]
    asked, answered = (
        {
            row_number(cells[0]): cells[1:]
            for cells in sheet.table.select("row", *names).iter_rows()
        }
        for sheet in (selection, annotations)
    )
    for row in [row for row in asked if row is not None and row in answered]:
        for name, one, other in zip(names, asked[row], answered[row], strict=True):
            if not (is_blank(other) or _reads_alike(one, other)):
                raise ValueError(
                    f"{annotations.path} has {_files.shown(other)} in column {name!r} "
                    f"for row {row}, and {selection.path} has {_files.shown(one)}: "
                    "these are answers to another selection; give the file that "
                    "select wrote for them, or, if only these columns were changed, "
                    "drop them from the annotations."
                )


def _reads_alike(one: Any, other: Any) -> bool:
    """Tell whether two cells hold the same text, or the same number."""
    if str(one).strip() == str(other).strip():
        return True
    return _files.preference(one) == _files.preference(other)


def _check_same_texts(
    selection: Sheet, annotations: Sheet, left: dict[int, str]
) -> None:
    """Raise a ValueError if other outputs were judged than were selected."""
    asked = {row_number(texts["row"]): texts for texts in selection.texts}
    differ = []
    for texts in annotations.texts:
        row = row_number(texts["row"])
        if row is None or row not in asked:
            continue
        side = left.get(row)
        both = _outputs(asked[row], side), _outputs(texts, side)
        if any(
            None not in pair and pair[0] != pair[1] for pair in zip(*both, strict=True)
        ):
            differ.append(row)
    if differ:
        raise ValueError(
            f"{annotations.path} has other outputs than {selection.path} in "
            f"{rows_in_words(_once(differ))}: these are answers to other texts; give "
            "the file that select wrote for them, or, if only the texts were changed "
            "on the way, drop their columns from the annotations."
        )


def _outputs(texts: dict[str, Any], left: str | None) -> list[str | None]:
    """Return the outputs of A and of B, None where the file does not say them."""
    names = ["output_a", "output_b"]
    if left is not None and not texts.keys() & set(names):
        names = ["left_output", "right_output"]
        if left == "B":
            names.reverse()
    return [_plain(texts[name]) if name in texts else None for name in names]


def _plain(text: Any) -> str:
    """Return a text as it reads, whatever wrote its line ends and outer blanks."""
    return "\n".join(str("" if text is None else text).splitlines()).strip()


def numbers_of(selection: Sheet, chosen: pl.DataFrame) -> list[int]:
    """Return the numbers of the chosen rows."""
    if "row" not in chosen.columns:
        raise ValueError(
            f"{selection.path} has no column row, by which answers are matched; give "
            "the file as select wrote it."
        )
    rows = []
    for cell in chosen["row"]:
        row = row_number(cell)
        if row is None:
            raise ValueError(
                f"column 'row' of {selection.path} holds {_files.shown(cell)}, which "
                "is no number of a row; give the file as select wrote it."
            )
        rows.append(row)
    twice = [row for row, count in Counter(rows).items() if count > 1]
    if twice:
        raise ValueError(
            f"column 'row' holds a row twice in {selection.path} "
            f"({rows_in_words(twice)}); give each row once."
        )
    return rows


def _sides(selection: Sheet, chosen: pl.DataFrame, rows: list[int]) -> dict[int, str]:
    """Return which generator stood on the left of each row, where the file says so."""
    if "left" not in chosen.columns or selection.tool is None:
        return {}
    return {
        row: side
        for row, side in zip(rows, chosen["left"], strict=True)
        if not is_blank(side)
    }


def _by_row(
    annotations: Sheet, rows: list[int], question: str
) -> list[tuple[int, Answer]]:
    """Return the answers with the numbers of their rows, which are all known."""
    if annotations.tool is None:
        if "row" not in annotations.table.columns:
            raise ValueError(
                f"{annotations.path} has no column row, by which answers are matched, "
                f"but {', '.join(annotations.table.columns)}; give {ANNOTATIONS}."
            )
        _files.column(annotations.table, question, "--preference")
    known, unknown, answers = set(rows), [], []
    for place, answer in enumerate(annotations.answers):
        row = row_number(answer.row)
        if row is None and is_blank(answer.row) and is_blank(answer.choice):
            continue
        if row is None:
            raise ValueError(
                f"{annotations.path} has its answer {place} (counted from zero) for "
                f"the row {_files.shown(answer.row)}, which is no number; write row as "
                "select wrote it."
            )
        if row in known:
            answers.append((row, answer))
        elif not is_blank(answer.choice):
            unknown.append(row)
    if unknown:
        raise ValueError(
            f"{annotations.path} has answers for {rows_in_words(_once(unknown))}, "
            "which the selection does not have: these are answers to another one; "
            "give the file that select wrote for them."
        )
    counts = Counter(row for row, _ in answers)
    twice = [row for row, count in counts.items() if count > 1]
    if annotations.tool is None and twice:
        raise ValueError(
            f"{annotations.path} has {rows_in_words(twice)} more than once; give each "
            "row once."
        )
    return answers


def _check_sides(
    annotations: Sheet, answers: list[tuple[int, Answer]], left: dict[int, str]
) -> None:
    """Fill in the sides from the answers; they must not contradict the selection."""
    for row, answer in answers:
        if is_blank(answer.left):
            continue
        side = str(answer.left).strip()
        if side not in ("A", "B"):
            raise ValueError(
                f"{annotations.path} says that {_files.shown(side)} stood on the left "
                f"in row {row}; it is A or B, as select wrote it."
            )
        if left.setdefault(row, side) != side:
            raise ValueError(
                f"{annotations.path} says that {side} stood on the left in row {row}, "
                f"and the selection says {left[row]}: these are answers to another "
                "selection; give the file that was imported."
            )


def _value(annotations: Sheet, row: int, answer: Answer, left: dict[int, str]) -> float:
    """Return an answer as a preference: positive where A is better."""
    word = str(answer.choice).strip().lower()
    if word == TIE:
        return 0.0
    if word in (LEFT, RIGHT):
        if row not in left:
            raise ValueError(
                f"{annotations.path} says {word} in row {row}, and no file says which "
                "generator stood there; give the file that was imported as FILE."
            )
        return 1.0 if (word == LEFT) == (left[row] == "A") else -1.0
    if annotations.tool is None:
        value = _files.preference(answer.choice)
        if abs(value) <= 1:
            return value
    known = f"{LEFT}, {TIE} or {RIGHT}"
    if annotations.tool is None:
        known = "A, B, tie or a number in [-1, 1]"
    raise ValueError(
        f"{annotations.path} holds {_files.shown(answer.choice)} in row {row}, which "
        f"is none of {known}; name what was asked with --preference, or mend the "
        "answer."
    )


def _check_missing(
    annotations: Sheet, values: dict[int, list[float]], skipped: dict[int, list[str]]
) -> None:
    """Raise a ValueError that names the rows without an answer."""
    missing = [row for row, found in values.items() if not found]
    if not missing:
        return
    passed = [row for row in missing if row in skipped]
    why = ""
    if passed:
        reasons = _counted([reason for row in passed for reason in skipped[row]])
        why = f"; skipped were {rows_in_words(passed)} ({reasons})"
    raise ValueError(
        f"{annotations.path} has no answer for {rows_in_words(missing)} (by the column "
        f"row): {len(missing)} of {len(values)}{why}; judge all that were chosen, "
        "since those left out may differ from the others."
    )


def _notes(values: dict[int, list[float]], skipped: dict[int, list[str]]) -> list[str]:
    notes = []
    several = [found for found in values.values() if len(found) > 1]
    if several:
        n_differ = sum(min(found) < max(found) for found in several)
        notes.append(
            f"{len(several)} of {len(values)} rows have several answers, which were "
            f"averaged; in {n_differ} of them they disagree."
        )
    reasons = [reason for found in skipped.values() for reason in found]
    if reasons:
        notes.append(
            f"{len(reasons)} skipped answers were not counted ({_counted(reasons)})."
        )
    return notes


def _counted(reasons: list[str]) -> str:
    return ", ".join(f"{n} {reason}" for reason, n in sorted(Counter(reasons).items()))


def _once(rows: list[Any]) -> list[Any]:
    return list(dict.fromkeys(rows))
