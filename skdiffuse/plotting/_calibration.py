"""Whether labels are what their predictions say."""

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skdiffuse._validation import (
    check_finite_rows,
    check_labels,
    check_level,
    check_weights,
)
from skdiffuse.evaluation._run import count
from skdiffuse.plotting._common import (
    GREY,
    colours_on,
    foreground,
    line_style,
    own_axes,
    percent,
    pyplot,
)
from skdiffuse.ppi import PPIMeanEstimator


class CalibrationDisplay:
    r"""Labels against their predictions, row by row and in bins.

    Where the bins lie on the diagonal, labels are on average what g predicts; the
    farther the bins are apart, the more the judge tells. Make it with `from_estimator`
    or `from_data`.

    Parameters
    ----------
    predictions : ndarray of shape (n_labels,)
        Predictions of the labelled rows.
    labels : ndarray of shape (n_labels,)
        Their labels.
    bins : dict of ndarray of shape (n_bins,)
        ``"prediction"`` and ``"label"`` (means in the bin), ``"low"`` and ``"high"``
        (of an interval of the labels' mean; NaN where there is none), and
        ``"n_labels"``.
    confidence_level : float, default=0.95
        Of the intervals.
    prediction_name : str, default="prediction"
        What to write beside the horizontal axis.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the picture.
    figure_ : matplotlib Figure
        Figure with the axes.
    errorbar_ : matplotlib ErrorbarContainer
        The bins.
    scatter_ : matplotlib PathCollection
        The labelled rows.
    line_ : matplotlib Line2D
        The diagonal.

    See Also
    --------
    PPIMeanEstimator : Its `predict` makes the predictions.
    sklearn.calibration.CalibrationDisplay : The same word for classifiers.

    Notes
    -----
    Bins hold equally many labels as far as that goes; equal predictions stay together.
    The mean of a bin is that of its labels h_i at the mean of its predictions,

    .. math:: \bar h_b = \frac{\sum_{i \in b} w_i h_i}{\sum_{i \in b} w_i},
        \qquad \bar g_b = \frac{\sum_{i \in b} w_i g_i}{\sum_{i \in b} w_i},

    with the weights w_i all equal unless some are given. Its interval is that of the
    labels alone: Wilson's for labels 0 and 1 (or -1, 0 and 1), Student's t for others.

    On the rows of its fit a prediction has seen the labels: with few of them it looks
    better here than it is. Rows that were left out tell more, if there are any.
    Calibration is not needed for the estimate to be right, since the rectifier corrects
    it; it is what makes the estimate precise.

    Examples
    --------
    >>> from skdiffuse import PPIMeanEstimator
    >>> from skdiffuse.datasets import make_judged_pool
    >>> from skdiffuse.plotting import CalibrationDisplay
    >>> X, y = make_judged_pool(judge=0.9, random_state=0)
    >>> estimator = PPIMeanEstimator().fit(X, y)
    >>> display = CalibrationDisplay.from_estimator(estimator, X, y)
    >>> display.bins["n_labels"], display.bins["label"].round(2)
    (array([10, 10, 10, 10, 10]), array([0. , 0. , 0.5, 0.7, 1. ]))
    """

    def __init__(
        self,
        *,
        predictions: np.ndarray,
        labels: np.ndarray,
        bins: dict[str, np.ndarray],
        confidence_level: float = 0.95,
        prediction_name: str = "prediction",
    ) -> None:
        self.predictions = predictions
        self.labels = labels
        self.bins = bins
        self.confidence_level = confidence_level
        self.prediction_name = prediction_name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        n_bins: int = 5,
        confidence_level: float = 0.95,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw labels against the predictions of a fitted estimator.

        Parameters
        ----------
        estimator : estimator
            A fitted `PPIMeanEstimator` or one of its family.
        X : array-like of shape (n_samples, n_features)
            Judge scores.
        y : array-like of shape (n_samples,)
            Labels; rows with NaN are left out.
        sample_weight : array-like of shape (n_samples,), default=None
            As in `fit`: how many rows each labelled row stands for.
        n_bins : int, default=5
            Number of bins, at most as many as there are different predictions.
        confidence_level : float, default=0.95
            Of the intervals.
        ax : matplotlib Axes, default=None
            Axes to draw on; None for a new figure.
        **kwargs : dict
            To `matplotlib.axes.Axes.errorbar`, for the bins.

        Returns
        -------
        CalibrationDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If the estimator is not fitted, no row has a label, or an argument cannot
            be used.
        """
        pyplot(f"{cls.__name__}.from_estimator")
        if not hasattr(estimator, "predict"):
            raise ValueError(
                f"estimator is {estimator!r}, which predicts nothing; pass a fitted "
                "PPIMeanEstimator."
            )
        check_is_fitted(estimator)
        return cls.from_data(
            estimator.predict(X),
            y,
            sample_weight=sample_weight,
            n_bins=n_bins,
            confidence_level=confidence_level,
            prediction_name="prediction (g of the judge, plus the rectifier)",
            ax=ax,
            **kwargs,
        )

    @classmethod
    def from_data(
        cls,
        predictions: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        n_bins: int = 5,
        confidence_level: float = 0.95,
        prediction_name: str = "prediction",
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw labels against any predictions, such as the scores of a judge.

        Parameters
        ----------
        predictions : array-like of shape (n_samples,)
            Predicted labels.
        y : array-like of shape (n_samples,)
            Labels; rows with NaN are left out.
        sample_weight : array-like of shape (n_samples,), default=None
            How many rows each labelled row stands for.
        n_bins : int, default=5
            Number of bins, at most as many as there are different predictions.
        confidence_level : float, default=0.95
            Of the intervals.
        prediction_name : str, default="prediction"
            What to write beside the horizontal axis.
        ax : matplotlib Axes, default=None
            Axes to draw on; None for a new figure.
        **kwargs : dict
            To `matplotlib.axes.Axes.errorbar`, for the bins.

        Returns
        -------
        CalibrationDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If no row has a label, lengths differ, or an argument cannot be used.
        """
        pyplot(f"{cls.__name__}.from_data")
        check_level(confidence_level, f"{cls.__name__}.from_data")
        n_bins = count(n_bins, "n_bins")
        values = np.asarray(predictions, dtype=np.float64)
        labels = check_labels(y)
        if values.shape != labels.shape:
            raise ValueError(
                f"predictions has shape {values.shape}, but y has {len(labels)} rows; "
                "give one prediction for each, and NaN where there is no label."
            )
        check_finite_rows(values, "predictions", "drop these rows")
        labeled = ~np.isnan(labels)
        weights = None
        if sample_weight is not None:
            weights = check_weights(sample_weight, labeled)
            labeled[labeled] = weights > 0
            weights = weights[weights > 0]
        if not labeled.any():
            raise ValueError("y has no label to compare with; label at least one row.")
        values, labels = values[labeled], labels[labeled]
        display = cls(
            predictions=values,
            labels=labels,
            bins=_binned(values, labels, weights, n_bins, confidence_level),
            confidence_level=confidence_level,
            prediction_name=prediction_name,
        )
        return display.plot(ax=ax, **kwargs)

    def plot(self, ax: Any = None, *, jitter: bool = True, **kwargs: Any) -> Self:
        """Draw labels and bins against predictions.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None for a new figure.
        jitter : bool, default=True
            Move labels up and down a little where few values are shared by many rows,
            as 0 and 1 are, so that all of them are seen.
        **kwargs : dict
            To `matplotlib.axes.Axes.errorbar`, for the bins.

        Returns
        -------
        CalibrationDisplay
            This display.
        """
        ax = own_axes(f"{type(self).__name__}.plot", ax)
        colours = colours_on(ax)
        shown = np.concatenate([self.predictions, self.labels])
        low, high = float(shown.min()), float(shown.max())
        (self.line_,) = ax.plot(
            [low, high],
            [low, high],
            color=GREY,
            linestyle=":",
            label="as predicted",
            zorder=1,
        )
        moved = self._jittered() if jitter else self.labels
        self.scatter_ = ax.scatter(
            self.predictions,
            moved,
            s=14,
            color=colours[1],
            alpha=0.5,
            linewidths=0,
            label="a label",
            zorder=2,
        )
        means, ends = self.bins["label"], (self.bins["low"], self.bins["high"])
        bars = np.abs(np.stack(ends) - means)
        style = {
            "color": colours[0],
            "marker": "o",
            "markeredgecolor": foreground(ax),
            "linestyle": "none",
            "capsize": 3,
            "zorder": 3,
            "label": f"bin, {percent(self.confidence_level)} interval",
        }
        self.errorbar_ = ax.errorbar(
            self.bins["prediction"],
            means,
            yerr=bars,
            **line_style(style, kwargs),
        )
        ax.set(xlabel=self.prediction_name, ylabel="label")
        # Room for the legend, which would hide rows or bins anywhere else.
        bottom, top = ax.get_ylim()
        ax.set_ylim(bottom, top + 0.13 * (top - bottom))
        ax.legend(
            loc="upper left",
            ncols=3,
            fontsize="small",
            handlelength=1.2,
            columnspacing=1,
        )
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _jittered(self) -> np.ndarray:
        """Move labels that many rows share by up to a twentieth of their distance."""
        values = np.unique(self.labels)
        if len(values) > min(10, len(self.labels) / 3) or len(values) < 2:
            return self.labels
        most = 0.05 * np.diff(values).min()
        rng = np.random.default_rng(0)
        return self.labels + rng.uniform(-most, most, size=len(self.labels))


