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
# How many draws are looked at together: memory for one number a bet and draw.
_AT_ONCE = 1000
_LEAST_ROOM = 1e-6
# Turns bets on B into bets on A with the sides changed.
_MIRROR = np.array([[1.0], [1.0], [-1.0], [-1.0]])
# The growth of bets is a smooth function of the mean; a polynomial through so many
# points of an interval is the same to the last digits if the interval begins at least
# its own length above what the growth is infinite at, and is made half as long.
_POINTS = np.cos(np.pi * (np.arange(20) + 0.5) / 20)
_TO_POLYNOMIAL = np.linalg.inv(np.polynomial.chebyshev.chebvander(_POINTS, 19))


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

    def add(self, preferences: np.ndarray) -> None:
        """Take the next preferences."""
        now = self.estimates
        seen = len(now)
        for preference in preferences.tolist():
            now.add(preference)
        # B is ahead of A by the negative.
        bets = now.bets(seen) * _MIRROR
        on_a, on_b = self.logs
        for first in range(0, bets.shape[1], _AT_ONCE):
            part = bets[:, first : first + _AT_ONCE]
            factors = _log_factors(part[::2], part[1::2], 0.0)
            path = _added_up(self._growth, factors)
            self._growth = path[..., -1]
            highest_a, highest_b = _mixed(path).max(axis=1).tolist()
            on_a, on_b = max(on_a, highest_a), max(on_b, highest_b)
        self.logs = (
            math.inf if now.least > _CERTAIN else on_a,
            math.inf if now.most < -_CERTAIN else on_b,
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
    ``2 / (1 - confidence_level)``, on either side. It needs a second for some thousand
    preferences, and grows about in proportion to their number.

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
    estimates = Estimates(draws)
    survivors = Survivors(estimates, 1 - confidence_level)
    ends = np.empty((len(values), 2))
    for t, value in enumerate(values.tolist()):
        estimates.add(value)
        ends[t] = survivors.now()
    return ends[:, 0], ends[:, 1]


class Survivors:
    """The means that no bet so far refutes: an interval that never grows.

    Parameters
    ----------
    estimates : Estimates
        Those there are, and that will be added.
    alpha : float
        Half of it goes to each side.
    """

    def __init__(self, estimates: Estimates, alpha: float) -> None:
        limit = math.log(2 / alpha)
        self._estimates = estimates
        # B is ahead of A by the negative, so the upper end is the lower one of that.
        self._low = _LowerEnd(estimates, slice(0, 2), limit)
        self._minus_high = _LowerEnd(estimates, slice(2, 4), limit)

    def now(self) -> tuple[float, float]:
        """Return the interval after all the estimates there are."""
        now = self._estimates
        low = self._low.now(now.least, -self._minus_high.value)
        return low, -self._minus_high.now(-now.most, -low)


class _LowerEnd:
    """The least mean against which bets that it is exceeded have never won."""

    def __init__(self, estimates: Estimates, side: slice, limit: float) -> None:
        self.value = -1.0
        self._estimates, self._side, self._limit = estimates, side, limit
        self._growth = np.zeros(len(_BETS))
        self._seen = 0
        # The growth on those seen, against means from `_from` to `_to`.
        self._polynomial = np.zeros((len(_POINTS), len(_BETS)))
        self._from = self._to = math.nan
        self._counted = 0
        self._highest = -math.inf

    def now(self, least: float, stop: float) -> float:
        """Return it after all the estimates there are, in [least, stop]."""
        end = self.value
        values, lows = self._bets(self._seen)
        most, growth = _run(values, lows, end, self._growth)
        if most >= self._limit:
            end = self._least(values, lows, end, stop)
        end = min(max(end, least), stop)
        self._seen = len(self._estimates)
        if end != self.value:
            growth = self._growth_against(end)
        self.value, self._growth = end, growth
        return end

    def _bets(self, first: int = 0) -> np.ndarray:
        bets = self._estimates.bets(first)[self._side]
        return bets if self._side.start == 0 else -bets

    def _least(
        self, values: np.ndarray, lows: np.ndarray, start: float, stop: float
    ) -> float:
        """Return the least mean in [start, stop] against which these have not won."""

        def refuted(mean: float) -> bool:
            before = self._growth_against(mean)
            return _run(values, lows, mean, before)[0] >= self._limit

        # The wealth falls as the mean rises, so most means need not be asked for.
        known, edge = start, min(self._covered_from(start), stop)
        while refuted(edge):
            if edge == stop:
                return stop
            known, edge = edge, min(self._covered_from(edge), stop)
        while stop - start > _PRECISION:
            middle = (start + stop) / 2
            if middle <= known or (middle < edge and refuted(middle)):
                start = middle
            else:
                stop = middle
        return start

    def _growth_against(self, mean: float) -> np.ndarray:
        """Return how the bets on the estimates seen have grown against a mean."""
        self._count()
        if self._from <= mean <= self._to:
            middle, half = self._to + self._from, self._to - self._from
            place = min(max((2 * mean - middle) / half, -1.0), 1.0)
            powers = np.cos(math.acos(place) * np.arange(len(_POINTS)))
            return powers @ self._polynomial
        values, lows = self._bets()[:, : self._seen]
        return _run(values, lows, mean, np.zeros(len(_BETS)))[1]

    def _covered_from(self, start: float) -> float:
        """Let the polynomial hold from `start` on; return the last mean it holds for.

        Infinity where it is not needed, or of no use.
        """
        self._count()
        if self._from <= start < self._to:
            return self._to
        room = start - self._highest
        self._from = self._to = math.nan
        if not _LEAST_ROOM < room < math.inf:
            return math.inf
        self._from, self._to = start, start + room / 2
        self._counted = 0
        self._polynomial[:] = 0.0
        self._count()
        return self._to

    def _count(self) -> None:
        """Take up in the polynomial what was seen since."""
        if self._counted == self._seen:
            return
        values, lows = self._bets(self._counted)[:, : self._seen - self._counted]
        self._highest = max(self._highest, float(lows.max()))
        if self._to - self._from > self._from - self._highest:
            self._from = self._to = math.nan
        if self._from < self._to:
            half = (self._to - self._from) / 2
            means = self._from + half * (1 + _POINTS[:, np.newaxis])
            for first in range(0, len(values), _AT_ONCE):
                part = slice(first, first + _AT_ONCE)
                growth = _log_factors(values[part], lows[part], means).sum(axis=2)
                self._polynomial += _TO_POLYNOMIAL @ growth.T
        self._counted = self._seen


def surviving(estimates: Estimates, alpha: float) -> tuple[float, float]:
    """Return the interval of means that no bet on these estimates refutes."""
    return Survivors(estimates, alpha).now()


def _run(
    values: np.ndarray, lows: np.ndarray, mean: float, growth: np.ndarray
) -> tuple[float, np.ndarray]:
    """Return the largest log wealth on the way, and how the bets have grown at last."""
    most = -math.inf
    for first in range(0, len(values), _AT_ONCE):
        part = slice(first, first + _AT_ONCE)
        path = _added_up(growth, _log_factors(values[part], lows[part], mean))
        most = max(most, float(_mixed(path).max()))
        growth = path[:, -1]
    return most, growth


def _added_up(growth: np.ndarray, factors: np.ndarray) -> np.ndarray:
    """Return the growth after each factor; the same whichever come at once."""
    path = np.concatenate([growth[..., np.newaxis], factors], axis=-1)
    return path.cumsum(axis=-1)[..., 1:]


def _log_factors(values: np.ndarray, lows: np.ndarray, mean: Any) -> np.ndarray:
    """Return by which factors bets that the estimates exceed `mean` grow, in logs.

    Returns
    -------
    ndarray of shape (n_bets, n_values), of more dimensions if `values` or `mean` are.
    """
    room = mean - lows
    open_ = room > _ROUNDING
    gains = np.divide(values - mean, room, out=np.zeros_like(room), where=open_)
    factors = np.log1p(np.multiply.outer(_BETS, gains))
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
