"""What the README says of two files of outputs, done as it says."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from skdiffuse.datasets import load_digit_captions

if sys.platform == "win32":
    pytest.skip("needs a pseudo-terminal", allow_module_level=True)

from terminal import Terminal

README = Path(__file__).resolve().parents[1] / "README.md"
N = 150


def test_two_files_of_outputs_become_a_verdict(tmp_path):
    section = README.read_text(encoding="utf-8").split("\n## ")[2]
    steps, promised = re.findall(r"```(?:sh|text)\n(.*?)```", section, flags=re.S)[:2]
    join, annotate = [shlex.split(step)[1:] for step in steps.splitlines()]
    captions = load_digit_captions()
    inputs = [f"image {i}" for i in range(N)]
    for name, texts in (("a", captions.text_a), ("b", captions.text_b)):
        table = pl.DataFrame({"input": inputs, "output": list(texts[:N])})
        # In any order.
        table.sample(N, shuffle=True, seed=ord(name)).write_ndjson(
            tmp_path / f"{name}.jsonl"
        )
    command = [sys.executable, "-m", "skdiffuse"]
    subprocess.run([*command, *join], cwd=tmp_path, check=True, capture_output=True)
    terminal = Terminal(*annotate, cwd=tmp_path)
    try:
        verdict = judge(terminal, captions)
    finally:
        terminal.kill()
    assert promised.strip() in verdict


def judge(terminal, captions):
    """Answer each question by the truth; return what stays on the screen."""
    n_judged = 0
    while True:
        text = terminal.until(
            lambda text, n=n_judged: f"{n} judged" in text or "better." in text
        )
        if "better." in text:
            break
        terminal.type(key_of(text, captions))
        n_judged += 1
    terminal.type("q")
    assert terminal.close() == 0
    return terminal.text


def key_of(text, captions):
    """Return the key of the better caption, by which side shows that of A."""
    lines = text.splitlines()
    row = int(lines[0].removeprefix("image "))
    truth = captions.preference[row]
    if truth == 0:
        return "0"
    left = " ".join(line.split("│")[0].strip() for line in lines if "│" in line)
    a_is_left = np.any(captions.text_a[row] in left)
    return "1" if a_is_left == (truth > 0) else "2"
