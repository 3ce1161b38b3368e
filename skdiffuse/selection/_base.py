"""What every selector is: an order of rows, and a prefix of it to judge."""

from abc import ABCMeta, abstractmethod
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    _fit_context,
)
from sklearn.metrics import euclidean_distances
from sklearn.utils._param_validation import Interval, RealNotInt
from sklearn.utils.validation import check_is_fitted

from skdiffuse._validation import (
    check_finite_rows,
    check_rows,
    check_vectors,
    count_of_share,
    unchanged_on_failure,
)
from skdiffuse.selection._draws import next_draw_probabilities, sequential_weights


class BaseSelector(
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    BaseEstimator,
    metaclass=ABCMeta,
):
    """Base of the selectors: validates, and leaves the choice to three hooks.

    A subclass has a parameter `n_select` and defines `_fit_selection`, `_select` and
    `_annotation_order`. It may set `inclusion_probabilities_`, and `draw_weights_` if
    it draws one row after the other in proportion to them.

    Attributes
    ----------
    inclusion_probabilities_ : ndarray of shape (n_samples,) or None
        The probability of each row to be among `selected_indices_`.
    draw_weights_ : ndarray of shape (n_samples,) or None
        The share of each row in the first draw, positive and of sum one; each next row
        is drawn among those left in proportion to them. None where the order of
        annotation is not drawn so.
    """

    _parameter_constraints: dict = {
        "n_select": [
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="right"),
        ],
    }

    n_select: int | float

    @abstractmethod
    def _fit_selection(self, X: np.ndarray, k: int) -> np.ndarray:
        """Learn what the other hooks need, and return the rows of `select(k)`."""

    @abstractmethod
    def _select(self, k: int) -> np.ndarray:
        """Return the rows for a budget of `k`, ascending."""

    @abstractmethod
    def _annotation_order(self, n: int) -> np.ndarray:
        """Return the first `n` rows of the nested order."""

    def _annotation_order_without(self, n: int, excluded: np.ndarray) -> np.ndarray:
        """Return `n` rows of the nested order that leaves out a mask of rows.

        Here the next ones follow; override where others are a better replacement.
        """
        order = self._annotation_order(n + int(excluded.sum()))
        return order[~excluded[order]][:n]

    # A clusterer among the parameters is fitted as a clone that checks itself.
    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose the rows to judge.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Difference vectors, one an example.
        y : Ignored
            Present for the convention.

        Returns
        -------
        self : selector
            The fitted selector.

        Raises
        ------
        ValueError
            If `X` has NaN or infinity.
        """
        with unchanged_on_failure(self):
            X = check_vectors(self, X, reset=True)
            self._n_samples = len(X)
            self.inclusion_probabilities_: np.ndarray | None = None
            self.draw_weights_: np.ndarray | None = None
            self.selected_indices_ = self._fit_selection(X, self._budget())
            self.n_selected_ = len(self.selected_indices_)
            self.representatives_ = X[self.selected_indices_]
        return self

    def select(self, k: int) -> np.ndarray:
        """Return the choice for a budget of `k`.

        Parameters
        ----------
        k : int
            Number of examples to judge, at least 1.

        Returns
        -------
        ndarray of shape (<= k,)
            Row numbers, ascending; fewer than `k` if there are not so many (distinct)
            rows.

        Raises
        ------
        ValueError
            If `k` is not a positive integer.
        """
        check_is_fitted(self)
        _check_count(k, "k")
        return self._select(int(k))

    def annotation_order(
        self, n: int | None = None, *, exclude: Any = ()
    ) -> np.ndarray:
        """Return an order of judging in which every prefix is a valid selection.

        Parameters
        ----------
        n : int or None, default=None
            Number of rows to order, at most those that there are; None for all.
        exclude : array-like of int, default=()
            Rows that cannot be judged. Each is replaced, by the next of its cluster
            where there are clusters, and the order before the first of them stays. Of
            rows that are drawn the probabilities then no longer hold.

        Returns
        -------
        ndarray of shape (n,)
            Row numbers.

        Raises
        ------
        ValueError
            If `n` is not an integer between 1 and the number of rows that are left, or
            `exclude` holds no row numbers.
        """
        check_is_fitted(self)
        excluded = check_rows(exclude, self._n_samples, "exclude")
        n_left = self._n_samples - int(excluded.sum())
        n = n_left if n is None else n
        _check_count(n, "n")
        if n > n_left:
            raise ValueError(
                f"n={n} is more than the {n_left} rows of X that there are to order; "
                "ask for at most that."
            )
        if excluded.any():
            return self._annotation_order_without(int(n), excluded)
        return self._annotation_order(int(n))

    def get_support(self, indices: bool = False) -> np.ndarray:
        """Return which *rows* are selected.

        Parameters
        ----------
        indices : bool, default=False
            Return row numbers instead of a mask.

        Returns
        -------
        ndarray
            A boolean mask of shape (n_samples,), or row numbers of shape
            (`n_selected_`,).
        """
        check_is_fitted(self)
        if indices:
            return self.selected_indices_
        support = np.zeros(self._n_samples, dtype=bool)
        support[self.selected_indices_] = True
        return support

    def sample_weight(self) -> np.ndarray:
        """Return the weights with which the selected rows stand for all rows.

        They are what `sample_weight` of `PPIMeanEstimator` and of scikit-learn's means
        takes, once the selected rows are labelled.

        Returns
        -------
        ndarray of shape (n_samples,)
            How many rows each selected row stands for; zero for the others. For draws
            of known probability they are the sequential ones of [1]_, with which the
            weighted sum is unbiased; else 1 / inclusion probability.

        Raises
        ------
        ValueError
            If the sample has no probabilities: its rows were chosen for what they are,
            and no weights turn them into a size.

        References
        ----------
        .. [1] Farquhar, Gal and Rainforth, "On statistical bias in active learning",
           ICLR 2021, arXiv:2101.11665.
        """
        check_is_fitted(self)
        weights = np.zeros(self._n_samples)
        if self.draw_weights_ is not None:
            drawn = self._annotation_order(self._n_samples)
            probabilities = next_draw_probabilities(self.draw_weights_, drawn)
            n = self.n_selected_
            each = sequential_weights(probabilities[:n], self._n_samples)
            weights[drawn[:n]] = each * self._n_samples / n
        elif self.inclusion_probabilities_ is not None:
            rows = self.selected_indices_
            weights[rows] = 1 / self.inclusion_probabilities_[rows]
        else:
            raise ValueError(
                f"{self!r} chooses rows that tell who wins, and their mean is not that "
                "of all rows; for a size take RandomSelector(), or "
                "NormSelector(probability=True)."
            )
        return weights

    @property
    def draw_probabilities_(self) -> np.ndarray | None:
        """With which probability each row of `annotation_order` was drawn.

        Entry t belongs to row ``annotation_order()[t]``, given the rows before it; None
        where the order is not one of draws.
        """
        check_is_fitted(self)
        if self.draw_weights_ is None:
            return None
        order = self._annotation_order(self._n_samples)
        return next_draw_probabilities(self.draw_weights_, order)

    def strata(self, k: int) -> np.ndarray | None:
        """Return the strata of which the first `k` rows of the order are random ones.

        Parameters
        ----------
        k : int
            Number of rows, at least 1.

        Returns
        -------
        ndarray of shape (n_samples,) or None
            The number of the stratum of each row: one row of each is among the first
            `k` of `annotation_order`, each with equal probability. None if they are no
            such sample.

        Raises
        ------
        ValueError
            If `k` is not a positive integer.
        """
        check_is_fitted(self)
        _check_count(k, "k")
        return self._strata(int(k))

    def _strata(self, k: int) -> np.ndarray | None:
        return None

    def transform(self, X: Any) -> np.ndarray:
        """Measure the Euclidean distance of each row to the selected rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Difference vectors. No row is dropped.

        Returns
        -------
        ndarray of shape (n_samples, `n_selected_`)
            Distances.

        Raises
        ------
        ValueError
            If `X` has NaN or infinity, or another number of features than in `fit`.
        """
        check_is_fitted(self)
        X = check_vectors(self, X, reset=False)
        both = scaled(np.concatenate([X, self.representatives_]))
        distances = euclidean_distances(both[: len(X)], both[len(X) :])
        largest = np.abs(np.concatenate([X, self.representatives_])).max()
        with np.errstate(over="ignore"):
            distances = np.ldexp(distances, np.frexp(largest)[1]).astype(X.dtype)
        check_finite_rows(distances, "The distance", "divide X by a constant")
        return distances

    def __sklearn_tags__(self):  # type: ignore[no-untyped-def]
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @property
    def _n_features_out(self) -> int:
        return self.n_selected_

    def _budget(self) -> int:
        if isinstance(self.n_select, Integral):
            return int(self.n_select)
        return count_of_share(self.n_select, self._n_samples)


def scaled(X: np.ndarray) -> np.ndarray:
    """Scale by a power of two, exactly, so that no square over- or underflows."""
    _, exponent = np.frexp(max(X.max(), -X.min()))
    result = np.ldexp(X, -exponent, dtype=np.float64, order="C")
    # Adding zero turns -0.0 into 0.0, so that identical rows have identical bytes.
    result += 0.0
    return result


def _check_count(count: int, name: str) -> None:
    if not isinstance(count, Integral) or isinstance(count, bool) or count < 1:
        raise ValueError(f"{name}={count!r} is not a number of rows; pass an int >= 1.")
