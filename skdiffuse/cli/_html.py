"""A report for a browser: one file that needs no other, and no network."""

import base64
import io
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from skdiffuse.annotation._text import visible
from skdiffuse.cli import _files
from skdiffuse.cli._pairs import Pairs
from skdiffuse.cli._report import METHODS

# Bytes of outputs in all, and characters in one cell: the rest is in the examples.
_MOST_BYTES = 2_300_000
_LONGEST = 2_000
_MOST_ROWS = 1_000
_STYLE = """
:root { color-scheme: light dark; --line: light-dark(#d3d8de, #3a424c);
  --quiet: light-dark(#57606a, #a3adb8); }
body { margin: 2rem auto; max-width: 72rem; padding: 0 1rem;
  font: 1rem/1.5 system-ui, sans-serif; color: light-dark(#1b1f24, #e6e8eb);
  background: light-dark(#fff, #15181c); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1rem; }
dt, figcaption, .more { color: var(--quiet); }
dd { margin: 0; }
figure { margin: 2rem 0; overflow-x: auto; }
img { max-width: 100%; border-radius: .5rem; background: #fff; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th, td { padding: .35rem .6rem; border-bottom: 1px solid var(--line);
  text-align: start; vertical-align: top; }
td.text { white-space: pre-wrap; overflow-wrap: anywhere; min-width: 12rem;
  unicode-bidi: plaintext; }
td.short { white-space: nowrap; }
"""


def check(path: Path | None, *others: Path | None) -> None:
    """Raise a ValueError unless a report can be made, before it costs anything.

    Parameters
    ----------
    path : Path or None
        None for no report.
    *others : Path or None
        Files that will be made too.
    """
    if path is None:
        return
    if path in others:
        raise ValueError(f"--report {path} is another file of this command; rename it.")
    if path.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"--report {path} is no page; give a name that ends in .html.")
    _files.check_absent(path, "--report")
    # A name that is too long is refused by the system alone.
    with _files.writing(path, "--report"):
        path.touch(exist_ok=False)
        path.unlink()
    try:
        import matplotlib.pyplot  # noqa: F401
    except ImportError as error:
        raise ValueError(
            "--report draws pictures; install what it needs with: pip install "
            "'skdiffuse[plot]'."
        ) from error


@contextmanager
def drawn(path: Path) -> Iterator[None]:
    """Draw alike everywhere, and say that a failure costs the report alone."""
    import matplotlib

    try:
        with (
            matplotlib.rc_context(matplotlib.rcParamsDefault),
            warnings.catch_warnings(),
        ):
            # Whatever draws windows is of no use here.
            matplotlib.use("agg")
            # Letters that its font lacks are boxes in the picture, and in the table.
            warnings.simplefilter("ignore")
            yield
    except (OSError, RuntimeError, ValueError) as error:
        raise ValueError(
            f"the report {path} could not be made ({error}); what is shown above "
            "stands."
        ) from error


def write_comparison(
    path: Path,
    result: dict[str, Any],
    pairs: Pairs,
    rows: np.ndarray,
    preferences: np.ndarray,
    *,
    differences: np.ndarray,
    comparison: Any | None,
) -> None:
    """Write what a comparison says, and what it says it from.

    Parameters
    ----------
    path : Path
    result : dict
        As the command shows it.
    pairs : Pairs
    rows, preferences : ndarray of shape (n_judged,)
        What was judged, in that order.
    differences : ndarray of shape (n_examples, n_features)
        For the map.
    comparison : PreferenceComparison or None
        For the path; None where all were judged at once.
    """
    from skdiffuse.plotting import DecisionPathDisplay, SelectionMapDisplay

    parts = [_list(result["details"]), _notes(result["notes"])]
    if comparison is not None:
        figure = DecisionPathDisplay.from_estimator(comparison).figure_
        parts.append(_figure(figure, "Votes and risk after each judgement"))
    if np.ptp(differences, axis=0).any():
        figure = SelectionMapDisplay.from_data(differences, rows).figure_
        parts.append(_figure(figure, "All differences of outputs, and those judged"))
    parts.append(_judged(pairs, rows, preferences))
    _write(path, result["headline"], parts)


