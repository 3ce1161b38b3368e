"""What predicts a label from judge scores, once it is fitted."""

from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Protocol

import numpy as np
from scipy.special import expit


@dataclass
class Hat:
    """The hat matrix of a fit in its factors, ``left @ right.T``.

    Attributes
    ----------
    left, right : ndarray of shape (n_training_rows, n_columns)
        Row i of `left` with row j of `right`: how much label j draws prediction i.
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
    training_hat : Hat or None
        Of the training rows, the mean included; None if it is not known, or if nothing
        was fitted.
    left_out : ndarray of shape (n_training_rows,) or None
        Residuals of rows (or groups) that were left out of the fit and of the mean,
        where these are known otherwise than by the hat matrix.
    """

    n_weights: float
    fallback: str | None
    training_hat: "Hat | None"
    left_out: np.ndarray | None

    def values(self, X: np.ndarray) -> np.ndarray:
        """Return g of judge scores."""


@dataclass
class LinearModel:
    """g is a weighted sum of judge scores.

    Attributes
    ----------
    weights : ndarray of shape (n_features,)
    n_weights : float
    fallback : str or None
    training_hat : Hat or None
    left_out : ndarray of shape (n_training_rows,) or None
    alpha : float
        The penalty chosen, if one was.
    level : float
        Added to the weighted sum.
    C : float
        The inverse penalty chosen, if one was.
    """

    weights: np.ndarray
    n_weights: float = 0.0
    _: KW_ONLY
    fallback: str | None = None
    training_hat: Hat | None = field(default=None, repr=False)
    left_out: np.ndarray | None = field(default=None, repr=False)
    alpha: float = float("nan")
    level: float = 0.0
    C: float = float("nan")

    def values(self, X: np.ndarray) -> np.ndarray:
        """Return the weighted sums."""
        return X @ self.weights + self.level


@dataclass
class LogisticModel:
    """g is a logistic curve of a weighted sum of judge scores.

    Attributes
    ----------
    weights, centre : ndarray of shape (n_features,)
        The sum is that of the scores less the centre.
    level : float
        Added to the sum.
    low, high : float
        The ends of the curve.
    n_weights : float
    fallback : str or None
    training_hat : Hat or None
    left_out : ndarray of shape (n_training_rows,) or None
    C : float
        The inverse penalty chosen.
    """

    weights: np.ndarray
    centre: np.ndarray
    level: float
    low: float
    high: float
    _: KW_ONLY
    n_weights: float = 0.0
    fallback: str | None = None
    training_hat: Hat | None = field(default=None, repr=False)
    left_out: np.ndarray | None = field(default=None, repr=False)
    C: float = float("nan")

    def share(self, X: np.ndarray) -> np.ndarray:
        """Return how far up the curve is."""
        # As fast as a product of BLAS, whose threads would wait for each other.
        sums = np.einsum("ij,j->i", X - self.centre, self.weights)
        return expit(sums + self.level)

    def values(self, X: np.ndarray) -> np.ndarray:
        """Return the values of the curve."""
        return self.low + (self.high - self.low) * self.share(X)


@dataclass
class EstimatorModel:
    """g is the prediction of a fitted scikit-learn estimator.

    Attributes
    ----------
    estimator : regressor or classifier
        A classifier predicts the probability of its second class.
    n_weights : float
    fallback : str or None
    training_hat : Hat or None
    left_out : ndarray of shape (n_training_rows,) or None
    """

    estimator: Any
    n_weights: float = 0.0
    _: KW_ONLY
    fallback: str | None = None
    training_hat: Hat | None = field(default=None, repr=False)
    left_out: np.ndarray | None = None

    def values(self, X: np.ndarray) -> np.ndarray:
        """Return the predictions."""
        if len(X) == 0:
            return np.empty(0)
        if hasattr(self.estimator, "predict_proba"):
            return self.estimator.predict_proba(X)[:, 1]
        return np.asarray(self.estimator.predict(X), dtype=np.float64).reshape(len(X))


def linear_hat(centred: np.ndarray, roots: np.ndarray, shares: np.ndarray) -> Hat:
    """Return the hat matrix of a linear fit.

    Parameters
    ----------
    centred : ndarray of shape (n_training_rows, n_features)
        Scores less their mean.
    roots : ndarray of shape (n_features, rank)
        A root of the inverse covariance (with penalty) of the fit.
    shares : ndarray of shape (n_training_rows,)
        Weights of the rows, of sum one.
    """
    left = np.column_stack([np.ones(len(centred)), centred @ roots])
    return Hat(left, left * shares[:, np.newaxis])


def hat_of_the_mean(shares: np.ndarray) -> Hat:
    """Return the hat matrix of a mean with these shares."""
    return Hat(np.ones((len(shares), 1)), shares[:, np.newaxis])
