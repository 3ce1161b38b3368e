"""RidgePPIMeanEstimator: judges weighted by ridge regression."""

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.linear_model import RidgeCV
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from skdiffuse.ppi._base import (
    BasePPIMeanEstimator,
    constant_model,
    is_constant,
    why_constant,
)
from skdiffuse.ppi._mean import solve
from skdiffuse.ppi._models import LinearModel, Model
from skdiffuse.ppi._moments import PoolMoments

ALPHAS = (*np.logspace(-4, 3, 15).tolist(), np.inf)

# A finite stand-in for an infinite penalty: a weight this much smaller than the
# unpenalised one is no weight.
_INFINITE = 1e12
_LEAST = 1e-10


class RidgePPIMeanEstimator(BasePPIMeanEstimator):
    r"""Estimate a mean from few labels and judges weighted by ridge regression.

    As `PPIMeanEstimator`, but the weights are shrunk by a penalty that is chosen on the
    labelled rows [1]_. With few labels or several judges that is the safer choice: a
    useless judge gets little or no weight.

    Parameters
    ----------
    alphas : array-like of positive float, default=None
        Penalties to choose from, in units of n Var(f): at 1 a single weight is halved.
        Infinity gives the judges no weight, the classical mean. None: 15 values from
        1e-4 to 1e3, and infinity. Below 1e-10 counts as 1e-10.
    cv : int, cross-validation splitter or None, default=None
        How ``penalty="cv"`` splits the labelled rows; None leaves one out at a time, in
        closed form (`RidgeCV`).
    penalty : {"cv", "plugin"}, default="cv"
        How the shrinkage is chosen: by the squared error on rows left out, or by
        plugging in the precision of the unpenalised weights: they are multiplied by
        max(0, 1 - 1/F), with F the mean square explained over the residual one. The
        latter is fast and needs no grid.
    cross_fit : int, cross-validation splitter or None, default=None
        Fit on the other folds of the labelled rows and correct each fold by a
        prediction that has not seen it.

    Attributes
    ----------
    mean_ : float
        The estimate.
    standard_error_ : float
        Its standard error; not defined (an AttributeError) for a single label.
    alpha_ : float
        The penalty chosen, in units of n Var(f) (mean over the folds where
        cross-fitted); NaN where none was chosen: with ``penalty="plugin"``, or where
        `fallback_` is not None.
    lambda_ : ndarray of shape (n_features,)
        The weight of each judge column.
    rectifier_ : float
        Mean of label minus prediction over the labelled rows.
    classical_mean_ : float
        Mean of the labels alone.
    judge_mean_ : ndarray of shape (n_features,)
        Mean of each judge column over the pool; over all rows if none is unlabelled.
    n_labeled_ : int
        Number of rows with a label.
    n_unlabeled_ : int
        Number of rows in the pool.
    fallback_ : str or None
        Why the estimate is the mean of the labels although a judge was given:
        ``"no unlabelled rows"``, ``"constant labels"``, ``"constant judge"`` or
        ``"too few labels"`` (fewer than 3; with ``penalty="plugin"`` fewer than two
        more than judges); else None.
    effective_sample_size_ : float
        How many labels alone would give a mean as precise as this one.
    labels_saved_ : float
        That less `n_labeled_`; negative if the judge harms.
    judge_helps_ : bool
        Whether any labels are saved.
    judge_reason_ : str
        That in a sentence.
    n_features_in_ : int
        Number of judge columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the judge columns, where `X` has names that are all strings.

    Raises
    ------
    ValueError
        If `X` has NaN or infinity, `y` has no label at all or an infinite one, their
        lengths differ, a penalty is not positive, or the numbers are so large that
        their squares overflow.

    See Also
    --------
    PPIMeanEstimator : The same without a penalty.
    SigmoidPPIMeanEstimator : A logistic curve of the judge, for rates.

    Notes
    -----
    With the judge columns scaled to variance 1 over the n labelled rows, the weights
    minimise

    .. math:: \sum_i (h_i - a - w \cdot f_i)^2 + n \alpha \|w\|^2.

    The squared error on rows left out is, up to a constant, n times the variance of the
    estimate for a large pool, so the penalty that predicts best gives the tightest
    interval.

    References
    ----------
    .. [1] Eyre and Madras, "Auto-Evaluation with Few Labels through Post-hoc
       Regression", arXiv:2411.12665, ICML 2025.

    Examples
    --------
    >>> from skdiffuse import RidgePPIMeanEstimator
    >>> from skdiffuse.datasets import make_judged_pool
    >>> X, y = make_judged_pool(1000, 30, rate=0.3, judge=[0.9, 0.0], random_state=0)
    >>> estimator = RidgePPIMeanEstimator().fit(X, y)
    >>> estimator.judge_helps_
    True
    >>> low, high = estimator.confidence_interval()
    >>> bool(low < 0.3 < high)
    True
    """

    _parameter_constraints: dict = {
        **BasePPIMeanEstimator._parameter_constraints,
        "alphas": ["array-like", None],
        "cv": [
            Interval(Integral, 2, None, closed="left"),
            HasMethods(["split", "get_n_splits"]),
            None,
        ],
        "penalty": [StrOptions({"cv", "plugin"})],
    }

    def __init__(
        self,
        *,
        alphas: Any = None,
        cv: Any = None,
        penalty: str = "cv",
        cross_fit: Any = None,
    ) -> None:
        self.alphas = alphas
        self.cv = cv
        self.penalty = penalty
        self.cross_fit = cross_fit

    @property
    def alpha_(self) -> float:
        """The penalty chosen, in units of n Var(f)."""
        if not hasattr(self, "_models"):
            raise AttributeError("alpha_ exists after fit.")
        return float(sum(share * model.alpha for share, model in self._models))

    def _fit_model(self, X: np.ndarray, y: np.ndarray, pool: PoolMoments) -> Model:
        here = PoolMoments.of_checked(X)
        varies = ~is_constant(here, self._origin)
        if reason := why_constant(y, varies, fewest=3):
            return constant_model(X, reason)
        if self.penalty == "plugin":
            return _shrunk_by_precision(X, y, here, varies)
        return self._fit_ridge(X, y, here, varies)

    def _fit_ridge(
        self, X: np.ndarray, y: np.ndarray, here: PoolMoments, varies: np.ndarray
    ) -> Model:
        n = len(y)
        scale = np.sqrt(np.diag(here.covariance())[varies])
        scaled = (X[:, varies] - here.mean[varies]) / scale
        size = y.std()
        # The largest penalty first, since the first of equally good ones is taken.
        penalties = np.sort(_check_penalties(self.alphas))[::-1]
        finite = np.where(np.isinf(penalties), _INFINITE, penalties)
        cv = min(self.cv, n) if isinstance(self.cv, Integral) else self.cv
        ridge = RidgeCV(alphas=n * finite, cv=cv, scoring="neg_mean_squared_error")
        ridge.fit(scaled, (y - y.mean()) / size)
        alpha = float(penalties[np.argmin(np.abs(n * finite - ridge.alpha_))])
        weights = np.zeros(X.shape[1])
        hat = np.zeros((X.shape[1], X.shape[1]))
        n_weights = 0.0
        if np.isfinite(alpha):
            weights[varies] = ridge.coef_ * size / scale
            gram = scaled.T @ scaled
            inverse = np.linalg.pinv(
                gram + n * alpha * np.eye(len(gram)), rcond=1e-12, hermitian=True
            )
            hat[np.ix_(varies, varies)] = inverse / np.outer(scale, scale)
            n_weights = float(np.trace(inverse @ gram))
        return LinearModel(weights, n_weights, None, here.mean, hat, alpha)


