"""A binary tree of merges: clustered once, cut at any number of clusters."""

from collections import defaultdict

import numpy as np
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import pdist

# Distances are taken after the largest entry was scaled to about one, so this floor
# lies far below any distance between two different rows, and its square still is
# not zero: only identical rows merge at height zero.
_SMALLEST_DISTANCE = 1e-150


class MergeTree:
    """Merges of `n` rows, laid out so that each node is a slice of `leaf_order`.

    Parameters
    ----------
    merges : ndarray of shape (n_leaves - 1, 2)
        The two nodes that each merge joins, in the order of the merges. Rows are the
        nodes ``0 .. n_leaves - 1``; merge ``m`` makes node ``n_leaves + m``.
    n_duplicate_merges : int
        How many of the first merges join identical rows only.

    Attributes
    ----------
    n_leaves : int
    n_distinct : int
        The largest number of clusters that keeps identical rows together.
    leaf_order : ndarray of shape (n_leaves,)
        Rows in the order in which the tree is drawn.
    """

    def __init__(self, merges: np.ndarray, n_duplicate_merges: int) -> None:
        self.merges = merges
        self.n_leaves = len(merges) + 1
        self.n_distinct = self.n_leaves - n_duplicate_merges
        n_nodes = self.n_leaves + len(merges)
        size = np.ones(n_nodes, dtype=np.intp)
        start = np.zeros(n_nodes, dtype=np.intp)
        parent = np.full(n_nodes, n_nodes, dtype=np.intp)
        for node, (left, right) in enumerate(merges.tolist(), start=self.n_leaves):
            size[node] = size[left] + size[right]
            parent[left] = parent[right] = node
        for node in range(n_nodes - 1, self.n_leaves - 1, -1):
            left, right = merges[node - self.n_leaves]
            start[left] = start[node]
            start[right] = start[node] + size[left]
        self._start, self._size, self._parent = start, size, parent
        self.leaf_order = np.empty(self.n_leaves, dtype=np.intp)
        self.leaf_order[start[: self.n_leaves]] = np.arange(self.n_leaves)

    def contains(self, node: int, row: int) -> bool:
        """Tell whether `row` is below `node`."""
        offset = self._start[row] - self._start[node]
        return bool(0 <= offset < self._size[node])

    def cut(self, n_clusters: int) -> np.ndarray:
        """Return the nodes that remain when the last merges are undone.

        Parameters
        ----------
        n_clusters : int
            Between 1 and `n_leaves`.

        Returns
        -------
        ndarray of shape (n_clusters,)
            Node numbers, ascending.
        """
        first_undone = 2 * self.n_leaves - n_clusters
        return np.flatnonzero(self._parent[:first_undone] >= first_undone)

    def labels(self, n_clusters: int) -> np.ndarray:
        """Label the rows by the clusters of a cut: 0, 1, ... in node order."""
        labels = np.empty(self.n_leaves, dtype=np.intp)
        for label, node in enumerate(self.cut(n_clusters)):
            labels[self.rows(node)] = label
        return labels

    def rows(self, node: int) -> np.ndarray:
        """Return the rows below `node`, ascending."""
        start = self._start[node]
        return np.sort(self.leaf_order[start : start + self._size[node]])

    def splits(self) -> np.ndarray:
        """Return the nodes in the order in which a growing cut splits them.

        Returns
        -------
        ndarray of shape (n_distinct - 1, 3)
            The node that is split, and its two children.
        """
        n_merges = self.n_leaves - 1
        merge = np.arange(n_merges - 1, n_merges - self.n_distinct, -1)
        return np.column_stack([merge + self.n_leaves, self.merges[merge]])


def ward_tree(X: np.ndarray) -> MergeTree:
    """Merge rows by Ward's rule on Euclidean distances."""
    merges, heights = _ward(X)
    return MergeTree(merges, int(np.count_nonzero(heights == 0)))