def write_estimates(path: Path, result: dict[str, Any]) -> None:
    """Write the estimates of a mean side by side."""
    from skdiffuse.plotting import MeanComparisonDisplay

    rows = result["estimates"]
    # The judge's own interval says nothing of how far it is off.
    alone = [row["method"] == "judge_only" for row in rows]
    low, high = (
        np.where(alone, np.nan, [row[end] for row in rows]) for end in ("low", "high")
    )
    figure = (
        MeanComparisonDisplay(
            names=[_clipped(visible(_name(row)), 40) for row in rows],
            means=np.array([row["mean"] for row in rows]),
            lows=low,
            highs=high,
            n_baselines=1 + sum(alone),
            confidence_level=result["confidence_level"],
        )
        .plot()
        .figure_
    )
    table = [
        [_name(row), *(f"{row[name]:.4g}" for name in ("mean", "low", "high"))]
        for row in rows
    ]
    details = {
        "labelled rows": str(result["n_labeled"]),
        "rows in the pool": str(result["n_unlabeled"]),
        "recommended": next(_name(row) for row in rows if row.get("recommended")),
        "the judge": result["judge_reason"],
    }
    parts = [
        _list(details),
        _figure(figure, "Estimates; the judge alone is corrected by no label"),
        _table(["estimate from", "mean", "low", "high"], table),
        _notes(result["notes"]),
    ]
    _write(path, "A mean from few labels and a judge", parts)


def _judged(pairs: Pairs, rows: np.ndarray, preferences: np.ndarray) -> str:
    shown = min(len(rows), _MOST_ROWS)
    longest = _longest_of(shown)
    columns: list[tuple[str, Sequence[str | None]]] = [
        ("output of A", pairs.texts_a),
        ("output of B", pairs.texts_b),
    ]
    if pairs.inputs is not None:
        columns.insert(0, ("input", pairs.inputs))
    table = []
    for place in range(shown):
        row = int(rows[place])
        cells = [_clipped(visible(texts[row] or ""), longest) for _, texts in columns]
        table.append([str(place + 1), str(row), _vote(preferences[place]), *cells])
    head = ["", "row", "better", *(name for name, _ in columns)]
    title = f"<h2>Judged examples</h2>{_table(head, table)}"
    if shown < len(rows):
        title += f"<p class='more'>and {len(rows) - shown} more</p>"
    return title


def _vote(preference: float) -> str:
    words = {1.0: "A", 0.0: "tie", -1.0: "B"}
    return words.get(float(preference), f"{preference:+.3g}")


def _name(row: dict[str, Any]) -> str:
    name = METHODS[row["method"]]
    return f"{name} ({row['judge']})" if "judge" in row else name


def _clipped(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    return f"{text[:longest]}… ({len(text) - longest:,} more characters)"


def _longest_of(shown: int) -> int:
    """Return how long a cell may be: a sign takes at most five bytes in the page."""
    return min(_LONGEST, _MOST_BYTES // (5 * 3 * max(1, shown)))


def _list(details: dict[str, str]) -> str:
    items = (f"<dt>{_text(k)}</dt><dd>{_text(v)}</dd>" for k, v in details.items())
    return f"<dl>{''.join(items)}</dl>"


def _notes(notes: list[str]) -> str:
    items = "".join(f"<li>{_text(note)}</li>" for note in notes)
    return f"<ul>{items}</ul>" if notes else ""


def _table(head: list[str], rows: list[list[str]]) -> str:
    titles = "".join(f"<th scope='col'>{_text(name)}</th>" for name in head)
    lines = (
        "".join(
            f"<td class='{'short' if len(cell) < 12 else 'text'}' dir='auto'>"
            f"{_text(cell)}</td>"
            for cell in row
        )
        for row in rows
    )
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return (
        f"<div class='wide'><table><thead><tr>{titles}</tr></thead>"
        f"<tbody>{body}</tbody></table></div>"
    )


def _figure(figure: Any, caption: str) -> str:
    from matplotlib import pyplot as plt

    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=130, metadata={"Software": None})
    plt.close(figure)
    data = base64.b64encode(picture.getvalue()).decode()
    return (
        f"<figure><img alt='{_text(caption)}' src='data:image/png;base64,{data}'>"
        f"<figcaption>{_text(caption)}</figcaption></figure>"
    )


def _text(text: str) -> str:
    return escape(visible(text))


def _write(path: Path, title: str, parts: list[str]) -> None:
    page = (
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'; "
        "img-src data:; style-src 'unsafe-inline'\">"
        f"<title>{_text(title)}</title><style>{_STYLE}</style></head>"
        f"<body><h1>{_text(title)}</h1>{''.join(parts)}</body></html>\n"
    )
    _files.write_new({path: page.encode("utf-8", "backslashreplace")})
