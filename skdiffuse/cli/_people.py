"""People who are asked: in this terminal, or on a page."""

import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from rich.console import Console

if TYPE_CHECKING:
    from skdiffuse.annotation import Session

Show = Callable[["Session"], None]


def on_screen(show_leader: bool) -> Show:
    """Return what asks in this terminal."""
    from skdiffuse.annotation._keys import reader
    from skdiffuse.annotation._screen import Screen

    # Standard output is for the result.
    console = Console(stderr=True, highlight=False)
    if sys.stdin is None or not (sys.stdin.isatty() and console.is_terminal):
        raise ValueError(
            "annotate needs a terminal to ask in, and this is none; give --web for a "
            "page in the browser."
        )

    def show(session: "Session") -> None:
        # Ctrl-C quits like q: every answer is on disk.
        with suppress(KeyboardInterrupt), reader() as read:
            Screen(session, console, read, show_leader=show_leader).run()

    return show


def on_page(port: int, show_leader: bool) -> Show:
    """Return what asks on a page, until it is told to end."""
    try:
        from skdiffuse.annotation._web import served
    except ModuleNotFoundError as error:
        raise ValueError(
            "--web needs its extra; install it with: pip install 'skdiffuse[web]'."
        ) from error

    def show(session: "Session") -> None:
        with served(session, port, show_leader=show_leader) as address:
            print(
                f"Open this address in a browser on this machine: {address}\n"
                "Several people may judge at once, each in a window. Ctrl-C ends; each "
                "answer is on disk at once.",
                file=sys.stderr,
                flush=True,
            )
            _wait_for_the_end()

    return show


def _wait_for_the_end() -> None:
    """Wait for Ctrl-C, or for what else asks a program to end."""
    ended = threading.Event()
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        # `nohup` has a closed terminal ignored; a shell has Ctrl-C ignored in the
        # background, where whoever sends it means it.
        ignored = number and signal.getsignal(number) == signal.SIG_IGN
        if number and not (ignored and name == "SIGHUP"):
            signal.signal(number, lambda *_: ended.set())
    # In Windows a wait without an end cannot be interrupted.
    while not ended.wait(1.0):
        pass
