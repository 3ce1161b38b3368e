"""Selections in the formats of other tools, and their answers back."""

import contextlib
import csv
import io
import json
import tempfile
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skdiffuse.cli import _files, _label_studio, main

HOSTILE = [
    "<b>bold</b> <script>alert(1)</script> <!-- ",
    'say "hi", it\'s; a\tb',
    "one\ntwo\r\nthree\n\n  indented",
    "👩‍👩‍👧 é 漢字",
    "שלום עולם abc العربية \u202e",
    "\x1b[31mred\x1b[0m",
    "cost $5 & $input $left_output &amp; &lt; {{x}} {0}",
    "x" * 20_000,
    "",
    " ",
    "=1+1",
    "null",
    "\ufefffirst",
    "https://example.com/a.txt",
]
N = len(HOSTILE)
DESIGN = ["selector", "draw", "probability", "n_selected", "n_pool", "n_ties"]
WORDS = ["A", "tie", "B"]


def run(*arguments):
    """Run a command; return its exit code, and what it printed on both streams."""
    out, err = io.StringIO(), io.StringIO()
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        pytest.raises(SystemExit) as stop,
    ):
        main([str(argument) for argument in arguments])
    return stop.value.code, out.getvalue(), err.getvalue()


def verdict(*arguments):
    code, out, err = run("decide", *arguments, "--json")
    assert err == ""
    assert code == 0
    return json.loads(out)


def failure(*arguments):
    code, out, err = run("decide", *arguments)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    return err


@pytest.fixture(scope="module")
def pool(tmp_path_factory):
    """Write 40 examples, all but the first few of them harmless."""
    path = tmp_path_factory.mktemp("pool") / "pool.jsonl"
    pl.DataFrame(
        {
            "input": [*HOSTILE, None, *(f"input {i}" for i in range(39 - N))],
            "output_a": [f"{HOSTILE[i]}" if i < N else f"a {i}" for i in range(40)],
            "output_b": [f"b {i} {HOSTILE[-i % N]}" for i in range(40)],
        }
    ).write_ndjson(path)
    return path


def select(source, folder, form, *options):
    """Select for a tool; return the path."""
    names = {"csv": "s.csv", "jsonl": "s.jsonl", "label-studio": "s.json"}
    out = folder / names.get(form, "s")
    code, text, err = run("select", source, "--out", out, "--format", form, *options)
    assert (code, err) == (0, "")
    assert "skdiffuse decide" in " ".join(text.split())
    return out


@pytest.fixture(scope="module")
def selections(pool, tmp_path_factory):
    """Select the same 16 rows in all formats."""
    folder = tmp_path_factory.mktemp("selections")
    options = ("--selector", "random", "--budget", 16, "--seed", 5)
    forms = ("csv", "jsonl", "label-studio", "argilla")
    return {form: select(pool, folder, form, *options) for form in forms}


def tasks_of(path):
    return json.loads(path.read_text(encoding="utf-8"))


def records_of(folder):
    return json.loads((folder / "records.json").read_text(encoding="ascii"))


def side(word, left):
    """Say A, B or tie as an annotator does who sees two sides."""
    return "tie" if word == "tie" else "left" if word == left else "right"


# What the tools export: `said` has a list of (choice, state) for each row.


def annotation(number, choice, state, name="preference"):
    value = {"choices": [choice]}
    shown = {"from_name": name, "to_name": "left_output", "type": "choices"}
    return {
        "id": number,
        "completed_by": number % 3 + 1,
        "result": [{**shown, "id": "x", "origin": "manual", "value": value}],
        "was_cancelled": state == "cancelled",
        "created_at": "2024-05-01T10:00:00.000000Z",
        "lead_time": 3.2,
    }


def full_export(tasks, said, name="preference"):
    """Return tasks as Label Studio exports them as JSON."""
    exported = []
    for number, task in enumerate(tasks, start=1):
        given = said.get(task["data"]["row"], [])
        made = [
            (state, annotation(10 * number + place, choice, state, name))
            for place, (choice, state) in enumerate(given)
        ]
        exported.append(
            {
                "id": number,
                "annotations": [one for state, one in made if state != "draft"],
                "drafts": [
                    {"id": 1, "result": one["result"], "user": "ann@example.com"}
                    for state, one in made
                    if state == "draft"
                ],
                "predictions": [],
                **task,
                "meta": {},
                "inner_id": number,
                "project": 1,
            }
        )
    return exported


