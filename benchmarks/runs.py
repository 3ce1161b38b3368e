"""What the benchmarks share: the estimators, options, parallel runs, comparisons."""

import numpy as np
import polars as pl
from joblib import parallel_config
from sklearn import config_context
from sklearn.utils.parallel import Parallel, delayed

from benchmarks import batch
from benchmarks.tables import RESULTS
from skdiffuse import (
    PoolMoments,
    PPIMeanEstimator,
    RidgePPIMeanEstimator,
    SigmoidPPIMeanEstimator,
)

LEVEL = 0.95
ALONE = "labels alone"
ESTIMATORS = {
    ALONE: PPIMeanEstimator(0.0),
    "PPI": PPIMeanEstimator(1.0),
    "ols": PPIMeanEstimator("ols"),
    "ppi++ clipped": PPIMeanEstimator("ppi++", clip=True),
    "ppi++": PPIMeanEstimator("ppi++"),
    "Ridge": RidgePPIMeanEstimator(),
    "Ridge plug-in": RidgePPIMeanEstimator(penalty="plugin"),
    "Ridge cv=5": RidgePPIMeanEstimator(cv=5),
    "Sigmoid": SigmoidPPIMeanEstimator(),
}
CLOSED_FORMS = {
    ALONE: batch.alone,
    "PPI": batch.ppi,
    "eq. 6": batch.equation_6,
    "ols": batch.ols,
    "ppi++ clipped": batch.ppi_plus_plus_clipped,
    "ppi++": batch.ppi_plus_plus,
    "Ridge": batch.ridge,
    "Ridge plug-in": batch.ridge_plugin,
}
# So many draws of each setting are fitted by the library too.
CHECKED = 20
TOLERANCE = 1e-9
QUICK_TASKS = 12


def run_all(study, tasks, options):
    """Return the records of ``study(*task)`` for all tasks, in their order."""
    with (
        config_context(assume_finite=True, skip_parameter_validation=True),
        parallel_config("loky", n_jobs=options.jobs, inner_max_num_threads=1),
    ):
        parts = Parallel(batch_size=1)(delayed(study)(*task) for task in tasks)
    return pl.DataFrame([record for part in parts for record in part])


def make(name, options, study, tasks):
    """Make the table of a study and write it; of a few tasks with ``--quick``.

    Returns
    -------
    bool
        Whether there are summaries to make.
    """
    if options.summary_only:
        return True
    tasks = list(tasks(options))
    if options.quick:
        print(run_all(study, tasks[:: len(tasks) // QUICK_TASKS + 1], options))
        return False
    RESULTS.mkdir(exist_ok=True)
    run_all(study, tasks, options).write_csv(path(name))
    return True


def read(name):
    """Return the table of a study."""
    return pl.read_csv(path(name))


def path(name):
    """Return where the table of a study is."""
    return RESULTS / f"{name}.csv"


def by_library(sample, methods):
    """Return means, of shape (draws, methods), and interval ends, with 2 more.

    A method is the name of an estimator, and the method of its interval or None.
    """
    means = np.full((len(sample), len(methods)), np.nan)
    ends = np.full((len(sample), len(methods), 2), np.nan)
    for draw, rows in enumerate(sample):
        fits = {name: _fit(name, *rows) for name, _ in methods}
        for column, (name, interval) in enumerate(methods):
            means[draw, column] = fits[name].mean_
            if interval:
                ends[draw, column] = fits[name].confidence_interval(
                    LEVEL, method=interval
                )
    return means, ends


def _fit(name, X, y, pool):
    if name == "eq. 6":
        # A weight that is given leaves the labelled rows out of the mean of g.
        weight = _fit("ols", X, y, pool).lambda_.item()
        return PPIMeanEstimator(weight).fit(X, y, pool=pool)
    # A linear g sees no more of the pool than its moments.
    pool = pool if name == "Sigmoid" else PoolMoments.of(pool)
    return ESTIMATORS[name].fit(X, y, pool=pool)


def in_closed_form(sample, methods):
    """Return the same for all draws at once, and the difference to the library.

    The difference is the largest one of the first draws, relative to the range of the
    labels; there is one judge.
    """
    draws = batch.Draws.of(sample.labels, sample.scores[..., 0], sample.pool[..., 0])
    fits = {name: CLOSED_FORMS[name](draws) for name, _ in methods}
    means = np.stack([fits[name].means for name, _ in methods], axis=1)
    ends = np.full((*means.shape, 2), np.nan)
    for column, (name, interval) in enumerate(methods):
        if interval:
            ends[:, column] = fits[name].interval(interval, LEVEL)
        rows = fits[name].undecided
        if np.any(rows):
            fitted = by_library(sample.take(rows), [(name, interval)])
            means[rows, column], ends[rows, column] = (part[:, 0] for part in fitted)
    first = by_library(sample.take(slice(CHECKED)), methods)
    difference = max(
        difference_of_first(sample, ours, theirs)
        for ours, theirs in zip((means, ends), first, strict=True)
    )
    return means, ends, difference


def difference_of_first(sample, ours, theirs):
    """Return by how much `theirs` differs from the first draws of `ours`.

    Raises
    ------
    ArithmeticError
        If that is more than rounding.
    """
    ours = ours[: len(theirs)]
    undefined = np.isnan(ours) & np.isnan(theirs)
    differences = np.where(undefined, 0, np.abs(ours - theirs))
    difference = differences.max() / np.ptp(sample.labels)
    if not difference <= TOLERANCE:
        raise ArithmeticError(f"the closed form differs by {difference:g}")
    return difference


def say_difference(table):
    """Print how well the closed forms agree with the library."""
    print(f"largest difference to the library: {table['difference'].max():.1e}")


def coverage(ends, truth):
    """Return how often intervals hold the truth, and how wide they are.

    Undefined ends hold nothing and do not count for the width.
    """
    low, high = ends.T
    share = np.mean((low <= truth) & (truth <= high))
    defined = ~np.isnan(high - low)
    return {
        "coverage": round(share, 4),
        "coverage_error": round(np.sqrt(share * (1 - share) / len(ends)), 4),
        "mean_width": _digits((high - low)[defined].mean()),
        "zero_width": round(np.mean(high - low < 1e-12), 4),
        "undefined": round(np.mean(~defined), 4),
    }


def compare_errors(errors, names, rivals=()):
    """Yield for each method its mean error, relative to the labels alone.

    Standard errors are those of paired trials, the ratio's by the delta method. For
    each rival there is the difference of the mean errors too.
    """
    alone = errors[:, names.index(ALONE)]
    for name, error in zip(names, errors.T, strict=True):
        ratio = error.mean() / alone.mean()
        record = {
            "method": name,
            "trials": len(errors),
            "mean_error": _digits(error.mean()),
            "ratio": _digits(ratio),
            "ratio_error": _digits(_deviation(error - ratio * alone) / alone.mean()),
        }
        for rival in rivals:
            difference = error - errors[:, names.index(rival)]
            record[f"minus {rival}"] = _digits(difference.mean())
            record[f"minus {rival} error"] = _digits(_deviation(difference))
        yield record


def _deviation(values):
    """Return the standard error of a mean."""
    return values.std(ddof=1) / np.sqrt(len(values))


def _digits(value):
    return float(f"{value:.4g}")
