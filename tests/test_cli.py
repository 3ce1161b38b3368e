import builtins
import json
import os
import re
import shlex
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skdiffuse import (
    BettingRule,
    DiffUseSelector,
    FixedBudget,
    HypergeometricRule,
    NormSelector,
    PreferenceComparison,
    RandomSelector,
    RidgePPIMeanEstimator,
)
from skdiffuse.cli import _selectors, main
from skdiffuse.cli._embed import difference_vectors
from skdiffuse.datasets import load_digit_captions, make_judged_pool


@pytest.fixture
def captions_frame():
    captions = load_digit_captions()
    return pl.DataFrame(
        {
            "input": [f"image {i}" for i in range(300)],
            "output_a": list(captions.text_a[:300]),
            "output_b": list(captions.text_b[:300]),
            "preference": captions.preference[:300],
        }
    )


@pytest.fixture
def captions_file(captions_frame, tmp_path):
    path = tmp_path / "captions.jsonl"
    captions_frame.write_ndjson(path)
    return path


def test_demo_names_the_better_captioner_and_its_accuracy(run):
    code, out, _ = run("demo", "--json")
    result = json.loads(out)
    captions = load_digit_captions()
    assert code == 0
    assert result["winner"] == result["full_judgement"] == "A"
    assert result["n_annotations"] == 50
    assert result["random_order"] in ("A", "B", None)
    assert result["truth"] == pytest.approx(captions.correct_a.mean())
    ppi = result["accuracy"]["estimates"][-1]
    assert ppi["recommended"]
    assert ppi["low"] <= result["truth"] <= ppi["high"]
    code, text, _ = run("demo")
    assert code == 0
    assert "50 of 1797 pairs judged" in text
    assert "A random choice" in text


@pytest.mark.parametrize("ending", ["jsonl", "ndjson", "csv", "parquet"])
def test_select_writes_the_rows_to_annotate(run, captions_frame, tmp_path, ending):
    source, out = tmp_path / f"captions.{ending}", tmp_path / f"chosen.{ending}"
    getattr(captions_frame, "write_" + ("ndjson" if "json" in ending else ending))(
        source
    )
    code, text, err = run("select", source, "--budget", 12, "--out", out)
    assert (code, err) == (0, "")
    assert "12 of 300" in " ".join(text.split())
    read = {"csv": pl.read_csv, "parquet": pl.read_parquet}.get(ending, pl.read_ndjson)
    chosen = read(out)
    columns = ["row", "input", "output_a", "output_b", "preference"]
    design = ["selector", "draw", "probability", "n_selected", "n_pool", "n_ties"]
    assert chosen.columns == columns + design
    assert chosen["selector"].unique().to_list() == ["diffuse, ward, cosine, seed 0"]
    assert chosen["n_pool"].unique().to_list() == [300]
    assert chosen["probability"].is_null().all()
    rows = chosen["row"].to_list()
    assert len(rows) == 12
    assert chosen["output_b"].to_list() == captions_frame["output_b"][rows].to_list()
    assert chosen["preference"].is_null().all()
    # Annotations are never written over.
    code, _, err = run("select", source, "--budget", 12, "--out", out)
    assert code == 2
    assert "may hold annotations" in err
    result = json.loads(
        run("compare", source, "--oracle", "preference", "--budget", 12, "--json")[1]
    )
    assert result["selected"] == rows


def test_select_takes_other_column_names(run, captions_frame, tmp_path):
    source, out = tmp_path / "x.csv", tmp_path / "chosen.csv"
    captions_frame.drop("input").rename(
        {"output_a": "new", "output_b": "old"}
    ).write_csv(source)
    names = ("--output-a", "new", "--output-b", "old")
    assert run("select", source, *names, "--out", out, "--budget", 3)[0] == 0
    columns = pl.read_csv(out).columns
    assert columns[:5] == ["row", "output_a", "output_b", "preference", "selector"]


def test_compare_reads_the_chosen_rows_only(run, captions_frame, captions_file):
    arguments = ("--oracle", "preference", "--budget", 20, "--json")
    code, out, _ = run("compare", captions_file, *arguments)
    result = json.loads(out)
    preferences = captions_frame["preference"].to_numpy()[result["selected"]]
    assert code == 0
    assert result["n_annotations"] == 20 == len(result["selected"])
    assert result["n_pool"] == 300
    assert result["counts"] == {
        "A": (preferences > 0).sum(),
        "B": (preferences < 0).sum(),
        "tie": (preferences == 0).sum(),
    }
    names = {1: "A", 0: None, -1: "B"}
    assert result["winner"] == names[np.sign(preferences.sum())]
    # The rest may be anything.
    words = np.array(["B", "tie", "A"])[captions_frame["preference"].to_numpy() + 1]
    rest = np.setdiff1d(np.arange(300), result["selected"])
    words[rest] = "?"
    blind = captions_frame.with_columns(preference=pl.Series(words.tolist()))
    blind.write_ndjson(captions_file)
    assert json.loads(run("compare", captions_file, *arguments)[1]) == result
    words[result["selected"][3]] = ""
    blind.with_columns(preference=pl.Series(words.tolist())).write_ndjson(captions_file)
    code, out, err = run("compare", captions_file, *arguments)
    assert (code, out) == (2, "")
    assert f"holds nothing in row {result['selected'][3]}" in err


def test_compare_says_the_same_to_people(run, captions_file):
    code, text, _ = run("compare", captions_file, "--oracle", "preference")
    assert code == 0
    assert "examples" in text
    assert "not win rates" in text


def test_graded_preferences(run, captions_frame, captions_file):
    graded = captions_frame.with_columns(pl.col("preference") * -0.25)
    graded.write_ndjson(captions_file)
    arguments = ("--oracle", "preference", "--budget", 50, "--json")
    assert json.loads(run("compare", captions_file, *arguments)[1])["winner"] == "B"
    captions_frame.with_columns(pl.lit(3.0).alias("preference")).write_ndjson(
        captions_file
    )
    code, _, err = run("compare", captions_file, "--oracle", "preference")
    assert code == 2
    assert "holds 3.0 in rows" in err


