"""The rules of the paper that pick the row of a cluster to be judged."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

_BATCH = 1 << 14


@dataclass(frozen=True)
class Differences:
    """Difference vectors with what the rules look at.

    Attributes
    ----------
    vectors : ndarray of shape (n_samples, n_features)
    norms : ndarray of shape (n_samples,)
        Euclidean norms of the vectors.
    priority : ndarray of shape (n_samples,)
        A random permutation: within a cluster the row of least priority is a
        uniformly random one, the same in every cut that leaves it alone.
    """

    vectors: np.ndarray
    norms: np.ndarray
    priority: np.ndarray


# What a rule says of the rows of a cluster: a cost for each, and the rounding within
# which two costs are equal.
Cost = Callable[[Differences, np.ndarray], tuple[np.ndarray, float]]


def pick(
    cost: Cost,
    differences: Differences,
    rows: np.ndarray,
    allowed: np.ndarray | None = None,
) -> int:
    """Pick the row of a cluster of least cost, among those allowed.

    Two rows are always equally far from their mean: among equals the longer vector,
    which tells more, is picked, then the first.
    """
    if len(rows) == 1:
        return int(rows[0])
    costs, rounding = cost(differences, rows)
    if allowed is not None:
        rows, costs = rows[allowed], costs[allowed]
    rows = rows[costs <= costs.min() + rounding]
    return int(rows[np.argmax(differences.norms[rows])])


def from_centroid(
    differences: Differences, rows: np.ndarray
) -> tuple[np.ndarray, float]:
    """Return the Euclidean distances to the mean of the cluster."""
    centroid = _mean(differences, rows)
    distance = np.empty(len(rows))
    for batch in _batches(rows):
        distance[batch] = np.linalg.norm(
            differences.vectors[rows[batch]] - centroid, axis=1
        )
    rounding = 1e-9 * distance.min() + 1e-14 * differences.norms[rows].max()
    return distance, rounding


def from_direction(
    differences: Differences, rows: np.ndarray
) -> tuple[np.ndarray, float]:
    """Return the cosine distances to the mean of the cluster."""
    centroid = _mean(differences, rows)
    norms = differences.norms[rows]
    length = math.sqrt(centroid @ centroid)
    # Rows that cancel out have no direction in common: all are equally near.
    if length <= 1e-14 * len(rows) * norms.max():
        return np.zeros(len(rows)), 0.0
    products = np.empty(len(rows))
    for batch in _batches(rows):
        products[batch] = differences.vectors[rows[batch]] @ centroid
    lengths = norms * length
    cosine = np.divide(products, lengths, out=np.zeros(len(rows)), where=lengths > 0)
    return 1 - cosine, 1e-12


def _mean(differences: Differences, rows: np.ndarray) -> np.ndarray:
    parts = [differences.vectors[rows[b]].sum(axis=0) for b in _batches(rows)]
    return sum(parts) / len(rows)


def _batches(rows: np.ndarray) -> Iterator[slice]:
    """Cut the rows of a large cluster, whose vectors would be copied at once."""
    # scikit-learn's gen_batches takes longer than what a small cluster needs.
    return (slice(i, i + _BATCH) for i in range(0, len(rows), _BATCH))


def from_longest(
    differences: Differences, rows: np.ndarray
) -> tuple[np.ndarray, float]:
    """Prefer the largest norm: the outputs that differ most."""
    return -differences.norms[rows], 0.0


def from_first_drawn(
    differences: Differences, rows: np.ndarray
) -> tuple[np.ndarray, float]:
    """Prefer a uniformly random row."""
    return differences.priority[rows], 0.0


COSTS: dict[str, Cost] = {
    "centroid": from_centroid,
    "cosine": from_direction,
    "max_norm": from_longest,
    "random": from_first_drawn,
}
