"""Confidence intervals from a point estimate and its spread."""

import math
from typing import Any

from scipy import stats

ALTERNATIVES = ("two-sided", "less", "greater")


def normal_interval(
    mean: float, standard_error: float, confidence_level: float, alternative: str
) -> tuple[float, float]:
    """Return the interval from the normal distribution."""
    half = standard_error * _quantile(stats.norm, confidence_level, alternative)
    return _open(mean - half, mean + half, alternative, (-math.inf, math.inf))


def t_interval(
    mean: float,
    standard_error: float,
    degrees_of_freedom: float,
    confidence_level: float,
    alternative: str,
) -> tuple[float, float]:
    """Return the interval from Student's t distribution."""
    distribution = stats.t(degrees_of_freedom)
    half = standard_error * _quantile(distribution, confidence_level, alternative)
    return _open(mean - half, mean + half, alternative, (-math.inf, math.inf))


def wilson_interval(
    rate: float, effective_n: float, confidence_level: float, alternative: str
) -> tuple[float, float]:
    """Return Wilson's score interval of a rate known from `effective_n` labels.

    The ends p solve ``(rate - p)**2 = z**2 * p * (1 - p) / effective_n``, so they lie
    in [0, 1] and differ even where all labels agree. An open end is 0 or 1.
    """
    rate = min(max(rate, 0.0), 1.0)
    z = _quantile(stats.norm, confidence_level, alternative)
    centre = rate * effective_n + z * z / 2
    half = z * math.sqrt(rate * (1 - rate) * effective_n + z * z / 4)
    low, high = (
        min(max(end / (effective_n + z * z), 0.0), 1.0)
        for end in (centre - half, centre + half)
    )
    return _open(low, high, alternative, (0.0, 1.0))


def _quantile(distribution: Any, confidence_level: float, alternative: str) -> float:
    """Return how many standard errors an end is away from the estimate."""
    if alternative == "two-sided":
        return float(distribution.isf((1 - confidence_level) / 2))
    if confidence_level < 0.5:
        return float(distribution.ppf(confidence_level))
    return float(distribution.isf(1 - confidence_level))


def _open(
    low: float, high: float, alternative: str, ends: tuple[float, float]
) -> tuple[float, float]:
    """Open one end of a one-sided interval."""
    return (
        float(ends[0] if alternative == "less" else low),
        float(ends[1] if alternative == "greater" else high),
    )


def p_value_of(
    distance: float, standard_error: float, distribution: Any, alternative: str
) -> float:
    """Return the p-value of an estimate that far from its value under the null."""
    if standard_error == 0:
        # Nothing but the null itself is possible without a spread.
        beyond = {"two-sided": distance != 0, "greater": distance > 0}
        return 0.0 if beyond.get(alternative, distance < 0) else 1.0
    z = distance / standard_error
    if alternative == "two-sided":
        return float(min(1.0, 2 * distribution.sf(abs(z))))
    return float(
        distribution.sf(z) if alternative == "greater" else distribution.cdf(z)
    )
