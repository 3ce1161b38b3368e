"""Closed forms of the library's estimators with one judge, for many draws at once.

A fit of the library takes a millisecond or more, and the benchmarks need millions.
These are its formulas, worked out for all draws together; `runs.in_closed_form` holds
them against the library on the first draws of every setting.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import special

# The default grid of RidgePPIMeanEstimator, the largest penalty first.
PENALTIES = np.append(np.logspace(-4, 3, 15), np.inf)[::-1]
PLUGIN_POOL_WEIGHT = 2
WILSON_PRIOR = 2
ROUNDING = 1e-12


@dataclass(frozen=True)
class Draws:
    """Labels with their judge scores, and the moments of a pool.

    Attributes
    ----------
    label_mean, score_mean, pool_mean : ndarray of shape (n_draws,)
    labels, scores : ndarray of shape (n_draws, n_labeled)
        Less their means.
    pool_squares : ndarray of shape (n_draws,)
        Sum of the squared deviations from the pool's mean.
    n_pool : int
        Number of rows of the pool.
    binary : ndarray of shape (n_draws,)
        Whether all labels are 0 or 1.
    """

    label_mean: np.ndarray
    score_mean: np.ndarray
    pool_mean: np.ndarray
    labels: np.ndarray
    scores: np.ndarray
    pool_squares: np.ndarray
    n_pool: int
    binary: np.ndarray

    @classmethod
    def of(cls, labels, scores, pool):
        """Take the means off labels and scores, and the moments of the pool."""
        label_mean, label_steps = _centred(labels)
        score_mean, score_steps = _centred(scores)
        pool_mean, pool_steps = _centred(pool)
        return cls(
            label_mean,
            score_mean,
            pool_mean,
            label_steps,
            score_steps,
            _squares(pool_steps),
            pool.shape[1],
            ((labels == 0) | (labels == 1)).all(axis=1),
        )

    @property
    def n(self):
        """Number of labels of a draw."""
        return self.labels.shape[1]

    @property
    def share(self):
        """How much of g counts if its mean is one over all rows."""
        return self.n_pool / (self.n + self.n_pool)

    @cached_property
    def score_squares(self):
        """Sum of the squared deviations of the scores."""
        return _squares(self.scores)

    @cached_property
    def products(self):
        """Sum of the products of the deviations."""
        return np.einsum("ij,ij->i", self.labels, self.scores)

    @cached_property
    def all_squares(self):
        """Sum of the squared deviations of the scores of all rows."""
        step = self.pool_mean - self.score_mean
        between = step**2 * self.n * self.share
        return self.score_squares + self.pool_squares + between

    @cached_property
    def fitted(self):
        """Whether there is a weight to fit: 1, or 0 where labels or judge agree."""
        spread = np.sqrt(self.score_squares / self.n)
        varies = spread > 1e-14 * np.abs(self.score_mean)
        return (varies & (_squares(self.labels) > 0)).astype(float)

    @cached_property
    def slopes(self):
        """Weights of ordinary least squares."""
        return self.fitted * _over(self.products, self.score_squares)

    @cached_property
    def leverages(self):
        """How much each row draws its own prediction, beside 1 / n for the mean."""
        return _over(self.scores**2, self.score_squares[:, np.newaxis])


@dataclass(frozen=True)
class Fit:
    """Fitted weights of the judge, and what follows from them.

    Attributes
    ----------
    draws : Draws
    weights : ndarray of shape (n_draws,)
    share : float
        How much of g counts.
    pull : ndarray of shape (n_draws,)
        The leverages of the fit, relative to those of ordinary least squares.
    n_weights : ndarray of shape (n_draws,)
        Degrees of freedom that the fit took.
    undecided : ndarray of shape (n_draws,), or False for none
        Where the last digit decides, and only the library can tell how.
    left_out : ndarray of shape (n_draws, n_labeled) or None
        Residuals of fits without the row; None: by the leverages.
    """

    draws: Draws
    weights: np.ndarray
    share: float
    pull: np.ndarray
    n_weights: np.ndarray
    undecided: np.ndarray | bool = False
    left_out: np.ndarray | None = None

    @property
    def means(self):
        """Return the estimates."""
        step = self.draws.pool_mean - self.draws.score_mean
        return self.draws.label_mean + self.share * self.weights * step

    @cached_property
    def _predicted(self):
        return self.weights[:, np.newaxis] * self.draws.scores

    @cached_property
    def _pool_squares(self):
        return (self.share * self.weights) ** 2 * self.draws.pool_squares

    @cached_property
    def _pool_variance(self):
        """Variance of the pool's mean of g, with the variance of g over all rows."""
        draws = self.draws
        variance = draws.all_squares / (draws.n + draws.n_pool - 1)
        return (self.share * self.weights) ** 2 * variance / draws.n_pool

    @cached_property
    def _left_out_squares(self):
        """Sum of the squared residuals, each predicted without its own label."""
        n, labels = self.draws.n, self.draws.labels
        residuals = self.left_out
        if residuals is None:
            leverages = 1 / n + self.pull[:, np.newaxis] * self.draws.leverages
            kept = np.where(leverages < 1 - 1e-13, 1 - leverages, np.inf)
            residuals = (labels - self._predicted) / kept
        return _squares((1 - self.share) * _left_out(labels) + self.share * residuals)

    def interval(self, method, level):
        """Return the ends, of shape (n_draws, 2)."""
        tail = (1 - level) / 2
        if method == "auto":
            binary = self.draws.binary[:, np.newaxis]
            return np.where(binary, self._wilson(tail), self._t(tail))
        ends = {"wilson": self._wilson, "t": self._t, "normal": self._normal}
        return ends[method](tail)

    def _normal(self, tail):
        draws = self.draws
        residuals = draws.labels - self.share * self._predicted
        variance = _squares(residuals) / draws.n**2
        variance = variance + self._pool_squares / draws.n_pool**2
        return _around(self.means, -special.ndtri(tail) * np.sqrt(variance))

    def _t(self, tail):
        n = self.draws.n
        labels = self._left_out_squares * (n - 1) / n**3
        pool = self._pool_variance
        label_freedom = np.maximum(n - 1 - self.n_weights, 1)
        # Where nothing varies any number of degrees of freedom will do.
        of_pool = _over(pool, labels + pool)
        pool_freedom = n + self.draws.n_pool - 1
        inverse = (1 - of_pool) ** 2 / label_freedom + of_pool**2 / pool_freedom
        error = np.sqrt(labels + pool)
        return _around(self.means, -special.stdtrit(1 / inverse, tail) * error)

    def _wilson(self, tail):
        """Wilson's ends; those of draws whose labels are not 0 and 1 say nothing."""
        n = self._effective_n()
        rates = np.clip(self.means, 0, 1)
        z = -special.ndtri(tail)
        half = z * np.sqrt(rates * (1 - rates) * n + z * z / 4)
        ends = _around(rates * n + z * z / 2, half) / (n + z * z)[:, np.newaxis]
        return np.clip(ends, 0, 1)

    def _effective_n(self):
        n = self.draws.n
        spread = _squares(_left_out(self.draws.labels))
        rest = self._left_out_squares + n**3 / (n - 1) * self._pool_variance
        effect = (rest + WILSON_PRIOR) / (spread + WILSON_PRIOR)
        return np.where(self.weights == 0, n, n / np.maximum(effect, 1e-12))


