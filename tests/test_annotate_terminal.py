"""The command `annotate` in a terminal, as a person meets it."""

import json
import signal
import sys

import numpy as np
import polars as pl
import pytest
from annotated import answers_of, log_of, write_outputs

from skdiffuse.comparison import read_remarks

if sys.platform == "win32":
    pytest.skip("needs a pseudo-terminal", allow_module_level=True)

from terminal import Terminal

LONG = " ".join(f"word{i}" for i in range(2500))
HOSTILE = {
    "ansi": "\x1b[2J\x1b[31mred\x1b[0m \x07 \x9b5n",
    "html": "<script>alert(1)</script><b>bold</b>",
    "rtl": "مرحبا بالعالم",
    "emoji": "👩‍👩‍👧‍👦 🎉",
    "markup": "[bold]not bold[/bold] [/]",
    "empty": "",
    "lines": "one\r\ntwo\u2028three\tfour",
    "long": LONG,
}


@pytest.fixture
def annotate():
    """Start the command in a terminal; whatever happens, it ends with the test."""
    terminals = []

    def annotate(*arguments, **size):
        terminals.append(Terminal("annotate", *arguments, **size))
        return terminals[-1]

    yield annotate
    for terminal in terminals:
        terminal.kill()


@pytest.fixture
def file(tmp_path):
    return write_outputs(tmp_path, 100)


def test_answer_skip_undo_quit_and_resume(annotate, file):
    terminal = annotate(file)
    first = terminal.until("0 judged")
    assert "at most 100 more" in first
    assert " 1  left" in first
    assert " 2  right" in first
    terminal.type("1")
    terminal.until("1 judged")
    terminal.type("0")
    second = terminal.until("2 judged")
    terminal.type("s")
    terminal.until("1 skipped")
    terminal.type("u")
    text = terminal.until("The last answer is taken back.")
    assert "skipped" not in text
    assert text.splitlines()[0] == second.splitlines()[0]
    terminal.type("x2")
    terminal.until("3 judged")
    terminal.type("q")
    assert terminal.close() == 0
    text = terminal.text
    assert "Not decided yet." in text
    assert "the same command goes on" in text
    # Who goes on later must not be swayed.
    assert "wins" not in text
    told = answers_of(file)
    assert [line["answer"] for line in told] == ["left", "tie", "right"]
    assert {line["annotator"] for line in told} == {"terminal"}
    again = annotate(file)
    again.until("3 judged")
    again.type("u")
    again.until("2 judged")
    # What is typed ahead, or by a held key, is no answer to a pair that nobody saw.
    again.type("111")
    for _ in range(20):
        again.press("1")
    again.until("3 judged")
    # Nor is what a mouse or the terminal sends.
    again.press("\x1b[<0;1;2M\x1b[M 1s\x1b]11;rgb:0/1/2\x07\x1b1\x1a")
    again.type("q")
    assert again.close() == 0
    assert [line["answer"] for line in answers_of(file)] == ["left", "tie", "left"]


def test_a_stopped_program_goes_on(annotate, file):
    terminal = annotate(file, "--selector", "random")
    terminal.until("0 judged")
    terminal.process.send_signal(signal.SIGSTOP)
    terminal.process.send_signal(signal.SIGCONT)
    terminal.type("1")
    terminal.until("1 judged")
    terminal.process.send_signal(signal.SIGINT)
    assert terminal.close() == 0
    assert "the same command goes on" in " ".join(terminal.text.split())


def test_the_last_pair_cannot_be_skipped(annotate, tmp_path):
    file = tmp_path / "one.csv"
    pl.DataFrame({"output_a": ["x"], "output_b": ["y"]}).write_csv(file)
    out = tmp_path / "judged.csv"
    terminal = annotate(file, "--out", out)
    terminal.until("0 judged")
    terminal.type("q")
    assert terminal.close() == 0
    # The same command goes on, and a table before the end would show who leads.
    assert not out.exists()
    terminal = annotate(file, "--out", out)
    terminal.until("0 judged")
    terminal.type("s")
    terminal.until("no example would be left")
    terminal.type("0")
    terminal.until("Neither is better.")
    terminal.type("q")
    assert terminal.close() == 0
    judged = pl.read_csv(out)
    assert judged["preference"].to_list() == ["tie"]
    assert judged["output_b"].to_list() == ["y"]


def test_kill_loses_no_answer_and_gives_the_file_free(annotate, tmp_path):
    file = tmp_path / "large.jsonl"
    pl.DataFrame(
        {
            "input": [f"image {i}" for i in range(5000)],
            "output_a": [f"It is a {i}." for i in range(5000)],
            "output_b": [f"A {i % 97}, or a {i % 89}?" for i in range(5000)],
        }
    ).write_ndjson(file)
    terminal = annotate(file, "--selector", "random")
    terminal.until("0 judged")
    for n in range(1, 5):
        terminal.type("1")
        terminal.until(f"{n} judged")
    second = annotate(file, "--selector", "random")
    assert second.close() == 2
    assert "open in another annotation" in " ".join(second.text.split())
    terminal.kill()
    told = answers_of(file)
    assert len(told) == 4
    # The options of the first time need not be given again.
    again = annotate(file)
    again.until("4 judged")
    again.type("s")
    text = again.until("1 skipped")
    # A tie, since another in its place would break the probabilities.
    assert "5 judged" in text
    again.type("q")
    assert again.close() == 0
    assert "1 (counted as ties)" in again.text
    assert answers_of(file)[:4] == told
    other = annotate(file, "--seed", "1")
    assert other.close() == 2
    words = " ".join(other.text.split())
    assert "--seed is 1 now, but" in words
    assert "begun with --seed 0" in words


