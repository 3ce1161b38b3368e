import itertools
import json
import math
import os
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.base import clone
from sklearn.cluster import BisectingKMeans
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import GridSearchCV, ShuffleSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from strategies import seeds

from skdiffuse import (
    BettingRule,
    DiffUseSelector,
    FixedBudget,
    HypergeometricRule,
    LabelCostScorer,
    NormSelector,
    PairDifference,
    PreferenceComparison,
    RandomSelector,
    SubsampleSplit,
)
from skdiffuse.comparison import Assessment, StoppingRule
from skdiffuse.datasets import load_digit_captions, make_preference_pool
from skdiffuse.metrics import success, winner

SELECTORS = {
    "diffuse": DiffUseSelector(random_state=0),
    "kmeans": DiffUseSelector(8, clustering="kmeans", random_state=0),
    "bisecting": DiffUseSelector(8, clustering=BisectingKMeans(), random_state=0),
    "random": RandomSelector(random_state=0),
    "norm": NormSelector(),
    "weighted": NormSelector(probability=True, random_state=0),
}
RULES = {
    "draw": HypergeometricRule(risk=0.2, ties="draw"),
    "drop": HypergeometricRule(risk=0.1, ties="drop"),
    "betting": BettingRule(alpha=0.1),
    "fixed": FixedBudget(),
}
PAIRINGS = [
    (selector, rule)
    for selector in SELECTORS
    for rule in RULES
    if rule != "betting" or selector in ("random", "weighted")
]


def comparison_of(pairing, **params):
    selector, rule = pairing
    return PreferenceComparison(
        clone(SELECTORS[selector]), clone(RULES[rule]), **params
    )


def same_verdict(one, other):
    np.testing.assert_array_equal(one.annotated_indices_, other.annotated_indices_)
    assert one.winner_ == other.winner_
    assert one.risk_ == other.risk_
    assert one.termination_condition_ == other.termination_condition_
    for name, values in one.path_.items():
        np.testing.assert_array_equal(other.path_[name], values)


# Number of wins, of t draws from 800, at which the risk falls below 0.2.
CRITICAL = {
    5: 4, 6: 5, 7: 6, 8: 6, 10: 7, 15: 10, 20: 13,
    30: 18, 50: 29, 100: 55, 150: 81, 200: 106,
}  # fmt: skip


