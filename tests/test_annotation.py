"""The session behind the terminal and the page: what is asked, kept and hidden."""

import json
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skdiffuse import (
    BettingRule,
    DiffUseSelector,
    FixedBudget,
    PreferenceComparison,
    RandomSelector,
)
from skdiffuse.annotation import AlreadyAnsweredError, Session, _session
from skdiffuse.annotation._keys import _UNFINISHED, names
from skdiffuse.annotation._lock import only_one
from skdiffuse.annotation._session import digest
from skdiffuse.annotation._text import visible
from skdiffuse.annotation._web import make_app
from skdiffuse.comparison import read_remarks
from skdiffuse.datasets import make_preference_pool

N = 80


@pytest.fixture(scope="module")
def pool():
    return make_preference_pool(N, winning_distance=0.3, random_state=0)


@pytest.fixture
def make(pool, tmp_path):
    def make(path=None, *, seed=0, **params):
        params = {"selector": DiffUseSelector(random_state=0)} | params
        comparison = PreferenceComparison(**params)
        path = path or tmp_path / "log.jsonl"
        if path.exists():
            comparison.load(path, pool[0])
        else:
            comparison.start(pool[0])
        a, b = [f"a{i}" for i in range(N)], [f"b{i}" for i in range(N)]
        inputs = [None if i % 2 else f"q{i}" for i in range(N)]
        return Session(comparison, a, b, inputs, path, seed=seed, about={"x": 1})

    return make


def side_of(question, winner):
    """Return which side an annotator picks who prefers A (1), B (-1) or neither."""
    if winner == 0:
        return "tie"
    return "left" if (question.left[0] == "a") == (winner > 0) else "right"


def test_a_session_ends_as_the_comparison_of_the_same_answers(make, pool):
    session = make()
    while (question := session.ask("me")) is not None:
        assert {question.left, question.right} == {
            f"a{question.row}",
            f"b{question.row}",
        }
        assert question.input == (None if question.row % 2 else f"q{question.row}")
        assert session.ask("me") == question
        session.answer("me", question.row, side_of(question, pool[1][question.row]))
    expected = PreferenceComparison(DiffUseSelector(random_state=0)).fit(*pool)
    assert session.has_ended
    assert repr(session.comparison.verdict_) == repr(expected.verdict_)


def test_each_answer_is_on_disk_with_what_is_known_of_it(make):
    session = make(stopping_rule=FixedBudget())
    on_the_left = []
    for answer in ["left", "right", "tie", "skip"] * 5:
        question = session.ask("me")
        session.answer("me", question.row, answer)
        remark = read_remarks(session.path)[question.row]
        left = question.left[0].upper()
        assert (remark["left"], remark["answer"]) == (left, answer)
        assert remark["annotator"] == "me"
        on_the_left.append(left)
        line = json.loads(session.path.read_text().splitlines()[-1])
        wins = {"left": left, "right": "AB"[left == "A"]}.get(answer)
        assert line["preference"] == (
            None if answer == "skip" else {"A": 1.0, "B": -1.0, None: 0.0}[wins]
        )
    assert read_remarks(session.path)[-1]["x"] == 1
    assert set(on_the_left) == {"A", "B"}
    assert session.sides() == (5, 5)
    again = make(session.path, stopping_rule=FixedBudget())
    assert again.status() == session.status()
    assert again.ask("me") == session.ask("me")
    assert again.sides() == (5, 5)


def test_the_sides_are_fair_and_follow_the_seed(make, tmp_path):
    shares = []
    for seed in range(60):
        left = make(tmp_path / f"{seed}.jsonl", seed=seed)._a_is_left
        np.testing.assert_array_equal(left, make(seed=seed)._a_is_left)
        shares.append(left.mean())
    # 4,800 sides: four standard errors.
    assert abs(np.mean(shares) - 0.5) < 4 * 0.5 / np.sqrt(60 * N)
    assert np.std(shares) > 0


