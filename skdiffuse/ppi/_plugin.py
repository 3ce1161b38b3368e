"""Weights of judges shrunk by their own precision, and the same with rows left out."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from skdiffuse.ppi._sample import Sample

# The covariance of all rows counts like so many labelled rows: few labelled rows say
# little of it.
_POOL_WEIGHT = 2
_ROUNDING = 1e-10


@dataclass(frozen=True)
class Moments:
    """What the weights are worked out from, for several samples at once.

    Attributes
    ----------
    n : ndarray of shape (n_parts,)
        Number of labelled rows.
    scatter : ndarray of shape (n_parts, n_features, n_features)
        Covariance matrix of the scores, ddof 0.
    cross : ndarray of shape (n_parts, n_features)
        Covariance of the scores with the labels.
    labels : ndarray of shape (n_parts,)
        Variance of the labels.
    """

    n: np.ndarray
    scatter: np.ndarray
    cross: np.ndarray
    labels: np.ndarray

    @classmethod
    def of(cls, sample: Sample) -> Self:
        """Return those of one sample."""
        mean = np.average(sample.labels, weights=sample.weights)
        variance = float(sample.shares @ (sample.labels - mean) ** 2)
        return cls(
            np.array([len(sample)]),
            sample.covariance[np.newaxis],
            sample.covariance_with_labels()[np.newaxis],
            np.array([variance]),
        )

    def shrunk_weights(
        self, everywhere: np.ndarray, largest: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the weights, and the number of them that the scores can tell apart.

        Parameters
        ----------
        everywhere : ndarray of shape (n_features, n_features)
            Covariance matrix of the scores of all rows.
        largest : ndarray of shape (n_features,)
            A column with less variance than the rounding of this does not vary.

        Returns
        -------
        weights : ndarray of shape (n_parts, n_features)
            Zero where there are too few labels for them.
        rank : ndarray of shape (n_parts,)
        roots : ndarray of shape (n_parts, n_features, n_features)
            Of the matrix that makes weights of a covariance with labels.
        """
        n = self.n[:, np.newaxis]
        diagonal = np.einsum("gii->gi", self.scatter)
        varies = diagonal > _ROUNDING * largest
        mixed = n[..., np.newaxis] * self.scatter + _POOL_WEIGHT * everywhere
        mixed = mixed / (n[..., np.newaxis] + _POOL_WEIGHT)
        scale = np.sqrt(np.einsum("gii->gi", mixed))
        scale = np.where(varies, scale, 1)
        both = varies[:, :, np.newaxis] & varies[:, np.newaxis, :]
        units = scale[:, :, np.newaxis] * scale[:, np.newaxis, :]
        sizes, axes = np.linalg.eigh(np.where(both, mixed / units, 0))
        real = sizes > _ROUNDING * np.maximum(sizes[:, -1:], 1e-300)
        rank = real.sum(axis=1)
        roots = axes * np.sqrt(real / np.where(real, sizes, 1))[:, np.newaxis, :]
        roots = roots / scale[:, :, np.newaxis]
        weights = np.einsum("gij,gkj,gk->gi", roots, roots, self.cross)
        # The variance of the weights, and their size, in units of the mixture.
        fitted = np.einsum("gi,gi->g", weights, self.cross)
        spread = np.einsum("gi,gij,gj->g", weights, self.scatter, weights)
        freedom = np.maximum(self.n - 1 - rank, 1)
        residual = np.maximum(self.labels - 2 * fitted + spread, 0) * self.n / freedom
        trace = np.einsum("gij,gik,gkj->g", roots, self.scatter, roots)
        noise = residual * trace / self.n
        explained = np.where(fitted > 0, fitted, 1)
        factor = np.where(fitted > 0, np.maximum(0, 1 - noise / explained), 0)
        roots = roots * np.sqrt(factor)[:, np.newaxis, np.newaxis]
        return factor[:, np.newaxis] * weights, rank, roots


def left_out_residuals(
    sample: Sample, everywhere: np.ndarray, largest: np.ndarray
) -> np.ndarray:
    """Return the residuals of rows from weights and a mean that have not seen them.

    Parameters
    ----------
    sample : Sample
        Groups are left out as a whole.
    everywhere, largest : ndarray
        As in `Moments.shrunk_weights`.

    Returns
    -------
    ndarray of shape (n_labels,)
    """
    n = len(sample)
    groups = np.arange(n) if sample.groups is None else sample.groups
    codes = np.unique(groups, return_inverse=True)[1]
    shares = sample.shares
    scores = sample.scores - sample.mean
    labels = sample.labels - np.average(sample.labels, weights=sample.weights)
    weighted = scores * shares[:, np.newaxis]

    def without(values: np.ndarray) -> np.ndarray:
        """Return the sum over the rows of the other groups."""
        flat = values.reshape(n, -1).T
        sums = np.stack([np.bincount(codes, weights=column) for column in flat], 1)
        return (sums.sum(axis=0) - sums).reshape(-1, *values.shape[1:])

    total = without(shares)
    kept = np.where(total > _ROUNDING, total, 1)
    mean = without(weighted) / kept[:, np.newaxis]
    level = without(shares * labels) / kept
    products = weighted[:, :, np.newaxis] * scores[:, np.newaxis, :]
    scatter = without(products) / kept[:, np.newaxis, np.newaxis]
    moments = Moments(
        without(np.ones(n)),
        scatter - mean[:, :, np.newaxis] * mean[:, np.newaxis, :],
        without(weighted * labels[:, np.newaxis]) / kept[:, np.newaxis]
        - mean * level[:, np.newaxis],
        without(shares * labels**2) / kept - level**2,
    )
    weights, rank, _ = moments.shrunk_weights(everywhere, largest)
    enough = (moments.n >= np.maximum(rank + 2, 3)) & (total > _ROUNDING)
    weights = np.where(enough[:, np.newaxis], weights, 0)
    predicted = level[codes] + np.einsum(
        "ij,ij->i", scores - mean[codes], weights[codes]
    )
    return labels - predicted