@pytest.mark.parametrize(
    ("arguments", "params"),
    [
        ([], {}),
        (["--risk", "0.05", "--ties", "drop"], {"risk": 0.05, "ties": "drop"}),
        (["--representative", "max_norm", "--max-annotations", "30"], {}),
        (["--clustering", "kmeans", "--min-annotations", "12"], {}),
        (["--selector", "norm"], {}),
        (["--selector", "random", "--rule", "fixed", "--max-annotations", "40"], {}),
        (["--rule", "betting"], {"alpha": 0.05}),
        (["--rule", "betting", "--risk", "0.3"], {"alpha": 0.3}),
    ],
    ids=" ".join,
)
def test_compare_is_the_comparison_of_python(run, captions_file, arguments, params):
    code, out, _ = run(
        "compare", captions_file, "--oracle", "preference", "--json", *arguments
    )
    assert code == 0
    result = json.loads(out)
    options = dict(zip(arguments[::2], arguments[1::2], strict=True))
    captions = load_digit_captions()
    X = difference_vectors(
        list(captions.text_a[:300]),
        list(captions.text_b[:300]),
        "tfidf",
        0,
        lambda done, total: None,
    )
    budget = int(options.get("--max-annotations", 200))
    selector = DiffUseSelector(
        budget,
        clustering=options.get("--clustering", "ward"),
        representative=options.get("--representative", "cosine"),
        random_state=0,
    )
    if options.get("--selector") == "norm":
        selector = NormSelector()
    if options.get("--selector") == "random" or "alpha" in params:
        selector = RandomSelector(random_state=0)
    rule = BettingRule(**params) if "alpha" in params else HypergeometricRule(**params)
    if options.get("--rule") == "fixed":
        rule = FixedBudget()
    comparison = PreferenceComparison(
        selector,
        rule,
        min_annotations=int(options.get("--min-annotations", 5)),
        max_annotations=budget,
    ).fit(X, captions.preference[:300])
    assert result["selected"] == comparison.annotated_indices_.tolist()
    assert result["winner"] == {1: "A", 0: None, -1: "B"}[comparison.winner_]
    assert result["risk"] == comparison.risk_
    assert result["termination_condition"] == comparison.termination_condition_


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--rule", "betting", "--selector", "diffuse"], "take --selector random"),
        (["--rule", "betting", "--ties", "drop"], "drop --ties"),
        (["--budget", "9", "--ties", "drop"], "--budget"),
        (["--budget", "9", "--max-annotations", "8"], "--max-annotations may say"),
        (["--budget", "9", "--rule", "fixed"], "--budget"),
        (["--budget", "9", "--risk", "0.1"], "--budget"),
        (["--rule", "fixed", "--risk", "0.1"], "drop --risk"),
        (["--risk", "20"], "--risk 20 is not between 0 and 1"),
        (["--min-annotations", "9", "--max-annotations", "8"], "min_annotations=9"),
        (["--ties", "split"], "--ties"),
    ],
    ids=" ".join,
)
def test_compare_refuses_what_does_not_fit(run, captions_file, arguments, message):
    code, out, err = run("compare", captions_file, "--oracle", "preference", *arguments)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert message in err


def test_notes_warn_of_what_a_verdict_cannot_say(run, captions_frame, captions_file):
    def notes(frame, *arguments):
        frame.write_ndjson(captions_file)
        out = run("compare", captions_file, "--oracle", "p", "--json", *arguments)[1]
        return " ".join(json.loads(out)["notes"])

    zeros_for_b = captions_frame.with_columns(p=(pl.col("preference") > 0).cast(int))
    assert "0 is a tie" in notes(zeros_for_b, "--budget", "100")
    selected = captions_frame.with_columns(row=pl.lit(1), p=pl.col("preference"))
    assert "outside the file" in notes(selected, "--budget", "100")
    ties = captions_frame.with_columns(p=pl.lit("tie"))
    assert "--ties drop" in notes(ties, "--ties", "draw", "--max-annotations", "20")
    assert "are not ties" in notes(ties, "--budget", "20")
    assert "not win rates" in notes(ties, "--budget", "20")
    assert "not win rates" not in notes(ties, "--budget", "20", "--selector", "random")


def test_booleans_are_no_preferences(run, captions_frame, captions_file):
    for column in (pl.col("preference") > 0, pl.lit("true")):
        captions_frame.with_columns(p=column).write_ndjson(captions_file)
        code, _, err = run("compare", captions_file, "--oracle", "p")
        assert code == 2
        assert "write A, B or tie" in err


def test_an_approximation_is_a_note(run, captions_file, monkeypatch):
    make = _selectors.make

    def make_small(*arguments):
        return make(*arguments).set_params(max_exact=50)

    monkeypatch.setattr(_selectors, "make", make_small)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        code, _, err = run("compare", captions_file, "--oracle", "preference")
    assert code == 0
    assert re.fullmatch(
        r"skdiffuse: note, in the words of Python: \d+ distinct rows are more than "
        r"max_exact=50: .*\n",
        err,
    )


def test_select_takes_other_selectors(run, captions_file, tmp_path):
    rows = {}
    for selector in ("random", "norm", "diffuse"):
        out = tmp_path / f"{selector}.csv"
        arguments = ("--selector", selector, "--out", out, "--budget", 200, "--json")
        code, text, _ = run("select", captions_file, *arguments)
        assert code == 0
        rows[selector] = json.loads(text)
    assert rows["random"]["n_selected"] == 200
    assert rows["random"]["selected"] != rows["norm"]["selected"]
    # Fewer pairs differ than were asked for, and the answer says why.
    assert rows["diffuse"]["n_selected"] < 200
    assert "distinct differences" in rows["diffuse"]["notes"][0]


def test_equal_outputs_are_nothing_to_compare(run, captions_file):
    arguments = ("--oracle", "preference", "--output-a", "output_b")
    code, _, err = run("compare", captions_file, *arguments)
    assert code == 2
    assert "equal outputs in every row" in err


def test_way_from_selection_to_verdict_has_no_risk(run, captions_file, tmp_path):
    chosen, judged = tmp_path / "chosen.csv", tmp_path / "judged.csv"
    run("select", captions_file, "--budget", 20, "--out", chosen)
    frame = pl.read_csv(chosen).with_columns(preference=pl.lit("A"))
    frame.write_csv(judged)
    result = json.loads(run("decide", judged, "--json")[1])
    assert (result["winner"], result["risk"]) == ("A", None)
    assert result["n_annotations"] == 20
    assert result["n_pool"] == 300
    # Answers whose design was lost are counted, with a warning.
    frame.select("row", "output_a", "output_b", "preference").write_csv(judged)
    arguments = ("--oracle", "preference", "--budget", 20)
    result = json.loads(run("compare", judged, *arguments, "--json")[1])
    assert (result["winner"], result["risk"]) == ("A", None)
    assert "column row" in " ".join(result["notes"])


@pytest.mark.parametrize(
    ("out", "message"), [("no/x.csv", "does not exist"), ("x.doc", "unknown ending")]
)
def test_select_refuses_a_bad_out_before_it_works(run, tmp_path, out, message):
    code, _, err = run("select", tmp_path / "absent.csv", "--out", tmp_path / out)
    assert code == 2
    assert message in err