def test_the_status_does_not_say_who_leads(make):
    session = make(stopping_rule=FixedBudget())
    statuses = []
    for winner in (1, -1):
        for _ in range(6):
            question = session.ask("me")
            session.answer("me", question.row, side_of(question, winner))
        statuses.append(session.status())
        while session.undo(None):
            pass
    assert statuses[0] == statuses[1]
    assert statuses[0]["judged"] == 6
    assert statuses[0]["at_most"] == N
    assert session.lead() == {"A": 0, "B": 0, "tie": 0}


def test_answers_that_cannot_be_written_do_not_count(make, monkeypatch):
    session = make(stopping_rule=FixedBudget())
    first = session.ask("me")
    session.answer("me", first.row, "skip")
    before = session.path.read_text()
    question = session.ask("me")

    def full(*arguments, **options):
        raise OSError("no space left")

    monkeypatch.setattr(session.comparison, "save", full)
    for answer in ("left", "skip"):
        with pytest.raises(OSError, match="no space left"):
            session.answer("me", question.row, answer)
        assert session.ask("me") == question
    with pytest.raises(OSError, match="no space left"):
        session.undo("me")
    assert session.comparison.skipped_indices_.tolist() == [first.row]
    monkeypatch.undo()
    assert session.path.read_text() == before
    session.answer("me", question.row, "left")
    assert session.status()["judged"] == 1


def test_undo_asks_again_in_the_order_of_answering(make):
    session = make(stopping_rule=FixedBudget())
    asked = []
    for answer in ("left", "skip", "right"):
        asked.append(session.ask("me"))
        session.answer("me", asked[-1].row, answer)
    session = make(stopping_rule=FixedBudget())
    for question in reversed(asked):
        assert session.undo("me")
        assert session.ask("me") == question
    assert not session.undo("me")
    assert session.comparison.answers_ == {}
    assert len(session.path.read_text().splitlines()) == 1


def test_a_verdict_can_be_taken_back(make, pool):
    session = make()
    while (question := session.ask("me")) is not None:
        last = question
        session.answer("me", question.row, side_of(question, 1))
    assert session.has_ended
    assert session.undo("me")
    assert not session.has_ended
    assert session.ask("me") == last


def test_annotators_never_share_a_question_and_undo_their_own(make):
    session = make(stopping_rule=FixedBudget())
    one, two = session.ask("one"), session.ask("two")
    assert one.row != two.row
    session.answer("two", two.row, "left")
    # The second in the order counts when the first is judged.
    assert session.status()["judged"] == 0
    session.answer("one", one.row, "right")
    assert session.status()["judged"] == 2
    assert session.undo("one")
    assert session.ask("one") == one
    assert not session.undo("one")
    assert session.undo("two")
    assert session.ask("two") == two
    session.leave("one")
    assert session.ask("three") == one


