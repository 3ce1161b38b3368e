"""One process a file of answers, however it ends."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def only_one(path: Path) -> Iterator[None]:
    """Hold a lock beside `path`, which the system gives back when the process ends.

    Raises
    ------
    ValueError
        If another process holds it.
    """
    # Another name of the same file is no other file.
    path = path.resolve()
    lock = path.with_name(f".{path.name}.lock")
    while True:
        handle = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            _take(handle)
        except OSError as error:
            os.close(handle)
            raise ValueError(
                f"{path} is open in another annotation; end that one, work in the same "
                "browser page together, or give another --log."
            ) from error
        with suppress(FileNotFoundError):
            if os.stat(lock).st_ino == os.fstat(handle).st_ino:
                break
        # The one before has just put it away.
        os.close(handle)
    try:
        yield
    finally:
        with suppress(OSError):
            lock.unlink()
        os.close(handle)


def _take(handle: int) -> None:
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
