"""DiffUseSelector: cluster the difference vectors, judge one row a cluster."""

import warnings
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
    _fit_context,
    clone,
)
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import euclidean_distances
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, RealNotInt, StrOptions
from sklearn.utils.validation import check_is_fitted

from skdiffuse._validation import check_vectors
from skdiffuse.selection._merge_tree import cosine_tree, partition_tree, ward_tree
from skdiffuse.selection._representatives import RULES, Differences

_TREES = {"ward": ward_tree, "cosine": cosine_tree}


class DiffUseSelector(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator
):
    """Choose the examples to judge: one representative a cluster of differences.

    Each row of `X` is the difference vector of one example: the embedding of
    generator A's output minus the embedding of B's. Rows that differ in the same way
    fall into one cluster, and one judgement stands for all of them [1]_.

    The sample finds the *winner* with few judgements. It is not a probability sample
    unless ``representative="random"``: the share of examples that A wins in it is
    biased.

    Parameters
    ----------
    n_select : int or float, default=50
        The budget: how many examples to judge. A float in (0, 1] is a share of the
        rows, rounded down, at least one.
    clustering : {"ward", "cosine", "kmeans"} or clusterer, default="ward"
        How to cluster the difference vectors: hierarchically by Ward's rule on
        Euclidean distances, hierarchically by average cosine distance, by k-means,
        or by any scikit-learn clusterer with a parameter `n_clusters`. The
        hierarchical ones cluster once for every budget.
    representative : {"centroid", "cosine", "max_norm", "random"}, default="centroid"
        Which row of a cluster is judged: the nearest to the mean of the cluster by
        Euclidean or by cosine distance, the one with the largest norm, or a
        uniformly random one. Among equals the longer vector is taken, then the
        first.
    random_state : int, RandomState instance or None, default=None
        Seed of k-means (or of the clusterer, where its own is None) and of the
        random representatives. Pass an int for the same selection in every call.

    Attributes
    ----------
    selected_indices_ : ndarray of shape (n_selected_,)
        The rows to judge, ascending.
    n_selected_ : int
        Their number: fewer than `n_select` asks for if `X` has fewer distinct rows
        or the clusterer found fewer clusters.
    labels_ : ndarray of shape (n_samples,)
        The cluster of each row: row i is represented by
        ``selected_indices_[labels_[i]]``.
    representatives_ : ndarray of shape (n_selected_, n_features)
        The difference vectors of the selected rows.
    inclusion_probabilities_ : ndarray of shape (n_samples,) or None
        With ``representative="random"`` the probability of each row to be selected,
        given the clusters: one by the size of its cluster. None for the other rules,
        whose sample has no such probabilities.
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen during `fit`, where `X` has names that are all strings.

    Raises
    ------
    ValueError
        If `X` has NaN or infinity, or if `clustering` has no parameter `n_clusters`.

    See Also
    --------
    PairDifference : Makes difference vectors of pairs of texts.

    Notes
    -----
    Identical rows are never separated while there are distinct rows to separate, so
    examples whose two outputs have equal embeddings (zero vectors) cost at most one
    judgement. Zero vectors have no direction: under ``clustering="cosine"`` they are
    one cluster of their own, which meets the others at the root of the tree.

    References
    ----------
    .. [1] Ashury-Tahan et al., "Label-Efficient Model Selection for Text
       Generation", ACL 2024, arXiv:2402.07891.

    Examples
    --------
    >>> from skdiffuse import DiffUseSelector
    >>> X = [[0.0, 0.1], [0.0, 0.2], [0.0, 0.3], [5.0, 5.0], [5.0, 6.0]]
    >>> selector = DiffUseSelector(n_select=2).fit(X)
    >>> selector.selected_indices_
    array([1, 4])
    >>> selector.labels_
    array([0, 0, 0, 1, 1])
    >>> selector.annotation_order(3)
    array([2, 4, 3])
    """

    _parameter_constraints: dict = {
        "n_select": [
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="right"),
        ],
        "clustering": [
            StrOptions({"ward", "cosine", "kmeans"}),
            HasMethods(["fit_predict", "get_params"]),
        ],
        "representative": [StrOptions(set(RULES))],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_select: int | float = 50,
        *,
        clustering: Any = "ward",
        representative: str = "centroid",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_select = n_select
        self.clustering = clustering
        self.representative = representative
        self.random_state = random_state

    # A clusterer handed in as `clustering` is fitted as a clone with `n_clusters`
    # set by the budget, so its own parameters are checked by itself.
    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster the difference vectors and pick one representative a cluster.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Difference vectors, one an example.
        y : Ignored
            Present for the convention.

        Returns
        -------
        self : DiffUseSelector
            The fitted selector.

        Raises
        ------
        ValueError
            If `X` has NaN or infinity.
        """
        X = check_vectors(self, X, reset=True)
        rng = check_random_state(self.random_state)
        self._seed = int(rng.randint(np.iinfo(np.int32).max))
        vectors = _scaled(X)
        self._differences = Differences(
            vectors, np.linalg.norm(vectors, axis=1), rng.permutation(len(X))
        )
        self._X = X
        self._tree: Any = (
            _TREES[self.clustering](vectors) if self._hierarchical() else None
        )
        labels = self._clusters(self._budget(len(X)))
        chosen = self._representatives(labels)
        order = np.argsort(chosen)
        self.selected_indices_ = chosen[order]
        self.n_selected_ = len(chosen)
        self.labels_ = np.argsort(order)[labels]
        self.representatives_ = X[self.selected_indices_]
        self.inclusion_probabilities_ = None
        if self.representative == "random":
            self.inclusion_probabilities_ = 1 / np.bincount(self.labels_)[self.labels_]
        return self

    def select(self, k: int) -> np.ndarray:
        """Return the paper's choice for a budget of `k`: fresh representatives.

        Parameters
        ----------
        k : int
            Number of examples to judge, at least 1.

        Returns
        -------
        ndarray of shape (<= k,)
            Row numbers, ascending; fewer than `k` if there are fewer distinct rows
            or the clusterer found fewer clusters.

        Raises
        ------
        ValueError
            If `k` is not a positive integer.

        Notes
        -----
        Hierarchical clusterings only cut the tree of `fit`; k-means and other
        clusterers cluster anew.
        """
        check_is_fitted(self)
        _check_count(k, "k")
        return np.sort(self._representatives(self._clusters(k)))

    def annotation_order(self, n: int | None = None) -> np.ndarray:
        """Return an order of judging in which every prefix is a valid selection.

        The first row represents all rows. Then each step splits one cluster: its
        representative stays with its part, and the other part gets the next row.

        Parameters
        ----------
        n : int or None, default=None
            Number of rows to order, at most `n_samples`; None for all.

        Returns
        -------
        ndarray of shape (n,)
            Row numbers.

        Raises
        ------
        ValueError
            If `n` is not an integer between 1 and `n_samples`.

        Notes
        -----
        The first k rows cover the k clusters of the cut at k. For k-means and other
        clusterers the tree is made around the partition of `fit`: above it the
        centroids of its clusters merge by Ward's rule, below it the rows of each
        cluster do. When the distinct rows are exhausted their duplicates follow, the
        zero vectors last.

        With ``representative="max_norm"`` or ``"random"`` the first k rows are those
        of ``select(k)`` wherever both cut the same tree.
        """
        check_is_fitted(self)
        n_samples = len(self._X)
        n = n_samples if n is None else n
        _check_count(n, "n")
        if n > n_samples:
            raise ValueError(
                f"n={n} is more than the {n_samples} rows of X; ask for at most that."
            )
        if self._tree is None:
            self._tree = partition_tree(self._differences.vectors, self.labels_)
        tree = self._tree
        pick = RULES[self.representative]
        top = 2 * tree.n_leaves - 2
        judged = {top: pick(self._differences, tree.rows(top))}
        order = [judged[top]]
        for node, left, right in tree.splits()[: n - 1].tolist():
            kept = judged.pop(node)
            stays, other = (left, right) if tree.contains(left, kept) else (right, left)
            judged[stays] = kept
            judged[other] = pick(self._differences, tree.rows(other))
            order.append(judged[other])
        rest = np.setdiff1d(np.arange(n_samples), order)
        zeros_last = np.argsort(self._differences.norms[rest] == 0, kind="stable")
        return np.concatenate([order, rest[zeros_last]])[:n].astype(np.intp)

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
            (n_selected_,).
        """
        check_is_fitted(self)
        if indices:
            return self.selected_indices_
        support = np.zeros(len(self.labels_), dtype=bool)
        support[self.selected_indices_] = True
        return support

    def transform(self, X: Any) -> np.ndarray:
        """Measure the Euclidean distance of each row to the selected rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Difference vectors. No row is dropped.

        Returns
        -------
        ndarray of shape (n_samples, n_selected_)
            Distances.

        Raises
        ------
        ValueError
            If `X` has NaN or infinity, or another number of features than in `fit`.
        """
        check_is_fitted(self)
        X = check_vectors(self, X, reset=False)
        return euclidean_distances(X, self.representatives_)

    def __sklearn_tags__(self):  # type: ignore[no-untyped-def]
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @property
    def _n_features_out(self) -> int:
        return self.n_selected_

    def _budget(self, n_samples: int) -> int:
        if isinstance(self.n_select, Integral):
            return int(self.n_select)
        return max(1, int(self.n_select * n_samples))

    def _hierarchical(self) -> bool:
        return isinstance(self.clustering, str) and self.clustering in _TREES

    def _clusters(self, k: int) -> np.ndarray:
        """Label the rows 0, 1, ... by at most `k` clusters."""
        if self._hierarchical():
            return self._tree.labels(min(k, self._tree.n_distinct))
        k = min(k, len(np.unique(self._X, axis=0)))
        if self.clustering == "kmeans":
            clusterer: Any = KMeans(n_clusters=k, random_state=self._seed)
            vectors = self._differences.vectors
        else:
            clusterer, vectors = self._own_clusterer(k), self._X
        with warnings.catch_warnings():
            # `n_selected_` says that fewer clusters were found.
            warnings.simplefilter("ignore", ConvergenceWarning)
            labels = clusterer.fit_predict(vectors)
        return np.unique(labels, return_inverse=True)[1].astype(np.intp)

    def _own_clusterer(self, k: int) -> Any:
        clusterer = clone(self.clustering)
        params = clusterer.get_params(deep=False)
        if "n_clusters" not in params:
            raise ValueError(
                f"clustering={clusterer!r} has no parameter n_clusters, so the budget "
                "cannot set the number of clusters; pass a clusterer that has one, "
                "such as BisectingKMeans() or AgglomerativeClustering()."
            )
        clusterer.set_params(n_clusters=k)
        if params.get("random_state", self._seed) is None:
            clusterer.set_params(random_state=self._seed)
        return clusterer

    def _representatives(self, labels: np.ndarray) -> np.ndarray:
        """Pick one row for each label."""
        pick = RULES[self.representative]
        members = np.split(
            np.argsort(labels, kind="stable"), np.cumsum(np.bincount(labels))[:-1]
        )
        return np.array([pick(self._differences, rows) for rows in members])


def _scaled(X: np.ndarray) -> np.ndarray:
    """Scale by a power of two, exactly, so that no square over- or underflows."""
    _, exponent = np.frexp(np.abs(X).max())
    # Adding zero turns -0.0 into 0.0, so that identical rows have identical bytes.
    return np.ldexp(X.astype(np.float64), -exponent) + 0.0


def _check_count(count: int, name: str) -> None:
    if not isinstance(count, Integral) or isinstance(count, bool) or count < 1:
        raise ValueError(f"{name}={count!r} is not a number of rows; pass an int >= 1.")
