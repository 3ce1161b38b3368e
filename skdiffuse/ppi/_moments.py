"""Count, mean and comoments of rows: all that an estimate needs of the pool."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from sklearn.utils import gen_batches

_BATCH = 1 << 16


@dataclass(frozen=True)
class Moments:
    """Count, mean and comoment matrix of the rows of an array.

    Attributes
    ----------
    count : int
    mean : ndarray of shape (n_features,)
    comoment : ndarray of shape (n_features, n_features)
        Sum of the outer products of the deviations from the mean.
    """

    count: int
    mean: np.ndarray
    comoment: np.ndarray

    @classmethod
    def of(cls, rows: np.ndarray) -> Self:
        """Add up an array of shape (n_samples, n_features) batch by batch."""
        n_samples, n_features = rows.shape
        total = cls(0, np.zeros(n_features), np.zeros((n_features, n_features)))
        if n_samples == 0:
            return total
        # Deviations from the first row are exactly zero in a constant column.
        origin = rows[0].astype(np.float64)
        for batch in gen_batches(n_samples, _BATCH):
            shifted = rows[batch] - origin
            mean = shifted.mean(axis=0)
            shifted -= mean
            total = total.merge(cls(len(shifted), mean, shifted.T @ shifted))
        return cls(total.count, origin + total.mean, total.comoment)

    def merge(self, other: Self) -> Self:
        """Return the moments of both sets of rows together."""
        if self.count == 0 or other.count == 0:
            return other if self.count == 0 else self
        count = self.count + other.count
        step = other.mean - self.mean
        comoment = (
            self.comoment
            + other.comoment
            + np.outer(step, step) * (self.count * other.count / count)
        )
        return type(self)(count, self.mean + step * (other.count / count), comoment)

    def covariance(self, ddof: int = 0) -> np.ndarray:
        """Return the covariance matrix; zero where there are no degrees of freedom."""
        return self.comoment / max(self.count - ddof, 1)