def judged_frame(n_labeled=40):
    X, y = make_judged_pool(300, n_labeled, judge=[0.8, 0.3], random_state=0)
    labels = [None if np.isnan(v) else int(v) for v in y]
    return pl.DataFrame({"label": labels, "good": X[:, 0], "poor": X[:, 1]})


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_estimate_puts_three_ways_side_by_side(run, tmp_path, ending):
    path = tmp_path / f"judged.{ending}"
    frame = judged_frame()
    getattr(frame, "write_" + ("ndjson" if ending == "jsonl" else ending))(path)
    arguments = ("--label", "label", "--judge", "good", "--judge", "poor")
    code, out, _ = run("estimate", path, *arguments, "--json")
    result = json.loads(out)
    assert code == 0
    assert (result["n_labeled"], result["n_unlabeled"]) == (40, 260)
    assert [row["method"] for row in result["estimates"]] == [
        "classical",
        "judge_only",
        "judge_only",
        "ppi",
        "ridge",
        "sigmoid",
        "plugin",
    ]
    assert [row["judge"] for row in result["estimates"][1:3]] == ["good", "poor"]
    for row in result["estimates"]:
        assert row["low"] < row["mean"] < row["high"]
    classical, good, *_, ppi = result["estimates"]
    assert classical["mean"] == pytest.approx(frame["label"].mean())
    assert good["mean"] == pytest.approx(frame["good"].mean())
    assert ppi["high"] - ppi["low"] < classical["high"] - classical["low"]
    code, text, _ = run("estimate", path, *arguments)
    assert code == 0
    assert "labels alone" in text
    assert "judge alone (poor)" in text
    assert "40 labelled rows, 260 in the pool" in text
    narrow = json.loads(
        run("estimate", path, *arguments, "--json", "--confidence", 0.5)[1]
    )
    assert narrow["estimates"][-1]["low"] > ppi["low"]


def test_estimate_says_when_the_judge_is_of_no_use(run, tmp_path):
    path = tmp_path / "judged.csv"
    judged_frame().with_columns(good=pl.lit(1)).write_csv(path)
    code, text, _ = run("estimate", path, "--label", "label", "--judge", "good")
    assert code == 0
    assert "The mean of the labels is taken: constant judge." in " ".join(text.split())


def test_estimate_warns_of_labels_that_were_chosen(run, tmp_path):
    path = tmp_path / "judged.csv"
    X, y = make_judged_pool(300, None, judge=0.9, scores="binary", random_state=0)
    chosen = np.flatnonzero(X[:, 0] == 1)[:30]
    labels = np.full(300, np.nan)
    labels[chosen] = y[chosen]
    pl.DataFrame({"label": labels, "judge": X[:, 0]}).fill_nan(None).write_csv(path)
    arguments = ("estimate", path, "--label", "label", "--judge", "judge")
    assert "do not look like a random sample" in " ".join(run(*arguments)[1].split())
    pl.DataFrame({"label": y, "judge": X[:, 0]}).write_csv(path)
    assert "Every row has a label" in run(*arguments)[1]


def test_estimate_reads_words(run, tmp_path):
    path = tmp_path / "judged.csv"
    path.write_text("y,f\nA,a\nB,B\ntie,Tie\nA,true\n,false\n ,b\n")
    out = run("estimate", path, "--label", "y", "--judge", "f", "--json")[1]
    result = json.loads(out)
    assert (result["n_labeled"], result["n_unlabeled"]) == (4, 2)
    assert result["estimates"][0]["mean"] == 0.25
    assert result["estimates"][1]["mean"] == 0.0


@pytest.mark.parametrize("level", ["0", "1", "95", "nan"])
def test_confidence_level_is_named_as_the_option(run, tmp_path, level):
    arguments = ("--label", "y", "--judge", "f", "--confidence", level)
    code, _, err = run("estimate", tmp_path / "x.csv", *arguments)
    assert code == 2
    assert "--confidence" in err


def recommended(result):
    (row,) = (row for row in result["estimates"] if row.get("recommended"))
    return row


def designed_frame():
    """Four answers a prompt; the labelled prompts were not equally likely."""
    X, y = make_judged_pool(400, None, rate=0.4, judge=0.8, random_state=1)
    rng = np.random.default_rng(0)
    prompts = np.repeat(np.arange(100), 4)
    labeled = np.isin(prompts, rng.choice(100, 15, replace=False))
    return pl.DataFrame(
        {
            "label": np.where(labeled, y, np.nan),
            "judge": X[:, 0],
            "prompt": [f"prompt {number}" for number in prompts],
            "weight": np.where(labeled, 1 + prompts % 3, np.nan),
        }
    ).fill_nan(None)


def test_estimate_with_groups_and_weights_is_that_of_the_library(run, tmp_path):
    path = tmp_path / "judged.csv"
    frame = designed_frame()
    frame.write_csv(path)
    arguments = ("estimate", path, "--label", "label", "--judge", "judge", "--json")
    X, y = frame[["judge"]].to_numpy(), frame["label"].to_numpy()
    options = {
        "groups": ("--groups", "prompt", frame["prompt"].to_list()),
        "sample_weight": ("--weight", "weight", frame["weight"].to_numpy()),
    }
    results = {None: recommended(json.loads(run(*arguments)[1]))}
    for name, (option, column, values) in options.items():
        row = recommended(json.loads(run(*arguments, option, column)[1]))
        estimator = RidgePPIMeanEstimator(penalty="plugin")
        estimator.fit(X, y, **{name: values})
        assert row["mean"] == pytest.approx(estimator.mean_)
        assert (row["low"], row["high"]) == pytest.approx(
            estimator.confidence_interval()
        )
        results[name] = row
    assert results["groups"]["mean"] == pytest.approx(results[None]["mean"])
    assert results["sample_weight"]["mean"] != pytest.approx(results[None]["mean"])


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({"weight": -1.0}, ("--weight", "weight"), "'weight' holds -1 in labelled row"),
        ({"weight": None}, ("--weight", "weight"), "'weight' holds nan in labelled"),
        ({"weight": "x"}, ("--weight", "weight"), "'weight' holds 'x' in row"),
        ({"prompt": None}, ("--groups", "prompt"), "(--groups) is empty in rows 0, 1"),
        ({"prompt": " "}, ("--groups", "prompt"), "(--groups) is empty in rows 0, 1"),
        ({}, ("--groups", "task"), "there is no column 'task'"),
        ({}, ("--pair-by", "prompt"), "--pair-by needs the second file"),
        ({}, ("--label-range", "1", "0"), "label_range=(1.0, 0.0)"),
        ({}, ("--label-range", "2", "3"), "label_range=(2, 3), but y holds"),
    ],
)
def test_bad_designs_are_one_line(run, tmp_path, change, options, message):
    path = tmp_path / "judged.csv"
    frame = designed_frame().with_columns(
        **{name: pl.lit(value) for name, value in change.items()}
    )
    frame.write_csv(path)
    code, out, err = run(
        "estimate", path, "--label", "label", "--judge", "judge", *options
    )
    assert (code, out) == (2, "")
    assert message in err


