"""An oracle that is a program: asked by a question, and what it said is kept."""

import hashlib
import json
import math
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from skdiffuse.cli import _files
from skdiffuse.cli._pairs import Pairs

_LONGEST_WAIT = 60  # seconds between two tries
_LONGEST_TIMEOUT = 24 * 60 * 60
_SHOWN = 200  # characters of what a program said
_MOST_PRINTED = 10_000_000  # bytes of an answer
_TAIL = 10_000  # bytes of the end of stderr that are looked at
_MOST_LOGGED = 100_000_000  # bytes on stderr
_STEP = 0.1  # seconds between two looks at what a program does
_PATIENCE = 1.0  # seconds for what its children print after it has ended
_LINE_STARTS = b'{"key": "'
_LINE_GOES_ON = b'", "preference": '


class _Failure(Exception):  # noqa: N818 - no error yet: it is asked again
    """Why a program gave no answer this time."""


def split(command: str, *, posix: bool = os.name != "nt") -> list[str]:
    """Split a command line into a program, which is there, and its arguments."""
    try:
        words = shlex.split(command, posix=posix)
    except ValueError as error:
        raise ValueError(
            f"--oracle-command {command!r} cannot be split into words "
            f"({str(error).lower()}); close what is open."
        ) from error
    if not posix:
        words = [_unquoted(word) for word in words]
    if not words:
        raise ValueError(
            "--oracle-command is empty; name a program and its arguments, for example "
            "'python judge.py'."
        )
    if shutil.which(words[0]) is None:
        raise ValueError(
            f"--oracle-command: there is no program {words[0]!r} that can be started; "
            "give its path, or put before it what runs it, as in 'python judge.py'."
        )
    return words


def check_timeout(timeout: float) -> None:
    """Raise a ValueError unless a program can be waited for so long."""
    if not 0 < timeout <= _LONGEST_TIMEOUT:
        raise ValueError(
            f"--timeout {timeout:g} is not between 0 and {_LONGEST_TIMEOUT} seconds; "
            "give, for example, 60."
        )


def read_answer(printed: bytes) -> tuple[float, dict[str, Any]]:
    """Read a preference and the remarks beside it; NaN is no preference."""
    try:
        text = printed.decode("utf-8").strip()
        if not text.startswith("{"):
            return _files.preference(text), {}
        # JSON has no NaN, so that the remarks may not have one either.
        remarks = json.loads(text, parse_constant=str, parse_float=_finite)
    except (ValueError, RecursionError):
        return float("nan"), {}
    return _files.preference(remarks.pop("preference", None)), remarks


def _finite(text: str) -> float | str:
    """Read a number of JSON; one that is too large stays text."""
    number = float(text)
    return number if math.isfinite(number) else text


class AnswerFile:
    """Answers on disk: one JSON object a line, added to and never written over.

    Several processes may add to it at once, and each sees the answers of the others.

    Parameters
    ----------
    path : Path
        The file; it is made if it is not there.
    """

    def __init__(self, path: Path) -> None:
        if os.path.exists(path) and not path.is_file():
            raise ValueError(
                f"the cache {path} is no plain file; name another file with --cache."
            )
        self.path = path
        self._answers: dict[str, float] = {}
        self._end = 0
        self._n_lines = 0
        self.get("")  # says what is wrong with the file before anything is paid for

    def get(self, key: str) -> float | None:
        """Return the answer with that key, if there is one."""
        with self._open() as file:
            self._catch_up(file)
        return self._answers.get(key)

    def add(self, key: str, preference: float, about: dict[str, Any]) -> float:
        """Write an answer to the disk; return the one that counts.

        Where several processes asked the same at once, that is the first.
        """
        answer = {"key": key, "preference": preference, **about}
        # Half of a character is written as its escape, as JSON knows it.
        line = json.dumps(answer, ensure_ascii=False).encode(errors="backslashreplace")
        with self._open() as file:
            self._catch_up(file)
            file.write(line + b"\n")
            file.flush()
            os.fsync(file.fileno())
        return self._answers.setdefault(key, preference)

    @contextmanager
    def _open(self) -> Iterator[IO[bytes]]:
        try:
            with self.path.open("a+b") as file, _locked(file):
                yield file
        except OSError as error:
            raise ValueError(
                f"the cache {self.path} cannot be written ({error.strerror or error}); "
                "mend that, or name another file with --cache: the same command goes "
                "on from the answers that are in it."
            ) from error

    def _catch_up(self, file: IO[bytes]) -> None:
        """Read the lines that are new, and cut off one that was not written to end."""
        file.seek(self._end)
        *lines, rest = file.read().split(b"\n")
        for line in lines:
            self._take(line)
        if not rest:
            return
        if _is_json(rest):
            self._take(rest)
            file.write(b"\n")
        elif _is_start(rest):
            file.truncate(self._end)
        else:
            raise self._fault(self._n_lines + 1)

    def _take(self, line: bytes) -> None:
        """Read a line, and remember that it was."""
        self._n_lines += 1
        self._read(line)
        self._end += len(line) + 1

    def _read(self, line: bytes) -> None:
        try:
            answer = json.loads(line)
            key, preference = answer["key"], answer["preference"]
        except (ValueError, RecursionError, TypeError, KeyError):
            raise self._fault(self._n_lines) from None
        number = type(preference) in (int, float) and abs(preference) <= 1
        if not isinstance(key, str) or not number:
            raise self._fault(self._n_lines)
        self._answers.setdefault(key, float(preference))

    def _fault(self, number: int) -> ValueError:
        return ValueError(
            f"{self.path}, line {number} is not an answer of --oracle-command; delete "
            "that line, or name another file with --cache."
        )


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _is_start(line: bytes) -> bool:
    """Tell whether an answer starts so: nothing else may be thrown away."""
    key = re.match(rb"[0-9a-f]*", line[len(_LINE_STARTS) :])
    expected = _LINE_STARTS + (key[0] if key else b"") + _LINE_GOES_ON
    return expected[: len(line)] == line[: len(expected)]


