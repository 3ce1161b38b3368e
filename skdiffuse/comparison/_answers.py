"""Answers as people and programs give them: rows and preferences in any container."""

from collections.abc import Hashable, Iterable, Mapping
from numbers import Real
from typing import Any

import numpy as np


def listed(answers: Any) -> list[Any]:
    """Return answers as a list, whatever holds them."""
    if hasattr(answers, "to_numpy"):
        answers = answers.to_numpy()
    if isinstance(answers, np.ndarray):
        column = answers.ndim == 2 and answers.shape[1] == 1
        answers = answers.reshape(-1) if column or answers.ndim == 0 else answers
        # Python's own numbers are looked at much faster.
        numbers = answers.ndim == 1 and answers.dtype.kind in "iuf"
        return answers.tolist() if numbers else list(answers)
    if isinstance(answers, str | bytes | Mapping) or not isinstance(answers, Iterable):
        return [answers]
    return list(answers)


def _unwrapped(value: Any) -> Any:
    """Return what is alone in a list: a row of a table with one column."""
    if isinstance(value, list | tuple | np.ndarray) and len(value) == 1:
        return value[0]
    return value


def as_row(value: Any) -> Any:
    """Return a row number as an int; leave anything else to be refused."""
    value = _unwrapped(value)
    if isinstance(value, bool | np.bool_):
        return str(value)
    if isinstance(value, Real) and float(value).is_integer():
        return int(float(value))
    return value if isinstance(value, Hashable) else repr(value)


def as_number(value: Any) -> float | None:
    """Return a finite number, or None for anything else an oracle may return."""
    value = _unwrapped(value)
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if np.isfinite(number) else None