def test_grades_keep_to_their_range(run, tmp_path):
    path = tmp_path / "grades.csv"
    rows = "\n".join(["5,0.9"] * 6 + [",0.8"] * 50 + [",0.1"] * 4)
    path.write_text(f"grade,judge\n{rows}\n")
    arguments = ("estimate", path, "--label", "grade", "--judge", "judge", "--json")
    row = recommended(json.loads(run(*arguments, "--label-range", 1, 5)[1]))
    assert 1 < row["low"] < 4 < row["high"] <= 5
    votes = tmp_path / "votes.csv"
    votes.write_text("vote,judge\n" + "A,1\ntie,0\n" * 4 + ",0.5\n" * 20)
    arguments = ("estimate", votes, "--label", "vote", "--judge", "judge", "--json")
    # No vote for B was seen, and yet there may be some.
    assert json.loads(run(*arguments)[1])["estimates"][0]["low"] < 0.1


def paired_files(folder):
    rng = np.random.default_rng(0)
    frames = {}
    inputs = [f"input {number}" for number in range(200)]
    hard = rng.normal(size=200)
    for name, skill in (("a", 0.4), ("b", 0.0)):
        quality = skill - hard + 0.5 * rng.normal(size=200)
        frames[name] = pl.DataFrame(
            {
                "input": inputs,
                "right": np.where(np.arange(200) < 40, quality > 0, np.nan),
                "judge": quality + 0.5 * rng.normal(size=200),
            }
        ).fill_nan(None)
    frames["b"] = frames["b"].sample(fraction=1, shuffle=True, seed=1)
    for name, frame in frames.items():
        frame.write_csv(folder / f"{name}.csv")
    return frames["a"], frames["b"].sort("input").join(
        frames["a"].select("input"), on="input", how="right", maintain_order="right"
    )


def test_paired_files_give_the_mean_of_the_differences(run, tmp_path):
    a, b = paired_files(tmp_path)
    arguments = ("estimate", tmp_path / "a.csv", "--label", "right", "--judge", "judge")
    paired = (*arguments, "--paired-with", tmp_path / "b.csv", "--pair-by", "input")
    result = json.loads(run(*paired, "--json")[1])
    estimator = RidgePPIMeanEstimator(penalty="plugin").fit(
        np.column_stack([a["judge"], b["judge"]]),
        a["right"].to_numpy() - b["right"].to_numpy(),
    )
    row = recommended(result)
    assert row["mean"] == pytest.approx(estimator.mean_)
    assert (row["low"], row["high"]) == pytest.approx(
        estimator.confidence_interval(label_range=(-1, 1))
    )
    assert result["estimates"][1]["mean"] == pytest.approx(
        (a["judge"] - b["judge"]).mean()
    )
    assert result["notes"] == []
    code, text, _ = run(*paired)
    assert code == 0
    assert "judge alone (judge)" in text
    by_place = json.loads(run(*paired[:-2], "--json")[1])
    assert "--pair-by" in by_place["notes"][0]


def test_range_of_paired_labels_is_that_of_their_kind(run, tmp_path):
    def ends(labels_a, labels_b, *options):
        for name, labels in (("a", labels_a), ("b", labels_b)):
            lines = [f"{label},{0.1 * i}" for i, label in enumerate(labels)]
            text = "v,j\n" + "\n".join(lines + [",0.5"] * 20) + "\n"
            (tmp_path / f"{name}.csv").write_text(text)
        code, out, err = run(
            *("estimate", tmp_path / "a.csv", "--paired-with", tmp_path / "b.csv"),
            *("--label", "v", "--judge", "j", "--json", *options),
        )
        if code:
            return err
        row = json.loads(out)["estimates"][0]
        return row["low"], row["high"]

    a, b = [1, 0, 1, 1, 0, 1, 0, 1], [0, 0, 1, 0, 0, 1, 1, 0]
    rates = ends(a, b)
    words = ["tie", "A"]
    votes = ends([words[i] for i in a], [words[i] for i in b])
    assert votes[1] - votes[0] > rates[1] - rates[0]
    grades = ends([4 + i for i in a], [4 + i for i in b])
    wide = ends([4 + i for i in a], [4 + i for i in b], "--label-range", 1, 5)
    assert wide[1] - wide[0] > grades[1] - grades[0]
    assert grades != pytest.approx(rates)
    assert "holds 5" in ends([5] * 8, [5] * 8, "--label-range", 0, 1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda b: b.head(150), "47 more of the first file are not in the second"),
        (lambda b: pl.concat([b, b.head(1)]), "a key is there once"),
        (lambda b: b.with_columns(right=pl.lit(None)), "no input has a label"),
        (lambda b: b.drop("judge"), "there is no column 'judge'"),
        (lambda b: b.drop("input"), "there is no column 'input'"),
        (
            lambda b: pl.concat([b, b.head(1).with_columns(input=pl.lit("more"))]),
            "'more' of the second file is not in the first (1 of 201 rows)",
        ),
    ],
)
def test_files_that_do_not_pair_are_one_line(run, tmp_path, change, message):
    _, b = paired_files(tmp_path)
    change(b).write_csv(tmp_path / "b.csv")
    code, out, err = run(
        *("estimate", tmp_path / "a.csv", "--label", "right", "--judge", "judge"),
        *("--paired-with", tmp_path / "b.csv", "--pair-by", "input"),
    )
    assert (code, out) == (2, "")
    assert message in err


