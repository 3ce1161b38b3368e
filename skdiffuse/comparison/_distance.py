"""The winning distance with an interval, from examples of known probability."""

import math
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, Self

import numpy as np

from skdiffuse._validation import check_finite_rows, check_level
from skdiffuse.comparison._betting import surviving
from skdiffuse.comparison._draws import Estimates, combined, estimates_of_draws
from skdiffuse.ppi._intervals import t_interval, wilson_interval

# As in the interval of a mean: labels by which the spread of a few is drawn towards
# the largest that they could have.
_PRIOR = 4.0


@dataclass(frozen=True)
class WinningDistance:
    """How far A is ahead of B, with an interval.

    Attributes
    ----------
    mean : float
        P(A wins) - P(B wins) over all examples, estimated; positive where A is ahead.
    low, high : float
        The ends of the interval.
    standard_error : float
        Of `mean`; NaN for a confidence sequence, which has none.
    method : str
        ``"exact"``: all examples were judged. ``"fixed sample"``: draws of known
        probability, in a number that was fixed before. ``"strata"``: one random
        example of each cluster, in a number that was fixed before. ``"confidence
        sequence"``: draws of known probability up to any moment.
    confidence_level : float
        Of the interval; that of a confidence sequence is the probability that the
        intervals after all annotations hold.
    """

    mean: float
    low: float
    high: float
    standard_error: float
    method: str
    confidence_level: float

    def __repr__(self) -> str:
        return (
            f"<WinningDistance: {self.mean:+.3f}, {self.confidence_level:g} interval "
            f"{self.low:+.3f} to {self.high:+.3f} ({self.method})>"
        )

    def times(self, share: float) -> Self:
        """Return the distance over more examples, the others of which are ties."""
        return replace(
            self,
            mean=share * self.mean,
            low=share * self.low,
            high=share * self.high,
            standard_error=share * self.standard_error,
        )


def exact(preferences: np.ndarray, confidence_level: float) -> WinningDistance:
    """Return the distance where every example is judged."""
    mean = math.fsum(preferences) / len(preferences)
    return WinningDistance(mean, mean, mean, 0.0, "exact", confidence_level)


def distance_of_sample(
    preferences: Any,
    n_examples: int,
    *,
    draw_probabilities: Any = None,
    inclusion_probabilities: Any = None,
    confidence_level: float = 0.95,
) -> WinningDistance:
    """Estimate the winning distance from a sample that was judged elsewhere.

    The number of judged examples must have been fixed before, and all of them judged.
    `PreferenceComparison.winning_distance` does this for its own.

    Parameters
    ----------
    preferences : array-like of shape (n,)
        The preferences, in the order of the draws.
    n_examples : int
        How many examples they were drawn from.
    draw_probabilities : array-like of shape (n,), default=None
        The probability with which each was drawn among those left, as
        `draw_probabilities_` of a selector has it. None for equal ones.
    inclusion_probabilities : array-like of shape (n,), default=None
        Instead of these: 1 / size of the cluster from which each was picked at random,
        as `inclusion_probabilities_` of
        ``DiffUseSelector(representative="random")`` has it.
    confidence_level : float, default=0.95
        Between 0 and 1, exclusive.

    Returns
    -------
    WinningDistance
        The signed estimate with its interval.

    Raises
    ------
    ValueError
        If the lengths differ, there are more preferences than examples, both kinds of
        probabilities are given, or a number is out of its range.

    Examples
    --------
    >>> from skdiffuse.comparison import distance_of_sample
    >>> distance_of_sample([1, 0, 1, -1, 1, 0, 1, 1], 200)
    <WinningDistance: +0.500, 0.95 interval -0.101 to +0.834 (fixed sample)>
    """
    values = _numbers(preferences, "preferences")
    n = len(values)
    check_level(confidence_level, "distance_of_sample")
    if not isinstance(n_examples, Integral) or not n <= n_examples < 1e15:
        raise ValueError(
            f"n_examples={n_examples!r}, but there are {n} preferences; give the "
            "number of all examples that they were drawn from."
        )
    if inclusion_probabilities is not None:
        if draw_probabilities is not None:
            raise ValueError(
                "draw_probabilities and inclusion_probabilities are of different "
                "designs; give one of them."
            )
        chances = _checked(inclusion_probabilities, n, "inclusion_probabilities")
        total = float((1 / chances).sum())
        if not math.isclose(total, n_examples, rel_tol=1e-6):
            raise ValueError(
                f"inclusion_probabilities stand for {total:.6g} examples, not for "
                f"n_examples={n_examples}; give those of one random example a cluster."
            )
        return of_strata(values, 1 / chances, confidence_level)
    if n == n_examples:
        return exact(values, confidence_level)
    chances = 1 / (n_examples - np.arange(n))
    if draw_probabilities is not None:
        chances = _checked(draw_probabilities, n, "draw_probabilities")
    estimates = estimates_of_draws(values, chances, n_examples)
    return of_fixed_sample(values, estimates, n_examples, confidence_level)


