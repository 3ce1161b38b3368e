"""Bets against a value of the winning distance, and the values that survive them."""

import math
from typing import Any

import numpy as np

from skdiffuse._validation import check_level
from skdiffuse.comparison._draws import Draws, Estimates

_BETS = (np.arange(100) + 0.5) / 100
_PRECISION = 1e-9
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
        for_a, low, for_b, high = now.bets[-1]
        # B is ahead of A by the negative.
        values, lows = np.array([for_a, -for_b]), np.array([low, -high])
        self._growth += _log_factors(values, lows, 0.0)
        on_a, on_b = _mixed(self._growth).tolist()
        self.logs = (
            math.inf if now.least > _CERTAIN else max(self.logs[0], on_a),
            math.inf if now.most < -_CERTAIN else max(self.logs[1], on_b),
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
    ``2 / (1 - confidence_level)``, on either side. It needs a second for some hundred
    preferences, and grows with the square of their number.

    Examples
    --------
    >>> import numpy as np
    >>> from skdiffuse.comparison import Draws, confidence_sequence
    >>> low, high = confidence_sequence(np.ones(50), Draws.uniform(1000))
    >>> bool(low[9] < low[49]), high[49].round(3)
    (True, np.float64(1.0))
    """
    values = _checked(preferences, draws)
    check_level(confidence_level, "confidence_sequence")
    estimates, survivors = Estimates(draws), Survivors(1 - confidence_level)
    ends = np.empty((len(values), 2))
    for t, value in enumerate(values.tolist()):
        estimates.add(value)
        ends[t] = survivors.after(estimates)
    return ends[:, 0], ends[:, 1]


class Survivors:
    """The means that no bet so far refutes: an interval that never grows.

    Parameters
    ----------
    alpha : float
        Half of it goes to each side.
    """

    def __init__(self, alpha: float) -> None:
        limit = math.log(2 / alpha)
        # B is ahead of A by the negative, so the upper end is the lower one of that.
        self._low, self._minus_high = _LowerEnd(limit), _LowerEnd(limit)

    def after(self, estimates: Estimates) -> tuple[float, float]:
        """Return the interval after all the estimates there are."""
        for_a, lows, for_b, highs = np.array(estimates.bets).T
        high = -self._minus_high.value
        low = self._low.after(for_a, lows, estimates.least, high)
        high = -self._minus_high.after(-for_b, -highs, -estimates.most, -low)
        return low, high


class _LowerEnd:
    """The least mean against which bets that it is exceeded have never won."""

    def __init__(self, limit: float) -> None:
        self.value = -1.0
        self._limit = limit
        self._growth = np.zeros(len(_BETS))
        self._seen = 0

    def after(
        self, values: np.ndarray, lows: np.ndarray, least: float, stop: float
    ) -> float:
        """Return it after all these estimates, in [least, stop]."""
        fresh = _log_factors(values[self._seen :], lows[self._seen :], self.value)
        path = self._growth[:, np.newaxis] + fresh.cumsum(axis=1)
        end = self.value
        if _mixed(path).max() >= self._limit:
            end = _least(values, lows, self._limit, end, stop)
        end = min(max(end, least), stop)
        if end != self.value:
            # The wealth against another mean has to be counted from the start.
            path = _log_factors(values, lows, end).cumsum(axis=1)
        self.value, self._growth, self._seen = end, path[:, -1], len(values)
        return end


def surviving(estimates: Estimates, alpha: float) -> tuple[float, float]:
    """Return the interval of means that no bet on these estimates refutes."""
    return Survivors(alpha).after(estimates)


def _least(
    values: np.ndarray, lows: np.ndarray, limit: float, start: float, stop: float
) -> float:
    """Return the least mean in [start, stop] against which the bets have not won."""

    def refuted(mean: float) -> bool:
        growth = _log_factors(values, lows, mean).cumsum(axis=1)
        return bool(_mixed(growth).max() >= limit)

    if refuted(stop):
        return stop
    # The wealth falls as the mean rises.
    while stop - start > _PRECISION:
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


def _checked(preferences: Any, draws: Draws) -> np.ndarray:
    if not isinstance(draws, Draws):
        raise ValueError(
            f"draws is a {type(draws).__name__}; pass Draws, such as "
            "Draws.uniform(n_examples)."
        )
    try:
        values = np.asarray(preferences, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"preferences are no numbers ({error}).") from error
    if values.ndim != 1 or len(values) > len(draws.order):
        raise ValueError(
            f"preferences has shape {values.shape}, but draws order "
            f"{len(draws.order)} rows; give at most one a row."
        )
    bad = np.flatnonzero(~(np.abs(values) <= 1))
    if len(bad):
        raise ValueError(
            f"preferences holds {values[bad[0]]:g} at {bad[0]}, outside [-1, 1]; "
            "divide all of them by their largest possible size."
        )
    return values