def _shrunk_by_precision(
    X: np.ndarray, y: np.ndarray, here: PoolMoments, varies: np.ndarray
) -> LinearModel:
    """Shrink the unpenalised weights by 1 - 1/F, where F exceeds 1."""
    n = len(y)
    deviations = y - y.mean()
    covariance = (X - here.mean).T @ deviations / n
    weights, inverse, rank = solve(here.covariance(), covariance, varies)
    if n < rank + 2:
        return constant_model(X, "too few labels")
    explained = n * float(weights @ covariance)
    residual = max(float(deviations @ deviations) - explained, 0.0)
    noise = rank * residual / (n - 1 - rank)
    factor = max(0.0, 1 - noise / explained) if explained > 0 else 0.0
    # The factor depends on each label too, so a row has the leverage of the full fit.
    return LinearModel(factor * weights, rank, centre=here.mean, hat=inverse / n)


def _check_penalties(alphas: Any) -> np.ndarray:
    try:
        penalties = np.asarray(ALPHAS if alphas is None else alphas, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        penalties = np.array([])
    if penalties.ndim != 1 or not len(penalties) or not (penalties > 0).all():
        raise ValueError(
            f"alphas={alphas!r} must be one or more positive numbers; infinity gives "
            "the judges no weight."
        )
    # A smaller penalty would be lost in rounding beside the spread of the judges.
    return np.where(penalties >= _INFINITE, np.inf, np.maximum(penalties, _LEAST))
