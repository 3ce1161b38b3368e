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
}
_WINDOWS = {
    "\xe0H": "up",
    "\xe0P": "down",
    "\xe0I": "page up",
    "\xe0Q": "page down",
    "\xe0G": "home",
    "\xe0O": "end",
}
# A mouse, a key with a name, what a terminal reports, Alt with a key; then letters.
_KEY = re.compile(
    "\x1b\\[M.{3}|\x1b\\[[0-?]*[ -/]*[@-~]|\x1b[]P_^X].*?(?:\x07|\x1b\\\\)"
    "|\x1bO.|\x1b[^\x1b]|.",
    re.DOTALL,
)
_UNFINISHED = re.compile(
    "\x1b(?:\\[M.{0,2}|\\[[0-?]*[ -/]*|[]P_^X][^\x07]*|O)?$", re.DOTALL
)
_REST_COMES = 0.05  # seconds


def names(typed: str) -> list[str]:
    """Split what was typed into keys: letters and digits, or names such as "up"."""
    return [_ESCAPES.get(key, key.lower()) for key in _KEY.findall(typed)]


def _windows_names(typed: str) -> list[str]:
    return [_WINDOWS[typed]] if typed in _WINDOWS else names(typed)


@contextmanager
def reader() -> Iterator[Callable[[], list[str]]]:
    """Let keys be read as they are pressed, and none be shown.

    The function waits for a key, and returns all that were pressed by then: none when
    the terminal is gone, "resize" when the window has changed.
    """
    if sys.platform == "win32":
        import typer

        yield lambda: _windows_names(typer.getchar())
        return
    import termios
    import tty

    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    woken, wake = os.pipe()
    handlers = {
        # The handler must not draw: it may come in the middle of taking an answer.
        number: signal.signal(number, lambda *_: os.write(wake, b"r"))
        for number in (signal.SIGWINCH, signal.SIGCONT)
    }

    def listen() -> None:
        tty.setcbreak(terminal, termios.TCSANOW)
        mode = termios.tcgetattr(terminal)
        # Ctrl-Z would leave the shell with this screen.
        mode[6][termios.VSUSP] = b"\x00"
        termios.tcsetattr(terminal, termios.TCSANOW, mode)

    def read() -> list[str]:
        ready, _, _ = select.select([terminal, woken], [], [])
        if woken in ready:
            os.read(woken, 1024)
            # Whoever stopped and continued the program may have changed the terminal.
            listen()
            return ["resize"]
        return names(_typed(terminal))

    try:
        listen()
        yield read
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)
        os.close(wake)
        os.close(woken)


def _typed(terminal: int) -> str:
    """Read what was typed; the rest of a key that comes in parts is waited for."""
    typed = b""
    while True:
        try:
            part = os.read(terminal, 1024)
        except OSError:
            part = b""
        typed += part
        text = typed.decode("utf-8", "replace")
        if not part or not _UNFINISHED.search(text):
            return text
        if not select.select([terminal], [], [], _REST_COMES)[0]:
            return _UNFINISHED.sub("", text)
