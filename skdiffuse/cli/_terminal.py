"""What a command does in the terminal: run, fail in one line, show, and wait."""

import json
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from skdiffuse.cli._selectors import Stage

_INTERRUPTED = 130  # what typer returns for Ctrl-C


def run(command: Any, arguments: Sequence[str] | None) -> int:
    """Run a command; an error is one line on stderr and exit code 2."""
    # A terminal of another encoding shows what it can; a closed stream shows nothing.
    sys.stdout, sys.stderr = (_lenient(stream) for stream in (sys.stdout, sys.stderr))
    try:
        with _ended_like_ctrl_c(), _notes():
            code = command.main(
                arguments if arguments is None else list(arguments),
                prog_name="skdiffuse",
                standalone_mode=False,
            )
        sys.stdout.flush()
        if code == _INTERRUPTED:
            return _fail("interrupted")
        return code if isinstance(code, int) else 0
    except (BrokenPipeError, SystemExit):
        # The reader (say, `head`) has left, which rich answers by SystemExit; Python
        # must not write to it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (KeyboardInterrupt, typer.Abort):
        return _fail("interrupted")
    except OSError as error:
        return _fail(_reason(error))
    except ValueError as error:
        return _fail(str(error))
    except MemoryError:
        return _fail(
            "out of memory; give fewer or shorter examples. Where a tree of the "
            "differences is built (8 n² bytes for n rows, up to 0.8 GB), --clustering "
            "kmeans needs none."
        )
    except Exception as error:
        if hasattr(error, "format_message"):  # what typer says of the arguments
            return _fail(error.format_message())
        return _fail(f"unexpected {type(error).__name__}: {error}; please report it.")


def show(result: dict[str, Any], as_json: bool, report: Callable) -> None:
    """Print a result for machines or for people."""
    if as_json:
        print(json.dumps(result, allow_nan=False))
    else:
        console = Console(highlight=False)
        # Below this width a table has no room for its numbers; the terminal wraps it.
        console.width = max(console.width, 76)
        report(console, result)


@contextmanager
def _ended_like_ctrl_c() -> Iterator[None]:
    """Let what asks a process to end do so in order, with the programs it started."""
    before = {}
    if threading.current_thread() is threading.main_thread():
        for name in ("SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            # Whoever ignores one, as nohup does, means it.
            if number is not None and signal.getsignal(number) == signal.SIG_DFL:
                before[number] = signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _notes() -> Iterator[None]:
    """Print warnings of this package as notes at the end, each once.

    They name arguments of Python.
    """
    found: dict[str, None] = {}
    usual = warnings.showwarning

    def keep(message: Any, category: type[Warning], *rest: Any) -> None:
        if category.__module__.startswith("skdiffuse."):
            found[" ".join(str(message).split())] = None
        else:
            usual(message, category, *rest)

    warnings.showwarning = keep  # type: ignore[assignment]
    try:
        yield
    finally:
        warnings.showwarning = usual
        with suppress(OSError):
            for note in found:
                print(
                    f"skdiffuse: note, in the words of Python: {note}", file=sys.stderr
                )


@contextmanager
def progress() -> Iterator[Stage]:
    """Show a bar a stage on stderr, where that is a terminal."""
    columns = TextColumn("{task.description}"), BarColumn()
    console = Console(stderr=True)
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as bars:

        def stage(description: str) -> Callable[[int, int], None]:
            task = bars.add_task(description, total=None)

            def advance(done: int, total: int) -> None:
                bars.update(task, completed=done, total=total)

            return advance

        yield stage


def _lenient(stream: Any) -> Any:
    if stream is None:
        return open(os.devnull, "w", encoding="utf-8")
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="backslashreplace")
    return stream


def _reason(error: OSError) -> str:
    """Say which file the system did not give, and what to look at."""
    if error.filename is None:
        return str(error)
    return (
        f"{error.filename}: {error.strerror}; see whether it is there, and whether you "
        "may read and write it."
    )


def _fail(message: str) -> int:
    with suppress(OSError):  # the terminal may be gone
        print("skdiffuse: error:", " ".join(message.split()), file=sys.stderr)
    return 2
