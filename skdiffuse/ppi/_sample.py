"""The labelled rows, as the fit of g sees them."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from skdiffuse.ppi._moments import PoolMoments


@dataclass(frozen=True)
class Sample:
    """Labelled rows, and what is known of the others.

    Attributes
    ----------
    scores : ndarray of shape (n_labels, n_features)
        Judge scores, less `origin`.
    labels : ndarray of shape (n_labels,)
        Labels.
    weights : ndarray of shape (n_labels,) or None
        How many rows of the pool each stands for, up to a factor; None if equally many.
    groups : ndarray of shape (n_labels,) or None
        Numbers of the groups; None if each row is one of its own.
    pool : PoolMoments
        Of the rows without a label, less `origin`; empty where g has to see the rows.
    origin : ndarray of shape (n_features,)
        What was taken off the scores.
    rows : ndarray of shape (n_labels,)
        Where they are in the user's X.
    """

    scores: np.ndarray
    labels: np.ndarray
    weights: np.ndarray | None
    groups: np.ndarray | None
    pool: PoolMoments
    origin: np.ndarray
    rows: np.ndarray

    def __len__(self) -> int:
        """Return the number of labelled rows."""
        return len(self.labels)

    def take(self, rows: np.ndarray) -> Self:
        """Return some of the rows."""
        return replace(
            self,
            scores=self.scores[rows],
            labels=self.labels[rows],
            rows=self.rows[rows],
            weights=None if self.weights is None else self.weights[rows],
            groups=None if self.groups is None else self.groups[rows],
        )

    @cached_property
    def n_groups(self) -> int:
        """Number of groups, or of rows if there are none."""
        return len(self) if self.groups is None else len(np.unique(self.groups))

    @cached_property
    def shares(self) -> np.ndarray:
        """Weights that add up to one."""
        if self.weights is None:
            return np.full(len(self), 1 / len(self))
        return self.weights / self.weights.sum()

    @cached_property
    def mean(self) -> np.ndarray:
        """Mean of the scores."""
        # Deviations from the first row are exactly zero in a constant column.
        first = self.scores[0]
        return first + np.average(self.scores - first, axis=0, weights=self.weights)

    @cached_property
    def covariance(self) -> np.ndarray:
        """Covariance matrix of the scores, with ddof 0."""
        centred = self.scores - self.mean
        return (centred * self.shares[:, np.newaxis]).T @ centred

    def covariance_with_labels(self) -> np.ndarray:
        """Return the covariance of each column with the labels, with ddof 0."""
        deviations = self.labels - np.average(self.labels, weights=self.weights)
        return (self.scores - self.mean).T @ (self.shares * deviations)

    def everything(self) -> PoolMoments:
        """Return the moments of all rows, labelled or not, each counted once."""
        return PoolMoments.of_checked(self.scores) + self.pool

    @cached_property
    def varies(self) -> np.ndarray:
        """Which columns vary by more than the rounding of their values."""
        spread = np.sqrt(np.diag(self.covariance))
        return spread > 1e-14 * (np.abs(self.mean) + np.abs(self.origin))

    def too_few_for(self, n_weights: int) -> bool:
        """Tell whether so many weights would leave no residual to go by.

        Without a pool nothing rests on them but predictions.
        """
        return self.pool.count > 0 and len(self) < n_weights + 2

    def why_constant(self, fewest: int) -> str | None:
        """Say why no g can be fitted, or None if one can.

        Parameters
        ----------
        fewest : int
            How many labels, and groups of them, the fit needs.
        """
        if len(self) < fewest:
            return "too few labels"
        if np.ptp(self.labels) == 0:
            return "constant labels"
        if not self.varies.any():
            return "constant judge"
        return "too few groups" if self.n_groups < min(fewest, 2) else None