def flat_export(tasks, said):
    """Return annotations as Label Studio exports them as JSON-MIN."""
    return [
        {
            **task["data"],
            "id": number,
            "preference": choice,
            "annotator": 1,
            "annotation_id": 10 * number,
            "created_at": "2024-05-01T10:00:00.000000Z",
            "updated_at": "2024-05-01T10:00:00.000000Z",
            "lead_time": 3.2,
        }
        for number, task in enumerate(tasks, start=1)
        for choice, state in said.get(task["data"]["row"], [])
        if state is None
    ]


def records_export(records, said):
    """Return records as Argilla writes them to disk: without states of responses."""
    exported = []
    for record in records:
        given = said.get(record["metadata"]["row"], [])
        responses = [
            {"value": choice, "user_id": f"user {place}"}
            for place, (choice, _) in enumerate(given)
        ]
        done = any(state is None for _, state in given)
        exported.append(
            {
                **record,
                "responses": {"preference": responses} if responses else {},
                "status": "completed" if done else "pending",
                "_server_id": "1",
            }
        )
    return exported


def flat_records(records, said):
    """Return records as `to_list(flatten=True)` of Argilla does."""
    flat = []
    for record in records:
        given = said.get(record["metadata"]["row"], [])
        beside = {
            "preference.responses": [choice for choice, _ in given],
            "preference.responses.status": [s or "submitted" for _, s in given],
        }
        there = {"id": record["id"], "status": "pending", "_server_id": "1"}
        flat.append({**there, **record["fields"], **record["metadata"], **beside})
    return flat


def write_json(path, content):
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def write_csv(path, records):
    """Write a CSV file as Label Studio does: sorted, and all words quoted."""
    with path.open("w", encoding="utf-8") as file:
        names = sorted({name for record in records for name in record})
        writer = csv.DictWriter(file, names, quoting=csv.QUOTE_NONNUMERIC)
        writer.writeheader()
        writer.writerows(records)
    return path


def exports(selections, folder, said):
    """Write what all tools make of the answers; return (FILE, ANNOTATIONS) of each."""
    tasks, records = (
        tasks_of(selections["label-studio"]),
        records_of(selections["argilla"]),
    )
    left = {task["data"]["row"]: task["data"]["left"] for task in tasks}
    words = {
        row: [(side(word, left[row]), state) for word, state in given]
        for row, given in said.items()
    }
    studio, argilla = selections["label-studio"], selections["argilla"]
    full = write_json(folder / "full.json", full_export(tasks, words))
    small = write_json(folder / "min.json", flat_export(tasks, words))
    table = write_csv(folder / "export.csv", flat_export(tasks, words))
    disk = folder / "disk"
    disk.mkdir(exist_ok=True)
    records_file = write_json(disk / "records.json", records_export(records, words))
    flat = write_json(folder / "flat.json", flat_records(records, words))
    return {
        "Label Studio": (studio, full),
        "Label Studio alone": (full,),
        "JSON-MIN": (studio, small),
        "JSON-MIN alone": (small,),
        "CSV export": (studio, table),
        "CSV export alone": (table,),
        "design from a table": (selections["csv"], full),
        "Argilla": (argilla, disk),
        "Argilla alone": (disk,),
        "records": (argilla, records_file),
        "flat records": (argilla, flat),
        "flat records alone": (flat,),
        "other tool": (studio, flat),
    }


def fill_in(selection, words, path):
    """Fill in a plain selection."""
    table = pl.read_csv(selection, infer_schema=False)
    answers = [words[int(row)] for row in table["row"]]
    table.with_columns(preference=pl.Series(answers)).write_csv(path)
    return path


def rows_of(selections):
    return [task["data"]["row"] for task in tasks_of(selections["label-studio"])]


def test_label_studio_gets_tasks_and_a_configuration(pool, selections):
    path = selections["label-studio"]
    examples = pl.read_ndjson(pool)
    tasks = tasks_of(path)
    for task in tasks:
        assert list(task) == ["data"]
        data = task["data"]
        assert set(data) == {
            "row", "input", "left_output", "right_output", "left", *DESIGN
        }  # fmt: skip
        row = data["row"]
        texts = [examples[f"output_{which}"][row] for which in "ab"]
        if data["left"] == "B":
            texts.reverse()
        assert [data["left_output"], data["right_output"]] == texts
        assert data["input"] == (examples["input"][row] or "")
    root = ET.parse(path.with_suffix(".xml")).getroot()
    # Only texts are shown, and not what tells whose they are.
    shown = {tag.get("value") for tag in root.iter("Text")}
    assert shown == {"$input", "$left_output", "$right_output"}
    assert "$left<" not in path.with_suffix(".xml").read_text().replace('"', "<")
    choices = [tag.get("value") for tag in root.iter("Choice")]
    assert choices == ["left", "tie", "right"]
    # The keys of annotate.
    assert [tag.get("hotkey") for tag in root.iter("Choice")] == ["1", "0", "2"]
    control = root.find(".//Choices")
    assert control.get("name") == "preference"
    assert control.get("name") not in tasks[0]["data"]
    assert control.get("toName") in {tag.get("name") for tag in root.iter("Text")}


