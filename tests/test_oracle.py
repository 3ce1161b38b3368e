import errno
import json
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skdiffuse.cli import _oracle
from skdiffuse.cli._oracle import AnswerFile, CommandOracle
from skdiffuse.cli._pairs import Pairs

# -S -E: Python starts in a fraction of the time.
PYTHON = [sys.executable, "-S", "-E", "-c"]
LONGER = """
import json, sys
asked = json.loads(sys.stdin.buffer.read())
a, b = len(asked["output_a"]), len(asked["output_b"])
print("A" if a > b else "B" if b > a else "tie")
"""


def command(program):
    return shlex.join([*PYTHON, program])


@pytest.fixture
def file(tmp_path):
    lengths = np.random.default_rng(0).integers(1, 9, size=(40, 2))
    frame = pl.DataFrame(
        {
            "input": [f"é {i}" for i in range(40)],
            "output_a": [f"{i} " + "ü" * a for i, (a, _) in enumerate(lengths)],
            "output_b": [f"{i} " + "b" * b for i, (_, b) in enumerate(lengths)],
            "longer": np.sign(lengths[:, 0] - lengths[:, 1]),
        }
    )
    frame.write_ndjson(tmp_path / "outputs.jsonl")
    return tmp_path / "outputs.jsonl"


@pytest.fixture
def waits(monkeypatch):
    seconds = []
    monkeypatch.setattr(_oracle, "wait", seconds.append)
    return seconds


@pytest.fixture
def answers(tmp_path):
    return AnswerFile(tmp_path / "x.oracle.jsonl")


@pytest.fixture
def asked(monkeypatch):
    """Judge by length without a program, and keep the questions."""
    questions = []

    def ask_once(words, question, timeout):
        asked = json.loads(question)
        questions.append(asked)
        return float(np.sign(len(asked["output_a"]) - len(asked["output_b"]))), {}

    monkeypatch.setattr(_oracle, "ask_once", ask_once)
    return questions


def oracle_of(answers, texts_a=("a", "b"), texts_b=("x", "y"), **options):
    options = {"swap": False, "retries": 2, "timeout": 60} | options
    pairs = Pairs(pl.DataFrame(), list(texts_a), list(texts_b), None)
    return CommandOracle(["judge"], pairs, answers, **options)


def lines_of(answers):
    return [json.loads(line) for line in answers.path.read_text("utf-8").splitlines()]


def test_program_says_what_a_column_says(run, file):
    options = ("--selector", "random", "--budget", 15, "--json")
    by_column = json.loads(run("compare", file, "--oracle", "longer", *options)[1])
    program = ("--oracle-command", command(LONGER))
    code, out, err = run("compare", file, *program, *options)
    result = json.loads(out)
    assert (code, err) == (0, "")
    cache = file.with_name("outputs.oracle.jsonl")
    assert result.pop("oracle") == {
        "n_asked": 15,
        "n_cached": 0,
        "cache": str(cache),
    }
    assert result["details"].pop("oracle").startswith("15 questions asked, 0 answered")
    assert result == by_column
    answers = [json.loads(line) for line in cache.read_text().splitlines()]
    assert [answer["row"] for answer in answers] == result["selected"]
    # The same questions, whatever asks them, are not asked again.
    options = ("--selector", "random", "--rule", "fixed", "--max-annotations", 15)
    text = run("compare", file, *program, *options)[1]
    assert "oracle: 0 questions asked, 15 answered from" in text


def test_every_selection_can_be_judged_by_a_program(run, file, asked):
    program = ("--oracle-command", sys.executable, "--json")
    for options in (["--budget", 8], ["--rule", "betting"], ["--selector", "norm"]):
        code, out, _ = run("compare", file, *program, *options)
        assert code == 0
        result = json.loads(out)
        expected = pl.read_ndjson(file)["longer"].to_numpy()[result["selected"]]
        assert result["counts"]["A"] == (expected > 0).sum()
    assert len(asked) == len({json.dumps(question) for question in asked})
    assert all(list(q) == ["row", "input", "output_a", "output_b"] for q in asked)
    assert run("compare", file, *program, "--input", "longer", "--budget", 5)[0] == 0
    assert asked[-1]["input"] in ("-1", "0", "1")


