"""Unequal sampling, rows that belong together, and intervals for odd labels."""

import itertools
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.linear_model import LinearRegression, RidgeCV
from sklearn.model_selection import GroupKFold
from sklearn.preprocessing import StandardScaler
from strategies import judged, seeds

from skdiffuse import (
    PoolMoments,
    PPIMeanEstimator,
    RidgePPIMeanEstimator,
    SigmoidPPIMeanEstimator,
)
from skdiffuse.datasets import make_judged_pool

# Without a choice among penalties, for which a copy of a row is another row.
FAMILY = {
    "ols": PPIMeanEstimator(),
    "given": PPIMeanEstimator(0.7),
    "ridge": RidgePPIMeanEstimator(alphas=[0.3]),
    "sigmoid": SigmoidPPIMeanEstimator(Cs=[1.0]),
}
few = settings(max_examples=settings.default.max_examples // 6)


def within(share, runs, level=0.95):
    return share >= level - 3 * math.sqrt(level * (1 - level) / runs)


@pytest.mark.parametrize("name", FAMILY)
@few
@given(seed=seeds, n_judges=st.integers(1, 2))
def test_weight_of_a_row_is_a_number_of_copies(name, seed, n_judges):
    judge = [0.8, 0.3][:n_judges]
    X, y = make_judged_pool(80, 20, rate=0.4, judge=judge, random_state=seed)
    labeled = ~np.isnan(y)
    copies = np.random.default_rng(seed).integers(1, 4, size=20)
    weight = np.full(80, np.nan)
    weight[labeled] = 0.37 * copies
    one = FAMILY[name].fit(X, y, sample_weight=weight)
    results = one.mean_, one.rectifier_, one.classical_mean_, one.predict(X)
    twice = FAMILY[name].fit(
        X[labeled].repeat(copies, axis=0), y[labeled].repeat(copies), pool=X[~labeled]
    )
    predictions = twice.predict(X)
    assert results[0] == pytest.approx(predictions.mean(), abs=1e-6)
    assert results[1] == pytest.approx(twice.rectifier_, abs=1e-6)
    assert results[2] == pytest.approx(twice.classical_mean_)
    np.testing.assert_allclose(results[3], predictions, atol=1e-6)


def test_every_sample_of_a_small_pool():
    rng = np.random.default_rng(0)
    h = rng.normal(size=7)
    f = (h + rng.normal(size=7))[:, np.newaxis]
    for lam in (0.0, 0.6):
        means, variances = [], []
        for sample in itertools.combinations(range(7), 4):
            y = np.full(7, np.nan)
            y[list(sample)] = h[list(sample)]
            estimator = PPIMeanEstimator(lam).fit(f, y, sample_weight=np.ones(7))
            means.append(estimator.mean_)
            variances.append(estimator.standard_error_**2)
        # Without bias, in the mean and in its variance, over all 35 samples.
        assert np.mean(means) == pytest.approx(h.mean(), abs=1e-12)
        assert np.mean(variances) == pytest.approx(np.var(means), rel=1e-12)


def test_weighted_mean_from_the_definition():
    X, y = make_judged_pool(60, 15, judge=0.8, random_state=3)
    labeled = ~np.isnan(y)
    weight = np.random.default_rng(0).uniform(1, 9, size=60)
    estimator = PPIMeanEstimator(0.5).fit(X, y, sample_weight=weight)
    h, f, w = y[labeled], 0.5 * X[labeled, 0], weight[labeled]
    rectifier = np.average(h - f, weights=w)
    assert estimator.mean_ == pytest.approx(0.5 * X.mean() + rectifier)
    # The weights of 15 rows stand for 60.
    w *= 60 / w.sum()
    residual = (h - f - rectifier) / (1 - w / 60)
    squares = np.maximum(1 - 1 / w, 0) * (w * residual / 60) ** 2
    assert estimator.standard_error_**2 == pytest.approx(squares.sum() * 14 / 15)
    np.testing.assert_allclose(estimator.judge_mean_, X.mean(axis=0))
    moments = PoolMoments.of(X[~labeled])
    parts = PPIMeanEstimator(0.5).fit(X[labeled], h, pool=moments, sample_weight=w)
    assert parts.mean_ == pytest.approx(estimator.mean_)
    assert parts.standard_error_ == pytest.approx(estimator.standard_error_)


def test_weights_of_no_row_and_of_all_rows():
    X, y = make_judged_pool(60, 15, judge=0.8, random_state=3)
    labeled = np.flatnonzero(~np.isnan(y))
    weight = np.ones(60)
    equal = PPIMeanEstimator().fit(X, y, sample_weight=weight)
    plain = PPIMeanEstimator().fit(X, y)
    assert equal.mean_ == pytest.approx(plain.mean_)
    assert equal.standard_error_ < plain.standard_error_
    weight[labeled[0]] = 0
    kept = np.arange(60) != labeled[0]
    without = PPIMeanEstimator().fit(X[kept], y[kept], sample_weight=weight[kept])
    zero = PPIMeanEstimator().fit(X, y, sample_weight=weight)
    assert zero.mean_ == pytest.approx(without.mean_)
    assert zero.standard_error_ == pytest.approx(without.standard_error_)
    assert zero.n_labeled_ == 14
    alone = PPIMeanEstimator().fit(X[labeled], y[labeled], sample_weight=range(1, 16))
    assert alone.mean_ == pytest.approx(
        np.average(y[labeled], weights=np.arange(1, 16))
    )


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize(
    "estimator",
    [PPIMeanEstimator(), RidgePPIMeanEstimator(penalty="plugin")],
    ids=["ols", "plugin"],
)
@pytest.mark.simulation
def test_unequal_sampling_by_simulation(binary, estimator):
    rng = np.random.default_rng(0)
    errors, naive, spread, held, runs = [], [], [], 0, 500
    for _ in range(runs):
        z = rng.normal(size=400)
        f = 1 / (1 + np.exp(-(z + 0.6 * rng.normal(size=400))))
        h = z + 0.5 * rng.normal(size=400)
        h = (h > 0.5).astype(float) if binary else h
        # Rows that the judge likes are labelled more often.
        chance = 40 * (f + 0.1) / (f + 0.1).sum()
        y = np.where(rng.uniform(size=400) < chance, h, np.nan)
        estimator.fit(f[:, np.newaxis], y, sample_weight=1 / chance)
        errors.append(estimator.mean_ - h.mean())
        spread.append(estimator.standard_error_)
        low, high = estimator.confidence_interval()
        held += low <= h.mean() <= high
        naive.append(np.nanmean(y) - h.mean())
    error = np.std(errors) / np.sqrt(runs)
    assert abs(np.mean(errors)) <= 3 * error + 0.01
    assert abs(np.mean(naive)) > 10 * error
    assert np.sqrt(np.mean(np.square(spread))) == pytest.approx(
        np.std(errors), rel=0.15
    )
    assert within(held / runs, runs)


@pytest.mark.parametrize("name", [*FAMILY, "plugin"])
def test_groups_of_one_row_are_none(name):
    X, y = make_judged_pool(120, 25, judge=[0.8, 0.3], random_state=0)
    family = {**FAMILY, "plugin": RidgePPIMeanEstimator(penalty="plugin")}
    estimator = family[name]
    plain = estimator.fit(X, y)
    results = [plain.mean_, plain.standard_error_, plain.effective_sample_size_]
    interval = plain.confidence_interval()
    plain_labels = plain._label_influence, plain._left_out_influence
    grouped = estimator.fit(X, y, groups=[f"prompt {row}" for row in range(120)])
    assert grouped.mean_ == pytest.approx(results[0], abs=1e-9)
    labels = grouped._label_influence, grouped._left_out_influence
    np.testing.assert_allclose(np.sort(labels[0]), np.sort(plain_labels[0]), atol=1e-9)
    np.testing.assert_allclose(np.sort(labels[1]), np.sort(plain_labels[1]), atol=1e-9)
    # Without groups the labelled rows have a say in the variance of g in the pool.
    assert grouped.standard_error_ == pytest.approx(results[1], rel=0.01)
    assert grouped.effective_sample_size_ == pytest.approx(results[2], rel=0.01)
    assert grouped.confidence_interval() == pytest.approx(interval, abs=0.01)


def test_residuals_of_a_whole_group_are_left_out():
    X, y = make_judged_pool(200, 30, judge=[0.8, 0.3], random_state=0)
    labeled = ~np.isnan(y)
    groups = np.random.default_rng(0).integers(0, 9, size=200)
    here, h, g = X[labeled], y[labeled], groups[labeled]
    estimator = PPIMeanEstimator().fit(X, y, groups=groups)
    sums, deviations = [], []
    for group in np.unique(g):
        out = g == group
        twin = LinearRegression().fit(here[~out], h[~out])
        sums.append((h[out] - twin.predict(here[out])).sum())
        deviations.append((h[out] - h[~out].mean()).sum())
    expected = 0.85 * np.array(sums) + 0.15 * np.array(deviations)
    np.testing.assert_allclose(
        np.sort(estimator._left_out_influence), np.sort(expected / 30), atol=1e-12
    )
    # The rows of a group draw the mean together, labelled or not.
    pool = X[~labeled] @ estimator.lambda_
    parts = [
        (pool - pool.mean())[groups[~labeled] == group].sum() * 0.85 / 170
        for group in np.unique(g)
    ]
    total = np.sqrt(8 / 9) * expected / 30 + np.sqrt(9 / 8) * np.array(parts)
    assert estimator.standard_error_**2 == pytest.approx((total**2).sum())


@pytest.mark.parametrize("lam", [0.0, 0.6, "ols"])
def test_copies_in_a_group_tell_nothing_new(lam):
    X, y = make_judged_pool(150, 30, judge=0.8, random_state=0)
    plain = PPIMeanEstimator(lam).fit(X, y)
    expected = plain.standard_error_, plain.mean_, plain.effective_sample_size_
    ends = plain.confidence_interval()
    twice = PPIMeanEstimator(lam).fit(
        np.vstack([X, X]), np.concatenate([y, y]), groups=np.tile(np.arange(150), 2)
    )
    assert twice.mean_ == pytest.approx(expected[1])
    assert twice.standard_error_ == pytest.approx(expected[0], rel=0.01)
    # Of sixty labels that are thirty. What is added to the squares tells them apart.
    assert twice.effective_sample_size_ == pytest.approx(2 * expected[2], rel=0.1)
    assert twice.confidence_interval() == pytest.approx(ends, abs=0.02)
    agreed = PPIMeanEstimator(0.0).fit(
        np.zeros((40, 1)), np.ones(40), groups=np.repeat(np.arange(10), 4)
    )
    assert agreed.confidence_interval() == pytest.approx(
        stats.binomtest(10, 10).proportion_ci(method="wilson")
    )


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.simulation
def test_groups_by_simulation(binary):
    rng = np.random.default_rng(0)
    runs, held, ignored = 400, 0, 0
    truth = stats.norm.sf(0.5) if binary else 0.0
    groups = np.repeat(np.arange(80), 6)
    for _ in range(runs):
        z = 0.8 * rng.normal(size=(80, 1)) + 0.6 * rng.normal(size=(80, 6))
        f = z + 0.8 * rng.normal(size=z.shape)
        h = (z > 0.5).astype(float) if binary else z
        y = np.where(np.arange(80)[:, np.newaxis] < 12, h, np.nan).ravel()
        estimator = PPIMeanEstimator().fit(f.reshape(-1, 1), y, groups=groups)
        low, high = estimator.confidence_interval()
        held += low <= truth <= high
        low, high = estimator.fit(f.reshape(-1, 1), y).confidence_interval()
        ignored += low <= truth <= high
    assert within(held / runs, runs)
    assert ignored < held
    assert binary or ignored / runs < 0.85


@pytest.mark.parametrize("cv", [None, 3, GroupKFold(4)])
def test_penalties_are_chosen_on_groups_left_out(cv):
    X, y = make_judged_pool(200, 40, judge=[0.7, 0.2], random_state=1)
    labeled = ~np.isnan(y)
    groups = np.random.default_rng(0).integers(0, 8, size=200)
    here, h, g = X[labeled], y[labeled], groups[labeled]
    alphas = np.logspace(2, -3, 6)
    n_folds = 4 if hasattr(cv, "split") else cv or 8
    twin = RidgeCV(
        40 * alphas,
        cv=GroupKFold(n_folds).split(here, h, g),
        scoring="neg_mean_squared_error",
    ).fit(StandardScaler().fit_transform(here), h)
    estimator = RidgePPIMeanEstimator(alphas=alphas, cv=cv).fit(X, y, groups=groups)
    assert estimator.alpha_ == pytest.approx(twin.alpha_ / 40)
    sigmoid = SigmoidPPIMeanEstimator(Cs=[0, 1, 100], cv=cv or 5)
    assert np.isfinite(sigmoid.fit(X, y, groups=groups).mean_)
    crossed = PPIMeanEstimator(cross_fit=3).fit(X, y, groups=groups)
    whole = PPIMeanEstimator(cross_fit=GroupKFold(3)).fit(X, y, groups=groups)
    assert crossed.mean_ == pytest.approx(whole.mean_)


def test_splits_by_number_are_of_the_rows_given():
    X, y = make_judged_pool(100, 30, judge=0.7, random_state=0)
    labeled = np.flatnonzero(~np.isnan(y))
    halves = [(labeled[::2], labeled[1::2]), (labeled[1::2], labeled[::2])]
    even, odd = np.arange(0, 30, 2), np.arange(1, 30, 2)
    places = [(even, odd), (odd, even)]
    here = RidgePPIMeanEstimator(cv=places).fit(X[labeled], y[labeled])
    there = RidgePPIMeanEstimator(cv=halves).fit(X, y)
    assert there.alpha_ == here.alpha_
    assert PPIMeanEstimator(cross_fit=halves).fit(X, y).mean_ != there.mean_


def test_facts_on_weights_and_p_values(numeric_facts):
    for name in ("A_binary", "B_likert", "C_compressed", "D_negative"):
        case = numeric_facts[name]
        X = np.array(case["Yhat"] + case["U"])[:, np.newaxis]
        y = np.array(case["Y"] + [np.nan] * len(case["U"]))
        estimator = PPIMeanEstimator(0.5).fit(X, y)
        for suffix, unclipped in (("_lam.5", 0.5), ("", case["lam_unclipped"])):
            p_value = (
                PPIMeanEstimator(unclipped).fit(X, y).p_value(0.5, method="normal")
            )
            assert p_value == pytest.approx(case[f"pval{suffix}_null0.5"][0], rel=1e-9)
        # There the pool's rows have weights too; here each row of it counts once.
        weight = np.array(case["w"] + [np.nan] * len(case["U"]))
        estimator = PPIMeanEstimator(0.5).fit(X, y, sample_weight=weight)
        pool = np.average(case["U"], weights=np.linspace(1, 2, len(case["U"])))
        assert estimator.rectifier_ + 0.5 * pool == pytest.approx(
            case["weighted_point_lam.5"][0], rel=1e-12
        )


@given(
    seeds,
    st.sampled_from(["two-sided", "less", "greater"]),
    st.floats(0.5, 0.99),
    st.floats(-1, 1),
    st.booleans(),
)
@settings(max_examples=30)
def test_bootstrap_interval_and_p_value_agree(seed, alternative, level, null, grouped):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 1))
    y = np.where(np.arange(60) < 15, X[:, 0] + rng.normal(size=60), np.nan)
    groups = rng.integers(0, 20, size=60) if grouped else None
    estimator = PPIMeanEstimator().fit(X, y, groups=groups)
    how = {"method": "bootstrap", "alternative": alternative, "random_state": seed}
    low, high = estimator.confidence_interval(level, **how)
    assert (low, high) == estimator.confidence_interval(level, **how)
    inside = low <= null <= high
    assert inside == (estimator.p_value(null, **how) >= 1 - level)