@pytest.mark.parametrize("draws", CRITICAL)
def test_critical_counts_of_the_hypergeometric_rule(draws):
    rule = HypergeometricRule(risk=0.2, ties="draw")
    for wins in range(draws // 2 + 1, draws + 1):
        for other in (0, -1) if 2 * wins > draws else ():
            preferences = np.full(draws, other)
            preferences[:wins] = 1
            if winner(preferences) == 1:
                assert rule.assess(preferences, 800).stop == (wins >= CRITICAL[draws])


@given(seeds, st.integers(1, 30), st.integers(0, 30))
def test_hypergeometric_risk_equals_the_definition(seed, n_draws, n_more):
    preferences = np.random.default_rng(seed).integers(-1, 2, size=n_draws)
    n_examples = n_draws + n_more
    leader = winner(preferences)
    wins = int(np.sum(preferences == leader))
    decided = int(np.count_nonzero(preferences))
    at_this_rate = max(decided, round(n_examples * decided / n_draws))
    to_be_caught_up = min(2 * wins, decided + n_more)
    for ties, draws, pool in (
        ("draw", n_draws, n_examples),
        ("drop", decided, max(at_this_rate, to_be_caught_up)),
    ):
        assessed = HypergeometricRule(ties=ties).assess(preferences, n_examples)
        assert assessed.leader == leader
        half = pool // 2 if ties == "draw" else (pool + 1) // 2
        expected = sum(
            math.comb(half, w) * math.comb(pool - half, draws - w)
            for w in range(wins, min(half, draws) + 1)
        ) / math.comb(pool, draws)
        assert assessed.risk == pytest.approx(expected if leader else 1.0, abs=1e-12)
        if leader and assessed.risk == 0:
            # Nothing that may still come can turn the winner.
            assert 2 * wins > decided + n_more
        mirrored = HypergeometricRule(ties=ties).assess(-preferences, n_examples)
        assert mirrored == assessed._replace(leader=-leader)


@pytest.mark.parametrize("n_examples", [50, 800, 10**5, 10**9])
def test_hypergeometric_risk_of_large_pools_and_small_tails(n_examples):
    for draws in (1, 7, 50):
        for wins in range(draws // 2 + 1, draws + 1):
            preferences = np.repeat([1.0, -1.0], [wins, draws - wins])
            found = HypergeometricRule(ties="draw").assess(preferences, n_examples)
            expected = stats.hypergeom.sf(wins - 1, n_examples, n_examples // 2, draws)
            assert found.risk == expected


def wealth_from_the_definition(x, n):
    """The largest mean wealth of bets that the mean of x is above one half."""
    bets = [(j + 0.5) / 100 for j in range(100)]
    wealth, largest, total = [1.0] * 100, 1.0, 0.0
    for t, value in enumerate(x):
        mean = (n / 2 - total) / (n - t)
        total += value
        if total > n / 2:
            return math.inf
        if 0 < mean < 1:
            wealth = [
                w * (1 + b * (value - mean) / mean)
                for w, b in zip(wealth, bets, strict=True)
            ]
        largest = max(largest, sum(wealth) / 100)
    return largest


@given(seeds, st.integers(1, 25), st.integers(0, 20), st.booleans())
def test_betting_wealth_equals_the_definition(seed, n_draws, n_more, graded):
    rng = np.random.default_rng(seed)
    preferences = rng.choice([-1, 0, 1, 1], size=n_draws).astype(float)
    if graded:
        preferences *= rng.uniform(size=n_draws)
    n = n_draws + n_more
    for_a = wealth_from_the_definition((1 + preferences) / 2, n)
    for_b = wealth_from_the_definition((1 - preferences) / 2, n)
    assessed = BettingRule(alpha=0.05).assess(preferences, n)
    assert assessed.risk == pytest.approx(min(1, 1 / max(for_a, for_b)), rel=1e-9)
    if assessed.stop:
        assert assessed.leader == (1 if for_a > for_b else -1)
        assert max(for_a, for_b) > 20
    mirrored = BettingRule(alpha=0.05).assess(-preferences, n)
    assert mirrored.risk == pytest.approx(assessed.risk, rel=1e-9)


def test_betting_wealth_is_a_martingale_at_equality():
    # All orders of a small tied pool: the mean of the final wealth is 1 exactly.
    pool = [1.0, 1.0, 0.0, 0.0, 0.5, 0.5]
    totals = []
    for order in itertools.permutations(pool):
        wealth, total = np.ones(100), 0.0
        bets = (np.arange(100) + 0.5) / 100
        for t, x in enumerate(order[:4]):
            mean = (3 - total) / (6 - t)
            total += x
            if 0 < mean < 1:
                wealth = wealth * (1 + bets * (x - mean) / mean)
        totals.append(wealth.mean())
    assert np.mean(totals) == pytest.approx(1, rel=1e-12)


def pool_of(n, ties, ahead):
    """Preferences in which B wins `ahead` examples more than A."""
    n_ties = round(n * ties)
    n_ties += (n - n_ties - ahead) % 2
    wins_a = (n - n_ties - ahead) // 2
    return np.repeat([1.0, 0.0, -1.0], [wins_a, n_ties, wins_a + ahead])


def first_named(rule, preferences):
    """Whom the rule names, and nobody if only the exhausted pool would tell."""
    n = len(preferences)
    looks = (rule.assess(preferences[:t], n) for t in range(1, n))
    return next((look.leader for look in looks if look.stop), 0)


@pytest.mark.parametrize("ties", [0.0, 0.3, 0.7])
@pytest.mark.parametrize("ahead", [0, 1])
@pytest.mark.simulation
def test_betting_rule_keeps_its_promise(ties, ahead):
    alpha, runs, n = 0.1, 1500, 60
    y = pool_of(n, ties, ahead)
    assert (len(y), y.sum()) == (n, -ahead)
    rng = np.random.default_rng(7)
    named = np.array(
        [first_named(BettingRule(alpha), rng.permutation(y)) for _ in range(runs)]
    )
    wrong = named == 1 if ahead else named != 0
    bound = alpha if ahead else 2 * alpha
    assert wrong.mean() <= bound + 3 * math.sqrt(bound * (1 - bound) / runs)
    # A rule that names nobody keeps the promise too; this one does name some.
    assert wrong.any()


def test_betting_rule_refuses_an_order_that_is_not_random():
    X, y = make_preference_pool(100, random_state=0)
    for name in ("diffuse", "kmeans", "norm"):
        with pytest.raises(ValueError, match=r"RandomSelector\(\)"):
            PreferenceComparison(clone(SELECTORS[name]), BettingRule()).fit(X, y)
    PreferenceComparison(RandomSelector(random_state=0), BettingRule()).fit(X, y)


def test_betting_rule_needs_preferences_between_minus_one_and_one():
    X, y = make_preference_pool(50, random_state=0)
    comparison = PreferenceComparison(RandomSelector(random_state=0), BettingRule())
    comparison.start(X)
    first, second, third = comparison.ask(3)
    with pytest.raises(ValueError, match=rf"row {second}: the preference 3 is outside"):
        comparison.tell([first, second, third], [1, 3, 0])
    assert comparison.n_annotations_ == 1
    np.testing.assert_array_equal(comparison.ask(1), [second])
    comparison.tell(second, -1)
    assert comparison.n_annotations_ == 3
    # Other rules take any finite number.
    PreferenceComparison().fit(X, 100 * y)


@pytest.mark.parametrize("pairing", PAIRINGS, ids="-".join)
@settings(max_examples=settings.default.max_examples // 4)
@given(seed=seeds, batch=st.integers(1, 7))
def test_ask_and_tell_in_any_order_is_one_fit(pairing, seed, batch, tmp_path_factory):
    rng = np.random.default_rng(seed)
    X, y = make_preference_pool(
        int(rng.integers(1, 60)),
        winning_distance=float(rng.choice([-0.5, 0.0, 0.3])),
        identical_rate=0.2,
        random_state=rng.integers(2**31),
    )
    params = {"min_annotations": int(rng.integers(1, 6)), "max_annotations": 40}
    whole = comparison_of(pairing, **params).fit(X, y)
    step = comparison_of(pairing, **params).start(X)
    path = tmp_path_factory.mktemp("saved") / "log.jsonl"
    while len(rows := step.ask(batch)):
        rows = rng.permutation(rows)[: rng.integers(1, len(rows) + 1)]
        step.tell(rows, y[rows])
        if rng.uniform() < 0.3:
            step.save(path)
            step = comparison_of(pairing, **params).load(path, X)
    same_verdict(step, whole)
    called = comparison_of(pairing, **params, batch_size=batch)
    same_verdict(called.fit(X, lambda rows: y[rows]), whole)


@pytest.mark.parametrize("pairing", PAIRINGS, ids="-".join)
@settings(max_examples=settings.default.max_examples // 4)
@given(seed=seeds)
def test_swapping_a_and_b_mirrors_the_verdict(pairing, seed):
    X, y = make_preference_pool(40, winning_distance=0.3, random_state=seed)
    one = comparison_of(pairing).fit(X, y)
    other = comparison_of(pairing).fit(-X, -y)
    assert other.winner_ == -one.winner_
    assert other.risk_ == one.risk_
    np.testing.assert_array_equal(other.annotated_indices_, one.annotated_indices_)
    np.testing.assert_array_equal(other.path_["A"], one.path_["B"])


@pytest.mark.parametrize("pairing", PAIRINGS, ids="-".join)
@settings(max_examples=settings.default.max_examples // 4)
@given(seed=seeds, n=st.integers(1, 30))
def test_exhausted_pool_gives_the_exact_verdict(pairing, seed, n):
    y = np.random.default_rng(seed).integers(-1, 2, size=n)
    X = np.random.default_rng(seed).normal(size=(n, 2))
    comparison = comparison_of(pairing, min_annotations=n, max_annotations=n).fit(X, y)
    assert comparison.termination_condition_ == "all_annotated"
    assert comparison.winner_ == winner(y)
    assert comparison.risk_ == 0
    assert sorted(comparison.annotated_indices_) == list(range(n))
    assert comparison.score(X, y) == (1.0 if winner(y) else 0.5)


def test_why_a_comparison_ends():
    X, y = make_preference_pool(100, winning_distance=0.9, tie_rate=0, random_state=0)
    clear = PreferenceComparison().fit(X, y)
    assert clear.termination_condition_ == "stopping_rule"
    assert clear.winner_ == 1
    assert clear.risk_ < 0.2
    ties = np.zeros(100)
    unclear = PreferenceComparison(max_annotations=20).fit(X, ties)
    assert unclear.termination_condition_ == "max_annotations"
    assert (unclear.winner_, unclear.n_annotations_) == (0, 20)
    assert unclear.score(X, y) == 0.5
    fixed = PreferenceComparison(None, FixedBudget(), max_annotations=20).fit(X, y)
    assert fixed.termination_condition_ == "max_annotations"
    assert (fixed.winner_, fixed.n_annotations_, fixed.risk_) == (1, 20, None)
    assert np.isnan(fixed.path_["risk"]).all()


def test_only_the_rows_asked_for_are_read():
    X, y = make_preference_pool(100, winning_distance=0.6, random_state=0)
    whole = PreferenceComparison().fit(X, y)
    few = np.full(100, np.nan)
    few[whole.annotated_indices_] = y[whole.annotated_indices_]
    same_verdict(PreferenceComparison().fit(X, few), whole)
    words = np.array(["?"] * 100, dtype=object)
    words[whole.annotated_indices_] = y[whole.annotated_indices_]
    same_verdict(PreferenceComparison().fit(X, words), whole)


@pytest.mark.parametrize("bad", [np.nan, None, "A", "1", np.inf, [1, 2], 1j], ids=repr)
def test_bad_answer_loses_nothing(bad):
    X, y = make_preference_pool(60, random_state=0)
    whole = PreferenceComparison(RandomSelector(random_state=0)).fit(X, y)
    calls = 0

    def oracle(rows):
        nonlocal calls
        calls += 1
        answers = list(y[rows])
        if calls == 3:
            answers[0] = bad
        return answers

    comparison = PreferenceComparison(RandomSelector(random_state=0))
    with pytest.raises(ValueError, match=r"the preference of row .* is"):
        comparison.fit(X, oracle)
    assert comparison.n_annotations_ == 6
    assert comparison.termination_condition_ == "in_progress"
    same_verdict(comparison.resume(oracle), whole)


def test_good_answers_of_a_batch_with_a_bad_one_are_kept():
    X, _ = make_preference_pool(60, random_state=0)
    comparison = PreferenceComparison().start(X)
    rows = comparison.ask(4)
    with pytest.raises(ValueError, match=f"row {rows[0]} is nan"):
        comparison.tell(rows, [np.nan, 1, 0, 1])
    assert comparison.n_annotations_ == 0
    np.testing.assert_array_equal(comparison.ask(1), rows[:1])
    comparison.tell(rows[0], 1)
    assert comparison.n_annotations_ == 4


def test_oracle_that_raises_loses_nothing(tmp_path):
    X, y = make_preference_pool(60, random_state=0)
    rule = HypergeometricRule(0.01)
    whole = PreferenceComparison(None, rule).fit(X, y)

    def fails(rows):
        if len(rows) == 1:
            raise ConnectionError("no judge today")
        return y[rows]

    comparison = PreferenceComparison(None, rule)
    with pytest.raises(ConnectionError):
        comparison.fit(X, fails)
    assert comparison.n_annotations_ == 5
    comparison.save(tmp_path / "log.jsonl")
    resumed = PreferenceComparison(None, rule).load(tmp_path / "log.jsonl", X)
    same_verdict(resumed.resume(lambda rows: y[rows]), whole)
    same_verdict(comparison.resume(y), whole)


@pytest.mark.parametrize(
    ("rows", "preferences", "message"),
    [
        ([10**6], [1], "row 1000000 was not asked for"),
        ([-1], [1], "row -1 was not asked for"),
        ([0, 1], [1], "1 answers for 2 rows"),
        ([0.5], [1], "row 0.5 was not asked for"),
        (["a"], [1], "row a was not asked for"),
    ],
)
def test_bad_rows_are_refused(rows, preferences, message):
    comparison = PreferenceComparison().start(np.eye(8))
    with pytest.raises(ValueError, match=message):
        comparison.tell(rows, preferences)
    comparison.tell(comparison.ask(), [1])
    with pytest.raises(ValueError, match="has an answer already"):
        comparison.tell(comparison.annotated_indices_, [1])
    for n in (0, 1.5, True):
        with pytest.raises(ValueError, match="pass an int >= 1"):
            comparison.ask(n)


def test_oracle_with_the_wrong_number_of_answers_is_refused():
    with pytest.raises(ValueError, match="1 answers for 5 rows"):
        PreferenceComparison().fit(np.eye(8), lambda rows: 1.0)


def test_saved_comparison_is_readable_and_guarded(tmp_path):
    X, y = make_preference_pool(60, random_state=0)
    path = tmp_path / "log.jsonl"
    comparison = PreferenceComparison(RandomSelector(random_state=3)).start(X)
    rows = comparison.ask(3)
    comparison.tell(rows, y[rows]).save(path)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert lines[0]["order"][:3] == rows.tolist()
    assert lines[0]["selector"]["random_state"] == 3
    assert lines[1:] == [{"row": row, "preference": y[row]} for row in rows.tolist()]
    with pytest.raises(ValueError, match="fingerprints differ"):
        clone(comparison).load(path, X + 1e-3)
    with pytest.raises(ValueError, match="fingerprints differ"):
        clone(comparison).load(path, X[:-1])
    for params in (
        {"stopping_rule": HypergeometricRule(risk=0.1)},
        {"selector": DiffUseSelector()},
        {"selector__random_state": 4},
    ):
        with pytest.raises(ValueError, match="was saved with"):
            clone(comparison).set_params(**params).load(path, X)
    same_verdict(clone(comparison).load(path, X), comparison)


def reordered(line, first):
    """Put something before the first row of the order in a saved header."""
    return re.sub(r'("order": \[)(\d+), ', r"\g<1>" + first + r"\2, ", line)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda lines: [], "not a saved comparison"),
        (lambda lines: lines[1:], "not a saved comparison"),
        (lambda lines: [*lines, "{"], "line 4 is not JSON"),
        (lambda lines: [*lines, lines[-1]], "line 4 is not the answer"),
        (lambda lines: [*lines, '{"row": 77, "preference": 1}'], "line 4 is not"),
        (lambda lines: [*lines, '{"row": ROW}'], "finite pref"),
        (lambda lines: [*lines, '{"row": true, "preference": 1}'], "line 4 is not"),
        (lambda lines: [*lines, '{"row": ROW, "preference": true}'], "finite pref"),
        (
            lambda lines: [*lines, '{"row": ROW, "preference": 1' + "0" * 400 + "}"],
            "finite pref",
        ),
        (lambda lines: [*lines, "[" * 100_000], "line 4 is not JSON"),
        (lambda lines: lines[:-1], "has 1 answers, but 2 were saved"),
        (lambda lines: [reordered(lines[0], "-1, "), *lines[1:]], "no order"),
        (lambda lines: [reordered(lines[0], "10, "), *lines[1:]], "no order"),
        (lambda lines: [reordered(lines[0], r"\2, "), *lines[1:]], "row twice"),
        (lambda lines: [*lines, "3"], "line 4 is not"),
        (lambda lines: [lines[0].replace('"order"', '"x"')], "no order of row numbers"),
    ],
)
def test_damaged_file_is_refused(tmp_path, edit, message):
    X = np.random.default_rng(0).normal(size=(10, 2))
    path = tmp_path / "log.jsonl"
    comparison = PreferenceComparison().start(X)
    comparison.tell(comparison.ask(2), [1, 0]).save(path)
    text = "\n".join(edit(path.read_text().splitlines()))
    path.write_text(text.replace("ROW", str(comparison.ask(1)[0])))
    with pytest.raises(ValueError, match=message):
        PreferenceComparison().load(path, X)


def test_interrupted_save_keeps_the_old_file(tmp_path, monkeypatch):
    X = np.random.default_rng(0).normal(size=(10, 2))
    path = tmp_path / "log.jsonl"
    comparison = PreferenceComparison().start(X)
    comparison.save(path)
    before = path.read_text()
    monkeypatch.setattr("os.fsync", lambda _: (_ for _ in ()).throw(OSError("full")))
    comparison.tell(comparison.ask(1), [1])
    with pytest.raises(OSError, match="full"):
        comparison.save(path)
    assert path.read_text() == before


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"min_annotations": 9, "max_annotations": 8}, "min_annotations=9 is more"),
        ({"min_annotations": 0}, "'min_annotations' parameter"),
        ({"selector": "diffuse"}, "'selector' parameter"),
        ({"stopping_rule": 0.2}, "'stopping_rule' parameter"),
        ({"stopping_rule": HypergeometricRule(risk=1.5)}, "'risk' parameter"),
        ({"stopping_rule": HypergeometricRule(ties="split")}, "'ties' parameter"),
        ({"batch_size": 0}, "'batch_size' parameter"),
    ],
)
def test_parameters_are_checked(params, message):
    with pytest.raises(ValueError, match=message):
        PreferenceComparison(**params).fit(np.eye(8), np.ones(8))


