"""How many labels: for a width that is wanted, or a budget that is given."""

import math
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import stats
from sklearn.utils._param_validation import HasMethods, Interval, validate_params
from sklearn.utils.validation import check_is_fitted

# A judge is not taken for better than this, whatever a pilot says.
_LARGEST_RHO = 0.999

# No plan goes beyond this many rows, and so many integers are tried on each side.
_LARGEST = 1e15
_NEAR = 2000


@dataclass(frozen=True)
class LabelPlan:
    """How many labels and predictions to pay for, and what they give.

    Attributes
    ----------
    n_labels : int
        Rows to label, at random.
    n_predictions : int
        Rows to be scored by the judge, the labelled ones among them; 0 if the judge is
        not worth its price.
    cost : float
        Price of both.
    effective_sample_size : float
        How many labels alone would be as precise.
    width : float
        Expected width of the interval.
    feasible : bool
        Whether what was asked for can be had; if not, the plan is the best there is.
    reason : str
        That in a sentence.
    rho : float
        The correlation of judge and label that was assumed.
    spread : float
        The standard deviation of the labels that was assumed.
    """

    n_labels: int
    n_predictions: int
    cost: float
    effective_sample_size: float
    width: float
    feasible: bool
    reason: str
    rho: float
    spread: float


@validate_params(
    {
        "rho": [Interval(Real, -1, 1, closed="both"), None],
        "pilot": [HasMethods(["confidence_interval"]), None],
        "width": [Interval(Real, 0, None, closed="neither"), None],
        "budget": [Interval(Real, 0, None, closed="neither"), None],
        "label_cost": [Interval(Real, 0, None, closed="neither")],
        "prediction_cost": [Interval(Real, 0, None, closed="left")],
        "pool_size": [Interval(Integral, 1, None, closed="left"), None],
        "spread": [Interval(Real, 0, None, closed="neither"), None],
        "confidence_level": [Interval(Real, 0, 1, closed="neither")],
    },
    prefer_skip_nested_validation=True,
)
def plan_labels(
    rho: float | None = None,
    *,
    pilot: Any = None,
    width: float | None = None,
    budget: float | None = None,
    label_cost: float = 1.0,
    prediction_cost: float = 0.0,
    pool_size: int | None = None,
    spread: float | None = None,
    confidence_level: float = 0.95,
) -> LabelPlan:
    r"""Plan how many labels and predictions to pay for.

    Parameters
    ----------
    rho : float, default=None
        Correlation of the judge with the labels. Give this or `pilot`.
    pilot : fitted estimator, default=None
        A small study, such as a fitted `RidgePPIMeanEstimator`: correlation and spread
        are estimated from it, cautiously (each label predicted without itself).
    width : float, default=None
        The width of interval that is wanted, in units of the labels. Give this or
        `budget`.
    budget : float, default=None
        What may be spent.
    label_cost : float, default=1.0
        Price of a label.
    prediction_cost : float, default=0.0
        Price of a judge's score.
    pool_size : int, default=None
        How many rows there are at most. Needed if predictions cost nothing.
    spread : float, default=None
        Standard deviation of the labels; None takes that of the pilot, or 0.5, the
        largest there is for a rate.
    confidence_level : float, default=0.95
        Of the interval.

    Returns
    -------
    LabelPlan
        The cheapest plan for the width, or the best for the budget.

    Raises
    ------
    ValueError
        If an argument is out of its range; or not just one of `rho` and `pilot`, and of
        `width` and `budget`, is given; or predictions are free and `pool_size` is None.

    Notes
    -----
    With n labels and M predictions the variance of the estimate is

    .. math:: \sigma^2 \left(\frac{1 - \rho^2}{n} + \frac{\rho^2}{M}\right),

    as in two-phase sampling [1]_, so a budget is best split at

    .. math:: \frac nM = \sqrt{\frac{1 - \rho^2}{\rho^2}
        \cdot \frac{c_{prediction}}{c_{label}}}.

    Where that asks for more labels than predictions, or labels alone are as good for
    the money, the judge is left out. The width takes the normal quantile and the best
    weight, so it is a little too small for few labels.

    References
    ----------
    .. [1] Cochran, "Sampling Techniques", 3rd ed., chapter 12, Wiley, 1977.

    Examples
    --------
    >>> from skdiffuse import plan_labels
    >>> plan = plan_labels(0.8, budget=100, label_cost=1, prediction_cost=0.01)
    >>> plan.n_labels, plan.n_predictions, round(plan.effective_sample_size)
    (88, 1200, 216)
    >>> plan_labels(0.8, width=0.05, pool_size=1000).feasible
    False
    """
    if (rho is None) == (pilot is None):
        raise ValueError("give just one of rho and pilot.")
    if (width is None) == (budget is None):
        raise ValueError("give just one of width and budget.")
    if prediction_cost == 0 and pool_size is None:
        raise ValueError(
            "prediction_cost=0 buys any number of predictions; give pool_size, the "
            "number of rows that there are."
        )
    if pilot is not None:
        rho, spread = _from_pilot(pilot, spread)
    market = _Market(
        explained=min(abs(float(rho or 0.0)), _LARGEST_RHO) ** 2,
        label_cost=label_cost,
        prediction_cost=prediction_cost,
        rows=math.inf if pool_size is None else pool_size,
    )
    spread = 0.5 if spread is None else float(spread)
    reach = 2 * spread * float(stats.norm.isf((1 - confidence_level) / 2))
    if budget is not None:
        n, m = market.best_for(budget)
        feasible = n >= 1
        reason = (
            "the best for the budget" if feasible else "the budget does not pay a label"
        )
    else:
        # Below the square root of the largest float, and at least one label.
        wanted = max(1.0, min(reach / (width or 1.0), 1e150) ** 2)
        n, m = market.cheapest_for(wanted)
        feasible = bool(market.effective(n, m) >= wanted * (1 - 1e-9))
        reason = (
            "the cheapest for the width"
            if feasible
            else f"labelling all {n} rows does not reach the width"
        )
    if feasible and m == 0:
        reason += "; labels alone, since the judge does not save its price"
    effective = market.effective(n, m)
    return LabelPlan(
        n_labels=n,
        n_predictions=m,
        cost=market.cost(n, m),
        effective_sample_size=effective,
        width=reach / math.sqrt(effective) if effective else math.inf,
        feasible=feasible,
        reason=reason,
        rho=math.sqrt(market.explained),
        spread=spread,
    )


