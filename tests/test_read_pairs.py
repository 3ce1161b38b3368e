"""Files of harnesses, written as the harnesses write them, and as they should not."""

import io
import json
import struct
import sys
import types
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skdiffuse import PairDifference
from skdiffuse.datasets import read_pairs

ASKED = ["Name a red fruit.", "2 + 2?", "Name a\u2028line end."]
OUTPUTS = {"a": ["an apple", "4", "\u2028"], "b": ["a cherry", "four", "a pause"]}
RIGHT = ["apple", "4", "LS"]


def lm_eval_samples(side, filters=("none",), repeats=1):
    """Samples as --log_samples writes them: a line for each filter and document."""
    return [
        {
            "doc_id": i,
            "doc": {"question": asked, "answer": RIGHT[i], "level": float("nan")},
            "target": RIGHT[i],
            "arguments": {
                "gen_args_0": {
                    "arg_0": f"<{side}> Question: {asked}",
                    "arg_1": {"until": ["\n"]},
                }
            },
            "resps": [[OUTPUTS[side][i]] * repeats],
            "filtered_resps": [OUTPUTS[side][i][:2]],
            "filter": name,
            "metrics": ["exact_match", "bleu"],
            "exact_match": float(number + i) if i else float("nan"),
            "bleu": [RIGHT[i], OUTPUTS[side][i]],
        }
        for number, name in enumerate(filters)
        for i, asked in enumerate(ASKED)
    ]


def helm_state(side, trials=1, typos=False, method="generation"):
    states = []
    for trial in range(trials):
        for perturbation in [None, {"name": "typos"}] if typos else [None]:
            for i, asked in enumerate(ASKED):
                instance = {
                    "input": {"text": asked + ("!" if perturbation else "")},
                    "references": [
                        {"output": {"text": RIGHT[i]}, "tags": ["correct"]},
                        {"output": {"text": "coal"}, "tags": []},
                    ],
                    "split": "test",
                    "id": f"id{i}",
                }
                if perturbation:
                    instance["perturbation"] = perturbation
                completion = {"text": OUTPUTS[side][i], "logprob": -1, "tokens": []}
                states.append(
                    {
                        "instance": instance,
                        "train_trial_index": trial,
                        "request": {"model": f"org/{side}", "prompt": "few shots"},
                        "result": {"success": True, "completions": [completion]},
                    }
                )
    spec = {"method": method, "model": f"org/{side}"}
    return {"adapter_spec": spec, "request_states": states}


def helm_stats(state):
    """One entry a metric, as HELM writes them."""
    stats = []
    for row, request in enumerate(state["request_states"]):
        for name, value in {"exact_match": float(row), "num_bytes": 3}.items():
            stat = {"name": {"name": name, "split": "test"}, "count": 1, "mean": value}
            one = {
                "instance_id": request["instance"]["id"],
                "train_trial_index": request["train_trial_index"],
                "stats": [stat],
            }
            if "perturbation" in request["instance"]:
                one["perturbation"] = request["instance"]["perturbation"]
            stats.append(one)
    return stats


def inspect_log(side, epochs=1, scorers=("includes",)):
    """Samples in the order in which they ended, not that of the dataset."""
    samples = []
    for epoch in range(1, epochs + 1):
        for i in (2, 0, 1):
            given = ASKED[i]
            if i == 1:
                given = [
                    {"role": "system", "content": "Be brief."},
                    {"role": "user", "content": [{"type": "text", "text": given}]},
                ]
            if i == 2:
                given = "attachment://f00d"
            content = OUTPUTS[side][i]
            if side == "b":
                content = [
                    {"type": "reasoning", "reasoning": "hm"},
                    {"type": "text", "text": content},
                ]
            samples.append(
                {
                    "id": "fruit" if i == 0 else i,
                    "epoch": epoch,
                    "input": given,
                    "target": [RIGHT[i], RIGHT[i].upper()],
                    "output": {
                        "choices": [
                            {"message": {"role": "assistant", "content": content}}
                        ]
                    },
                    "scores": {
                        name: {"value": "CIP"[i], "answer": "x"} for name in scorers
                    },
                    "attachments": {"f00d": ASKED[2]},
                }
            )
    dataset = {"samples": 3, "sample_ids": ["fruit", 1, 2]}
    head = {"model": f"org/{side}", "dataset": dataset}
    return {"status": "success", "eval": head, "plan": {}, "samples": samples}


def alpaca_outputs(side):
    return [
        {"dataset": "own", "instruction": q, "output": o, "generator": f"org/{side}"}
        for q, o in zip(ASKED, OUTPUTS[side], strict=True)
    ]