def test_lengths_and_missing_y():
    with pytest.raises(ValueError, match="7 preferences for 8 rows"):
        PreferenceComparison().fit(np.eye(8), np.ones(7))
    with pytest.raises(ValueError, match="requires y"):
        PreferenceComparison().fit(np.eye(8), None)
    comparison = PreferenceComparison().fit(np.eye(8), np.ones(8))
    with pytest.raises(ValueError, match="inconsistent"):
        comparison.score(np.eye(8), np.ones(7))
    with pytest.raises(ValueError, match="NaN in rows 0"):
        comparison.score(np.eye(8), np.full(8, np.nan))


def test_a_rule_of_ones_own():
    class LeadRule(StoppingRule):
        decides_at_budget = True

        def __init__(self, lead=3):
            self.lead = lead

        def assess(self, preferences, n_examples):
            return Assessment(
                winner(preferences), None, abs(sum(preferences)) >= self.lead
            )

    X = np.random.default_rng(0).normal(size=(30, 2))
    comparison = PreferenceComparison(
        RandomSelector(random_state=0), LeadRule(), min_annotations=1
    )
    assert comparison.fit(X, np.ones(30)).n_annotations_ == 3
    assert comparison.set_params(stopping_rule__lead=7).fit(X, np.ones(30)).winner_ == 1
    assert comparison.n_annotations_ == 7
    with pytest.raises(TypeError, match="define the method assess"):
        StoppingRule().assess(np.ones(3), 10)