def test_bootstrap_is_closer_to_its_level_where_labels_are_skewed():
    rng = np.random.default_rng(0)
    runs, held, widths = 400, {"t": 0, "bootstrap": 0}, {"t": 0, "bootstrap": 0}
    for _ in range(runs):
        z = rng.normal(size=320)
        f = 0.6 * z + 0.8 * rng.normal(size=320)
        y = np.where(np.arange(320) < 20, np.exp(z), np.nan)
        estimator = PPIMeanEstimator().fit(f[:, np.newaxis], y)
        for method in held:
            low, high = estimator.confidence_interval(method=method)
            held[method] += low <= np.exp(0.5) <= high
            widths[method] += high - low
    assert held["bootstrap"] / runs > held["t"] / runs + 0.02
    y = np.where(np.arange(2000) < 1000, rng.normal(size=2000), np.nan)
    large = PPIMeanEstimator().fit(rng.normal(size=(2000, 1)), y)
    t, bootstrap = (large.confidence_interval(method=m) for m in ("t", "bootstrap"))
    assert bootstrap == pytest.approx(t, abs=0.05 * (t[1] - t[0]))


def test_differences_of_rates_have_their_range_by_themselves():
    rng = np.random.default_rng(0)
    y = np.where(np.arange(200) < 30, rng.integers(-1, 2, size=200), np.nan)
    X = np.nan_to_num(y)[:, np.newaxis] + rng.normal(size=(200, 1))
    estimator = PPIMeanEstimator().fit(X, y)
    expected = estimator.confidence_interval(label_range=(-1, 1))
    assert estimator.confidence_interval() == expected
    assert estimator.confidence_interval(method="wilson") == expected
    assert estimator.p_value(0.1) == estimator.p_value(0.1, label_range=(-1, 1))
    few = PPIMeanEstimator().fit(X, np.where(y < 0, 0, y))
    assert few.confidence_interval()[0] >= 0