def plain_records(side):
    rows = zip("xyz", ASKED, OUTPUTS[side], [1, 0.5, None], strict=True)
    return [{"id": n, "input": q, "output": o, "score": s} for n, q, o, s in rows]


def write_json(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=2), encoding="utf-8")
    return path


def write_lines(path, records):
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(record, ensure_ascii=False) + "\n" for record in records]
    path.write_bytes("".join(lines).encode())
    return path


def write_archive(path, log, compression=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", compression) as archive:
        head = {key: value for key, value in log.items() if key != "samples"}
        archive.writestr("_journal/start.json", json.dumps(head))
        for sample in log["samples"]:
            name = f"samples/{sample['id']}_epoch_{sample['epoch']}.json"
            archive.writestr(name, json.dumps(sample))
        archive.writestr("summaries.json", "[]")
        archive.writestr("header.json", json.dumps(head))
    return path


def write_helm(folder, state):
    write_json(folder / "scenario_state.json", state)
    write_json(folder / "per_instance_stats.json", helm_stats(state))
    return folder


def write_lm_eval(folder, samples, model):
    date = "2026-01-02T03-04-05.678901"
    write_json(folder / f"results_{date}.json", {"model_name": model, "results": {}})
    write_json(folder / "results_2025-01-01T00-00-00.json", {"model_name": "older"})
    return write_lines(folder / f"samples_own_task_{date}.jsonl", samples)


FORMATS = {
    "HELM": lambda folder, side: write_helm(folder / side, helm_state(side)),
    "lm-evaluation-harness": lambda folder, side: (
        write_lm_eval(folder / side, lm_eval_samples(side), f"org/{side}").parent
    ),
    "Inspect": lambda folder, side: write_json(
        folder / side / "log.json", inspect_log(side)
    ),
    "AlpacaEval": lambda folder, side: (
        write_json(folder / side / "model_outputs.json", alpaca_outputs(side)).parent
    ),
    "plain JSON": lambda folder, side: write_lines(
        folder / f"{side}.jsonl", plain_records(side)
    ),
}
IDS = {
    "HELM": ["id0", "id1", "id2"],
    "lm-evaluation-harness": [0, 1, 2],
    "Inspect": ["fruit", 1, 2],
    "AlpacaEval": ASKED,
    "plain JSON": ["x", "y", "z"],
}


@pytest.mark.parametrize("name", FORMATS)
def test_each_format_is_recognised_and_aligned(name, tmp_path):
    runs = read_pairs(*(FORMATS[name](tmp_path, side) for side in "ab"))
    assert (runs.format_a, runs.format_b) == (name, name)
    assert runs.pairs == list(zip(OUTPUTS["a"], OUTPUTS["b"], strict=True))
    assert runs.ids == IDS[name]
    assert runs.dropped == []
    for asked, shown in zip(ASKED, runs.inputs, strict=True):
        assert asked in shown
    if name != "plain JSON":
        assert (runs.name_a, runs.name_b) == ("org/a", "org/b")
    if name in ("AlpacaEval", "plain JSON"):
        assert runs.targets is None
    else:
        assert [t.split("\n")[0] for t in runs.targets] == RIGHT
    lengths = PairDifference(lambda texts: [[len(text)] for text in texts])
    assert lengths.fit_transform(runs.pairs).shape == (3, 1)


@pytest.mark.parametrize(
    ("name", "metric", "scores"),
    [
        ("HELM", None, None),
        ("lm-evaluation-harness", "exact_match", [np.nan, 1, 2]),
        ("Inspect", "includes", [1, 0, 0.5]),
        ("AlpacaEval", None, None),
        ("plain JSON", "score", [1, 0.5, np.nan]),
    ],
)
def test_the_only_metric_is_taken(name, metric, scores, tmp_path):
    runs = read_pairs(*(FORMATS[name](tmp_path, side) for side in "ab"))
    assert runs.metric == metric
    for values in (runs.score_a, runs.score_b):
        if scores is None:
            assert values is None
        else:
            np.testing.assert_array_equal(values, scores)


def test_a_metric_is_taken_by_its_name(tmp_path):
    a, b = (FORMATS["HELM"](tmp_path, side) for side in "ab")
    runs = read_pairs(a, b, metric="exact_match")
    assert runs.metrics == ["exact_match", "num_bytes"]
    np.testing.assert_array_equal(runs.score_a, [0, 1, 2])
    with pytest.raises(ValueError, match=r"metric='f1' is no score of path_a and path"):
        read_pairs(a, b, metric="f1")
    # Not a number an example: it is computed over the whole corpus.
    a, b = (write_lines(tmp_path / f"{s}.jsonl", lm_eval_samples(s)) for s in "ab")
    with pytest.raises(ValueError, match=r"'bleu' is no .* both have 'exact_match'\."):
        read_pairs(a, b, metric="bleu")


def test_scores_of_inspect_are_numbers_by_its_rule(tmp_path):
    logs = []
    for side in "ab":
        log = inspect_log(side)
        values = ["I", {"yes": "yes", "half": 0.5, "word": "fine"}, True]
        for sample, value in zip(log["samples"], values, strict=True):
            sample["scores"]["own"] = {"value": value}
        logs.append(write_json(tmp_path / f"{side}.json", log))
    runs = read_pairs(*logs, metric="own/yes")
    assert runs.metrics == ["includes", "own/yes", "own/half", "own"]
    np.testing.assert_array_equal(runs.score_a, [1, np.nan, np.nan])
    runs = read_pairs(*logs, metric="own")
    np.testing.assert_array_equal(runs.score_a, [np.nan, 1, 0])


def test_archives_of_inspect_are_read(tmp_path):
    logs = [write_archive(tmp_path / f"{s}.eval", inspect_log(s)) for s in "ab"]
    as_json = [write_json(tmp_path / f"{s}.json", inspect_log(s)) for s in "ab"]
    found, expected = read_pairs(*logs), read_pairs(*as_json)
    np.testing.assert_array_equal(found.pop("score_a"), expected.pop("score_a"))
    np.testing.assert_array_equal(found.pop("score_b"), expected.pop("score_b"))
    assert found == expected
    # One that was broken off has no header.json yet, but says how it started.
    log = inspect_log("a")
    with zipfile.ZipFile(tmp_path / "early.eval", "w") as archive:
        archive.writestr("_journal/start.json", json.dumps({"eval": log["eval"]}))
        for number, sample in enumerate(log["samples"]):
            archive.writestr(f"samples/{number}.json", json.dumps(sample))
    assert read_pairs(tmp_path / "early.eval", logs[1]).pairs == found.pairs


def as_zstandard(path):
    """Mark the members of an archive as compressed with Zstandard."""
    raw = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            raw[info.header_offset + 8 : info.header_offset + 10] = struct.pack(
                "<H", 93
            )
    at = 0
    while (at := raw.find(b"PK\x01\x02", at)) >= 0:
        raw[at + 10 : at + 12] = struct.pack("<H", 93)
        at += 4
    path.write_bytes(raw)
    return path


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="the library reads Zstandard")
def test_zstandard_is_read_where_a_module_for_it_is(tmp_path, monkeypatch):
    log = inspect_log("a")
    a = write_archive(tmp_path / "a.eval", log, zipfile.ZIP_STORED)
    a = as_zstandard(a)
    b = write_json(tmp_path / "b.json", inspect_log("b"))
    monkeypatch.setitem(sys.modules, "backports.zstd", None)
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(ValueError, match=r"path_a \(.*\): it is .*pip install zstand"):
        read_pairs(a, b)

    # The members are stored as they are, so that nothing has to be unpacked.
    class Error(Exception):
        pass

    plain = types.SimpleNamespace(ZstdError=Error, decompress=bytes)
    monkeypatch.setitem(sys.modules, "backports", types.ModuleType("backports"))
    monkeypatch.setitem(sys.modules, "backports.zstd", plain)
    assert read_pairs(a, b).pairs == list(zip(*OUTPUTS.values(), strict=True))
    plain.decompress = lambda data: data[:-1]
    with pytest.raises(ValueError, match=r"no whole archive \(bad checksum of header"):
        read_pairs(a, b)
    monkeypatch.setitem(sys.modules, "backports.zstd", None)
    reader = types.SimpleNamespace(
        stream_reader=lambda data, read_across_frames: io.BytesIO(data)
    )
    other = types.SimpleNamespace(ZstdError=Error, ZstdDecompressor=lambda: reader)
    monkeypatch.setitem(sys.modules, "zstandard", other)
    assert read_pairs(a, b).pairs == list(zip(*OUTPUTS.values(), strict=True))