def test_argilla_gets_a_dataset(pool, selections):
    folder = selections["argilla"]
    hidden = folder / ".argilla"
    settings_ = json.loads((hidden / "settings.json").read_text())
    dataset = json.loads((hidden / "dataset.json").read_text())
    assert dataset["name"] == "s"
    assert settings_["allow_extra_metadata"]
    names = [field["name"] for field in settings_["fields"]]
    assert names == ["input", "left_output", "right_output"]
    assert not any(field["settings"]["use_markdown"] for field in settings_["fields"])
    (question,) = settings_["questions"]
    options = [option["value"] for option in question["settings"]["options"]]
    assert options == ["left", "tie", "right"]
    examples = pl.read_ndjson(pool)
    tasks = {
        task["data"]["row"]: task["data"] for task in tasks_of(folder.parent / "s.json")
    }
    for record in records_of(folder):
        row = record["metadata"]["row"]
        assert record["id"] == str(row)
        assert set(record["metadata"]) == {"row", "left", *DESIGN}
        # Both tools show the same sides.
        assert record["fields"]["left_output"] == tasks[row]["left_output"]
        assert record["fields"].get("input") == examples["input"][row]


@pytest.mark.parametrize("form", ["label-studio", "argilla"])
def test_sides_are_balanced_and_follow_the_seed(pool, tmp_path, form):
    def lefts(folder, seed):
        folder.mkdir()
        path = select(pool, folder, form, "--selector", "random", "--budget", 40,
                      "--seed", seed)  # fmt: skip
        if form == "argilla":
            return [record["metadata"]["left"] for record in records_of(path)]
        return [task["data"]["left"] for task in tasks_of(path)]

    first = lefts(tmp_path / "1", 0)
    assert Counter(first) == {"A": 20, "B": 20}
    assert lefts(tmp_path / "2", 0) == first
    assert lefts(tmp_path / "3", 1) != first


def test_no_input_is_no_part_of_the_page(pool, tmp_path):
    source = tmp_path / "p.jsonl"
    pl.read_ndjson(pool).drop("input").write_ndjson(source)
    options = ("--selector", "random", "--budget", 5)
    path = select(source, tmp_path, "label-studio", *options)
    assert "$input" not in path.with_suffix(".xml").read_text()
    ET.parse(path.with_suffix(".xml"))
    folder = select(source, tmp_path, "argilla", *options)
    fields = json.loads((folder / ".argilla/settings.json").read_text())["fields"]
    assert [field["name"] for field in fields] == ["left_output", "right_output"]


@pytest.mark.parametrize(
    ("form", "name", "message"),
    [
        ("csv", "x.jsonl", "--format csv writes a .csv file"),
        ("jsonl", "x.csv", "--format jsonl writes a .jsonl file"),
        ("label-studio", "x.csv", "give --out"),
        ("argilla", "x.json", "writes a folder"),
        ("argilla", "no/x", "does not exist"),
        ("label-studio", "no/x.json", "does not exist"),
    ],
)
def test_select_refuses_an_out_of_another_format(pool, tmp_path, form, name, message):
    code, _, err = run("select", pool, "--format", form, "--out", tmp_path / name)
    assert code == 2
    assert message in err
    assert not list(tmp_path.iterdir())


def test_select_names_the_format_of_json(pool, tmp_path):
    code, _, err = run("select", pool, "--out", tmp_path / "x.json")
    assert code == 2
    assert "--format label-studio" in err


@pytest.mark.parametrize("there", ["s.json", "s.xml", "s"])
def test_nothing_is_written_over(pool, tmp_path, there):
    (tmp_path / there).write_text("mine")
    form = "argilla" if there == "s" else "label-studio"
    out = tmp_path / ("s" if there == "s" else "s.json")
    arguments = ("select", pool, "--selector", "random", "--format", form, "--out", out)
    code, _, err = run(*arguments)
    assert code == 2
    assert "may hold annotations" in err
    assert [path.name for path in tmp_path.iterdir()] == [there]
    assert (tmp_path / there).read_text() == "mine"


