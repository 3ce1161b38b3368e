"""The baselines of the paper: a random order, and the largest differences first."""

import numpy as np
from sklearn.utils import check_random_state

from skdiffuse.selection._base import BaseSelector, scaled


class _OrderedSelector(BaseSelector):
    """One order of all rows, of which each budget takes a prefix."""

    _order: np.ndarray

    def _select(self, k: int) -> np.ndarray:
        return np.sort(self._order[:k])

    def _annotation_order(self, n: int) -> np.ndarray:
        return self._order[:n]


class RandomSelector(_OrderedSelector):
    """Choose examples uniformly at random, without replacement.

    The baseline of every other selector, and the only one here whose order suits
    `BettingRule`.

    Parameters
    ----------
    n_select : int or float, default=50
        The budget: how many examples to judge. A float in (0, 1] is a share of the
        rows, rounded down, at least one.
    random_state : int, RandomState instance or None, default=None
        Seed. Pass an int for the same selection in every call.

    Attributes
    ----------
    selected_indices_ : ndarray of shape (n_selected_,)
        The rows to judge, ascending.
    n_selected_ : int
        Their number: `n_select`, or all rows if there are not so many.
    representatives_ : ndarray of shape (n_selected_, n_features)
        The difference vectors of the selected rows.
    inclusion_probabilities_ : ndarray of shape (n_samples,)
        ``n_selected_ / n_samples`` for each row.
    uniform_order_ : bool
        True: each order of annotation is equally likely.
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen during `fit`, where `X` has names that are all strings.

    See Also
    --------
    DiffUseSelector : Chooses by clusters of differences.

    Examples
    --------
    >>> from skdiffuse import RandomSelector
    >>> selector = RandomSelector(n_select=2, random_state=0).fit([[1.0], [2.0], [3.0]])
    >>> selector.selected_indices_
    array([1, 2])
    >>> selector.annotation_order()
    array([2, 1, 0])
    """

    _parameter_constraints: dict = {
        **BaseSelector._parameter_constraints,
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_select: int | float = 50,
        *,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_select = n_select
        self.random_state = random_state

    def _fit_selection(self, X: np.ndarray, k: int) -> np.ndarray:
        self._order = check_random_state(self.random_state).permutation(len(X))
        chosen = self._select(k)
        self.inclusion_probabilities_ = np.full(len(X), len(chosen) / len(X))
        self.uniform_order_ = True
        return chosen


class NormSelector(_OrderedSelector):
    """Choose the examples whose outputs differ most: the largest norms first.

    A long difference vector is more often won by the better generator [1]_. The sample
    says nothing of how often A wins.

    Parameters
    ----------
    n_select : int or float, default=50
        The budget: how many examples to judge. A float in (0, 1] is a share of the
        rows, rounded down, at least one.

    Attributes
    ----------
    selected_indices_ : ndarray of shape (n_selected_,)
        The rows to judge, ascending.
    n_selected_ : int
        Their number: `n_select`, or all rows if there are not so many.
    representatives_ : ndarray of shape (n_selected_, n_features)
        The difference vectors of the selected rows.
    inclusion_probabilities_ : None
        The sample has no probabilities.
    uniform_order_ : bool
        False.
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen during `fit`, where `X` has names that are all strings.

    See Also
    --------
    DiffUseSelector : With ``representative="max_norm"``: the largest of each cluster.

    Notes
    -----
    Rows of equal norm are taken in their order; zero vectors come last.

    References
    ----------
    .. [1] Ashury-Tahan et al., "Label-Efficient Model Selection for Text
       Generation", ACL 2024, arXiv:2402.07891.

    Examples
    --------
    >>> from skdiffuse import NormSelector
    >>> NormSelector(n_select=2).fit([[1.0], [-3.0], [2.0]]).annotation_order()
    array([1, 2, 0])
    """

    def __init__(self, n_select: int | float = 50) -> None:
        self.n_select = n_select

    def _fit_selection(self, X: np.ndarray, k: int) -> np.ndarray:
        norms = np.linalg.norm(scaled(X), axis=1)
        self._order = np.argsort(-norms, kind="stable")
        return self._select(k)
