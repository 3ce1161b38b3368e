"""Keys from a terminal, one after the other, without Enter."""

import os
import re
import select
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_ESCAPES = {
    "\x1b[A": "up",
    "\x1b[B": "down",
    "\x1b[5~": "page up",
    "\x1b[6~": "page down",
    "\x1b[H": "home",
    "\x1b[F": "end",
    "\x1b[1~": "home",
    "\x1b[4~": "end",
    "\x1bOA": "up",
    "\x1bOB": "down",
    "\x1bOH": "home",
    "\x1bOF": "end",
    "\r": "enter",
    "\n": "enter",
    # What Windows sends for the same keys.
    "\xe0H": "up",
    "\xe0P": "down",
    "\xe0I": "page up",
    "\xe0Q": "page down",
    "\xe0G": "home",
    "\xe0O": "end",
}
_KEY = re.compile("\x1b\\[[0-9;?]*[@-~]|\x1bO.|\xe0.|.", re.DOTALL)


def names(typed: str) -> list[str]:
    """Split what was typed into keys: letters and digits, or names such as "up"."""
    return [_ESCAPES.get(key, key.lower()) for key in _KEY.findall(typed)]


@contextmanager
def reader() -> Iterator[Callable[[], list[str]]]:
    """Let keys be read as they are pressed, and none be shown.

    The function waits for a key, and returns all that were pressed by then: none when
    the terminal is gone, "resize" when the window has changed.
    """
    if sys.platform == "win32":
        import typer

        yield lambda: names(typer.getchar())
        return
    import termios
    import tty

    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    woken, wake = os.pipe()
    tty.setcbreak(terminal)
    # The handler must not draw: it may come in the middle of taking an answer.
    resized = signal.signal(signal.SIGWINCH, lambda *_: os.write(wake, b"r"))

    def read() -> list[str]:
        ready, _, _ = select.select([terminal, woken], [], [])
        if woken in ready:
            os.read(woken, 1024)
            return ["resize"]
        try:
            return names(os.read(terminal, 1024).decode("utf-8", "replace"))
        except OSError:
            return []

    try:
        yield read
    finally:
        signal.signal(signal.SIGWINCH, resized)
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)
        os.close(wake)
        os.close(woken)
