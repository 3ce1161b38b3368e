"""PPIMeanEstimator: a mean from few labels and a judge on everything."""

import math
from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, _fit_context
from sklearn.metrics import r2_score
from sklearn.utils import column_or_1d
from sklearn.utils._param_validation import (
    Interval,
    StrOptions,
    validate_parameter_constraints,
)
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from skdiffuse._validation import (
    check_finite_rows,
    check_labels,
    check_vectors,
    rows_in_words,
)
from skdiffuse.ppi._intervals import (
    ALTERNATIVES,
    normal_interval,
    t_interval,
    wilson_interval,
)
from skdiffuse.ppi._moments import Moments

METHODS = ("auto", "normal", "t", "wilson")

# Added to both sums of squares of the Wilson interval, so that a judge is not taken
# for perfect because a few labels agree with it.
_WILSON_PRIOR = 2.0


class PPIMeanEstimator(RegressorMixin, BaseEstimator):
    r"""Estimate a mean from few labels and a cheap judge on every row.

    The mean of the judge over the pool (the rows without a label) is corrected by the
    rectifier: how far the labels lie from the judge where both are known.

    Parameters
    ----------
    lam : float, array-like of shape (n_features,), "ols" or "ppi++", default="ols"
        How much to trust the judge: the prediction of a row is ``lam`` times its
        judge score. A number is one weight for the sum of the judge columns, an
        array has one weight a column; 0 is the classical mean of the labels, 1 is
        PPI [1]_. ``"ols"`` is the regression of the labels on the judges in the
        labelled rows (eq. 6 of [2]_); ``"ppi++"`` is the weight of [3]_, which also
        weighs the size of the pool.
    clip : bool, default=False
        Hold each estimated weight in [0, 1]. Numbers are taken as they are.

    Attributes
    ----------
    mean_ : float
        The estimate.
    standard_error_ : float
        Its standard error; not defined (an AttributeError) for a single label.
    lambda_ : ndarray of shape (n_features,)
        The weight of each judge column.
    rectifier_ : float
        Mean of label minus prediction over the labelled rows.
    classical_mean_ : float
        Mean of the labels alone.
    judge_mean_ : ndarray of shape (n_features,)
        Mean of each judge column over the pool; over all rows if none is unlabelled.
    n_labeled_ : int
        Number of rows with a label.
    n_unlabeled_ : int
        Number of rows in the pool.
    fallback_ : str or None
        Why the estimate is the mean of the labels although a judge was given:
        ``"no unlabelled rows"``, ``"constant labels"``, ``"constant judge"`` or
        ``"too few labels"`` (``"ols"`` needs two more labels than judges); else None.
    n_features_in_ : int
        Number of judge columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the judge columns, where `X` has names that are all strings.

    Raises
    ------
    ValueError
        If `X` has NaN or infinity, `y` has no label at all or an infinite one, their
        lengths differ, `lam` has another length than `X` has columns, or the numbers
        are so large that their squares overflow.

    See Also
    --------
    LabeledKFold : Splits the labelled rows for grid search.

    Notes
    -----
    With labels h and judge f on n labelled rows, the judge alone on N rows of the
    pool, and predictions ``g = lam * f``:

    .. math::

        \hat\theta = \frac1N \sum_{j \le N} g(f_j)
        + \frac1n \sum_{i \le n} (h_i - g(f_i)),
        \qquad
        \mathrm{SE}^2 = \frac{\mathrm{Var}\, g(f_{pool})}{N}
        + \frac{\mathrm{Var}(h - g(f))}{n}.

    The labelled rows must be a random sample of all rows. Labels that were chosen,
    such as those of `DiffUseSelector`, bias the estimate and its interval.

    ``"ols"`` takes ``lam = Var(f)^-1 Cov(f, h)`` over the labelled rows; ``"ppi++"``
    takes the covariance of the labelled rows (ddof 0) and the variance of all rows
    (ddof 1), divided by ``1 + n / N``. The standard error counts one degree of
    freedom for the mean and one for each weight of ``"ols"``.

    References
    ----------
    .. [1] Angelopoulos et al., "Prediction-powered inference", Science 382, 2023.
    .. [2] Eyre and Madras, "Auto-Evaluation with Few Labels through Post-hoc
       Regression", arXiv:2411.12665, ICML 2025.
    .. [3] Angelopoulos, Duchi and Zrnic, "PPI++: Efficient Prediction-Powered
       Inference", arXiv:2311.01453.
    .. [4] Wilson, "Probable inference, the law of succession, and statistical
       inference", JASA 22, 1927.

    Examples
    --------
    >>> import numpy as np
    >>> from skdiffuse import PPIMeanEstimator
    >>> judge = [[0.9], [0.2], [0.8], [0.4], [0.6], [0.3], [0.9], [0.8], [0.2]]
    >>> label = [1, 0, 1, 0, 1, np.nan, np.nan, np.nan, np.nan]
    >>> estimator = PPIMeanEstimator(lam=1.0).fit(judge, label)
    >>> round(estimator.mean_, 3), round(estimator.classical_mean_, 3)
    (0.57, 0.6)
    >>> low, high = estimator.confidence_interval(0.9, method="t")
    >>> round(low, 3), round(high, 3)
    (0.133, 1.007)
    """

    _parameter_constraints: dict = {
        "lam": [
            Interval(Real, None, None, closed="neither"),
            StrOptions({"ols", "ppi++"}),
            "array-like",
        ],
        "clip": ["boolean"],
    }

    def __init__(self, lam: Any = "ols", *, clip: bool = False) -> None:
        self.lam = lam
        self.clip = clip

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> Self:
        """Estimate the mean.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Judge scores, one column a judge (or covariate).
        y : array-like of shape (n_samples,)
            Labels; NaN where a row has none.

        Returns
        -------
        self : PPIMeanEstimator
            The fitted estimator.

        Raises
        ------
        ValueError
            If `X` or `y` cannot be used; see the class.
        """
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but "
                "the target y is None: pass the labels, NaN where a row has none."
            )
        X = check_vectors(self, X, reset=True)
        y = check_labels(y)
        _check_same_length(X, y)
        labeled = ~np.isnan(y)
        if not labeled.any():
            raise ValueError(
                "y has no label: every value is NaN; label at least one row."
            )
        self._labels = y[labeled]
        self._scores = X[labeled].astype(np.float64, copy=False)
        with np.errstate(over="ignore", invalid="ignore"):
            self._fit_moments(Moments.of(X[~labeled]))
        return self

    def _fit_moments(self, pool: Moments) -> None:
        labels, scores = self._labels, self._scores
        here = Moments.of(scores)
        self.n_labeled_, self.n_unlabeled_ = here.count, pool.count
        self._refuse_overflow(here.comoment, pool.comoment, _sum_of_squares(labels))
        self.fallback_ = None
        self._n_weights = 0
        self.lambda_ = self._weights(here, pool)
        self.classical_mean_ = float(labels.mean())
        # Without a pool the labelled rows stand for it: the estimate is their mean.
        if pool.count == 0:
            self.fallback_ = "no unlabelled rows"
        self._reference = pool if pool.count else here
        self.judge_mean_ = self._reference.mean
        step = self.lambda_ @ (self._reference.mean - here.mean)
        self.mean_ = float(self.classical_mean_ + step)
        self.rectifier_ = float(self.classical_mean_ - self.lambda_ @ here.mean)
        self._residuals = labels - self.classical_mean_
        if pool.count:
            self._residuals = self._residuals - (scores - here.mean) @ self.lambda_
        self._refuse_overflow(
            self.mean_, self.rectifier_, self.lambda_, self._variance(ddof=0)
        )

    def _weights(self, here: Moments, pool: Moments) -> np.ndarray:
        """Return the weight of each judge column."""
        n_features = len(here.mean)
        if not isinstance(self.lam, str):
            return _as_weights(self.lam, n_features)
        labels = self._labels
        deviations = labels - labels.mean()
        covariance = (self._scores - here.mean).T @ deviations / here.count
        if self.lam == "ols":
            scatter = here.comoment / here.count
        else:
            share = 1 + here.count / pool.count if pool.count else 1.0
            scatter = here.merge(pool).covariance(ddof=1) * share
        varies = ~_is_constant(here)
        if self.lam == "ols" and here.count < 3:
            self.fallback_ = "too few labels"
        elif np.ptp(labels) == 0:
            self.fallback_ = "constant labels"
        elif not varies.any():
            self.fallback_ = "constant judge"
        weights = np.zeros(n_features)
        if self.fallback_:
            return weights
        kept = np.ix_(varies, varies)
        weights[varies], rank = _solve(scatter[kept], covariance[varies])
        if self.lam == "ols":
            if here.count < rank + 2:
                self.fallback_ = "too few labels"
                return np.zeros(n_features)
            self._n_weights = rank
        return np.clip(weights, 0, 1) if self.clip else weights

    def _refuse_overflow(self, *results: Any) -> None:
        if not all(np.isfinite(result).all() for result in results):
            raise ValueError(
                "The squares of X or y overflow: the largest values are "
                f"{np.abs(self._scores).max():.3g} in the labelled rows of X and "
                f"{np.abs(self._labels).max():.3g} in y; divide them by a constant."
            )

    def _variance(self, ddof: int) -> float:
        """Return the estimated variance of the mean."""
        return self._label_variance(ddof) + self._pool_variance(min(ddof, 1))

    def _label_variance(self, ddof: int) -> float:
        n = self.n_labeled_
        return float(_sum_of_squares(self._residuals)) / (n * max(n - ddof, 1))

    def _pool_variance(self, ddof: int) -> float:
        if not self.n_unlabeled_:
            return 0.0
        covariance = self._reference.covariance(ddof)
        spread = self.lambda_ @ covariance @ self.lambda_
        return max(float(spread), 0.0) / self.n_unlabeled_

    def _ddof(self) -> int:
        return 1 + (self._n_weights if self.n_unlabeled_ else 0)

    @property
    def standard_error_(self) -> float:
        """Standard error of `mean_`."""
        if not hasattr(self, "mean_") or self.n_labeled_ < 2:
            raise AttributeError(
                "standard_error_ exists after fit with at least 2 labelled rows."
            )
        return math.sqrt(self._variance(self._ddof()))

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
        ``"t"`` has the degrees of freedom of Welch and Satterthwaite, from
        N - 1 for the pool and n - 1 (less one a weight of ``"ols"``) for the labels.

        ``"wilson"`` is the score interval [4]_ at `mean_` with the effective sample
        size ``n / d``. The design effect d is the variance of the estimate relative
        to that of the mean of the labels: with S the sum of squared leave-one-out
        deviations of the labels from their mean, and S_r that of their residuals
        ``h - g(f)``, ::

            d = 1 - R2 + (n / N) Var g(f_pool) / ((S + 2) / n)
            R2 = 1 - (S_r + 2) / (S + 2),  times (n - 3) / n where positive
        """
        check_is_fitted(self)
        validate_parameter_constraints(
            {
                "confidence_level": [Interval(Real, 0, 1, closed="neither")],
                "method": [StrOptions(set(METHODS))],
                "alternative": [StrOptions(set(ALTERNATIVES))],
            },
            {
                "confidence_level": confidence_level,
                "method": method,
                "alternative": alternative,
            },
            caller_name="confidence_interval",
        )
        binary = np.isin(self._labels, (0, 1))
        if method == "auto":
            method = "wilson" if binary.all() else "t"
        if method == "wilson":
            if not binary.all():
                value = self._labels[~binary][0]
                raise ValueError(
                    f"method='wilson' needs labels 0 and 1, but y holds {value:g}; use "
                    "method='t'."
                )
            return wilson_interval(
                self.mean_, self._effective_n(), confidence_level, alternative
            )
        if self.n_labeled_ < 2:
            raise ValueError(
                "y has a single label, which tells nothing of the spread; label at "
                "least 2 rows for an interval."
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

    def _degrees_of_freedom(self) -> float:
        """Combine the degrees of freedom of labels and pool (Welch-Satterthwaite)."""
        ddof = self._ddof()
        label, pool = self._label_variance(ddof), self._pool_variance(1)
        label_freedom = max(self.n_labeled_ - ddof, 1)
        if label + pool == 0 or pool == 0:
            return label_freedom
        share = label / (label + pool)
        pool_freedom = max(self.n_unlabeled_ - 1, 1)
        return 1 / (share**2 / label_freedom + (1 - share) ** 2 / pool_freedom)

    def _effective_n(self) -> float:
        """Count the labels that would give the classical mean the same variance."""
        n = self.n_labeled_
        if not self.n_unlabeled_ or not self.lambda_.any():
            return n
        deviations = self._labels - self.classical_mean_
        spread = _sum_of_squares(deviations * n / max(n - 1, 1)) + _WILSON_PRIOR
        rest = _sum_of_squares(self._left_out_residuals()) + _WILSON_PRIOR
        explained = 1 - rest / spread
        if explained > 0:
            explained *= max(0, n - 3) / n
        pool = n * self._pool_variance(ddof=0) / (spread / n)
        return n / (1 - explained + pool)

    def _left_out_residuals(self) -> np.ndarray:
        """Return each residual from a fit (mean, and "ols" weights) without its row."""
        leverage = np.full(self.n_labeled_, 1 / self.n_labeled_)
        if self._n_weights:
            scores = self._scores - self._scores.mean(axis=0)
            basis = np.linalg.svd(scores, full_matrices=False)[0][:, : self._n_weights]
            leverage = leverage + _sum_of_squares(basis.T)
        # A row that alone fixes a weight has no residual; cap what it may count for.
        return self._residuals / np.maximum(1 - leverage, 1 / self.n_labeled_)

    def predict(self, X: Any) -> np.ndarray:
        """Predict labels from judge scores; the mean over the pool is `mean_`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Judge scores.

        Returns
        -------
        ndarray of shape (n_samples,)
            ``lambda_`` times the scores, plus the rectifier.

        Raises
        ------
        ValueError
            If `X` has NaN or infinity, or another number of columns than in `fit`.
        """
        check_is_fitted(self)
        X = check_vectors(self, X, reset=False)
        with np.errstate(over="ignore", invalid="ignore"):
            predictions = X @ self.lambda_ + self.rectifier_
        check_finite_rows(predictions, "The prediction", "divide X by a constant")
        return predictions

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return R² of `predict` on the labelled rows.

        The larger it is on rows left out, the tighter the interval.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Judge scores.
        y : array-like of shape (n_samples,)
            Labels; rows with NaN are left out.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        float
            At most 1. Where the labels do not vary (a single one in a fold, say) it
            is 1 if they are predicted exactly and 0 if not.

        Raises
        ------
        ValueError
            If no row has a label.
        """
        y = check_labels(y)
        labeled = ~np.isnan(y)
        predictions = self.predict(X)
        _check_same_length(predictions, y)
        if sample_weight is not None:
            sample_weight = column_or_1d(sample_weight, dtype=np.float64)
            check_consistent_length(predictions, sample_weight)
        if not labeled.any():
            raise ValueError(
                "y has no label to score against; use LabeledKFold to split the "
                "labelled rows."
            )
        y, predictions = y[labeled], predictions[labeled]
        if len(y) == 1:
            return float(y[0] == predictions[0])
        if sample_weight is not None:
            sample_weight = sample_weight[labeled]
            if not sample_weight.sum() > 0:
                raise ValueError(
                    "sample_weight has no positive sum over the labelled rows; leave it "
                    "out, or give some of them a weight."
                )
        with np.errstate(over="ignore", invalid="ignore"):
            score = float(r2_score(y, predictions, sample_weight=sample_weight))
        if not np.isfinite(score):
            raise ValueError("The squares of y overflow; divide it by a constant.")
        return score

    def __sklearn_tags__(self):  # type: ignore[no-untyped-def]
        tags = super().__sklearn_tags__()
        # A weight given as a number is not fitted to the labels.
        tags.regressor_tags.poor_score = not isinstance(self.lam, str)
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "mean_")