def test_range_of_labels_that_are_zero_and_one_changes_nothing():
    X, y = make_judged_pool(200, 30, rate=0.2, random_state=0)
    estimator = PPIMeanEstimator().fit(X, y)
    assert estimator.confidence_interval(label_range=(0, 1)) == pytest.approx(
        estimator.confidence_interval()
    )
    assert estimator.p_value(0.3, label_range=(0, 1)) == estimator.p_value(0.3)
    graded = PPIMeanEstimator().fit(X, 1 + 4 * y)
    low, high = graded.confidence_interval(label_range=(1, 5))
    ends = estimator.confidence_interval()
    assert ((low - 1) / 4, (high - 1) / 4) == pytest.approx(ends)
    for end in (low, high):
        p_value = graded.p_value(end, label_range=(1, 5))
        assert p_value == pytest.approx(0.05, abs=1e-6)


@pytest.mark.parametrize(
    ("wins", "losses", "n_labeled"), [(0.05, 0.03, 10), (0.1, 0.0, 20), (0.3, 0.2, 10)]
)
def test_range_of_differences_by_simulation(wins, losses, n_labeled):
    rng = np.random.default_rng(0)
    held, runs, widths = {"t": 0, "range": 0}, 400, []
    for _ in range(runs):
        z = rng.normal(size=400)
        h = 1.0 * (z > stats.norm.isf(wins)) - (z < stats.norm.ppf(losses))
        f = z + 0.5 * rng.normal(size=400)
        y = np.where(np.arange(400) < n_labeled, h, np.nan)
        estimator = PPIMeanEstimator().fit(f[:, np.newaxis], y)
        low, high = estimator.confidence_interval(method="t")
        held["t"] += low <= wins - losses <= high
        low, high = estimator.confidence_interval(label_range=(-1, 1))
        held["range"] += low <= wins - losses <= high
        assert -1 <= low < high <= 1
        widths.append(high - low)
    assert within(held["range"] / runs, runs)
    assert held["t"] <= held["range"]
    # Never as wide as for wins and losses alone.
    low, high = stats.binomtest(n_labeled // 2, n_labeled).proportion_ci(
        method="wilson"
    )
    assert np.mean(widths) < 2 * (high - low)


