"""Bets against a value of the winning distance, and the values that survive them."""

import math
from typing import Any

import numpy as np

from skdiffuse._validation import check_level
from skdiffuse.comparison._draws import Draws, Estimates

_BETS = (np.arange(100) + 0.5) / 100
_STEPS = 40
_ROUNDING = 1e-9
_CERTAIN = 1e-12


class Wealth:
    """Wealth of bets that one side is ahead, against both being equal.

    Parameters
    ----------
    draws : Draws
        With weights.

    Attributes
    ----------
    estimates : Estimates
        Of the preferences so far.
    logs : tuple of float
        The largest log wealth so far of the bets on A and of those on B; infinite once
        the rest cannot change that this side is ahead.
    """

    def __init__(self, draws: Draws) -> None:
        self.estimates = Estimates(draws)
        self.logs = (0.0, 0.0)
        self._growth = np.zeros((len(_BETS), 2))

    def add(self, preference: float) -> None:
        """Take the next preference."""
        now = self.estimates
        now.add(preference)
        # B is ahead of A by the negative.
        values = np.array([now.values[-1], -now.values[-1]])
        lows = np.array([now.lows[-1], -now.highs[-1]])
        self._growth += _log_factors(values, lows, 0.0)
        for_a, for_b = _mixed(self._growth).tolist()
        self.logs = (
            math.inf if now.least > _CERTAIN else max(self.logs[0], for_a),
            math.inf if now.most < -_CERTAIN else max(self.logs[1], for_b),
        )


def confidence_sequence(
    preferences: Any,
    draws: Draws,
    *,
    confidence_level: float = 0.95,
) -> tuple[np.ndarray, np.ndarray]:
    """Bound the winning distance after each preference, all at once.

    Parameters
    ----------
    preferences : array-like of shape (n_annotations,)
        Preferences in [-1, 1] of the first rows of the order.
    draws : Draws
        How they were drawn; `Draws.uniform` for a uniformly random order.
    confidence_level : float, default=0.95
        The probability, between 0 and 1, that *all* the intervals hold the winning
        distance.

    Returns
    -------
    low, high : ndarray of shape (n_annotations,)
        The intervals; each lies in the one before.

    Raises
    ------
    ValueError
        If the draws have no weights, there are more preferences than rows in the
        order, or one of them is not in [-1, 1].

    Notes
    -----
    The values against which no bet of the kind of `BettingRule` has ever won
    ``2 / (1 - confidence_level)``, on either side.

    Examples
    --------
    >>> import numpy as np
    >>> from skdiffuse.comparison import Draws, confidence_sequence
    >>> low, high = confidence_sequence(np.ones(50), Draws.uniform(1000))
    >>> bool(low[9] < low[49]), high[49].round(3)
    (True, np.float64(1.0))
    """
    values = np.asarray(preferences, dtype=np.float64)
    _check(values, draws, confidence_level)
    estimates = Estimates(draws)
    ends = []
    low, high = -1.0, 1.0
    for value in values.tolist():
        estimates.add(value)
        low, high = surviving(estimates, 1 - confidence_level, (low, high))
        ends.append((low, high))
    lows, highs = np.array(ends, dtype=np.float64).reshape(-1, 2).T
    return lows, highs


def surviving(
    estimates: Estimates, alpha: float, within: tuple[float, float] = (-1.0, 1.0)
) -> tuple[float, float]:
    """Return the least and the greatest mean that no bet so far refutes.

    Parameters
    ----------
    estimates : Estimates
    alpha : float
        Half of it goes to each side.
    within : (low, high)
        Where they are known to be.
    """
    values, lows, highs = (
        np.array(x) for x in (estimates.values, estimates.lows, estimates.highs)
    )
    limit = math.log(2 / alpha)
    least, most = max(within[0], estimates.least), min(within[1], estimates.most)
    least = min(least, most)
    low = _first_refuted(values, lows, limit, least, most)
    high = -_first_refuted(-values, -highs, limit, -most, -least)
    return min(low, high), high


def _first_refuted(
    values: np.ndarray, lows: np.ndarray, limit: float, start: float, stop: float
) -> float:
    """Return the least mean in [start, stop] against which the bets have not won."""

    def refuted(mean: float) -> bool:
        growth = _log_factors(values, lows, mean).cumsum(axis=1)
        return bool(_mixed(growth).max() >= limit)

    if not refuted(start):
        return start
    if refuted(stop):
        return stop
    # The wealth falls as the mean rises.
    for _ in range(_STEPS):
        middle = (start + stop) / 2
        if refuted(middle):
            start = middle
        else:
            stop = middle
    return start


def _log_factors(values: np.ndarray, lows: np.ndarray, mean: float) -> np.ndarray:
    """Return by which factors bets that the estimates exceed `mean` grow, in logs.

    Returns
    -------
    ndarray of shape (n_bets, n_values)
    """
    room = mean - lows
    open_ = room > _ROUNDING
    gains = np.divide(values - mean, room, out=np.zeros_like(room), where=open_)
    factors = np.log1p(_BETS[:, np.newaxis] * gains)
    # Without room all that is left is the least possible, or `mean` itself is not.
    factors[:, ~open_ & (values > mean + _ROUNDING)] = np.inf
    return factors


def _mixed(growth: np.ndarray) -> Any:
    """Average the wealth of all bets, in logarithms."""
    return np.logaddexp.reduce(growth, axis=0) - math.log(len(_BETS))


def _check(values: np.ndarray, draws: Draws, confidence_level: float) -> None:
    if draws.weights is None:
        raise ValueError(
            "draws have no weights: the order was not one of draws with known chances."
        )
    if values.ndim != 1 or len(values) > len(draws.order):
        raise ValueError(
            f"preferences has shape {values.shape}, but draws order "
            f"{len(draws.order)} rows; give at most one a row."
        )
    if not (np.abs(values) <= 1).all():
        raise ValueError(
            "preferences must be in [-1, 1]; divide them by their largest possible "
            "size."
        )
    check_level(confidence_level, "confidence_sequence")
