"""Estimates of one mean beside each other."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skdiffuse._validation import check_level
from skdiffuse.plotting._common import (
    GREY,
    check_axes,
    colours_on,
    foreground,
    line_style,
    percent,
    plain,
    pyplot,
)
from skdiffuse.ppi import PoolMoments, PPIMeanEstimator
from skdiffuse.ppi._base import BasePPIMeanEstimator


class MeanComparisonDisplay:
    """Estimates of a mean with their intervals, one a line.

    Make it with `from_estimators`.

    Parameters
    ----------
    names : list of str
        What each estimate is called.
    means : ndarray of shape (n_estimates,)
        The estimates.
    lows, highs : ndarray of shape (n_estimates,)
        The ends of their intervals; NaN where there is none.
    n_baselines : int, default=0
        How many of them, from the first on, are no prediction-powered ones: drawn in
        grey.
    confidence_level : float, default=0.95
        Of the intervals.
    truth : float, default=None
        The true mean, if it is known.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the estimates.
    figure_ : matplotlib Figure
        Figure with the axes.
    errorbars_ : dict of str to matplotlib ErrorbarContainer
        The estimates with their intervals, by name.
    texts_ : dict of str to matplotlib Annotation
        The widths of the intervals, by name.
    truth_line_ : matplotlib Line2D or None
        The true mean.

    See Also
    --------
    PPIMeanEstimator, RidgePPIMeanEstimator, SigmoidPPIMeanEstimator : The estimators.

    Notes
    -----
    The mean of the judge over the pool has no interval: however precise it is, nothing
    but labels tells how far it is from the mean of the labels.

    To choose the estimate that one likes best among several spoils its interval.

    Examples
    --------
    >>> from skdiffuse import PPIMeanEstimator, RidgePPIMeanEstimator
    >>> from skdiffuse.datasets import make_judged_pool
    >>> from skdiffuse.plotting import MeanComparisonDisplay
    >>> X, y = make_judged_pool(judge=0.9, random_state=0)
    >>> fitted = {
    ...     "PPI": PPIMeanEstimator().fit(X, y),
    ...     "shrunk PPI": RidgePPIMeanEstimator(penalty="plugin").fit(X, y),
    ... }
    >>> display = MeanComparisonDisplay.from_estimators(fitted, truth=0.5)
    >>> for name, text in display.texts_.items():
    ...     print(name, text.get_text(), sep=": ")
    labels alone: width 0.265
    judge alone: no interval
    PPI: width 0.185
    shrunk PPI: width 0.185
    """

    def __init__(
        self,
        *,
        names: list[str],
        means: np.ndarray,
        lows: np.ndarray,
        highs: np.ndarray,
        n_baselines: int = 0,
        confidence_level: float = 0.95,
        truth: float | None = None,
    ) -> None:
        self.names = names
        self.means = means
        self.lows = lows
        self.highs = highs
        self.n_baselines = n_baselines
        self.confidence_level = confidence_level
        self.truth = truth

    @classmethod
    def from_estimators(
        cls,
        estimators: Mapping[str, Any],
        *,
        baselines: bool = True,
        confidence_level: float = 0.95,
        method: str = "auto",
        label_range: tuple[float, float] | None = None,
        truth: float | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the estimates of fitted estimators.

        Parameters
        ----------
        estimators : dict of str to estimator
            Fitted ones by the name to write beside each.
        baselines : bool, default=True
            Draw the mean of the labels alone and of each judge alone first. A judge
            on another scale than the labels (its mean is outside of their range) is
            left out. Needs estimators that were fitted on the same labels.
        confidence_level : float, default=0.95
            Of the intervals.
        method : str, default="auto"
            As in `PPIMeanEstimator.confidence_interval`.
        label_range : (low, high), default=None
            As in `PPIMeanEstimator.confidence_interval`.
        truth : float, default=None
            The true mean, if it is known, to be drawn as a line.
        ax : matplotlib Axes, default=None
            Axes to draw on; None for a new figure.
        **kwargs : dict
            To `matplotlib.axes.Axes.errorbar`.

        Returns
        -------
        MeanComparisonDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If there is no estimator, one is not fitted or cannot have this interval, or
            they have other labels and `baselines` are asked for.
        """
        pyplot(f"{cls.__name__}.from_estimators")
        check_level(confidence_level, f"{cls.__name__}.from_estimators")
        _check_estimators(estimators)
        if truth is not None and not np.isfinite(truth):
            raise ValueError(f"truth={truth!r} is not a finite number.")
        ends = {"method": method, "label_range": label_range}
        rows = _baselines(estimators, ends, confidence_level) if baselines else {}
        n_baselines = len(rows)
        for name, estimator in estimators.items():
            if name in rows:
                raise ValueError(
                    f"{name!r} is the name of a baseline; give the estimator another, "
                    "or pass baselines=False."
                )
            rows[name] = _row(name, estimator, ends, confidence_level)
        means, lows, highs = np.array(list(rows.values())).T
        display = cls(
            names=list(rows),
            means=means,
            lows=lows,
            highs=highs,
            n_baselines=n_baselines,
            confidence_level=confidence_level,
            truth=truth,
        )
        return display.plot(ax=ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the estimates.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None for a new figure.
        **kwargs : dict
            To `matplotlib.axes.Axes.errorbar`.

        Returns
        -------
        MeanComparisonDisplay
            This display.
        """
        caller = f"{type(self).__name__}.plot"
        plt = pyplot(caller)
        if ax is None:
            size = (plt.rcParams["figure.figsize"][0], 1.3 + 0.45 * len(self.names))
            ax = plt.subplots(figsize=size, layout="constrained")[1]
        check_axes(caller, ax)
        colours = colours_on(ax)
        self.errorbars_, self.texts_ = {}, {}
        for place, name in enumerate(self.names):
            mean, low, high = self.means[place], self.lows[place], self.highs[place]
            has_interval = not np.isnan(low)
            style = {
                "color": GREY if place < self.n_baselines else colours[0],
                "marker": "o",
                "linestyle": "none",
                "capsize": 4,
                "markerfacecolor": None if has_interval else "none",
            }
            # An estimate may lie outside of the interval of a rate.
            width = [[max(mean - low, 0.0)], [max(high - mean, 0.0)]]
            self.errorbars_[name] = ax.errorbar(
                [mean],
                [place],
                xerr=width if has_interval else None,
                **line_style(style, kwargs),
            )
            says = f"width {high - low:.3g}" if has_interval else "no interval"
            self.texts_[name] = ax.annotate(
                says,
                (1, place),
                xycoords=("axes fraction", "data"),
                xytext=(6, 0),
                textcoords="offset points",
                va="center",
                color=foreground(ax),
                fontsize="small",
                annotation_clip=False,
            )
        self.truth_line_ = None
        if self.truth is not None:
            self.truth_line_ = ax.axvline(
                self.truth,
                color=colours[1],
                linestyle="--",
                zorder=1,
            )
            ax.annotate(
                f"truth {self.truth:.3g}",
                (self.truth, 1),
                xycoords=("data", "axes fraction"),
                xytext=(0, 3),
                textcoords="offset points",
                ha="center",
                color=foreground(ax),
                fontsize="small",
                annotation_clip=False,
            )
        ax.set_yticks(range(len(self.names)), [plain(name) for name in self.names])
        ax.set_ylim(len(self.names) - 0.5, -0.5)
        ax.set_xlabel(f"mean ({percent(self.confidence_level)} interval)")
        ax.grid(axis="x", alpha=0.3)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _check_estimators(estimators: Any) -> None:
    if not isinstance(estimators, Mapping) or not estimators:
        raise ValueError(
            f"estimators is {estimators!r}; pass a dictionary of fitted estimators, a "
            "name for each, such as {'PPI': PPIMeanEstimator().fit(X, y)}."
        )
    for name, estimator in estimators.items():
        if not isinstance(estimator, BasePPIMeanEstimator):
            raise ValueError(
                f"estimators[{name!r}] is {estimator!r}; pass a fitted estimator of "
                "means, such as PPIMeanEstimator() (of a Pipeline, its last step)."
            )
        check_is_fitted(estimator, msg=f"estimators[{name!r}] is not fitted: call fit.")


def _row(
    name: str, estimator: Any, ends: dict[str, Any], confidence_level: float
) -> tuple[float, float, float]:
    try:
        low, high = estimator.confidence_interval(confidence_level, **ends)
    except ValueError as error:
        raise ValueError(f"{name!r}: {error}") from error
    return estimator.mean_, low, high


def _baselines(
    estimators: Mapping[str, Any], ends: dict[str, Any], confidence_level: float
) -> dict[str, tuple[float, float, float]]:
    """Return the mean of the labels alone, and those of the judges alone."""
    first = next(iter(estimators.values()))
    for name, estimator in estimators.items():
        if not np.array_equal(estimator._labels, first._labels):
            raise ValueError(
                f"estimators[{name!r}] was fitted on other labels than the first one, "
                "so they share no mean of the labels alone; pass baselines=False."
            )
    nothing = np.zeros((1, 1))
    alone = PPIMeanEstimator(lam=0.0).fit(
        np.zeros((first.n_labeled_, 1)),
        first._labels,
        # How many others there are matters where the rows have weights.
        pool=PoolMoments(first.n_unlabeled_, nothing[0], nothing)
        if first.n_unlabeled_
        else None,
        sample_weight=first._weights,
        groups=first._groups,
    )
    rows = {"labels alone": _row("labels alone", alone, ends, confidence_level)}
    low, high = first._check_range(ends["label_range"])
    if np.isnan(low):
        low, high = first._labels.min(), first._labels.max()
    for judge, mean in _judges(estimators).items():
        if low <= mean <= high:
            rows[judge] = (mean, np.nan, np.nan)
    return rows


def _judges(estimators: Mapping[str, Any]) -> dict[str, float]:
    """Name the judges that the estimators have seen, and their means."""
    found: dict[str, float] = {}
    for estimator in estimators.values():
        means = estimator.judge_mean_
        names = getattr(estimator, "feature_names_in_", None)
        if names is None:
            several = len(means) > 1
            names = [f"judge {i}" if several else "judge" for i in range(len(means))]
        for name, mean in zip(names, means, strict=True):
            if not np.isclose(mean, list(found.values()), rtol=1e-9).any():
                found[f"{name} alone"] = float(mean)
    return found
