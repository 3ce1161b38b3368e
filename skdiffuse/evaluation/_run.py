"""Running a study: checks, workers, sums, and the summary of its table."""

import sys
import time
import warnings
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from joblib import Parallel
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval, validate_parameter_constraints

from skdiffuse._validation import check_labels, check_vectors

Record = dict[str, Any]


class StudyInterruptedWarning(UserWarning):
    """A study was interrupted, and its table has only what was finished."""


def summarise(
    rows: Iterable[Record],
    *,
    by: Sequence[str],
    value: str = "success",
    cluster: str = "pair",
    confidence_level: float = 0.95,
    n_bootstrap: int = 2000,
    random_state: int = 0,
) -> list[Record]:
    """Average a column of a study, with an interval from a bootstrap over pairs.

    Parameters
    ----------
    rows : iterable of dict
        The table of a study.
    by : sequence of str
        Columns whose values make a row of the summary, in order of first occurrence.
    value : str, default="success"
        Column to average; NaN is left out.
    cluster : str, default="pair"
        Column with what varies by chance: its values are drawn again and again.
    confidence_level : float, default=0.95
        Of the interval.
    n_bootstrap : int, default=2000
        How often.
    random_state : int, default=0
        Seed.

    Returns
    -------
    list of dict
        The columns `by`, ``n`` (number of clusters), ``mean`` (over the clusters, each
        counting alike), its ``error`` and the ends ``low`` and ``high``. With a single
        cluster the error is NaN and the ends are the mean.

    Raises
    ------
    ValueError
        If a row has no such column or no number in `value`, `by` is no list of names
        or holds one that the summary has too, or a number is out of its range.

    Notes
    -----
    The tables of `coverage_study` and `error_study` have no pairs: pass
    ``cluster="pool"`` and a `value` such as ``"ratio"``.

    Examples
    --------
    >>> from skdiffuse.evaluation import summarise
    >>> rows = [{"arm": "a", "pair": i, "success": i % 2} for i in range(10)]
    >>> summary = summarise(rows, by=["arm"])[0]
    >>> summary["n"], float(summary["mean"])
    (10, 0.5)
    """
    by = _columns(by)
    check_numbers(
        confidence_level=(confidence_level, Interval(Real, 0, 1, closed="neither")),
        n_bootstrap=(n_bootstrap, Interval(Integral, 1, None, closed="left")),
        random_state=(random_state, Interval(Integral, 0, None, closed="left")),
    )
    groups: dict[tuple, dict[Any, list[float]]] = {}
    for row in rows:
        number = _value(row, by, value, cluster)
        if np.isnan(number):
            continue
        # NaN is not equal to itself, and would be a group of its own in each row.
        key = tuple(row[name] if row[name] == row[name] else "nan" for name in by)
        groups.setdefault(key, {}).setdefault(row[cluster], []).append(number)
    tail = (1 - confidence_level) / 2
    summary = []
    for key, members in groups.items():
        means = np.array([np.mean(values) for values in members.values()])
        n = len(means)
        rng = np.random.default_rng(random_state)
        drawn = means[rng.integers(n, size=(n_bootstrap, n))].mean(axis=1)
        low, high = np.quantile(drawn, [tail, 1 - tail])
        error = means.std(ddof=1) / np.sqrt(n) if n > 1 else np.nan
        summary.append(
            dict(zip(by, key, strict=True))
            | {
                "n": n,
                "mean": float(means.mean()),
                "error": float(error),
                "low": float(low),
                "high": float(high),
            }
        )
    return summary


def _columns(by: Any) -> list[str]:
    if isinstance(by, str) or not isinstance(by, Iterable):
        raise ValueError(f"by={by!r} is no list of columns; pass [{by!r}].")
    names = list(by)
    taken = [name for name in names if name in ("n", "mean", "error", "low", "high")]
    if taken:
        raise ValueError(
            f"by holds {taken[0]!r}, which the summary has as a column of its own; "
            "rename it in the rows."
        )
    return names


def _value(row: Record, by: Sequence[str], value: str, cluster: str) -> float:
    missing = [name for name in (*by, value, cluster) if name not in row]
    if missing:
        mend = (
            "; a study of means has cluster='pool'"
            if missing[0] == "pair" and "pool" in row
            else ""
        )
        raise ValueError(
            f"the rows have no column {missing[0]!r}, but {', '.join(row)}{mend}."
        )
    if not isinstance(row[value], Real):
        raise ValueError(
            f"the column {value!r} holds {row[value]!r}; value names a column of "
            "numbers."
        )
    return float(row[value])