@pytest.mark.parametrize(
    ("first", "second", "keep", "choice"),
    [
        (
            lm_eval_samples("a", ("strict", "loose")),
            lm_eval_samples("b", ("strict", "loose")),
            {"filter": "loose"},
            r"3 of 3 examples .* \(id 0, 1, 2\).*filter: 'strict', 'loose'.*"
            r"keep=\{'filter': 'strict'\}",
        ),
        (
            lm_eval_samples("a", repeats=2),
            lm_eval_samples("b", repeats=2),
            {"repeat": 1},
            r"keep=\{'repeat': 0\}",
        ),
        (
            [inspect_log("a", epochs=2)],
            [inspect_log("b", epochs=2)],
            {"epoch": 2},
            r"\(id 'fruit', 1, 2\); they differ \(epoch: 1, 2\).*keep=\{'epoch': 1\}",
        ),
        (
            [helm_state("a", trials=2, typos=True)],
            [helm_state("b", trials=2, typos=True)],
            {"perturbation": None, "train_trial_index": 1},
            r"keep=\{'perturbation': None, 'train_trial_index': 0\}",
        ),
        (
            [r | {"seed": s} for s in (1, 2) for r in plain_records("a")],
            plain_records("b"),
            ({"seed": 2}, None),
            r"path_a \(plain JSON\).*keep=\{'seed': 1\}",
        ),
        (
            alpaca_outputs("a") + alpaca_outputs("b"),
            alpaca_outputs("a") + alpaca_outputs("b"),
            [{"generator": "org/a"}, {"generator": "org/b"}],
            r"path_a holds outputs of 2 generators .*keep=\{'generator': 'org/a'\}",
        ),
    ],
)
def test_several_outputs_of_an_example_are_chosen_among(
    first, second, keep, choice, tmp_path
):
    a = write_lines(tmp_path / "a.jsonl", first)
    b = write_lines(tmp_path / "b.jsonl", second)
    with pytest.raises(ValueError, match=choice):
        read_pairs(a, b)
    runs = read_pairs(a, b, keep=keep)
    assert runs.pairs == list(zip(*OUTPUTS.values(), strict=True))
    with pytest.raises(ValueError, match="keep has 'colour', which path_a"):
        read_pairs(a, b, keep={"colour": 1})
    key = next(iter(keep if isinstance(keep, dict) else keep[0]))
    with pytest.raises(ValueError, match=f"keep has '{key}': 'none such', but path_a"):
        read_pairs(a, b, keep=({key: "none such"}, {}))