@pytest.mark.parametrize(
    ("label_range", "message"),
    [
        ((1, 0), "two finite numbers"),
        ((0, np.inf), "two finite numbers"),
        (3, "two finite numbers"),
        ((0, 1, 2), "two finite numbers"),
        (("a", "b"), "two finite numbers"),
        ((0, 4), "but y holds 5"),
    ],
)
def test_bad_ranges_are_refused(label_range, message):
    estimator = PPIMeanEstimator().fit([[0], [1], [2], [3]], [1, 3, 5, np.nan])
    with pytest.raises(ValueError, match=message):
        estimator.confidence_interval(label_range=label_range)
    with pytest.raises(ValueError, match="no mean of labels in"):
        estimator.p_value(6, label_range=(1, 5))


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1.0] * 5, "sample_weight has 5 values, but X has 6 rows"),
        ([1, 2, np.nan, 1, 1, 1], "sample_weight contains NaN in row 2"),
        ([1, 2, np.inf, 1, 1, 1], "sample_weight contains infinity in row 2"),
        ([1, 2, -3, 1, 1, 1], "sample_weight is -3 in row 2"),
        ([0, 0, 0, 0, 1, 1], "zero in every labelled row"),
        (["a"] * 6, "convert"),
        (np.ones((6, 2)), r"shape \(6, 2\)"),
    ],
)
def test_bad_weights_are_refused(weight, message):
    X, y = np.arange(6.0)[:, np.newaxis], [1, 0, 1, 1, np.nan, np.nan]
    for estimator in FAMILY.values():
        with pytest.raises(ValueError, match=message):
            estimator.fit(X, y, sample_weight=weight)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (["a"] * 5, "groups has 5 values, but X has 6 rows"),
        (["a", "b", None, "a", "b", "c"], "in row 2; give each row a group"),
        ([1, 2, 3, np.nan, 2, 3], "in row 3; give each row a group"),
        (
            pd.Series([1, 2, 3, None, 2, 3], dtype="Int64"),
            "in row 3; give each row a group",
        ),
        (pl.Series([1, 2, 3, None, 2, 3]), "in row 3; give each row a group"),
        (np.ones((6, 2)), "1-d"),
        ("abcdef", "groups is a str"),
        ([1, 2, [3], 4, 5, 6], r"groups holds \[3\] in row 2"),
    ],
)
def test_bad_groups_are_refused(groups, message):
    X, y = np.arange(6.0)[:, np.newaxis], [1, 0, 1, 1, np.nan, np.nan]
    for estimator in FAMILY.values():
        with pytest.raises(ValueError, match=message):
            estimator.fit(X, y, groups=groups)