@pytest.mark.parametrize("form", ["label-studio", "argilla", "csv"])
def test_nothing_half_written_stays(pool, tmp_path, monkeypatch, form):
    class Full(io.BytesIO):
        def write(self, content):
            raise OSError("no space left on device")

    def fill_up(path, mode="r", *rest, **named):
        """Open for real, and fail in writing the last file."""
        file = real(path, mode, *rest, **named)
        if mode != "xb":
            return file
        opened.append(path)
        if len(opened) < {"label-studio": 2, "argilla": 3, "csv": 1}[form]:
            return file
        file.close()
        return Full()

    opened, real = [], Path.open
    monkeypatch.setattr(Path, "open", fill_up)
    out = tmp_path / {"label-studio": "s.json", "argilla": "s", "csv": "s.csv"}[form]
    arguments = ("select", pool, "--selector", "random", "--format", form, "--out", out)
    code, _, err = run(*arguments)
    assert code == 2
    assert "no space left" in err
    assert not list(tmp_path.iterdir())


def test_a_file_that_came_between_is_kept(pool, tmp_path, monkeypatch):
    monkeypatch.setattr(_files, "check_absent", lambda path: None)
    (tmp_path / "s.xml").write_text("mine")
    table = pl.DataFrame({"row": [0], "output_a": ["a"], "output_b": ["b"],
                          "preference": [None]})  # fmt: skip
    with pytest.raises(FileExistsError):
        _label_studio.write(table, tmp_path / "s.json", 0)
    assert [path.name for path in tmp_path.iterdir()] == ["s.xml"]
    assert (tmp_path / "s.xml").read_text() == "mine"


@given(answers=st.lists(st.sampled_from(WORDS), min_size=16, max_size=16))
@settings(max_examples=8)
def test_every_format_gives_the_verdict_of_the_plain_file(selections, answers):
    words = dict(zip(rows_of(selections), answers, strict=True))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plain = verdict(fill_in(selections["csv"], words, folder / "filled.csv"))
        said = {row: [(word, None)] for row, word in words.items()}
        for tool, files in exports(selections, folder, said).items():
            assert verdict(*files) == plain, tool


@pytest.mark.parametrize("winner", ["A", "B"])
def test_the_winner_does_not_depend_on_the_sides(selections, tmp_path, winner):
    said = {row: [(winner, None)] for row in rows_of(selections)}
    for files in exports(selections, tmp_path, said).values():
        result = verdict(*files)
        assert result["winner"] == winner
        assert result["winning_distance"]["mean"] == (1 if winner == "A" else -1)


@pytest.mark.parametrize("options", ["--selector norm", "--representative random"])
def test_every_design_comes_back(pool, tmp_path, options):
    options = (*options.split(), "--budget", 9)
    chosen = {form: select(pool, tmp_path, form, *options)
              for form in ("csv", "label-studio", "argilla")}  # fmt: skip
    words = {row: WORDS[row % 3] for row in rows_of(chosen)}
    plain = verdict(fill_in(chosen["csv"], words, tmp_path / "filled.csv"))
    assert (plain["winning_distance"] is None) == ("norm" in options)
    said = {row: [(word, None)] for row, word in words.items()}
    for tool, files in exports(chosen, tmp_path, said).items():
        assert verdict(*files) == plain, tool


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_a_table_of_answers_in_any_order(selections, tmp_path, ending):
    rows = rows_of(selections)
    words = {row: WORDS[row % 3] for row in rows}
    plain = verdict(fill_in(selections["csv"], words, tmp_path / "filled.csv"))
    answers = pl.DataFrame({"row": rows, "who": [words[row] for row in rows]})
    # Rows beside the chosen ones may be there, if they have no answer.
    spare = pl.DataFrame({"row": sorted({*range(40)} - {*rows})})
    answers = pl.concat([answers, spare], how="diagonal").sample(
        fraction=1.0, shuffle=True, seed=2
    )
    path = tmp_path / f"answers.{ending}"
    getattr(answers, f"write_{'ndjson' if ending == 'jsonl' else ending}")(path)
    for form in ("csv", "jsonl", "label-studio", "argilla"):
        found = verdict(selections[form], path, "--preference", "who")
        assert found["counts"] == plain["counts"]
        assert found["winning_distance"] == plain["winning_distance"]
    assert "no column 'preference'" in failure(selections["csv"], path)


def test_spreadsheets_write_numbers_marks_and_line_ends(selections, tmp_path):
    rows = rows_of(selections)
    path = tmp_path / "answers.csv"
    lines = ["row,preference", *(f'"{row}.0", A ' for row in rows)]
    path.write_bytes(b"\xef\xbb\xbf" + "\r\n".join([*lines, ""]).encode())
    assert verdict(selections["argilla"], path)["counts"]["A"] == 16
    said = {row: [("A", None)] for row in rows}
    tools = exports(selections, tmp_path, said)
    for path in {files[-1] for files in tools.values() if files[-1].is_file()}:
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    for files in tools.values():
        assert verdict(*files)["winner"] == "A"


