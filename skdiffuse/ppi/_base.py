"""The arithmetic of prediction-powered means, whatever predicts the labels."""

from abc import ABCMeta, abstractmethod
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, _fit_context
from sklearn.metrics import r2_score
from sklearn.model_selection import GroupKFold, KFold
from sklearn.utils import column_or_1d
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from skdiffuse._validation import (
    check_finite_rows,
    check_groups,
    check_labels,
    check_vectors,
    check_weights,
    unchanged_on_failure,
)
from skdiffuse.ppi._inference import InferenceMixin
from skdiffuse.ppi._models import LinearModel, Model, hat_of_the_mean
from skdiffuse.ppi._moments import (
    PoolMoments,
    batches,
    check_columns,
    check_names,
    checked_chunk,
    sum_over,
)
from skdiffuse.ppi._sample import Sample
from skdiffuse.ppi._spread import sum_of_squares


class BasePPIMeanEstimator(
    InferenceMixin, RegressorMixin, BaseEstimator, metaclass=ABCMeta
):
    """Base of the estimators: a subclass says how g is fitted, and nothing else.

    A subclass defines `_fit_model(sample)`, which returns a `Model`. If its model is
    linear it sets `_linear`, and the pool enters by its moments alone; else the model
    sees each row of the pool once.
    """

    _parameter_constraints: dict = {
        "cross_fit": [
            Interval(Integral, 2, None, closed="left"),
            "cv_object",
            None,
        ],
    }

    cross_fit: Any
    _linear = True

    @abstractmethod
    def _fit_model(self, sample: Sample) -> Model:
        """Fit g on labelled rows."""

    @property
    def _over_all_rows(self) -> bool:
        """Whether g is averaged over the labelled rows too."""
        return True

    def _folds(self) -> Any:
        """Return what splits the labelled rows for cross-fitting, or None."""
        return self.cross_fit

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(
        self,
        X: Any,
        y: Any,
        *,
        pool: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
    ) -> Self:
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
            linear) their moments. The blocks of a dask array or dataframe are worked
            on where they are; only their moments come here.
        sample_weight : array-like of shape (n_samples,), default=None
            1 / inclusion probability of each labelled row, up to a factor: how many
            rows it stands for. Values of unlabelled rows are not read. The estimate is
            then the mean of these very rows, those of `pool` included. A labelled row
            with less than 1e-12 of the largest weight is left out. Without any other
            rows the weights are those of a sample from elsewhere.
        groups : array-like of shape (n_samples,), default=None
            What belongs together, such as the prompt of a row: numbers or words. Rows
            of a group may resemble each other; groups are independent. Rows of `pool`
            count as groups of their own.

        Returns
        -------
        self : estimator
            The fitted estimator.

        Raises
        ------
        ValueError
            If `X`, `y`, `pool`, `sample_weight` or `groups` cannot be used; see the
            class.
        """
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but "
                "the target y is None: pass the labels, NaN where a row has none."
            )
        with unchanged_on_failure(self):
            self._fit(X, y, pool, sample_weight, groups)
        return self

    def _fit(self, X: Any, y: Any, pool: Any, sample_weight: Any, groups: Any) -> None:
        X = check_vectors(self, X, reset=True)
        y = check_labels(y)
        _check_same_length(X, y)
        others = np.isnan(y)
        labeled = np.flatnonzero(~others)
        if not len(labeled):
            raise ValueError(
                "y has no label: every value is NaN; label at least one row."
            )
        # Only a linear g has it.
        self.__dict__.pop("lambda_", None)
        codes = None if groups is None else check_groups(groups, len(y))
        self._group_pool = None
        self._weights = None
        if sample_weight is not None:
            weights = check_weights(sample_weight, ~others)
            labeled, self._weights = labeled[weights > 0], weights[weights > 0]
        self._rows = labeled
        self._labels = y[labeled]
        self._scores = X[labeled].astype(np.float64, copy=False)
        self._groups = None if codes is None else codes[labeled]
        codes = None if codes is None else codes[others]
        with np.errstate(over="ignore", invalid="ignore"):
            if self._linear:
                self._fit_linear(X, others, codes, pool)
            else:
                self._fit_by_rows(X, others, codes, pool)
            self._finish()

    def _fit_linear(
        self, X: np.ndarray, others: np.ndarray, codes: np.ndarray | None, pool: Any
    ) -> None:
        """Fit a linear g: the moments of the pool say everything of it."""
        moments = PoolMoments.of_checked(X, others)
        if isinstance(pool, PoolMoments):
            check_columns(len(pool.mean), self.n_features_in_)
            if pool.names is not None:
                check_names("pool", pool.names, self._checks()["names"])
            moments = moments + pool
        elif pool is not None:
            moments = moments + sum_over(pool, partial(_moments_of, self._checks()))
        here = PoolMoments.of_checked(self._scores)
        self._refuse_overflow(here.comoment, moments.comoment)
        self.n_unlabeled_ = moments.count
        # From the mean of the labelled rows on, so that no digits are lost where
        # scores are large beside their spread.
        self._origin = here.mean
        models = self._fit_models(moments)
        weights = sum(share * model.weights for share, model in models)
        reference = self._reference(here, moments)
        self.judge_mean_ = reference.mean
        self._pool_value = float(weights @ (reference.mean - self._origin))
        self._pool_comoment = max(float(weights @ reference.comoment @ weights), 0.0)
        self.lambda_ = weights
        self._g_at_origin = float(weights @ self._origin)
        if codes is not None:
            self._add_up_groups(_predicted(models, self._origin, X, others), codes)

    def _fit_by_rows(
        self, X: np.ndarray, others: np.ndarray, codes: np.ndarray | None, pool: Any
    ) -> None:
        """Fit any g, and let it see each row of the pool once."""
        if isinstance(pool, PoolMoments):
            raise ValueError(
                "pool is PoolMoments, but this g is not linear and has to see the "
                "rows; pass them as an array or an iterable of arrays."
            )
        self._origin = np.zeros(self.n_features_in_)
        self._g_at_origin = 0.0
        nothing = PoolMoments.of_checked(self._scores[:0])
        models = self._fit_models(nothing)
        if codes is None:
            seen = _Seen.of(models, X, others)
        else:
            values = _predicted(models, self._origin, X, others)
            _check_prediction(values)
            seen = _Seen(
                PoolMoments.of_checked(X, others),
                PoolMoments.of_checked(values[:, np.newaxis]),
            )
        if pool is not None:
            # No worker needs what the inference takes from the fit.
            lean = [
                (share, replace(model, training_hat=None, left_out=None))
                for share, model in models
            ]
            seen = seen + sum_over(pool, partial(_seen_of, self._checks(), lean))
        self.n_unlabeled_ = seen.judges.count
        here = _Seen.of(models, self._scores)
        reference = self._reference(here.values, seen.values)
        self.judge_mean_ = self._reference(here.judges, seen.judges).mean
        self._pool_value = float(reference.mean[0])
        self._pool_comoment = float(reference.comoment[0, 0])
        if codes is not None:
            self._add_up_groups(values, codes)

    def _reference(self, here: PoolMoments, others: PoolMoments) -> PoolMoments:
        """Return the moments that the mean of g is taken from."""
        if not others.count:
            return here
        return others if self._weights is None else here + others

    def _add_up_groups(self, values: np.ndarray, codes: np.ndarray) -> None:
        """Keep by how much each group of X draws the pool's mean of g."""
        deviations = values - self._pool_value
        n_groups = 1 + max(code.max(initial=0) for code in (self._groups, codes))
        others = self.n_unlabeled_ - len(codes)
        self._n_pool_groups = int(np.count_nonzero(np.bincount(codes))) + others
        self._group_pool = np.bincount(codes, weights=deviations, minlength=n_groups)
        # The rows beside X, each for itself.
        rest = self._pool_comoment - float(sum_of_squares(deviations))
        self._ungrouped_comoment = max(rest, 0.0)

    def _fit_models(self, pool: PoolMoments) -> list[tuple[float, Any]]:
        """Fit g, or one g a fold; keep the values on the labelled rows.

        Returns
        -------
        list of (share, model)
            The shares add up to one; a fold counts by its weight.
        """
        centred = PoolMoments(pool.count, pool.mean - self._origin, pool.comoment)
        sample = Sample(
            self._scores - self._origin,
            self._labels,
            self._weights,
            self._groups,
            centred if pool.count else pool,
            self._origin,
            self._rows,
        )
        self._shares, self._n_groups = sample.shares, sample.n_groups
        shares = self._shares
        self._values = np.empty(len(sample))
        self._hat, self._left_out = hat_of_the_mean(shares), None
        folds = self._folds_of(sample)
        if folds is None:
            model = self._fit_model(sample)
            self._values[:] = model.values(sample.scores)
            self._hat = model.training_hat or self._hat
            self._left_out = model.left_out
            self._n_weights = model.n_weights
            models = [(1.0, model)]
        else:
            self._n_weights = 0.0
            models = []
            seen = np.zeros(len(sample), dtype=int)
            for train, test in folds:
                model = self._fit_model(sample.take(train))
                self._values[test] = model.values(sample.scores[test])
                seen[test] += 1
                models.append((float(shares[test].sum()), model))
            if (seen != 1).any():
                raise ValueError(
                    f"cross_fit={self._folds()!r} puts a labelled row into "
                    f"{seen.max()} test folds, another into {seen.min()}; each has to "
                    "be in one, as with KFold."
                )
        fallbacks = [model.fallback for _, model in models]
        self.fallback_ = fallbacks[0] if all(fallbacks) else None
        self._models: list[tuple[float, Any]] = models
        return models

    def _folds_of(self, sample: Sample) -> Any:
        """Return the train and test rows of cross-fitting, or None for none."""
        folds = self._folds()
        if folds is None or sample.n_groups < 2:
            return None
        return split_labels(folds, sample)

    def _finish(self) -> None:
        """Add up the estimate from the values of g here and in the pool."""
        labels, weights = self._labels, self._weights
        n, others = len(labels), self.n_unlabeled_
        self.n_labeled_ = n
        self.classical_mean_ = float(np.average(labels, weights=weights))
        deviations = labels - self.classical_mean_
        self._refuse_overflow(sum_of_squares(deviations))
        here = float(np.average(self._values, weights=weights))
        self._shift = self.classical_mean_ - here
        self.rectifier_ = self._shift - self._g_at_origin
        # How much of g counts. The labelled rows are part of what the weighted mean of
        # g is taken from; else its mean over all rows is this much of the difference.
        self._g_share = others / (n + others) if self._over_all_rows else 1.0
        if weights is not None:
            self._g_share = 1.0
        if not others:
            # Without a pool the labelled rows stand for it.
            self._g_share = 0.0
            self.fallback_ = "no unlabelled rows"
        elif weights is None and self._n_pool_parts() < _fewest_parts(self._groups):
            # So few say nothing of how the pool's mean of g varies.
            self._g_share = 0.0
            self.fallback_ = "too few groups in the pool"
        step = self._pool_value - here if others else 0.0
        self.mean_ = float(self.classical_mean_ + self._g_share * step)
        self._prepare_inference(deviations, self._values - here)
        self._refuse_overflow(
            self.mean_, self.rectifier_, self._plain_variance(), step * step
        )
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

    def _checks(self) -> dict[str, Any]:
        """Return what a chunk of the pool is checked against."""
        names = getattr(self, "feature_names_in_", None)
        return {
            "n_features": self.n_features_in_,
            "names": None if names is None else list(names),
        }

    def _refuse_overflow(self, *results: Any) -> None:
        if not all(np.isfinite(result).all() for result in results):
            raise ValueError(
                "The squares of X or y overflow: the largest values are "
                f"{np.abs(self._scores).max():.3g} in the labelled rows of X and "
                f"{np.abs(self._labels).max():.3g} in y; divide them by a constant."
            )

    def predict(self, X: Any) -> np.ndarray:
        """Predict labels from judge scores; their mean over all rows is `mean_`.

        Where g is cross-fitted that is so up to what the folds differ by.

        Over the rows without a label, where `lam` was given or is ``"ppi++"``.

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
            predictions = _predicted(self._models, self._origin, X)
            predictions += self._shift
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


@dataclass(frozen=True)
class _Seen:
    """Moments of the judges, and of a g that is not linear, over the same rows."""

    judges: PoolMoments
    values: PoolMoments

    @classmethod
    def of(
        cls,
        models: list[tuple[float, Any]],
        rows: np.ndarray,
        where: np.ndarray | None = None,
    ) -> Self:
        nothing = (PoolMoments.of_checked(np.empty((0, k))) for k in (rows.shape[1], 1))
        total = cls(*nothing)
        for batch in batches(rows, where):
            values = _average(models, batch.astype(np.float64, copy=False))
            _check_prediction(values)
            total = total + cls(
                PoolMoments.of_checked(batch),
                PoolMoments.of_checked(values[:, np.newaxis]),
            )
        return total

    def __add__(self, other: Self) -> Self:
        return type(self)(self.judges + other.judges, self.values + other.values)

    def __radd__(self, other: Any) -> Self:
        return self if other == 0 else NotImplemented


def _moments_of(checks: dict[str, Any], chunk: Any, number: int) -> PoolMoments:
    return PoolMoments.of_checked(checked_chunk(chunk, number, **checks))


def _seen_of(
    checks: dict[str, Any], models: list[tuple[float, Any]], chunk: Any, number: int
) -> _Seen:
    return _Seen.of(models, checked_chunk(chunk, number, **checks))


def _average(models: list[tuple[float, Any]], X: np.ndarray) -> np.ndarray:
    """Return g of judge scores, less their origin: the mean over the folds."""
    return sum(share * model.values(X) for share, model in models)


def _check_prediction(values: np.ndarray) -> None:
    if not np.isfinite(values).all():
        raise ValueError(
            "The prediction of a row is NaN or infinite; pass a regressor that "
            "predicts every row, or divide X by a constant."
        )


def _predicted(
    models: list[tuple[float, Any]],
    origin: np.ndarray,
    X: np.ndarray,
    where: np.ndarray | None = None,
) -> np.ndarray:
    """Return g of rows, or of those that are meant."""
    values = np.empty(len(X) if where is None else np.count_nonzero(where))
    done = 0
    for batch in batches(X, where):
        stop = done + len(batch)
        values[done:stop] = _average(models, batch - origin)
        done = stop
    return values


def constant_model(
    n_features: int, fallback: str | None, level: float = 0.0
) -> LinearModel:
    """Return the g that is the same for all rows, and why.

    A linear g is counted from the mean of the labelled rows, so its level is zero; any
    other has that of the labels it was fitted on.
    """
    return LinearModel(np.zeros(n_features), fallback=fallback, level=level)


def _fewest_parts(groups: np.ndarray | None) -> int:
    return 1 if groups is None else 5


def split_labels(cv: Any, sample: Sample, classes: Any = None) -> Any:
    """Split the labelled rows; no group is on both sides.

    Parameters
    ----------
    cv : int, splitter or iterable
        An int gives so many folds, fewer if there are fewer groups. An iterable has
        the numbers of rows in the user's X.
    sample : Sample
    classes : ndarray of shape (n_labels,) or None
        What a splitter sees instead of the labels.

    Returns
    -------
    iterable of (train, test)
    """
    if isinstance(cv, Integral):
        n_folds = min(int(cv), sample.n_groups)
        cv = (KFold if sample.groups is None else GroupKFold)(n_folds)
    if not hasattr(cv, "split"):
        return [_split_by_number(split, sample.rows) for split in cv]
    targets = sample.labels if classes is None else classes
    return cv.split(sample.scores, targets, sample.groups)


def _split_by_number(split: Any, rows: np.ndarray) -> tuple[np.ndarray, ...]:
    """Turn row numbers of X, or masks, into places among the labelled rows."""
    places = []
    for name, side in zip(("training", "test"), split, strict=True):
        numbers = np.asarray(side)
        if numbers.dtype == bool:
            numbers = np.flatnonzero(numbers)
        places.append(np.flatnonzero(np.isin(rows, numbers)))
        if len(numbers) == 0 or numbers.min() < 0 or len(places[-1]) == 0:
            raise ValueError(
                f"a split of cv (or cross_fit) has no labelled row of X in its {name} "
                "part; its numbers are those of rows of X from 0 on. LabeledKFold "
                "splits the labelled rows."
            )
    return tuple(places)


def _check_same_length(X: np.ndarray, y: np.ndarray) -> None:
    if len(X) != len(y):
        raise ValueError(
            f"X and y have inconsistent numbers of samples, {len(X)} and {len(y)}; "
            "give y one value a row of X, NaN where it has no label."
        )