@pytest.mark.parametrize("n_groups", [1, 4, 5, 20])
def test_few_groups_in_the_pool_say_little_of_it(n_groups):
    rng = np.random.default_rng(0)
    held, runs = 0, 200
    groups = np.concatenate([np.arange(30).repeat(2), 30 + np.arange(300) % n_groups])
    for _ in range(runs):
        z = 0.7 * rng.normal(size=60)[groups] + 0.7 * rng.normal(size=360)
        X = (z + 0.3 * rng.normal(size=360))[:, np.newaxis]
        y = np.where(groups < 30, z, np.nan)
        estimator = PPIMeanEstimator().fit(X, y, groups=groups)
        assert (estimator.fallback_ is not None) == (n_groups < 5)
        low, high = estimator.confidence_interval()
        held += low <= 0 <= high
    assert within(held / runs, runs)


def test_pool_of_a_single_row_has_a_variance():
    rng = np.random.default_rng(0)
    held, runs = 0, 300
    for _ in range(runs):
        z = rng.normal(size=41)
        X = (z + 0.3 * rng.normal(size=41))[:, np.newaxis]
        y = np.where(np.arange(41) < 40, z, np.nan)
        low, high = PPIMeanEstimator(1.0).fit(X, y).confidence_interval()
        held += low <= 0 <= high
    assert within(held / runs, runs)


