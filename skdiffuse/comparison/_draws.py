"""One unbiased estimate of the winning distance from each draw of known probability."""

from array import array
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from skdiffuse._validation import check_judge

# The judge's weight before any label says otherwise, and how many draws it is worth: a
# preference that is predicted is halfway trusted.
_PRIOR_WEIGHT = 0.5
_PRIOR_DRAWS = 10
# As if so many draws had shown the mean preference to be zero.
_PRIOR_OF_MEAN = 1.0
# How far beyond the mean an estimate may reach, in units of a preference, for the sake
# of the judge: a longer reach allows smaller bets only.
_REACH = 1.5


@dataclass(frozen=True, eq=False)
class Draws:
    """How the examples are drawn, and what a judge predicts of them.

    Parameters
    ----------
    order : ndarray of shape (n_ordered,)
        The examples in the order of annotation, by their place in the pool.
    weights : ndarray of shape (n_examples,) or None
        The share of each in the first draw; each next one is drawn among those left in
        proportion. None if the order is not drawn so.
    judge : ndarray of shape (n_examples,) or None
        Predicted preferences in [-1, 1].
    n_examples : int
        Number of all examples.

    Raises
    ------
    ValueError
        If `order` does not hold different places, a weight is not positive and finite,
        or `judge` is not in [-1, 1].

    Examples
    --------
    Two of three examples, the first of which is drawn twice as readily:

    >>> from skdiffuse.comparison import Draws
    >>> draws = Draws([0, 2], [0.5, 0.25, 0.25], judge=[1, 0, -1], n_examples=3)
    >>> draws.weights.sum()
    np.float64(1.0)
    """

    order: np.ndarray
    weights: np.ndarray | None
    judge: np.ndarray | None
    n_examples: int

    def __post_init__(self) -> None:
        """Check and convert what was given."""
        n = self.n_examples
        _check_count(n)
        object.__setattr__(self, "order", _checked_order(self.order, n))
        if self.weights is not None:
            object.__setattr__(self, "weights", _checked_weights(self.weights, n))
        if self.judge is not None:
            object.__setattr__(self, "judge", check_judge(self.judge, n))

    @classmethod
    def uniform(cls, n_examples: int) -> Self:
        """Return draws with equal chances, in the order of the rows."""
        _check_count(n_examples)
        weights = np.full(n_examples, 1 / n_examples)
        return cls(np.arange(n_examples), weights, None, n_examples)


