"""Rows that nobody can judge, and how many annotations are still to come."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from skdiffuse import (
    BettingRule,
    DiffUseSelector,
    FixedBudget,
    HypergeometricRule,
    NormSelector,
    PreferenceComparison,
    RandomSelector,
)
from skdiffuse.comparison import read_remarks
from skdiffuse.datasets import make_preference_pool

CHOSEN = {
    "ward": DiffUseSelector(random_state=0),
    "cosine": DiffUseSelector(clustering="cosine", random_state=0),
    "kmeans": DiffUseSelector(5, clustering="kmeans", random_state=0),
    "max_norm": DiffUseSelector(representative="max_norm", random_state=0),
    "norm": NormSelector(),
}
DRAWN = {
    "random": RandomSelector(random_state=0),
    "weighted": NormSelector(probability=True, random_state=0),
    "strata": DiffUseSelector(representative="random", random_state=0),
}


@pytest.fixture(scope="module")
def pool():
    return make_preference_pool(120, winning_distance=0.3, random_state=0)


def started(pool, selector, **params):
    params = {"stopping_rule": FixedBudget(), "max_annotations": 20} | params
    return PreferenceComparison(selector, **params).start(pool[0])


@pytest.mark.parametrize("name", CHOSEN)
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=15, deadline=None)
def test_an_order_without_some_rows_keeps_what_comes_before_them(name, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 40))
    # Some rows are alike, some are zero.
    X = np.round(rng.normal(size=(n, 2)))
    selector = clone(CHOSEN[name]).set_params(n_select=min(5, n)).fit(X)
    whole = selector.annotation_order()
    left_out = rng.choice(n, int(rng.integers(1, n)), replace=False)
    order = selector.annotation_order(exclude=left_out)
    assert sorted(order) == sorted(set(range(n)) - set(left_out))
    first = int(np.flatnonzero(np.isin(whole, left_out))[0])
    np.testing.assert_array_equal(order[:first], whole[:first])
    shorter = int(rng.integers(1, len(order) + 1))
    np.testing.assert_array_equal(
        selector.annotation_order(shorter, exclude=left_out), order[:shorter]
    )


@pytest.mark.parametrize("clustering", ["ward", "cosine"])
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=15, deadline=None)
def test_k_annotations_cover_k_clusters_without_a_skipped_row(clustering, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 3))
    selector = DiffUseSelector(clustering=clustering).fit(X)
    whole = selector.annotation_order()
    place = int(rng.integers(1, 15))
    skipped = whole[place]
    order = selector.annotation_order(exclude=[skipped])
    labels = clone(selector).set_params(n_select=place + 1).fit(X).labels_
    cluster = np.flatnonzero(labels == labels[skipped])
    others = np.setdiff1d(cluster, skipped)
    assert (order[place] in others) or len(others) == 0
    for k in range(1, 15):
        clusters = clone(selector).set_params(n_select=k).fit(X).labels_
        judgeable = np.delete(clusters, skipped)
        covered = clusters[order[:k]]
        if len(set(judgeable)) == k:
            assert len(set(covered)) == k


@pytest.mark.parametrize("exclude", [[-1], [120], ["a"], [True], 3, [1.5], [[1]]])
def test_excluded_rows_must_be_rows(pool, exclude):
    with pytest.raises(ValueError, match=r"exclude holds .* row numbers from 0 to 119"):
        RandomSelector().fit(pool[0]).annotation_order(exclude=exclude)


@pytest.mark.parametrize("name", CHOSEN)
def test_a_skipped_row_is_replaced_where_rows_are_chosen(pool, name):
    comparison = started(pool, CHOSEN[name])
    before = comparison.ask(20)
    comparison.tell(before[:4], [1, 1, -1, 0]).skip(before[4])
    after = comparison.ask(20)
    assert comparison.n_annotations_ == 4
    assert len(after) == 16
    assert before[4] not in after
    assert comparison.skipped_indices_.tolist() == [before[4]]
    expected = comparison.selector_.annotation_order(20, exclude=[before[4]])
    np.testing.assert_array_equal(after, expected[4:])
    assert comparison.verdict_.details["skipped"] == "1 (left out)"
    assert comparison.verdict_.n_examples == 119
    # Taken back, all is as it was.
    np.testing.assert_array_equal(comparison.untell(before[4]).ask(20), before[4:])
    assert "skipped" not in comparison.verdict_.details


@pytest.mark.parametrize("name", DRAWN)
def test_a_skipped_row_is_a_tie_where_rows_are_drawn(pool, name):
    comparison = started(pool, DRAWN[name])
    before = comparison.ask(20)
    comparison.skip(before[:2]).tell(before[2:], pool[1][before[2:]])
    answers = np.where(np.isin(np.arange(120), before[:2]), 0, pool[1])
    same = started(pool, DRAWN[name]).resume(answers)
    assert comparison.winner_ == same.winner_
    assert comparison.winning_distance() == same.winning_distance()
    assert comparison.verdict_.details["skipped"] == "2 (counted as ties)"
    assert comparison.verdict_.counts == same.verdict_.counts


def test_a_duck_typed_selector_is_asked_for_other_rows(pool):
    class Backwards:
        def fit(self, X, y=None):
            self.n = len(X)
            return self

        def get_params(self, deep=True):
            return {}

        def annotation_order(self, n=None, *, exclude=()):
            return np.setdiff1d(np.arange(self.n), exclude)[::-1][:n]

    comparison = started(pool, Backwards())
    assert comparison.skip(118).ask(2).tolist() == [119, 117]


def test_skips_are_all_or_none(pool):
    comparison = started(pool, DiffUseSelector())
    rows = comparison.ask(5)
    comparison.tell(rows[0], 1)
    with pytest.raises(ValueError, match=f"row {rows[0]} has an answer already"):
        comparison.skip(rows[[1, 0]])
    far = int(np.setdiff1d(np.arange(120), comparison.ask(20))[-1])
    with pytest.raises(ValueError, match="was not asked for; skip rows of ask"):
        comparison.skip([int(rows[1]), far])
    assert comparison.skipped_indices_.size == 0
    np.testing.assert_array_equal(comparison.ask(4), rows[1:])
    comparison.skip(rows[1])
    with pytest.raises(ValueError, match=f"row {rows[1]} was skipped already; untell"):
        comparison.tell(rows[1], 1)


def test_the_last_rows_may_be_skipped_but_not_all():
    X = np.array([[1.0], [2.0], [-3.0]])
    comparison = PreferenceComparison(NormSelector()).start(X)
    comparison.tell(comparison.ask(1), 1)
    comparison.skip(comparison.ask(2))
    assert comparison.termination_condition_ == "all_annotated"
    assert comparison.winner_ == 1
    assert comparison.winning_distance().mean == 1
    assert comparison.sample_weight().tolist() == [0, 0, 1]
    assert np.isnan(comparison.labels()[:2]).all()
    comparison.untell(comparison.annotated_indices_)
    assert comparison.ask().tolist() == [2]
    with pytest.raises(ValueError, match="no example would be left"):
        comparison.skip(2)
    assert comparison.ask().tolist() == [2]


def test_an_answer_under_way_is_kept_when_its_row_leaves_the_order(pool):
    comparison = started(pool, DiffUseSelector(), max_annotations=6)
    first, *others = comparison.ask(6).tolist()
    comparison.skip(first)
    gone = [row for row in others if row not in comparison.ask(6)]
    assert gone  # at the root the other choice changes what follows
    comparison.tell(gone[0], -1)
    assert comparison.n_annotations_ == 0
    comparison.untell(first)
    comparison.tell(first, 1)
    remaining = comparison.ask(6)
    comparison.tell(remaining, np.ones(len(remaining)))
    assert comparison.verdict_.counts == {"A": 5, "B": 1, "tie": 0}


@given(
    seed=st.integers(0, 2**32 - 1),
    name=st.sampled_from([*CHOSEN, *DRAWN]),
)
@settings(max_examples=40, deadline=None)
def test_any_course_of_answers_and_skips_is_saved_and_taken_up(
    tmp_path_factory, seed, name
):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(int(rng.integers(3, 30)), 2))
    path = tmp_path_factory.mktemp("log") / "log.jsonl"
    selector = clone({**CHOSEN, **DRAWN}[name]).set_params(n_select=3)
    # A rule that remembers its last look.
    rule = BettingRule(0.3) if name in ("random", "weighted") else None
    comparison = PreferenceComparison(selector, rule, max_annotations=12).start(X)
    for _ in range(15):
        waiting = comparison.ask(3)
        told = list(comparison._answers)
        action = rng.choice(["tell", "skip", "untell"], p=[0.6, 0.25, 0.15])
        if action == "untell" and told:
            comparison.untell(rng.choice(told))
        elif action == "tell" and len(waiting):
            comparison.tell(rng.choice(waiting), rng.integers(-1, 2))
        elif action == "skip" and len(waiting) and comparison._n_judgeable > 1:
            comparison.skip(rng.choice(waiting))
        order = comparison._order
        assert len(set(order)) == len(order) == min(12, comparison._n_judgeable)
        remarks = {row: {"who": f"☃{row}"} for row in comparison._answers}
        comparison.save(path, remarks=remarks | {-1: {"of": "all"}})
        again = PreferenceComparison(selector, rule, max_annotations=12).load(path, X)
        assert repr(again.verdict_) == repr(comparison.verdict_)
        assert again.winner_ == comparison.winner_
        assert again.risk_ == comparison.risk_
        for column, values in comparison.path_.items():
            np.testing.assert_array_equal(again.path_[column], values)
        np.testing.assert_array_equal(
            again.annotated_indices_, comparison.annotated_indices_
        )
        np.testing.assert_array_equal(again.ask(20), comparison.ask(20))
        np.testing.assert_array_equal(
            again.skipped_indices_, comparison.skipped_indices_
        )
        read = read_remarks(path)
        assert read.pop(-1)["of"] == "all"
        assert read == remarks
        assert list(read) == list(comparison._answers)


RULES = [
    (HypergeometricRule(), DiffUseSelector(), 0),
    (HypergeometricRule(ties="draw"), DiffUseSelector(), 0),
    (BettingRule(), RandomSelector(random_state=0), 0),
    (FixedBudget(), RandomSelector(random_state=0), 0),
]


@pytest.mark.parametrize(("rule", "selector", "_"), RULES, ids=lambda v: str(v)[:20])
def test_annotations_left_is_when_repeated_answers_end_it(pool, rule, selector, _):
    X, _y = pool
    pattern = [1, 1, 0, 1, -1, 1]
    comparison = PreferenceComparison(selector, rule, max_annotations=90).start(X)
    assert comparison.annotations_left() is None
    comparison.tell(comparison.ask(6), pattern)
    guess = comparison.annotations_left()
    rows = comparison.ask(100)
    # The guess looks at fewer moments the farther they are.
    other = PreferenceComparison(selector, rule, max_annotations=90).start(X)
    other.tell(rows_in_order := other.ask(90), np.resize(pattern, len(rows_in_order)))
    assert other.termination_condition_ in ("stopping_rule", "max_annotations")
    truth = other.n_annotations_ - 6
    assert truth <= guess <= truth * 1.3 + 3
    # Looking ahead changes nothing.
    np.testing.assert_array_equal(comparison.ask(100), rows)
    assert comparison.n_annotations_ == 6
    assert other.annotations_left() == 0


def test_annotations_left_is_unknown_where_it_does_not_end(pool):
    comparison = PreferenceComparison(max_annotations=20).start(pool[0])
    comparison.tell(comparison.ask(4), [1, -1, 1, -1])
    assert comparison.annotations_left() is None
    everything = PreferenceComparison().start(pool[0])
    everything.tell(everything.ask(4), [1, -1, 1, -1])
    assert everything.annotations_left() == 116
    # A hundred wins in a thousand examples are near, two hundred are far.
    X, selector = np.zeros((10_000, 1)), RandomSelector(random_state=0)
    for risk, ends in ((1e-9, True), (1e-60, False)):
        rule = HypergeometricRule(risk)
        rare = PreferenceComparison(selector, rule, max_annotations=3000).start(X)
        rare.tell(rare.ask(10), [1, *[0] * 9])
        assert (rare.annotations_left() is not None) == ends