@pytest.mark.parametrize("name", [*FAMILY, "plugin"])
def test_weight_of_one_row_does_not_make_it_sure(name):
    rng = np.random.default_rng(0)
    weight = np.where(np.arange(100) == 0, 1e5, 1.0)
    family = {**FAMILY, "plugin": RidgePPIMeanEstimator(penalty="plugin")}
    widths = []
    for _ in range(10):
        y = np.where(np.arange(100) < 20, rng.normal(size=100), np.nan)
        X = rng.normal(size=(100, 1))
        estimator = family[name].fit(X, y, sample_weight=weight)
        widths.append(np.diff(estimator.confidence_interval()))
        assert np.isfinite(estimator.effective_sample_size_)
    # One row of standard deviation 1 and a single degree of freedom.
    assert np.median(widths) > 5


def test_groups_of_unequal_size_by_simulation():
    rng = np.random.default_rng(0)
    sizes = np.arange(1, 50, 2)
    groups = np.repeat(np.arange(50), np.tile(sizes, 2))
    held, runs = 0, 300
    for _ in range(runs):
        z = 0.7 * rng.normal(size=50)[groups] + 0.7 * rng.normal(size=len(groups))
        f = z + 0.5 * rng.normal(size=len(groups))
        labeled = np.isin(groups, rng.permutation(50)[:12])
        y = np.where(labeled, z, np.nan)
        estimator = PPIMeanEstimator().fit(f[:, np.newaxis], y, groups=groups)
        low, high = estimator.confidence_interval()
        held += low <= 0 <= high
    assert held / runs >= 0.93 - 3 * math.sqrt(0.93 * 0.07 / runs)


