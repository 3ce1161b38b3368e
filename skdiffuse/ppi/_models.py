"""What predicts a label from judge scores, once it is fitted."""

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np


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

    def leverage(self, X: np.ndarray) -> np.ndarray:
        """Return by how much each training row draws its own prediction."""


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
    hat : ndarray of shape (n_features, n_features) or None
        The leverage of a row as a quadratic form of its distance to the centre; None
        where the weights were not fitted.
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
    hat: np.ndarray | None = field(default=None, repr=False)
    alpha: float = float("nan")
    level: float = 0.0
    C: float = float("nan")

    def values(self, X: np.ndarray) -> np.ndarray:
        """Return the weighted sums."""
        return X @ self.weights + self.level

    def leverage(self, X: np.ndarray) -> np.ndarray:
        """Return the diagonal of the hat matrix, without the mean's part."""
        if self.hat is None:
            return np.zeros(len(X))
        centred = X - self.centre
        return np.einsum("ij,jk,ik->i", centred, self.hat, centred)


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
    hat_diagonal : ndarray of shape (n_training_rows,) or None
        Leverage of the training rows, where it is known.
    C : float
        The inverse penalty chosen, if one was.
    """

    estimator: Any
    n_weights: float = 0.0
    fallback: str | None = None
    low: float = 0.0
    high: float = 1.0
    hat_diagonal: np.ndarray | None = field(default=None, repr=False)
    C: float = float("nan")

    def values(self, X: np.ndarray) -> np.ndarray:
        """Return the predictions."""
        if len(X) == 0:
            return np.empty(0)
        if hasattr(self.estimator, "predict_proba"):
            probability = self.estimator.predict_proba(X)[:, 1]
            return self.low + (self.high - self.low) * probability
        return np.asarray(self.estimator.predict(X), dtype=np.float64).reshape(len(X))

    def leverage(self, X: np.ndarray) -> np.ndarray:
        """Return the leverage of the training rows, zero where it is not known."""
        return np.zeros(len(X)) if self.hat_diagonal is None else self.hat_diagonal
