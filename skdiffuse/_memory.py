"""How much memory there is, before it is taken."""

import os
from pathlib import Path

# Limits of a container, and what is used of them: version 2 and 1 of control groups.
_GROUPS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    (
        "/sys/fs/cgroup/memory/memory.limit_in_bytes",
        "/sys/fs/cgroup/memory/memory.usage_in_bytes",
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
    found = [_free_of_machine(), *(_free_of_group(*files) for files in _GROUPS)]
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


def _free_of_group(limit: str, used: str) -> int | None:
    try:
        return max(int(Path(limit).read_text()) - int(Path(used).read_text()), 0)
    except (OSError, ValueError):
        # No such file, or no limit ("max").
        return None
