"""The annotation loop in a terminal."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import zip_longest

from rich.console import (
    Console,
    ConsoleDimensions,
    ConsoleOptions,
    Group,
    RenderableType,
    RenderResult,
)
from rich.control import Control
from rich.segment import ControlType, Segment
from rich.text import Text

from skdiffuse.annotation._session import Question, Session

_ANNOTATOR = "terminal"
_KEYS = {"1": "left", "2": "right", "0": "tie", "s": "skip"}
_ASKED = {
    "1": "left is better",
    "2": "right is better",
    "0": "tie",
    "s": "skip",
    "u": "undo",
    "q": "save and quit",
}
_ENDED = {"u": "take back the last answer", "Enter": "end"}
_NARROW = 60
# Seconds within which a held key comes again, for the first time too.
_REPEATS = 0.7
# Bold and reversed letters can be read on every background, colours cannot.
_STRONG = "bold"
_HINT = "bold italic"
_NO_WRAP, _WRAP = "\x1b[?7l", "\x1b[?7h"

_Layout = tuple[list[list[Segment]], list[list[Segment]]]


class Screen:
    """Show one pair after the other, and take the keys.

    Parameters
    ----------
    session : Session
    console : Console
        Of a terminal.
    read : callable
        Waits for a key, and returns the names of all that were pressed; none at the
        end of the input.
    show_leader : bool
        Tell how many examples either has won.
    """

    def __init__(
        self,
        session: Session,
        console: Console,
        read: Callable[[], list[str]],
        *,
        show_leader: bool,
    ) -> None:
        self._session = session
        self._console = console
        self._read = read
        self._show_leader = show_leader
        self._offset = 0
        self._message = ""
        self._question: Question | None = None
        self._pressed = ("", 0.0)
        self._layout: tuple[tuple[int, int], _Layout] | None = None

    def run(self) -> None:
        """Ask until the annotator quits."""
        with self._console.screen(hide_cursor=True), self._unwrapped():
            self._next()
            while True:
                self._draw()
                keys = self._read()
                if not keys or self._take(keys):
                    return

    @contextmanager
    def _unwrapped(self) -> Iterator[None]:
        """Cut off what is wider than the window thinks, instead of moving all down.

        Terminals do not agree on the width of joined emoji.
        """
        self._write(_NO_WRAP)
        try:
            yield
        finally:
            self._write(_WRAP)

    def _write(self, code: str) -> None:
        if not self._console.legacy_windows:
            self._console.file.write(code)
            self._console.file.flush()

    def _take(self, keys: list[str]) -> bool:
        """Do what the keys say; True to quit."""
        for key in keys:
            if key == "q" or (self._question is None and key == "enter"):
                return True
            self._message = ""
            if (key == "u" or key in _KEYS) and self._is_held(key):
                continue
            if self._question is not None and key in _KEYS:
                self._answer(self._question, _KEYS[key])
                # What was typed before the next pair was seen is no answer to it.
                return False
            if key == "u":
                self._undo()
                return False
            self._scroll(key)
        return False

    def _is_held(self, key: str) -> bool:
        """Tell whether a key repeats itself: a terminal does not say so."""
        before, self._pressed = self._pressed, (key, time.monotonic())
        return before[0] == key and self._pressed[1] - before[1] < _REPEATS

    def _answer(self, question: Question, answer: str) -> None:
        try:
            self._session.answer(_ANNOTATOR, question.row, answer)
        except (OSError, ValueError) as error:
            self._message = f"Not saved: {error}"
            return
        self._next()

    def _undo(self) -> None:
        try:
            if not self._session.undo(None):
                self._message = "There is nothing to take back."
                return
        except (OSError, ValueError) as error:
            self._message = f"Not saved: {error}"
            return
        self._session.leave(_ANNOTATOR)
        self._next()
        self._message = "The last answer is taken back."

    def _next(self) -> None:
        self._question = self._session.ask(_ANNOTATOR)
        self._layout = None
        self._offset = 0

    def _scroll(self, key: str) -> None:
        page = max(1, self._window - 2)
        steps = {
            "up": -1,
            "k": -1,
            "down": 1,
            "j": 1,
            "page up": -page,
            "b": -page,
            "page down": page,
            " ": page,
            "home": -self._length,
            "g": -self._length,
            "end": self._length,
        }
        self._offset += steps.get(key, 0)

    def _draw(self) -> None:
        """Fit the pair into the window: what is longer scrolls."""
        self._console.size = _size_of(self._console)
        width, height = self._console.size
        top, lines = self._laid_out(width, height // 4)
        foot = self._lines(self._foot(), width)
        self._length = len(lines)
        self._window = max(1, height - len(foot) - len(top) - 1)
        hidden = max(0, len(lines) - self._window)
        self._offset = min(max(0, self._offset), hidden)
        shown = lines[self._offset : self._offset + self._window]
        shown += [[] for _ in range(self._window - len(shown))]
        bar = self._lines(_position(self._offset, hidden), width)
        page = [*top, *shown, *bar, *foot]
        self._console.print(_Page(page[-height:]), end="")

    def _laid_out(self, width: int, most: int) -> _Layout:
        """Return what stays and what scrolls; a long pair is laid out once a size."""
        if self._layout is None or self._layout[0] != (width, most):
            layout: _Layout
            if self._question is None:
                layout = [], self._lines(self._end(), width)
            else:
                layout = self._pair(self._question, width, most)
            self._layout = (width, most), layout
        return self._layout[1]

    def _pair(self, question: Question, width: int, most: int) -> _Layout:
        """Lay out a pair; an input of at most so many lines stays above it."""
        asked = self._lines(_input(question), width)
        outputs = [_output(text) for text in (question.left, question.right)]
        if width < _NARROW:
            stacked: list[RenderableType] = []
            for title, output in zip(_titles(), outputs, strict=True):
                stacked += [title, output, Text("")]
            titles, body = [], self._lines(Group(*stacked), width)
        else:
            titles = self._lines(_Beside(*_titles()), width)
            body = self._lines(_Beside(*outputs), width)
        if len(asked) <= most:
            return asked + titles, body
        return titles, asked + body

    def _lines(self, renderable: RenderableType, width: int) -> list[list[Segment]]:
        options = self._console.options.update(width=width, height=None)
        return self._console.render_lines(renderable, options, pad=False)

    def _foot(self) -> RenderableType:
        keys = _ENDED if self._question is None else _ASKED
        rows = [Text(self._progress()), _labels(keys)]
        if self._message:
            rows.insert(0, Text(self._message, style=_HINT))
        return Group(*rows)

    def _progress(self) -> str:
        parts = self._session.status()["words"]
        if self._show_leader:
            lead = self._session.lead()
            parts = [*parts, f"A {lead['A']}, B {lead['B']}, ties {lead['tie']}"]
        return "   ".join(parts)

    def _end(self) -> RenderableType:
        summary = self._session.summary()
        details = [f"{name}: {value}" for name, value in summary["details"].items()]
        return Group(
            Text(summary["headline"], style=_STRONG),
            *(Text(f"  {detail}") for detail in details),
            Text(""),
            *(Text(f"Note: {note}", style=_HINT) for note in summary["notes"]),
            Text("Every answer is on disk."),
        )


class _Page:
    """Lines from the top of the window to its bottom, over those that were there."""

    def __init__(self, lines: list[list[Segment]]) -> None:
        self._lines = lines

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> RenderResult:
        yield Control.home()
        for place, line in enumerate(self._lines):
            if place:
                yield Segment.line()
            yield Control((ControlType.ERASE_IN_LINE, 0))
            yield from line


class _Beside:
    """Two texts in columns, with a line between them."""

    def __init__(self, left: Text, right: Text) -> None:
        self._texts = left, right

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> RenderResult:
        width = max(1, (options.max_width - 3) // 2)
        column = options.update(width=width, height=None)
        left, right = (
            console.render_lines(text, column, pad=False) for text in self._texts
        )
        line = Segment("│ ", console.get_style("dim"))
        nothing: list[Segment] = []
        for one, other in zip_longest(left, right, fillvalue=nothing):
            # Spaces for what counts cells, a command for terminals that count others.
            gap = Segment(" " * (width + 1 - Segment.get_line_length(one)))
            there = Control.move_to_column(width + 1).segment
            yield from (*one, gap, there, line, *other, Segment.line())


def _size_of(console: Console) -> ConsoleDimensions:
    """Return the size of the window now; LINES and COLUMNS may be of another."""
    try:
        width, height = os.get_terminal_size(console.file.fileno())
    except OSError:
        return console.size
    # Some lines never say how large they are.
    return ConsoleDimensions(width or 80, height or 24)


def _titles() -> tuple[Text, Text]:
    return _labels({"1": "left"}), _labels({"2": "right"})


def _labels(keys: dict[str, str]) -> Text:
    """Show what the keys do."""
    parts: list[tuple[str, str]] = []
    for key, deed in keys.items():
        parts += [(f" {key} ", "reverse"), (f" {deed}   ", _STRONG)]
    return Text.assemble(*parts)


def _input(question: Question) -> RenderableType:
    parts = []
    if question.input is not None:
        parts += [Text(question.input, style="italic"), Text("")]
    if question.same:
        parts.append(Text("(Both outputs are the same.)", style="dim"))
    return Group(*parts)


def _output(text: str) -> Text:
    return Text(text) if text.strip() else Text("(empty)", style="dim")


def _position(offset: int, hidden: int) -> Text:
    if not hidden:
        return Text("")
    share = offset / hidden
    return Text(
        f"── {share:.0%} ── arrows, space and b scroll ──", style="dim", no_wrap=True
    )