def test_both_orders_cancel_a_preference_for_a_position(answers, monkeypatch, tmp_path):
    said = {"a": 1.0, "x": 1.0, "b": 1.0, "y": -0.5, "c": -1.0, "z": -1.0}

    def ask_once(words, question, timeout):
        return said[json.loads(question)["output_a"]], {"why": "so"}

    monkeypatch.setattr(_oracle, "ask_once", ask_once)
    oracle = oracle_of(answers, "abc", "xyz", swap=True)
    np.testing.assert_array_equal(oracle(np.arange(3)), [0, 0.75, 0])
    result = {"details": {}, "notes": []}
    oracle.add_to(result)
    assert result["oracle"]["first_won_twice"] == 1
    assert result["oracle"]["second_won_twice"] == 1
    assert "contradicted each other in 2 of 3 judged" in result["notes"][0]
    assert "first won both times in 1" in result["notes"][0]
    assert [line.get("swapped", False) for line in lines_of(answers)] == [0, 1] * 3
    # What was asked in one order serves for both.
    other = AnswerFile(tmp_path / "other.jsonl")
    oracle_of(other, "abc", "xyz")(np.arange(3))
    oracle = oracle_of(other, "abc", "xyz", swap=True)
    oracle(np.arange(3))
    assert (oracle.n_asked, oracle.n_cached) == (3, 3)


def test_questions_with_the_same_texts_are_one(answers, asked):
    oracle = oracle_of(answers, ["aa", "b", "aa"], ["x", "y", "x"])
    np.testing.assert_array_equal(oracle(np.array([2, 0, 1])), [1, 1, 0])
    assert (oracle.n_asked, oracle.n_cached) == (2, 1)
    other = oracle_of(answers, ["aa"], ["x"])
    other.words = ["judge", "--prompt=2"]
    other(np.array([0]))
    assert other.n_asked == 1


def test_failures_are_asked_again_after_a_while(answers, monkeypatch, waits):
    left = [3]

    def ask_once(words, question, timeout):
        left[0] -= 1
        if left[0] >= 0:
            raise _oracle._Failure("failed with exit code 1")
        return 1.0, {}

    monkeypatch.setattr(_oracle, "ask_once", ask_once)
    np.testing.assert_array_equal(oracle_of(answers, retries=3)(np.arange(2)), 1)
    assert waits == [1, 2, 4]
    left[0] = 99
    oracle = oracle_of(answers, ["new"], ["one"], retries=8)
    with pytest.raises(ValueError, match=r"asked 9 times for row 0 .* exit code 1\."):
        oracle(np.array([0]))
    assert waits[3:] == [1, 2, 4, 8, 16, 32, 60, 60]
    oracle.retries = 0
    with pytest.raises(ValueError, match="asked once for row 0"):
        oracle(np.array([0]))


def test_comparison_goes_on_from_the_answers_so_far(run, file, tmp_path, waits):
    down = tmp_path / "down"
    program = command(
        f"import os, sys; os.path.exists({str(down)!r}) and sys.exit('out of credit')"
        + LONGER
    )
    down.touch()
    options = ("--oracle-command", program, "--selector", "random", "--budget", 6)
    code, out, err = run("compare", file, *options, "--retries", 1)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert "was asked 2 times for row" in err
    assert "exit code 1 (last line of stderr: 'out of credit')" in err
    assert "goes on from there" in err
    assert waits == [1]
    down.unlink()
    assert run("compare", file, *options[:-1], 4)[0] == 0
    assert "2 questions asked, 4 answered from" in run("compare", file, *options)[1]


def test_answer_may_come_before_a_long_question_is_read():
    question = json.dumps({"output_a": "é" * 300_000}).encode()
    assert _oracle.ask_once([*PYTHON, "print('B')"], question, 20) == (-1, {})
    program = (
        "import json, sys; n = len(json.load(sys.stdin)['output_a'])\n"
        "sys.stderr.write('x' * n); print(json.dumps({'preference': .5, 'n': n}))"
    )
    answer = _oracle.ask_once([*PYTHON, program], question, 20)
    assert answer == (0.5, {"n": 300_000})


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("print('y' * 1_000_000)", r"printed 'y{200}\.\.\.' where A, B, tie"),
        ("import os; os.write(1, b'\\xff\\xfe')", r"printed '\\xff\\xfe' where"),
        ("import os; os.write(2, b'\\x1b[31mno\\n\\n')", "nothing .*stderr: '.31mno'"),
        ("raise ValueError('no\\tkey')", "exit code 1 .*stderr: 'ValueError: no key'"),
        ("import os; os.kill(os.getpid(), 15)", "ended by signal 15"),
    ],
    ids=["megabyte", "not UTF-8", "silence", "exit code", "signal"],
)
def test_bad_programs_have_a_reason(program, reason):
    with pytest.raises(_oracle._Failure, match=reason):
        _oracle.ask_once([*PYTHON, program], b"{}", 20)


