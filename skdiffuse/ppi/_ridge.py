"""RidgePPIMeanEstimator: judges weighted by ridge regression."""

from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.linear_model import RidgeCV
from sklearn.metrics import make_scorer, mean_squared_error
from sklearn.utils._param_validation import StrOptions

from skdiffuse.ppi._base import BasePPIMeanEstimator, constant_model, split_labels
from skdiffuse.ppi._models import LinearModel, Model, linear_hat
from skdiffuse.ppi._plugin import Moments, left_out_residuals
from skdiffuse.ppi._sample import Sample

ALPHAS = (*np.logspace(-4, 3, 15).tolist(), np.inf)

# A finite stand-in for an infinite penalty: a weight this much smaller than the
# unpenalised one is no weight.
_INFINITE = 1e12
_LEAST = 1e-10

# The plug-in is worked out anew without each row or group up to so many numbers.
_MOST_NUMBERS = 1_000_000

# Groups are left out in at most so many folds: each costs a fit for every penalty.
_MOST_FOLDS = 10


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
        closed form (`RidgeCV`), or with groups one of at most ten parts of them. An
        iterable of splits has the numbers of rows of `X`.
    penalty : {"cv", "plugin"}, default="cv"
        How the shrinkage is chosen: by the squared error on rows (or groups) left out,
        or by plugging in the precision of the weights, which needs no choice and errs
        less with 5 to 20 labels; see Notes.
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
        ``"no unlabelled rows"``, ``"constant labels"``, ``"constant judge"``,
        ``"too few labels"`` (fewer than 3; with ``penalty="plugin"`` fewer than two
        more than judges), ``"too few groups"`` (a single one) or ``"too few groups in
        the pool"`` (fewer than 5); else None.
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
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
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

    ``"plugin"`` takes ``w = S^-1 Cov(f, h)`` with S the covariance of the judges, in
    which all rows together count like two labelled ones, since few labelled rows say
    little of it; and multiplies by max(0, 1 - v / w'Sw), where v is the trace of S
    times the estimated covariance of w: with one judge, its squared standard error
    over its square. The prediction is averaged over all rows, as with ``"ols"`` in
    `PPIMeanEstimator`, where the formulas for weights and groups are.

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
        "cv": ["cv_object"],
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

    def _fit_model(self, sample: Sample) -> Model:
        if reason := sample.why_constant(fewest=3):
            return constant_model(sample.scores.shape[1], reason)
        if self.penalty == "plugin":
            return _shrunk_by_precision(sample)
        return self._fit_ridge(sample)

    def _fit_ridge(self, sample: Sample) -> Model:
        n, varies, mean = len(sample), sample.varies, sample.mean
        covariance = sample.covariance[np.ix_(varies, varies)]
        scale = np.sqrt(np.diag(covariance))
        scaled = (sample.scores[:, varies] - mean[varies]) / scale
        size = sample.labels.std()
        # The largest penalty first, since the first of equally good ones is taken.
        penalties = np.sort(_check_penalties(self.alphas))[::-1]
        finite = np.where(np.isinf(penalties), _INFINITE, penalties)
        labels = (sample.labels - sample.labels.mean()) / size
        ridge = self._choose(sample, scaled, labels, n * finite)
        alpha = float(penalties[np.argmin(np.abs(n * finite - ridge.alpha_))])
        n_features = sample.scores.shape[1]
        if np.isinf(alpha):
            return LinearModel(np.zeros(n_features), alpha=alpha)
        weights, roots = np.zeros(n_features), np.zeros((n_features, len(scale)))
        weights[varies] = ridge.coef_ * size / scale
        sizes, axes = np.linalg.eigh(covariance / np.outer(scale, scale))
        inverse = 1 / np.maximum(sizes + alpha, 1e-12 * sizes[-1])
        roots[varies] = axes * np.sqrt(inverse) / scale[:, np.newaxis]
        n_weights = float(np.maximum(sizes, 0) @ inverse)
        hat = linear_hat(sample.scores - mean, roots, sample.shares)
        return LinearModel(weights, n_weights, training_hat=hat, alpha=alpha)

    def _choose(
        self, sample: Sample, X: np.ndarray, y: np.ndarray, penalties: np.ndarray
    ) -> RidgeCV:
        """Choose the penalty on rows, or groups, left out, and fit with it."""
        weights = None if sample.weights is None else sample.shares * len(sample)
        if self.cv is None and sample.groups is None:
            # Scored by the squared error, in closed form.
            return RidgeCV(alphas=penalties).fit(X, y, sample_weight=weights)
        folds = split_labels(_MOST_FOLDS if self.cv is None else self.cv, sample)
        with config_context(enable_metadata_routing=True):
            scorer = make_scorer(mean_squared_error, greater_is_better=False)
            scorer.set_score_request(sample_weight=True)
            ridge = RidgeCV(alphas=penalties, cv=list(folds), scoring=scorer)
            return ridge.fit(X, y, sample_weight=weights)


def _shrunk_by_precision(sample: Sample) -> LinearModel:
    """Shrink the unpenalised weights by their own precision."""
    here = sample.covariance
    everywhere = sample.everything().covariance() if sample.pool.count else here
    largest = np.maximum(np.diag(here), np.diag(everywhere))
    largest = np.where(sample.varies, largest, np.inf)
    weights, rank, roots = Moments.of(sample).shrunk_weights(everywhere, largest)
    if sample.too_few_for(rank[0]):
        return constant_model(len(here), "too few labels")
    model = LinearModel(weights[0], float(rank[0]))
    if sample.n_groups * len(here) ** 2 <= _MOST_NUMBERS:
        model.left_out = left_out_residuals(sample, everywhere, largest)
    else:
        # With so many labels the factor hardly depends on a single one.
        centred = sample.scores - sample.mean
        model.training_hat = linear_hat(centred, roots[0], sample.shares)
    return model


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