def cosine_tree(X: np.ndarray) -> MergeTree:
    """Merge rows by average cosine distance; zero rows join the rest last.

    The cosine distance of a zero row is undefined, so these rows form one cluster of
    their own that meets the others at the root.
    """
    norms = np.linalg.norm(X, axis=1)
    zero = np.flatnonzero(norms == 0)
    rest = np.flatnonzero(norms > 0)
    if len(rest) == 0:
        return ward_tree(X)
    groups = [(rest, *_average_cosine(X[rest], norms[rest]))]
    if len(zero):
        groups.append((zero, *_ward(X[zero])))
    return _join(groups, np.array([[0, 1]] if len(zero) else []).reshape(-1, 2))


def partition_tree(X: np.ndarray, labels: np.ndarray) -> MergeTree:
    """Build the tree whose cut at the number of labels is that partition.

    Below the partition the rows of each cluster merge by Ward's rule; above it the
    centroids of the clusters do.
    """
    members = [np.flatnonzero(labels == label) for label in range(labels.max() + 1)]
    groups = [(rows, *_ward(X[rows])) for rows in members]
    centroids = np.stack([X[rows].mean(axis=0) for rows in members])
    return _join(groups, _ward(centroids)[0])


def _ward(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return _link(X, pdist(X, "euclidean"), "ward")


def _average_cosine(X: np.ndarray, norms: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    # Half the squared distance of unit vectors is 1 - cos without the rounding that
    # leaves identical rows slightly apart or at a negative distance.
    unit = X / norms[:, np.newaxis]
    return _link(X, pdist(unit, "sqeuclidean") / 2, "average")


def _link(
    X: np.ndarray, distances: np.ndarray, method: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return the merges and their heights; identical rows merge at height zero."""
    n_rows = len(X)
    if n_rows == 1:
        return np.empty((0, 2), dtype=np.intp), np.empty(0)
    np.maximum(distances, _SMALLEST_DISTANCE, out=distances)
    for rows in _identical_rows(X):
        for position, row in enumerate(rows[:-1]):
            offset = row * n_rows - row * (row + 1) // 2 - row - 1
            distances[offset + rows[position + 1 :]] = 0
    tree = linkage(distances, method)
    return tree[:, :2].astype(np.intp), tree[:, 2]


def _identical_rows(X: np.ndarray) -> list[np.ndarray]:
    """Return the groups of two or more identical rows, each ascending."""
    groups = defaultdict(list)
    for row, vector in enumerate(X):
        groups[vector.tobytes()].append(row)
    return [np.array(rows) for rows in groups.values() if len(rows) > 1]


def _join(
    groups: list[tuple[np.ndarray, np.ndarray, np.ndarray]], top: np.ndarray
) -> MergeTree:
    """Join the trees of groups of rows by the merges of the groups.

    Parameters
    ----------
    groups : list of (rows, merges, heights)
        The rows of each group and the tree on them.
    top : ndarray of shape (n_groups - 1, 2)
        Merges in which the groups are the leaves.
    """
    n_leaves = sum(len(rows) for rows, _, _ in groups)
    group = np.concatenate(
        [np.full(len(heights), g) for g, (_, _, heights) in enumerate(groups)]
    ).astype(np.intp)
    heights = np.concatenate([heights for _, _, heights in groups])
    nodes = [rows.tolist() for rows, _, _ in groups]
    todo = [iter(merges.tolist()) for _, merges, _ in groups]
    joined: list[tuple[int, int]] = []
    for g in group[np.argsort(heights, kind="stable")]:
        left, right = next(todo[g])
        nodes[g].append(n_leaves + len(joined))
        joined.append((nodes[g][left], nodes[g][right]))
    tops = [members[-1] for members in nodes]
    for left, right in top.tolist():
        tops.append(n_leaves + len(joined))
        joined.append((tops[left], tops[right]))
    merges = np.array(joined, dtype=np.intp).reshape(-1, 2)
    return MergeTree(merges, int(np.count_nonzero(heights == 0)))
