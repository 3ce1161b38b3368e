"""Draws without replacement with known chances: orders, probabilities, weights."""

import numpy as np
from scipy.optimize import brentq


def draw_in_order(weights: np.ndarray, rng: np.random.RandomState) -> np.ndarray:
    """Draw all rows one after the other, each among those left by their weights.

    Gumbel noise on the logarithms makes all draws at once, and the same row the next
    one for every budget.
    """
    keys = np.log(weights) + rng.gumbel(size=len(weights))
    return np.argsort(-keys, kind="stable").astype(np.intp)


def next_draw_probabilities(weights: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Return with which probability each row of an order was drawn when it was."""
    drawn = weights[order]
    # From the end, so that what is left is not the difference of two large sums.
    return drawn / np.cumsum(drawn[::-1])[::-1]


def inclusion_probabilities(weights: np.ndarray, k: int) -> np.ndarray:
    """Approximate the probabilities to be among the first `k` draws.

    A row waits for an exponential time of mean 1 / weight, and the first `k` are drawn;
    in place of the random moment at which they are, the one is taken at which `k` are
    expected.
    """
    n = len(weights)
    if k >= n:
        return np.ones(n)
    if weights.min() == weights.max():
        return np.full(n, k / n)
    scaled = weights / weights.mean()

    def surplus(log_time: float) -> float:
        return float(-np.expm1(-scaled * np.exp(log_time)).sum() - k)

    # All are drawn when the rarest has waited for long; none at the start.
    last = np.log(50.0 + np.log(n)) - np.log(scaled.min())
    log_time = brentq(surplus, -50.0, last, xtol=1e-12)
    return -np.expm1(-scaled * np.exp(log_time))


def sequential_weights(probabilities: np.ndarray, n_examples: int) -> np.ndarray:
    r"""Return the weights that make the mean of the first draws unbiased.

    With :math:`q_t` the probability of draw t of n among N rows,

    .. math:: v_t = 1 + \frac{N - n}{N - t} \left(\frac{1}{(N - t + 1) q_t} - 1\right)

    ("LURE"); the mean of ``v_t y_t`` has the mean of all rows as its expectation.

    Parameters
    ----------
    probabilities : ndarray of shape (n_draws,)
    n_examples : int
    """
    n = len(probabilities)
    left = n_examples - np.arange(n)
    after = np.maximum(left - 1, 1)
    excess = 1 / (left * probabilities) - 1
    return 1 + (n_examples - n) / after * excess
