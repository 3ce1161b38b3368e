import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import seeds

from skdiffuse.cli import main
from skdiffuse.cli._join import align


@pytest.fixture
def run(capsys):
    def run(*arguments):
        with pytest.raises(SystemExit) as stop:
            main([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        return stop.value.code, printed.out, printed.err

    return run


A = pl.DataFrame(
    {
        "input": [f"what is {i}?" for i in range(6)],
        "topic": ["x", "y", None, "x", "y", "z"],
        "output": [f"a{i}" for i in range(6)],
        "seconds": [0.5, 1, 2, 3, 4, 5],
    }
)
B = A.with_columns(
    output=pl.Series([f"b{i}" for i in range(6)]), seconds=pl.lit(1.0)
).reverse()


@pytest.fixture
def files(tmp_path):
    paths = tmp_path / "a.jsonl", tmp_path / "b.csv"
    A.write_ndjson(paths[0])
    B.write_csv(paths[1])
    return paths


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_two_files_become_one_in_the_order_of_the_first(
    run, files, tmp_path, monkeypatch, ending
):
    monkeypatch.chdir(tmp_path)
    out = Path(f"outputs.{ending}")
    code, text, err = run("join", *files, "--out", out)
    assert (code, err) == (0, "")
    said = " ".join(text.split())
    assert "6 examples written to" in said
    assert f"skdiffuse annotate {out}" in said
    assert f"skdiffuse compare {out} --oracle COLUMN" in said
    read = {"csv": pl.read_csv, "parquet": pl.read_parquet}.get(ending, pl.read_ndjson)
    joined = read(out)
    assert joined.columns == [
        *("input", "output_a", "output_b", "topic", "seconds_a", "seconds_b")
    ]
    for name in ("input", "topic"):
        assert joined[name].to_list() == A[name].to_list()
    assert joined["output_a"].to_list() == A["output"].to_list()
    assert joined["output_b"].to_list() == B["output"].to_list()[::-1]
    before = out.read_bytes()
    code, _, err = run("join", *files, "--out", out)
    assert code == 2
    assert "exists" in err
    assert out.read_bytes() == before
    result = json.loads(
        run("compare", out, "--oracle", "seconds_b", "--budget", 6, "--json")[1]
    )
    assert result["winner"] == "A"


def test_identifiers_come_before_inputs(run, files, tmp_path):
    ids = pl.Series("id", range(6))
    A.with_columns(ids).write_ndjson(files[0])
    B.with_columns(ids.reverse()).drop("input", "topic").write_csv(files[1])
    out = tmp_path / "outputs.jsonl"
    result = json.loads(run("join", *files, "--out", out, "--json")[1])
    assert result["on"] == "id"
    assert result["columns"] == pl.read_ndjson(out).columns
    assert result["columns"][:4] == ["id", "input", "output_a", "output_b"]
    assert pl.read_ndjson(out)["output_b"].to_list() == [f"b{i}" for i in range(6)]
    # Only one has identifiers: the inputs are what both have.
    B.write_csv(files[1])
    other = tmp_path / "other.jsonl"
    result = json.loads(run("join", *files, "--out", other, "--json")[1])
    assert result["on"] == "input"
    assert "id" in result["columns"]


def test_chats_are_keys_too_and_text_in_csv(run, tmp_path):
    chats = [[{"role": "user", "content": f"é {i}"}] for i in range(3)]
    for name in "ab":
        frame = pl.DataFrame({"input": chats, "answer": [f"{name}{i}" for i in "012"]})
        frame.write_ndjson(tmp_path / f"{name}.jsonl")
    paths = [tmp_path / f"{name}.jsonl" for name in "ab"]
    for ending, read in (("csv", pl.read_csv), ("jsonl", pl.read_ndjson)):
        out = tmp_path / f"out.{ending}"
        code, _, err = run("join", *paths, "--output", "answer", "--out", out)
        assert (code, err) == (0, "")
        inputs = read(out)["input"].to_list()
        assert [json.loads(i) if ending == "csv" else i for i in inputs] == chats


@pytest.mark.parametrize(
    ("a", "b", "options", "message"),
    [
        (A, B.drop("output"), [], "b.csv: there is no column 'output'"),
        (A.drop("input"), B, [], "a.jsonl: there is no column 'input'"),
        (A, B, ["--on", "id"], "a.jsonl: there is no column 'id'"),
        (A, B, ["--on", "topic"], "a.jsonl: column 'topic' (--on) is empty in row 2"),
        (A, B, ["--on", "output"], "--on and --output are both 'output'"),
        (A, B.with_columns(output=None), [], "b.csv: column 'output' has no output"),
        (
            A,
            B.head(2),
            [],
            "'what is 0?', 'what is 1?', 'what is 2?' and 1 more of the first file are "
            "not in the second (4 of 6 rows); give both",
        ),
        (
            A.head(5),
            B.head(5),
            [],
            "'what is 0?' of the first file is not in the second (1 of 5 rows), and "
            "'what is 5?' of the second file is not in the first (1 of 5 rows)",
        ),
        (
            A,
            B.with_columns(input=pl.Series([*"xyxyx", "z" * 99])),
            [],
            "of the second file has 'x' in rows 0, 2, 4 (counted from zero; 1 more key",
        ),
        (
            A.with_columns(input=pl.lit("x" * 5000)),
            B,
            [],
            f"of the first file has '{'x' * 40}...' in rows 0, 1, 2 and 3 more (",
        ),
        (A.with_columns(output_b=1), B, [], "would have two columns 'output_b'"),
        (
            A.with_columns(seconds_a=1),
            B,
            [],
            "would have two columns 'seconds_a'; rename",
        ),
    ],
)
def test_files_that_do_not_join_are_one_line(
    run, files, tmp_path, a, b, options, message
):
    a.write_ndjson(files[0])
    b.write_csv(files[1])
    out = tmp_path / "outputs.csv"
    code, text, err = run("join", *files, "--out", out, *options)
    assert (code, text) == (2, "")
    assert err.count("\n") == 1
    assert message in err
    assert not out.exists()


def test_one_file_twice_is_told(run, files, tmp_path):
    out = tmp_path / "outputs.csv"
    code, text, _ = run("join", files[0], files[0], "--out", out)
    assert code == 0
    assert "one file twice" in text


def test_bad_paths_are_one_line(run, files, tmp_path):
    for arguments, message in (
        ((files[0], tmp_path / "no.csv", "--out", tmp_path / "o.csv"), "is not a file"),
        ((*files, "--out", tmp_path / "no" / "o.csv"), "does not exist"),
        ((*files, "--out", tmp_path / "o.txt"), "unknown ending"),
    ):
        code, _, err = run("join", *arguments)
        assert code == 2
        assert err.count("\n") == 1
        assert message in err


@given(n=st.integers(1, 30), seed=seeds)
def test_order_of_the_second_file_does_not_matter(n, seed):
    rng = np.random.default_rng(seed)
    a = pl.DataFrame(
        {
            "key": rng.permutation(n),
            "text": [f"a{i}" for i in range(n)],
            "shared": rng.integers(0, 3, n),
            "mine": rng.normal(size=n),
        }
    )
    b = a.select("key", "shared", text="mine", theirs="text").with_columns(
        other=pl.lit(None)
    )
    joined = align(a, b, "key", "text")
    shuffled = align(a, b[rng.permutation(n).tolist()], "key", "text")
    assert joined.equals(shuffled)
    assert joined["key"].equals(a["key"])
    assert joined["output_a"].to_list() == joined["theirs"].to_list()
    assert joined["output_b"].to_list() == joined["mine"].cast(pl.String).to_list()
    assert joined.columns == [
        *("key", "output_a", "output_b", "shared", "mine", "theirs", "other")
    ]