def test_program_that_cannot_be_started_has_a_reason(tmp_path):
    script = tmp_path / "judge"
    script.write_bytes(b"\0")
    script.chmod(0o700)
    with pytest.raises(_oracle._Failure, match="could not be started"):
        _oracle.ask_once([str(script)], b"{}", 20)


@pytest.mark.skipif(os.name == "nt", reason="groups of processes are of POSIX")
@pytest.mark.parametrize("how", ["timeout", "Ctrl-C"])
def test_slow_program_and_its_children_are_ended(tmp_path, monkeypatch, how):
    noted = tmp_path / "child"
    program = (
        "import subprocess, sys, time\n"
        "child = subprocess.Popen(['sleep', '100'])\n"
        f"open({str(noted)!r}, 'w').write(str(child.pid))\n"
        "print('waiting', file=sys.stderr, flush=True); time.sleep(100)"
    )
    if how == "timeout":
        with pytest.raises(_oracle._Failure, match=r"no answer in 1 .*'waiting'"):
            _oracle.ask_once([*PYTHON, program], b"{}", 1)
    else:

        def interrupted(*_):
            while not (noted.exists() and noted.read_text()):
                time.sleep(0.01)
            raise KeyboardInterrupt

        monkeypatch.setattr(_oracle._Streams, "check_sizes", interrupted)
        with pytest.raises(KeyboardInterrupt):
            _oracle.ask_once([*PYTHON, program], b"{}", 20)
    child = int(noted.read_text())
    for _ in range(500):
        try:
            state = Path(f"/proc/{child}/stat").read_text().split()[2]
        except OSError:
            return
        if state == "Z":
            return
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    pytest.fail("the child of the program is still there")


@pytest.mark.parametrize(
    ("printed", "preference"),
    [
        (b"A", 1),
        (b" b\r\n", -1),
        (b"Tie\n", 0),
        (b"-0.25\n", -0.25),
        (b'{"preference": "A"}', 1),
        (b'\n{"preference": -1, "why": "\xc3\xa9"}\n', -1),
    ],
)
def test_preferences_are_words_numbers_or_objects(printed, preference):
    assert _oracle.read_answer(printed)[0] == preference


@pytest.mark.parametrize(
    "printed",
    [
        *(b"", b"\n", b"nan", b"2", b"-1.01", b"inf", b"maybe", b"true", b"null"),
        *(b"0_1", "\uff11".encode()),
        *(b"A\nB", b"\xff", b'"A"', b"[1]", b"{}", b'{"preference": true}'),
        *(b'{"preference": "true"}', b'{"preference": null}', b'{"preference": [1]}'),
        *(b'{"preference": NaN}', b'{"preference": Infinity}', b'{"preference": 1'),
        *(b'{"preference": {"preference": 1}}', b'{"a":' * 100_000),
        b'{"preference": ' + b"9" * 9000 + b"}",
    ],
)
def test_anything_else_is_no_preference(printed):
    assert not abs(_oracle.read_answer(printed)[0]) <= 1


@given(st.one_of(st.binary(max_size=30), st.text(max_size=30).map(str.encode)))
def test_whatever_is_printed_is_a_preference_or_none(printed):
    preference, remarks = _oracle.read_answer(printed)
    assert isinstance(preference, float)
    assert isinstance(remarks, dict)


plain = st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=9)
printable = st.dictionaries(st.text(max_size=5), plain | st.lists(plain, max_size=3))
keys = st.text("0123456789abcdef", min_size=1, max_size=3)


@given(
    kept=st.dictionaries(keys, st.tuples(st.floats(-1, 1), printable), max_size=6),
    torn=st.floats(0, 1, exclude_max=True),
)
def test_answers_outlive_a_torn_line(kept, torn, tmp_path_factory):
    path = tmp_path_factory.mktemp("cache") / "x.oracle.jsonl"
    answers = AnswerFile(path)
    for key, (preference, remarks) in kept.items():
        answers.add(key, preference, {"row": 1, "remarks": remarks})
    whole = path.read_bytes()
    assert whole.count(b"\n") == len(kept)
    line = json.dumps({"key": "1a57", "preference": 1.0}).encode()
    path.write_bytes(whole + line[: int(torn * len(line))])
    answers = AnswerFile(path)
    assert path.read_bytes() == whole
    assert answers.get("1a57") is None
    assert {key: answers.get(key) for key in kept} == {k: v[0] for k, v in kept.items()}
    answers.add("1a57", 0.5, {})
    assert AnswerFile(path).get("1a57") == 0.5


