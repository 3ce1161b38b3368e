"""Spread, intervals, tests and worth of an estimate, once it is fitted."""

import math
from numbers import Real
from typing import Any

import numpy as np
from scipy import stats
from sklearn.utils._param_validation import (
    Interval,
    StrOptions,
    validate_parameter_constraints,
)
from sklearn.utils.validation import check_is_fitted

from skdiffuse.ppi._intervals import (
    ALTERNATIVES,
    normal_interval,
    p_value_of,
    t_interval,
    wilson_interval,
)

METHODS = ("auto", "normal", "t", "wilson")

# Added to both sums of squares of the Wilson interval, so that a judge is not taken
# for perfect because a few labels agree with it.
_WILSON_PRIOR = 2.0


class InferenceMixin:
    """What follows from labels, values of g and the moments of the pool."""

    mean_: float
    classical_mean_: float
    n_labeled_: int
    n_unlabeled_: int
    _labels: np.ndarray
    _values: np.ndarray
    _residuals: np.ndarray
    _leverage: np.ndarray
    _n_weights: float
    _pool_comoment: float

    def _variance(self, ddof: float) -> float:
        """Return the estimated variance of the mean."""
        return self._label_variance(ddof) + self._pool_variance(min(ddof, 1))

    def _label_variance(self, ddof: float) -> float:
        n = self.n_labeled_
        return float(sum_of_squares(self._residuals)) / (n * max(n - ddof, 1))

    def _pool_variance(self, ddof: float) -> float:
        n = self.n_unlabeled_
        return self._pool_comoment / (n * max(n - ddof, 1)) if n else 0.0

    def _left_out_variance(self) -> float:
        """Return the variance of the rectifier from leave-one-out residuals.

        They hold what the fit of g has cost, which residuals of the fit itself do not:
        with many judges these are far too small.
        """
        n = self.n_labeled_
        leverage = self._leverage if self.n_unlabeled_ else 1 / n
        left_out = self._residuals / np.maximum(1 - leverage, 1 / n)
        return float(sum_of_squares(left_out)) * (n - 1) / n**3

    @property
    def standard_error_(self) -> float:
        """Standard error of `mean_`."""
        if not hasattr(self, "mean_") or self.n_labeled_ < 2:
            raise AttributeError(
                "standard_error_ exists after fit with at least 2 labelled rows."
            )
        return math.sqrt(self._left_out_variance() + self._pool_variance(1))

    def confidence_interval(
        self,
        confidence_level: float = 0.95,
        *,
        method: str = "auto",
        alternative: str = "two-sided",
    ) -> tuple[float, float]:
        """Return an interval that holds the mean with the given confidence.

        Parameters
        ----------
        confidence_level : float, default=0.95
            Between 0 and 1, exclusive.
        method : {"auto", "normal", "t", "wilson"}, default="auto"
            ``"normal"`` takes the normal distribution and variances with ddof 0, as
            most PPI software does; too narrow below some hundred labels. ``"t"``
            takes Student's t and `standard_error_`. ``"wilson"`` takes the score
            interval of a rate, for labels that are all 0 or 1; it stays in [0, 1]
            and never has zero width. ``"auto"`` is ``"wilson"`` for such labels and
            ``"t"`` for all others.
        alternative : {"two-sided", "less", "greater"}, default="two-sided"
            ``"greater"`` gives a lower bound alone, ``"less"`` an upper one; the open
            end is infinite (0 or 1 for ``"wilson"``).

        Returns
        -------
        low, high : float
            The ends.

        Raises
        ------
        ValueError
            If an argument is out of its range; if there is a single label and the
            method is not ``"wilson"``; if ``"wilson"`` meets a label that is neither
            0 nor 1.

        Notes
        -----
        ``"t"`` takes the labels' part of the variance from leave-one-out residuals,
        sum r² (n - 1) / n³, which is the usual variance where nothing was fitted. It
        has the degrees of freedom of Welch and Satterthwaite, from N - 1 for the pool
        and n - 1, less those that the fit of g took, for the labels.

        ``"wilson"`` is the score interval [1]_ at `mean_` with the effective sample
        size ``n / d``. The design effect d is the variance of the estimate relative
        to that of the mean of the labels: with S the sum of squared leave-one-out
        deviations of the labels from their mean, and S_r that of their residuals
        ``h - g(f)``, ::

            d = 1 - R2 + (n / N) Var g(f_pool) / ((S + 2) / n)
            R2 = 1 - (S_r + 2) / (S + 2),  times (n - 3) / n where positive

        References
        ----------
        .. [1] Wilson, "Probable inference, the law of succession, and statistical
           inference", JASA 22, 1927.
        """
        check_is_fitted(self)
        _check_level(confidence_level, "confidence_interval")
        method = self._check_inference(method, alternative, "confidence_interval")
        if method == "wilson":
            return wilson_interval(
                self.mean_, self._effective_n(), confidence_level, alternative
            )
        if method == "normal":
            error = math.sqrt(self._variance(ddof=0))
            return normal_interval(self.mean_, error, confidence_level, alternative)
        return t_interval(
            self.mean_,
            self.standard_error_,
            self._degrees_of_freedom(),
            confidence_level,
            alternative,
        )

    def p_value(
        self,
        null_mean: float,
        *,
        method: str = "auto",
        alternative: str = "two-sided",
    ) -> float:
        """Return how surprising the data are if the mean were `null_mean`.

        Parameters
        ----------
        null_mean : float
            The mean under the null hypothesis; in [0, 1] for ``"wilson"``.
        method : {"auto", "normal", "t", "wilson"}, default="auto"
            As in `confidence_interval`.
        alternative : {"two-sided", "less", "greater"}, default="two-sided"
            ``"greater"``: the mean is above `null_mean`; ``"less"``: below.

        Returns
        -------
        float
            In [0, 1]. It is below ``1 - confidence_level`` exactly where the interval
            of the same method and alternative leaves `null_mean` out.

        Raises
        ------
        ValueError
            As in `confidence_interval`; or if `null_mean` is not a finite number, or
            not in [0, 1] for ``"wilson"``.
        """
        check_is_fitted(self)
        if not isinstance(null_mean, Real) or not math.isfinite(null_mean):
            raise ValueError(f"null_mean={null_mean!r} is not a finite number.")
        method = self._check_inference(method, alternative, "p_value")
        distance, freedom = self.mean_ - null_mean, math.inf
        if method == "wilson":
            if not 0 <= null_mean <= 1:
                raise ValueError(
                    f"null_mean={null_mean:g} is no rate; give a number in [0, 1], or "
                    "method='t'."
                )
            distance = min(max(self.mean_, 0.0), 1.0) - null_mean
            error = math.sqrt(null_mean * (1 - null_mean) / self._effective_n())
        elif method == "normal":
            error = math.sqrt(self._variance(ddof=0))
        else:
            error, freedom = self.standard_error_, self._degrees_of_freedom()
        distribution = stats.norm if math.isinf(freedom) else stats.t(freedom)
        return p_value_of(distance, error, distribution, alternative)

    def _check_inference(self, method: str, alternative: str, caller: str) -> str:
        """Check the arguments of an interval or a test, and resolve "auto"."""
        validate_parameter_constraints(
            {
                "method": [StrOptions(set(METHODS))],
                "alternative": [StrOptions(set(ALTERNATIVES))],
            },
            {"method": method, "alternative": alternative},
            caller_name=caller,
        )
        binary = np.isin(self._labels, (0, 1))
        if method == "auto":
            method = "wilson" if binary.all() else "t"
        if method == "wilson" and not binary.all():
            value = self._labels[~binary][0]
            raise ValueError(
                f"method='wilson' needs labels 0 and 1, but y holds {value:g}; use "
                "method='t'."
            )
        if method != "wilson" and self.n_labeled_ < 2:
            raise ValueError(
                "y has a single label, which tells nothing of the spread; label at "
                "least 2 rows for an interval."
            )
        return method

    def _degrees_of_freedom(self) -> float:
        """Combine the degrees of freedom of labels and pool (Welch-Satterthwaite)."""
        label, pool = self._left_out_variance(), self._pool_variance(1)
        fitted = self._n_weights if self.n_unlabeled_ else 0
        label_freedom = max(self.n_labeled_ - 1 - fitted, 1)
        if label + pool == 0 or pool == 0:
            return label_freedom
        share = label / (label + pool)
        pool_freedom = max(self.n_unlabeled_ - 1, 1)
        return 1 / (share**2 / label_freedom + (1 - share) ** 2 / pool_freedom)

    def _effective_n(self) -> float:
        """Count the labels that would give the classical mean the same variance."""
        n = self.n_labeled_
        constant = np.ptp(self._values) == 0 and self._pool_comoment == 0
        if not self.n_unlabeled_ or constant:
            return float(n)
        spread, rest = self._left_out_squares()
        pool = n * n * self._pool_variance(ddof=0)
        if spread == 0:
            return float(n) if rest + pool == 0 else 0.0
        design = 1 - self._explained() + pool / spread
        # A judge without any error would be worth infinitely many labels.
        return float(n / max(design, 1e-12))

    def _left_out_squares(self) -> tuple[float, float]:
        """Return the squares of labels and residuals, each predicted without itself."""
        n = self.n_labeled_
        prior = _WILSON_PRIOR if np.isin(self._labels, (0, 1)).all() else 0.0
        deviations = self._labels - self.classical_mean_
        residuals = deviations - (self._values - self._values.mean())
        left_out = residuals / np.maximum(1 - self._leverage, 1 / n)
        spread = sum_of_squares(deviations * n / max(n - 1, 1))
        return float(spread) + prior, float(sum_of_squares(left_out)) + prior

    def _explained(self) -> float:
        """Return the share of the spread that g explains, shrunk for few labels."""
        spread, rest = self._left_out_squares()
        explained = 1 - rest / spread if spread else 0.0
        n = self.n_labeled_
        return explained * max(0, n - 3) / n if explained > 0 else explained


def _check_level(confidence_level: float, caller: str) -> None:
    validate_parameter_constraints(
        {"confidence_level": [Interval(Real, 0, 1, closed="neither")]},
        {"confidence_level": confidence_level},
        caller_name=caller,
    )


def sum_of_squares(values: np.ndarray) -> Any:
    """Return the sum of squares along the first axis."""
    return np.sum(values * values, axis=0)
