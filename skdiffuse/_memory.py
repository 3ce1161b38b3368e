"""How much memory there is, before it is taken."""

import os
from pathlib import Path

# Of a container, version 2 and 1 of control groups: the limit, what is used of it, and
# what of that is a cache of files, which is given back when memory is short.
_GROUPS = (
    (
        "/sys/fs/cgroup/memory.max",
        "/sys/fs/cgroup/memory.current",
        "/sys/fs/cgroup/memory.stat",
        "inactive_file",
    ),
    (
        "/sys/fs/cgroup/memory/memory.limit_in_bytes",
        "/sys/fs/cgroup/memory/memory.usage_in_bytes",
        "/sys/fs/cgroup/memory/memory.stat",
        "total_inactive_file",
    ),
)


def check_memory(needed: float, what: str, mend: str) -> None:
    """Raise a MemoryError if something needs more than there is.

    Parameters
    ----------
    needed : float
        Bytes.
    what : str
        What needs them, as the start of a sentence.
    mend : str
        What to do about it.

    Raises
    ------
    MemoryError
        If it is known that there is less.
    """
    free = available_memory()
    if free is not None and needed > free:
        raise MemoryError(
            f"{what} needs {needed / 1e9:.3g} GB of memory, and {free / 1e9:.3g} GB "
            f"are free; {mend}."
        )


def available_memory() -> int | None:
    """Return the bytes that can still be taken, or None if nothing says so."""
    found = [_free_of_machine(), _free_of_process()]
    found += [_free_of_group(*files) for files in _GROUPS]
    return min((free for free in found if free is not None), default=None)


def _free_of_machine() -> int | None:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    try:
        # Elsewhere all of the memory is the best there is to go by.
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def _free_of_process() -> int | None:
    """Return what a limit of the address space (``ulimit -v``) leaves."""
    try:
        import resource

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except (ImportError, OSError, ValueError):
        return None
    if limit == resource.RLIM_INFINITY:
        return None
    return max(limit - pages * resource.getpagesize(), 0)


def _free_of_group(limit: str, used: str, stat: str, cache: str) -> int | None:
    try:
        free = int(Path(limit).read_text()) - int(Path(used).read_text())
        entries = dict(line.split() for line in Path(stat).read_text().splitlines())
        return max(free + int(entries.get(cache, 0)), 0)
    except (OSError, ValueError):
        # No such file, or no limit ("max").
        return None
