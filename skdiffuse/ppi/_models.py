"""What predicts a label from judge scores, once it is fitted."""

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np


@dataclass
class Hat:
    """The hat matrix of a fit in its factors, ``left @ right.T``.

    Attributes
    ----------
    left, right : ndarray of shape (n_training_rows, n_columns)
        ``right.T @ left`` is symmetric.
    """

    left: np.ndarray
    right: np.ndarray

    def diagonal(self) -> np.ndarray:
        """Return by how much each row draws its own prediction."""
        return np.einsum("ij,ij->i", self.left, self.right)


class Model(Protocol):
    """A fitted g.

    Attributes
    ----------
    n_weights : float
        Degrees of freedom that the fit took from the labelled rows, beside the mean.
    fallback : str or None
        Why g is constant although a judge was given.
    """

    n_weights: float
    fallback: str | None

    def values(self, X: np.ndarray) -> np.ndarray:
        """Return g of judge scores."""

    def hat(self, X: np.ndarray, shares: np.ndarray) -> Hat:
        """Return the hat matrix of the fit and the mean, for the training rows."""


@dataclass
class LinearModel:
    """g is a weighted sum of judge scores.

    Attributes
    ----------
    weights : ndarray of shape (n_features,)
    n_weights : float
    fallback : str or None
    centre : ndarray of shape (n_features,) or None
        Mean of the training rows.
    roots : ndarray of shape (n_features, rank) or None
        A root of the inverse covariance (with penalty) that the weights were fitted
        with; None where they were not fitted.
    alpha : float
        The penalty chosen, if one was.
    level : float
        Added to the weighted sum.
    C : float
        The inverse penalty chosen, if one was.
    """

    weights: np.ndarray
    n_weights: float = 0.0
    fallback: str | None = None
    centre: np.ndarray | None = field(default=None, repr=False)
    roots: np.ndarray | None = field(default=None, repr=False)
    alpha: float = float("nan")
    level: float = 0.0
    C: float = float("nan")

    def values(self, X: np.ndarray) -> np.ndarray:
        """Return the weighted sums."""
        return X @ self.weights + self.level

    def hat(self, X: np.ndarray, shares: np.ndarray) -> Hat:
        """Return the hat matrix of the fit and the mean, for the training rows."""
        if self.roots is None:
            return hat_of_the_mean(shares)
        roots = np.column_stack([np.ones(len(X)), (X - self.centre) @ self.roots])
        return Hat(roots, roots * shares[:, np.newaxis])


@dataclass
class EstimatorModel:
    """g is the prediction of a fitted scikit-learn estimator.

    Attributes
    ----------
    estimator : regressor or classifier
        A classifier predicts the probability of its second class.
    n_weights : float
    fallback : str or None
    low, high : float
        The labels that the two classes of a classifier stand for.
    training_hat : Hat or None
        Where it is known.
    C : float
        The inverse penalty chosen, if one was.
    """

    estimator: Any
    n_weights: float = 0.0
    fallback: str | None = None
    low: float = 0.0
    high: float = 1.0
    training_hat: Hat | None = field(default=None, repr=False)
    C: float = float("nan")

    def values(self, X: np.ndarray) -> np.ndarray:
        """Return the predictions."""
        if len(X) == 0:
            return np.empty(0)
        if hasattr(self.estimator, "predict_proba"):
            probability = self.estimator.predict_proba(X)[:, 1]
            return self.low + (self.high - self.low) * probability
        return np.asarray(self.estimator.predict(X), dtype=np.float64).reshape(len(X))

    def hat(self, X: np.ndarray, shares: np.ndarray) -> Hat:
        """Return the hat matrix of the training rows; of the mean if it is unknown."""
        return self.training_hat or hat_of_the_mean(shares)


def hat_of_the_mean(shares: np.ndarray) -> Hat:
    """Return the hat matrix of a mean with these shares."""
    return Hat(np.ones((len(shares), 1)), shares[:, np.newaxis])