def test_verdict_reads_well():
    X, y = make_preference_pool(100, winning_distance=0.9, tie_rate=0, random_state=0)
    comparison = PreferenceComparison().fit(X, y)
    text, html = repr(comparison.verdict_), comparison.verdict_._repr_html_()
    for part in ("A is better", "5 of 100 examples", "A wins", "risk"):
        assert part in text
        assert part in html
    counts = comparison.verdict_.counts
    assert sum(counts.values()) == comparison.n_annotations_
    headlines = {
        "B is better.": PreferenceComparison().fit(X, -y),
        "Not decided yet.": PreferenceComparison().start(X),
        "Inconclusive.": PreferenceComparison(max_annotations=9).fit(X, 0 * y),
        "Neither is better.": PreferenceComparison().fit(X[:9], 0 * y[:9]),
    }
    for headline, comparison in headlines.items():
        assert comparison.verdict_.headline == headline


def test_grid_search_on_differences():
    X, y = make_preference_pool(200, winning_distance=0.3, random_state=0)
    comparison = PreferenceComparison(DiffUseSelector(), HypergeometricRule())
    grid = {
        "selector__representative": ["centroid", "max_norm"],
        "selector__clustering": ["ward", "cosine"],
        "stopping_rule__risk": [0.05, 0.2],
    }
    for cv in (
        SubsampleSplit(4, random_state=0),
        SubsampleSplit(4, score_on="all", random_state=0),
        ShuffleSplit(4, random_state=0),
    ):
        search = GridSearchCV(comparison, grid, cv=cv).fit(X, y)
        assert set(np.unique(4 * search.cv_results_["mean_test_score"] * 2)) <= set(
            range(9)
        )
    search = GridSearchCV(
        comparison,
        {"stopping_rule__risk": [0.001, 0.4]},
        cv=SubsampleSplit(4, random_state=0),
        scoring=LabelCostScorer(cost=0.02),
    ).fit(X, y)
    assert search.best_params_ == {"stopping_rule__risk": 0.4}