def test_remarks_may_be_anything_json_can_say(answers):
    printed = b'{"preference": 0, "a": "\\ud800 \xc3\xa9\xe2\x80\xa8", "b": [NaN]}'
    preference, remarks = _oracle.read_answer(printed)
    answers.add("k", preference, {"remarks": remarks})
    (line,) = answers.path.read_bytes().splitlines()
    assert json.loads(line)["remarks"] == {"a": "\ud800 é\u2028", "b": ["NaN"]}
    assert "é" in line.decode()


@pytest.mark.parametrize(
    ("content", "number"),
    [
        ('{"output_a": "x"}\n', 1),
        ('{"output_a": "x"}', 1),
        ("input,output_a\nx,y", 1),
        ('{"key": "k", "preference": 1}\n\n', 2),
        ('{"key": "k", "preference": 1}\n{"key": "l", "pref\n', 2),
        ('{"key": "k", "preference": 2}\n', 1),
        ('{"key": "k", "preference": NaN}\n', 1),
        ('{"key": "k", "preference": true}\n', 1),
        ('{"key": 1, "preference": 1}\n', 1),
        ("[]\n", 1),
        ("[" * 100_000 + "\n", 1),
    ],
)
def test_other_lines_are_named_and_kept(tmp_path, content, number):
    path = tmp_path / "x.jsonl"
    path.write_text(content)
    with pytest.raises(ValueError, match=rf"x\.jsonl, line {number} is not an answer"):
        AnswerFile(path)
    assert path.read_text() == content


def test_several_may_add_at_once(tmp_path):
    path = tmp_path / "x.oracle.jsonl"
    remarks = {"why": "w" * 20_000}
    faults = []

    def work(name):
        try:
            answers = AnswerFile(path)
            for number in range(10):
                answers.add(f"{name} {number}", 1.0, remarks)
        except Exception as error:
            faults.append(error)

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    answers = AnswerFile(path)
    assert len(lines_of(answers)) == 40
    # Each sees what the others add; of two answers to a question the first counts.
    other = AnswerFile(path)
    other.add("new", -1.0, {})
    assert answers.add("new", 1.0, {}) == -1
    assert answers.get("new") == other.get("new") == AnswerFile(path).get("new") == -1
    # One that died as it wrote harms no other.
    with path.open("ab") as file:
        file.write(b'{"key": "dead')
    answers.add("alive", 1.0, {})
    assert other.get("alive") == 1
    assert len(lines_of(answers)) == 43


def test_command_is_split_into_words():
    python = shlex.quote(sys.executable)
    assert _oracle.split(f"{python} 'my judge.py'  -k 1") == [
        *(sys.executable, "my judge.py", "-k", "1")
    ]
    quoted = f'"{sys.executable}" C:\\judge.py "two words"'
    assert _oracle.split(quoted, posix=False) == [
        *(sys.executable, "C:\\judge.py", "two words")
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "one of the two"),
        (["--oracle", "longer", "--oracle-command", "true"], "one of the two"),
        (["--oracle-command", ""], "--oracle-command is empty"),
        (["--oracle-command", "  "], "--oracle-command is empty"),
        (["--oracle-command", "''"], "there is no program ''"),
        (["--oracle-command", "no-such-judge -v"], "no program 'no-such-judge'"),
        (["--oracle-command", "judge 'x"], "cannot be split into words (no closing"),
        (["--oracle", "longer", "--swap", "--retries", "1"], "--swap and --retries is"),
        (["--oracle", "longer", "--input", "input"], "--input is for"),
        (["--oracle-command", sys.executable, "--timeout", "0"], "--timeout 0 is not"),
        (["--oracle-command", sys.executable, "--timeout", "nan"], "--timeout nan"),
        (["--oracle-command", sys.executable, "--retries", "-1"], "--retries"),
        (["--oracle-command", sys.executable, "--cache", "no/x"], "name another file"),
        (["--oracle-command", sys.executable, "--cache", "."], "is no plain file"),
        (["--oracle-command", sys.executable, "--cache", os.devnull], "is no plain"),
    ],
    ids=" ".join,
)
def test_bad_options_are_one_line_and_ask_nothing(run, file, asked, arguments, message):
    code, out, err = run("compare", file, *arguments)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert message in err
    assert asked == []
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_examples_themselves_are_no_cache(run, file, asked):
    before = file.read_bytes()
    arguments = ("--oracle-command", sys.executable, "--cache", file)
    code, _, err = run("compare", file, *arguments)
    assert code == 2
    assert "line 1 is not an answer" in err
    assert file.read_bytes() == before
    assert asked == []


