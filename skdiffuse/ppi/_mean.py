"""PPIMeanEstimator: a mean from few labels and a judge on everything."""

from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import has_fit_parameter

from skdiffuse._words import rows_in_words
from skdiffuse.ppi._base import BasePPIMeanEstimator, constant_model
from skdiffuse.ppi._models import EstimatorModel, LinearModel, Model, linear_hat
from skdiffuse.ppi._sample import Sample


class PPIMeanEstimator(BasePPIMeanEstimator):
    r"""Estimate a mean from few labels and a cheap judge on every row.

    The mean of the judge over the pool (the rows without a label) is corrected by the
    rectifier: how far the labels lie from the judge where both are known.

    Parameters
    ----------
    lam : float, array-like of shape (n_features,), "ols" or "ppi++", default="ols"
        How much to trust the judge: the prediction of a row is ``lam`` times its
        judge score. A number is one weight for the sum of the judge columns, an
        array has one weight a column; 0 is the classical mean of the labels, 1 is
        PPI [1]_. ``"ols"`` is the regression of the labels on the judges in the
        labelled rows (eq. 6 of [2]_); ``"ppi++"`` is the weight of [3]_, which also
        weighs the size of the pool.
    clip : bool, default=False
        Hold each estimated weight in [0, 1]. Numbers are taken as they are.
    regressor : regressor or classifier, default=None
        What predicts the labels instead of `lam` times the scores: any scikit-learn
        regressor, or a classifier of labels 0 and 1 that predicts probabilities.
    cross_fit : int, cross-validation splitter or None, default=None
        Fit the prediction on the other folds of the labelled rows and correct each
        fold by a prediction that has not seen it (cross-prediction [4]_), which takes
        away the bias of fitting and correcting on the same labels. None: five folds
        for a `regressor`, no folds for `lam`.

    Attributes
    ----------
    mean_ : float
        The estimate.
    standard_error_ : float
        Its standard error; not defined (an AttributeError) for a single label.
    lambda_ : ndarray of shape (n_features,)
        The weight of each judge column (mean over the folds); only without a
        `regressor`.
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
        ``"too few labels"`` (``"ols"`` needs two more labels than judges), ``"too few
        groups"`` (a single one) or ``"too few groups in the pool"`` (fewer than 5);
        else None.
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
        lengths differ, `lam` has another length than `X` has columns, a classifier
        meets labels other than 0 and 1, a weight of a labelled row is negative or
        missing, a row has no group, or the numbers are so large that their squares
        overflow.

    See Also
    --------
    RidgePPIMeanEstimator : A weight shrunk by a penalty: the better choice for few
        labels or several judges.
    SigmoidPPIMeanEstimator : A logistic curve of the judge, for rates.
    LabeledKFold : Splits the labelled rows for grid search.

    Notes
    -----
    With labels h and judge f on n labelled rows, the judge alone on N rows of the
    pool, and predictions ``g = lam * f``:

    .. math::

        \hat\theta = \frac1N \sum_{j \le N} g(f_j)
        + \frac1n \sum_{i \le n} (h_i - g(f_i)),
        \qquad
        \mathrm{SE}^2 = \frac{\mathrm{Var}\, g(f_{pool})}{N}
        + \frac{\mathrm{Var}(h - g(f))}{n}.

    That is for a given `lam` and for ``"ppi++"``. With ``"ols"`` and a `regressor` the
    first mean is over all N + n rows, which costs nothing and has a smaller variance:
    the estimate is then ``mean(h) + N / (N + n) (mean g(pool) - mean g(labelled))``.

    The labelled rows must be a random sample of all rows, or one with known chances:
    with `sample_weight` w in `fit`, the first mean is over all rows, the second one is
    weighted, and the variance is that of sampling from these rows alone [5]_,

    .. math:: \sum_i (1 - \pi_i) a_i^2 r_i^2, \qquad a_i = w_i / \sum w, \quad
        \pi_i = 1 / (a_i (N + n)).

    Labels that were chosen, such as those of `DiffUseSelector`, bias the estimate and
    its interval. With `groups` in `fit` the parts that the rows of a group have in the
    estimate are added up before they are squared.

    ``"ols"`` takes ``lam = Var(f)^-1 Cov(f, h)`` over the labelled rows; ``"ppi++"``
    takes the covariance of the labelled rows (ddof 0) and the variance of all rows
    (ddof 1), divided by ``1 + n / N`` where there are no weights. Residuals are left
    out of their own fit in the standard error.

    References
    ----------
    .. [1] Angelopoulos et al., "Prediction-powered inference", Science 382, 2023.
    .. [2] Eyre and Madras, "Auto-Evaluation with Few Labels through Post-hoc
       Regression", arXiv:2411.12665, ICML 2025.
    .. [3] Angelopoulos, Duchi and Zrnic, "PPI++: Efficient Prediction-Powered
       Inference", arXiv:2311.01453.
    .. [4] Zrnic and Candes, "Cross-prediction-powered inference", PNAS 121, 2024,
       arXiv:2309.16598.
    .. [5] Särndal, Swensson and Wretman, "Model assisted survey sampling", chapter 6,
       Springer, 1992.

    Examples
    --------
    >>> import numpy as np
    >>> from skdiffuse import PPIMeanEstimator
    >>> judge = [[0.9], [0.2], [0.8], [0.4], [0.6], [0.3], [0.9], [0.8], [0.2]]
    >>> label = [1, 0, 1, 0, 1, np.nan, np.nan, np.nan, np.nan]
    >>> estimator = PPIMeanEstimator(lam=1.0).fit(judge, label)
    >>> round(estimator.mean_, 3), round(estimator.classical_mean_, 3)
    (0.57, 0.6)
    >>> low, high = estimator.confidence_interval(0.9)
    >>> round(low, 3), round(high, 3)
    (0.268, 0.827)
    """

    _parameter_constraints: dict = {
        **BasePPIMeanEstimator._parameter_constraints,
        "lam": [
            Interval(Real, None, None, closed="neither"),
            StrOptions({"ols", "ppi++"}),
            "array-like",
        ],
        "clip": ["boolean"],
        "regressor": [HasMethods(["fit", "predict"]), None],
    }

    def __init__(
        self,
        lam: Any = "ols",
        *,
        clip: bool = False,
        regressor: Any = None,
        cross_fit: Any = None,
    ) -> None:
        self.lam = lam
        self.clip = clip
        self.regressor = regressor
        self.cross_fit = cross_fit

    @property
    def _linear(self) -> bool:  # type: ignore[override]
        return self.regressor is None

    def _folds(self) -> Any:
        if self.cross_fit is None and self.regressor is not None:
            return 5
        return self.cross_fit

    @property
    def _over_all_rows(self) -> bool:
        return self.regressor is not None or _is_named(self.lam, "ols")

    def _fit_model(self, sample: Sample) -> Model:
        if self.regressor is not None:
            return self._fit_regressor(sample)
        n_features = sample.scores.shape[1]
        if not isinstance(self.lam, str):
            return LinearModel(_as_weights(self.lam, n_features))
        ols = self.lam == "ols"
        if reason := sample.why_constant(fewest=3 if ols else 1):
            return constant_model(n_features, reason)
        scatter = sample.covariance
        if not ols and sample.pool.count:
            scatter = sample.everything().covariance(ddof=1)
            if sample.weights is None:
                # The pool's mean of g is then one over the others alone.
                scatter = scatter * (1 + len(sample) / sample.pool.count)
        covariance = sample.covariance_with_labels()
        weights, roots = solve(scatter, covariance, sample.varies)
        rank = roots.shape[1]
        if ols and sample.too_few_for(rank):
            return constant_model(n_features, "too few labels")
        if self.clip:
            weights = np.clip(weights, 0, 1)
        if not ols:
            return LinearModel(weights)
        hat = linear_hat(sample.scores - sample.mean, roots, sample.shares)
        return LinearModel(weights, rank, training_hat=hat)

    def _fit_regressor(self, sample: Sample) -> Model:
        X, y = sample.scores, sample.labels
        if np.ptp(y) == 0:
            return constant_model(X.shape[1], "constant labels", y[0])
        if sample.groups is not None and self._n_groups < 2:
            level = float(np.average(y, weights=sample.weights))
            return constant_model(X.shape[1], "too few groups", level)
        if is_classifier(self.regressor):
            other = y[~np.isin(y, (0, 1))]
            if len(other):
                raise ValueError(
                    f"regressor={self.regressor!r} is a classifier, which needs labels "
                    f"0 and 1, but y holds {other[0]:g}; pass a regressor."
                )
            if not hasattr(self.regressor, "predict_proba"):
                raise ValueError(
                    f"regressor={self.regressor!r} is a classifier without "
                    "predict_proba; pass one that predicts probabilities, or a "
                    "regressor."
                )
            y = y.astype(int)
        weights = {}
        if sample.weights is not None and has_fit_parameter(
            self.regressor, "sample_weight"
        ):
            weights["sample_weight"] = sample.shares * len(sample)
        return EstimatorModel(clone(self.regressor).fit(X, y, **weights))

    def __sklearn_tags__(self):  # type: ignore[no-untyped-def]
        tags = super().__sklearn_tags__()
        # A weight given as a number is not fitted to the labels.
        tags.regressor_tags.poor_score = (
            not isinstance(self.lam, str) and self.regressor is None
        )
        return tags


