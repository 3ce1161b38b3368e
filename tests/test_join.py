import errno
import json
import os
import shlex
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import seeds

from skdiffuse.cli._join import align

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


@pytest.fixture
def with_ids(files):
    ids = pl.Series("id", range(6))
    A.with_columns(ids).write_ndjson(files[0])
    B.with_columns(ids.reverse()).write_csv(files[1])
    return files


def test_equal_identifiers_of_other_inputs_are_refused(run, with_ids, tmp_path):
    out = tmp_path / "outputs.jsonl"
    table = pl.read_csv(with_ids[1])
    table.with_columns(id=pl.Series([0, *range(5, 0, -1)])).write_csv(with_ids[1])
    code, _, err = run("join", *with_ids, "--out", out)
    assert code == 2
    assert "joined by 'id', the inputs differ in 6 of 6 rows (first: row 0" in err
    assert "--on input" in err
    assert run("join", *with_ids, "--on", "input", "--out", out)[0] == 0
    # Whoever names the key says that it is one.
    out = tmp_path / "prompts.jsonl"
    text = run("join", *with_ids, "--on", "id", "--out", out)[1]
    assert "The inputs differ in 6 of 6 rows" in " ".join(text.split())
    assert {"input_a", "input_b"} <= set(pl.read_ndjson(out).columns)
    # Line ends and outer blanks make no other input.
    changed = table.with_columns(pl.col("input") + " \r\n")
    changed.write_csv(with_ids[1])
    out = tmp_path / "other.jsonl"
    assert run("join", *with_ids, "--out", out)[0] == 0
    assert pl.read_ndjson(out)["input"].to_list() == A["input"].to_list()


def test_other_identifiers_name_the_option(run, with_ids, tmp_path):
    pl.read_csv(with_ids[1]).with_columns(pl.col("id") + 7).write_csv(with_ids[1])
    err = run("join", *with_ids, "--out", tmp_path / "o.csv")[2]
    assert "or name another column with --on" in err


def test_keys_may_read_nan(run, files, tmp_path):
    a = pl.DataFrame({"input": ["nan", "null", "x"], "output": ["1", "2", "3"]})
    a.write_ndjson(files[0])
    a.reverse().write_csv(files[1])
    out = tmp_path / "o.jsonl"
    assert run("join", *files, "--out", out)[0] == 0
    assert pl.read_ndjson(out)["input"].to_list() == ["nan", "null", "x"]
    a.with_columns(input=pl.Series(["nan", " ", "x"])).write_csv(files[1])
    assert (
        "(--on) is empty in row 1"
        in run("join", *files, "--out", tmp_path / "p.csv")[2]
    )


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_columns_of_any_type_are_joined(run, tmp_path, ending):
    of_types = {
        "bytes": [b"\xff", b"x"],
        "nested": [[{"b": b"\xff"}], [{"b": None}]],
        "spell": [timedelta(1), None],
        "day": [date(2024, 1, 1), None],
        "price": [Decimal("1.5"), None],
        "chat": [[{"role": "user"}], None],
        "nothing": [None, None],
    }
    table = pl.DataFrame({"id": [b"\xff", b"y"], "output": ["a", "b"], **of_types})
    for which in "ab":
        path = tmp_path / f"{which}.parquet"
        table.with_columns(pl.lit(which).alias("output")).write_parquet(path)
    out = tmp_path / f"out.{ending}"
    paths = (tmp_path / "a.parquet", tmp_path / "b.parquet")
    code, text, err = run("join", *paths, "--out", out, "--json")
    assert (code, err) == (0, "")
    # Equal columns are kept once, whatever they hold.
    assert json.loads(text)["columns"] == ["id", "output_a", "output_b", *of_types]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"id;input;output\n1;x;a,b\n", "has semicolons between its columns"),
        (b"id\tinput\toutput\n1\tx\ta\n", "has tabs between its columns"),
        ("id,input,output\n1,x,a\n".encode("utf-16"), "is UTF-16 text; save it anew"),
        (b"id,output,output\n1,x,a\n", "has two columns 'output'; rename or drop"),
    ],
)
def test_tables_of_other_programs_are_named(run, files, tmp_path, content, message):
    files[1].write_bytes(content)
    code, _, err = run("join", *files, "--out", tmp_path / "o.csv")
    assert code == 2
    assert f"{files[1]} {message}" in err


def test_places_that_cannot_be_written(run, files, tmp_path, monkeypatch):
    out = tmp_path / "o.csv"
    out.symlink_to("nowhere")
    err = run("join", *files, "--out", out)[2]
    assert f"{out} exists and may hold annotations" in err
    with monkeypatch.context() as patch:
        patch.setattr("os.access", lambda path, mode: not mode & os.W_OK)
        err = run("join", *files, "--out", tmp_path / "p.csv")[2]
        assert "may not be written to; give another --out" in err

    real = Path.open

    def full(path, mode="r", *rest):
        if mode == "xb":
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(path, mode, *rest)

    monkeypatch.setattr(Path, "open", full)
    err = run("join", *files, "--out", tmp_path / "p.csv")[2]
    assert "p.csv cannot be written (No space left on device); mend that, or" in err


def test_next_commands_can_be_pasted(run, files, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    A.head(1).write_ndjson(files[0])
    B.tail(1).write_csv(files[1])
    out = "my outputs.csv"
    text = " ".join(run("join", *files, "--out", out)[1].split())
    assert "1 example written to my outputs.csv" in text
    assert f"skdiffuse annotate {shlex.quote(out)}" in text