def of_fixed_sample(
    preferences: np.ndarray,
    values: np.ndarray,
    n_examples: int,
    confidence_level: float,
) -> WinningDistance:
    """Combine unbiased estimates from a number of draws that was fixed before."""
    n = len(values)
    mean, variance = combined(values, n_examples)
    error = math.sqrt(variance) if n > 1 else math.nan
    unsampled = 1 - n / n_examples
    if np.abs(preferences).max() > 1:
        low, high = _of_any_preferences(mean, error, n, confidence_level)
    else:
        mean = min(max(mean, -1.0), 1.0)
        # What the sum of squares of that many labels from a large pool would be.
        squares = variance * n * (n - 1) / unsampled
        low, high = _score_interval(mean, squares, n, unsampled / n, confidence_level)
        # What all the preferences agree with is not excluded.
        low = -1.0 if preferences.max() == -1 else low
        high = 1.0 if preferences.min() == 1 else high
    return WinningDistance(mean, low, high, error, "fixed sample", confidence_level)


def of_strata(
    preferences: np.ndarray, sizes: np.ndarray, confidence_level: float
) -> WinningDistance:
    """Estimate the distance from one random example of each stratum.

    One label tells nothing of how its stratum varies: each is taken to vary as much as
    all examples together.
    """
    n, shares = len(preferences), sizes / sizes.sum()
    if (sizes <= 1).all():
        return exact(preferences, confidence_level)
    mean = float(shares @ preferences)
    factor = float(shares**2 @ (1 - 1 / sizes))
    squares = n * float(shares @ (preferences - mean) ** 2)
    error = math.sqrt(squares / max(n - 1, 1) * factor) if n > 1 else math.nan
    if np.abs(preferences).max() > 1:
        low, high = _of_any_preferences(mean, error, n, confidence_level)
    else:
        low, high = _score_interval(mean, squares, n, factor, confidence_level)
    return WinningDistance(mean, low, high, error, "strata", confidence_level)


def at_any_time(
    preferences: np.ndarray, estimates: Estimates, n_examples: int, level: float
) -> WinningDistance:
    """Bound the distance after draws whose number depends on the preferences."""
    if np.abs(preferences).max() > 1:
        raise ValueError(
            "a confidence sequence needs preferences in [-1, 1], and one is "
            f"{preferences[np.argmax(np.abs(preferences))]:g}; divide all of them by "
            "their largest possible size."
        )
    low, high = surviving(estimates, 1 - level)
    mean, _ = combined(np.array(estimates.values), n_examples)
    mean = min(max(mean, low), high)
    return WinningDistance(mean, low, high, math.nan, "confidence sequence", level)


def _numbers(values: Any, name: str) -> np.ndarray:
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{name} is no array of numbers ({error}).") from error
    if numbers.ndim != 1 or len(numbers) == 0:
        raise ValueError(
            f"{name} has shape {numbers.shape}; give one number a judged example."
        )
    check_finite_rows(numbers, name, "give one finite number a judged example")
    return numbers


def _checked(probabilities: Any, n: int, name: str) -> np.ndarray:
    chances = _numbers(probabilities, name)
    if len(chances) != n or not ((chances > 0) & (chances <= 1)).all():
        raise ValueError(
            f"{name} must be {n} numbers in (0, 1], one for each preference."
        )
    return chances


def _score_interval(
    mean: float, squares: float, n: int, factor: float, confidence_level: float
) -> tuple[float, float]:
    """Return Wilson's interval of a distance, as of a rate between -1 and 1.

    Parameters
    ----------
    mean : float
    squares : float
        Sum of squared deviations of `n` labels.
    n : int
    factor : float
        The variance of the mean over that of a label.
    confidence_level : float
    """
    rate = (1 + mean) / 2
    guess = (n * rate + 2) / (n + 4)
    prior = _PRIOR * guess * (1 - guess)
    # The variance of the labels relative to that of labels that are all -1 or 1.
    spread = (squares / 4 + prior) / (n * rate * (1 - rate) + prior)
    low, high = wilson_interval(
        rate, 1 / (factor * spread), confidence_level, "two-sided"
    )
    return 2 * low - 1, 2 * high - 1


def _of_any_preferences(
    mean: float, error: float, n: int, confidence_level: float
) -> tuple[float, float]:
    if n < 2:
        raise ValueError(
            "a single preference outside [-1, 1] tells nothing of their spread; judge "
            "at least 2 examples."
        )
    return t_interval(mean, error, n - 1, confidence_level, "two-sided")