def test_what_failed_is_kept_where_others_have_several_outputs(tmp_path):
    log = inspect_log("b")
    for number, sample in enumerate(log["samples"]):
        choice = sample["output"]["choices"][0]
        sample["output"]["choices"] = [choice, choice] if number else []
    a = write_json(tmp_path / "a.json", inspect_log("a"))
    b = write_json(tmp_path / "b.json", log)
    match = r"path_b have no output \(first '2': the model was not asked\)"
    with pytest.raises(ValueError, match=match):
        read_pairs(a, b, keep=({}, {"choice": 1}))
    runs = read_pairs(a, b, keep=({}, {"choice": 1}), drop_unmatched=True)
    assert (runs.ids, runs.dropped) == (["fruit", 1], [2])


def test_keep_is_a_dict_or_two(tmp_path):
    a = write_lines(tmp_path / "a.jsonl", plain_records("a"))
    for keep in ([{}], [{}, {}, {}], [{}, "x"]):
        with pytest.raises(ValueError, match="must be a dict, or a pair of them"):
            read_pairs(a, a, keep=keep)


def test_scores_follow_what_is_kept(tmp_path):
    state = helm_state("a", trials=2, typos=True)
    a = write_helm(tmp_path / "a", state)
    b = write_helm(tmp_path / "b", helm_state("b", trials=2, typos=True))
    keep = {"perturbation": "typos", "train_trial_index": 1}
    runs = read_pairs(a, b, keep=keep, metric="exact_match")
    np.testing.assert_array_equal(runs.score_a, [9, 10, 11])
    assert runs.inputs == [asked + "!" for asked in ASKED]
    # Two requests that HELM scored together have no score of their own.
    twice = [
        r | {"request": {"random": n}} for r in state["request_states"] for n in "01"
    ]
    a = write_helm(tmp_path / "c", state | {"request_states": twice})
    with pytest.raises(ValueError, match="exact_match' is no score of path_a; both"):
        read_pairs(a, b, keep=(keep | {"random": "0"}, keep), metric="exact_match")


@pytest.mark.parametrize(
    "name", [n for n in FORMATS if n not in ("HELM", "Inspect", "plain JSON")]
)
def test_copies_are_refused(name, tmp_path):
    b = FORMATS[name](tmp_path, "b")
    (file,) = [b] if b.is_file() else [*b.glob("samples*"), *b.glob("model_out*")]
    text = file.read_text(encoding="utf-8")
    records = json.loads(text) if file.suffix == ".json" else None
    if records is None:
        records = [json.loads(line) for line in text.split("\n") if line]
    write_lines(file, [*records, records[1]])
    with pytest.raises(ValueError, match=r"path_b .*: 1 of 3 .*drop the copies"):
        read_pairs(FORMATS[name](tmp_path, "a"), b)


