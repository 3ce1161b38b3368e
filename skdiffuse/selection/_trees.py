"""Merge trees of difference vectors, of micro-clusters where rows are many."""

import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from typing import Any, NamedTuple

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
# Of a micro-cluster where too many rows are left in one, or in a cluster of k-means.
_ROWS_OF_NESTED = 50
_MICRO_ITERATIONS = 20
# scikit-learn goes over the clusters of a bisection in as many calls as these are deep.
_AT_ONCE = 64
# Rows that lose one outlier at a time are cut by their numbers from there on.
_DEEPEST = 50


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
        return self._built(
            lambda: self._merges(X, distinct(X), WARD, _MICRO_CLUSTERS, 0)
        )

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
                unit, distinct(X[rest]), AVERAGE_COSINE, _MICRO_CLUSTERS, 0
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

    def _built(self, merges: Callable[[], Merges]) -> MergeTree:
        with _one_thread():
            found = merges()
        if self._too_many:
            warnings.warn(
                ApproximateClusteringWarning(
                    f"{self._too_many} distinct rows are more than "
                    f"max_exact={self.max_exact}: they are clustered from "
                    "micro-clusters on. "
                    f"DiffUseSelector(max_exact={self._too_many}) clusters them one by "
                    f"one, in {_memory_of_rows(self._too_many) / 1e9:.3g} GB of "
                    "memory; random_state decides which micro-clusters there are."
                ),
                stacklevel=6,  # who calls fit
            )
        return MergeTree(found.nodes, int(np.count_nonzero(found.heights == 0)))

    def _merges(
        self, X: np.ndarray, numbers: np.ndarray, rule: Rule, n_micro: int, depth: int
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
            n_micro = min(max(n_micro, 2), self.max_exact)
            if depth == _DEEPEST:
                micro = _equal_parts(n_distinct, n_micro)
            else:
                micro = self._micro_clusters(rows, np.bincount(labels), n_micro)
            labels = micro[labels]
        return self._merges_around(X, numbers, labels, rule, depth + 1)

    def _merges_around(
        self,
        X: np.ndarray,
        numbers: np.ndarray,
        labels: np.ndarray,
        rule: Rule,
        depth: int = 1,
    ) -> Merges:
        """Merge the rows of each group, and then the groups."""
        order = np.argsort(labels, kind="stable")
        sizes = np.bincount(labels)
        groups = np.split(order, np.cumsum(sizes)[:-1])
        merges, means, spreads = [], [], []
        for rows in groups:
            n_micro = min(len(rows) // _ROWS_OF_NESTED, _MICRO_CLUSTERS)
            part = X[rows]
            merges.append(self._merges(part, numbers[rows], rule, n_micro, depth))
            # The first row more is exact where all are identical.
            part -= (first := part[0].copy())
            step = part.mean(axis=0)
            part -= step
            means.append(first + step)
            spreads.append(np.einsum("ij,ij->", part, part) / len(rows))
        # The distances, and the square of them.
        self._check_memory(len(groups), 12 * len(groups) ** 2)
        top = link_groups(np.array(means), sizes, np.array(spreads), rule)
        return _joined(groups, merges, Merges(*top))

    def _micro_clusters(
        self, X: np.ndarray, counts: np.ndarray, n_clusters: int
    ) -> np.ndarray:
        """Label distinct rows, which stand for `counts` rows each."""
        labels = self._bisected(X, counts, n_clusters)
        if labels.max() == 0:
            # Rows that differ by less than their squares can tell.
            return _equal_parts(len(X), n_clusters)
        return labels

    def _bisected(
        self, X: np.ndarray, counts: np.ndarray, n_clusters: int
    ) -> np.ndarray:
        """Label rows by about so many clusters, a few at a time."""
        n_clusters = min(n_clusters, len(X))
        if n_clusters < 2:
            return np.zeros(len(X), dtype=np.intp)
        # By the largest one: a cluster of one row cannot be chosen for the next cut.
        clusterer = BisectingKMeans(
            min(n_clusters, _AT_ONCE),
            max_iter=_MICRO_ITERATIONS,
            bisecting_strategy="largest_cluster",
            random_state=self.seed,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            labels = clusterer.fit(X, sample_weight=counts).labels_
        labels = np.unique(labels, return_inverse=True)[1]
        if n_clusters <= _AT_ONCE or labels.max() == 0:
            return labels
        result = np.empty(len(X), dtype=np.intp)
        sizes = np.bincount(labels)
        # The other clusters go by the rows, and add up.
        ends = np.rint((n_clusters - len(sizes)) * np.cumsum(sizes) / len(X))
        shares = 1 + np.diff(ends, prepend=0).astype(int)
        found = 0
        for label, share in enumerate(shares.tolist()):
            rows = np.flatnonzero(labels == label)
            result[rows] = found + self._bisected(X[rows], counts[rows], share)
            found = int(result[rows].max()) + 1
        return result

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


class _OneThread:
    """Hold numerical libraries to one thread, in however many threads of Python.

    The last digits of matrix products depend on the number of threads. The limit is
    one of the process: the first to ask sets it, and the last to leave takes it back.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._limits: Any = None

    @contextmanager
    def __call__(self) -> Iterator[None]:
        with self._lock:
            if self._inside == 0:
                self._limits = threadpool_limits(1)
            self._inside += 1
        try:
            yield
        finally:
            with self._lock:
                self._inside -= 1
                if self._inside == 0:
                    self._limits.restore_original_limits()


_one_thread = _OneThread()


def _equal_parts(n_rows: int, n_parts: int) -> np.ndarray:
    return np.arange(n_rows) * n_parts // n_rows


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