def test_several_answers_are_averaged(selections, tmp_path):
    rows = rows_of(selections)
    said = {row: [("A", None), ("A", None)] for row in rows}
    said[rows[0]] = [("A", None), ("B", None)]
    said[rows[1]] = [("B", None), ("B", None), ("tie", None)]
    said[rows[2]] = [("tie", None)]
    mean = (13 - 2 / 3) / 16
    for tool, files in exports(selections, tmp_path, said).items():
        result = verdict(*files)
        note = "15 of 16 rows have several answers, which were averaged; in 2 of them"
        assert any(note in text for text in result["notes"]), tool
        assert result["winning_distance"]["mean"] == pytest.approx(mean)
        to_disk = "to_disk" in result["notes"][0]
        assert to_disk == (tool in ("Argilla", "Argilla alone", "records"))


STATES = {
    "Label Studio": ("cancelled", "draft"),
    "flat records": ("discarded", "draft"),
}


@pytest.mark.parametrize("tool", STATES)
def test_skipped_answers_are_missing(selections, tmp_path, tool):
    rows = rows_of(selections)
    one, other = STATES[tool]
    said = {row: [("A", None)] for row in rows}
    said[rows[0]] = [("B", one)]
    said[rows[1]] = [("B", other)]
    del said[rows[2]]
    files = exports(selections, tmp_path, said)[tool]
    err = failure(*files)
    assert f"no answer for rows {rows[0]}, {rows[1]}, {rows[2]} (" in err
    assert f"skipped were rows {rows[0]}, {rows[1]} (1 {one}, 1 {other})" in err
    # Beside an answer that counts they are only told.
    said = {row: [("A", None), ("B", one)] for row in rows}
    result = verdict(*exports(selections, tmp_path, said)[tool])
    assert result["counts"]["A"] == 16
    assert f"16 skipped answers were not counted (16 {one})." in result["notes"]


def test_pending_records_do_not_count(selections, tmp_path):
    rows = rows_of(selections)
    said = {row: [("A", None)] for row in rows} | {rows[3]: [("B", "draft")]}
    err = failure(*exports(selections, tmp_path, said)["Argilla"])
    assert f"skipped were row {rows[3]} (1 draft or discarded, in a pending" in err


@pytest.mark.parametrize("tool", ["JSON-MIN", "CSV export"])
def test_flat_exports_leave_rows_out(selections, tmp_path, tool):
    rows = rows_of(selections)
    said = {row: [("A", None)] for row in rows[1:]}
    files = exports(selections, tmp_path, said)
    assert f"no answer for row {rows[0]} (by the column row): 1 of 16" in failure(
        *files[tool]
    )
    assert "An export leaves out what nobody answered" in failure(
        *files[f"{tool} alone"]
    )


def spoilt(selections, tmp_path, spoil, tool="Label Studio"):
    """Spoil an export in place; return its files."""
    said = {row: [("A", None)] for row in rows_of(selections)}
    files = exports(selections, tmp_path, said)[tool]
    last = files[-1] / "records.json" if files[-1].is_dir() else files[-1]
    content = json.loads(last.read_text())
    spoil(content)
    write_json(last, content)
    return files


def test_unknown_choices(selections, tmp_path):
    def choose(value):
        def spoil(tasks):
            tasks[2]["annotations"][0]["result"][0]["value"]["choices"] = value

        return spoil

    rows = rows_of(selections)
    err = failure(*spoilt(selections, tmp_path, choose(["both bad"])))
    assert f"holds 'both bad' in row {rows[2]}, which is none of left, tie or" in err
    err = failure(*spoilt(selections, tmp_path, choose(["left", "tie"])))
    assert "holds ['left', 'tie']" in err
    # On the page no output is called A.
    assert "holds 'A'" in failure(*spoilt(selections, tmp_path, choose(["A"])))
    answers = pl.DataFrame({"row": rows, "preference": ["2", *["A"] * 15]})
    answers.write_csv(tmp_path / "a.csv")
    err = failure(selections["csv"], tmp_path / "a.csv")
    assert f"holds '2' in row {rows[0]}, which is none of A, B, tie or a number" in err
    answers.with_columns(preference=pl.lit("left")).write_csv(tmp_path / "a.csv")
    err = failure(selections["csv"], tmp_path / "a.csv")
    assert "no file says which generator stood there" in err
    # Where the selection says it, a table may say left and right.
    verdict(selections["label-studio"], tmp_path / "a.csv")


