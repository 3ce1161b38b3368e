"""Confidence intervals from a point estimate and its spread."""

import math

import numpy as np
from scipy import special

ALTERNATIVES = ("two-sided", "less", "greater")

# One less than a round number, so that the levels in use are ranks.
_RESAMPLES = 9_999
_BATCH = 1 << 22


def normal_interval(
    mean: float, standard_error: float, confidence_level: float, alternative: str
) -> tuple[float, float]:
    """Return the interval from the normal distribution."""
    half = standard_error * _quantile(math.inf, confidence_level, alternative)
    return _open(mean - half, mean + half, alternative, (-math.inf, math.inf))


def t_interval(
    mean: float,
    standard_error: float,
    degrees_of_freedom: float,
    confidence_level: float,
    alternative: str,
) -> tuple[float, float]:
    """Return the interval from Student's t distribution."""
    half = standard_error * _quantile(degrees_of_freedom, confidence_level, alternative)
    return _open(mean - half, mean + half, alternative, (-math.inf, math.inf))


def wilson_interval(
    rate: float, effective_n: float, confidence_level: float, alternative: str
) -> tuple[float, float]:
    """Return Wilson's score interval of a rate known from `effective_n` labels.

    The ends p solve ``(rate - p)**2 = z**2 * p * (1 - p) / effective_n``, so they lie
    in [0, 1] and differ even where all labels agree. An open end is 0 or 1.
    """
    rate = min(max(rate, 0.0), 1.0)
    z = _quantile(math.inf, confidence_level, alternative)
    centre = rate * effective_n + z * z / 2
    half = z * math.sqrt(rate * (1 - rate) * effective_n + z * z / 4)
    low, high = (
        min(max(end / (effective_n + z * z), 0.0), 1.0)
        for end in (centre - half, centre + half)
    )
    return _open(low, high, alternative, (0.0, 1.0))


def studentised_errors(
    influence: np.ndarray,
    pool_variance: float,
    n_equal_parts: float,
    rng: np.random.RandomState,
) -> np.ndarray:
    """Return errors of resampled estimates over their standard errors, ascending.

    Parameters
    ----------
    influence : ndarray of shape (n_parts,)
        What each labelled row, or group, adds to the estimate.
    pool_variance : float
        Variance of the pool's part, which is taken as normal.
    n_equal_parts : float
        How many parts of equal weight would be as many.
    rng : RandomState
    """
    n = len(influence)
    centred = influence - influence.mean()
    least = float(centred @ centred) / n_equal_parts
    errors = np.empty(_RESAMPLES)
    step = max(1, _BATCH // n)
    for start in range(0, _RESAMPLES, step):
        stop = min(start + step, _RESAMPLES)
        drawn = centred[rng.randint(n, size=(stop - start, n))]
        total = drawn.sum(axis=1)
        variance = np.einsum("ij,ij->i", drawn, drawn) - total**2 / n
        noise = math.sqrt(pool_variance) * rng.normal(size=stop - start)
        spread = np.sqrt(np.maximum(variance, least) + pool_variance)
        errors[start:stop] = (total + noise) / np.where(spread > 0, spread, 1)
    return np.sort(errors)


def bootstrap_interval(
    means: np.ndarray, confidence_level: float, alternative: str
) -> tuple[float, float]:
    """Return the percentile interval: the nulls whose p-value is not below the level.

    Parameters
    ----------
    means : ndarray of shape (n_resamples,)
        Ascending.
    confidence_level : float
    alternative : str
    """
    tail = (1 - confidence_level) / (2 if alternative == "two-sided" else 1)
    # Rounding must not move a rank that is a whole number.
    rank = math.ceil(tail * (len(means) + 1) * (1 - 1e-9)) - 1
    rank = min(max(rank, 1), len(means))
    low, high = means[rank - 1], means[-rank]
    return _open(low, high, alternative, (-math.inf, math.inf))


def bootstrap_p_value(means: np.ndarray, null_mean: float, alternative: str) -> float:
    """Return the share of the resampled means on the far side of the null."""
    below = np.searchsorted(means, null_mean, side="right")
    above = len(means) - np.searchsorted(means, null_mean, side="left")
    counts = {"greater": below, "less": above, "two-sided": 2 * min(below, above) + 1}
    return float(min(1.0, (counts[alternative] + 1) / (len(means) + 1)))


def _quantile(freedom: float, confidence_level: float, alternative: str) -> float:
    """Return how many standard errors an end is away from the estimate.

    By Student's t distribution with that freedom, which is normal where it is infinite.
    """

    def below(share: float) -> float:
        if math.isinf(freedom):
            return float(special.ndtri(share))
        return float(special.stdtrit(freedom, share))

    if alternative == "two-sided":
        return -below((1 - confidence_level) / 2)
    if confidence_level < 0.5:
        return below(confidence_level)
    return -below(1 - confidence_level)


def _open(
    low: float, high: float, alternative: str, ends: tuple[float, float]
) -> tuple[float, float]:
    """Open one end of a one-sided interval."""
    return (
        float(ends[0] if alternative == "less" else low),
        float(ends[1] if alternative == "greater" else high),
    )


def p_value_of(
    distance: float, standard_error: float, freedom: float, alternative: str
) -> float:
    """Return the p-value of an estimate that far from its value under the null."""

    def below(z: float) -> float:
        if math.isinf(freedom):
            return float(special.ndtr(z))
        return float(special.stdtr(freedom, z))

    if standard_error == 0:
        # Nothing but the null itself is possible without a spread.
        beyond = {"two-sided": distance != 0, "greater": distance > 0}
        return 0.0 if beyond.get(alternative, distance < 0) else 1.0
    z = distance / standard_error
    if alternative == "two-sided":
        return min(1.0, 2 * below(-abs(z)))
    return below(-z) if alternative == "greater" else below(z)
