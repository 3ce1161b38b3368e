"""What all displays share: matplotlib where it is needed, colours, and styles."""

from typing import Any

# Okabe and Ito's colours, to be told apart without red or green; of each background
# those that stand out from it.
_ON_LIGHT = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_ON_DARK = ("#56B4E9", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#F0E442")
GREY = "#888888"
_LINES = ("-", "--", "-.", ":")
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


def is_dark(ax: Any) -> bool:
    """Return whether the background of these axes is dark, whatever made it so."""
    from matplotlib.colors import to_rgba

    colour = to_rgba(ax.get_facecolor())
    if colour[3] < 0.5:
        colour = to_rgba(ax.figure.canvas.figure.get_facecolor())
    red, green, blue, opacity = colour
    return opacity >= 0.5 and 0.299 * red + 0.587 * green + 0.114 * blue < 0.5


def colours_on(ax: Any) -> tuple[str, ...]:
    """Return the colours of this background, in order."""
    return _ON_DARK if is_dark(ax) else _ON_LIGHT


def sides_on(ax: Any) -> dict[str, str]:
    """Return the colours of A, of B and of a tie."""
    first, second, *_ = colours_on(ax)
    return {"A": first, "B": second, "tie": GREY}


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


def nth_style(ax: Any, number: int) -> dict[str, Any]:
    """Return how to draw the n-th of several lines, so that equal ones show."""
    colours = colours_on(ax)
    return {
        "color": colours[number % len(colours)],
        "linestyle": _LINES[number % len(_LINES)],
        "marker": _MARKERS[number % len(_MARKERS)],
        "markersize": 9 - number % len(_MARKERS),
    }


def percent(share: float) -> str:
    """Write a share such as a confidence level: ``95 %``."""
    return f"{100 * share:.4g} %"


def plain(name: Any) -> str:
    """Return a user's word as it is to be read, and not as a formula."""
    return str(name).replace("$", r"\$")