@dataclass
class CommandOracle:
    """A program that is asked for the preferences of rows, one question after another.

    Parameters
    ----------
    words : list of str
        The program and its arguments.
    pairs : Pairs
        What it judges.
    answers : AnswerFile
        What it said before.
    swap : bool
        Whether each row is asked for in both orders of its outputs.
    retries : int
        How often a question is asked again.
    timeout : float
        Seconds for an answer.
    advance : callable
        Told after each row how many are done.
    """

    words: Sequence[str]
    pairs: Pairs
    answers: AnswerFile
    swap: bool
    retries: int
    timeout: float
    advance: Callable[[int], None] = lambda done: None

    def __post_init__(self) -> None:
        self.n_asked = 0
        self.n_cached = 0
        self._orders: list[tuple[float, float]] = []
        self._n_rows = 0

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        """Return the preferences of some rows."""
        try:
            return np.array([self._preference(int(row)) for row in rows])
        except KeyboardInterrupt:
            raise ValueError(
                f"interrupted; the answers so far are in {self.answers.path}, and the "
                "same command goes on from there."
            ) from None

    def add_to(self, result: dict[str, Any]) -> None:
        """Add to a result what was asked, and how well the two orders agreed."""
        cache = str(self.answers.path)
        asked: dict[str, Any] = {
            "n_asked": self.n_asked,
            "n_cached": self.n_cached,
            "cache": cache,
        }
        result["details"]["oracle"] = (
            f"{self.n_asked} questions asked, {self.n_cached} answered from {cache}"
        )
        if self.swap:
            both = np.array(self._orders).reshape(-1, 2)
            first = int((both > 0).all(axis=1).sum())
            second = int((both < 0).all(axis=1).sum())
            asked |= {"first_won_twice": first, "second_won_twice": second}
            where = (
                f" (what was shown first won both times in {first}, what was shown "
                f"second in {second})"
            )
            result["notes"].append(
                f"The two orders contradicted each other in {first + second} of "
                f"{len(both)} judged examples whose outputs differ"
                f"{where if first + second else ''}; the mean of both counts."
            )
        result["oracle"] = asked

    def _preference(self, row: int) -> float:
        question: dict[str, str | None] = {}
        if self.pairs.inputs is not None:
            question["input"] = self.pairs.inputs[row]
        a, b = self.pairs.texts_a[row], self.pairs.texts_b[row]
        about: dict[str, Any] = {"row": row}
        preference = self._answer(about, question | {"output_a": a, "output_b": b})
        if self.swap:
            about["swapped"] = True
            swapped = self._answer(about, question | {"output_a": b, "output_b": a})
            if a != b:
                self._orders.append((preference, swapped))
            preference = (preference - swapped) / 2
        self._n_rows += 1
        self.advance(self._n_rows)
        return preference

    def _answer(self, about: dict[str, Any], question: dict[str, Any]) -> float:
        """Look an answer up, or ask for it and keep it."""
        key = _key(self.words, question)
        known = self.answers.get(key)
        if known is not None:
            self.n_cached += 1
            return known
        preference, remarks = self._ask(about["row"], question)
        self.n_asked += 1
        if remarks:
            about = about | {"remarks": remarks}
        return self.answers.add(key, preference, about)

    def _ask(self, row: int, question: dict[str, Any]) -> tuple[float, dict[str, Any]]:
        """Ask until there is an answer that can be read."""
        # ASCII, which no encoding of the program garbles.
        text = json.dumps({"row": row, **question}) + "\n"
        for failures in range(self.retries + 1):
            try:
                return ask_once(self.words, text.encode(), self.timeout)
            except _Failure as failure:
                reason = str(failure)
            if failures < self.retries:
                wait(min(2**failures, _LONGEST_WAIT))
        times = "once" if self.retries == 0 else f"{self.retries + 1} times"
        raise ValueError(
            f"--oracle-command was asked {times} for row {row} (counted from zero) and "
            f"{reason}. The answers so far are in {self.answers.path}: mend the "
            "program, and the same command goes on from there."
        )


