"""Running a study: checks, workers, sums, and the summary of its table."""

import sys
import time
import warnings
from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from joblib import Parallel
from sklearn.utils._param_validation import Interval, validate_parameter_constraints

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
        If a row has no such column.

    Examples
    --------
    >>> from skdiffuse.evaluation import summarise
    >>> rows = [{"arm": "a", "pair": i, "success": i % 2} for i in range(10)]
    >>> summary = summarise(rows, by=["arm"])[0]
    >>> summary["n"], float(summary["mean"])
    (10, 0.5)
    """
    groups: dict[tuple, dict[Any, list[float]]] = {}
    for row in rows:
        missing = [name for name in (*by, value, cluster) if name not in row]
        if missing:
            raise ValueError(
                f"the rows have no column {missing[0]!r}, but {', '.join(row)}."
            )
        if np.isnan(row[value]):
            continue
        key = tuple(row[name] for name in by)
        groups.setdefault(key, {}).setdefault(row[cluster], []).append(row[value])
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
            name: self.sums[name] / self.counts[name] if name in self.sums else np.nan
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
    validate_parameter_constraints(
        {
            "n_repeats": [Interval(Integral, 1, None, closed="left")],
            "subsample": [Interval(Real, 0, 1, closed="right")],
            "random_state": [Interval(Integral, 0, None, closed="left")],
        },
        {
            "n_repeats": n_repeats,
            "subsample": subsample,
            "random_state": random_state,
        },
        caller_name="study",
    )


def count(value: Any, name: str) -> int:
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} holds {value!r}; give numbers of rows, at least 1.")
    return int(value)


def three(item: Any, argument: str) -> tuple[str, Any, Any]:
    try:
        name, X, y = item
    except (TypeError, ValueError) as error:
        raise ValueError(f"{argument} has to hold (name, X, y), one a row.") from error
    return str(name), X, y


def check_rows(name: str, X: np.ndarray, y: np.ndarray, what: str) -> None:
    if X.ndim != 2 or len(X) != len(y):
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