def test_what_only_one_run_has_is_an_error_with_counts(tmp_path):
    records = plain_records("a")
    a = write_lines(tmp_path / "a.jsonl", records[1:])
    b = write_lines(tmp_path / "b.jsonl", plain_records("b")[:2])
    match = (
        r"1 of 2 examples of path_a are not in path_b \(first 'z'\), and 1 of 2 "
        r"examples of path_b are not in path_a \(first 'x'\); .*drop_unmatched=True"
    )
    with pytest.raises(ValueError, match=match):
        read_pairs(a, b)
    runs = read_pairs(a, b, drop_unmatched=True)
    assert runs.ids == ["y"]
    assert runs.dropped == ["z", "x"]
    write_lines(b, plain_records("b")[:1])
    for drop in (False, True):
        with pytest.raises(ValueError, match="no example has an output in both"):
            read_pairs(a, b, drop_unmatched=drop)


def test_what_failed_is_an_error_with_its_reason(tmp_path):
    a = write_json(tmp_path / "a.json", inspect_log("a"))
    log = inspect_log("b")
    log["samples"][0]["error"] = {"message": "the sandbox fell over", "traceback": ""}
    b = write_json(tmp_path / "b.json", log)
    with pytest.raises(
        ValueError,
        match=r"1 of 3 examples of path_b have no output \(first '2': .* fell over",
    ):
        read_pairs(a, b)
    assert read_pairs(a, b, drop_unmatched=True).dropped == [2]
    state = helm_state("b")
    state["request_states"][1]["result"] = {
        "success": False,
        "completions": [],
        "error": "too many requests",
    }
    b = write_helm(tmp_path / "b", state)
    with pytest.raises(ValueError, match=r"have no output .*failed: too many requests"):
        read_pairs(write_helm(tmp_path / "a", helm_state("a")), b)
    records = plain_records("b")
    records[0]["output"] = None
    del records[2]["output"]
    b = write_lines(tmp_path / "b.jsonl", records)
    with pytest.raises(ValueError, match=r"2 of 3 examples of path_b have no output"):
        read_pairs(write_lines(tmp_path / "a.jsonl", plain_records("a")), b)


def test_other_inputs_of_an_id_are_an_error_with_counts(tmp_path):
    a = write_lines(tmp_path / "a.jsonl", plain_records("a"))
    records = plain_records("b")
    records[1]["input"] = "2 + 3?"
    b = write_lines(tmp_path / "b.jsonl", records)
    match = r"1 of 3 examples have other inputs .*first id 'y'.*'2 \+ 2\?' and '2 \+ 3"
    with pytest.raises(ValueError, match=match):
        read_pairs(a, b)
    # Prompts of lm-evaluation-harness differ by the model; documents do not.
    samples = lm_eval_samples("b")
    a = write_lines(tmp_path / "a.jsonl", lm_eval_samples("a"))
    assert len(read_pairs(a, write_lines(b, samples)).pairs) == 3
    samples[0]["doc"]["question"] += " Please."
    with pytest.raises(ValueError, match="1 of 3 examples have other inputs"):
        read_pairs(a, write_lines(b, samples))


def test_a_run_with_ids_and_one_without_are_matched_by_their_inputs(tmp_path):
    a = write_lines(tmp_path / "a.jsonl", plain_records("a"))
    b = write_json(tmp_path / "b.json", alpaca_outputs("b"))
    runs = read_pairs(a, b)
    assert runs.pairs == list(zip(*OUTPUTS.values(), strict=True))
    assert runs.ids == ASKED
    records = [{"id": r["id"], "output": r["output"]} for r in plain_records("a")]
    with pytest.raises(ValueError, match=r"example 0 has None as its input .*an id"):
        read_pairs(write_lines(a, records), b)


def test_numbers_and_words_of_the_same_name_are_one_id(tmp_path):
    records = {"a": [1, 2.0, "3"], "b": ["2", "1", 3]}
    files = [
        write_lines(
            tmp_path / side, [{"id": i, "output": f"{side}{int(i)}"} for i in ids]
        )
        for side, ids in records.items()
    ]
    runs = read_pairs(*files)
    assert runs.pairs == [("a1", "b1"), ("a2", "b2"), ("a3", "b3")]
    assert runs.ids == [1, 2.0, "3"]
    assert runs.inputs is None
    for value, shown in (([1], r"\[1\]"), (True, "True"), (float("nan"), "nan")):
        write_lines(files[0], [{"id": value, "output": "x"}])
        with pytest.raises(ValueError, match=f"example 0 has {shown} as its id"):
            read_pairs(*files)


