"""A comparison on disk: one readable JSON object a line."""

import hashlib
import json
import os
import shutil
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np

FORMAT = "skdiffuse comparison 1"
# The key of what is known of a comparison as a whole.
WHOLE = -1
_N_SUMS = 3
_TINY = np.finfo(np.float64).tiny


def fingerprint(X: np.ndarray) -> dict[str, Any]:
    """Return the shape of an array and a few numbers that change with its rows."""
    weights = np.random.default_rng(0).standard_normal((_N_SUMS, len(X)))
    largest = float(max(np.abs(X).max(), _TINY))
    sums = weights @ (X / largest)
    return {
        "shape": list(X.shape),
        "largest": largest,
        "sums": sums.ravel().round(12).tolist(),
    }


def same_fingerprint(one: Any, other: Any) -> bool:
    """Tell whether two arrays are equal up to the rounding of another machine."""
    try:
        return (
            one["shape"] == other["shape"]
            and np.isclose(one["largest"], other["largest"], rtol=1e-7, atol=0)
            and np.allclose(
                one["sums"], other["sums"], rtol=0, atol=1e-7 * one["shape"][0] ** 0.5
            )
        )
    except (KeyError, TypeError, ValueError):
        return False


def plain(value: Any) -> Any:
    """Return a parameter as plain JSON, the same for equal values of any type.

    A random state counts by its kind alone: it changes as it is used, and what it
    decided is in the order.
    """
    if hasattr(value, "get_params") and not isinstance(value, type):
        params = {k: plain(v) for k, v in sorted(value.get_params(deep=False).items())}
        return {"class": type(value).__name__, **params}
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, np.ndarray):
        return hashlib.sha256(repr((value.shape, value.tolist())).encode()).hexdigest()
    if isinstance(value, np.random.RandomState | np.random.Generator):
        return type(value).__name__
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return getattr(value, "__qualname__", repr(value))


def write_log(
    path: Path,
    header: Mapping[str, Any],
    answers: Mapping[int, float | None],
    skipped: Collection[int],
    remarks: Mapping[int, Mapping[str, Any]],
) -> None:
    """Write the header and one line an answer; the old file stays until all is out."""
    # The file that a link points to, so that the link stays one.
    path = path.resolve()
    if path.exists() and not path.is_file():
        raise ValueError(f"{path} is no file; give the path of one.")
    about = remarks.get(WHOLE, {})
    lines = [{**about, "format": FORMAT, **header, "n_answers": len(answers)}]
    for row, value in answers.items():
        answer = {"row": row, "preference": value}
        if row in skipped:
            answer["skipped"] = True
        lines.append({**remarks.get(row, {}), **answer})
    part = path.with_name(path.name + ".part")
    try:
        with part.open("w", encoding="utf-8") as file:
            if path.exists():
                shutil.copymode(path, part)
            file.writelines(json.dumps(line) + "\n" for line in lines)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def read_log(
    path: Path,
) -> tuple[dict[str, Any], dict[int, float | None], frozenset[int]]:
    """Read what `write_log` wrote: the header, the answers, and which are skips.

    Raises
    ------
    ValueError
        If a line is not what it has to be, or lines are missing.
    """
    lines = _read_lines(path)
    header = lines[0]
    order = _order(path, header)
    tied = header.get("known_ties", [])
    if not isinstance(tied, list) or not all(
        type(row) is int and 0 <= row < header["n_examples"] and row not in order
        for row in tied
    ):
        raise ValueError(f"{path}, line 1 has known_ties that are no other rows.")
    answers: dict[int, float | None] = {}
    skipped = set()
    asked = header.get("asked_before", [])
    if not isinstance(asked, list) or not all(
        type(row) is int and 0 <= row < header["n_examples"] and row not in tied
        for row in asked
    ):
        raise ValueError(f"{path}, line 1 has asked_before that are no other rows.")
    known = order.union(asked)
    for number, line in enumerate(lines[1:], start=2):
        record: dict[str, Any] = line if isinstance(line, dict) else {}
        row: Any = record.get("row")
        value: Any = record.get("preference")
        if type(row) is not int or row not in known or row in answers:
            raise ValueError(
                f"{path}, line {number} is not the answer to a row, or answers it "
                "twice."
            )
        if record.get("skipped") is True:
            skipped.add(row)
            if value is None and row not in order:
                answers[row] = None
                continue
        if type(value) not in (int, float) or not abs(value) < 1e300:
            raise ValueError(f"{path}, line {number} has no finite preference.")
        answers[row] = float(value)
    if len(answers) != header.get("n_answers"):
        raise ValueError(
            f"{path} has {len(answers)} answers, but {header.get('n_answers')} were "
            "saved; lines are missing or were added."
        )
    return header, answers, frozenset(skipped)


def read_remarks(path: str | Path) -> dict[int, dict[str, Any]]:
    """Read what `PreferenceComparison.save` was told beside the answers.

    Parameters
    ----------
    path : str or Path
        A file that `save` wrote.

    Returns
    -------
    dict of int to dict
        What is known of the answer to each row, in the order in which they were given;
        under -1 what is known of the whole.

    Raises
    ------
    ValueError
        If the file is not a saved comparison.
    """
    path = Path(path)
    read_log(path)
    about, *lines = _read_lines(path)
    own = {"row", "preference", "skipped"}
    remarks = {
        line["row"]: {k: v for k, v in line.items() if k not in own} for line in lines
    }
    return {WHOLE: about, **remarks}


def _read_lines(path: Path) -> list[Any]:
    """Read JSON lines of which the first says what they are."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not a saved comparison: {error}.") from error
    lines: list[Any] = []
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            lines.append(json.loads(line))
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{path}, line {number} is not JSON: {error}.") from error
    if not lines or not isinstance(lines[0], dict) or lines[0].get("format") != FORMAT:
        raise ValueError(f"{path} is not a saved comparison (first line: {FORMAT!r}).")
    return lines


def _order(path: Path, header: Mapping[str, Any]) -> frozenset[int]:
    """Check the order, and return its rows."""
    order: Any = header.get("order")
    n_examples: Any = header.get("n_examples")
    valid = isinstance(order, list) and type(n_examples) is int and len(order) > 0
    if not valid or not all(type(r) is int and 0 <= r < n_examples for r in order):
        raise ValueError(f"{path}, line 1 has no order of row numbers.")
    rows = frozenset(order)
    if len(rows) != len(order):
        raise ValueError(f"{path}, line 1 has a row twice in its order.")
    return rows