def alone(draws):
    """Fit nothing: the mean of the labels."""
    return _unfitted(draws, np.zeros(len(draws.labels)))


def ppi(draws):
    """Take the judge at its word."""
    return _unfitted(draws, np.ones(len(draws.labels)))


def equation_6(draws):
    """Weigh by least squares, with the mean of g over the pool alone."""
    return _unfitted(draws, draws.slopes)


def ols(draws):
    """Weigh by least squares, with the mean of g over all rows."""
    return Fit(draws, draws.slopes, draws.share, draws.fitted, draws.fitted)


def ppi_plus_plus(draws):
    """Weigh by the covariance here and the variance of all rows."""
    n, n_pool = draws.n, draws.n_pool
    scatter = draws.all_squares / (n + n_pool - 1) * (1 + n / n_pool)
    return _unfitted(draws, draws.fitted * _over(draws.products / n, scatter))


def ppi_plus_plus_clipped(draws):
    """Hold that weight in [0, 1]."""
    return _unfitted(draws, np.clip(ppi_plus_plus(draws).weights, 0, 1))


def ridge(draws):
    """Shrink by the penalty that predicts best one row left out at a time."""
    predicted = draws.slopes[:, np.newaxis] * draws.scores
    factors = 1 / (1 + PENALTIES)
    squares = np.empty((len(factors), len(predicted)))
    for row, factor in zip(squares, factors, strict=True):
        leverages = 1 / draws.n + factor * draws.leverages
        row[:] = _squares((draws.labels - factor * predicted) / (1 - leverages))
    # The first one of equally good penalties is the largest.
    kept = draws.fitted * factors[squares.argmin(axis=0)]
    least, next_to_least = np.partition(squares, 1, axis=0)[:2]
    tied = (next_to_least - least <= ROUNDING * least) & (draws.fitted > 0)
    return Fit(draws, kept * draws.slopes, draws.share, kept, kept, tied)