@pytest.mark.parametrize("name", ["choices", "rolling", "helm", "several"])
def test_runs_that_generate_nothing_are_refused(name, tmp_path):
    samples = lm_eval_samples("a")
    if name == "helm":
        state = helm_state("a", method="multiple_choice_separate_original")
        a, match = write_helm(tmp_path / "a", state), "multiple_choice_separate_origin"
    else:
        match = "record 0 has likelihoods .*depends on the metric"
        for sample in samples:
            if name == "choices":
                sample["arguments"] = {
                    f"gen_args_{n}": {"arg_0": "Q", "arg_1": " yes"} for n in range(2)
                }
                sample["resps"] = [[["-0.5", "False"]], [["-0.1", "True"]]]
            elif name == "rolling":
                sample["arguments"] = {"gen_args_0": {"arg_0": "A long text."}}
                sample["resps"] = [["-12.5"]]
            else:
                sample["resps"] *= 2
                match = "record 0 has 2 requests"
        a = write_lines(tmp_path / "a.jsonl", samples)
    with pytest.raises(ValueError, match=match):
        read_pairs(a, a)


def test_letters_of_helm_become_what_they_stand_for(tmp_path):
    folders = []
    for side, letters in {"a": [" A", "B\n", "C"], "b": ["A", "because", "B"]}.items():
        state = helm_state(side, method="multiple_choice_joint")
        for request, letter in zip(state["request_states"], letters, strict=True):
            request["output_mapping"] = {"A": "apple", "B": "coal"}
            request["result"]["completions"][0]["text"] = letter
        folders.append(write_helm(tmp_path / side, state))
    assert read_pairs(*folders).pairs == [
        ("apple", "apple"),
        ("coal", "because"),
        ("C", "coal"),
    ]


def test_early_versions_are_read(tmp_path):
    """A list of samples with arguments as lists; bare texts of HELM; one score."""
    samples = {}
    for side in "ab":
        samples[side] = lm_eval_samples(side)
        for sample in samples[side]:
            sample["arguments"] = [[f"Q {side}", {"until": ["\n"]}]]
            del sample["metrics"], sample["filter"]
            sample["doc_hash"] = "1234"
    a, b = (write_json(tmp_path / f"{s}.jsonl", samples[s]) for s in "ab")
    runs = read_pairs(a, b)
    assert runs.metric == "exact_match"
    assert runs.inputs == ["Q a"] * 3
    logs, states = [], []
    for side in "ab":
        log, state = inspect_log(side), helm_state(side)
        for sample in log["samples"]:
            sample["score"] = sample.pop("scores")["includes"]
        for request in state["request_states"]:
            request["instance"]["input"] = request["instance"]["input"]["text"]
        logs.append(write_json(tmp_path / f"{side}.json", log))
        states.append(write_json(tmp_path / side / "scenario_state.json", state))
    np.testing.assert_array_equal(read_pairs(*logs).score_a, [1, 0, 0.5])
    assert read_pairs(*states).inputs == ASKED


CHAT = [
    {"role": "user", "content": [{"type": "text", "text": "See"}, {"type": "image"}]},
    {"role": "assistant", "content": None, "tool_calls": [{"function": "look"}]},
    {"role": "user", "content": "And?"},
]
CHAT_TEXT = "user: See\n[image]\n\nassistant: [calls look]\n\nuser: And?"


def test_chats_and_parts_become_text(tmp_path):
    answer = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "yes"}]
    a = [
        {"id": 0, "input": CHAT, "output": answer},
        {"id": 1, "input": CHAT[:1], "output": {"role": "assistant", "content": "no"}},
    ]
    b = [{"id": 0, "input": CHAT, "output": ""}, {"id": 1, "output": "no"}]
    files = [write_lines(tmp_path / s, r) for s, r in {"a": a, "b": b}.items()]
    runs = read_pairs(*files)
    assert runs.inputs == [CHAT_TEXT, "See\n[image]"]
    assert runs.pairs == [("yes", ""), ("no", "no")]
    samples = lm_eval_samples("a")
    for sample in samples:
        arguments = sample["arguments"]["gen_args_0"]
        arguments["arg_0"] = [json.dumps(CHAT)]
    files[0] = write_lines(tmp_path / "a", samples)
    files[1] = write_lines(tmp_path / "b", lm_eval_samples("b"))
    assert read_pairs(*files).inputs == [CHAT_TEXT] * 3


