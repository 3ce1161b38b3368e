"""Confidence intervals from a point estimate and its spread."""

import math

from scipy import stats

ALTERNATIVES = ("two-sided", "less", "greater")


def tails(confidence_level: float, alternative: str) -> tuple[float, float]:
    """Split the error between the lower and the upper end.

    Returns
    -------
    tuple of float
        The probability to miss below the lower and above the upper end; zero for an
        end that is left open.
    """
    error = 1 - confidence_level
    return {
        "two-sided": (error / 2, error / 2),
        "greater": (error, 0.0),
        "less": (0.0, error),
    }[alternative]


def normal_interval(
    mean: float, standard_error: float, confidence_level: float, alternative: str
) -> tuple[float, float]:
    """Return the interval from the normal distribution."""
    return _symmetric(mean, standard_error, stats.norm, confidence_level, alternative)


def t_interval(
    mean: float,
    standard_error: float,
    degrees_of_freedom: float,
    confidence_level: float,
    alternative: str,
) -> tuple[float, float]:
    """Return the interval from Student's t distribution."""
    distribution = stats.t(degrees_of_freedom)
    return _symmetric(mean, standard_error, distribution, confidence_level, alternative)


def wilson_interval(
    rate: float, effective_n: float, confidence_level: float, alternative: str
) -> tuple[float, float]:
    """Return Wilson's score interval of a rate known from `effective_n` labels.

    The ends p solve ``(rate - p)**2 = z**2 * p * (1 - p) / effective_n``, so they lie
    in [0, 1] and differ even where all labels agree. An open end is 0 or 1.
    """
    rate = min(max(rate, 0.0), 1.0)
    low_tail, high_tail = tails(confidence_level, alternative)
    return (
        _wilson_end(rate, effective_n, low_tail, -1) if low_tail else 0.0,
        _wilson_end(rate, effective_n, high_tail, +1) if high_tail else 1.0,
    )


def _wilson_end(rate: float, n: float, tail: float, side: int) -> float:
    z = stats.norm.isf(tail)
    half = z * math.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n))
    end = (rate + z * z / (2 * n) + side * half) / (1 + z * z / n)
    return float(min(max(end, 0.0), 1.0))


def _symmetric(
    mean: float,
    standard_error: float,
    distribution: object,
    confidence_level: float,
    alternative: str,
) -> tuple[float, float]:
    low_tail, high_tail = tails(confidence_level, alternative)
    quantile = distribution.isf  # type: ignore[attr-defined]
    return (
        float(mean - quantile(low_tail) * standard_error) if low_tail else -math.inf,
        float(mean + quantile(high_tail) * standard_error) if high_tail else math.inf,
    )