class Total:
    """Sums of several columns, for a mean over repeats."""

    def __init__(self) -> None:
        self.sums: dict[str, float] = {}
        self.counts: dict[str, int] = {}

    def add(self, **values: float) -> None:
        for name, value in values.items():
            self.sums[name] = self.sums.get(name, 0.0) + value
            self.counts[name] = self.counts.get(name, 0) + 1

    def means(self, *names: str) -> dict[str, float]:
        return {
            name: float(self.sums[name] / self.counts[name])
            if name in self.sums
            else np.nan
            for name in names
        }


def run(
    study: str, tasks: Iterable[Any], n_jobs: int | None, verbose: bool
) -> list[Record]:
    """Run tasks in order, and return the rows of those that are finished."""
    rows: list[Record] = []
    start, done = time.monotonic(), 0
    try:
        for part in Parallel(n_jobs=n_jobs, return_as="generator")(tasks):
            rows += part
            done += 1
            if verbose:
                elapsed = time.monotonic() - start
                print(
                    f"\r{study}: {done} done, {elapsed:.0f} s", end="", file=sys.stderr
                )
    except KeyboardInterrupt:
        warnings.warn(
            f"{study} was interrupted: the table has {done} finished parts.",
            StudyInterruptedWarning,
            stacklevel=3,
        )
    if verbose:
        print(file=sys.stderr)
    return rows


def check_protocol(n_repeats: int, subsample: float, random_state: int) -> None:
    check_numbers(
        n_repeats=(n_repeats, Interval(Integral, 1, None, closed="left")),
        subsample=(subsample, Interval(Real, 0, 1, closed="right")),
        random_state=(random_state, Interval(Integral, 0, None, closed="left")),
    )


def check_numbers(**numbers: tuple[Any, Interval]) -> None:
    for name, (value, allowed) in numbers.items():
        if isinstance(value, bool | np.bool_):
            raise ValueError(f"{name}={value!r} is no number; write one.")
        validate_parameter_constraints(
            {name: [allowed]}, {name: value}, caller_name="study"
        )


def check_arms(arms: Any, argument: str, methods: Sequence[str]) -> None:
    """Raise a ValueError unless `arms` are instances with these methods by name."""
    if not isinstance(arms, Mapping) or not arms:
        raise ValueError(
            f"{argument} is {_shortly(arms)}; pass a dictionary, a name for each, such "
            f"as {{'mine': ...}}."
        )
    for name, arm in arms.items():
        if isinstance(arm, type):
            raise ValueError(
                f"{argument}[{name!r}] is the class {arm.__name__}; pass an instance, "
                "with parentheses."
            )
        lacks = [method for method in methods if not hasattr(arm, method)]
        if lacks:
            raise ValueError(
                f"{argument}[{name!r}] is {_shortly(arm)}, which has no {lacks[0]}."
            )


def counts(values: Any, name: str) -> list[int]:
    """Return numbers of rows as a list."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise ValueError(f"{name}={values!r} is no list; pass [{values!r}].")
    numbers = [count(value, name) for value in values]
    if not numbers:
        raise ValueError(f"{name} is empty; give at least one number of rows.")
    return numbers


def count(value: Any, name: str) -> int:
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} holds {value!r}; give numbers of rows, at least 1.")
    return int(value)


def items(values: Any, argument: str) -> Iterable[Any]:
    """Return what can be iterated over, and is no dictionary."""
    if isinstance(values, str | Mapping) or not isinstance(values, Iterable):
        raise ValueError(
            f"{argument} is {_shortly(values)}; pass a list of (name, X, y)."
        )
    return values


def _shortly(value: Any) -> str:
    return f"empty ({value!r})" if value == {} else f"a {type(value).__name__}"


def three(item: Any, argument: str) -> tuple[str, Any, Any]:
    try:
        name, X, y = item
    except (TypeError, ValueError) as error:
        raise ValueError(f"{argument} has to hold (name, X, y), one a row.") from error
    return str(name), X, y


def check_vectors_of(name: str, X: Any) -> np.ndarray:
    """Validate the vectors of a pair, or the scores of a pool."""
    try:
        return check_vectors(BaseEstimator(), X, reset=True)
    except ValueError as error:
        raise ValueError(f"{name!r}: {error}") from error


def check_values(name: str, X: np.ndarray, y: Any, what: str) -> np.ndarray:
    """Validate one number for each row of X."""
    try:
        y = check_labels(y)
    except ValueError as error:
        raise ValueError(f"{name!r}, {what}: {error}") from error
    if len(X) != len(y):
        raise ValueError(
            f"{name!r} has X of shape {X.shape} and {len(y)} {what}; give X one row an "
            "example and one value for each."
        )
    missing = np.flatnonzero(np.isnan(y))
    if len(missing):
        raise ValueError(
            f"{name!r} has no value in row {missing[0]} of its {what}; a study needs "
            "all of them, so drop rows without one."
        )
    return y
