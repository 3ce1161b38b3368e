"""One unbiased estimate of the winning distance from each draw of known probability."""

from dataclasses import dataclass
from typing import Self

import numpy as np

# The judge's weight before any label says otherwise, and how many draws it is worth: a
# preference that is predicted is halfway trusted.
_PRIOR_WEIGHT = 0.5
_PRIOR_DRAWS = 10


@dataclass(frozen=True, eq=False)
class Draws:
    """How the examples are drawn, and what a judge predicts of them.

    Attributes
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
    """

    order: np.ndarray
    weights: np.ndarray | None
    judge: np.ndarray | None
    n_examples: int

    @classmethod
    def uniform(cls, n_examples: int) -> Self:
        """Return draws with equal chances, in the order of the rows."""
        weights = np.full(n_examples, 1 / n_examples)
        return cls(np.arange(n_examples), weights, None, n_examples)


class Estimates:
    r"""Estimates of the mean preference of all examples, one from each draw.

    With N examples, of which draw t takes one with probability q_t, and the judge's
    weight lambda_t, which is chosen before the draw,

    .. math:: Z_t = \frac1N \Big(\sum_{s<t} y_s + \lambda_t \sum_{unseen} f_i
        + \frac{y_t - \lambda_t f_t}{q_t}\Big)

    has the mean preference as its expectation, whatever came before: the differences
    from it are those of a martingale.

    Parameters
    ----------
    draws : Draws
        With weights.

    Attributes
    ----------
    preferences, values, lows, highs : list of float
        Of each draw the preference, the estimate, and the least and the greatest value
        that the estimate could have had, known before the draw.
    least, most : float
        What the mean preference is between, since the rest is in [-1, 1].
    """

    def __init__(self, draws: Draws) -> None:
        self.preferences: list[float] = []
        self.values: list[float] = []
        self.lows: list[float] = []
        self.highs: list[float] = []
        self.least, self.most = -1.0, 1.0
        self._order = draws.order
        self._n = draws.n_examples
        self._chances = np.array(draws.weights, dtype=np.float64)
        self._inverse = 1 / self._chances
        self._total = 0.0
        self._judge = None if draws.judge is None else draws.judge.astype(np.float64)
        self._moments = np.zeros(5)
        if self._judge is not None:
            scaled = self._judge * self._inverse / self._n
            mean = self._judge.mean()
            self._judge_variance = float(self._chances @ scaled**2 - mean**2)

    def __len__(self) -> int:
        """Return the number of draws."""
        return len(self.values)

    def add(self, preference: float) -> None:
        """Take the preference of the next row of the order."""
        row, n = self._order[len(self)], self._n
        left = float(self._chances.sum())
        scale = left * self._inverse[row] / n
        self.preferences.append(preference)
        if self._judge is None:
            middle = self._total / n
            reach_low = reach_high = float(self._inverse.max()) * left / n
            self.values.append(middle + preference * scale)
        else:
            weight = self._judge_weight()
            middle = (self._total + weight * float(self._judge.sum())) / n
            predicted = weight * self._judge
            reach_low = float(((1 + predicted) * self._inverse).max()) * left / n
            reach_high = float(((1 - predicted) * self._inverse).max()) * left / n
            self.values.append(middle + (preference - predicted[row]) * scale)
            self._learn(preference * scale, self._judge[row] * scale)
            self._judge[row] = 0.0
        self.lows.append(middle - reach_low)
        self.highs.append(middle + reach_high)
        self._chances[row] = self._inverse[row] = 0.0
        self._total += preference
        others = n - len(self)
        self.least = max(self.least, (self._total - others) / n)
        self.most = min(self.most, (self._total + others) / n)

    def _learn(self, label: float, judge: float) -> None:
        self._moments += (1, label, judge, judge * judge, label * judge)

    def _judge_weight(self) -> float:
        """Regress the scaled labels so far on the scaled judge, with a prior."""
        n, label, judge, square, product = self._moments.tolist()
        n = max(n, 1.0)
        covariance = product - label * judge / n
        variance = max(square - judge * judge / n, 0.0)
        prior = _PRIOR_DRAWS * self._judge_variance
        total = variance + prior
        if total <= 0:
            return 0.0
        return float((covariance + prior * _PRIOR_WEIGHT) / total)


def combined(values: np.ndarray, n_examples: int) -> tuple[float, float]:
    r"""Average unbiased estimates, one a draw, of a number of draws fixed before.

    The estimate of draw t has the share

    .. math:: c_t \propto \frac{1}{(N - t)(N - t + 1)},

    the inverse of its variance under equal chances; without a judge this is the mean
    with the sequential weights ("LURE"), and the plain mean under equal chances.

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