def _as_weights(lam: Any, n_features: int) -> np.ndarray:
    try:
        weights = np.asarray(lam)
        weights = weights.astype(np.float64, casting="same_kind")
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(
            f"lam={lam!r} has to be a number, one number a judge column, 'ols' or "
            "'ppi++'."
        ) from error
    if weights.ndim == 0:
        weights = np.full(n_features, float(weights))
    if weights.shape != (n_features,):
        raise ValueError(
            f"lam has shape {weights.shape}, but X has {n_features} judge columns; "
            "pass one number, or one number a column."
        )
    bad = np.flatnonzero(~np.isfinite(weights))
    if len(bad):
        raise ValueError(
            f"lam={weights[bad[0]]} at {rows_in_words(bad.tolist())} is not a finite "
            "number."
        )
    return weights


def solve(
    scatter: np.ndarray, covariance: np.ndarray, varies: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Solve for the weights in units of each column's spread; collinear ones share.

    Returns
    -------
    weights : ndarray of shape (n_features,)
        Zero for columns that do not vary.
    roots : ndarray of shape (n_features, rank)
        A root of the pseudoinverse of `scatter`.
    """
    scale = np.sqrt(np.diag(scatter)[varies])
    scaled = scatter[np.ix_(varies, varies)] / np.outer(scale, scale)
    sizes, axes = np.linalg.eigh(scaled)
    real = sizes > 1e-10 * sizes[-1]
    roots = np.zeros((len(scatter), np.count_nonzero(real)))
    roots[varies] = axes[:, real] / np.sqrt(sizes[real]) / scale[:, np.newaxis]
    return roots @ (roots.T @ covariance), roots


def _is_named(lam: Any, name: str) -> bool:
    return isinstance(lam, str) and lam == name
