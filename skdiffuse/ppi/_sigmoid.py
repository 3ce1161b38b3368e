"""SigmoidPPIMeanEstimator: a logistic curve of the judges."""

import inspect
import warnings
from numbers import Integral
from typing import Any

import numpy as np
from scipy.linalg import LinAlgWarning
from sklearn import config_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skdiffuse.ppi._base import BasePPIMeanEstimator, constant_model, split_labels
from skdiffuse.ppi._models import Hat, LogisticModel, Model
from skdiffuse.ppi._sample import Sample

CS = (0.0, *np.logspace(-3, 4, 15).tolist())

# A stand-in for C = 0, an infinite penalty: the curve is flat to the last digit.
_NO_WEIGHT = 1e-12


class SigmoidPPIMeanEstimator(BasePPIMeanEstimator):
    r"""Estimate a rate from few labels and a logistic curve of the judges.

    As `PPIMeanEstimator`, but the labels are predicted by a logistic regression on the
    judge scores, with a penalty chosen on the labelled rows [1]_. It suits labels that
    are 0 or 1, or bounded, where a straight line would leave the range.

    Parameters
    ----------
    Cs : array-like of non-negative float, default=None
        Inverse penalties to choose from, in units of 1 / (n Var(f)). 0 gives the judges
        no weight, the classical mean. None: 0 and 15 values from 1e-3 to 1e4.
    cv : int or cross-validation splitter, default=5
        How the labelled rows are split to choose the penalty; with an int each fold
        keeps the share of large and small labels, no group is in two, and there are no
        more folds than labels (or groups) of the rarer kind. An iterable of splits has
        the numbers of rows of `X`.
    cross_fit : int, cross-validation splitter or None, default=None
        Fit on the other folds of the labelled rows and correct each fold by a
        prediction that has not seen it.

    Attributes
    ----------
    mean_ : float
        The estimate.
    standard_error_ : float
        Its standard error; not defined (an AttributeError) for a single label.
    C_ : float
        The inverse penalty chosen, in units of 1 / (n Var(f)) (mean over the folds
        where cross-fitted); NaN where `fallback_` is not None.
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
        ``"too few labels of a kind"`` (fewer than two, or than two groups that have
        one, above or below the middle of their range), or ``"too few groups in the
        pool"`` (fewer than 5); else None.
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
        lengths differ, an inverse penalty is negative, `pool` is given as moments, or
        the numbers are so large that their squares overflow.

    See Also
    --------
    PPIMeanEstimator : A straight line without a penalty.
    RidgePPIMeanEstimator : A straight line with a penalty.

    Notes
    -----
    Labels are rescaled to [0, 1] by their smallest and largest value. A label between
    enters twice, as a one of weight h and a zero of weight 1 - h, both in the same
    fold. The penalty is chosen by the Brier score, which for such pairs is the squared
    error of h up to a constant:

    .. math:: h (1 - p)^2 + (1 - h) p^2 = (h - p)^2 + h (1 - h).

    The prediction is averaged over all rows, as with ``"ols"`` in `PPIMeanEstimator`,
    where the formulas for weights and groups are.

    References
    ----------
    .. [1] Eyre and Madras, "Auto-Evaluation with Few Labels through Post-hoc
       Regression", arXiv:2411.12665, ICML 2025.

    Examples
    --------
    >>> from skdiffuse import SigmoidPPIMeanEstimator
    >>> from skdiffuse.datasets import make_judged_pool
    >>> X, y = make_judged_pool(1000, 50, rate=0.1, judge=0.9, random_state=0)
    >>> estimator = SigmoidPPIMeanEstimator().fit(X, y)
    >>> low, high = estimator.confidence_interval()
    >>> bool(low < 0.1 < high)
    True
    """

    _parameter_constraints: dict = {
        **BasePPIMeanEstimator._parameter_constraints,
        "Cs": ["array-like", None],
        "cv": ["cv_object"],
    }
    _linear = False

    def __init__(self, *, Cs: Any = None, cv: Any = 5, cross_fit: Any = None) -> None:
        self.Cs = Cs
        self.cv = cv
        self.cross_fit = cross_fit

    @property
    def C_(self) -> float:  # noqa: N802
        """The inverse penalty chosen, in units of 1 / (n Var(f))."""
        if not hasattr(self, "_models"):
            raise AttributeError("C_ exists after fit.")
        return float(sum(share * model.C for share, model in self._models))

    def _fit_model(self, sample: Sample) -> Model:
        strengths = _check_strengths(self.Cs)
        X, y, n_features = sample.scores, sample.labels, sample.scores.shape[1]
        if np.ptp(y) == 0:
            return constant_model(n_features, "constant labels", y[0])
        level = float(np.average(y, weights=sample.weights))
        if not sample.varies.any():
            return constant_model(n_features, "constant judge", level)
        low, high = float(y.min()), float(y.max())
        share = (y - low) / (high - low)
        if _fewest_of_a_kind(share, sample.groups) < 2:
            return constant_model(n_features, "too few labels of a kind", level)
        rows, classes, weights = _as_pairs(share)
        folds = _folds_of_pairs(self._splits(sample, share), rows)
        finite = np.where(strengths == 0, _NO_WEIGHT, strengths) / len(y)
        logistic = make_pipeline(
            StandardScaler(), _logistic_cv(Cs=np.sort(finite), cv=folds)
        )
        pair_weights = weights * sample.shares[rows] * len(y)
        with warnings.catch_warnings(), config_context(enable_metadata_routing=False):
            # A weak penalty on separable labels: the curve is a step either way.
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.simplefilter("ignore", LinAlgWarning)
            logistic.fit(
                X[rows],
                classes,
                standardscaler__sample_weight=pair_weights,
                logisticregressioncv__sample_weight=pair_weights,
            )
        chosen = float(np.ravel(logistic[-1].C_)[0])
        strength = float(strengths[np.argmin(np.abs(finite - chosen))])
        if strength == 0:
            flat = constant_model(n_features, None, level)
            flat.C = 0.0
            return flat
        scaler, curve = logistic
        model = LogisticModel(
            curve.coef_[0] / scaler.scale_,
            scaler.mean_,
            float(curve.intercept_[0]),
            low,
            high,
            C=strength,
        )
        scaled = scaler.transform(sample.scores)
        hat = _hat_of_the_curve(scaled, model.share(sample.scores), sample, chosen)
        model.training_hat, model.n_weights = hat
        return model

    def _splits(self, sample: Sample, share: np.ndarray) -> Any:
        large = share >= 0.5
        # None is five folds, as in scikit-learn.
        cv = 5 if self.cv is None else self.cv
        if not isinstance(cv, Integral):
            return split_labels(cv, sample, large)
        n_folds = min(int(cv), _fewest_of_a_kind(share, sample.groups))
        if sample.groups is not None:
            return StratifiedGroupKFold(n_folds).split(
                sample.scores, large, sample.groups
            )
        return StratifiedKFold(n_folds).split(sample.scores, large)