def test_grid_search_on_texts():
    pairs, y = load_digit_captions(return_X_y=True)
    pipeline = make_pipeline(
        PairDifference(TfidfVectorizer()),
        PreferenceComparison(DiffUseSelector(random_state=0), FixedBudget()),
    )
    grid = {
        "pairdifference__featurizer__sublinear_tf": [True, False],
        "preferencecomparison__max_annotations": [10, 60],
    }
    search = GridSearchCV(
        pipeline,
        grid,
        cv=SubsampleSplit(3, train_size=0.3, random_state=0),
        scoring=LabelCostScorer(),
    ).fit(pairs, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_estimator_[-1].n_annotations_ in (10, 60)


@given(
    seeds, st.integers(1, 50), st.floats(0.01, 1), st.sampled_from(["sample", "all"])
)
def test_subsample_split(seed, n, size, score_on):
    split = SubsampleSplit(3, train_size=size, score_on=score_on, random_state=seed)
    draws = list(split.split(np.zeros((n, 1))))
    assert len(draws) == split.get_n_splits() == 3
    for train, test in draws:
        assert len(np.unique(train)) == len(train) == max(1, int(size * n + 1e-9))
        np.testing.assert_array_equal(test, train if score_on == "sample" else range(n))
    again = list(split.split(np.zeros((n, 1))))
    np.testing.assert_array_equal(draws[0][0], again[0][0])


def test_splitter_and_scorer_check_their_arguments():
    for params in ({"n_splits": 0}, {"train_size": 0.0}, {"score_on": "rest"}):
        with pytest.raises(ValueError, match="parameter of SubsampleSplit"):
            SubsampleSplit(**params)
    with pytest.raises(ValueError, match="parameter of LabelCostScorer"):
        LabelCostScorer(cost=-1)
    X, y = make_preference_pool(60, winning_distance=0.6, random_state=0)
    scores = cross_val_score(
        PreferenceComparison(),
        X,
        y,
        cv=SubsampleSplit(2, random_state=0),
        scoring=LabelCostScorer(0.0),
    )
    assert set(scores) <= {0.0, 0.5, 1.0}


@given(st.lists(st.sampled_from([-1, 0, 1]), min_size=1), st.sampled_from([-1, 0, 1]))
def test_success_from_the_definition(preferences, verdict):
    truth = winner(preferences)
    if verdict == 0 or truth == 0:
        assert success(verdict, preferences) == 0.5
    else:
        assert success(verdict, preferences) == float(verdict == truth)


def test_success_refuses_other_verdicts():
    for verdict in ("A", 0.5, None, 2):
        with pytest.raises(ValueError, match="is no winner"):
            success(verdict, [1])


def test_few_judgements_cost_less_and_agree_where_the_pool_is_clear():
    counts, right = [], []
    for seed in range(40):
        X, y = make_preference_pool(300, winning_distance=0.5, random_state=seed)
        comparison = PreferenceComparison(DiffUseSelector()).fit(X, y)
        counts.append(comparison.n_annotations_)
        right.append(comparison.score(X, y))
    assert np.mean(right) >= 0.8
    assert np.mean(counts) < 40


@pytest.mark.parametrize(
    "wrap",
    [
        list,
        tuple,
        pd.Series,
        pl.Series,
        lambda v: v[:, np.newaxis],
        lambda v: [[x] for x in v],
        lambda v: pd.DataFrame({"preference": v}),
        lambda v: pl.DataFrame({"preference": v}),
        lambda v: (x for x in v),
        lambda v: dict(enumerate(v)).values(),
    ],
    ids=range(10),
)
@pytest.mark.parametrize("n", [1, 5])
def test_answers_in_any_container(wrap, n):
    X, y = make_preference_pool(60, random_state=0)
    comparison = PreferenceComparison().start(X)
    rows = comparison.ask(n)
    comparison.tell(wrap(rows.astype(float)), wrap(y[rows]))
    np.testing.assert_array_equal(comparison.annotated_indices_, rows)
    np.testing.assert_array_equal(comparison.verdict_.preferences, y[rows])


def test_good_answers_beside_nested_and_boolean_ones_are_kept():
    X, _ = make_preference_pool(60, random_state=0)
    comparison = PreferenceComparison().start(X)
    rows = comparison.ask(5)
    with pytest.raises(ValueError, match=rf"row {rows[1]} is \[\].*and 2 more"):
        comparison.tell(rows, [1, [], 0, True, {"a": 1}])
    np.testing.assert_array_equal(comparison.ask(3), rows[[1, 3, 4]])
    mask = np.zeros(60, dtype=bool)
    with pytest.raises(ValueError, match="row False was not asked for"):
        comparison.tell(mask, np.zeros(60))
    with pytest.raises(ValueError, match=r"the preference of row .* is (np.)?True"):
        PreferenceComparison().fit(X, np.ones(60, dtype=bool))


def test_float_rows_survive_a_save(tmp_path):
    X, y = make_preference_pool(60, random_state=0)
    comparison = PreferenceComparison().start(X)
    rows = comparison.ask(3)
    comparison.tell(pd.Series(rows).astype(float), y[rows])
    comparison.save(tmp_path / "log")
    same_verdict(PreferenceComparison().load(tmp_path / "log", X), comparison)


def test_many_ties_do_not_make_one_win_certain():
    rule = HypergeometricRule(ties="drop")
    for wins, losses, ties, n in ((1, 0, 66, 100), (1, 0, 6, 10), (2, 1, 855, 1000)):
        preferences = np.repeat([1, -1, 0], [wins, losses, ties])
        assert not rule.assess(preferences, n).stop


def test_a_failed_start_leaves_the_comparison_as_it_was():
    X, y = make_preference_pool(60, random_state=0)
    comparison = PreferenceComparison().start(X)
    rows = comparison.ask(4)
    comparison.tell(rows, y[rows])
    before = comparison.verdict_
    for start in (
        lambda: comparison.set_params(stopping_rule=BettingRule(0.3)).start(X),
        lambda: comparison.set_params(stopping_rule=None).start(X[:, :2] * np.nan),
    ):
        with pytest.raises(ValueError, match=r"RandomSelector|NaN"):
            start()
        assert repr(comparison.verdict_) == repr(before)
        assert comparison.n_features_in_ == 20
    comparison.set_params(stopping_rule=HypergeometricRule(0.01))
    with pytest.raises(ValueError, match="set it back, or start anew"):
        comparison.resume(y)
    assert comparison.set_params(stopping_rule=None).resume(y).n_annotations_ > 4


def test_more_annotations_go_on_where_it_was_inconclusive(tmp_path):
    X, y = make_preference_pool(300, winning_distance=0.1, random_state=1)
    rule = HypergeometricRule(0.001)
    whole = PreferenceComparison(None, rule).fit(X, y)
    assert whole.n_annotations_ > 12
    comparison = PreferenceComparison(None, rule, max_annotations=12).fit(X, y)
    assert comparison.termination_condition_ == "max_annotations"
    comparison.save(tmp_path / "log")
    assert len(comparison.ask()) == 0
    same_verdict(comparison.set_params(max_annotations=200).resume(y), whole)
    loaded = PreferenceComparison(None, rule).load(tmp_path / "log", X)
    assert loaded.n_annotations_ == 12
    same_verdict(loaded.resume(y), whole)
    unseeded = PreferenceComparison(RandomSelector(), rule, max_annotations=12)
    unseeded.fit(X, 0 * y)
    unseeded.save(tmp_path / "log")
    with pytest.raises(ValueError, match="random_state of then"):
        PreferenceComparison(RandomSelector(), rule).load(tmp_path / "log", X)
    again = PreferenceComparison(RandomSelector(), rule, max_annotations=12)
    same_verdict(again.load(tmp_path / "log", X), unseeded)


def test_equal_settings_load_whatever_their_type(tmp_path):
    X, y = make_preference_pool(60, random_state=0)
    seed = np.random.RandomState(0)
    saved = PreferenceComparison(
        RandomSelector(random_state=seed), HypergeometricRule(np.float64(0.1))
    ).start(X)
    saved.save(tmp_path / "log")
    loaded = PreferenceComparison(
        RandomSelector(random_state=seed), HypergeometricRule(0.1)
    )
    same_verdict(loaded.load(tmp_path / "log", X).resume(y), saved.resume(y))


def test_rounding_of_another_machine_is_the_same_x(tmp_path):
    X, y = make_preference_pool(60, random_state=0)
    saved = PreferenceComparison().fit(X, y)
    saved.save(tmp_path / "log")
    noise = 1e-13 * np.random.default_rng(0).normal(size=X.shape)
    same_verdict(PreferenceComparison().load(tmp_path / "log", X + noise), saved)
    for other in (X[::-1], X[:, ::-1], X * 1.001, -X):
        with pytest.raises(ValueError, match="fingerprints differ"):
            PreferenceComparison().load(tmp_path / "log", other)


def test_saving_keeps_links_and_permissions(tmp_path):
    comparison = PreferenceComparison().start(np.eye(8))
    real, link = tmp_path / "real.jsonl", tmp_path / "link.jsonl"
    comparison.save(real)
    os.chmod(real, 0o600)
    link.symlink_to(real)
    comparison.tell(comparison.ask(1), [1]).save(link)
    assert link.is_symlink()
    assert len(real.read_text().splitlines()) == 2
    assert real.stat().st_mode & 0o777 == 0o600
    with pytest.raises(ValueError, match="is no file"):
        comparison.save(tmp_path)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link.jsonl", "real.jsonl"]


def test_an_answer_can_be_taken_back():
    X, y = make_preference_pool(100, winning_distance=0.5, random_state=0)
    whole = PreferenceComparison().fit(X, y)
    comparison = PreferenceComparison().start(X)
    first, second = comparison.ask(2)
    comparison.tell([first, second], [-y[first], y[second]])
    comparison.untell(first)
    assert comparison.n_annotations_ == 0
    np.testing.assert_array_equal(comparison.ask(1), [first])
    with pytest.raises(ValueError, match="no answer to take back"):
        comparison.untell([second, first])
    same_verdict(comparison.resume(y), whole)
    assert whole.untell(whole.annotated_indices_[-1]).termination_condition_ == (
        "in_progress"
    )


def test_rule_that_fails_keeps_the_answer():
    class Moody(StoppingRule):
        calls = 0

        def assess(self, preferences, n_examples):
            Moody.calls += 1
            if Moody.calls == 2:
                raise ValueError("service down")
            return 1, None, False

    comparison = PreferenceComparison(stopping_rule=Moody()).start(np.eye(8))
    rows = comparison.ask(3)
    with pytest.raises(ValueError, match="service down"):
        comparison.tell(rows, [1, 0, 1])
    assert comparison.n_annotations_ == 1
    assert comparison.resume(np.ones(8)).n_annotations_ == 8


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
@pytest.mark.parametrize("preferences", [[], [np.nan], [1, 1, 1, 1]])
def test_rules_refuse_what_cannot_be(rule, preferences):
    with pytest.raises(ValueError, match="at least one, at most all"):
        rule.assess(np.array(preferences), 3)


def test_what_is_no_oracle_rule_or_selector_is_refused():
    X = np.eye(8)
    for y in (1, {"a": 1}, (i for i in range(8))):
        with pytest.raises(ValueError, match=r"array|y is a"):
            PreferenceComparison().fit(X, y)
    for params in ({"selector": RandomSelector}, {"stopping_rule": BettingRule}):
        with pytest.raises(ValueError, match="is a class; pass an instance"):
            PreferenceComparison(**params).fit(X, np.ones(8))

    class Plain:
        def assess(self, preferences, n_examples):
            return 1, None, True

        def get_params(self, deep=False):
            return {}

    with pytest.raises(ValueError, match="derive its class from"):
        PreferenceComparison(stopping_rule=Plain()).fit(X, np.ones(8))
    for verdict in (np.array([1]), [1], "1"):
        with pytest.raises(ValueError, match="is no winner"):
            success(verdict, [1])
    with pytest.raises(NotFittedError, match=r"call start\(X\)"):
        PreferenceComparison().ask()


def test_share_of_rows_is_not_lost_to_rounding():
    X = np.arange(100.0)[:, np.newaxis]
    assert RandomSelector(0.29).fit(X).n_selected_ == 29
    train, _ = next(SubsampleSplit(1, train_size=0.29).split(X))
    assert len(train) == 29


def test_scorer_finds_the_comparison_inside():
    X, y = make_preference_pool(60, winning_distance=0.6, random_state=0)
    comparison = PreferenceComparison(stopping_rule=HypergeometricRule())
    plain = LabelCostScorer(0.01)(clone(comparison).fit(X, y), X, y)
    nested = make_pipeline(make_pipeline(clone(comparison))).fit(X, y)
    assert LabelCostScorer(0.01)(nested, X, y) == plain
    search = GridSearchCV(
        comparison,
        {"stopping_rule__risk": [0.05]},
        cv=SubsampleSplit(2, random_state=0),
    )
    assert LabelCostScorer(0.01)(search.fit(X, y), X, y) == plain
