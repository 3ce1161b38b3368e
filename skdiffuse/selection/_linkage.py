"""Agglomerative clustering: what is merged with what, and in which order.

Rows are linked by scipy. Groups of rows, which count by their sizes, are linked here:
scipy starts from single rows only.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform

from skdiffuse.selection._distances import squared_distances

# Distances are taken after the largest entry was scaled to about one, so this floor
# lies far below any distance between two different rows, and its square still is
# not zero: only identical rows merge at height zero.
_SMALLEST_DISTANCE = 1e-150


@dataclass(frozen=True)
class Rule:
    """How far two groups are apart, and what a merge does to it.

    Attributes
    ----------
    method : str
        What scipy calls it.
    of_rows : callable
        ``of_rows(X)`` returns the condensed distances between rows.
    of_groups : callable
        ``of_groups(centroids, sizes, spreads)`` returns the distances between groups,
        condensed, in the scale in which `merged` is linear.
    power : float
        Turns distances of that scale into those of `of_rows`.
    merged : callable
        ``merged(to_a, to_b, apart, a, b, sizes)`` returns the distances of other groups
        to the union of two, of sizes `a` and `b`, that are `apart`.
    """

    method: str
    of_rows: Callable
    of_groups: Callable
    power: float
    merged: Callable


def _ward_of_rows(X: np.ndarray) -> np.ndarray:
    distances = squared_distances(X)
    return np.sqrt(distances, out=distances)


def _ward_of_groups(
    centroids: np.ndarray, sizes: np.ndarray, spreads: np.ndarray
) -> np.ndarray:
    distances = squared_distances(centroids)
    for row, part in _rows_of(distances, len(centroids)):
        part *= 2 * sizes[row] * sizes[row + 1 :] / (sizes[row] + sizes[row + 1 :])
    return distances


def _ward_merged(
    to_a: np.ndarray,
    to_b: np.ndarray,
    apart: float,
    a: float,
    b: float,
    sizes: np.ndarray,
) -> np.ndarray:
    total = (a + sizes) * to_a + (b + sizes) * to_b - sizes * apart
    return total / (a + b + sizes)


def _average_of_rows(X: np.ndarray) -> np.ndarray:
    # Half the squared distance of unit vectors is 1 - cos without the rounding that
    # leaves identical rows slightly apart or at a negative distance.
    distances = squared_distances(X)
    distances /= 2
    return distances


def _average_of_groups(
    centroids: np.ndarray, sizes: np.ndarray, spreads: np.ndarray
) -> np.ndarray:
    # The mean of half the squared distance, over all pairs of rows of two groups.
    distances = _average_of_rows(centroids)
    for row, part in _rows_of(distances, len(centroids)):
        part += (spreads[row] + spreads[row + 1 :]) / 2
    return distances


def _average_merged(
    to_a: np.ndarray,
    to_b: np.ndarray,
    apart: float,
    a: float,
    b: float,
    sizes: np.ndarray,
) -> np.ndarray:
    return (a * to_a + b * to_b) / (a + b)


WARD = Rule("ward", _ward_of_rows, _ward_of_groups, 0.5, _ward_merged)
# Of unit vectors.
AVERAGE_COSINE = Rule(
    "average", _average_of_rows, _average_of_groups, 1.0, _average_merged
)


def link_rows(
    X: np.ndarray, distinct: np.ndarray, rule: Rule
) -> tuple[np.ndarray, np.ndarray]:
    """Merge rows.

    Parameters
    ----------
    X : ndarray of float64 of shape (n_rows, n_features)
    distinct : ndarray of int of shape (n_rows,)
        The same number for identical rows.
    rule : Rule

    Returns
    -------
    merges : ndarray of int of shape (n_rows - 1, 2)
        The two nodes that each merge joins; merge ``m`` makes node ``n_rows + m``.
    heights : ndarray of shape (n_rows - 1,)
        Ascending; zero where identical rows merge, and only there.
    """
    n_rows = len(X)
    if n_rows == 1:
        return np.empty((0, 2), dtype=np.intp), np.empty(0)
    distances = rule.of_rows(X)
    np.maximum(distances, _SMALLEST_DISTANCE, out=distances)
    for rows in _identical_rows(distinct):
        for position, row in enumerate(rows[:-1]):
            offset = row * n_rows - row * (row + 1) // 2 - row - 1
            distances[offset + rows[position + 1 :]] = 0
    tree = linkage(distances, rule.method)
    return tree[:, :2].astype(np.intp), tree[:, 2]


def link_groups(
    centroids: np.ndarray, sizes: np.ndarray, spreads: np.ndarray, rule: Rule
) -> tuple[np.ndarray, np.ndarray]:
    """Merge groups of rows, as clustering would go on from them.

    Parameters
    ----------
    centroids : ndarray of shape (n_groups, n_features)
        Their means.
    sizes : ndarray of shape (n_groups,)
        How many rows each has.
    spreads : ndarray of shape (n_groups,)
        The mean of the squared distances of the rows of each to their mean.
    rule : Rule

    Returns
    -------
    merges : ndarray of int of shape (n_groups - 1, 2)
        As `link_rows` returns them.
    heights : ndarray of shape (n_groups - 1,)
        Ascending and positive.

    Notes
    -----
    Nearest-neighbour chains [1]_.

    References
    ----------
    .. [1] Murtagh, "A survey of recent advances in hierarchical clustering algorithms",
       The Computer Journal 26, 1983.
    """
    sizes = sizes.astype(np.float64)
    distances = np.maximum(
        rule.of_groups(centroids, sizes, spreads), _SMALLEST_DISTANCE**2
    )
    distances = squareform(distances, checks=False)
    np.fill_diagonal(distances, np.inf)
    pairs: list[tuple[int, int]] = []
    heights: list[float] = []
    chain: list[int] = []
    left = np.ones(len(sizes), dtype=bool)
    while len(pairs) < len(sizes) - 1:
        if not chain:
            chain.append(int(left.argmax()))
        a = chain[-1]
        b = int(distances[a].argmin())
        if len(chain) > 1 and distances[a, chain[-2]] <= distances[a, b]:
            b = chain[-2]
            del chain[-2:]
            a, b = min(a, b), max(a, b)
            pairs.append((a, b))
            heights.append(distances[a, b])
            merged = rule.merged(
                distances[a], distances[b], heights[-1], sizes[a], sizes[b], sizes
            )
            merged[[a, b]] = np.inf
            distances[b] = distances[:, b] = merged
            distances[a] = distances[:, a] = np.inf
            sizes[b] += sizes[a]
            left[a] = False
        else:
            chain.append(b)
    order = np.argsort(heights, kind="stable")
    merges = _numbered(np.array(pairs, dtype=np.intp).reshape(-1, 2)[order])
    return merges, np.array(heights)[order] ** rule.power


def _numbered(pairs: np.ndarray) -> np.ndarray:
    """Give the unions numbers of their own.

    Parameters
    ----------
    pairs : ndarray of shape (n_groups - 1, 2)
        Two groups each, or any groups that were merged with them.
    """
    n_groups = len(pairs) + 1
    stands_for = list(range(n_groups))
    node = list(range(n_groups))
    merges = np.empty_like(pairs)
    for merge, (a, b) in enumerate(pairs.tolist()):
        a, b = _root(stands_for, a), _root(stands_for, b)
        merges[merge] = sorted((node[a], node[b]))
        stands_for[a] = b
        node[b] = n_groups + merge
    return merges


def _root(stands_for: list[int], group: int) -> int:
    while stands_for[group] != group:
        stands_for[group] = stands_for[stands_for[group]]
        group = stands_for[group]
    return group


def _rows_of(condensed: np.ndarray, n: int):  # type: ignore[no-untyped-def]
    """Yield each row of condensed distances, as a view on those to later rows."""
    end = 0
    for row in range(n):
        start, end = end, end + n - row - 1
        yield row, condensed[start:end]


def _identical_rows(distinct: np.ndarray) -> list[np.ndarray]:
    """Return the groups of two or more identical rows, each ascending."""
    repeated = np.flatnonzero(np.bincount(distinct) > 1)
    return [np.flatnonzero(distinct == number) for number in repeated]
