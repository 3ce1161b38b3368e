"""A command in a terminal that a test can read and type into."""

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time

import pyte

_PATIENCE = 60.0
_HELD = 0.75


class Terminal:
    """Run a command in a pseudo-terminal and keep what its screen shows."""

    def __init__(self, *arguments, columns=100, lines=30, stdout=None, cwd=None):
        self.screen = pyte.Screen(columns, lines)
        self._stream = pyte.ByteStream(self.screen)
        self._pressed, self._fresh = {}, None
        self._master, slave = pty.openpty()
        self.resize(columns, lines)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "skdiffuse", *map(str, arguments)],
            stdin=slave,
            stdout=slave if stdout is None else stdout,
            stderr=slave,
            start_new_session=True,
            cwd=cwd,
            env=os.environ | {"TERM": "xterm-256color", "OPENBLAS_NUM_THREADS": "1"},
        )
        os.close(slave)

    def resize(self, columns, lines):
        size = struct.pack("HHHH", lines, columns, 0, 0)
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, size)
        self.screen.resize(lines, columns)
        if hasattr(self, "process"):
            os.kill(self.process.pid, signal.SIGWINCH)

    def type(self, keys):
        """Press keys; the same one again late enough not to be one that is held."""
        since = time.monotonic() - self._pressed.get(keys, 0.0)
        time.sleep(max(0.0, _HELD - since))
        self._fresh = keys
        self._pressed[keys] = time.monotonic()
        self.press(keys)

    def press(self, keys):
        os.write(self._master, keys.encode())

    @property
    def text(self):
        return "\n".join(line.rstrip() for line in self.screen.display)

    def until(self, condition):
        """Wait until a text is on the screen, or a condition of it holds."""
        if isinstance(condition, str):
            wanted = condition
            condition = lambda text: wanted in text  # noqa: E731
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            # A screen that is being drawn says nothing yet.
            while self._read(0.1):
                pass
            if condition(self.text) or self.process.poll() is not None:
                break
        assert condition(self.text), self.text
        # The program may have seen the key later than it was pressed, not after this.
        if self._fresh is not None:
            self._pressed[self._fresh], self._fresh = time.monotonic(), None
        return self.text

    def kill(self):
        self.process.kill()
        self.close()

    def close(self):
        """Wait for the end of the command; return its exit code."""
        if self._master is None:
            return self.process.wait()
        end = time.monotonic() + _PATIENCE
        while self.process.poll() is None and time.monotonic() < end:
            self._read(0.1)
        while self._read(0.1):
            pass
        os.close(self._master)
        self._master = None
        return self.process.wait(timeout=1)

    def _read(self, seconds):
        ready, _, _ = select.select([self._master], [], [], seconds)
        if not ready:
            return False
        try:
            data = os.read(self._master, 65536)
        except OSError:
            # The other side is closed.
            return False
        # The emulator knows no second screen: what was on it goes when it is left.
        *shown, last = data.split(b"\x1b[?1049l")
        for part in shown:
            self._stream.feed(part)
            self.screen.reset()
        self._stream.feed(last)
        return bool(data)
