"""Time and memory of calls that do the same, in turn in one fresh process."""

import ctypes
import os
import statistics
import threading
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path


@dataclass(frozen=True)
class Part:
    """Calls to compare.

    Attributes
    ----------
    name : str
        What is done, with its size.
    make : callable
        ``make(quick)`` returns the calls by their names; the first is the one that the
        others are compared with. A function of a module, so that another process finds
        it. With `quick` the sizes are small.
    rounds : int
        How often each is called, after one call that does not count.
    check : callable or None
        Takes what the calls returned, by their names, and raises if they disagree.
    """

    name: str
    make: Callable
    rounds: int = 5
    check: Callable | None = None


def measure(part, quick=False):
    """Return a record of each call of a part.

    The seconds are medians, the ratio of times is the median over the rounds: both
    calls of a round see the same machine. Megabytes are the largest growth of the
    process while a call ran, beyond what was there before.
    """
    if quick:
        return _measured(part, quick)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(_measured, part, quick).result()


def _measured(part, quick):
    calls = part.make(quick)
    results, megabytes, times = {}, {}, {}
    for name, call in calls.items():
        results[name], seconds, megabytes[name] = _call(call)
        times[name] = [seconds] if quick else []
    if part.check:
        part.check(results)
    del results
    for _ in range(0 if quick else part.rounds):
        for name, call in calls.items():
            _, seconds, grown = _call(call)
            times[name].append(seconds)
            megabytes[name] = max(megabytes[name], grown)
    reference = next(iter(calls))
    return [
        {
            "part": part.name,
            "what": name,
            "seconds": statistics.median(times[name]),
            "megabytes": megabytes[name],
            "time": statistics.median(
                mine / theirs
                for mine, theirs in zip(times[name], times[reference], strict=True)
            ),
            # A megabyte is about what a process grows by for nothing.
            "memory": (megabytes[name] + 1) / (megabytes[reference] + 1),
        }
        for name in calls
    ]


def _call(call):
    before = _forget_peak()
    start = time.perf_counter()
    result = call()
    seconds = time.perf_counter() - start
    return result, seconds, max(_kilobytes("VmHWM") - before, 0) / 1024


def _forget_peak():
    """Give freed memory back, so that the next call cannot hide in it."""
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")
    return _kilobytes("VmRSS")


def _kilobytes(entry):
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(entry + ":"):
            return int(line.split()[1])
    raise OSError(f"/proc/self/status has no {entry}")


class PeakOfProcesses:
    """The most memory that this process and those it started held at once.

    Attributes
    ----------
    megabytes : float
        Of what is not shared between them, looked at ten times a second.
    """

    def __enter__(self):
        """Start to look."""
        self.megabytes = 0.0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_):
        """Stop."""
        self._done.set()
        self._thread.join()

    def _look(self):
        while not self._done.wait(0.1):
            pages = sum(map(_own_pages, _family(os.getpid())))
            self.megabytes = max(
                self.megabytes, pages * os.sysconf("SC_PAGE_SIZE") / 2**20
            )


def _own_pages(process):
    try:
        _, resident, shared, *_ = Path(f"/proc/{process}/statm").read_text().split()
    except OSError:
        return 0
    return int(resident) - int(shared)


def _family(process):
    """Return a process and all that came of it."""
    found = [process]
    for member in found:
        for path in Path(f"/proc/{member}/task").glob("*/children"):
            try:
                found += map(int, path.read_text().split())
            except OSError:
                continue
    return found
