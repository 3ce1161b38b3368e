"""A comparison on disk: one readable JSON object a line."""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

FORMAT = "skdiffuse comparison 1"


def fingerprint(X: np.ndarray) -> str:
    """Return a hash of the shape and the values of an array."""
    values = np.ascontiguousarray(X, dtype=np.float64) + 0.0
    digest = hashlib.sha256(repr(values.shape).encode())
    digest.update(values.tobytes())
    return digest.hexdigest()


def write_log(
    path: Path, header: Mapping[str, Any], answers: Mapping[int, float]
) -> None:
    """Write the header and one line an answer; the old file stays until all is out."""
    lines = [{"format": FORMAT, **header}]
    lines += [{"row": row, "preference": value} for row, value in answers.items()]
    part = path.with_name(path.name + ".part")
    with part.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def read_log(path: Path) -> tuple[dict[str, Any], dict[int, float]]:
    """Read what `write_log` wrote.

    Raises
    ------
    ValueError
        If a line is not what it has to be.
    """
    text = path.read_text(encoding="utf-8")
    lines: list[Any] = []
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            lines.append(json.loads(line))
        except json.JSONDecodeError as error:
            raise ValueError(f"{path}, line {number} is not JSON: {error}.") from error
    if not lines or not isinstance(lines[0], dict) or lines[0].get("format") != FORMAT:
        raise ValueError(f"{path} is not a saved comparison (first line: {FORMAT!r}).")
    header = lines[0]
    _check_order(path, header.get("order"))
    answers: dict[int, float] = {}
    for number, line in enumerate(lines[1:], start=2):
        record = line if isinstance(line, dict) else {}
        row, value = record.get("row"), record.get("preference")
        if (
            not isinstance(row, int)
            or row not in header["order"]
            or row in answers
            or not isinstance(value, int | float)
            or not np.isfinite(value)
        ):
            raise ValueError(
                f"{path}, line {number} is not the answer to a row of the order, or "
                "answers it twice."
            )
        answers[row] = float(value)
    return header, answers


def _check_order(path: Path, order: Any) -> None:
    valid = isinstance(order, Sequence) and all(isinstance(row, int) for row in order)
    if not valid or len(set(order)) != len(order) or not order:
        raise ValueError(f"{path}, line 1 has no order of distinct row numbers.")
