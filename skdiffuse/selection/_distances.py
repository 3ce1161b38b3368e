"""Distances between all rows, by matrix products."""

import numpy as np
from scipy.spatial.distance import cdist

# Rows of a block times all others: a few megabytes, which a processor keeps at hand.
_BLOCK = 1 << 19
# Below this share of the two squared norms the squared distance has lost too many
# digits, and is taken from the difference of the rows.
_CANCELS = 1e-3


def squared_distances(X: np.ndarray) -> np.ndarray:
    """Return the squared Euclidean distances of all pairs of rows.

    Parameters
    ----------
    X : ndarray of float64 of shape (n_rows, n_features)

    Returns
    -------
    ndarray of shape (n_rows * (n_rows - 1) / 2,)
        Condensed, as `scipy.spatial.distance.pdist` orders them.

    Notes
    -----
    ``|x - y|^2 = |x|^2 + |y|^2 - 2 x y`` is several times faster than the differences,
    and rounds to about 1e-12 of the result where that is at least 1e-3 of the sum of
    the squared norms.
    """
    n_rows = len(X)
    squares = np.einsum("ij,ij->i", X, X)
    condensed = np.empty(n_rows * (n_rows - 1) // 2)
    end = 0
    step = max(_BLOCK // n_rows, 1)
    for first in range(0, n_rows, step):
        block = X[first : first + step]
        sums = squares[first : first + step, np.newaxis] + squares[first:]
        distances = block @ X[first:].T
        distances *= -2
        distances += sums
        sums *= _CANCELS
        near = distances <= sums
        for i in range(len(block)):
            row = distances[i, i + 1 :]
            close = np.flatnonzero(near[i, i + 1 :])
            if len(close):
                others = X[first + i + 1 + close]
                row[close] = cdist(block[i : i + 1], others, "sqeuclidean")[0]
            start, end = end, end + len(row)
            condensed[start:end] = row
    return condensed