@pytest.mark.parametrize("output", [7, True, [{"type": "image", "image": "x"}], [3]])
def test_an_output_that_is_no_text_is_refused(output, tmp_path):
    a = write_lines(tmp_path / "a", [{"id": 0, "output": output}])
    with pytest.raises(ValueError, match=r"path_a .*record 0 has .* is no text"):
        read_pairs(a, a)


def test_folders_with_several_runs_or_none(tmp_path):
    b = FORMATS["HELM"](tmp_path, "b")
    FORMATS["HELM"](tmp_path, "a")
    with pytest.raises(ValueError, match=r"2 runs are in this folder: a.*b.*name one"):
        read_pairs(tmp_path, b)
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match=r"path_b \(.*empty\): no outputs of a harn"):
        read_pairs(b, tmp_path / "empty")
    with pytest.raises(FileNotFoundError, match=r"path_b \(.*nowhere\)"):
        read_pairs(b, tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("raw", "match"),
    [
        (b"", "it is empty"),
        (b"\xef\xbb\xbf \r\n", "it is empty"),
        (b"[]", "empty list"),
        (b'{"id": 1, "output": "\xff"}', r"byte 21 is no utf-8"),
        (b"words", r"no JSON \(line 1, column 1"),
        (b'[\n {"id": 1,', r"no JSON \(line 2, column 11.*cut short"),
        (b'{"id": 1, "output": "x"}\n{"id": 2, "out', "line 2 is no JSON"),
        (b'{"id": 1, "output": "x"}\n[3]', "record 1 is a list"),
        (b"[" * 100_000, "nested too deep"),
        (b'{"id": 1' + b"0" * 5000 + b"}", "no JSON"),
        (b'{"question": 1}', "its records have 'question', as those of no harness"),
        (b'{"results": {}, "configs": {}}', "samples_TASK_DATE"),
        (b'[{"instance_id": "id0", "stats": []}]', "pass its folder"),
        (b'[{"instruction": "", "output_1": "", "output_2": ""}]', "both outputs"),
        (b'{"eval": {}, "plan": {}, "status": "started"}', "header and no samples"),
        (b'{"request_states": 3}', "request_states is no list"),
        (b'{"request_states": []}', r"no examples are in it \(HELM\)"),
        (b'{"request_states": [{"instance": 3}]}', "not as the harness writes"),
        (b'{"doc_id": 1, "resps": []}\n{"doc_id": 2}', "record 1 has no 'resps'"),
        (b"PK\x03\x04 and no more", "no whole archive"),
    ],
)
def test_damaged_and_other_files_are_refused_with_their_name(raw, match, tmp_path):
    good = write_lines(tmp_path / "good.jsonl", plain_records("a"))
    bad = tmp_path / "bad.json"
    bad.write_bytes(raw)
    with pytest.raises(ValueError, match=match) as caught:
        read_pairs(good, bad)
    assert str(caught.value).startswith(f"path_b ({bad})")


