"""The arithmetic of prediction-powered means, whatever predicts the labels."""

import itertools
import math
from abc import ABCMeta, abstractmethod
from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from scipy import stats
from sklearn.base import BaseEstimator, RegressorMixin, _fit_context
from sklearn.metrics import r2_score
from sklearn.model_selection import check_cv
from sklearn.utils import column_or_1d, gen_batches
from sklearn.utils._param_validation import (
    HasMethods,
    Interval,
    StrOptions,
    validate_parameter_constraints,
)
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from skdiffuse._validation import (
    check_finite_rows,
    check_labels,
    check_vectors,
)
from skdiffuse.ppi._intervals import (
    ALTERNATIVES,
    normal_interval,
    p_value_of,
    t_interval,
    wilson_interval,
)
from skdiffuse.ppi._models import LinearModel, Model
from skdiffuse.ppi._moments import PoolMoments, checked_chunk, chunks

METHODS = ("auto", "normal", "t", "wilson")

# Added to both sums of squares of the Wilson interval, so that a judge is not taken
# for perfect because a few labels agree with it.
_WILSON_PRIOR = 2.0
_BATCH = 1 << 16


class BasePPIMeanEstimator(RegressorMixin, BaseEstimator, metaclass=ABCMeta):
    """Base of the estimators: a subclass says how g is fitted, and nothing else.

    A subclass defines `_fit_model(X, y, pool)`, which returns a `Model`. If its model
    is linear it sets `_linear`, and the pool enters by its moments alone; else the
    model sees each row of the pool once.
    """

    _parameter_constraints: dict = {
        "cross_fit": [
            Interval(Integral, 2, None, closed="left"),
            HasMethods(["split", "get_n_splits"]),
            None,
        ],
    }

    cross_fit: Any
    _linear = True

    @abstractmethod
    def _fit_model(self, X: np.ndarray, y: np.ndarray, pool: PoolMoments) -> Model:
        """Fit g on labelled rows; `pool` has the moments of the others."""

    def _folds(self) -> Any:
        """Return what splits the labelled rows for cross-fitting, or None."""
        return self.cross_fit

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, *, pool: Any = None) -> Self:
        """Estimate the mean.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Judge scores, one column a judge (or covariate).
        y : array-like of shape (n_samples,)
            Labels; NaN where a row has none.
        pool : array-like, iterable of array-like, or PoolMoments, default=None
            More rows without a label, of shape (n_rows, n_features), beside those of
            `X`: an array, or chunks that are read one at a time, or (where g is
            linear) their moments.

        Returns
        -------
        self : estimator
            The fitted estimator.

        Raises
        ------
        ValueError
            If `X`, `y` or `pool` cannot be used; see the class.
        """
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but "
                "the target y is None: pass the labels, NaN where a row has none."
            )
        before = dict(vars(self))
        try:
            self._fit(X, y, pool)
        except Exception:
            # A failed fit leaves the estimator as it was.
            self.__dict__.clear()
            self.__dict__.update(before)
            raise
        return self

    def _fit(self, X: Any, y: Any, pool: Any) -> None:
        X = check_vectors(self, X, reset=True)
        y = check_labels(y)
        _check_same_length(X, y)
        labeled = ~np.isnan(y)
        if not labeled.any():
            raise ValueError(
                "y has no label: every value is NaN; label at least one row."
            )
        # Only a linear g has it.
        self.__dict__.pop("lambda_", None)
        self._labels = y[labeled]
        self._scores = X[labeled].astype(np.float64, copy=False)
        with np.errstate(over="ignore", invalid="ignore"):
            if self._linear:
                self._fit_linear(X[~labeled], pool)
            else:
                self._fit_by_rows(X[~labeled], pool)
            self._finish()

    def _fit_linear(self, rows: np.ndarray, pool: Any) -> None:
        """Fit a linear g: the moments of the pool say everything of it."""
        moments = PoolMoments.of(rows)
        if isinstance(pool, PoolMoments):
            self._check_columns(len(pool.mean))
            moments = moments + pool
        else:
            for chunk in self._pool_chunks(pool):
                moments = moments + PoolMoments.of(chunk)
        here = PoolMoments.of(self._scores)
        self._refuse_overflow(here.comoment, moments.comoment)
        reference = moments if moments.count else here
        self.judge_mean_ = reference.mean
        # From the mean of the labelled rows on, so that no digits are lost where
        # scores are large beside their spread.
        self._origin = here.mean
        models = self._fit_models(moments)
        weights = sum(share * model.weights for share, model in models)
        self._pool_value = float(weights @ (reference.mean - self._origin))
        self._pool_comoment = max(float(weights @ reference.comoment @ weights), 0.0)
        self.n_unlabeled_ = moments.count
        self.lambda_ = weights
        self._g_at_origin = float(weights @ self._origin)

    def _fit_by_rows(self, rows: np.ndarray, pool: Any) -> None:
        """Fit any g, and let it see each row of the pool once."""
        if isinstance(pool, PoolMoments):
            raise ValueError(
                "pool is PoolMoments, but this g is not linear and has to see the "
                "rows; pass them as an array or an iterable of arrays."
            )
        self._origin = np.zeros(self.n_features_in_)
        self._g_at_origin = 0.0
        models = self._fit_models(PoolMoments.of(self._scores[:0]))
        judges = PoolMoments.of(self._scores[:0])
        values = PoolMoments.of(np.empty((0, 1)))
        for chunk in itertools.chain([rows], self._pool_chunks(pool)):
            for batch in gen_batches(len(chunk), _BATCH) if len(chunk) else ():
                judges = judges + PoolMoments.of(chunk[batch])
                predicted = self._average(models, chunk[batch])
                values = values + PoolMoments.of(predicted[:, np.newaxis])
        if not judges.count:
            judges = PoolMoments.of(self._scores)
            predicted = self._average(models, self._scores)
            values = PoolMoments.of(predicted[:, np.newaxis])
            self.n_unlabeled_ = 0
        else:
            self.n_unlabeled_ = judges.count
        self.judge_mean_ = judges.mean
        self._pool_value = float(values.mean[0])
        self._pool_comoment = float(values.comoment[0, 0])

    def _fit_models(self, pool: PoolMoments) -> list[tuple[float, Any]]:
        """Fit g, or one g a fold; keep the values on the labelled rows.

        Returns
        -------
        list of (share, model)
            The shares add up to one; a fold counts by its size.
        """
        scores, labels = self._scores - self._origin, self._labels
        n = len(labels)
        self._values = np.empty(n)
        self._leverage = np.full(n, 1 / n)
        folds = self._folds()
        if isinstance(folds, Integral):
            folds = min(int(folds), n)
        if folds is None or n < 2:
            model = self._fit_model(scores, labels, pool)
            self._values[:] = model.values(scores)
            self._leverage += model.leverage(scores)
            self._n_weights = model.n_weights
            models = [(1.0, model)]
        else:
            self._n_weights = 0.0
            models = []
            seen = np.zeros(n, dtype=int)
            for train, test in check_cv(folds).split(scores, labels):
                model = self._fit_model(scores[train], labels[train], pool)
                self._values[test] = model.values(scores[test])
                seen[test] += 1
                models.append((len(test) / n, model))
            if (seen != 1).any():
                raise ValueError(
                    f"cross_fit={folds!r} puts a labelled row into {seen.max()} test "
                    f"folds, another into {seen.min()}; each has to be in one, as with "
                    "KFold."
                )
        fallbacks = [model.fallback for _, model in models]
        self.fallback_ = fallbacks[0] if all(fallbacks) else None
        self._models: list[tuple[float, Any]] = models
        return models

    def _average(self, models: list[tuple[float, Any]], X: np.ndarray) -> np.ndarray:
        X = X.astype(np.float64, copy=False) - self._origin
        return sum(share * model.values(X) for share, model in models)

    def _finish(self) -> None:
        """Add up the estimate from the values of g here and in the pool."""
        labels = self._labels
        self.n_labeled_ = len(labels)
        self.classical_mean_ = float(labels.mean())
        self._refuse_overflow(_sum_of_squares(labels - self.classical_mean_))
        here = float(self._values.mean())
        self._shift = self.classical_mean_ - here
        self.rectifier_ = self._shift - self._g_at_origin
        self._residuals = labels - self.classical_mean_
        self.mean_ = self.classical_mean_
        # Without a pool the labelled rows stand for it: the estimate is their mean.
        if self.n_unlabeled_:
            self.mean_ = float(self.classical_mean_ + (self._pool_value - here))
            self._residuals = self._residuals - (self._values - here)
        else:
            self.fallback_ = "no unlabelled rows"
        self._refuse_overflow(self.mean_, self.rectifier_, self._variance(ddof=0))
        self._say_what_the_judge_is_worth()

    def _say_what_the_judge_is_worth(self) -> None:
        self.effective_sample_size_ = self._effective_n()
        self.labels_saved_ = self.effective_sample_size_ - self.n_labeled_
        self.judge_helps_ = bool(self.labels_saved_ > 0)
        n, effective = self.n_labeled_, self.effective_sample_size_
        if self.fallback_:
            self.judge_reason_ = f"the mean of the labels is taken: {self.fallback_}"
        elif self.judge_helps_:
            self.judge_reason_ = (
                f"{n} labels with the judge are worth {effective:.0f} labels alone"
            )
        elif self.labels_saved_ == 0:
            self.judge_reason_ = "the judge has no weight"
        else:
            self.judge_reason_ = (
                f"the judge does not predict the labels: {n} labels with it are worth "
                f"{effective:.0f} alone"
            )

    def _pool_chunks(self, pool: Any) -> Iterator[np.ndarray]:
        """Yield the checked chunks of the pool that was given beside X."""
        if pool is None:
            return
        number = -1
        for number, chunk in enumerate(chunks(pool)):
            values = checked_chunk(chunk, number)
            self._check_columns(values.shape[1])
            names = getattr(self, "feature_names_in_", None)
            if names is None or not hasattr(chunk, "columns"):
                yield values
                continue
            if list(chunk.columns) != list(names):
                raise ValueError(
                    f"chunk {number} of pool has the columns {list(chunk.columns)}, "
                    f"but X has {list(names)}; give both the same judges in the same "
                    "order."
                )
            yield values
        if number < 0:
            raise ValueError("pool has no chunk; pass at least one, or pool=None.")

    def _check_columns(self, n_columns: int) -> None:
        if n_columns != self.n_features_in_:
            raise ValueError(
                f"pool has {n_columns} columns, but X has {self.n_features_in_}; give "
                "both the same judges in the same order."
            )

    def _refuse_overflow(self, *results: Any) -> None:
        if not all(np.isfinite(result).all() for result in results):
            raise ValueError(
                "The squares of X or y overflow: the largest values are "
                f"{np.abs(self._scores).max():.3g} in the labelled rows of X and "
                f"{np.abs(self._labels).max():.3g} in y; divide them by a constant."
            )

    def _variance(self, ddof: float) -> float:
        """Return the estimated variance of the mean."""
        return self._label_variance(ddof) + self._pool_variance(min(ddof, 1))

    def _label_variance(self, ddof: float) -> float:
        n = self.n_labeled_
        return float(_sum_of_squares(self._residuals)) / (n * max(n - ddof, 1))

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
        return float(_sum_of_squares(left_out)) * (n - 1) / n**3

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
        spread = _sum_of_squares(deviations * n / max(n - 1, 1))
        return float(spread) + prior, float(_sum_of_squares(left_out)) + prior

    def _explained(self) -> float:
        """Return the share of the spread that g explains, shrunk for few labels."""
        spread, rest = self._left_out_squares()
        explained = 1 - rest / spread if spread else 0.0
        n = self.n_labeled_
        return explained * max(0, n - 3) / n if explained > 0 else explained

    def predict(self, X: Any) -> np.ndarray:
        """Predict labels from judge scores; the mean over the pool is `mean_`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Judge scores.

        Returns
        -------
        ndarray of shape (n_samples,)
            g of the scores, plus the rectifier.

        Raises
        ------
        ValueError
            If `X` has NaN or infinity, or another number of columns than in `fit`.
        """
        check_is_fitted(self)
        X = check_vectors(self, X, reset=False)
        with np.errstate(over="ignore", invalid="ignore"):
            predictions = self._average(self._models, X) + self._shift
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
                    "sample_weight has no positive sum over the labelled rows; leave "
                    "it out, or give some of them a weight."
                )
        with np.errstate(over="ignore", invalid="ignore"):
            score = float(r2_score(y, predictions, sample_weight=sample_weight))
        if not np.isfinite(score):
            raise ValueError("The squares of y overflow; divide it by a constant.")
        return score

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "judge_reason_")