@pytest.mark.parametrize("tool", ["Label Studio", "Argilla", "flat records"])
def test_questions_of_another_name(selections, tmp_path, tool):
    def rename(items):
        for item in items:
            for annotation in item.get("annotations", []):
                annotation["result"][0]["from_name"] = "better"
            if "responses" in item:
                item["responses"]["better"] = item["responses"].pop("preference")
            for name in [name for name in item if name.startswith("preference.")]:
                item[name.replace("preference", "better")] = item.pop(name)

    files = spoilt(selections, tmp_path, rename, tool)
    err = failure(*files)
    assert "no answers to 'preference', but to better: name one of them with" in err
    assert verdict(*files, "--preference", "better")["counts"]["A"] == 16


def test_sides_that_contradict(selections, tmp_path):
    def flip(tasks):
        data = tasks[1]["data"]
        data["left"] = "B" if data["left"] == "A" else "A"

    err = failure(*spoilt(selections, tmp_path, flip))
    assert (
        f"stood on the left in row {rows_of(selections)[1]}, and the selection" in err
    )

    def garble(tasks):
        tasks[1]["data"]["left"] = "x"

    assert "says that 'x' stood on the left" in failure(
        *spoilt(selections, tmp_path, garble)
    )

    def drop(tasks):
        for task in tasks:
            del task["data"]["left"]

    # The selection says it alone.
    assert verdict(*spoilt(selections, tmp_path, drop))["winner"] == "A"
    err = failure(selections["csv"], tmp_path / "full.json")
    assert "no file says which generator stood there" in err


def test_rows_that_do_not_fit(selections, tmp_path):
    rows = rows_of(selections)
    others = sorted({*range(40)} - {*rows})[:2]

    def table(numbers):
        pl.DataFrame(
            {"row": [str(n) for n in numbers], "preference": ["A"] * len(numbers)}
        ).write_csv(tmp_path / "a.csv")
        return selections["label-studio"], tmp_path / "a.csv"

    err = failure(*table([*rows, *others]))
    assert f"answers for rows {others[0]}, {others[1]}, which the selection does" in err
    err = failure(*table([*rows, rows[4], rows[2], rows[2]]))
    assert f"has rows {rows[2]}, {rows[4]} more than once" in err
    err = failure(*table([*rows[1:], "first"]))
    assert "its answer 15 (counted from zero) for the row 'first', which is no" in err
    err = failure(*table([*rows[1:], "1.5"]))
    assert "row '1.5', which is no number" in err

    def lose(tasks):
        del tasks[3]["data"]["row"]

    err = failure(*spoilt(selections, tmp_path, lose))
    assert "no `row` in its task 3 (counted from zero)" in err


def test_files_in_the_wrong_order(selections, tmp_path):
    said = {row: [("A", None)] for row in rows_of(selections)}
    files = exports(selections, tmp_path, said)
    mend = "give the file that select wrote first, and the annotations second"
    studio, full = files["Label Studio"]
    assert mend in failure(full, studio)
    assert mend in failure(*reversed(files["Argilla"]))
    answers = tmp_path / "a.csv"
    pl.DataFrame({"row": list(said), "preference": ["A"] * 16}).write_csv(answers)
    assert mend in failure(answers, studio)
    assert mend in failure(answers, selections["csv"])
    assert "both hold answers" in failure(full, answers)
    assert "has no columns selector" in failure(answers, answers)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.json", b"", "is empty"),
        ("x.csv", b"", "is empty"),
        ("x.json", b"[]", "has no examples"),
        ("x.json", b'[{"id": 1', "is not JSON"),
        ("x.json", b"[" * 100_000, "is not JSON"),
        ("x.json", b"\xff\xfe[\x00", "is not UTF-8"),
        ("x.json", b'{"a": 1}', "is not a list of JSON objects"),
        ("x.json", b'["a"]', "is not a list of JSON objects"),
        ("x.json", b'[{"a": 1}]', "no export of Label Studio"),
        ("x.csv", b"row,preference\n", "has no rows"),
        ("x.csv", b"id,preference\n1,A\n", "has no column row"),
        ("x.csv", b"row,choice\n1,A\n", "there is no column 'preference'"),
        ("x.xml", b"<View/>", "unknown ending"),
        ("x.txt", b"A", "unknown ending"),
        ("absent.json", None, "does not exist"),
        ("absent", None, "does not exist"),
    ],
)
def test_files_of_another_kind(selections, tmp_path, name, content, message):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    assert message in failure(selections["label-studio"], path)
    assert failure(path)


def test_folders_of_another_kind(selections, tmp_path):
    folder = tmp_path / "empty"
    folder.mkdir()
    assert "has no records.json" in failure(selections["argilla"], folder)
    write_json(folder / "records.json", [{"text": "x"}])
    assert "holds no records of Argilla" in failure(selections["argilla"], folder)