def ridge_plugin(draws):
    """Shrink by 1 - 1/F, with a variance that all rows have a part in."""
    n = draws.n
    everywhere = draws.all_squares / (n + draws.n_pool)
    weights, tied = _shrunk(
        n,
        draws.score_squares / n,
        draws.products / n,
        _squares(draws.labels) / n,
        everywhere,
    )
    weights = draws.fitted * weights
    return Fit(
        draws,
        weights,
        draws.share,
        draws.fitted,
        draws.fitted,
        tied & (draws.fitted > 0),
        _left_out_of_plugin(draws, everywhere[:, np.newaxis]),
    )


def _shrunk(n, here, product, labels, everywhere):
    """Return the shrunk weights, and where the last digit decides for none."""
    scatter = (n * here + PLUGIN_POOL_WEIGHT * everywhere) / (n + PLUGIN_POOL_WEIGHT)
    weights = _over(product, scatter)
    fitted = weights * product
    residual = np.maximum(labels - 2 * fitted + weights**2 * here, 0)
    noise = residual / max(n - 2, 1) * _over(here, scatter)
    factor = (1 - _over(noise, fitted)) * (fitted > 0)
    tied = (np.abs(factor) < ROUNDING) & (fitted > 0)
    return np.maximum(factor, 0) * weights, tied


def _left_out_of_plugin(draws, everywhere):
    """Return the residuals of weights and means that have not seen the row."""
    n, f, h = draws.n, draws.scores, draws.labels
    if n < 2:
        return h
    rest = n - 1
    here = (draws.score_squares[:, np.newaxis] - f * f * n / rest) / rest
    product = (draws.products[:, np.newaxis] - f * h * n / rest) / rest
    labels = (_squares(h)[:, np.newaxis] - h * h * n / rest) / rest
    weights, _ = _shrunk(rest, here, product, labels, everywhere)
    largest = np.maximum((draws.score_squares / n)[:, np.newaxis], everywhere)
    usable = (here > 1e-10 * largest) & (draws.fitted[:, np.newaxis] > 0)
    weights = np.where(usable & (rest >= 3), weights, 0)
    return (h - weights * f) * n / rest


def _unfitted(draws, weights):
    """Take weights as if they were given: the whole of g counts."""
    nothing = np.zeros(len(weights))
    return Fit(draws, weights, 1.0, nothing, nothing)


def _centred(values):
    """Return the mean of each draw, and the values less it: 0 where all agree."""
    first = values[:, :1]
    steps = values - first
    step = steps.mean(axis=1, keepdims=True)
    return (first + step)[:, 0], steps - step


def _left_out(labels):
    """Return deviations from the mean of the others."""
    return labels / (1 - 1 / labels.shape[1])


def _squares(values):
    return np.einsum("ij,ij->i", values, values)


def _over(values, divisors):
    """Divide; zero where the divisor is."""
    return np.where(divisors > 0, values, 0) / np.where(divisors > 0, divisors, 1)


def _around(centres, halves):
    return np.stack([centres - halves, centres + halves], axis=1)