def test_questions_are_ascii(answers, monkeypatch):
    def ask_once(words, question, timeout):
        assert question.isascii()
        assert json.loads(question)["output_a"] == "é\u2028\ud800"
        return 1.0, {}

    monkeypatch.setattr(_oracle, "ask_once", ask_once)
    assert oracle_of(answers, ["é\u2028\ud800"], ["x"])(np.array([0])) == 1


def test_equal_outputs_contradict_nothing(answers, monkeypatch):
    monkeypatch.setattr(_oracle, "ask_once", lambda *_: (1.0, {}))
    oracle = oracle_of(answers, ["same", "a"], ["same", "b"], swap=True)
    np.testing.assert_array_equal(oracle(np.arange(2)), 0)
    result = {"details": {}, "notes": []}
    oracle.add_to(result)
    assert "in 1 of 1 judged examples whose outputs differ" in result["notes"][0]


KEY = "a1" * 32


@pytest.mark.parametrize("rest", [', "row": 3', ', "remarks": {"why": "é"}'])
def test_last_answer_may_lack_its_line_end(tmp_path, rest):
    path = tmp_path / "x.jsonl"
    line = f'{{"key": "{KEY}", "preference": 0.5{rest}}}'.encode()
    path.write_bytes(line)
    answers = AnswerFile(path)
    assert answers.get(KEY) == 0.5
    assert path.read_bytes() == line + b"\n"
    answers.add("new", 1.0, {})
    assert len(lines_of(AnswerFile(path))) == 2


@pytest.mark.parametrize(
    "line",
    [
        '{"key": "my api key", "secret": 42}',
        '{"key": "my api key", "sec',
        f'{{"key": "{KEY}", "secret',
        f'{{"key": "{KEY}", "preference": 2}}',
        '{"keys": [',
    ],
)
def test_last_line_of_another_kind_is_kept(tmp_path, line):
    path = tmp_path / "x.jsonl"
    path.write_text(line)
    with pytest.raises(ValueError, match="line 1 is not an answer"):
        AnswerFile(path)
    assert path.read_text() == line


def test_full_disk_is_told(answers, monkeypatch):
    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ValueError, match=r"x\.oracle\.jsonl cannot .*No space left"):
        answers.add("new", 1.0, {})


@pytest.mark.parametrize("stream", [1, 2])
def test_endless_print_is_ended(monkeypatch, stream):
    monkeypatch.setattr(_oracle, "_MOST_LOGGED", 10_000_000)
    program = f"import os\nwhile True: os.write({stream}, b'y' * 65536)"
    with pytest.raises(_oracle._Failure, match="printed more than 10 MB"):
        _oracle.ask_once([*PYTHON, program], b"{}", 20)


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")
@pytest.mark.parametrize(
    "program", ["echo A; sleep 9 &", "(sleep 0.3; echo A) &", "echo A; sleep 9 >&2 &"]
)
def test_children_that_stay_are_not_waited_for(program):
    start = time.monotonic()
    assert _oracle.ask_once(["sh", "-c", program], b"{}", 20) == (1, {})
    assert time.monotonic() - start < 5


def test_remarks_are_finite():
    printed = b'{"preference": "A", "x": 1e999, "y": [-1e999, 2.5]}'
    assert _oracle.read_answer(printed)[1] == {"x": "1e999", "y": ["-1e999", 2.5]}


@pytest.mark.skipif(os.name == "nt", reason="signals are of POSIX")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_whatever_ends_the_command_ends_the_program(file, name):
    child = file.with_name("child")
    program = command(
        f"import os, time; open({str(child)!r}, 'w').write(str(os.getpid()) + ' ')\n"
        "time.sleep(100)"
    )
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "skdiffuse", "compare", file),
            *("--oracle-command", program, "--selector", "random"),
        ],
        stderr=subprocess.PIPE,
        text=True,
    )
    while not (child.exists() and child.read_text().endswith(" ")):
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(getattr(signal, name))
    _, err = process.communicate(timeout=20)
    assert process.returncode == 2
    assert err.count("\n") == 1
    assert "interrupted; the answers so far are in" in err
    with pytest.raises(ProcessLookupError):
        os.kill(int(child.read_text()), 0)


def test_handlers_of_signals_come_back(run):
    before = signal.getsignal(signal.SIGTERM)
    assert run("--version")[0] == 0
    assert signal.getsignal(signal.SIGTERM) is before