def test_odd_annotations_are_no_answers(selections, tmp_path):
    def spoil(tasks):
        tasks[0]["annotations"] = [7]
        tasks[1]["annotations"][0]["result"] = [{"value": "x"}, 3]
        tasks[2]["drafts"] = None

    rows = rows_of(selections)
    err = failure(*spoilt(selections, tmp_path, spoil))
    assert f"no answer for rows {rows[0]}, {rows[1]} (" in err


def test_report_says_what_to_do_next(pool, tmp_path):
    arguments = ("select", pool, "--selector", "random", "--budget", 3, "--format")
    text = run(*arguments, "label-studio", "--out", tmp_path / "t.json")[1]
    text = "".join(text.split())
    for part in ("t.xmlintoSettings>LabelingInterface", "import", "EXPORT.json"):
        assert part in text
    text = "".join(run(*arguments, "argilla", "--out", tmp_path / "t")[1].split())
    assert "argilla.Dataset.from_disk(" in text
    assert "to_disk('ANSWERS')" in text
    out = run(*arguments, "label-studio", "--out", tmp_path / "j.json", "--json")[1]
    result = json.loads(out)
    assert result["format"] == "label-studio"
    assert result["configuration"].endswith("j.xml")


def swapped_pool(pool, tmp_path):
    """Write the examples with the outputs of A as those of B, and the reverse."""
    path = tmp_path / "swapped.jsonl"
    names = {"output_a": "output_b", "output_b": "output_a"}
    pl.read_ndjson(pool).rename(names).write_ndjson(path)
    return path


def test_answers_to_other_texts_are_refused(pool, selections, tmp_path):
    # The same rows on the same sides, drawn from another file.
    options = ("--selector", "random", "--budget", 16, "--seed", 5)
    source, folder = swapped_pool(pool, tmp_path), tmp_path / "other"
    folder.mkdir()
    forms = ("csv", "jsonl", "label-studio", "argilla")
    others = {form: select(source, folder, form, *options) for form in forms}
    rows = rows_of(selections)
    assert rows_of(others) == rows
    said = {row: [("A", None)] for row in rows}
    filled = fill_in(others["csv"], dict.fromkeys(rows, "A"), tmp_path / "filled.csv")
    answers = [filled, *(f[-1] for f in exports(others, tmp_path, said).values())]
    for selection in selections.values():
        for path in answers:
            err = failure(selection, path)
            assert "has other outputs than" in err
            assert f"in rows {rows[0]}, {rows[1]}, " in err
            assert "give the file that select wrote for them" in err


def test_texts_may_have_other_line_ends_and_outer_blanks(selections, tmp_path):
    rows = rows_of(selections)
    filled = fill_in(selections["csv"], dict.fromkeys(rows, "A"), tmp_path / "f.csv")
    texts = pl.col("output_a", "output_b")
    changed = pl.read_csv(filled, infer_schema=False).with_columns(
        texts.str.replace_all("\r\n", "\n").str.replace_all("\n", "\r\n") + " \n"
    )
    changed.write_csv(tmp_path / "changed.csv")
    for selection in selections.values():
        assert verdict(selection, tmp_path / "changed.csv")["winner"] == "A"


def test_sides_of_a_table_must_not_contradict(pool, selections, tmp_path):
    tasks = [task["data"] for task in tasks_of(selections["label-studio"])]
    table = pl.DataFrame(
        {
            "row": [task["row"] for task in tasks],
            "left": [task["left"] for task in tasks],
            "preference": [side("A", task["left"]) for task in tasks],
        }
    )
    path = tmp_path / "a.csv"
    table.write_csv(path)
    # Who stood where is known from the answers, if the selection does not say it.
    for form in ("csv", "label-studio", "argilla"):
        assert verdict(selections[form], path)["counts"]["A"] == 16
    other = pl.when(pl.col("left") == "A").then(pl.lit("B")).otherwise(pl.lit("A"))
    table.with_columns(left=other).write_csv(path)
    err = failure(selections["label-studio"], path)
    assert f"stood on the left in row {tasks[0]['row']}, and the selection" in err


@pytest.mark.parametrize(
    ("name", "value"), [("selector", "random, seed 6"), ("n_pool", 41), ("draw", 17)]
)
def test_answers_to_rows_of_another_design(selections, tmp_path, name, value):
    rows = rows_of(selections)
    path = fill_in(selections["csv"], dict.fromkeys(rows, "A"), tmp_path / "f.csv")
    # A spreadsheet may round what is known better here.
    table = pl.read_csv(path).with_columns(pl.col("probability").round(2))
    table.write_csv(path)
    assert verdict(selections["csv"], path)["winner"] == "A"
    table.with_columns(pl.lit(value).alias(name)).write_csv(path)
    err = failure(selections["csv"], path)
    assert f"in column {name!r} for row {rows[0]}, and" in err
    assert "drop them from the annotations" in err


