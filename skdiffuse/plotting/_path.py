"""How a comparison came to its verdict."""

from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skdiffuse.plotting._common import (
    COLOURS,
    GREY,
    SIDES,
    check_axes,
    foreground,
    line_style,
    pyplot,
)

_NAMES = {"A": "A wins", "B": "B wins", "tie": "ties"}
_RISK = COLOURS[2]


class DecisionPathDisplay:
    """Wins and risk of a comparison, annotation by annotation.

    Make it with `from_estimator`.

    Parameters
    ----------
    n_annotations : ndarray of shape (n,)
        Numbers of judged examples.
    counts : dict of ndarray of shape (n,)
        ``"A"``, ``"B"`` (wins) and ``"tie"`` after so many.
    risk : ndarray of shape (n,), default=None
        The risk of the stopping rule; NaN where it has none.
    threshold : float, default=None
        The risk below which the rule stops, if it has such a number.
    min_annotations : int, default=1
        The rule was not asked before so many annotations.
    winner : int, default=0
        +1 if A is named, -1 if B is, 0 if neither is.
    title : str, default=""
        What came out, and why it ended there.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the counts.
    risk_ax_ : matplotlib Axes or None
        Axes with the risk; None where the rule has none.
    figure_ : matplotlib Figure
        Figure with the axes.
    lines_ : dict of str to matplotlib Line2D
        The counts: ``"A"``, ``"B"``, and ``"tie"`` if there was one.
    end_ : matplotlib Line2D or None
        Where the winner was named.
    risk_line_ : matplotlib Line2D or None
        The risk.
    threshold_line_ : matplotlib Line2D or None
        The risk below which the rule stops.
    first_look_line_ : matplotlib Line2D or None
        Where the rule was asked for the first time.

    See Also
    --------
    PreferenceComparison : Has these numbers in `path_` and the verdict in `verdict_`.

    Notes
    -----
    The risk has a logarithmic axis: what matters is whether it falls below the
    threshold of the rule. A risk of zero (every example is judged, or the rest cannot
    change the winner) leaves the picture at the bottom. Graded preferences are counted
    by their sign, as in `path_`.

    Examples
    --------
    >>> from skdiffuse import PreferenceComparison
    >>> from skdiffuse.datasets import make_preference_pool
    >>> from skdiffuse.plotting import DecisionPathDisplay
    >>> X, y = make_preference_pool(winning_distance=0.4, random_state=0)
    >>> comparison = PreferenceComparison().fit(X, y)
    >>> display = DecisionPathDisplay.from_estimator(comparison)
    >>> print(display.ax_.get_title())
    A is better.
    the stopping rule is satisfied; judged: 8 of 500 examples
    >>> print(display.lines_["A"].get_ydata()[-1])
    7
    """

    def __init__(
        self,
        *,
        n_annotations: np.ndarray,
        counts: dict[str, np.ndarray],
        risk: np.ndarray | None = None,
        threshold: float | None = None,
        min_annotations: int = 1,
        winner: int = 0,
        title: str = "",
    ) -> None:
        self.n_annotations = n_annotations
        self.counts = counts
        self.risk = risk
        self.threshold = threshold
        self.min_annotations = min_annotations
        self.winner = winner
        self.title = title

    @classmethod
    def from_estimator(cls, comparison: Any, *, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the path of a comparison so far.

        Parameters
        ----------
        comparison : PreferenceComparison
            One with at least one answer.
        ax : matplotlib Axes or pair of them, default=None
            As in `plot`.
        **kwargs : dict
            To `matplotlib.axes.Axes.plot`, for the counts.

        Returns
        -------
        DecisionPathDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If this is no comparison, or it has no answer yet.
        """
        pyplot(f"{cls.__name__}.from_estimator")
        if not hasattr(type(comparison), "path_"):
            raise ValueError(
                f"comparison is a {type(comparison).__name__}; pass a "
                "PreferenceComparison (of a Pipeline, its last step: pipeline[-1])."
            )
        check_is_fitted(
            comparison,
            msg="This %(name)s has no path yet; call fit(X, y), or start(X) and tell.",
        )
        path, verdict = comparison.path_, comparison.verdict_
        if not verdict.n_annotations:
            raise ValueError(
                "comparison has no answer that counts yet, so there is no path; tell "
                "it the preferences of the rows of ask()."
            )
        details = verdict.details
        display = cls(
            n_annotations=path["n_annotations"],
            counts={side: path[side] for side in _NAMES},
            risk=path["risk"],
            threshold=_threshold(comparison.stopping_rule_),
            min_annotations=comparison.min_annotations,
            winner=verdict.winner,
            title=f"{verdict.headline}\n{details['status']}; judged: "
            f"{details['judged']}",
        )
        return display.plot(ax=ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the path.

        Parameters
        ----------
        ax : matplotlib Axes or pair of them, default=None
            None for a new figure, with the risk in a panel of its own below the
            counts. A pair of axes is taken for these two panels; on one Axes the risk
            has a second axis on the right.
        **kwargs : dict
            To `matplotlib.axes.Axes.plot`, for the counts.

        Returns
        -------
        DecisionPathDisplay
            This display.

        Raises
        ------
        ValueError
            If `ax` is neither Axes nor two of them.
        """
        ax, below = self._axes(ax)
        self.ax_, self.risk_ax_, self.figure_ = ax, below, ax.figure
        beside = below is not None and below.bbox.bounds == ax.bbox.bounds
        few = len(self.n_annotations) <= 30
        self.lines_ = {}
        for side, name in _NAMES.items():
            values = self.counts[side]
            if side == "tie" and not values[-1]:
                continue
            style = line_style(
                {
                    "color": SIDES[side],
                    "drawstyle": "steps-post",
                    "linestyle": "--" if side == "tie" else "-",
                    "marker": "." if few else None,
                    "label": f"{name}: {values[-1]}",
                },
                kwargs,
            )
            (self.lines_[side],) = ax.plot(self.n_annotations, values, **style)
        self.end_ = None
        if self.winner:
            side = "A" if self.winner > 0 else "B"
            (self.end_,) = ax.plot(
                self.n_annotations[-1],
                self.counts[side][-1],
                marker="o",
                markersize=9,
                color=self.lines_[side].get_color(),
                markeredgecolor=foreground(ax),
                linestyle="none",
                label=f"{side} is named",
            )
        ax.set(ylabel="number of judged examples", title=self.title)
        ax.set_ylim(bottom=0)
        self._draw_risk(below)
        handles = ax.get_legend_handles_labels()
        if beside:
            more = below.get_legend_handles_labels()
            handles = (handles[0] + more[0], handles[1] + more[1])
        elif below is not None:
            below.legend(loc="best")
        ax.legend(*handles, loc="upper left")
        bottom = ax if below is None or beside else below
        bottom.set_xlabel("judged examples")
        bottom.xaxis.get_major_locator().set_params(integer=True)
        return self

    def _axes(self, ax: Any) -> tuple[Any, Any]:
        """Return the axes for the counts, and those for the risk or None."""
        caller = f"{type(self).__name__}.plot"
        plt = pyplot(caller)
        # A lone zero has no place on the axis.
        has_risk = self.risk is not None and bool((self.risk > 0).any())
        if ax is None:
            if not has_risk:
                return plt.subplots(layout="constrained")[1], None
            both = plt.subplots(
                2, sharex=True, height_ratios=[3, 2], layout="constrained"
            )[1]
            return both[0], both[1]
        if isinstance(ax, list | tuple | np.ndarray):
            axes = [check_axes(caller, one) for one in np.ravel(np.array(ax))]
            if len(axes) != 2:
                raise ValueError(
                    f"ax of {caller} holds {len(axes)} Axes; pass one, or two: for "
                    "the counts and for the risk."
                )
            return axes[0], axes[1] if has_risk else None
        ax = check_axes(caller, ax)
        return ax, ax.twinx() if has_risk else None

    def _draw_risk(self, ax: Any) -> None:
        self.risk_line_ = self.threshold_line_ = self.first_look_line_ = None
        if ax is None or self.risk is None:
            return
        (self.risk_line_,) = ax.plot(
            self.n_annotations,
            self.risk,
            color=_RISK,
            marker="." if len(self.risk) <= 30 else None,
            label="risk",
        )
        ax.set_yscale("log", nonpositive="clip")
        lowest = float(self.risk[self.risk > 0].min())
        if self.threshold is not None:
            self.threshold_line_ = ax.axhline(
                self.threshold,
                color=_RISK,
                linestyle=":",
                label=f"stops below {self.threshold:g}",
            )
            # No further down than there is something to tell.
            lowest = min(self.threshold, max(lowest, self.threshold / 1000))
        ax.set_ylim(lowest / 2, 1.5)
        if 1 < self.min_annotations <= self.n_annotations[-1]:
            self.first_look_line_ = ax.axvline(
                self.min_annotations,
                color=GREY,
                linestyle="--",
                linewidth=1,
                label=f"first look of the rule: {self.min_annotations}",
            )
        ax.set_ylabel("risk")


def _threshold(rule: Any) -> float | None:
    """Return the risk below which a rule stops, if it has one by a known name."""
    for name in ("risk", "alpha"):
        value = getattr(rule, name, None)
        if isinstance(value, Real) and 0 < float(value) < 1:
            return float(value)
    return None