def test_plan_from_a_correlation_and_from_a_pilot(run, tmp_path):
    options = ("--budget", 100, "--prediction-cost", 0.01)
    plan = json.loads(run("plan", "--rho", 0.8, *options, "--json")[1])
    assert (plan["n_labels"], plan["n_predictions"], plan["feasible"]) == (
        88,
        1200,
        True,
    )
    assert (
        "88 random labels in all, 1200 predictions"
        in run("plan", "--rho", 0.8, *options)[1]
    )
    path = tmp_path / "pilot.csv"
    judged_frame().write_csv(path)
    pilot = (path, "--label", "label", "--judge", "good")
    plan = json.loads(run("plan", *pilot, *options, "--json")[1])
    assert 0 < plan["rho"] < 1
    near = ("--width", 0.2, "--prediction-cost", 0.01, "--json")
    assert json.loads(run("plan", *pilot, *near)[1])["feasible"]
    far = ("--width", 0.001, "--pool-size", 900)
    code, text, _ = run("plan", *pilot, *far)
    assert code == 0
    assert "Not feasible" in text
    poor = ("--rho", 0.5, "--budget", 0.1, "--prediction-cost", 1)
    assert json.loads(run("plan", *poor, "--json")[1])["width"] is None
    assert "nothing can be said" in run("plan", *poor)[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--budget", "9"], "--rho or a pilot FILE"),
        (["--rho", "0.5"], "--width or --budget"),
        (["--rho", "2", "--budget", "9", "--pool-size", "9"], "rho"),
        (["--rho", "0.5", "--budget", "9"], "--pool-size"),
        (["x.csv", "--budget", "9"], "--label and --judge"),
    ],
    ids=" ".join,
)
def test_plan_refuses_what_it_cannot_plan(run, arguments, message):
    code, out, err = run("plan", *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


BAD_FILES = {
    "missing.csv": (None, "is not a file"),
    "x.txt": ("a", "unknown ending"),
    "empty.csv": ("", "empty.csv is empty"),
    "empty.jsonl": ("", "empty.jsonl is empty"),
    "header.csv": ("output_a,output_b,p\n", "no rows"),
    "broken.jsonl": ('{"output_a": "x", "output_b"', "line 1 is not JSON"),
    "lines.jsonl": ('{"output_a": "x"}\n[1]\n', "line 2 is not a JSON object"),
    "broken.parquet": ("not parquet", "cannot be read"),
    "names.csv": ("a,b\nx,y\n", "there is no column 'output_a'; the file has a, b"),
    "null.csv": (
        "output_a,output_b,p\nx,,1\n",
        "column 'output_b' has no output in row 0",
    ),
    "list.jsonl": ('{"output_a": ["x"], "output_b": "y", "p": 1}\n', "instead of text"),
    "oracle.csv": ("output_a,output_b\nx,y\n", "no column 'p'"),
    "word.csv": ("output_a,output_b,p\nx,y,better\n", "'better' in row 0"),
    "void.csv": ('output_a,output_b,p\n"","",1\n', "equal outputs in every row"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_file_is_one_line_and_exit_code_2(run, tmp_path, name):
    content, message = BAD_FILES[name]
    path = tmp_path / name
    if content is not None:
        path.write_text(content)
    code, out, err = run("compare", path, "--oracle", "p")
    assert (code, out) == (2, "")
    assert err.startswith("skdiffuse: error: ")
    assert err.count("\n") == 1
    assert message in err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("y,f\n,1\n,2\n", "column 'y' has no label"),
        ("y,f\n1,1\n0,\n", "column 'f' holds nothing in row 1"),
        ("y,f\n1,1\n0,inf\n", "column 'f' holds 'inf' in row 1"),
        ("y,f\ninf,1\n0,1\n", "column 'y' holds 'inf' in row 0"),
        ("y,f\n1,1\nyes,2\n", "holds 'yes' in row 1"),
        ("y,f\n1.5,1\n,2\n", "single label"),
        ("y,f\n1e200,1\n-1e200,2\n0,1\n,2\n", "overflow"),
    ],
)
def test_bad_numbers_are_one_line_and_exit_code_2(run, tmp_path, content, message):
    path = tmp_path / "x.csv"
    path.write_text(content)
    code, out, err = run("estimate", path, "--label", "y", "--judge", "f")
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert message in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["compare", "x.csv"], "--oracle"),
        (["compare"], "FILE"),
        (["conquer"], "conquer"),
        (["demo", "--budget", "0"], "--budget"),
        (["demo", "--seed", "-1"], "--seed"),
        (["demo", "--labels", "many"], "--labels"),
        (["--what"], "--what"),
    ],
)
def test_bad_arguments_are_one_line_and_exit_code_2(run, arguments, message):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert message in err


def test_unknown_embedder_and_missing_extra(run, captions_file, monkeypatch):
    arguments = ("compare", captions_file, "--oracle", "preference", "--embedder")
    assert "is not known; give tfidf" in run(*arguments, "bert")[2]
    assert "is not known" in run(*arguments, "sentence-transformers:")[2]
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    code, _, err = run(*arguments, "sentence-transformers:some-model")
    assert code == 2
    assert "pip install 'skdiffuse[text]'" in err


def test_sentence_transformer_is_asked_in_batches(run, captions_file, monkeypatch):
    asked = []

    class SentenceTransformer:
        def __init__(self, name):
            assert name == "some-model"

        def encode(self, texts, show_progress_bar):
            assert not show_progress_bar
            asked.append(len(texts))
            return np.array([[len(t), t.count("o")] for t in texts], dtype=np.float32)

    fake = type(sys)("sentence_transformers")
    fake.SentenceTransformer = SentenceTransformer
    monkeypatch.setitem(sys.modules, "sentence_transformers", fake)
    code, out, _ = run(
        *("compare", captions_file, "--oracle", "preference", "--json"),
        *("--embedder", "sentence-transformers:some-model", "--budget", 5),
    )
    assert code == 0
    assert json.loads(out)["n_annotations"] == 5
    assert max(asked) <= 64


def test_without_the_extra_one_line_says_what_to_install(monkeypatch, run):
    imported = builtins.__import__

    def without_typer(name, *args, **kwargs):
        if name == "typer":
            raise ModuleNotFoundError("No module named 'typer'", name="typer")
        return imported(name, *args, **kwargs)

    monkeypatch.delitem(sys.modules, "skdiffuse.cli._app", raising=False)
    monkeypatch.setattr(builtins, "__import__", without_typer)
    code, _, err = run("demo")
    assert code == 2
    assert err.count("\n") == 1
    assert "pip install 'skdiffuse[cli]'" in err


def test_help_and_version(run):
    code, out, _ = run()
    assert code == 0
    assert "compare" in out
    assert run("--version")[1].startswith("skdiffuse ")
    for command in ("demo", "select", "compare", "estimate", "plan"):
        code, out, _ = run(command, "--help")
        assert code == 0
        assert "--json" in out


