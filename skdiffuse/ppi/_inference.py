"""Spread, intervals, tests and worth of an estimate, once it is fitted."""

import math
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import (
    StrOptions,
    validate_parameter_constraints,
)
from sklearn.utils.validation import check_is_fitted

from skdiffuse._validation import check_level
from skdiffuse.ppi._intervals import (
    ALTERNATIVES,
    bootstrap_interval,
    bootstrap_p_value,
    normal_interval,
    p_value_of,
    studentised_errors,
    t_interval,
    wilson_interval,
)
from skdiffuse.ppi._spread import SpreadMixin, sum_of_squares

_LARGEST_RANGE = 1e150  # whose square is a float
METHODS = ("auto", "normal", "t", "bootstrap", "wilson")


class InferenceMixin(SpreadMixin):
    """What may be said of the mean, with what confidence."""

    def confidence_interval(
        self,
        confidence_level: float = 0.95,
        *,
        method: str = "auto",
        alternative: str = "two-sided",
        label_range: tuple[float, float] | None = None,
        random_state: Any = 0,
    ) -> tuple[float, float]:
        """Return an interval that holds the mean with the given confidence.

        Parameters
        ----------
        confidence_level : float, default=0.95
            Between 0 and 1, exclusive.
        method : {"auto", "normal", "t", "bootstrap", "wilson"}, default="auto"
            ``"normal"`` takes the normal distribution and variances with ddof 0, as
            most PPI software does; too narrow below some hundred labels. ``"t"``
            takes Student's t and `standard_error_`. ``"bootstrap"`` draws the labelled
            rows (or groups) again and again; for skewed labels of equal weight, such
            as counts, it is wider than ``"t"`` and closer to its level.
            ``"wilson"`` takes the score interval of a rate, for labels that are all 0
            or 1, or all -1, 0 or 1 (differences of two rates), or in `label_range`; it
            stays in that range and never has zero width. ``"auto"`` is ``"wilson"``
            for such labels and ``"t"`` for all others.
        alternative : {"two-sided", "less", "greater"}, default="two-sided"
            ``"greater"`` gives a lower bound alone, ``"less"`` an upper one; the open
            end is infinite (that of the range for ``"wilson"``).
        label_range : (low, high), default=None
            The least and the greatest value that a label can have, seen or not: (1, 5)
            for grades, (-1, 1) for differences of two rates, of which those seen may
            be 0 or 1 by chance. Give it where most labels are equal; elsewhere
            ``"t"`` is narrower.
        random_state : int, RandomState instance or None, default=0
            Seed of ``"bootstrap"``.

        Returns
        -------
        low, high : float
            The ends.

        Raises
        ------
        ValueError
            If an argument is out of its range; if there is a single label, or a
            single group of them, and the method is not ``"wilson"``; if ``"wilson"``
            meets other labels without a `label_range`; or if a label is out of that.

        Notes
        -----
        ``"t"`` takes the labels' part of the variance from leave-one-out residuals,
        sum r² (n - 1) / n³, which is the usual variance where nothing was fitted. It
        has the degrees of freedom of Welch and Satterthwaite, from N - 1 for the pool
        and n - 1, less those that the fit of g took, for the labels. With weights a_i
        that add up to one the sum is that of (1 - pi_i) (a_i r_i)², with pi_i the
        inclusion probability, and n in the degrees of freedom is 1 / sum a_i²; the
        pool's part is zero, since its mean is that of all rows. With groups the
        residuals of a whole group are left out and added up before they are squared,
        G groups of equal weight have G - 1 degrees of freedom (others fewer, as with
        weights), and pi_i is not used. The variance of g in the pool is that over all
        rows, with groups that of the pool's groups.

        ``"bootstrap"`` is studentised [2]_: 9,999 samples are drawn from the parts
        that the labelled rows (or groups) have in the estimate, each left out of its
        own fit, with normal noise for the pool, and the error of each is divided by
        its own standard error. The labels' part of that is held above 1 / n of its
        value here, since a small sample may be of equal rows. Levels beyond .9998 need
        more samples than that. It draws each labelled row 9,999 times: seconds for
        some ten thousand rows, for which ``"t"`` is hardly another interval.

        ``"wilson"`` is the score interval [1]_ at `mean_` with the effective sample
        size ``n / d``. The design effect d is the variance of the estimate relative
        to that of the mean of the labels: with S the sum of squared leave-one-out
        deviations of the labels from their mean, S_r that of their residuals, and v
        the variance of the pool's mean of g, ::

            d = (S_r + n³ / (n - 1) v + 2) / (S + 2)

        With weights or groups, d is multiplied by the design effect of the labels'
        mean itself. Labels in a `label_range` are scaled to [0, 1], and d is
        multiplied by their variance relative to that of zeros and ones, ::

            w = min(1, (sum (h - m)² + 4 b) / ((n - 1) m (1 - m) + 4 b))

        where m is their mean, b = q (1 - q) and q = (n m + 2) / (n + 4); w stands with
        the 2 of d too.

        References
        ----------
        .. [1] Wilson, "Probable inference, the law of succession, and statistical
           inference", JASA 22, 1927.
        .. [2] Efron and Tibshirani, "An introduction to the bootstrap", chapter 12,
           Chapman & Hall, 1993.
        """
        check_is_fitted(self)
        check_level(confidence_level, "confidence_interval")
        method, (low, high) = self._check_inference(
            method, alternative, label_range, "confidence_interval"
        )
        if method == "wilson":
            ends = wilson_interval(
                (self.mean_ - low) / (high - low),
                self._score_n(low, high),
                confidence_level,
                alternative,
            )
            low_end, high_end = (low + (high - low) * end for end in ends)
            return max(low, low_end), min(high, high_end)
        if method == "bootstrap":
            means = self._bootstrap_means(random_state)
            return bootstrap_interval(means, confidence_level, alternative)
        if method == "normal":
            error = math.sqrt(self._plain_variance())
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
        label_range: tuple[float, float] | None = None,
        random_state: Any = 0,
    ) -> float:
        """Return how surprising the data are if the mean were `null_mean`.

        Parameters
        ----------
        null_mean : float
            The mean under the null hypothesis; for ``"wilson"`` in [0, 1] or
            `label_range`.
        method : {"auto", "normal", "t", "bootstrap", "wilson"}, default="auto"
            As in `confidence_interval`.
        alternative : {"two-sided", "less", "greater"}, default="two-sided"
            ``"greater"``: the mean is above `null_mean`; ``"less"``: below.
        label_range : (low, high), default=None
            As in `confidence_interval`.
        random_state : int, RandomState instance or None, default=0
            Seed of ``"bootstrap"``.

        Returns
        -------
        float
            In [0, 1]. It is below ``1 - confidence_level`` exactly where the interval
            of the same method and alternative (and seed) leaves `null_mean` out.

        Raises
        ------
        ValueError
            As in `confidence_interval`; or if `null_mean` is not a finite number, or
            not in the range for ``"wilson"``.
        """
        check_is_fitted(self)
        if not isinstance(null_mean, Real) or not math.isfinite(null_mean):
            raise ValueError(f"null_mean={null_mean!r} is not a finite number.")
        method, (low, high) = self._check_inference(
            method, alternative, label_range, "p_value"
        )
        if method == "bootstrap":
            means = self._bootstrap_means(random_state)
            return bootstrap_p_value(means, null_mean, alternative)
        distance, freedom = self.mean_ - null_mean, math.inf
        if method == "wilson":
            if not low <= null_mean <= high:
                raise ValueError(
                    f"null_mean={null_mean:g} is no mean of labels in [{low:g}, "
                    f"{high:g}]; give a number in that range, or method='t'."
                )
            distance = min(max(self.mean_, low), high) - null_mean
            variance = (null_mean - low) * (high - null_mean)
            error = math.sqrt(variance / self._score_n(low, high))
        elif method == "normal":
            error = math.sqrt(self._plain_variance())
        else:
            error, freedom = self.standard_error_, self._degrees_of_freedom()
        return p_value_of(distance, error, freedom, alternative)

    def _check_inference(
        self, method: str, alternative: str, label_range: Any, caller: str
    ) -> tuple[str, tuple[float, float]]:
        """Check the arguments of an interval or a test.

        Returns
        -------
        method : str
            What "auto" stands for.
        range : (low, high)
            Of the labels, for "wilson".
        """
        validate_parameter_constraints(
            {
                "method": [StrOptions(set(METHODS))],
                "alternative": [StrOptions(set(ALTERNATIVES))],
            },
            {"method": method, "alternative": alternative},
            caller_name=caller,
        )
        low, high = self._check_range(label_range)
        if method == "auto":
            method = "t" if np.isnan(low) else "wilson"
        if method == "wilson" and np.isnan(low):
            value = self._labels[~np.isin(self._labels, (-1, 0, 1))][0]
            raise ValueError(
                f"method='wilson' needs labels 0 and 1, or -1, 0 and 1, but y holds "
                f"{value:g}; give label_range, the least and the greatest value of a "
                "label, or method='t'."
            )
        if method != "wilson" and self.n_labeled_ < 2:
            raise ValueError(
                "y has a single label, which tells nothing of the spread; label at "
                "least 2 rows for an interval."
            )
        if method != "wilson" and self._n_parts < 2:
            raise ValueError(
                "groups has a single group among the labelled rows, which tells "
                "nothing of the spread between groups; label rows of at least 2."
            )
        return method, (low, high)

    def _check_range(self, label_range: Any) -> tuple[float, float]:
        """Return the range of the labels, or what can be told from them, or NaN."""
        if label_range is None:
            for low in (0.0, -1.0):
                if np.isin(self._labels, (low, 0, 1)).all():
                    return low, 1.0
            return math.nan, math.nan
        try:
            low, high = (float(end) for end in label_range)
        except (TypeError, ValueError, OverflowError):
            low = high = math.nan
        if not (low < high and high - low < _LARGEST_RANGE):
            raise ValueError(
                f"label_range={label_range!r} must be two finite numbers, the smaller "
                "first: what a label can be."
            )
        # A label of 0.7 in single precision is not quite 0.7.
        slack = 1e-6 * (high - low)
        beyond = (self._labels < low - slack) | (self._labels > high + slack)
        outside = self._labels[beyond]
        if len(outside):
            raise ValueError(
                f"label_range=({low:g}, {high:g}), but y holds {outside[0]:g}; give "
                "the least and the greatest value that a label can have."
            )
        return low, high

    def _bootstrap_means(self, random_state: Any) -> np.ndarray:
        """Return means that resampled labelled rows make plausible, ascending."""
        rng = check_random_state(random_state)
        influence = self._left_out_influence
        total = self._total_variance(influence, left_out=True)
        n = self._n_parts
        pool = max(total - float(sum_of_squares(influence)) * (n - 1) / n, 0.0)
        errors = studentised_errors(influence, pool, self._n_equal_parts(), rng)
        return self.mean_ - math.sqrt(total) * errors[::-1]