@dataclass(frozen=True)
class _Market:
    """What labels and predictions cost and give."""

    explained: float
    label_cost: float
    prediction_cost: float
    rows: float

    def cost(self, n: int, m: int) -> float:
        return n * self.label_cost + m * self.prediction_cost

    def effective(self, n: int, m: int) -> float:
        """Return the effective sample size of n labels and m predictions."""
        if m <= n or not self.explained:
            return float(n)
        return 1 / ((1 - self.explained) / n + self.explained / m) if n else 0.0

    def best_for(self, budget: float) -> tuple[int, int]:
        """Return the labels and predictions that give most for the budget."""
        most = int(min(budget / self.label_cost * (1 + 1e-12), self.rows, _LARGEST))
        if most < 1:
            return 0, 0
        per_cost = math.sqrt((1 - self.explained) / self.label_cost)
        ideal = per_cost * budget / math.sqrt(self._cost_per_effective())
        n = _integers_around(ideal, 1, most)
        left = np.maximum(budget - n * self.label_cost, 0) * (1 + 1e-12)
        with np.errstate(all="ignore"):
            bought = left / self.prediction_cost if self.prediction_cost else self.rows
        m = np.floor(np.minimum(np.minimum(bought, self.rows), _LARGEST))
        m = np.where(m > n, m, 0)
        given = self._effective(n, m)
        best = int(np.argmax(given))
        return (most, 0) if given[best] <= most else (int(n[best]), int(m[best]))

    def cheapest_for(self, wanted: float) -> tuple[int, int]:
        """Return the cheapest labels and predictions that give so much."""
        if wanted > min(self.rows, _LARGEST) * (1 + 1e-9):
            return int(min(self.rows, _LARGEST)), 0
        alone = max(1, math.ceil(wanted * (1 - 1e-9)))
        fewest = max(1, math.ceil(wanted * (1 - self.explained)))
        share = math.sqrt((1 - self.explained) / self.label_cost)
        ideal = wanted * share * math.sqrt(self._cost_per_effective())
        n = _integers_around(ideal, fewest, alone)
        with np.errstate(all="ignore"):
            slack = 1 / wanted - (1 - self.explained) / n
            m = np.ceil(self.explained / slack * (1 - 1e-9))
            cost = n * self.label_cost + m * self.prediction_cost
        cost[~((slack > 0) & (m <= self.rows) & (m > n))] = math.inf
        best = int(np.argmin(cost))
        if cost[best] >= self.cost(alone, 0):
            return alone, 0
        return int(n[best]), int(m[best])

    def _effective(self, n: np.ndarray, m: np.ndarray) -> np.ndarray:
        return np.array([self.effective(*plan) for plan in zip(n, m, strict=True)])

    def _cost_per_effective(self) -> float:
        label = math.sqrt((1 - self.explained) * self.label_cost)
        return (label + math.sqrt(self.explained * self.prediction_cost)) ** 2


def _integers_around(ideal: float, low: int, high: int) -> np.ndarray:
    """Return all integers in a small range, or those near the ideal and the ends."""
    if high - low <= 2 * _NEAR:
        return np.arange(low, high + 1, dtype=np.float64)
    middle = int(min(max(ideal, low + _NEAR), high - _NEAR))
    near = np.arange(middle - _NEAR, middle + _NEAR + 1)
    grid = np.unique(np.geomspace(low, high, _NEAR).astype(np.int64))
    return np.concatenate([near, grid[(grid >= low) & (grid <= high)]]).astype(float)


def _from_pilot(pilot: Any, spread: float | None) -> tuple[float, float]:
    """Return the correlation of prediction and label, and the spread of the labels."""
    if not hasattr(pilot, "_explained"):
        raise ValueError(
            f"pilot={pilot!r} is not an estimator of this library; fit, say, a "
            "RidgePPIMeanEstimator."
        )
    check_is_fitted(pilot)
    labels = pilot._labels
    if len(labels) < 3 or np.ptp(labels) == 0:
        raise ValueError(
            f"pilot has {len(labels)} labels"
            + (" that are all equal" if len(labels) > 2 else "")
            + "; label more rows, or give rho and spread."
        )
    explained = max(0.0, pilot._explained())
    return math.sqrt(explained), float(spread or labels.std(ddof=1))
