"""A binary tree of merges: clustered once, cut at any number of clusters."""

import numpy as np


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
        size, start = [1] * n_nodes, [0] * n_nodes
        children = merges.tolist()
        for node, (left, right) in enumerate(children, start=self.n_leaves):
            size[node] = size[left] + size[right]
        for node in range(n_nodes - 1, self.n_leaves - 1, -1):
            left, right = children[node - self.n_leaves]
            start[left] = start[node]
            start[right] = start[node] + size[left]
        self._start = np.array(start, dtype=np.intp)
        self._size = np.array(size, dtype=np.intp)
        self._parent = np.full(n_nodes, n_nodes, dtype=np.intp)
        self._parent[merges] = np.arange(self.n_leaves, n_nodes)[:, np.newaxis]
        self.leaf_order = np.empty(self.n_leaves, dtype=np.intp)
        self.leaf_order[self._start[: self.n_leaves]] = np.arange(self.n_leaves)

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

    def labels(self, nodes: np.ndarray) -> np.ndarray:
        """Label the rows by the nodes of a cut: 0, 1, ... in their order."""
        labels = np.empty(self.n_leaves, dtype=np.intp)
        for label, node in enumerate(nodes):
            labels[self.rows(node)] = label
        return labels

    def above(self, rows: np.ndarray) -> set[int]:
        """Return the nodes that any of these rows is below, and the rows."""
        found: set[int] = set()
        for row in rows.tolist():
            node = row
            while node < len(self._parent) and node not in found:
                found.add(node)
                node = int(self._parent[node])
        return found

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
