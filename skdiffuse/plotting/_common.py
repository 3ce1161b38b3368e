"""What all displays share: matplotlib where it is needed, colours, and styles."""

from typing import Any

# Okabe and Ito's colours without black and yellow, which one of the two backgrounds
# swallows: to be told apart without red or green, on white and on black.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
GREY = "#888888"
SIDES = {"A": COLOURS[0], "B": COLOURS[1], "tie": GREY}
_LINES = ("-", "--", ":", "-.")
_MARKERS = ("o", "s", "^", "D", "v", "P")


def pyplot(caller: str) -> Any:
    """Return `matplotlib.pyplot`, or say what to install."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            f"{caller} draws with matplotlib, which cannot be imported; install it "
            "with: pip install 'skdiffuse[plot]'"
        ) from error
    return plt


def own_axes(caller: str, ax: Any) -> Any:
    """Return the axes to draw on: those given, or new ones that cut off no label."""
    plt = pyplot(caller)
    if ax is None:
        return plt.subplots(layout="constrained")[1]
    return check_axes(caller, ax)


def check_axes(caller: str, ax: Any) -> Any:
    """Raise a ValueError unless `ax` is one Axes."""
    from matplotlib.axes import Axes

    if not isinstance(ax, Axes):
        raise ValueError(
            f"ax of {caller} is a {type(ax).__name__}; pass matplotlib Axes, such as "
            "the second value of plt.subplots()."
        )
    return ax


def foreground(ax: Any) -> Any:
    """Return the colour of the writing on these axes, whatever their style sheet."""
    return ax.xaxis.label.get_color()


def line_style(defaults: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """Merge keyword arguments of a line, under their short names too."""
    from matplotlib.cbook import normalize_kwargs
    from matplotlib.lines import Line2D

    given = normalize_kwargs(given, Line2D)
    if "fmt" in given:
        defaults = {k: v for k, v in defaults.items() if k not in _FORMAT}
    return defaults | given


_FORMAT = ("marker", "linestyle", "color")


def nth_style(number: int) -> dict[str, str]:
    """Return colour, line and marker of the n-th of several lines."""
    lap = number // len(COLOURS)
    return {
        "color": COLOURS[number % len(COLOURS)],
        "linestyle": _LINES[lap % len(_LINES)],
        "marker": _MARKERS[number % len(_MARKERS)],
    }


def percent(share: float) -> str:
    """Write a share such as a confidence level: ``95 %``."""
    return f"{100 * share:.4g} %"
