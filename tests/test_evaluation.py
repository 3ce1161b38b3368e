"""The studies, against closed forms and plain loops."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.base import clone
from strategies import seeds

from skdiffuse import (
    BettingRule,
    DiffUseSelector,
    FixedBudget,
    HypergeometricRule,
    NormSelector,
    PPIMeanEstimator,
    PreferenceComparison,
    RandomSelector,
    RidgePPIMeanEstimator,
)
from skdiffuse.datasets import make_judged_pool, make_preference_pool
from skdiffuse.evaluation import (
    StudyInterruptedWarning,
    coverage_study,
    distance_bias,
    error_study,
    iterative_study,
    norm_agreement,
    success_curve,
    summarise,
)
from skdiffuse.metrics import success, winner, winning_distance

SELECTORS = {
    "ward centroid": DiffUseSelector(representative="centroid"),
    "ward random": DiffUseSelector(representative="random"),
    "ward norm": DiffUseSelector(representative="max_norm"),
    "cosine": DiffUseSelector(clustering="cosine", representative="cosine"),
    "kmeans": DiffUseSelector(clustering="kmeans"),
    "random": RandomSelector(),
    "norm": NormSelector(),
}
COMPARISONS = {
    "default": PreferenceComparison(),
    "drop": PreferenceComparison(
        DiffUseSelector(representative="max_norm"), HypergeometricRule(ties="drop")
    ),
    "betting": PreferenceComparison(RandomSelector(), BettingRule()),
    "fixed": PreferenceComparison(RandomSelector(), FixedBudget(), max_annotations=30),
}


def make_pairs(n_pairs=3, n=60):
    return [
        (f"pair {seed}", *make_preference_pool(n, 5, random_state=seed))
        for seed in range(n_pairs)
    ]


def chance_of_success(wins, losses, ties, k):
    """Of the leader among k random examples, a tie counting half."""
    total = 0.0
    for a, b in itertools.product(range(k + 1), repeat=2):
        if a <= wins and b <= losses and 0 <= k - a - b <= ties:
            ways = math.comb(wins, a) * math.comb(losses, b)
            ways *= math.comb(ties, k - a - b)
            total += ways * (1 + np.sign(a - b)) / 2
    return total / math.comb(wins + losses + ties, k)


@pytest.mark.parametrize(("wins", "losses", "ties"), [(20, 14, 6), (12, 10, 30)])
def test_random_selection_succeeds_as_often_as_it_must(wins, losses, ties):
    y = np.repeat([1.0, -1.0, 0.0], [wins, losses, ties])
    X = np.random.default_rng(0).normal(size=(len(y), 3))
    rows = success_curve(
        {"random": RandomSelector()},
        [("pair", X, y)],
        budgets=[1, 5, 20],
        n_repeats=1500,
        subsample=1.0,
    )
    for row in rows:
        expected = chance_of_success(wins, losses, ties, row["budget"])
        error = math.sqrt(expected * (1 - expected) / 1500)
        assert row["success"] == pytest.approx(expected, abs=4 * error)
        spread = y.std() / math.sqrt(row["budget"] * 1500)
        assert row["bias"] == pytest.approx(0, abs=4 * spread)
        assert row["distance"] == pytest.approx(abs(y.mean()))


def test_success_curve_equals_a_plain_loop():
    pairs = make_pairs()
    budgets = [1, 4, 10, 30]
    rows = success_curve(
        SELECTORS, pairs, budgets=budgets, n_repeats=2, subsample=0.7, random_state=5
    )
    found = {(r["pair"], r["selector"], r["budget"]): r for r in rows}
    assert len(found) == len(rows) == 3 * len(SELECTORS) * len(budgets)
    for number, (name, X, y) in enumerate(pairs):
        totals = {}
        for repeat in range(2):
            rng = np.random.default_rng([5, number, repeat])
            drawn = np.sort(rng.permutation(60)[:42])
            seed = int(rng.integers(2**31))
            for arm, selector in SELECTORS.items():
                for budget in budgets:
                    fresh = clone(selector).set_params(n_select=30)
                    if "random_state" in fresh.get_params():
                        fresh.set_params(random_state=seed)
                    chosen = drawn[fresh.fit(X[drawn]).select(budget)]
                    truth = winning_distance(y[drawn])
                    totals.setdefault((arm, budget), []).append(
                        (
                            success(winner(y[chosen]), y[drawn]),
                            np.sign(truth) * (winning_distance(y[chosen]) - truth),
                            len(chosen),
                        )
                    )
        for (arm, budget), values in totals.items():
            row = found[name, arm, budget]
            expected = np.mean(values, axis=0)
            got = row["success"], row["bias"], row["n_judged"]
            np.testing.assert_allclose(got, expected, atol=1e-12, err_msg=arm)


def test_iterative_study_equals_a_plain_loop():
    pairs = make_pairs(2, 80)
    rows = iterative_study(COMPARISONS, pairs, n_repeats=3, random_state=1)
    found = {(row["pair"], row["comparison"]): row for row in rows}
    assert len(found) == 2 * len(COMPARISONS)
    for number, (name, X, y) in enumerate(pairs):
        for arm, comparison in COMPARISONS.items():
            verdicts, counts = [], []
            for repeat in range(3):
                rng = np.random.default_rng([1, number, repeat])
                drawn = np.sort(rng.permutation(80)[:64])
                fresh = clone(comparison)
                seed = int(rng.integers(2**31))
                if fresh.selector is not None:
                    fresh.set_params(selector__random_state=seed)
                fresh.fit(X[drawn], y[drawn])
                counts.append(fresh.n_annotations_)
                verdicts.append(fresh.winner_ * winner(y[drawn]))
            row = found[name, arm]
            assert row["annotations"] == pytest.approx(np.mean(counts))
            shares = [np.mean(np.array(verdicts) == value) for value in (1, -1, 0)]
            got = row["success"], row["error"], row["inconclusive"]
            assert got == pytest.approx(shares)
            assert np.isnan(row["distance_wrong"]) == (row["error"] == 0)


def test_numbers_do_not_depend_on_the_workers_or_the_container():
    pairs = make_pairs()
    arms = {name: SELECTORS[name] for name in ("ward random", "random", "kmeans")}
    one = success_curve(arms, pairs, budgets=[5], n_repeats=2)
    two = success_curve(arms, iter(pairs), budgets=[5], n_repeats=2, n_jobs=2)
    assert one == two
    frames = [(name, pd.DataFrame(X), list(y)) for name, X, y in pairs]
    assert success_curve(arms, frames, budgets=[5], n_repeats=2) == one
    both = [(name, X, {"people": y, "other": -y}) for name, X, y in pairs]
    rows = success_curve(arms, both, budgets=[5], n_repeats=2)
    assert [{**row, "judge": ""} for row in rows if row["judge"] == "people"] == sorted(
        one, key=lambda row: row["pair"]
    )
    pools = [("made", *make_judged_pool(80, None, random_state=0))]
    ppi = {"ppi": PPIMeanEstimator()}
    study = coverage_study(ppi, pools, n_labeled=[10, 20], n_repeats=20)
    assert (
        study
        == coverage_study(ppi, pools, n_labeled=[20, 10], n_repeats=20, n_jobs=2)[::-1]
    )


def test_interrupted_study_keeps_what_is_finished(capsys):
    def pairs():
        yield from make_pairs(2)
        raise KeyboardInterrupt

    arms = {"random": RandomSelector()}
    with pytest.warns(StudyInterruptedWarning, match="2 finished parts"):
        rows = success_curve(arms, pairs(), budgets=[5], n_repeats=2, verbose=True)
    assert rows == success_curve(arms, make_pairs(2), budgets=[5], n_repeats=2)
    assert "success_curve: 2 done" in capsys.readouterr().err


def test_random_examples_have_no_bias_and_large_ones_do():
    pairs = make_pairs(8, 200)
    arms = {"random": RandomSelector(), "norm": NormSelector()}
    rows = distance_bias(arms, pairs, budgets=[20], n_repeats=40)
    found = {row["selector"]: row for row in rows}
    assert abs(found["random"]["mean"]) <= 4 * found["random"]["error"] + 0.01
    assert found["norm"]["low"] > 0.02


def test_bins_of_norms():
    (_, X, y), *_ = make_pairs(1, 103)
    rows = norm_agreement([("pair", X, y), ("tie", X[:2], [1, -1])], n_bins=10)
    assert {row["pair"] for row in rows} == {"pair"}
    assert sum(row["n_examples"] for row in rows) == 103
    assert {row["n_examples"] for row in rows} == {10, 11}
    order = np.argsort(np.linalg.norm(X, axis=1), kind="stable")
    first = y[order[:11]] * winner(y)
    assert rows[0]["winner"] == np.mean(first == 1)
    assert rows[0]["tie"] == np.mean(first == 0)
    norms = [row["norm"] for row in rows]
    assert norms == sorted(norms)
    total = sum(row["n_examples"] * (row["winner"] - row["loser"]) for row in rows)
    assert total / 103 == pytest.approx(abs(y.mean()))


@pytest.mark.simulation
def test_coverage_of_wilson_is_what_it_must_be():
    y = np.repeat([1.0, 0.0], [12, 28])
    classical = {"labels": PPIMeanEstimator(lam=0)}
    pools = [("pool", np.zeros((40, 1)), y)]
    (row,) = coverage_study(classical, pools, n_labeled=[10], n_repeats=3000)
    counts = np.arange(11)
    ends = np.array(
        [stats.binomtest(int(k), 10).proportion_ci(method="wilson") for k in counts]
    )
    held = (ends[:, 0] <= 0.3) & (ends[:, 1] >= 0.3)
    chances = stats.hypergeom(40, 12, 10).pmf(counts)
    assert row["coverage"] == pytest.approx(chances @ held, abs=4 * row["error"])
    assert row["width"] == pytest.approx(chances @ np.diff(ends)[:, 0], rel=0.02)
    error = math.sqrt(0.3 * 0.7 / 10 * 30 / 39)
    assert row["rmse"] == pytest.approx(error, rel=0.05)
    assert row["bias"] == pytest.approx(0, abs=4 * error / math.sqrt(3000))


def test_arguments_of_the_interval_are_passed_on():
    X, y = make_judged_pool(200, None, rate=0.5, random_state=0)
    pools = [("grades", X, 1 + 4 * y)]
    arms = {"ppi": PPIMeanEstimator()}
    how = {"n_labeled": [10], "n_repeats": 50}
    (plain,) = coverage_study(arms, pools, **how)
    (ranged,) = coverage_study(arms, pools, interval={"label_range": (1, 5)}, **how)
    (narrow,) = coverage_study(arms, pools, confidence_level=0.5, **how)
    assert plain["width"] != ranged["width"]
    assert narrow["width"] < plain["width"]


def test_error_relative_to_the_labels_alone():
    pools = [("made", *make_judged_pool(400, None, judge=0.95, random_state=0))]
    arms = {
        "labels": PPIMeanEstimator(lam=0),
        "ppi": PPIMeanEstimator(),
        "ridge": RidgePPIMeanEstimator(penalty="plugin"),
    }
    rows = error_study(arms, pools, n_labeled=[30, 1000], n_repeats=200)
    found = {row["estimator"]: row for row in rows}
    assert len(rows) == 3
    assert (found["labels"]["ratio"], found["labels"]["ratio_error"]) == (1, 0)
    for name in ("ppi", "ridge"):
        assert found[name]["ratio"] + 5 * found[name]["ratio_error"] < 1


@given(seeds, st.integers(2, 30))
@settings(max_examples=10)
def test_summary_from_the_definition(seed, n):
    rng = np.random.default_rng(seed)
    rows = [
        {"arm": arm, "pair": pair, "success": rng.uniform(), "half": 0.5}
        for arm in "ba"
        for pair in range(n)
        for _ in range(3)
    ]
    summary = summarise(rows, by=["arm"])
    assert [row["arm"] for row in summary] == ["b", "a"]
    frame = pd.DataFrame(rows).groupby(["arm", "pair"])["success"].mean()
    for row in summary:
        means = frame[row["arm"]]
        assert row["n"] == n
        assert row["mean"] == pytest.approx(means.mean())
        assert row["error"] == pytest.approx(means.sem())
        assert row["low"] <= row["mean"] <= row["high"]
    if n > 10:
        width = 2 * stats.norm.isf(0.025) * summary[0]["error"]
        assert summary[0]["high"] - summary[0]["low"] == pytest.approx(width, rel=0.2)


def test_summary_leaves_nan_out_and_names_columns():
    rows = [
        {"arm": "a", "pair": 1, "success": 1.0},
        {"arm": "a", "pair": 2, "success": np.nan},
    ]
    (row,) = summarise(rows, by=["arm"])
    assert (row["n"], row["mean"], row["low"], row["high"]) == (1, 1, 1, 1)
    assert np.isnan(row["error"])
    with pytest.raises(ValueError, match="no column 'risk', but arm, pair, success"):
        summarise(rows, by=["arm"], value="risk")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"budgets": [0]}, "budgets holds 0"),
        ({"budgets": [2.5]}, "budgets holds 2.5"),
        ({"n_repeats": 0}, "'n_repeats' parameter"),
        ({"subsample": 0.0}, "'subsample' parameter"),
        ({"subsample": 1.5}, "'subsample' parameter"),
        ({"random_state": None}, "'random_state' parameter"),
        ({"pairs": [("a", [[1.0], [2.0]], [1])]}, "1 preferences"),
        ({"pairs": [("a", [[1.0], [2.0]], [1, np.nan])]}, "no value in row 1"),
        ({"pairs": [("a", [[1.0], [2.0]], {"me": [1]})]}, "1 preferences by me"),
        ({"pairs": [([[1.0], [2.0]], [1, 2])]}, r"\(name, X, y\)"),
        ({"pairs": [("a", [[np.nan], [2.0]], [1, 1])]}, "X contains NaN"),
    ],
)
def test_bad_arguments_are_named(change, message):
    arguments = {"pairs": make_pairs(1), "budgets": [3], "n_repeats": 2, **change}
    pairs = arguments.pop("pairs")
    with pytest.raises(ValueError, match=message):
        success_curve({"norm": NormSelector()}, pairs, **{"subsample": 1.0} | arguments)


def test_pools_need_all_labels():
    X, y = make_judged_pool(50, 10, random_state=0)
    with pytest.raises(ValueError, match="'made' has no value in row"):
        coverage_study({"ppi": PPIMeanEstimator()}, [("made", X, y)], n_labeled=[5])


@pytest.mark.parametrize(
    ("study", "arguments", "message"),
    [
        (success_curve, {"selectors": {}}, "selectors is empty"),
        (success_curve, {"selectors": [NormSelector()]}, "selectors is a list"),
        (success_curve, {"selectors": {"a": NormSelector}}, "is the class NormSel"),
        (success_curve, {"selectors": {"a": 3}}, "is a int, which has no fit"),
        (success_curve, {"budgets": 5}, r"pass \[5\]"),
        (success_curve, {"budgets": []}, "budgets is empty"),
        (success_curve, {"budgets": [1000]}, "'pair 0' has 48 rows in a draw"),
        (success_curve, {"pairs": None}, "pairs is a NoneType"),
        (success_curve, {"pairs": {"a": 1}}, "pairs is a dict"),
        (success_curve, {"n_repeats": True}, "n_repeats=True"),
        (
            success_curve,
            {"pairs": [("a", [[1.0], [2.0]], {1: [1, 1], "1": [0, 0]})]},
            r"by the judges \[1, '1'\]",
        ),
        (success_curve, {"pairs": [("a", [[1.0]], {})]}, r"by the judges \[\]"),
        (success_curve, {"pairs": [("a", [[1.0]], ["A"])]}, "'a', preferences: y hol"),
        (success_curve, {"pairs": [("a", [1.0], [1])]}, "'a': Expected 2D"),
        (iterative_study, {"comparisons": {}}, "comparisons is empty"),
        (
            iterative_study,
            {"comparisons": {"a": PreferenceComparison(max_annotations="x")}},
            "'max_annotations' parameter",
        ),
        (coverage_study, {"interval": "clt"}, "interval='clt' is no dictionary"),
        (coverage_study, {"n_labeled": [90]}, "n_labeled: 'made' has 60 rows"),
        (error_study, {"estimators": None}, "estimators is a NoneType"),
        (error_study, {"pools": 3}, "pools is a int"),
    ],
)
def test_what_no_study_can_use(study, arguments, message):
    usual = {
        success_curve: ("selectors", {"a": NormSelector()}),
        iterative_study: ("comparisons", {"a": PreferenceComparison()}),
        coverage_study: ("estimators", {"a": PPIMeanEstimator()}),
        error_study: ("estimators", {"a": PPIMeanEstimator()}),
    }
    name, arms = usual[study]
    of_means = study in (coverage_study, error_study)
    source = "pools" if of_means else "pairs"
    made = [("made", *make_judged_pool(60, None, random_state=0))]
    given = {name: arms, source: made if of_means else make_pairs(1), "n_repeats": 2}
    if study is not iterative_study:
        given |= {"n_labeled": [5]} if of_means else {"budgets": [5]}
    given |= arguments
    with pytest.raises(ValueError, match=message):
        study(given.pop(name), given.pop(source), **given)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"confidence_level": 1.5}, "'confidence_level' parameter"),
        ({"n_bootstrap": 0}, "'n_bootstrap' parameter"),
        ({"n_bootstrap": True}, "n_bootstrap=True"),
        ({"by": "arm"}, r"by='arm' is no list"),
        ({"by": ["mean"]}, "by holds 'mean'"),
        ({"value": "arm"}, "'arm' holds 'a'"),
        ({"cluster": "pair"}, "a study of means has cluster='pool'"),
    ],
)
def test_what_no_summary_can_use(arguments, message):
    rows = [{"arm": "a", "pool": i, "success": 1.0, "mean": 1} for i in range(3)]
    with pytest.raises(ValueError, match=message):
        summarise(rows, **{"by": ["arm"], "cluster": "pool"} | arguments)


def test_summary_takes_generators_and_has_one_row_for_nan():
    rows = [{"arm": np.nan, "pair": i, "success": 1.0} for i in range(3)]
    (row,) = summarise(iter(rows), by=(name for name in ["arm"]))
    assert row["n"] == 3


def test_equal_labels_are_always_covered():
    pools = [("same", np.zeros((50, 1)), np.full(50, 0.1))]
    arms = {"ppi": PPIMeanEstimator()}
    (row,) = coverage_study(arms, pools, n_labeled=[7], n_repeats=20)
    assert row["coverage"] == 1
    (row,) = error_study(arms, pools, n_labeled=[7], n_repeats=20)
    assert np.isnan(row["ratio"])


@pytest.mark.parametrize("scale", [1e300, 1e-300])
def test_bins_of_huge_and_tiny_norms(scale):
    (_, X, y), *_ = make_pairs(1, 40)
    plain = norm_agreement([("pair", X, y)], n_bins=4)
    rows = norm_agreement([("pair", scale * X, y)], n_bins=4)
    for row, other in zip(rows, plain, strict=True):
        assert row["norm"] / scale == pytest.approx(other["norm"])
        assert row | {"norm": 0} == other | {"norm": 0}
    with pytest.raises(ValueError, match="'pair': X contains NaN in row 3"):
        norm_agreement([("pair", np.where(X[3] == X, np.nan, X), y)])


def test_selectors_that_only_look_alike_do_not_share_a_fit():
    class Given(NormSelector):
        def __init__(self, n_select=5, order=None):
            self.n_select = n_select
            self.order = order

        def _fit_selection(self, X, k):
            self._order = self.order[: len(X)]
            return self._select(k)

    X = np.random.default_rng(0).normal(size=(2000, 2))
    y = np.repeat([1.0, -1.0, 0.0, -1.0], [1000, 500, 10, 490])
    up = np.arange(2000)
    # Long arrays are printed alike.
    orders = {"A": up, "B": np.r_[up[:3], up[1000:-3], up[3:1000], up[-3:]]}
    arms = {
        name: PreferenceComparison(Given(order=order), FixedBudget(), 1, 1000)
        for name, order in orders.items()
    }
    assert repr(arms["A"]) == repr(arms["B"])
    rows = iterative_study(arms, [("pair", X, y)], n_repeats=1, subsample=1.0)
    assert [row["success"] for row in rows] == [1, 0]
    with pytest.raises(ValueError, match="'representative' parameter"):
        success_curve(
            {"a": DiffUseSelector(), "b": DiffUseSelector(representative="max")},
            make_pairs(1),
            budgets=[5],
        )
