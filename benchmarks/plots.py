"""Pictures of the results, in colours that the colour-blind can tell apart."""

from math import ceil

import matplotlib.pyplot as plt
import numpy as np
import polars as pl

from benchmarks.tables import RESULTS

# Okabe and Ito's colours, each with a marker of its own.
STYLES = {
    "PPI": ("#999999", "x", ":"),
    "eq. 6": ("#000000", "+", "-."),
    "ols": ("#E69F00", "s", "-"),
    "ppi++": ("#56B4E9", "v", "--"),
    "ppi++ clipped": ("#0072B2", "^", "-"),
    "Ridge": ("#009E73", "o", "-"),
    "Ridge plug-in": ("#CC79A7", "D", "-"),
    "Ridge cv=5": ("#009E73", "P", ":"),
    "Sigmoid": ("#D55E00", "*", ":"),
}
SERIES = (("#E69F00", "s"), ("#0072B2", "^"), ("#009E73", "o"), ("#CC79A7", "D"))


def _panels(titles, columns, height=3.0, width=4.0, **shared):
    rows = ceil(len(titles) / columns)
    figure, axes = plt.subplots(
        rows,
        columns,
        figsize=(width * columns, height * rows),
        squeeze=False,
        layout="constrained",
        **shared,
    )
    for axis, title in zip(axes.flat, titles, strict=False):
        axis.set_title(title, fontsize=10)
        axis.grid(alpha=0.3)
    for axis in axes.flat[len(titles) :]:
        axis.set_axis_off()
    return figure, axes


def _save(figure, name):
    figure.savefig(RESULTS / f"{name}.png", dpi=110)
    plt.close(figure)


def ratios_by_n(name, panels, highest=1.5):
    """Draw the ratio of errors to the labels alone against the number of labels."""
    figure, axes = _panels(list(panels), 3, sharey=True)
    for axis, rows in zip(axes.flat, panels.values(), strict=False):
        for method, (colour, marker, line) in STYLES.items():
            of_method = rows.filter(method=method).sort("n_labeled")
            axis.plot(
                of_method["n_labeled"],
                of_method["ratio"],
                color=colour,
                marker=marker,
                linestyle=line,
                markersize=5,
                linewidth=1.3,
                label=method,
            )
        axis.axhline(1, color="black", linewidth=1)
        axis.set_xscale("log")
        labels = rows["n_labeled"].unique().sort().to_list()
        axis.set_xticks(labels, labels)
        axis.minorticks_off()
    lowest = min(rows["ratio"].min() for rows in panels.values() if len(rows))
    axes.flat[0].set_ylim(lowest - 0.05, highest)
    figure.supxlabel("labels")
    figure.supylabel("mean absolute error / that of the labels alone")
    figure.legend(*axes.flat[0].get_legend_handles_labels(), loc="outside right center")
    _save(figure, name)


def strips(name, figure_rows):
    """Draw values as dots, a line a method, with their mean as a bar.

    Each row of the picture is a label, the value to reach, the least value shown, and
    the table of each panel by its title: `method`, `value` and, for a legend, `series`.
    """
    titles = [title for *_, panels in figure_rows for title in panels]
    columns = len(titles) // len(figure_rows)
    figure, axes = _panels(titles, columns, width=3.4, sharex="row", sharey="row")
    for (label, goal, lowest, panels), line in zip(figure_rows, axes, strict=True):
        methods = pl.concat([rows.select("method") for rows in panels.values()])
        methods = methods["method"].unique(maintain_order=True).to_list()
        for axis, rows in zip(line, panels.values(), strict=True):
            _strip(axis, rows, methods, lowest)
            axis.axvline(goal, color="black", linewidth=1)
            axis.set_xlabel(label)
        line[0].set_yticks(range(len(methods)), methods)
        line[0].invert_yaxis()
        if lowest is not None:
            line[0].set_xlim(left=lowest - 0.01)
    handles, labels = axes.flat[0].get_legend_handles_labels()
    if handles:
        figure.legend(handles, labels, loc="outside right center")
    _save(figure, name)


def _strip(axis, rows, methods, lowest):
    named = "series" in rows.columns
    series = rows["series"].unique(maintain_order=True).to_list() if named else [None]
    for number, one in enumerate(series):
        dots = rows.filter(series=one) if named else rows
        heights = np.array([methods.index(method) for method in dots["method"]])
        shift = _jitter(dots) if not named else 0.15 * (number - len(series) / 2 + 0.5)
        colour, marker = SERIES[number]
        axis.scatter(
            _shown(dots["value"], lowest),
            heights + shift,
            s=25 if named else 9,
            color=colour if named else "#0072B2",
            marker=marker if named else "o",
            alpha=0.9 if named else 0.5,
            label=one,
        )
    for height, method in enumerate(methods):
        values = rows.filter(method=method)["value"]
        if len(values):
            centre = _shown([values.mean()], lowest)
            axis.vlines(centre, height - 0.4, height + 0.4, color="#D55E00")


def _shown(values, lowest):
    return np.asarray(values) if lowest is None else np.maximum(values, lowest)


def _jitter(rows):
    """Spread the dots of each method over its line."""
    place = (pl.int_range(pl.len()) + 0.5) / pl.len() - 0.5
    return rows.select(0.6 * place.over("method")).to_series().to_numpy()


ARMS = {
    "random": ("#000000", "+", "--"),
    "maximum norm": ("#56B4E9", "v", "-"),
    "ward centroid": ("#E69F00", "s", "-"),
    "ward cosine": ("#009E73", "o", "-"),
    "ward max_norm": ("#0072B2", "^", "-"),
    "cosine centroid": ("#D55E00", "x", ":"),
    "inputs ward centroid": ("#999999", "*", ":"),
}


def success_curves(name, table):
    """Draw the success rate of some arms against the budget, a panel a judge."""
    judges = table["judge"].unique(maintain_order=True).to_list()
    figure, axes = _panels(judges, min(3, len(judges)), sharey=True)
    for axis, judge in zip(axes.flat, judges, strict=False):
        for arm, (colour, marker, line) in ARMS.items():
            rows = table.filter(judge=judge, selector=arm).sort("budget")
            axis.plot(
                rows["budget"],
                rows["mean"],
                color=colour,
                marker=marker,
                linestyle=line,
                markersize=4,
                linewidth=1.3,
                label=arm,
            )
            if arm in ("random", "ward cosine"):
                axis.fill_between(
                    rows["budget"], rows["low"], rows["high"], color=colour, alpha=0.1
                )
    figure.supxlabel("examples judged")
    figure.supylabel("success rate")
    figure.legend(*axes.flat[0].get_legend_handles_labels(), loc="outside right center")
    _save(figure, name)


def norm_bins(name, table):
    """Draw who wins against the norm of the difference, a panel a judge."""
    panels = table.partition_by("data", "judge", as_dict=True)
    titles = [f"{data}, {judge}" for data, judge in panels]
    figure, axes = _panels(titles, 3, sharex=True, sharey=True)
    shares = {"winner": "#0072B2", "tie": "#999999", "loser": "#D55E00"}
    for axis, rows in zip(axes.flat, panels.values(), strict=False):
        for share, colour in shares.items():
            axis.plot(rows["bin"], rows[share], color=colour, label=share)
    figure.supxlabel("bin of the norm, from small to large")
    figure.supylabel("share of the examples")
    figure.legend(*axes.flat[0].get_legend_handles_labels(), loc="outside right center")
    _save(figure, name)