def test_reader_that_leaves_is_no_error(captions_file):
    command = [sys.executable, "-m", "skdiffuse", "compare", captions_file]
    process = subprocess.Popen(
        [*command, "--oracle", "preference"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdout.close()
    err = process.stderr.read()
    process.stderr.close()
    assert process.wait() == 0
    assert err == b""


def test_a_name_is_no_pattern(run, captions_frame, tmp_path):
    for ending in ("csv", "jsonl", "parquet"):
        write = f"write_{'ndjson' if ending == 'jsonl' else ending}"
        getattr(captions_frame, write)(tmp_path / f"g[1].{ending}")
        getattr(captions_frame.head(2), write)(tmp_path / f"g1.{ending}")
        path = tmp_path / f"g[1].{ending}"
        out = run("compare", path, "--oracle", "preference", "--json")[1]
        assert json.loads(out)["n_pool"] == 300
        pattern = tmp_path / f"g*.{ending}"
        assert "is not a file" in run("compare", pattern, "--oracle", "preference")[2]


def test_byte_order_mark_is_no_text(run, captions_frame, tmp_path):
    for ending in ("csv", "jsonl"):
        path = tmp_path / f"x.{ending}"
        getattr(captions_frame, "write_csv" if ending == "csv" else "write_ndjson")(
            path
        )
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
        columns = ("--output-a", "output_a", "--output-b", "output_b")
        assert run("compare", path, "--oracle", "preference", *columns)[0] == 0


def test_chats_as_inputs_are_written_as_json(run, captions_frame, tmp_path):
    path = tmp_path / "chat.jsonl"
    chat = [[{"role": "user", "content": f"é {i}"}] for i in range(300)]
    captions_frame.with_columns(input=pl.Series(chat)).write_ndjson(path)
    for ending in ("csv", "jsonl", "parquet"):
        out = tmp_path / f"out.{ending}"
        code, _, err = run("select", path, "--out", out, "--budget", 5)
        assert (code, err) == (0, "")
    chosen = pl.read_parquet(tmp_path / "out.parquet")
    assert json.loads(chosen["input"][0]) == chat[chosen["row"][0]]


def test_misspelt_input_is_an_error(run, captions_file, tmp_path):
    arguments = ("--out", tmp_path / "o.csv", "--input", "Input")
    code, _, err = run("select", captions_file, *arguments)
    assert code == 2
    assert "did you mean input?" in err


def test_categories_are_texts(run, captions_frame, tmp_path):
    path = tmp_path / "x.parquet"
    words = pl.Series(np.array(["B", "tie", "A"])[captions_frame["preference"] + 1])
    captions_frame.with_columns(
        pl.col("output_a").cast(pl.Categorical),
        preference=words.cast(pl.Enum(["A", "B", "tie"])),
    ).write_parquet(path)
    code, _, err = run("compare", path, "--oracle", "preference", "--budget", 20)
    assert (code, err) == (0, "")


@pytest.mark.parametrize(
    "environment",
    [{"PYTHONIOENCODING": "ascii"}, {"COLUMNS": "10"}, {"PYTHONIOENCODING": "cp1252"}],
    ids=str,
)
def test_any_terminal_shows_the_numbers(tmp_path, environment):
    path = tmp_path / "ü.csv"
    judged_frame().rename({"good": "裁", "label": "ラベル"}).write_csv(path)
    command = [sys.executable, "-m", "skdiffuse", "estimate", str(path)]
    shown = subprocess.run(
        [*command, "--label", "ラベル", "--judge", "裁"],
        capture_output=True,
        env={**os.environ, **environment},
        check=False,
    )
    assert (shown.returncode, shown.stderr) == (0, b"")
    assert b"PPI" in shown.stdout
    assert len(re.findall(rb"0\.\d+ to 0\.\d+", shown.stdout)) == 6


def test_closed_streams_are_no_error(captions_file):
    command = [sys.executable, "-m", "skdiffuse", "compare", str(captions_file)]
    for redirection, code in ((">&-", 0), ("2>&-", 0)):
        shell = f"{shlex.join([*command, '--oracle', 'preference'])} {redirection}"
        done = subprocess.run(shell, shell=True, capture_output=True, check=False)
        assert done.returncode == code
        assert done.stderr == b""
    shell = f"{shlex.join([*command, '--oracle', 'absent'])} 2>&-"
    done = subprocess.run(shell, shell=True, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (2, b"")


def test_out_of_memory_is_one_line(run, captions_file, monkeypatch):
    def fails(*_):
        raise MemoryError

    monkeypatch.setattr("skdiffuse.cli._embed.difference_vectors", fails)
    code, _, err = run("compare", captions_file, "--oracle", "preference")
    assert code == 2
    assert "--clustering kmeans" in err


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError("x")])
def test_interruption_and_faults_of_ours_are_one_line(
    run, captions_file, monkeypatch, error
):
    def fails(*_):
        raise error

    monkeypatch.setattr("skdiffuse.cli._embed.difference_vectors", fails)
    code, out, err = run("compare", captions_file, "--oracle", "preference")
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert "interrupted" in err or "unexpected ZeroDivisionError" in err


cells = st.sampled_from(
    ["", "1", "-1", "0", "0.5", "A", "tie", "x", "nan", "inf", "é\u202e"]
)


@settings(max_examples=40)
@given(rows=st.lists(st.tuples(cells, cells, cells), max_size=6))
def test_any_table_is_a_finite_result_or_one_line(rows, tmp_path_factory):
    path = tmp_path_factory.mktemp("fuzz") / "x.csv"
    pd.DataFrame(rows, columns=["output_a", "output_b", "p"]).to_csv(path, index=False)
    for arguments in (
        ["compare", path, "--oracle", "p", "--json"],
        ["estimate", path, "--label", "p", "--judge", "output_a", "--json"],
    ):
        command = [str(argument) for argument in arguments]
        with pytest.MonkeyPatch.context() as patch:
            printed = {"out": [], "err": []}
            for stream in printed:
                patch.setattr(sys, f"std{stream}", _Collector(printed[stream]))
            with pytest.raises(SystemExit) as stop:
                main(command)
        out, err = ("".join(printed[stream]) for stream in ("out", "err"))
        if stop.value.code == 0:
            json.loads(out, parse_constant=lambda name: pytest.fail(name))
            assert err == ""
        else:
            assert stop.value.code == 2
            assert out == ""
            assert err.count("\n") == 1
            assert "unexpected" not in err


class _Collector:
    encoding = "utf-8"

    def __init__(self, parts):
        self.write = parts.append

    def flush(self):
        pass

    def isatty(self):
        return False


@pytest.mark.parametrize(
    "name", ["alpaca_fusechat1b_vs_claude2", "nq_gpt4_vs_gpt35_human"]
)
def test_real_pairs_have_the_right_winner(run, real_data, name):
    path = real_data / "pairs" / f"{name}.jsonl"
    code, out, _ = run(
        "compare", path, "--oracle", "preference", "--budget", 100, "--json"
    )
    assert code == 0
    assert json.loads(out)["winner"] == "A"


def selected(run, source, tmp_path, *options):
    """Select rows, judge them by the preferences of the source, and return the path."""
    out, done = tmp_path / "chosen.jsonl", tmp_path / "done.jsonl"
    out.unlink(missing_ok=True)
    code, _, err = run("select", source, "--out", out, *options)
    assert (code, err) == (0, "")
    chosen = pl.read_ndjson(out, infer_schema_length=None)
    rows = chosen["row"].to_list()
    answers = pl.read_ndjson(source)["preference"][rows]
    chosen.with_columns(preference=answers.cast(pl.String)).write_ndjson(done)
    return done


@pytest.mark.parametrize("name", ["random", "weighted"])
def test_decide_says_by_how_much(run, captions_frame, captions_file, tmp_path, name):
    done = selected(
        run, captions_file, tmp_path, "--selector", name, "--budget", 40, "--seed", 3
    )
    code, out, err = run("decide", done, "--json")
    result = json.loads(out)
    assert (code, err) == (0, "")
    texts = [captions_frame[f"output_{which}"].to_list() for which in "ab"]
    X = difference_vectors(*texts, "tfidf", 3, lambda done, total: None)
    selector = (
        RandomSelector(40, random_state=3)
        if name == "random"
        else NormSelector(40, probability=True, random_state=3)
    )
    y = captions_frame["preference"].to_numpy()
    comparison = PreferenceComparison(selector, FixedBudget(), max_annotations=40)
    comparison.fit(X if name == "weighted" else np.zeros((300, 1)), y)
    expected = comparison.winning_distance()
    found = result["winning_distance"]
    assert found["method"] == "fixed sample"
    for key in ("mean", "low", "high", "standard_error"):
        assert found[key] == pytest.approx(getattr(expected, key))
    assert result["winner"] == {1: "A", 0: None, -1: "B"}[comparison.winner_]
    # The order of the rows in the file does not matter, nor what is beside them.
    shuffled = tmp_path / "shuffled.csv"
    table = pl.read_ndjson(done).sample(fraction=1.0, shuffle=True, seed=1)
    table.with_columns(note=pl.lit("x")).write_csv(shuffled)
    again = json.loads(run("decide", shuffled, "--json")[1])
    assert again["winning_distance"]["mean"] == pytest.approx(found["mean"])
    # The same weights stand beside the labels of the whole file.
    whole = captions_frame.with_row_index("row").join(
        table.select(pl.col("row").cast(pl.UInt32), *table.columns[5:]),
        on="row",
        how="left",
        maintain_order="left",
    )
    whole = whole.with_columns(
        label=pl.when(pl.col("draw").is_not_null()).then(pl.col("preference")),
        judge=0.5 * pl.col("preference"),
    )
    path = tmp_path / "whole.jsonl"
    whole.write_ndjson(path)
    options = ("--label", "label", "--judge", "judge", "--json")
    code, out, err = run("estimate", path, *options)
    assert (code, err) == (0, "")
    labels = np.full(300, np.nan)
    rows = comparison.annotated_indices_
    labels[rows] = y[rows]
    ridge = RidgePPIMeanEstimator(penalty="plugin").fit(
        0.5 * y[:, np.newaxis],
        labels,
        sample_weight=comparison.sample_weight() if name == "weighted" else None,
    )
    assert json.loads(out)["estimates"][-1]["mean"] == pytest.approx(ridge.mean_)


def test_decide_counts_one_example_a_cluster(run, captions_file, tmp_path):
    options = ("--representative", "random", "--budget", 30)
    done = selected(run, captions_file, tmp_path, *options)
    result = json.loads(run("decide", done, "--json")[1])
    assert result["winning_distance"]["method"] == "strata"
    chosen = pl.read_ndjson(done)
    sizes = 1 / chosen["probability"].to_numpy()
    assert sizes.sum() == pytest.approx(300)
    y = chosen["preference"].cast(pl.Float64).to_numpy()
    assert result["winning_distance"]["mean"] == pytest.approx(sizes @ y / 300)


def test_chosen_examples_are_no_sample(run, captions_file, tmp_path):
    done = selected(run, captions_file, tmp_path, "--budget", 20)
    code, out, _ = run("decide", done, "--json")
    result = json.loads(out)
    assert code == 0
    assert result["winning_distance"] is None
    assert "By how much cannot be told" in result["notes"][0]
    # Neither the other command nor a second selection makes a sample of them.
    for arguments in (
        ("compare", done, "--oracle", "preference", "--selector", "random"),
        ("select", done, "--selector", "random", "--out", tmp_path / "again.csv"),
    ):
        code, _, err = run(*arguments)
        assert code == 2
        assert "selection" in err
    code, out, _ = run("decide", done)
    assert "winning distance" not in out
    table = pl.read_ndjson(done).with_columns(judge=pl.lit(0.5))
    path = tmp_path / "judged.jsonl"
    table.write_ndjson(path)
    code, _, err = run("estimate", path, "--label", "preference", "--judge", "judge")
    assert code == 2
    assert "were chosen by diffuse, ward, cosine, seed 0 to find the winner" in err


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t[1:], "rows are missing or twice"),
        (lambda t: t.filter(pl.col("draw") < 9), "rows are missing or twice"),
        (lambda t: pl.concat([t, t[:1]]), "rows are missing or twice"),
        (lambda t: pl.concat([t[1:], t[1:2]]), "column 'draw' does not hold"),
        (lambda t: t.with_columns(row=5), "column 'row' holds a row twice"),
        (lambda t: t.drop("n_pool"), "but not n_pool"),
        (lambda t: t.rename({"selector": " Selector "}).drop("draw"), "but not draw"),
        (lambda t: t.drop("n_pool", "selector", "draw"), "if they were lost"),
        (lambda t: t.with_columns(n_pool=5), "12 of 5 were selected"),
        (lambda t: t.with_columns(n_pool=20.5), "no number of rows"),
        (lambda t: t.with_columns(n_pool=1e300), "no number of rows"),
        (lambda t: t.with_columns(n_pool=pl.lit("1,000")), "instead of a number"),
        (lambda t: t.with_columns(probability=pl.lit("A")), "instead of a number"),
        (lambda t: t.with_columns(draw=pl.lit(None)), "does not add up"),
        (
            lambda t: t.with_columns(
                draw=pl.when(pl.col("draw") > 1).then(pl.col("draw"))
            ),
            "'draw' is empty in row",
        ),
        (
            lambda t: t.with_columns(probability=pl.lit(None)),
            "although the rows were drawn by weighted",
        ),
        (lambda t: t.with_columns(n_pool=pl.int_range(pl.len())), "several selections"),
        (lambda t: t.with_columns(probability=2.0), r"outside (0, 1]"),
        (
            lambda t: t.with_columns(
                probability=pl.when(pl.col("draw") > 1).then(pl.col("probability"))
            ),
            "'probability' is empty in row",
        ),
        (
            lambda t: t.with_columns(
                preference=pl.when(pl.col("draw") > 1).then(pl.col("preference"))
            ),
            "has no answer in row",
        ),
        (lambda t: t.with_columns(preference=pl.lit("C")), "holds 'C'"),
        (lambda t: t.with_columns(selector=pl.lit("")), "'selector' is empty"),
    ],
)
def test_decide_refuses_a_selection_that_was_changed(
    run, captions_file, tmp_path, change, message
):
    done = selected(
        run, captions_file, tmp_path, "--selector", "weighted", "--budget", 12
    )
    path = tmp_path / "changed.csv"
    change(pl.read_ndjson(done)).write_csv(path)
    code, out, err = run("decide", path)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert message in err


