"""The arithmetic of prediction-powered means, whatever predicts the labels."""

import itertools
from abc import ABCMeta, abstractmethod
from collections.abc import Iterator
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, _fit_context
from sklearn.metrics import r2_score
from sklearn.model_selection import check_cv
from sklearn.utils import column_or_1d, gen_batches
from sklearn.utils._param_validation import (
    HasMethods,
    Interval,
)
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from skdiffuse._validation import (
    check_finite_rows,
    check_labels,
    check_vectors,
)
from skdiffuse.ppi._inference import InferenceMixin, sum_of_squares
from skdiffuse.ppi._models import LinearModel, Model
from skdiffuse.ppi._moments import PoolMoments, checked_chunk, chunks

_BATCH = 1 << 16


class BasePPIMeanEstimator(
    InferenceMixin, RegressorMixin, BaseEstimator, metaclass=ABCMeta
):
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
        moments = PoolMoments.of_checked(rows)
        if isinstance(pool, PoolMoments):
            self._check_columns(len(pool.mean))
            moments = moments + pool
        else:
            for chunk in self._pool_chunks(pool):
                moments = moments + PoolMoments.of_checked(chunk)
        here = PoolMoments.of_checked(self._scores)
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
        models = self._fit_models(PoolMoments.of_checked(self._scores[:0]))
        judges = PoolMoments.of_checked(self._scores[:0])
        values = PoolMoments.of_checked(np.empty((0, 1)))
        for chunk in itertools.chain([rows], self._pool_chunks(pool)):
            for batch in gen_batches(len(chunk), _BATCH) if len(chunk) else ():
                judges = judges + PoolMoments.of_checked(chunk[batch])
                predicted = self._average(models, chunk[batch])
                values = values + PoolMoments.of(predicted[:, np.newaxis])
        if not judges.count:
            judges = PoolMoments.of_checked(self._scores)
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
        self._refuse_overflow(sum_of_squares(labels - self.classical_mean_))
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


def why_constant(y: np.ndarray, varies: np.ndarray, fewest: int) -> str | None:
    """Say why no g can be fitted, or None if one can.

    Parameters
    ----------
    y : ndarray of shape (n_labels,)
    varies : ndarray of shape (n_features,)
        Which judge columns vary.
    fewest : int
        How many labels the fit needs.
    """
    if len(y) < fewest:
        return "too few labels"
    if np.ptp(y) == 0:
        return "constant labels"
    return None if varies.any() else "constant judge"


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


def _check_same_length(X: np.ndarray, y: np.ndarray) -> None:
    if len(X) != len(y):
        raise ValueError(
            f"X and y have inconsistent numbers of samples, {len(X)} and {len(y)}; "
            "give y one value a row of X, NaN where it has no label."
        )