def test_masks_and_splits_without_a_label():
    X, y = make_judged_pool(100, 30, judge=0.7, random_state=0)
    labeled = np.flatnonzero(~np.isnan(y))
    halves = [(labeled[::2], labeled[1::2]), (labeled[1::2], labeled[::2])]
    masks = [tuple(np.isin(np.arange(100), side) for side in split) for split in halves]
    one = RidgePPIMeanEstimator(cv=halves).fit(X, y)
    assert RidgePPIMeanEstimator(cv=masks).fit(X, y).alpha_ == one.alpha_
    empty = [(labeled, np.flatnonzero(np.isnan(y)))]
    for cv in (empty, [(labeled, [])], [(labeled, [-1])]):
        for estimator in (
            RidgePPIMeanEstimator(cv=cv),
            SigmoidPPIMeanEstimator(cv=cv),
            PPIMeanEstimator(cross_fit=cv),
        ):
            with pytest.raises(ValueError, match="no labelled row of X in its test"):
                estimator.fit(X, y)


def test_interrupted_fit_leaves_the_estimator_as_it_was():
    class Interrupted(LinearRegression):
        def fit(self, X, y):
            raise KeyboardInterrupt

    X, y = make_judged_pool(100, 30, judge=0.7, random_state=0)
    estimator = PPIMeanEstimator().fit(X, y)
    before = estimator.predict(X)
    estimator.set_params(regressor=Interrupted())
    with pytest.raises(KeyboardInterrupt):
        estimator.fit(np.hstack([X, X]), y)
    np.testing.assert_array_equal(estimator.predict(X), before)


def test_single_group_has_no_spread():
    X, y = make_judged_pool(60, 12, rate=0.5, random_state=0)
    groups = np.where(np.isnan(y), np.arange(60), -1)
    for estimator in FAMILY.values():
        estimator.fit(X, y, groups=groups)
        assert not hasattr(estimator, "standard_error_")
        with pytest.raises(ValueError, match="single group among the labelled rows"):
            estimator.confidence_interval(method="t")
        low, high = estimator.confidence_interval()
        assert high - low > 0.5


@pytest.mark.parametrize("name", [*FAMILY, "ppi++", "plugin", "ridge", "crossed"])
@few
@given(data=judged(n_judges=2), seed=seeds)
def test_everything_accepted_is_finite(name, data, seed):
    X, y = data
    rng = np.random.default_rng(seed)
    estimators = {
        **FAMILY,
        "ppi++": PPIMeanEstimator("ppi++"),
        "plugin": RidgePPIMeanEstimator(penalty="plugin"),
        "ridge": RidgePPIMeanEstimator(),
        "crossed": PPIMeanEstimator(cross_fit=2),
    }
    weight = 10.0 ** rng.integers(-3, 4, size=len(y))
    groups = rng.integers(0, max(2, len(y) // 2), size=len(y))
    for kwargs in (
        {"sample_weight": weight},
        {"groups": groups},
        {"sample_weight": weight, "groups": groups},
    ):
        estimator = estimators[name].fit(X, y, **kwargs)
        numbers = [estimator.mean_, estimator.rectifier_]
        assert np.isfinite([*numbers, estimator.effective_sample_size_]).all()
        assert np.isfinite(estimator.predict(X)).all()
        methods = ["auto", "normal", "t", "bootstrap"] if estimator._n_parts > 1 else []
        for method in methods:
            low, high = estimator.confidence_interval(method=method)
            assert np.isfinite([low, high]).all()
            assert low <= high
        spread = np.nanmin(y) - 1, np.nanmax(y) + 1
        low, high = estimator.confidence_interval(label_range=spread)
        assert spread[0] <= low < high <= spread[1]


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (["a"] * 20, "sample_weight is no array of numbers .*; give one a row"),
        (np.ones((20, 2)), r"sample_weight has shape \(20, 2\); give one number a row"),
    ],
)
def test_weights_that_are_none_are_named(weights, message):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 1)), rng.normal(size=20)
    with pytest.raises(ValueError, match=message):
        PPIMeanEstimator().fit(X, y, sample_weight=weights)