def test_damaged_archives_are_refused(tmp_path):
    a = write_archive(tmp_path / "a.eval", inspect_log("a"))
    raw = a.read_bytes()
    a.write_bytes(raw[: len(raw) // 2])
    with pytest.raises(ValueError, match="no whole archive"):
        read_pairs(a, a)
    with zipfile.ZipFile(write_archive(a, inspect_log("a"))) as archive:
        at = archive.getinfo("samples/fruit_epoch_1.json").header_offset + 60
    a.write_bytes(raw[:at] + b"\0\0\0\0\0\0\0\0" + raw[at + 8 :])
    with pytest.raises(ValueError, match="no whole archive"):
        read_pairs(a, write_archive(tmp_path / "b.eval", inspect_log("b")))
    with zipfile.ZipFile(a, "w") as archive:
        archive.writestr("notes.txt", "hello")
    with pytest.raises(ValueError, match="no log of Inspect"):
        read_pairs(a, a)
    with zipfile.ZipFile(a, "w") as archive:
        archive.writestr("header.json", "{}")
    with pytest.raises(ValueError, match=r"no examples are in it \(Inspect\)"):
        read_pairs(a, a)
    with zipfile.ZipFile(a, "w") as archive:
        archive.writestr("header.json", "{}")
        archive.writestr("samples/1_epoch_1.json", '{"id": 1, ')
    with pytest.raises(ValueError, match=r"samples/1_epoch_1\.json is no JSON"):
        read_pairs(a, a)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-8"])
@pytest.mark.parametrize("end", ["\r\n", "\n\n", "\n"])
def test_marks_and_line_ends_of_other_systems(encoding, end, tmp_path):
    files = []
    for side in "ab":
        lines = [json.dumps(r, ensure_ascii=False) for r in lm_eval_samples(side)]
        files.append(tmp_path / side)
        files[-1].write_bytes(end.join(lines).encode(encoding))
    assert read_pairs(*files).pairs == list(zip(*OUTPUTS.values(), strict=True))


def test_long_lines_are_read(tmp_path):
    records = plain_records("a")
    records[1]["output"] = "long " * 1_000_000
    a = write_lines(tmp_path / "a", records)
    b = write_lines(tmp_path / "b", plain_records("b"))
    assert len(read_pairs(a, b).pairs[1][0]) == 5_000_000


def test_equal_outputs_warn(tmp_path):
    a = write_lines(tmp_path / "a", plain_records("a"))
    with pytest.warns(UserWarning, match="equal in all 3 pairs; is it one run twice"):
        read_pairs(a, a)


@given(st.data())
def test_neither_order_nor_gaps_lose_an_output(tmp_path_factory, data):
    """Any order of B gives the same pairs; each id is in a pair or dropped."""
    folder = tmp_path_factory.mktemp("runs")
    ids = data.draw(st.sets(st.integers(0, 99) | st.text("xyz\u2028", min_size=1)))
    ids = sorted(ids | {"both"}, key=str)
    of_a = [i for i in ids if i == "both" or data.draw(st.booleans())]
    of_b = [i for i in ids if i == "both" or data.draw(st.booleans())]
    a = write_lines(folder / "a", [{"id": i, "output": f"a{i}"} for i in of_a])
    records = [{"id": i, "output": f"b{i}"} for i in of_b]
    b = write_lines(folder / "b", records)
    shuffled = write_lines(folder / "s", data.draw(st.permutations(records)))
    runs = read_pairs(a, b, drop_unmatched=True)
    assert runs.pairs == [(f"a{i}", f"b{i}") for i in of_a if i in of_b]
    assert sorted(runs.ids + runs.dropped, key=str) == sorted(
        dict.fromkeys(of_a + of_b), key=str
    )
    again = read_pairs(a, shuffled, drop_unmatched=True)
    assert (again.pairs, again.ids) == (runs.pairs, runs.ids)
    if of_a == of_b:
        assert read_pairs(a, shuffled).pairs == runs.pairs
    else:
        with pytest.raises(ValueError, match="the runs do not match"):
            read_pairs(a, shuffled)


@pytest.mark.parametrize(
    "output", [{"completion": "hello"}, {}, {"choices": [{"message": {}}]}, [{}]]
)
def test_objects_that_are_no_text_are_refused(tmp_path, output):
    paths = [tmp_path / "a.json", tmp_path / "b.json"]
    paths[0].write_text(json.dumps([{"id": 0, "output": output}]))
    paths[1].write_text(json.dumps([{"id": 0, "output": "b"}]))
    with pytest.raises(ValueError, match="is no text; write it as a string"):
        read_pairs(*paths)


@pytest.mark.parametrize(("one", "other"), [(5, 6), ([{"q": 1}], [{"q": 2}])])
def test_inputs_of_any_kind_must_agree(tmp_path, one, other):
    paths = [tmp_path / "a.json", tmp_path / "b.json"]
    for path, asked in zip(paths, (one, other), strict=True):
        record = {"id": 0, "input": asked, "output": path.name}
        path.write_text(json.dumps([record]))
    with pytest.raises(ValueError, match="input"):
        read_pairs(*paths)
    paths[1].write_text(json.dumps([{"id": 0, "input": one, "output": "b"}]))
    assert len(read_pairs(*paths).pairs) == 1


def test_archives_that_cannot_be_unpacked_are_named(tmp_path):
    paths = [tmp_path / "a.eval", tmp_path / "b.eval"]
    for path in paths:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
            archive.writestr("header.json", json.dumps({"eval": {}}) * 50)
    damaged = bytearray(paths[0].read_bytes())
    damaged[60:90] = b"\xff" * 30
    paths[0].write_bytes(damaged)
    with pytest.raises(ValueError, match="path_a"):
        read_pairs(*paths)


def test_a_folder_with_the_name_of_a_file_is_no_file(tmp_path):
    (tmp_path / "x.json").mkdir()
    with pytest.raises(ValueError, match="no outputs of a harness"):
        read_pairs(tmp_path, tmp_path)