def _check_same_length(X: np.ndarray, y: np.ndarray) -> None:
    if len(X) != len(y):
        raise ValueError(
            f"X and y have inconsistent numbers of samples, {len(X)} and {len(y)}; "
            "give y one value a row of X, NaN where it has no label."
        )


def _as_weights(lam: Any, n_features: int) -> np.ndarray:
    try:
        weights = np.asarray(lam)
        weights = weights.astype(np.float64, casting="same_kind")
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(
            f"lam={lam!r} has to be a number, one number a judge column, 'ols' or "
            "'ppi++'."
        ) from error
    if weights.ndim == 0:
        weights = np.full(n_features, float(weights))
    if weights.shape != (n_features,):
        raise ValueError(
            f"lam has shape {weights.shape}, but X has {n_features} judge columns; "
            "pass one number, or one number a column."
        )
    bad = np.flatnonzero(~np.isfinite(weights))
    if len(bad):
        raise ValueError(
            f"lam={weights[bad[0]]} at {rows_in_words(bad.tolist())} is not a finite "
            "number."
        )
    return weights


def _solve(scatter: np.ndarray, covariance: np.ndarray) -> tuple[np.ndarray, int]:
    """Solve for the weights in units of each column's spread; collinear ones share."""
    scale = np.sqrt(np.diag(scatter))
    scaled = scatter / np.outer(scale, scale)
    weights, _, rank, _ = np.linalg.lstsq(scaled, covariance / scale, rcond=1e-10)
    return weights / scale, int(rank)


def _is_constant(moments: Moments) -> np.ndarray:
    """Tell which columns vary by no more than the rounding of their values."""
    spread = np.sqrt(np.diag(moments.covariance()))
    return spread <= 1e-14 * np.abs(moments.mean)


def _sum_of_squares(values: np.ndarray) -> Any:
    return np.sum(values * values, axis=0)