def test_it_ends_when_the_rule_says_so(annotate, file, tmp_path):
    with (tmp_path / "result.json").open("w") as out:
        terminal = annotate(file, "--json", stdout=out)
        terminal.until("0 judged")
        for n in range(1, 100):
            row = terminal_row(terminal.text)
            # Always for A, which only the file of answers tells.
            left = sides_of(file)[row]
            terminal.type("1" if left else "2")
            text = terminal.until(
                lambda text, n=n: f"{n} judged" in text or "better." in text
            )
            if "better." in text:
                break
        assert "A is better." in text
        assert "A wins 5, B wins 0" in text
        terminal.type("u")
        terminal.until("left is better")
        row = terminal_row(terminal.text)
        terminal.type("1" if sides_of(file)[row] else "2")
        terminal.until("A is better.")
        terminal.type("\r")
        assert terminal.close() == 0
    result = json.loads((tmp_path / "result.json").read_text())
    assert result["winner"] == "A"
    assert result["counts"]["A"] == result["n_annotations"]
    assert result["termination_condition"] == "stopping_rule"
    assert sum(result["preferred"].values()) == result["n_annotations"]
    assert result["log"] == str(log_of(file))


def terminal_row(text):
    return int(text.splitlines()[0].removeprefix("image "))


def sides_of(file):
    n = len(pl.read_ndjson(file))
    return np.random.default_rng([0, n]).random(n) < 0.5


def test_the_leader_is_shown_if_asked_for(annotate, file):
    terminal = annotate(file, "--show-leader", "--input", "output_b")
    text = terminal.until("0 judged")
    assert "A 0, B 0, ties 0" in text
    assert not text.startswith("image")
    terminal.type("0")
    terminal.until("A 0, B 0, ties 1")
    terminal.type("q")
    assert terminal.close() == 0
    assert "votes: A wins 0, B wins 0, 1 tie" in terminal.text
    # What is shown is remembered too; the leader is not.
    again = annotate(file)
    text = again.until("1 judged")
    assert not text.startswith("image")
    assert "ties 1" not in text
    again.type("q")
    assert again.close() == 0


def test_no_output_disturbs_the_screen(annotate, tmp_path):
    file = tmp_path / "hostile.jsonl"
    pl.DataFrame(
        {
            "input": [f"case {name}" for name in HOSTILE],
            "output_a": list(HOSTILE.values()),
            "output_b": [f"plain {name}" for name in HOSTILE],
        }
    ).write_ndjson(file)
    terminal = annotate(file, "--rule", "fixed", columns=80, lines=16)
    seen = set()
    for n in range(len(HOSTILE)):
        text = terminal.until(f"{n} judged")
        name = text.splitlines()[0].removeprefix("case ")
        seen.add(name)
        assert f"plain {name}" in text
        assert "left is better" in text.splitlines()[-1] + text.splitlines()[-2]
        shown = {
            "ansi": "<U+001B>[2J<U+001B>[31mre",
            "html": "<script>alert(1)</script><b>bold</b",
            "markup": "[bold]not bold[/bold] [/]",
            "empty": "(empty)",
            "long": "word0 word1",
        }
        assert shown.get(name, "") in text
        if name == "long":
            scroll_to_the_end(terminal)
        terminal.type("0")
    terminal.until("Neither is better.")
    terminal.type("q")
    assert terminal.close() == 0
    assert seen == set(HOSTILE)


def scroll_to_the_end(terminal):
    terminal.type("\x1b[B")
    terminal.until(lambda text: "word0 word1" not in text)
    terminal.type("\x1b[F")
    text = terminal.until("word2499")
    assert "100%" in text
    # The titles and the input stay.
    assert "case long" in text
    assert " 1  left " in text
    terminal.resize(50, 12)
    terminal.until(lambda text: "│" not in text)
    terminal.type("g")
    terminal.until(" 1  left")
    terminal.resize(80, 16)
    terminal.until("│")


def test_a_file_of_other_outputs_is_refused(annotate, file):
    terminal = annotate(file)
    terminal.until("0 judged")
    terminal.type("0")
    terminal.until("1 judged")
    terminal.type("q")
    assert terminal.close() == 0
    table = pl.read_ndjson(file)
    table.with_columns(output_b=pl.col("output_a") + ".").write_ndjson(file)
    changed = annotate(file)
    assert changed.close() == 2
    assert "are not those that" in " ".join(changed.text.split())
    log = log_of(file)
    assert list(read_remarks(log)) == [-1, answers_of(file)[0]["row"]]
    log.write_text("{}")
    broken = annotate(file)
    assert broken.close() == 2
    assert "not a saved comparison" in " ".join(broken.text.split())
    assert log.read_text() == "{}"