def test_columns_of_select_are_known_in_any_case(selections, tmp_path):
    rows = rows_of(selections)
    path = fill_in(selections["csv"], dict.fromkeys(rows, "A"), tmp_path / "f.csv")
    plain = verdict(path)
    table = pl.read_csv(path, infer_schema=False)
    kept = table.rename(lambda n: n if n == "preference" else f" {n.title()}")
    kept.write_csv(path)
    assert verdict(path) == plain
    assert verdict(path)["selected"] == rows
    table.select(Row="row", preference="preference").write_csv(path)
    assert verdict(selections["csv"], path)["counts"] == plain["counts"]


def test_selected_are_numbers_or_nothing(selections, tmp_path):
    rows = rows_of(selections)
    path = fill_in(selections["csv"], dict.fromkeys(rows, "A"), tmp_path / "f.csv")
    table = pl.read_csv(path, infer_schema=False)
    table.drop("row").write_csv(path)
    assert verdict(path)["selected"] is None
    for cells, message in (
        (["x", *rows[1:]], "column 'row' of"),
        ([f"{rows[1]}.0", *rows[1:]], f"holds a row twice in {path} (row {rows[1]})"),
    ):
        numbers = pl.Series([str(cell) for cell in cells])
        table.with_columns(row=numbers).write_csv(path)
        assert message in failure(path)


def test_blank_rows_are_no_answers(selections, tmp_path):
    rows = rows_of(selections)
    path = tmp_path / "a.csv"
    path.write_text(
        "".join(["row,preference\n", *(f"{r},A\n" for r in rows), ",\n,\n"])
    )
    assert verdict(selections["csv"], path)["winner"] == "A"
    said = {row: [("A", None)] for row in rows}
    files = exports(selections, tmp_path, said)["CSV export"]
    with files[-1].open("a", encoding="utf-8") as file:
        file.write("," * (len(pl.read_csv(files[-1]).columns) - 1) + "\n")
    assert verdict(*files)["winner"] == "A"
    with path.open("a") as file:
        file.write(",A\n")
    assert "its answer 18 (counted from zero) for the row None" in failure(
        selections["csv"], path
    )


@pytest.mark.parametrize("tool", ["Argilla", "flat records"])
@pytest.mark.parametrize("responses", ["left", 7, {"value": "left"}, ["left"]])
def test_responses_of_another_shape(selections, tmp_path, tool, responses):
    def spoil(records):
        if tool == "Argilla":
            records[2]["responses"]["preference"] = responses
        else:
            records[2]["preference.responses"] = responses

    if tool == "flat records" and responses == ["left"]:
        return
    err = failure(*spoilt(selections, tmp_path, spoil, tool))
    assert "responses in its record 2 (counted from zero) that are no list" in err


def test_half_a_character_is_no_fault_of_ours(selections, tmp_path):
    def spoil(tasks):
        tasks[1]["data"]["selector"] = "\ud800"
        tasks[1]["data"]["left_output"] += "\ud800"

    err = failure(*spoilt(selections, tmp_path, spoil))
    assert "'\\\\ud800' in column 'selector'" in err


def test_long_values_are_quoted_in_part(selections, tmp_path):
    answers = pl.DataFrame({"row": rows_of(selections), "preference": "x" * 5000})
    answers.write_csv(tmp_path / "a.csv")
    err = failure(selections["csv"], tmp_path / "a.csv")
    assert f"'{'x' * 199}... in row" in err


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_texts_of_another_encoding(selections, tmp_path, ending):
    path = tmp_path / f"a.{ending}"
    path.write_bytes("row,preference\n1,é\n".encode("latin-1"))
    err = failure(selections["csv"], path)
    assert f"a.{ending} is not UTF-8 text (line 2); save it anew as UTF-8" in err


def test_nested_answers_are_quoted_in_a_line(selections, tmp_path):
    rows = rows_of(selections)
    path = tmp_path / "a.jsonl"
    pl.DataFrame({"row": rows, "preference": [["A"]] * 16}).write_ndjson(path)
    assert f"holds ['A'] in row {rows[0]}, which" in failure(selections["csv"], path)


def test_lost_columns_cost_no_answer(pool, selections, tmp_path):
    rows = rows_of(selections)
    path = fill_in(selections["csv"], dict.fromkeys(rows, "A"), tmp_path / "f.csv")
    pl.read_csv(path, infer_schema=False).drop(DESIGN).write_csv(path)
    assert "and this one, for its answers, as ANNOTATIONS" in failure(path)
    assert verdict(selections["csv"], path)["winner"] == "A"
