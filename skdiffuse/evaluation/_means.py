"""Studies of estimated means and their intervals, on pools with all labels."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from joblib import delayed
from sklearn.base import clone

from skdiffuse.evaluation._run import (
    Record,
    Total,
    check_arms,
    check_protocol,
    check_values,
    check_vectors_of,
    counts,
    items,
    run,
    three,
)


def coverage_study(
    estimators: Mapping[str, Any],
    pools: Iterable[tuple[str, Any, Any]],
    *,
    n_labeled: Sequence[int],
    n_repeats: int = 1000,
    confidence_level: float = 0.95,
    interval: Mapping[str, Any] | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> list[Record]:
    """Measure how often intervals from few labels hold the mean of all labels.

    Parameters
    ----------
    estimators : dict of str to estimator
        Unfitted `PPIMeanEstimator` and its like, by name.
    pools : iterable of (name, X, y)
        Judge scores of shape (n_rows, n_judges), and the labels of *all* rows.
    n_labeled : sequence of int
        How many random rows keep their label; at most as many as there are rows.
    n_repeats : int, default=1000
        How often labels are drawn.
    confidence_level : float, default=0.95
        Of the intervals.
    interval : dict, default=None
        More arguments of `confidence_interval`, such as ``{"label_range": (1, 5)}``.
    random_state : int, default=0
        Seed.
    n_jobs : int, default=None
        Number of workers.
    verbose : bool, default=False
        Print the progress to stderr.

    Returns
    -------
    list of dict
        A row for each pool, number of labels and estimator: ``pool``, ``n_labeled``,
        ``estimator``, ``n_repeats``, ``coverage`` with its Monte-Carlo ``error``,
        ``width`` (mean), ``bias`` and ``rmse`` of the estimates.

    Raises
    ------
    ValueError
        If an argument is out of its range, or a row of a pool has no label.

    Warns
    -----
    StudyInterruptedWarning
        As in `success_curve`.

    See Also
    --------
    error_study : The error of the estimates against that of the labels alone.

    Notes
    -----
    The truth is the mean of the pool, from which the labels are drawn without
    replacement, while the intervals are meant for the source of the pool: with many of
    the rows labelled they cover more than they promise.

    Examples
    --------
    >>> from skdiffuse import PPIMeanEstimator
    >>> from skdiffuse.datasets import make_judged_pool
    >>> from skdiffuse.evaluation import coverage_study
    >>> pools = [("made", *make_judged_pool(300, None, random_state=0))]
    >>> ppi = {"ppi": PPIMeanEstimator()}
    >>> row = coverage_study(ppi, pools, n_labeled=[20], n_repeats=50)[0]
    >>> bool(row["coverage"] > 0.85)
    True
    """
    check_protocol(n_repeats, 1.0, random_state)
    check_arms(estimators, "estimators", ["fit", "confidence_interval"])
    if interval is not None and not isinstance(interval, Mapping):
        raise ValueError(
            f"interval={interval!r} is no dictionary; pass the arguments of "
            "confidence_interval by name, such as {'label_range': (1, 5)}."
        )
    how = {"confidence_level": confidence_level, **(interval or {})}
    tasks = (
        delayed(_coverage)(estimators, name, X, y, size, n_repeats, how, random_state)
        for name, X, y, size in _settings(pools, n_labeled)
    )
    return run("coverage_study", tasks, n_jobs, verbose)


def error_study(
    estimators: Mapping[str, Any],
    pools: Iterable[tuple[str, Any, Any]],
    *,
    n_labeled: Sequence[int],
    n_repeats: int = 350,
    random_state: int = 0,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> list[Record]:
    """Measure the error of means from few labels, relative to the labels alone.

    Parameters
    ----------
    estimators : dict of str to estimator
        As in `coverage_study`.
    pools : iterable of (name, X, y)
        As in `coverage_study`.
    n_labeled : sequence of int
        How many random rows keep their label.
    n_repeats : int, default=350
        How often labels are drawn, as in [1]_; all estimators see the same draws.
    random_state : int, default=0
        Seed.
    n_jobs : int, default=None
        Number of workers.
    verbose : bool, default=False
        Print the progress to stderr.

    Returns
    -------
    list of dict
        A row for each pool, number of labels and estimator: ``pool``, ``n_labeled``,
        ``estimator``, ``n_repeats``, ``absolute_error`` (mean), ``ratio`` (to that of
        the mean of the labels) and ``ratio_error``, its paired Monte-Carlo error.

    Raises
    ------
    ValueError
        If an argument is out of its range, or a row of a pool has no label.

    Warns
    -----
    StudyInterruptedWarning
        As in `success_curve`.

    References
    ----------
    .. [1] Eyre and Madras, "Auto-Evaluation with Few Labels through Post-hoc
       Regression", arXiv:2411.12665, ICML 2025.

    Examples
    --------
    >>> from skdiffuse import PPIMeanEstimator
    >>> from skdiffuse.datasets import make_judged_pool
    >>> from skdiffuse.evaluation import error_study
    >>> pools = [("made", *make_judged_pool(300, None, judge=0.9, random_state=0))]
    >>> row = error_study({"ppi": PPIMeanEstimator()}, pools, n_labeled=[30])[0]
    >>> bool(row["ratio"] < 0.9)
    True
    """
    check_protocol(n_repeats, 1.0, random_state)
    check_arms(estimators, "estimators", ["fit", "confidence_interval"])
    tasks = (
        delayed(_errors)(estimators, name, X, y, size, n_repeats, random_state)
        for name, X, y, size in _settings(pools, n_labeled)
    )
    return run("error_study", tasks, n_jobs, verbose)


def _coverage(
    estimators: Mapping[str, Any],
    name: str,
    X: np.ndarray,
    y: np.ndarray,
    size: int,
    n_repeats: int,
    how: dict[str, Any],
    seed: int,
) -> list[Record]:
    truth = float(y.mean())
    rounding = _rounding(y)
    totals = {arm: Total() for arm in estimators}
    for labels in _labels_drawn(y, size, n_repeats, seed):
        for arm, estimator in estimators.items():
            fitted = clone(estimator).fit(X, labels)
            low, high = fitted.confidence_interval(**how)
            error = fitted.mean_ - truth
            totals[arm].add(
                coverage=float(low - rounding <= truth <= high + rounding),
                width=high - low,
                bias=error,
                square=error**2,
            )
    rows = []
    for arm, total in totals.items():
        means = total.means("coverage", "width", "bias", "square")
        spread = means["coverage"] * (1 - means["coverage"]) / n_repeats
        rows.append(
            {
                "pool": name,
                "n_labeled": size,
                "estimator": arm,
                "n_repeats": n_repeats,
                "coverage": means["coverage"],
                "error": float(np.sqrt(spread)),
                "width": means["width"],
                "bias": means["bias"],
                "rmse": float(np.sqrt(means["square"])),
            }
        )
    return rows


def _errors(
    estimators: Mapping[str, Any],
    name: str,
    X: np.ndarray,
    y: np.ndarray,
    size: int,
    n_repeats: int,
    seed: int,
) -> list[Record]:
    truth = y.mean()
    classical = np.empty(n_repeats)
    errors = {arm: np.empty(n_repeats) for arm in estimators}
    for repeat, labels in enumerate(_labels_drawn(y, size, n_repeats, seed)):
        classical[repeat] = abs(np.nanmean(labels) - truth)
        for arm, estimator in estimators.items():
            fitted = clone(estimator).fit(X, labels)
            errors[arm][repeat] = abs(fitted.mean_ - truth)
    alone = classical.mean()
    varies = alone > _rounding(y)
    rows = []
    for arm, values in errors.items():
        ratio = values.mean() / alone if varies else np.nan
        # Of a ratio of means of the same draws, to first order.
        spread = (values - ratio * classical).std() / np.sqrt(n_repeats)
        rows.append(
            {
                "pool": name,
                "n_labeled": size,
                "estimator": arm,
                "n_repeats": n_repeats,
                "absolute_error": float(values.mean()),
                "ratio": float(ratio),
                "ratio_error": float(spread / alone) if varies else np.nan,
            }
        )
    return rows


def _settings(
    pools: Iterable[tuple[str, Any, Any]], n_labeled: Sequence[int]
) -> Iterator[tuple[str, np.ndarray, np.ndarray, int]]:
    """Yield each pool with each number of labels that it has rows for."""
    sizes = counts(n_labeled, "n_labeled")
    for name, X, y in map(_checked_pool, items(pools, "pools")):
        if min(sizes) > len(y):
            raise ValueError(
                f"n_labeled: {name!r} has {len(y)} rows, fewer than the smallest "
                f"number of labels, {min(sizes)}; give a smaller one, or leave the "
                "pool out."
            )
        for size in sizes:
            if size <= len(y):
                yield name, X, y, size


def _labels_drawn(
    y: np.ndarray, size: int, n_repeats: int, seed: int
) -> Iterator[np.ndarray]:
    for repeat in range(n_repeats):
        rng = np.random.default_rng([seed, size, repeat])
        rows = rng.permutation(len(y))[:size]
        labels = np.full(len(y), np.nan)
        labels[rows] = y[rows]
        yield labels


def _checked_pool(pool: Any) -> tuple[str, np.ndarray, np.ndarray]:
    name, X, y = three(pool, "pools")
    X = check_vectors_of(name, X)
    return name, X, check_values(name, X, y, "labels")


def _rounding(y: np.ndarray) -> float:
    """Return by how much a mean of `y` may differ through rounding alone."""
    return 1e-12 * float(np.abs(y).max())
