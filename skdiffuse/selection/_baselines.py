"""The baselines of the paper, and draws that prefer large differences."""

from numbers import Real

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from skdiffuse.selection._base import BaseSelector, scaled
from skdiffuse.selection._draws import draw_in_order, inclusion_probabilities


class _OrderedSelector(BaseSelector):
    """One order of all rows, of which each budget takes a prefix."""

    _order: np.ndarray

    def _select(self, k: int) -> np.ndarray:
        return np.sort(self._order[:k])

    def _annotation_order(self, n: int) -> np.ndarray:
        return self._order[:n]


class RandomSelector(_OrderedSelector):
    """Choose examples uniformly at random, without replacement.

    The baseline of every other selector, and the order that `BettingRule` and the
    winning distance ask for.

    Parameters
    ----------
    n_select : int or float, default=50
        The budget: how many examples to judge. A float in (0, 1] is a share of the
        rows, rounded down, at least one.
    random_state : int, RandomState instance or None, default=None
        Seed. Pass an int for the same selection in every call.

    Attributes
    ----------
    selected_indices_ : ndarray of shape (`n_selected_`,)
        The rows to judge, ascending.
    n_selected_ : int
        Their number: `n_select`, or all rows if there are not so many.
    representatives_ : ndarray of shape (`n_selected_`, n_features)
        The difference vectors of the selected rows.
    inclusion_probabilities_ : ndarray of shape (n_samples,)
        ``n_selected_ / n_samples`` for each row.
    draw_weights_ : ndarray of shape (n_samples,)
        ``1 / n_samples`` for each row: each order of annotation is equally likely.
    draw_probabilities_ : ndarray of shape (n_samples,)
        ``1 / n_samples``, ``1 / (n_samples - 1)`` and so on to 1.
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
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
        self.draw_weights_ = np.full(len(X), 1 / len(X))
        return chosen


class NormSelector(_OrderedSelector):
    r"""Choose the examples whose outputs differ most, surely or by chance.

    A long difference vector is more often won by the better generator [1]_. The longest
    ones say nothing of how often A wins. With ``probability=True`` the rows are drawn
    at random, long ones more often, with probabilities that are known: then
    `PreferenceComparison.winning_distance` and `BettingRule` hold.

    Parameters
    ----------
    n_select : int or float, default=50
        The budget: how many examples to judge. A float in (0, 1] is a share of the
        rows, rounded down, at least one.
    probability : bool, default=False
        Draw the rows instead of taking the longest.
    power : float, default=1.0
        With ``probability=True``: the chance of a row grows with its norm to this
        power, from 0 on.
    floor : float, default=0.5
        With ``probability=True``: the share of the first draw that all rows have alike,
        in [1e-6, 1], so that short ones too are drawn. A small one makes the answers to
        short rows count for many, which costs more judgements than it saves where
        short rows are not all ties.
    random_state : int, RandomState instance or None, default=None
        Seed of the draws. Pass an int for the same selection in every call.

    Attributes
    ----------
    selected_indices_ : ndarray of shape (`n_selected_`,)
        The rows to judge, ascending.
    n_selected_ : int
        Their number: `n_select`, or all rows if there are not so many.
    representatives_ : ndarray of shape (`n_selected_`, n_features)
        The difference vectors of the selected rows.
    inclusion_probabilities_ : ndarray of shape (n_samples,) or None
        With ``probability=True`` the probability of each row to be selected; an
        approximation, see Notes. None for the longest rows.
    draw_weights_ : ndarray of shape (n_samples,) or None
        With ``probability=True`` the share of each row in the first draw. Each next
        row is drawn among those left in proportion to it.
    draw_probabilities_ : ndarray of shape (n_samples,) or None
        With ``probability=True``, exactly: entry t is the probability with which row
        ``annotation_order()[t]`` was drawn, given the rows before it.
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of features seen during `fit`, where `X` has names that are all strings.

    Raises
    ------
    ValueError
        If `X` has NaN or infinity, or a parameter is out of its range.

    See Also
    --------
    DiffUseSelector : With ``representative="max_norm"``: the largest of each cluster.

    Notes
    -----
    Rows of equal norm are taken in their order; zero vectors come last.

    With ``probability=True`` row i of N has the weight

    .. math:: p_i = (1 - floor) \frac{|x_i|^{power}}{\sum_j |x_j|^{power}}
        + \frac{floor}{N},

    and the rows are drawn without replacement, each among those left in proportion to
    its weight (successive sampling). For this the probabilities of the next draw are
    simple and the inclusion probabilities are not: those given are
    ``1 - exp(-p_i t)`` with the t at which they add up to `n_selected_` [2]_. The
    weights of `sample_weight` and the winning distance take the exact ones.

    References
    ----------
    .. [1] Ashury-Tahan et al., "Label-Efficient Model Selection for Text
       Generation", ACL 2024, arXiv:2402.07891.
    .. [2] Rosén, "On sampling with probability proportional to size", Journal of
       Statistical Planning and Inference 62, 1997.

    Examples
    --------
    >>> from skdiffuse import NormSelector
    >>> NormSelector(n_select=2).fit([[1.0], [-3.0], [2.0]]).annotation_order()
    array([1, 2, 0])
    >>> drawn = NormSelector(probability=True, random_state=0)
    >>> drawn.fit([[1.0], [-3.0], [0.0]]).draw_weights_.round(3)
    array([0.292, 0.542, 0.167])
    """

    _parameter_constraints: dict = {
        **BaseSelector._parameter_constraints,
        "probability": ["boolean"],
        "power": [Interval(Real, 0, None, closed="left")],
        "floor": [Interval(Real, 1e-6, 1, closed="both")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_select: int | float = 50,
        *,
        probability: bool = False,
        power: float = 1.0,
        floor: float = 0.5,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_select = n_select
        self.probability = probability
        self.power = power
        self.floor = floor
        self.random_state = random_state

    def _fit_selection(self, X: np.ndarray, k: int) -> np.ndarray:
        norms = np.linalg.norm(scaled(X), axis=1)
        if not self.probability:
            self._order = np.argsort(-norms, kind="stable")
            return self._select(k)
        self.draw_weights_ = self._weights(norms)
        rng = check_random_state(self.random_state)
        self._order = draw_in_order(self.draw_weights_, rng)
        self.inclusion_probabilities_ = inclusion_probabilities(self.draw_weights_, k)
        return self._select(k)

    def _weights(self, norms: np.ndarray) -> np.ndarray:
        equal = 1 / len(norms)
        largest = norms.max()
        if largest == 0:
            return np.full(len(norms), equal)
        sizes = (norms / largest) ** self.power
        weights = (1 - self.floor) * sizes / sizes.sum() + self.floor * equal
        return weights / weights.sum()