def _binned(
    predictions: np.ndarray,
    labels: np.ndarray,
    weights: np.ndarray | None,
    n_bins: int,
    confidence_level: float,
) -> dict[str, np.ndarray]:
    """Return means and intervals in bins of equally many predictions."""
    inner = np.quantile(predictions, np.arange(1, n_bins) / n_bins)
    places = np.searchsorted(np.unique(inner), predictions, side="left")
    label_range = _range(labels)
    method = "t" if label_range is None else "wilson"
    rows: dict[str, list[float]] = {
        name: [] for name in ("prediction", "label", "low", "high", "n_labels")
    }
    for place in np.unique(places):
        here = places == place
        n = int(here.sum())
        shares = None if weights is None else weights[here]
        mean = PPIMeanEstimator(lam=0.0).fit(
            np.zeros((n, 1)), labels[here], sample_weight=shares
        )
        ends = (np.nan, np.nan)
        if n > 1 or label_range is not None:
            ends = mean.confidence_interval(
                confidence_level, method=method, label_range=label_range
            )
        rows["prediction"].append(np.average(predictions[here], weights=shares))
        rows["label"].append(mean.mean_)
        rows["low"].append(ends[0])
        rows["high"].append(ends[1])
        rows["n_labels"].append(n)
    return {name: np.array(values) for name, values in rows.items()}


def _range(labels: np.ndarray) -> tuple[float, float] | None:
    """Return the range of labels that are zeros and ones, or differences of them."""
    for low in (0.0, -1.0):
        if np.isin(labels, (low, 0, 1)).all():
            return low, 1.0
    return None
