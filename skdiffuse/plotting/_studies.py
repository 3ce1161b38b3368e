"""Tables of `skdiffuse.evaluation` as curves."""

from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np

from skdiffuse._validation import check_level
from skdiffuse.evaluation import summarise
from skdiffuse.plotting._common import (
    GREY,
    is_dark,
    line_style,
    nth_style,
    own_axes,
    percent,
    plain,
    pyplot,
    sides_on,
)
from skdiffuse.ppi._intervals import wilson_interval

_SHARES = {"winner": "A", "loser": "B", "tie": "tie"}
_ENDS = ("mean", "low", "high")


class BudgetCurveDisplay:
    """Success by budget, one line a selector.

    Make it with `from_results`.

    Parameters
    ----------
    curves : dict of str to dict
        By the name of the selector its ``"budget"`` (ascending), ``"mean"``, ``"low"``
        and ``"high"``, each an ndarray of shape (n_budgets,).
    score_name : str, default="success rate"
        What the mean is one of.
    chance : float, default=None
        What guessing would reach, drawn as a line.
    error_name : str, default=""
        What the bands are.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the curves.
    figure_ : matplotlib Figure
        Figure with the axes.
    lines_ : dict of str to matplotlib Line2D
        The means, by selector.
    bands_ : dict of str to matplotlib PolyCollection
        Their intervals, by selector.
    chance_line_ : matplotlib Line2D or None
        What guessing would reach.

    See Also
    --------
    skdiffuse.evaluation.success_curve : Makes the table.
    NormAgreementDisplay : Whether long differences tell more.

    Notes
    -----
    The bands are intervals for each budget alone. Over several pairs they are those of
    `summarise`: a bootstrap over the pairs, which says how the means would vary with
    other pairs like these. A single pair varies in what was drawn from it alone; its
    bands are Wilson's, of a rate in `n_repeats` draws, and know nothing of other pairs.

    Examples
    --------
    >>> from skdiffuse import DiffUseSelector, RandomSelector
    >>> from skdiffuse.datasets import make_preference_pool
    >>> from skdiffuse.evaluation import success_curve
    >>> from skdiffuse.plotting import BudgetCurveDisplay
    >>> pairs = [
    ...     (f"pair {seed}", *make_preference_pool(200, random_state=seed))
    ...     for seed in range(3)
    ... ]
    >>> selectors = {"diffuse": DiffUseSelector(), "random": RandomSelector()}
    >>> rows = success_curve(selectors, pairs, budgets=[5, 20], n_repeats=2)
    >>> display = BudgetCurveDisplay.from_results(rows)
    >>> list(display.lines_), display.lines_["random"].get_xdata()
    (['diffuse', 'random'], array([ 5, 20]))
    """

    def __init__(
        self,
        *,
        curves: dict[str, dict[str, np.ndarray]],
        score_name: str = "success rate",
        chance: float | None = None,
        error_name: str = "",
    ) -> None:
        self.curves = curves
        self.score_name = score_name
        self.chance = chance
        self.error_name = error_name

    @classmethod
    def from_results(
        cls,
        results: Any,
        *,
        confidence_level: float = 0.95,
        score_name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the table of a study.

        Parameters
        ----------
        results : iterable of dict, or data frame
            The rows of `success_curve`; or those of ``summarise(...,
            by=["selector", "budget"])`` or `distance_bias`, whose intervals are taken
            as they are.
        confidence_level : float, default=0.95
            Of the bands. Rows that have intervals of their own keep them.
        score_name : str, default=None
            What to write beside the vertical axis: None for "success rate", or "mean"
            for rows that were summarised.
        ax : matplotlib Axes, default=None
            Axes to draw on; None for a new figure.
        **kwargs : dict
            To `matplotlib.axes.Axes.plot`, for the lines.

        Returns
        -------
        BudgetCurveDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If there is no row, or one lacks a column, or two rows are of the same
            selector and budget.
        """
        pyplot(f"{cls.__name__}.from_results")
        check_level(confidence_level, f"{cls.__name__}.from_results")
        rows = _records(results, "success_curve")
        summarised = "success" not in rows[0] and "mean" in rows[0]
        arms = ("selector", "budget")
        if summarised:
            _check_columns(rows, [*arms, *_ENDS], "success_curve")
            error = "shaded: the intervals of the table"
        else:
            _check_columns(
                rows, ["pair", *arms, "n_repeats", "success"], "success_curve"
            )
            error = _error_name(rows, confidence_level, "draws from the pair")
            rows = _summary(rows, arms, "success", "n_repeats", confidence_level)
        display = cls(
            curves=_curves(rows),
            score_name=score_name or ("mean" if summarised else "success rate"),
            chance=None if summarised else 0.5,
            error_name=error,
        )
        return display.plot(ax=ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None for a new figure.
        **kwargs : dict
            To `matplotlib.axes.Axes.plot`, for the lines.

        Returns
        -------
        BudgetCurveDisplay
            This display.
        """
        ax = own_axes(f"{type(self).__name__}.plot", ax)
        self.lines_, self.bands_ = {}, {}
        for number, (name, curve) in enumerate(self.curves.items()):
            style = line_style({**nth_style(ax, number), "label": name}, kwargs)
            (line,) = ax.plot(curve["budget"], curve["mean"], **style)
            self.lines_[name] = line
            self.bands_[name] = _band(ax, curve["budget"], curve, line)
        self.chance_line_ = None
        if self.chance is not None:
            self.chance_line_ = ax.axhline(
                self.chance, color=GREY, linestyle=":", label="a coin", zorder=1
            )
        budgets = [curve["budget"] for curve in self.curves.values()]
        _budget_axis(ax, np.unique(np.concatenate(budgets)))
        ax.set(
            xlabel="budget (judged examples)",
            ylabel=self.score_name,
            title=self.error_name,
        )
        ax.title.set_fontsize("medium")
        handles = list(self.lines_.values())
        names = [plain(name) for name in self.lines_]
        if self.chance_line_ is not None:
            handles, names = [*handles, self.chance_line_], [*names, "a coin"]
        ax.legend(handles, names, ncols=1 if len(self.lines_) < 6 else 2)
        self.ax_, self.figure_ = ax, ax.figure
        return self


class NormAgreementDisplay:
    """How often the winner of a pair wins, by the norm of the difference.

    Make it with `from_results`.

    Parameters
    ----------
    percentiles : ndarray of shape (n_bins,)
        The middle of each bin: how many percent of the examples have a smaller norm.
    shares : dict of str to dict
        Of ``"winner"``, ``"loser"`` and ``"tie"`` each ``"mean"``, ``"low"`` and
        ``"high"``, an ndarray of shape (n_bins,): the share of the examples of a bin
        that the winner of the pair wins, loses and ties.
    n_pairs : int, default=1
        Number of pairs that the shares are means over.
    error_name : str, default=""
        What the bands are.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the curves.
    figure_ : matplotlib Figure
        Figure with the axes.
    lines_ : dict of str to matplotlib Line2D
        The means: ``"winner"``, ``"loser"``, ``"tie"``.
    bands_ : dict of str to matplotlib PolyCollection
        Their intervals.

    See Also
    --------
    skdiffuse.evaluation.norm_agreement : Makes the table.
    NormSelector : Judges the longest differences first.

    Notes
    -----
    Where the winner's line rises and the loser's falls, long differences tell more of
    who is better, and a selector that prefers them saves judgements [1]_. Over several
    pairs the bands are a bootstrap over the pairs; for a single one they are Wilson's
    intervals of the share in each bin.

    References
    ----------
    .. [1] Ashury-Tahan et al., "Label-Efficient Model Selection for Text
       Generation", ACL 2024, arXiv:2402.07891.

    Examples
    --------
    >>> from skdiffuse.datasets import make_preference_pool
    >>> from skdiffuse.evaluation import norm_agreement
    >>> from skdiffuse.plotting import NormAgreementDisplay
    >>> pairs = [("pair", *make_preference_pool(300, random_state=1))]
    >>> rows = norm_agreement(pairs, n_bins=3)
    >>> display = NormAgreementDisplay.from_results(rows)
    >>> display.percentiles.round(1)
    array([16.7, 50. , 83.3])
    """

    def __init__(
        self,
        *,
        percentiles: np.ndarray,
        shares: dict[str, dict[str, np.ndarray]],
        n_pairs: int = 1,
        error_name: str = "",
    ) -> None:
        self.percentiles = percentiles
        self.shares = shares
        self.n_pairs = n_pairs
        self.error_name = error_name

    @classmethod
    def from_results(
        cls,
        results: Any,
        *,
        confidence_level: float = 0.95,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the table of a study, as means over pairs and judges.

        Parameters
        ----------
        results : iterable of dict, or data frame
            The rows of `norm_agreement`.
        confidence_level : float, default=0.95
            Of the bands.
        ax : matplotlib Axes, default=None
            Axes to draw on; None for a new figure.
        **kwargs : dict
            To `matplotlib.axes.Axes.plot`, for the lines.

        Returns
        -------
        NormAgreementDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If there is no row, one lacks a column, or pairs have different numbers of
            bins.
        """
        pyplot(f"{cls.__name__}.from_results")
        check_level(confidence_level, f"{cls.__name__}.from_results")
        rows = _records(results, "norm_agreement")
        columns = ["pair", "judge", "bin", "n_examples", *_SHARES]
        _check_columns(rows, columns, "norm_agreement")
        bins = sorted({row["bin"] for row in rows})
        found: dict[tuple, int] = {}
        for row in rows:
            key = (row["pair"], row["judge"])
            found[key] = found.get(key, 0) + 1
        if set(found.values()) != {len(bins)}:
            raise ValueError(
                f"the pairs have between {min(found.values())} and {len(bins)} bins; "
                "give norm_agreement an n_bins that no pair has too few examples for."
            )
        shares = {}
        for name in _SHARES:
            means = _summary(rows, ["bin"], name, "n_examples", confidence_level)
            means.sort(key=lambda row: row["bin"])
            shares[name] = {end: np.array([row[end] for row in means]) for end in _ENDS}
        display = cls(
            percentiles=100 * (np.arange(len(bins)) + 0.5) / len(bins),
            shares=shares,
            n_pairs=len({pair for pair, _ in found}),
            error_name=_error_name(rows, confidence_level, "the examples of a bin"),
        )
        return display.plot(ax=ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None for a new figure.
        **kwargs : dict
            To `matplotlib.axes.Axes.plot`, for the lines.

        Returns
        -------
        NormAgreementDisplay
            This display.
        """
        ax = own_axes(f"{type(self).__name__}.plot", ax)
        self.lines_, self.bands_ = {}, {}
        marker = "." if len(self.percentiles) <= 60 else None
        colours = sides_on(ax)
        for name, side in _SHARES.items():
            own = {
                "color": colours[side],
                "marker": marker,
                "linestyle": "--" if name == "tie" else "-",
                "label": name if name == "tie" else f"{name} wins",
            }
            style = line_style(own, kwargs)
            values = self.shares[name]
            (line,) = ax.plot(self.percentiles, values["mean"], **style)
            self.lines_[name] = line
            self.bands_[name] = _band(ax, self.percentiles, values, line)
        ax.set(
            xlabel="norm of the difference vector (percentile)",
            ylabel="share of the examples of a pair",
            title=self.error_name,
            xlim=(0, 100),
            ylim=(-0.02, 1.2),
            yticks=np.linspace(0, 1, 6),
        )
        ax.title.set_fontsize("medium")
        # No share is above 1, so there is room.
        ax.legend(loc="upper center", ncols=3, fontsize="small")
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _records(results: Any, study: str) -> list[dict[str, Any]]:
    """Return a table as a list of dictionaries."""
    if hasattr(results, "to_dicts"):
        results = results.to_dicts()
    elif hasattr(results, "to_dict"):
        results = results.to_dict("records")
    rows = list(results) if isinstance(results, Iterable) else [results]
    if not rows:
        raise ValueError(f"results is empty; pass the rows of {study}.")
    if not all(isinstance(row, dict) for row in rows):
        raise ValueError(
            f"results is a {type(results).__name__} that holds no dictionaries; pass "
            f"the rows of {study}."
        )
    return rows


def _check_columns(
    rows: Sequence[dict[str, Any]], columns: Sequence[str], study: str
) -> None:
    for number, row in enumerate(rows):
        missing = [name for name in columns if name not in row]
        if missing:
            raise ValueError(
                f"row {number} of results has no column {missing[0]!r}, but "
                f"{', '.join(map(str, row)) or 'none'}; pass the rows of {study}."
            )


def _summary(
    rows: Sequence[dict[str, Any]],
    by: Sequence[str],
    value: str,
    trials: str,
    confidence_level: float,
) -> list[dict[str, Any]]:
    """Average over pairs; where there is one alone, by its number of trials."""
    summary = summarise(rows, by=by, value=value, confidence_level=confidence_level)
    fewest: dict[tuple, int] = {}
    for row in rows:
        key = tuple(row[name] for name in by)
        fewest[key] = min(fewest.get(key, row[trials]), row[trials])
    for row in summary:
        if row["n"] == 1:
            n = fewest[tuple(row[name] for name in by)]
            ends = wilson_interval(row["mean"], n, confidence_level, "two-sided")
            row["low"], row["high"] = ends
    return summary


def _error_name(rows: Sequence[dict[str, Any]], level: float, alone: str) -> str:
    n_pairs = len({row["pair"] for row in rows})
    of = alone if n_pairs == 1 else f"{n_pairs} pairs"
    return f"shaded: {percent(level)} interval over {of}"


def _curves(rows: Sequence[dict[str, Any]]) -> dict[str, dict[str, np.ndarray]]:
    """Collect the rows of each selector, by ascending budget."""
    found: dict[str, dict[Any, dict[str, Any]]] = {}
    for row in rows:
        curve = found.setdefault(str(row["selector"]), {})
        if row["budget"] in curve:
            raise ValueError(
                f"results has two rows of the selector {row['selector']!r} and the "
                f"budget {row['budget']}; summarise them by=['selector', 'budget']."
            )
        curve[row["budget"]] = row
    return {
        name: {"budget": np.array(sorted(curve))}
        | {end: np.array([curve[b][end] for b in sorted(curve)]) for end in _ENDS}
        for name, curve in found.items()
    }


def _band(ax: Any, x: np.ndarray, values: dict[str, np.ndarray], line: Any) -> Any:
    band = ax.fill_between(
        x,
        values["low"],
        values["high"],
        color=line.get_color(),
        alpha=0.3 if is_dark(ax) else 0.18,
        linewidth=0,
        zorder=1,
    )
    if len(x) == 1:
        # A band over a single place has no width.
        ax.vlines(x, values["low"], values["high"], color=line.get_color(), alpha=0.5)
    return band


def _budget_axis(ax: Any, budgets: np.ndarray) -> None:
    """Space budgets that grow by factors alike, and name them."""
    from matplotlib.ticker import NullLocator, ScalarFormatter

    if budgets[-1] > 5 * budgets[0]:
        ax.set_xscale("log")
        ax.xaxis.set_minor_locator(NullLocator())
        ax.xaxis.set_major_formatter(ScalarFormatter())
        if len(budgets) > 10:
            budgets = budgets[np.linspace(0, len(budgets) - 1, 8).round().astype(int)]
        ax.set_xticks(budgets)
    else:
        ax.xaxis.get_major_locator().set_params(integer=True)