class Estimates:
    r"""Estimates of the mean preference of all examples, one from each draw.

    With N examples, of which draw t takes one with probability q_t, and predictions g
    that are made before the draw,

    .. math:: Z_t = \frac1N \Big(\sum_{s<t} y_s + \sum_{unseen} g_i
        + \frac{y_t - g_t}{q_t}\Big)

    has the mean preference as its expectation, whatever came before: the differences
    from it are those of a martingale. The predictions are the judge's, times a weight
    that is learned from the draws before; for `values` plus the mean of the rest, and
    for bets held within a reach.

    Parameters
    ----------
    draws : Draws
        With weights.

    Attributes
    ----------
    preferences : array of float
        The preferences so far.
    values : array of float
        Of each draw the estimate to be averaged.
    least, most : float
        What the mean preference is between, since the rest is in [-1, 1].
    """

    def __init__(self, draws: Draws) -> None:
        if draws.weights is None:
            raise ValueError(
                "draws have no weights: the order was not one of draws with known "
                "probabilities."
            )
        # Arrays of this kind are appended to and copied without looking at each number.
        self.preferences = array("d")
        self.values = array("d")
        self._bets = array("d")
        self.least, self.most = -1.0, 1.0
        self._n = draws.n_examples
        order = draws.order
        inverse = 1 / draws.weights
        never = np.ones(self._n, dtype=bool)
        never[order] = False
        # Of the rows that are left at each draw, those never ordered come last.
        self._left = _sums_from(draws.weights, order, never)
        self._inverse_drawn = inverse[order]
        largest = np.append(self._inverse_drawn, inverse[never].max(initial=0.0))
        self._largest = np.maximum.accumulate(largest[::-1])[::-1]
        self._total = 0.0
        self._sums = [0.0] * 6
        self._judge: np.ndarray | None = None
        if draws.judge is not None:
            self._unseen = _sums_from(draws.judge, order, never)
            scaled = draws.judge * inverse / self._n
            mean = float(draws.judge.mean())
            self._judge_variance = float(draws.weights @ scaled**2) - mean**2
            # A judge that knows few answers makes few kinds of rows.
            kinds, kind_of_row, counts = np.unique(
                draws.weights + 1j * draws.judge,
                return_inverse=True,
                return_counts=True,
            )
            self._kinds, self._counts = kind_of_row[order], counts.astype(np.float64)
            self._judge, self._inverse = kinds.imag.copy(), 1 / kinds.real
            # How large a prediction may be without reaching further than that.
            reach = max(float(inverse.max()), _REACH * self._n)
            self._room = reach * kinds.real - 1

    def __len__(self) -> int:
        """Return the number of draws."""
        return len(self.values)

    def add(self, preference: float) -> None:
        """Take the preference of the next row of the order."""
        t, n = len(self), self._n
        left = float(self._left[t])
        scale = left * float(self._inverse_drawn[t]) / n
        weight = self._judge_weight()
        judge = unseen = 0.0
        if self._judge is not None:
            judge, unseen = float(self._judge[self._kinds[t]]), float(self._unseen[t])
        level = self._level(weight)
        others = n - t
        value = (self._total + weight * unseen + level * others) / n
        value += (preference - weight * judge - level) * scale
        bets = self._bets_on(preference, weight, left, scale)
        terms = (
            1.0,
            scale,
            preference * scale,
            judge * scale,
            judge * judge * (scale * scale),
            preference * judge * (scale * scale),
        )
        self._sums = [a + b for a, b in zip(self._sums, terms, strict=True)]
        self._total += preference
        if self._judge is not None:
            kind = self._kinds[t]
            self._counts[kind] -= 1
            if self._counts[kind] == 0:
                self._inverse[kind] = 0.0
        self.least = max(self.least, (self._total - others + 1) / n)
        self.most = min(self.most, (self._total + others - 1) / n)
        self.preferences.append(preference)
        self._bets.extend(bets)
        self.values.append(value)

    def bets(self, first: int = 0) -> np.ndarray:
        """Return what can be bet on of each draw from a `first` one on.

        Returns
        -------
        ndarray of shape (4, n_draws)
            The estimates for bets on A and the least values that they could have had,
            and the estimates for bets on B and their greatest values.
        """
        return np.array(self._bets[4 * first :]).reshape(-1, 4).T

    def precede(self, preferences: np.ndarray) -> bool:
        """Tell whether these preferences begin with those so far."""
        return np.array_equal(np.array(self.preferences), preferences[: len(self)])

    def _bets_on(
        self, preference: float, weight: float, left: float, scale: float
    ) -> tuple[float, float, float, float]:
        """Return the estimates for bets, and how far they could have gone."""
        n = self._n
        if self._judge is None:
            reach = float(self._largest[len(self)]) * left / n
            middle = self._total / n
            value = middle + preference * scale
            return value, middle - reach, value, middle + reach
        kind, predicted = self._kinds[len(self)], weight * self._judge
        ends = []
        for sign in (1.0, -1.0):
            # A's win where B's was predicted is what bets on B have to bear.
            if sign > 0:
                held = np.minimum(predicted, self._room)
            else:
                held = np.maximum(predicted, -self._room)
            middle = (self._total + float((self._counts * held).sum())) / n
            value = middle + (preference - float(held[kind])) * scale
            held *= sign * self._inverse
            held += self._inverse
            reach = float(held.max()) * left / n
            ends += [value, middle - sign * reach]
        return ends[0], ends[1], ends[2], ends[3]

    def _judge_weight(self) -> float:
        """Regress the scaled labels so far on the scaled judge, with a prior."""
        if self._judge is None:
            return 0.0
        n, _, label, judge, square, product = self._sums
        n = max(n, 1.0)
        covariance = product - label * judge / n
        variance = max(square - judge * judge / n, 0.0)
        prior = _PRIOR_DRAWS * max(self._judge_variance, 0.0)
        total = variance + prior
        if total <= 0:
            return 0.0
        return (covariance + prior * _PRIOR_WEIGHT) / total

    def _level(self, weight: float) -> float:
        """Return the weighted mean of what the judge leaves of the labels so far."""
        _, ones, label, judge, *_ = self._sums
        return (label - weight * judge) / (ones + _PRIOR_OF_MEAN)