def ask_once(
    words: Sequence[str], question: bytes, timeout: float
) -> tuple[float, dict[str, Any]]:
    """Start the program for one question; return the preference and its remarks."""
    # Files and no pipes: what a program prints without end, or the children that it
    # leaves behind, can neither fill the memory nor be waited for.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        streams = _Streams(Path(folder))
        streams.asked.write_bytes(question)
        _run(words, streams, timeout)
        return streams.answer()


@dataclass(frozen=True)
class _Streams:
    """Where a program reads its question, and where it prints."""

    folder: Path

    @property
    def asked(self) -> Path:
        return self.folder / "stdin"

    @property
    def out(self) -> Path:
        return self.folder / "stdout"

    @property
    def err(self) -> Path:
        return self.folder / "stderr"

    def check_sizes(self) -> None:
        """Raise a failure if a program prints without end."""
        for path, most in ((self.out, _MOST_PRINTED), (self.err, _MOST_LOGGED)):
            if path.stat().st_size > most:
                where = "" if path == self.out else " on stderr"
                raise _Failure(
                    f"printed more than {most // 1_000_000} MB{where}{self.last_line()}"
                )

    def answer(self) -> tuple[float, dict[str, Any]]:
        """Return what was printed by the program, or soon after by its children."""
        end = time.monotonic() + _PATIENCE
        while True:
            self.check_sizes()
            said = self.out.read_bytes()
            preference, remarks = read_answer(said)
            if abs(preference) <= 1:
                return preference, remarks
            if time.monotonic() > end:
                break
            time.sleep(_STEP)
        raise _Failure(
            f"printed {_shown(said) or 'nothing'} where A, B, tie, a number in "
            '[-1, 1], or a JSON object with one of them as "preference" was due'
            f"{self.last_line()}"
        )

    def last_line(self) -> str:
        """Quote the last line of what was said on stderr."""
        with self.err.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(size - _TAIL, 0))
            lines = [line for line in file.read().splitlines() if line.strip()]
        return f" (last line of stderr: {_shown(lines[-1])})" if lines else ""


def _run(words: Sequence[str], streams: _Streams, timeout: float) -> None:
    """Run a program to its end, or end it."""
    with (
        streams.asked.open("rb") as asked,
        streams.out.open("wb") as out,
        streams.err.open("wb") as err,
    ):
        try:
            process = subprocess.Popen(
                words, stdin=asked, stdout=out, stderr=err, start_new_session=True
            )
        except OSError as error:
            raise _Failure(f"could not be started ({error.strerror})") from error
    try:
        code = _code(process, streams, timeout)
    except BaseException:  # Ctrl-C, too
        _kill(process)
        raise
    if code < 0:
        raise _Failure(f"was ended by signal {-code}{streams.last_line()}")
    if code:
        raise _Failure(f"failed with exit code {code}{streams.last_line()}")


def _code(process: subprocess.Popen, streams: _Streams, timeout: float) -> int:
    """Wait for the exit code of a program."""
    end = time.monotonic() + timeout
    while True:
        try:
            return process.wait(min(_STEP, max(end - time.monotonic(), 0)))
        except subprocess.TimeoutExpired:
            streams.check_sizes()
        if time.monotonic() >= end:
            raise _Failure(
                f"gave no answer in {timeout:g} seconds{streams.last_line()}"
            )


def wait(seconds: float) -> None:
    """Wait before a question is asked again."""
    time.sleep(seconds)


def _key(words: Sequence[str], question: dict[str, Any]) -> str:
    """Return what stands for a question to a program: the row does not matter."""
    text = json.dumps([list(words), question], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _unquoted(word: str) -> str:
    quoted = len(word) > 1 and word[0] == word[-1] and word[0] in "\"'"
    return word[1:-1] if quoted else word


def _kill(process: subprocess.Popen) -> None:
    """End a program and all that it started."""
    if sys.platform == "win32":
        tree = ["taskkill", "/F", "/T", "/PID", str(process.pid)]
        subprocess.run(tree, capture_output=True, check=False)
    else:
        with suppress(OSError):  # it may have ended by itself
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@contextmanager
def _locked(file: IO[bytes]) -> Iterator[None]:
    """Keep other processes out; a process that dies lets go by itself."""
    if sys.platform == "win32":
        import msvcrt

        beyond = 2**30  # what is locked there can be read by nobody
        file.seek(beyond)
        msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
        try:
            yield
        finally:
            file.seek(beyond)
            msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _shown(said: bytes) -> str:
    """Quote the start of what a program said, in one line and without colours."""
    text = said[: 4 * _SHOWN].decode("utf-8", errors="backslashreplace")
    text = " ".join(text.split())
    text = "".join(sign for sign in text if sign.isprintable())
    short = text if len(text) <= _SHOWN else text[:_SHOWN] + "..."
    return f"'{short}'" if short else ""