@pytest.mark.parametrize("name", ["random", "weighted"])
def test_rounded_probabilities_cost_no_answer(run, captions_file, tmp_path, name):
    done = selected(run, captions_file, tmp_path, "--selector", name, "--budget", 12)
    size = json.loads(run("decide", done, "--json")[1])["winning_distance"]
    rounded = tmp_path / "rounded.csv"
    table = pl.read_ndjson(done)
    for digits in (9, 4, 2):
        cells = [f"{p:.{digits}g}" for p in table["probability"]]
        table.with_columns(probability=pl.Series(cells)).write_csv(rounded)
        code, out, err = run("decide", rounded, "--json")
        if digits == 9:
            found = json.loads(out)["winning_distance"]
            assert found["mean"] == pytest.approx(size["mean"], rel=1e-6)
        else:
            assert code == 2
            assert err.count("\n") == 1
            assert "rounded it; select anew with the same options" in err
    # What the message advises.
    selection = tmp_path / "chosen.jsonl"
    result = json.loads(run("decide", selection, rounded, "--json")[1])
    assert result["winning_distance"] == size


def test_estimate_needs_the_whole_selection(run, captions_file, tmp_path):
    done = selected(
        run, captions_file, tmp_path, "--selector", "weighted", "--budget", 12
    )
    table = pl.read_ndjson(done).with_columns(judge=pl.lit(0.5))
    part = table.with_columns(
        preference=pl.when(pl.col("draw") > 2).then(pl.col("preference"))
    )
    path = tmp_path / "part.csv"
    part.write_csv(path)
    columns = ("--label", "preference", "--judge", "judge")
    code, _, err = run("estimate", path, *columns)
    assert code == 2
    assert "judged in part" in err
    table.write_csv(path)
    code, _, err = run("estimate", path, *columns, "--weight", "probability")
    assert code == 2
    assert "drop --weight" in err