def _fewest_of_a_kind(share: np.ndarray, groups: np.ndarray | None) -> int:
    """Count the labels of the rarer kind, large or small, or the groups that have one.

    So many folds have one of either kind to be fitted on.
    """
    counts = []
    for kind in (share >= 0.5, share < 0.5):
        counts.append(kind.sum() if groups is None else len(np.unique(groups[kind])))
    return int(min(counts))


def _as_pairs(share: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Write labels in [0, 1] as weighted zeros and ones; leave out weights of zero."""
    rows = np.tile(np.arange(len(share)), 2)
    classes = np.repeat([1, 0], len(share))
    weights = np.concatenate([share, 1 - share])
    kept = weights > 0
    return rows[kept], classes[kept], weights[kept]


def _folds_of_pairs(splits: Any, rows: np.ndarray) -> list[tuple[Any, Any]]:
    """Turn splits of rows into splits of pairs, both of a pair on one side."""
    return [
        (np.flatnonzero(np.isin(rows, train)), np.flatnonzero(np.isin(rows, test)))
        for train, test in splits
    ]


def _logistic_cv(**params: Any) -> LogisticRegressionCV:
    """Make one whatever the version of scikit-learn calls its keywords."""
    known = inspect.signature(LogisticRegressionCV).parameters
    if "use_legacy_attributes" in known:
        params |= {"use_legacy_attributes": False, "l1_ratios": (0.0,)}
    return LogisticRegressionCV(
        scoring=_negative_brier,
        solver="newton-cholesky",
        tol=1e-8,
        max_iter=1000,
        **params,
    )


def _negative_brier(
    estimator: Any, X: Any, y: np.ndarray, sample_weight: np.ndarray
) -> float:
    error = y - estimator.predict_proba(X)[:, 1]
    return -float(np.average(error**2, weights=sample_weight))


def _hat_of_the_curve(
    scaled: np.ndarray, probability: np.ndarray, sample: Sample, C: float
) -> tuple[Any, float]:
    """Return the hat matrix of the last step of the fit, and the slopes' part of it."""
    curvature = probability * (1 - probability)
    copies = sample.shares * len(sample)
    weights = curvature * copies
    total = weights.sum()
    if total == 0:
        return None, 0.0
    centred = scaled - np.average(scaled, axis=0, weights=weights)
    hessian = (centred * weights[:, np.newaxis]).T @ centred
    sizes, axes = np.linalg.eigh(hessian + np.eye(len(hessian)) / C)
    slopes = centred @ (axes / np.sqrt(np.maximum(sizes, 1 / C)))
    roots = np.column_stack([np.full(len(sample), 1 / np.sqrt(total)), slopes])
    # A label moves the weights, which move a prediction by its own curvature.
    hat = Hat(curvature[:, np.newaxis] * roots, copies[:, np.newaxis] * roots)
    return hat, float(weights @ np.einsum("ij,ij->i", slopes, slopes))


def _check_strengths(Cs: Any) -> np.ndarray:
    try:
        strengths = np.asarray(CS if Cs is None else Cs, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        strengths = np.array([])
    valid = strengths.ndim == 1 and len(strengths) and np.isfinite(strengths).all()
    if not valid or (strengths < 0).any():
        raise ValueError(
            f"Cs={Cs!r} must be one or more non-negative numbers; 0 gives the judges "
            "no weight."
        )
    return strengths
