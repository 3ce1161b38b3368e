"""The rules of the paper that pick the row of a cluster to be judged."""

from dataclasses import dataclass

import numpy as np


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


def nearest_centroid(differences: Differences, rows: np.ndarray) -> int:
    """Pick the row with the least Euclidean distance to the mean of the cluster.

    Two rows are always equally far from their mean: among equals the longer vector,
    which tells more, is picked, then the first.
    """
    vectors = differences.vectors[rows]
    distance = np.linalg.norm(vectors - vectors.mean(axis=0), axis=1)
    rounding = 1e-9 * distance.min() + 1e-14 * differences.norms[rows].max()
    return _longest_of_smallest(distance, rounding, differences, rows)


def nearest_direction(differences: Differences, rows: np.ndarray) -> int:
    """Pick the row with the least cosine distance to the mean of the cluster."""
    vectors = differences.vectors[rows]
    centroid = vectors.mean(axis=0)
    length = np.linalg.norm(centroid)
    # Rows that cancel out have no direction in common: all are equally near.
    if length <= 1e-14 * len(rows) * differences.norms[rows].max():
        return longest(differences, rows)
    lengths = differences.norms[rows] * length
    cosine = np.divide(
        vectors @ centroid, lengths, out=np.zeros(len(rows)), where=lengths > 0
    )
    return _longest_of_smallest(1 - cosine, 1e-12, differences, rows)


def longest(differences: Differences, rows: np.ndarray) -> int:
    """Pick the row with the largest norm: the outputs that differ most."""
    return int(rows[np.argmax(differences.norms[rows])])


def first_drawn(differences: Differences, rows: np.ndarray) -> int:
    """Pick a uniformly random row."""
    return int(rows[np.argmin(differences.priority[rows])])


RULES = {
    "centroid": nearest_centroid,
    "cosine": nearest_direction,
    "max_norm": longest,
    "random": first_drawn,
}


def _longest_of_smallest(
    distance: np.ndarray, rounding: float, differences: Differences, rows: np.ndarray
) -> int:
    return longest(differences, rows[distance <= distance.min() + rounding])
