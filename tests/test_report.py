"""The page that --report writes."""

import re

import numpy as np
import polars as pl
import pytest

from skdiffuse.datasets import load_digit_captions, make_judged_pool

N = 120
HOSTILE = "<script>alert(1)</script> & \x1b[31m \"quoted\" 'too' مرحبا"


@pytest.fixture
def outputs(tmp_path):
    captions = load_digit_captions()
    texts = list(captions.text_a[:N])
    texts[:2] = [HOSTILE, "word " * 4000]
    path = tmp_path / "outputs.jsonl"
    pl.DataFrame(
        {
            "input": [f"image {i} <i>q</i>" for i in range(N)],
            "output_a": texts,
            "output_b": list(captions.text_b[:N]),
            "preference": captions.preference[:N],
        }
    ).write_ndjson(path)
    return path


@pytest.mark.parametrize(
    ("options", "n_pictures"),
    [
        ((), 2),
        (("--selector", "random", "--rule", "fixed"), 2),
        (("--budget", 30), 1),
        (("--known-ties", "identical", "--selector", "weighted"), 2),
    ],
)
def test_a_page_holds_the_verdict_and_what_was_judged(
    run, outputs, tmp_path, options, n_pictures
):
    page = tmp_path / "page.html"
    code, text, err = run(
        *("compare", outputs, "--oracle", "preference", "--report", page, *options)
    )
    assert (code, err) == (0, "")
    html = page.read_text(encoding="utf-8")
    assert f"<h1>{text.splitlines()[0]}</h1>" in html
    assert html.count("<img ") == n_pictures
    judged = int(re.search(r"judged: (\d+)", text)[1])
    assert html.count("<tr>") == judged + 1
    # It opens without a network, and nothing in an output is more than text.
    assert not re.search(r"(src|href)=['\"]?(http|//)", html)
    assert "default-src 'none'" in html
    assert "<script" not in html
    assert "<i>" not in html


def test_outputs_are_text_and_long_ones_are_cut(run, outputs, tmp_path):
    page = tmp_path / "page.html"
    command = ("compare", outputs, "--oracle", "preference", "--report", page)
    assert run(*command, "--rule", "fixed", "--max-annotations", N)[0] == 0
    html = page.read_text(encoding="utf-8")
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; &lt;U+001B&gt;[31m" in html
    assert "more characters)" in html
    assert "word " * 2000 not in html
    again = tmp_path / "again.html"
    command = ("compare", outputs, "--oracle", "preference", "--report", again)
    assert run(*command, "--rule", "fixed", "--max-annotations", N)[0] == 0
    assert again.read_bytes() == page.read_bytes()


def test_a_page_of_many_long_outputs_is_small(run, tmp_path):
    path, page = tmp_path / "large.jsonl", tmp_path / "page.html"
    n = 5000
    pl.DataFrame(
        {
            "output_a": [f"<{i}>" * 100 for i in range(n)],
            "output_b": [f"&{i}" * 150 for i in range(n)],
            "preference": np.resize([1, 0, -1, 1], n),
        }
    ).write_ndjson(path)
    command = ("compare", path, "--oracle", "preference", "--report", page)
    options = ("--selector", "random", "--rule", "fixed", "--max-annotations", n)
    assert run(*command, *options)[0] == 0
    assert page.stat().st_size < 3e6
    assert "and 4000 more" in page.read_text(encoding="utf-8")


def test_a_page_of_estimates(run, tmp_path):
    X, y = make_judged_pool(300, 30, rate=0.3, random_state=0)
    path, page = tmp_path / "answers.csv", tmp_path / "page.html"
    labels = [None if np.isnan(value) else value for value in y]
    pl.DataFrame({"judge <b>": X[:, 0], "label": labels}).write_csv(path)
    code, text, _ = run(
        *("estimate", path, "--label", "label", "--judge", "judge <b>"),
        *("--report", page),
    )
    assert code == 0
    html = page.read_text(encoding="utf-8")
    assert "judge alone (judge &lt;b&gt;)" in html
    assert html.count("<img ") == 1
    shrunk = re.search(r"shrunk PPI \*\s+([\d.]+)", text)[1]
    assert f">{shrunk}</td>" in html


def test_what_cannot_be_written_is_said_before_anything_is_paid_for(
    run, outputs, tmp_path, monkeypatch
):
    command = ("compare", outputs, "--oracle-command", "false", "--report")
    assert "ends in .html" in run(*command, tmp_path / "page.pdf")[2]
    there = tmp_path / "there.html"
    there.write_text("mine")
    assert "exists" in run(*command, there)[2]
    assert there.read_text() == "mine"
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    assert "skdiffuse[plot]" in run(*command, tmp_path / "page.html")[2]


def test_a_report_that_fails_costs_the_report_alone(
    run, outputs, tmp_path, monkeypatch
):
    def fail(*arguments, **options):
        raise RuntimeError("no LaTeX here")

    monkeypatch.setattr("skdiffuse.cli._html._figure", fail)
    page = tmp_path / "page.html"
    command = ("compare", outputs, "--oracle", "preference", "--report", page)
    code, text, err = run(*command)
    assert code == 2
    assert "judged:" in text
    assert "could not be made (no LaTeX here); what is shown above stands" in err
    assert not page.exists()


@pytest.mark.parametrize(
    ("report", "message"),
    [("o.oracle.html", "another file of this command"), ("x" * 300 + ".html", "name")],
)
def test_places_that_cannot_be_written_are_refused_first(
    run, outputs, tmp_path, report, message
):
    page = tmp_path / report
    command = ("compare", outputs, "--oracle-command", "false", "--cache", page)
    if message == "name":
        command = command[:-2]
    code, text, err = run(*command, "--report", page)
    assert (code, text) == (2, "")
    assert message in err
    assert "--report" in err
    assert list(tmp_path.iterdir()) == [outputs]


def test_signs_that_grow_in_the_page_keep_it_small(run, tmp_path):
    path, page = tmp_path / "signs.jsonl", tmp_path / "page.html"
    n = 150
    pl.DataFrame(
        {
            "output_a": ["\x01<&" * 3000 + str(i) for i in range(n)],
            "output_b": ["\U0001f389" * 5000 + str(i) for i in range(n)],
            "preference": np.resize([1, 0, -1], n),
        }
    ).write_ndjson(path)
    command = ("compare", path, "--oracle", "preference", "--report", page)
    options = ("--selector", "random", "--rule", "fixed", "--max-annotations", n)
    assert run(*command, *options)[0] == 0
    assert page.stat().st_size < 3e6


def test_names_are_no_formulas(run, tmp_path):
    X, y = make_judged_pool(100, 30, rate=0.3, random_state=0)
    path, page = tmp_path / "answers.csv", tmp_path / "page.html"
    labels = [None if np.isnan(value) else value for value in y]
    judge = r"$\frac{a}$"
    pl.DataFrame({judge: X[:, 0], "label": labels}).write_csv(path)
    command = ("estimate", path, "--label", "label", "--judge", judge)
    code, _, err = run(*command, "--report", page)
    assert (code, err) == (0, "")
    assert judge in page.read_text(encoding="utf-8")
