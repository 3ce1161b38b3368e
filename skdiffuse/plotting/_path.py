"""How a comparison came to its verdict."""

from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skdiffuse.plotting._common import (
    GREY,
    check_axes,
    colours_on,
    foreground,
    line_style,
    pyplot,
    sides_on,
)

_NAMES = {"A": "A wins", "B": "B wins", "tie": "ties"}
# Of the height of both panels.
_SHARE_OF_RISK = 0.36


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
            None for a new figure. The risk has a panel of its own below the counts: a
            pair of axes is taken for these two; one Axes is divided between them.
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
        few = len(self.n_annotations) <= 30
        colours = sides_on(ax)
        self.lines_ = {}
        for side, name in _NAMES.items():
            values = self.counts[side]
            if side == "tie" and not values[-1]:
                continue
            style = line_style(
                {
                    "color": colours[side],
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
        ax.set(ylabel="number of examples", title=self.title)
        ax.title.set_fontsize("medium")
        ax.legend(loc="upper left")
        last = self.n_annotations[-1]
        most = max(line.get_ydata()[-1] for line in self.lines_.values())
        ax.set_ylim(-0.04 * most, 1.08 * most)
        self._draw_risk(below)
        for panel in (ax, below):
            if panel is not None:
                panel.set_xlim(0, max(1.03 * last, last + 0.2))
                panel.xaxis.get_major_locator().set_params(integer=True)
        ax.yaxis.get_major_locator().set_params(integer=True)
        (ax if below is None else below).set_xlabel("judged examples")
        return self

    def _axes(self, ax: Any) -> tuple[Any, Any]:
        """Return the axes for the counts, and those for the risk or None."""
        caller = f"{type(self).__name__}.plot"
        plt = pyplot(caller)
        # A lone zero has no place on the axis.
        has_risk = self.risk is not None and bool((self.risk > 0).any())
        if isinstance(ax, list | tuple | np.ndarray):
            axes = [check_axes(caller, one) for one in np.ravel(np.array(ax))]
            if len(axes) != 2:
                raise ValueError(
                    f"ax of {caller} holds {len(axes)} Axes; pass one, or two: for "
                    "the counts and for the risk."
                )
            return axes[0], axes[1] if has_risk else None
        if ax is None:
            ax = plt.subplots(layout="constrained")[1]
        check_axes(caller, ax)
        if not has_risk:
            return ax, None
        ax.set_axis_off()
        share, gap = _SHARE_OF_RISK, 0.04
        counts = ax.inset_axes([0, share + gap, 1, 1 - share - gap])
        counts.tick_params(labelbottom=False)
        return counts, ax.inset_axes([0, 0, 1, share])

    def _draw_risk(self, ax: Any) -> None:
        self.risk_line_ = self.threshold_line_ = self.first_look_line_ = None
        if ax is None or self.risk is None:
            return
        colour, ink = colours_on(ax)[2], foreground(ax)
        (self.risk_line_,) = ax.plot(
            self.n_annotations,
            self.risk,
            color=colour,
            marker="." if len(self.risk) <= 30 else None,
        )
        ax.set_yscale("log", nonpositive="clip")
        lowest = float(self.risk[self.risk > 0].min())
        if self.threshold is not None:
            self.threshold_line_ = ax.axhline(
                self.threshold, color=colour, linestyle=":"
            )
            # The risk begins high, so that there is room on the left.
            ax.annotate(
                f"stops below {self.threshold:g}",
                (0, self.threshold),
                xycoords=("axes fraction", "data"),
                xytext=(4, -2),
                textcoords="offset points",
                va="top",
                color=ink,
                fontsize="small",
            )
            # No further down than there is something to tell.
            lowest = min(self.threshold, max(lowest, self.threshold / 1000))
        # Above 1 there is room for words.
        ax.set(ylabel="risk", ylim=(lowest / 4, 8))
        n = self.min_annotations
        if 1 < n <= self.n_annotations[-1]:
            self.first_look_line_ = ax.axvline(
                n, color=GREY, linestyle="--", linewidth=1
            )
            right = n > self.n_annotations[-1] / 2
            ax.annotate(
                f"first look of the rule: {n}",
                (n, 1),
                xycoords=("data", "axes fraction"),
                xytext=(-4 if right else 4, -3),
                textcoords="offset points",
                ha="right" if right else "left",
                va="top",
                color=ink,
                fontsize="small",
            )


def _threshold(rule: Any) -> float | None:
    """Return the risk below which a rule stops, if it has one by a known name."""
    for name in ("risk", "alpha"):
        value = getattr(rule, name, None)
        if isinstance(value, Real) and 0 < float(value) < 1:
            return float(value)
    return None