def constant_model(
    X: np.ndarray, fallback: str | None, level: float = 0.0
) -> LinearModel:
    """Return the g that is the same for all rows, and why.

    A linear g is counted from the mean of the labelled rows, so its level is zero; any
    other has that of the labels it was fitted on.
    """
    return LinearModel(np.zeros(X.shape[1]), fallback=fallback, level=level)


def is_constant(moments: PoolMoments, origin: np.ndarray) -> np.ndarray:
    """Tell which columns vary by no more than the rounding of their values.

    Parameters
    ----------
    moments : PoolMoments
        Of columns that `origin` was taken off.
    origin : ndarray of shape (n_features,)
    """
    spread = np.sqrt(np.diag(moments.covariance()))
    return spread <= 1e-14 * (np.abs(moments.mean) + np.abs(origin))


def _check_level(confidence_level: float, caller: str) -> None:
    validate_parameter_constraints(
        {"confidence_level": [Interval(Real, 0, 1, closed="neither")]},
        {"confidence_level": confidence_level},
        caller_name=caller,
    )


def _check_same_length(X: np.ndarray, y: np.ndarray) -> None:
    if len(X) != len(y):
        raise ValueError(
            f"X and y have inconsistent numbers of samples, {len(X)} and {len(y)}; "
            "give y one value a row of X, NaN where it has no label."
        )


def _sum_of_squares(values: np.ndarray) -> Any:
    return np.sum(values * values, axis=0)