def test_compare_with_a_judge_and_known_ties(run, captions_frame, captions_file):
    y = captions_frame["preference"].to_numpy()
    tied = (captions_frame["output_a"] == captions_frame["output_b"]).to_numpy()
    assert tied.any()
    table = captions_frame.with_columns(judge=0.5 * pl.col("preference"))
    table.write_ndjson(captions_file)
    options = ("--oracle", "preference", "--rule", "betting", "--json")
    code, out, err = run(
        "compare", captions_file, *options, "--judge", "judge", "--known-ties",
        "identical",
    )  # fmt: skip
    assert (code, err) == (0, "")
    result = json.loads(out)
    comparison = PreferenceComparison(
        RandomSelector(200, random_state=0), BettingRule()
    ).fit(np.zeros((300, 1)), y, judge=0.5 * y, known_ties=tied)
    assert result["selected"] == comparison.annotated_indices_.tolist()
    assert result["n_pool"] == 300 - tied.sum()
    distance = comparison.winning_distance()
    assert result["winning_distance"]["low"] == pytest.approx(distance.low)
    assert result["winning_distance"]["standard_error"] is None
    code, out, _ = run(
        "compare", captions_file, *options[:-1], "--known-ties", "identical"
    )
    assert f"{tied.sum()} more are ties" in " ".join(out.split())
    assert "confidence sequence" in out
    for arguments, message in (
        (("--judge", "judge"), "--judge is of use with --selector random"),
        (("--judge", "none", "--selector", "random"), "no column 'none'"),
        (("--confidence", "2"), "--confidence 2 is not between"),
    ):
        code, _, err = run(
            "compare", captions_file, "--oracle", "preference", *arguments
        )
        assert code == 2
        assert message in err
    result = json.loads(
        run(
            "compare", captions_file, "--oracle", "preference", "--budget", 20,
            "--known-ties", "identical", "--json",
        )[1]
    )  # fmt: skip
    assert not tied[result["selected"]].any()


def test_selection_leaves_known_ties_out(run, captions_frame, captions_file, tmp_path):
    y = captions_frame["preference"].to_numpy()
    tied = (captions_frame["output_a"] == captions_frame["output_b"]).to_numpy()
    options = ("--selector", "random", "--budget", 40, "--known-ties", "identical")
    done = selected(run, captions_file, tmp_path, *options)
    table = pl.read_ndjson(done)
    assert not tied[table["row"].to_list()].any()
    assert table["n_ties"].unique().to_list() == [tied.sum()]
    result = json.loads(run("decide", done, "--json")[1])
    comparison = PreferenceComparison(
        RandomSelector(random_state=0), FixedBudget(), max_annotations=40
    ).fit(np.zeros((300, 1)), y, known_ties=tied)
    expected = comparison.winning_distance()
    assert result["winning_distance"]["mean"] == pytest.approx(expected.mean)
    assert result["winning_distance"]["high"] == pytest.approx(expected.high)
    assert sorted(result["selected"]) == sorted(comparison.annotated_indices_)


def test_everything_selected_is_the_exact_size(run, captions_frame, tmp_path):
    source = tmp_path / "few.jsonl"
    few = captions_frame.filter(pl.col("output_a") != pl.col("output_b"))[:12]
    few.write_ndjson(source)
    for options in (
        ("--selector", "norm"),
        ("--selector", "random"),
        ("--representative", "random"),
    ):
        done = selected(run, source, tmp_path, *options, "--budget", 12)
        if pl.read_ndjson(done).height < 12:
            continue
        result = json.loads(run("decide", done, "--json")[1])
        assert result["winning_distance"]["method"] == "exact"
        assert result["winning_distance"]["mean"] == few["preference"].mean()
        assert result["termination_condition"] == "all_annotated"


def test_second_file_of_a_pair_has_a_design_too(run, captions_file, tmp_path):
    done = selected(run, captions_file, tmp_path, "--budget", 20)
    b = pl.read_ndjson(done).with_columns(judge=pl.lit(0.5))
    design = ["selector", "draw", "probability", "n_selected", "n_pool", "n_ties"]
    paths = tmp_path / "a.csv", tmp_path / "b.csv"
    b.drop(design).write_csv(paths[0])
    b.write_csv(paths[1])
    options = ("--label", "preference", "--judge", "judge")
    code, _, err = run("estimate", paths[0], "--paired-with", paths[1], *options)
    assert code == 2
    assert "second file was selected by diffuse" in err