def test_a_silent_annotators_question_goes_to_another(make, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(_session.time, "monotonic", lambda: clock[0])
    session = make(stopping_rule=FixedBudget())
    question = session.ask("silent")
    clock[0] = 50.0
    session.hear("silent")
    clock[0] = 100.0
    assert session.ask("other") != question
    session.leave("other")
    clock[0] = 111.0
    assert session.ask("other") == question
    session.answer("other", question.row, "tie")
    with pytest.raises(AlreadyAnsweredError, match="has an answer already"):
        session.answer("silent", question.row, "left")
    assert session.comparison.answers_ == {question.row: 0.0}


def test_whoever_finds_no_question_waits(make):
    session = make(stopping_rule=FixedBudget(), max_annotations=5)
    rows = [session.ask(str(i)).row for i in range(5)]
    assert session.ask("late") is None
    assert not session.has_ended
    session.leave("3")
    assert session.ask("late").row == rows[3]


def test_a_skip_does_not_lose_the_answer_that_another_is_giving(make):
    session = make(stopping_rule=FixedBudget(), max_annotations=6)
    questions = [session.ask(str(i)) for i in range(4)]
    session.answer("0", questions[0].row, "skip")
    for name, question in zip("123", questions[1:], strict=True):
        session.answer(name, question.row, "left")
    told = session.comparison.answers_
    assert set(told) == {question.row for question in questions}


@given(seed=st.integers(0, 2**32 - 1), n_annotators=st.integers(2, 5))
@settings(max_examples=10, deadline=None)
def test_many_at_once_lose_and_double_nothing(tmp_path_factory, seed, n_annotators):
    X, y = make_preference_pool(40, winning_distance=0.2, random_state=seed)
    selector = RandomSelector(random_state=0)
    path = tmp_path_factory.mktemp("many") / "log.jsonl"
    comparison = PreferenceComparison(selector, BettingRule()).start(X)
    texts = [f"a{i}" for i in range(40)], [f"b{i}" for i in range(40)]
    session = Session(comparison, *texts, None, path, seed=0)
    skipped = set(np.flatnonzero(np.random.default_rng(seed).random(40) < 0.1))
    given_answers = []

    def work(name):
        rng = np.random.default_rng([seed, int(name)])
        mistaken = 0
        while True:
            question = session.ask(name)
            if question is None:
                if session.has_ended:
                    return
                continue
            answer = side_of(question, y[question.row])
            if question.row in skipped:
                answer = "skip"
            if mistaken < 3 and rng.random() < 0.1:
                session.answer(name, question.row, "tie")
                assert session.undo(name)
                mistaken += 1
                continue
            given_answers.append(question.row)
            session.answer(name, question.row, answer)

    workers = [
        threading.Thread(target=work, args=(str(i),)) for i in range(n_annotators)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(set(given_answers)) == len(given_answers)
    assert set(given_answers) <= set(session.comparison.answers_)
    judged = np.where(np.isin(np.arange(40), list(skipped)), 0, y)
    expected = PreferenceComparison(selector, BettingRule()).fit(X, judged)
    # Whatever the order of the answers, they count in the order of the draws.
    assert session.comparison.winner_ == expected.winner_
    assert session.comparison.n_annotations_ == expected.n_annotations_
    again = PreferenceComparison(selector, BettingRule()).load(path, X)
    assert again.answers_ == session.comparison.answers_


def test_an_answer_that_is_sent_twice_counts_once(make):
    session = make(stopping_rule=FixedBudget())
    row = session.ask("me").row
    session.answer("me", row, "left")
    # The page did not hear of it, and sends it again.
    session.answer("me", row, "left")
    for name, answer in (("me", "right"), ("other", "left")):
        with pytest.raises(AlreadyAnsweredError):
            session.answer(name, row, answer)
    assert session.status()["judged"] == 1


def test_whoever_comes_back_too_late_gets_another_question(make, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(_session.time, "monotonic", lambda: clock[0])
    session = make(stopping_rule=FixedBudget())
    question = session.ask("away")
    clock[0] = 70.0
    assert session.ask("here") == question
    assert session.ask("away") != question


def test_a_question_that_has_left_the_order_is_not_asked_again(make):
    session = make(stopping_rule=FixedBudget(), max_annotations=6)
    questions = {str(i): session.ask(str(i)) for i in range(6)}
    session.answer("0", questions["0"].row, "skip")
    waiting = session.comparison.ask(6)
    gone = [name for name, q in questions.items() if q.row not in waiting]
    assert len(gone) > 1
    for name in gone[1:]:
        assert session.ask(name) is None or session.ask(name).row in waiting
    assert session.status()["early"] == 0
    session.answer("5", questions["5"].row, "left")
    assert session.status()["early"] == 1


def test_the_answers_make_a_table(make):
    session = make(selector=RandomSelector(random_state=0))
    for answer in ("left", "right", "tie", "skip"):
        session.answer("me", session.ask("me").row, answer)
    table = session.table()
    left = table["left"]
    other = {"A": "B", "B": "A"}
    assert table["preference"] == [left[0], other[left[1]], "tie", None]
    assert table["output_a"] == [f"a{row}" for row in table["row"]]
    assert set(table["annotator"]) == {"me"}


@pytest.mark.parametrize(
    ("typed", "keys"),
    [
        ("1u\r", ["1", "u", "enter"]),
        ("S", ["s"]),
        ("\x1b[A\x1b[6~\x1bOF", ["up", "page down", "end"]),
        ("à1", ["à", "1"]),
    ],
)
def test_keys_have_names(typed, keys):
    assert names(typed) == keys


@pytest.mark.parametrize(
    "typed",
    [
        "\x1b[<0;10;20M",
        "\x1b[M 1s",
        "\x1b[>0;276;0c",
        "\x1b]11;rgb:1010/2020/0000\x1b\\",
        "\x1b]0;title 012\x07",
        "\x1b1",
        "\x1b[1;5C",
        "\x1bP1$r0m\x1b\\",
    ],
)
def test_what_a_terminal_says_of_itself_is_no_answer(typed):
    assert not {"0", "1", "2", "s", "u", "q"} & set(names(typed))
    assert names(typed + "1")[-1] == "1"
    for cut in range(1, len(typed)):
        # What comes in parts is not taken for keys before it is whole.
        assert _UNFINISHED.search(typed[:cut])


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\ttext\n", "plain\ttext\n"),
        ("a\r\nb\rc\u2028d\x85e", "a\nb\nc\nd\ne"),
        ("\x1b[31mred\x07", "<U+001B>[31mred<U+0007>"),
        ("\u202egnp\u2066x", "<U+202E>gnp<U+2066>x"),
        ("\x9b2J\x7f", "<U+009B>2J<U+007F>"),
        ("مرحبا \U0001f469\u200d\U0001f680", "مرحبا \U0001f469\u200d\U0001f680"),
        ("<script>&amp;</script>", "<script>&amp;</script>"),
    ],
)
def test_nothing_in_an_output_acts_on_what_shows_it(text, shown):
    assert visible(text) == shown


@given(st.text())
def test_no_command_to_a_terminal_is_left(text):
    shown = visible(text)
    assert all(char in "\t\n" or ord(char) >= 0x20 for char in shown)
    assert not any(0x7F <= ord(char) <= 0x9F for char in shown)
    assert visible(shown) == shown


def test_the_digest_tells_texts_apart_that_look_alike_when_joined():
    texts = [(["ab"], ["c"]), (["a"], ["bc"]), (["a", "b"], ["c"]), (["\ud800"], [""])]
    assert len({digest(*pair) for pair in texts}) == len(texts)


def test_one_process_a_log(tmp_path):
    path = tmp_path / "log.jsonl"
    with only_one(path):
        with (
            pytest.raises(ValueError, match="open in another annotation"),
            only_one(path),
        ):
            pass
        with only_one(tmp_path / "other.jsonl"):
            pass
        link = tmp_path / "link.jsonl"
        link.symlink_to(path)
        with pytest.raises(ValueError, match="open in another"), only_one(link):
            pass
        link.unlink()
    with only_one(path):
        pass
    assert list(tmp_path.iterdir()) == []


class TestPage:
    @pytest.fixture
    def session(self, make):
        return make(stopping_rule=FixedBudget(), min_annotations=1, max_annotations=4)

    @pytest.fixture
    def client(self, session):
        return make_app(session, "secret", show_leader=False).test_client()

    @pytest.fixture
    def post(self, client):
        def post(action, token="secret", annotator="me", **body):
            return client.post(
                f"/api/{action}",
                json={"annotator": annotator, **body},
                headers={"X-Token": token},
            )

        return post

    def test_it_asks_takes_and_ends(self, post, session):
        state = post("ask").get_json()
        assert "lead" not in state
        for _ in range(4):
            row = state["question"]["row"]
            state = post("answer", row=row, answer="left").get_json()
        assert state["question"] is None
        assert state["status"]["ended"]
        assert sum(state["lead"].values()) == 4
        verdict = session.comparison.verdict_
        assert state["verdict"]["headline"] == verdict.headline
        assert list(state["verdict"]["details"]) == list(verdict.details)
        state = post("undo").get_json()
        assert state["question"]["row"] == row
        assert "verdict" not in state

    def test_it_answers_nobody_else(self, post, client):
        assert post("ask", token="").status_code == 403
        assert post("ask", token="guess").status_code == 403
        assert post("ask", token="sécret").status_code == 403
        assert client.get("/api/ask").status_code == 405
        # A form of another page cannot send JSON.
        code = client.post(
            "/api/ask", data="{}", headers={"X-Token": "secret"}
        ).status_code
        assert code == 415
        headers = {"X-Token": "secret", "Content-Type": "application/json"}
        for body, code in (("[" * 9_000, 400), ("[" * 20_000, 413), ("{", 400)):
            response = client.post("/api/ask", data=body, headers=headers)
            assert response.status_code == code

    @pytest.mark.parametrize(
        ("action", "body", "code"),
        [
            ("ask", {"annotator": 3}, 400),
            ("ask", {"annotator": ""}, 400),
            ("ask", {"annotator": "x" * 41}, 400),
            ("answer", {"row": "1", "answer": "left"}, 400),
            ("answer", {"row": True, "answer": "left"}, 400),
            ("answer", {"answer": "left"}, 400),
            ("answer", {"row": 10**9, "answer": "left"}, 400),
            ("answer", {"row": -1, "answer": "skip"}, 400),
            ("sing", {}, 404),
        ],
    )
    def test_it_refuses_what_is_no_question(self, post, session, action, body, code):
        assert post(action, **body).status_code == code
        assert session.comparison.answers_ == {}

    def test_it_refuses_what_is_no_answer(self, post, session):
        row = post("ask").get_json()["question"]["row"]
        assert post("answer", row=row, answer="A").status_code == 400
        assert post("answer", row=row, answer=1).status_code == 400
        assert session.comparison.answers_ == {}

    def test_a_late_answer_is_told_so(self, post, session):
        row = post("ask").get_json()["question"]["row"]
        session.answer("other", row, "tie")
        late = post("answer", row=row, answer="left")
        assert late.status_code == 409
        assert "has an answer already" in late.get_json()["message"]
        assert late.get_json()["question"]["row"] != row

    def test_a_full_disk_is_told(self, post, session, monkeypatch):
        def full(*arguments, **options):
            raise OSError("no space left")

        row = post("ask").get_json()["question"]["row"]
        monkeypatch.setattr(session.comparison, "save", full)
        answer = post("answer", row=row, answer="left")
        assert answer.status_code == 500
        assert "Not saved: no space left" in answer.get_json()["message"]
        assert answer.get_json()["question"]["row"] == row

    def test_looking_takes_no_question(self, post, session):
        assert "question" not in post("look").get_json()
        assert session._claims == {}
        post("ask")
        assert post("leave").get_json() == {}
        assert session._claims == {}

    def test_the_leader_is_shown_if_asked_for(self, session):
        client = make_app(session, "t", show_leader=True).test_client()
        state = client.post(
            "/api/ask", json={"annotator": "me"}, headers={"X-Token": "t"}
        ).get_json()
        assert state["lead"] == {"A": 0, "B": 0, "tie": 0}

    def test_the_page_runs_nothing_that_is_not_its_own(self, client):
        for path in ("/", "/page/page.js", "/page/page.css"):
            response = client.get(path, buffered=True)
            assert response.status_code == 200
            policy = response.headers["Content-Security-Policy"]
            assert policy.startswith("default-src 'none'; script-src 'self'")
        assert client.get("/page/../_web.py").status_code == 404
