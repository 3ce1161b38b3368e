"""Merge trees of difference vectors, of micro-clusters where rows are many."""

import warnings
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
from sklearn.cluster import BisectingKMeans
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from skdiffuse._memory import check_memory
from skdiffuse.selection._linkage import (
    AVERAGE_COSINE,
    WARD,
    Rule,
    link_groups,
    link_rows,
)
from skdiffuse.selection._merge_tree import MergeTree

_MICRO_CLUSTERS = 2000
# Where too many rows are left in one of those, or in a cluster of k-means.
_ROWS_OF_NESTED = 50
_MICRO_ITERATIONS = 20


class ApproximateClusteringWarning(UserWarning):
    """Rows are too many to be clustered one by one; micro-clusters are."""


class Merges(NamedTuple):
    """What is merged with what, as `link_rows` returns it.

    Attributes
    ----------
    nodes : ndarray of int of shape (n_rows - 1, 2)
    heights : ndarray of shape (n_rows - 1,)
    """

    nodes: np.ndarray
    heights: np.ndarray


class TreeBuilder:
    """Builds merge trees.

    Parameters
    ----------
    max_exact : int
        The largest number of distinct rows that are clustered one by one.
    seed : int
        Of the micro-clusters of more rows.
    """

    def __init__(self, max_exact: int, seed: int) -> None:
        self.max_exact = max_exact
        self.seed = seed
        self._too_many = 0

    def ward(self, X: np.ndarray) -> MergeTree:
        """Merge rows by Ward's rule on Euclidean distances."""
        return self._built(lambda: self._merges(X, distinct(X), WARD, _MICRO_CLUSTERS))

    def cosine(self, X: np.ndarray) -> MergeTree:
        """Merge rows by average cosine distance; zero rows join the rest last.

        The cosine distance of a zero row is undefined, so these rows form one cluster
        of their own that meets the others at the root.
        """
        norms = np.linalg.norm(X, axis=1)
        zero, rest = np.flatnonzero(norms == 0), np.flatnonzero(norms > 0)

        def merges() -> Merges:
            if len(rest) == 0:
                return _chain(len(zero))
            unit = X[rest]
            unit /= norms[rest, np.newaxis]
            # Parallel rows have equal unit vectors, and still are distinct.
            of_rest = self._merges(
                unit, distinct(X[rest]), AVERAGE_COSINE, _MICRO_CLUSTERS
            )
            if len(zero) == 0:
                return of_rest
            top = Merges(np.array([[0, 1]]), np.array([np.inf]))
            return _joined([rest, zero], [of_rest, _chain(len(zero))], top)

        return self._built(merges)

    def partition(self, X: np.ndarray, labels: np.ndarray) -> MergeTree:
        """Build the tree whose cut at the number of labels is that partition.

        Below the partition the rows of each cluster merge by Ward's rule; above it the
        clusters do.
        """
        return self._built(lambda: self._merges_around(X, distinct(X), labels, WARD))

    def _built(self, merges) -> MergeTree:  # type: ignore[no-untyped-def]
        # The last digits of matrix products depend on the number of threads.
        with threadpool_limits(1):
            found = merges()
        if self._too_many:
            warnings.warn(
                ApproximateClusteringWarning(
                    f"{self._too_many} distinct rows are more than "
                    f"max_exact={self.max_exact}: they are clustered from "
                    "micro-clusters on. "
                    f"DiffUseSelector(max_exact={self._too_many}) clusters them one by "
                    f"one, in {_memory_of_rows(self._too_many) / 1e9:.3g} GB of memory."
                ),
                stacklevel=2,
            )
        return MergeTree(found.nodes, int(np.count_nonzero(found.heights == 0)))

    def _merges(
        self, X: np.ndarray, numbers: np.ndarray, rule: Rule, n_micro: int
    ) -> Merges:
        """Merge rows one by one, or from micro-clusters on if there are too many.

        Rows are identical where their numbers are.
        """
        n_rows = len(X)
        if (numbers == numbers[0]).all():
            return _chain(n_rows)
        if n_rows <= self.max_exact:
            self._check_memory(n_rows, _memory_of_rows(n_rows))
            return Merges(*link_rows(X, numbers, rule))
        _, first, labels = np.unique(numbers, return_index=True, return_inverse=True)
        n_distinct = len(first)
        if n_distinct > self.max_exact:
            self._too_many = max(self._too_many, n_distinct)
            rows = X if n_distinct == n_rows else X[first]
            micro = self._micro_clusters(rows, np.bincount(labels), n_micro)
            labels = micro[labels]
        return self._merges_around(X, numbers, labels, rule)

    def _merges_around(
        self, X: np.ndarray, numbers: np.ndarray, labels: np.ndarray, rule: Rule
    ) -> Merges:
        """Merge the rows of each group, and then the groups."""
        order = np.argsort(labels, kind="stable")
        sizes = np.bincount(labels)
        groups = np.split(order, np.cumsum(sizes)[:-1])
        merges = [
            self._merges(X[rows], numbers[rows], rule, len(rows) // _ROWS_OF_NESTED)
            for rows in groups
        ]
        centroids = np.stack([X[rows].mean(axis=0) for rows in groups])
        # The distances, and the square of them.
        self._check_memory(len(groups), 12 * len(groups) ** 2)
        return _joined(groups, merges, Merges(*link_groups(centroids, sizes, rule)))

    def _micro_clusters(
        self, X: np.ndarray, counts: np.ndarray, n_clusters: int
    ) -> np.ndarray:
        """Label distinct rows, which stand for `counts` rows each."""
        n_clusters = min(max(n_clusters, 2), _MICRO_CLUSTERS, self.max_exact)
        # By the largest one: a cluster of one row cannot be chosen for the next cut.
        clusterer = BisectingKMeans(
            n_clusters,
            max_iter=_MICRO_ITERATIONS,
            bisecting_strategy="largest_cluster",
            random_state=self.seed,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            labels = clusterer.fit(X, sample_weight=counts).labels_
        labels = np.unique(labels, return_inverse=True)[1]
        if labels.max() == 0:
            # Rows that differ by less than their squares can tell.
            return np.arange(len(X)) * n_clusters // len(X)
        return labels

    def _check_memory(self, n_rows: int, needed: float) -> None:
        check_memory(
            needed,
            f"Clustering {n_rows} rows one by one",
            f"set max_exact below {n_rows} (it is {self.max_exact}), and "
            "micro-clusters of them are clustered",
        )


def _memory_of_rows(n_rows: int) -> float:
    # Half a matrix of distances, of which scipy makes a copy.
    return 8.0 * n_rows * n_rows


def distinct(X: np.ndarray) -> np.ndarray:
    """Give identical rows the same number, in the order of the first ones."""
    # The digests of a million long rows take less memory than the rows.
    numbers: dict[bytes, int] = {}
    digests = (blake2b(row, digest_size=16).digest() for row in X)
    found = (numbers.setdefault(digest, len(numbers)) for digest in digests)
    return np.fromiter(found, dtype=np.intp, count=len(X))


def _chain(n_rows: int) -> Merges:
    """Merge identical rows one after the other."""
    one = np.arange(1, n_rows)
    before = n_rows + np.arange(-1, n_rows - 2)
    before[:1] = 0
    return Merges(np.column_stack([before, one]).astype(np.intp), np.zeros(n_rows - 1))


def _joined(groups: list[np.ndarray], merges: list[Merges], top: Merges) -> Merges:
    """Join the merges within groups of rows, by height, and then those of the groups.

    Parameters
    ----------
    groups : list of ndarray
        The rows of each group.
    merges : list of Merges
        The merges of the rows of each.
    top : Merges
        Merges in which the groups are the leaves.
    """
    n_leaves = sum(map(len, groups))
    group = np.repeat(np.arange(len(groups)), [len(m.heights) for m in merges])
    heights = np.concatenate([m.heights for m in merges])
    order = np.argsort(heights, kind="stable")
    nodes = [rows.tolist() for rows in groups]
    todo = [iter(m.nodes.tolist()) for m in merges]
    joined: list[tuple[int, int]] = []
    for g in group[order].tolist():
        left, right = next(todo[g])
        nodes[g].append(n_leaves + len(joined))
        joined.append((nodes[g][left], nodes[g][right]))
    tops = [members[-1] for members in nodes]
    for left, right in top.nodes.tolist():
        tops.append(n_leaves + len(joined))
        joined.append((tops[left], tops[right]))
    # Whatever their heights, the merges of groups come after those within them.
    heights = np.maximum.accumulate(np.concatenate([heights[order], top.heights]))
    return Merges(np.array(joined, dtype=np.intp).reshape(-1, 2), heights)