def after(
    estimates: Estimates | None, preferences: np.ndarray, draws: Draws
) -> Estimates:
    """Return the estimates after these preferences, from those of the last look."""
    if estimates is None or not estimates.precede(preferences):
        estimates = Estimates(draws)
    for preference in preferences[len(estimates) :].tolist():
        estimates.add(preference)
    return estimates


def _sums_from(values: np.ndarray, order: np.ndarray, never: np.ndarray) -> np.ndarray:
    """Sum at each place of the order what it and the later ones and `never` have."""
    last_first = np.append(values[never].sum(), values[order][::-1])
    # Equal numbers are rounded to the same side again and again.
    return np.cumsum(last_first, dtype=np.longdouble)[:0:-1].astype(np.float64)


def estimates_of_draws(
    preferences: np.ndarray, chances: np.ndarray, n_examples: int
) -> np.ndarray:
    """Return the `values` of `Estimates` without a judge, from known chances."""
    n = len(preferences)
    scale = 1 / (n_examples * chances)
    weighted, ones = np.cumsum(preferences * scale), np.cumsum(scale)
    level = (weighted - preferences * scale) / (ones - scale + _PRIOR_OF_MEAN)
    before = np.cumsum(preferences) - preferences
    left = n_examples - np.arange(n)
    return (before + level * left) / n_examples + (preferences - level) * scale


def combined(values: np.ndarray, n_examples: int) -> tuple[float, float]:
    r"""Average unbiased estimates, one a draw, of a number of draws fixed before.

    The estimate of draw t has the share

    .. math:: c_t \propto \frac{1}{(N - t)(N - t + 1)},

    the inverse of its variance under equal chances; without predictions this is the
    mean with the sequential weights ("LURE"), and the plain mean under equal chances.

    Parameters
    ----------
    values : ndarray of shape (n_draws,)
        Fewer than `n_examples`.
    n_examples : int

    Returns
    -------
    mean, variance : float
        The variance of the mean, unbiased under equal chances and for few draws of
        many; 0 for a single draw.
    """
    n = len(values)
    left = n_examples - np.arange(n, dtype=np.float64)
    shares = 1 / (left * (left - 1))
    shares /= shares.sum()
    mean = float(shares @ values)
    if n == 1:
        return mean, 0.0
    return mean, float(shares @ (values - mean) ** 2) / (n - 1)


def _check_count(n_examples: Any) -> None:
    if not isinstance(n_examples, int | np.integer) or n_examples < 1:
        raise ValueError(f"n_examples={n_examples!r} is not a number of examples.")


def _checked_order(order: Any, n_examples: int) -> np.ndarray:
    places = np.asarray(order)
    if places.ndim != 1 or (places.size and places.dtype.kind not in "iu"):
        raise ValueError(
            f"order has shape {places.shape} and type {places.dtype}; give the places "
            "of examples, as whole numbers."
        )
    places = places.astype(np.intp)
    outside = places[(places < 0) | (places >= n_examples)]
    if len(outside) or len(np.unique(places)) < len(places):
        what = f"the place {outside[0]}" if len(outside) else "a place twice"
        raise ValueError(
            f"order holds {what}; give different places from 0 to {n_examples - 1}."
        )
    return places


def _checked_weights(weights: Any, n_examples: int) -> np.ndarray:
    try:
        values = np.array(weights, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"draw_weights_ are no numbers ({error}).") from error
    if values.shape != (n_examples,):
        raise ValueError(
            f"draw_weights_ has shape {values.shape}, but there are {n_examples} "
            "examples; give one weight for each."
        )
    bad = np.flatnonzero(~((values > 0) & (values < np.inf)))
    if len(bad):
        raise ValueError(
            f"draw_weights_ holds {values[bad[0]]:g} for example {bad[0]}; each needs "
            "a positive weight, since an example that cannot be drawn tells nothing."
        )
    values = values / values.max()
    return values / values.sum()
