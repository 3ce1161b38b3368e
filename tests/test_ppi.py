import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats
from sklearn.linear_model import LinearRegression
from strategies import judged, seeds

from skdiffuse import PPIMeanEstimator
from skdiffuse.datasets import make_judged_pool

lams = st.sampled_from(["ols", "ppi++", 0.0, 1.0, 0.3, -2])


def rounding(X, y, estimator, factor=1e-10):
    """How far rounding may move a mean: relative to what is added up."""
    y = y[~np.isnan(y)]
    judged = np.abs(X).max() * np.abs(estimator.lambda_).sum()
    return factor * (np.abs(y).max() + judged)


def from_the_definition(X, y, weights, ddof):
    """Mean and squared standard error, written as in the papers."""
    labeled = ~np.isnan(y)
    h, f, pool = y[labeled], X[labeled] @ weights, X[~labeled] @ weights
    mean = pool.mean() + (h - f).mean()
    return mean, pool.var() / len(pool) + (h - f).var(ddof=ddof) / len(h)


@given(judged(min_labeled=6, n_judges=2), st.sampled_from([0.0, 1.0, -0.7]))
def test_estimate_equals_the_definition(data, lam):
    X, y = data
    assume(np.isnan(y).any())
    estimator = PPIMeanEstimator(lam).fit(X, y)
    mean, variance = from_the_definition(X, y, np.full(2, lam), ddof=0)
    assert estimator.mean_ == pytest.approx(mean, abs=rounding(X, y, estimator))
    low, high = estimator.confidence_interval(0.9, method="normal")
    half = stats.norm.isf(0.05) * math.sqrt(variance)
    assert high - low == pytest.approx(
        2 * half, rel=1e-6, abs=rounding(X, y, estimator)
    )


@given(judged(min_labeled=8))
def test_ols_weights_are_those_of_the_regression(data):
    X, y = data
    labeled = ~np.isnan(y)
    estimator = PPIMeanEstimator("ols").fit(X, y)
    if np.ptp(y[labeled]) == 0:
        assert estimator.fallback_ in ("constant labels", "no unlabelled rows")
        np.testing.assert_array_equal(estimator.lambda_, 0)
        return
    twin = LinearRegression().fit(X[labeled], y[labeled])
    scale = np.abs(y[labeled]).max() / np.abs(X[labeled]).max()
    np.testing.assert_allclose(
        estimator.lambda_, twin.coef_, rtol=1e-6, atol=1e-8 * scale
    )
    np.testing.assert_allclose(
        estimator.predict(X[labeled]),
        twin.predict(X[labeled]),
        atol=rounding(X, y, estimator, 1e-7),
    )


def test_ppi_plus_plus_weights_are_those_of_ppi_python():
    X, y = make_judged_pool(200, 20, judge=[0.8, 0.5], random_state=0)
    labeled = ~np.isnan(y)
    covariance = np.cov(np.column_stack([y, X])[labeled].T, ddof=0)[0, 1:]
    share = 1 + 20 / 180
    expected = np.linalg.solve(np.cov(X.T) * share, covariance)
    estimator = PPIMeanEstimator("ppi++").fit(X, y)
    np.testing.assert_allclose(estimator.lambda_, expected, rtol=1e-10)
    clipped = PPIMeanEstimator("ppi++", clip=True).fit(-X, y)
    np.testing.assert_array_equal(clipped.lambda_, 0)


@given(judged())
def test_zero_weight_is_the_classical_mean_exactly(data):
    X, y = data
    h = y[~np.isnan(y)]
    estimator = PPIMeanEstimator(lam=0).fit(X, y)
    assert estimator.mean_ == estimator.classical_mean_ == h.mean()
    if len(h) > 1 and h.std() > 1e-9 * np.abs(h).max():
        assert estimator.confidence_interval(method="normal") == pytest.approx(
            stats.norm.interval(0.95, h.mean(), h.std() / np.sqrt(len(h)))
        )
        assert estimator.confidence_interval(method="t") == pytest.approx(
            stats.ttest_1samp(h, 0).confidence_interval()
        )


@given(judged(), lams, st.sampled_from([3.0, -1e3]))
def test_constant_added_to_the_judge_changes_nothing(data, lam, constant):
    X, y = data
    constant = constant * np.abs(X).max()
    one = PPIMeanEstimator(lam).fit(X, y)
    other = PPIMeanEstimator(lam).fit(X + constant, y)
    tolerance = rounding(X + constant, y, one, 1e-8)
    assert other.mean_ == pytest.approx(one.mean_, abs=tolerance)
    assert other.fallback_ == one.fallback_
    if one.n_labeled_ > 1:
        for method in ("normal", "t"):
            assert other.confidence_interval(method=method) == pytest.approx(
                one.confidence_interval(method=method), rel=1e-6, abs=100 * tolerance
            )


@given(judged(max_unlabeled=0), lams)
def test_all_labelled_is_the_sample_mean(data, lam):
    X, y = data
    estimator = PPIMeanEstimator(lam).fit(X, y)
    assert estimator.mean_ == y.mean()
    assert estimator.fallback_ == "no unlabelled rows"
    assert estimator.n_unlabeled_ == 0
    if len(y) > 1:
        assert estimator.standard_error_ == pytest.approx(
            stats.sem(y), rel=1e-6, abs=1e-12 * np.abs(y).max()
        )


@given(judged(), lams)
def test_predictions_average_to_the_mean(data, lam):
    X, y = data
    estimator = PPIMeanEstimator(lam).fit(X, y)
    pool = np.isnan(y)
    pool = pool if pool.any() else ~pool
    np.testing.assert_allclose(estimator.judge_mean_, X[pool].mean(axis=0))
    # A weight that was fitted, over all rows; one that was given, over the others.
    rows = slice(None) if lam == "ols" else pool
    assert estimator.predict(X[rows]).mean() == pytest.approx(
        estimator.mean_, abs=rounding(X, y, estimator)
    )
    assert estimator.mean_ == pytest.approx(
        X[rows].mean(axis=0) @ estimator.lambda_ + estimator.rectifier_,
        abs=rounding(X, y, estimator),
    )


@given(judged(), lams, st.floats(0.01, 0.99), seeds)
def test_everything_accepted_is_finite_and_ordered(data, lam, level, seed):
    X, y = data
    estimator = PPIMeanEstimator(lam).fit(X, y)
    numbers = [estimator.mean_, estimator.rectifier_, *estimator.lambda_]
    assert np.isfinite(numbers).all()
    h = y[~np.isnan(y)]
    methods = ["auto", "normal", "t"] if len(h) > 1 else []
    if np.isin(h, (0, 1)).all():
        methods += ["wilson"]
    for method in methods:
        low, high = estimator.confidence_interval(level, method=method)
        assert np.isfinite([low, high]).all()
        assert low <= high
        if method == "wilson":
            assert 0 <= low < high <= 1
        low_only, top = estimator.confidence_interval(
            (1 + level) / 2, method=method, alternative="greater"
        )
        bottom, high_only = estimator.confidence_interval(
            (1 + level) / 2, method=method, alternative="less"
        )
        assert (low_only, high_only) == pytest.approx((low, high), rel=1e-9, abs=1e-12)
        assert (bottom, top) == (
            (0, 1)
            if method == "wilson" or (np.isin(h, (0, 1)).all() and method == "auto")
            else (-math.inf, math.inf)
        )
    order = np.random.default_rng(seed).permutation(len(y))
    shuffled = PPIMeanEstimator(lam).fit(X[order], y[order])
    assert shuffled.mean_ == pytest.approx(
        estimator.mean_, abs=rounding(X, y, estimator, 1e-8)
    )


def test_results_of_other_software(numeric_facts):
    for name in (
        "A_binary",
        "B_likert",
        "C_compressed",
        "D_negative",
        "E_glide_doc",
        "F_glide_unit",
    ):
        case = numeric_facts[name]
        X = np.array(case["Yhat"] + case["U"])[:, np.newaxis]
        y = np.array(case["Y"] + [np.nan] * len(case["U"]))
        tuned = PPIMeanEstimator("ppi++").fit(X, y)
        assert tuned.lambda_ == pytest.approx(case["lam_unclipped"], rel=1e-12)
        for lam, suffix in (("ppi++", ""), (1.0, "_lam1")):
            estimator = PPIMeanEstimator(lam, clip=True).fit(X, y)
            if lam == "ppi++":
                assert estimator.lambda_ == pytest.approx(case["lam_used"], rel=1e-12)
            assert estimator.mean_ == pytest.approx(
                case["point" + suffix][0], rel=1e-12
            )
            for alpha in (0.1, 0.05):
                assert estimator.confidence_interval(
                    1 - alpha, method="normal"
                ) == pytest.approx(
                    np.ravel(case[f"ci{suffix}_alpha{alpha}"]), rel=1e-12
                )
        classical = PPIMeanEstimator(0).fit(X, y)
        assert classical.mean_ == pytest.approx(case["point_lam0"][0], rel=1e-12)
        for alpha in (0.1, 0.05):
            assert classical.confidence_interval(
                1 - alpha, method="normal"
            ) == pytest.approx(np.ravel(case[f"classical_ci_alpha{alpha}"]), rel=1e-12)
        half = PPIMeanEstimator(0.5).fit(X, y)
        assert half.mean_ == pytest.approx(case["point_lam.5"][0], rel=1e-12)
        for side, alternative in (("larger", "greater"), ("smaller", "less")):
            assert half.confidence_interval(
                0.9, method="normal", alternative=alternative
            ) == pytest.approx(np.ravel(case[f"ci_lam.5_{side}_alpha.1"]), rel=1e-12)


# ppi-python 0.2.3, `ppi_mean_ci(..., alpha=0.1)`; y has the labels first.
@pytest.mark.parametrize(
    ("labels", "judge", "pool", "lam", "mean", "interval"),
    [
        (
            [1, 0, 1, 1, 0, 1, 1, 0, 1, 1],
            [0.9, 0.2, 0.8, 0.7, 0.4, 0.6, 0.9, 0.1, 0.5, 0.8],
            [
                0.3,
                0.9,
                0.8,
                0.2,
                0.6,
                0.7,
                0.4,
                0.9,
                0.1,
                0.5,
                0.8,
                0.7,
                0.6,
                0.2,
                0.9,
                0.3,
                0.5,
                0.8,
                0.4,
                0.7,
            ],
            1.0,
            0.675,
            (0.5104837991901496, 0.8395162008098502),
        ),
        (
            [1, 0, 1, 0, 1, 1],
            [0.1, 0.8, 0.2, 0.9, 0.3, 0.2],
            [0.5, 0.4, 0.6, 0.2, 0.8, 0.7, 0.1, 0.9],
            0.0,
            2 / 3,
            (0.35011443856734503, 0.9832188947659882),
        ),
    ],
    ids=["good judge", "adverse judge"],
)
def test_two_results_of_ppi_python(labels, judge, pool, lam, mean, interval):
    X = np.array(judge + pool)[:, np.newaxis]
    y = np.array(labels + [np.nan] * len(pool))
    estimator = PPIMeanEstimator("ppi++", clip=True).fit(X, y)
    assert estimator.lambda_ == lam
    assert estimator.mean_ == pytest.approx(mean, rel=1e-12)
    assert estimator.confidence_interval(0.9, method="normal") == pytest.approx(
        interval, rel=1e-12
    )


def test_judge_that_is_two_too_high_is_corrected_exactly():
    h = np.random.default_rng(0).normal(size=100) * 100
    X = np.concatenate([h + 2, np.full(10_000, 2.0)])[:, np.newaxis]
    y = np.concatenate([h, np.full(10_000, np.nan)])
    assert PPIMeanEstimator(1.0).fit(X, y).mean_ == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(
    ("X", "y", "fallback", "mean"),
    [
        ([[1.0], [2.0], [3.0]], [1, 2, 3], "no unlabelled rows", 2),
        ([[1.0], [2.0], [3.0], [4.0]], [5, 5, 5, np.nan], "constant labels", 5),
        ([[0.1], [0.1], [0.1], [4.0]], [1, 2, 3, np.nan], "constant judge", 2),
        ([[1.0], [2.0]], [1, np.nan], "too few labels", 1),
        ([[1.0], [2.0], [3.0]], [1, 2, np.nan], "too few labels", 1.5),
        ([[1, 0], [2, 1], [3, 3], [9, 9]], [1, 2, 4, np.nan], "too few labels", 7 / 3),
        ([[0.5]], [0], "no unlabelled rows", 0),
    ],
)
def test_fallbacks_are_the_mean_of_the_labels_and_say_so(X, y, fallback, mean):
    estimator = PPIMeanEstimator().fit(X, y)
    assert estimator.fallback_ == fallback
    assert estimator.mean_ == pytest.approx(mean, rel=1e-15)
    if estimator.n_unlabeled_:
        np.testing.assert_array_equal(estimator.lambda_, 0)


def test_collinear_judges_share_the_weight():
    X, y = make_judged_pool(100, 20, random_state=0)
    one = PPIMeanEstimator().fit(X, y)
    two = PPIMeanEstimator().fit(np.column_stack([X, X, np.ones(100)]), y)
    assert two.mean_ == pytest.approx(one.mean_, rel=1e-12)
    assert two.standard_error_ == pytest.approx(one.standard_error_, rel=1e-12)
    np.testing.assert_allclose(two.lambda_, [*(one.lambda_ / 2), *(one.lambda_ / 2), 0])


def test_single_label_has_a_mean_but_no_spread():
    estimator = PPIMeanEstimator().fit([[0.5], [0.7]], [3.0, np.nan])
    assert estimator.mean_ == 3
    assert not hasattr(estimator, "standard_error_")
    with pytest.raises(ValueError, match="single label"):
        estimator.confidence_interval()
    binary = PPIMeanEstimator().fit([[0.5], [0.7]], [1, np.nan])
    low, high = binary.confidence_interval()
    assert 0 < low < high == 1


def test_labels_that_all_agree_have_an_interval():
    X, y = make_judged_pool(200, 20, rate=1.0, random_state=0)
    low, high = PPIMeanEstimator().fit(X, y).confidence_interval()
    assert (low, high) == pytest.approx(
        stats.binomtest(20, 20).proportion_ci(method="wilson")
    )


@given(seeds, st.integers(1, 60), st.floats(0, 1))
def test_wilson_without_a_judge_is_scipys(seed, n, rate):
    y = (np.random.default_rng(seed).uniform(size=n) < rate).astype(float)
    estimator = PPIMeanEstimator(0).fit(np.zeros((n, 1)), y)
    result = stats.binomtest(int(y.sum()), n)
    for level in (0.5, 0.95):
        assert estimator.confidence_interval(level, method="wilson") == pytest.approx(
            result.proportion_ci(level, method="wilson"), abs=1e-12
        )


def test_wilson_leaves_each_row_out():
    X, y = make_judged_pool(100, 12, judge=[0.9, 0.4], random_state=1)
    labeled = ~np.isnan(y)
    h, f = y[labeled], X[labeled]
    residuals, deviations = np.empty(12), np.empty(12)
    for i in range(12):
        kept = np.arange(12) != i
        twin = LinearRegression().fit(f[kept], h[kept])
        residuals[i] = h[i] - twin.predict(f[[i]])[0]
        deviations[i] = h[i] - h[kept].mean()
    estimator = PPIMeanEstimator().fit(X, y)
    # 88 of the 100 rows are the pool.
    rest = np.sum((0.12 * deviations + 0.88 * residuals) ** 2) + 2
    pool = 0.88**2 * (X @ estimator.lambda_).var(ddof=1) / 88
    design = (rest + 12**3 / 11 * pool) / (np.sum(deviations**2) + 2)
    assert estimator.effective_sample_size_ == pytest.approx(12 / design)
    rate = estimator.mean_
    low, high = estimator.confidence_interval()
    for end in (low, high):
        z = (rate - end) / math.sqrt(end * (1 - end) * design / 12)
        assert abs(z) == pytest.approx(stats.norm.isf(0.025))


def test_wilson_refuses_other_labels():
    estimator = PPIMeanEstimator().fit([[0], [1], [2], [3]], [0, 0.5, 1, np.nan])
    with pytest.raises(ValueError, match=r"y holds 0.5; give label_range"):
        estimator.confidence_interval(method="wilson")


@pytest.mark.parametrize(
    ("kwargs", "name"),
    [
        ({"confidence_level": 0}, "confidence_level"),
        ({"confidence_level": 95}, "confidence_level"),
        ({"method": "bayes"}, "method"),
        ({"alternative": "larger"}, "alternative"),
    ],
)
def test_arguments_of_the_interval_are_checked(kwargs, name):
    estimator = PPIMeanEstimator().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match=f"'{name}' parameter of confidence_interval"):
        estimator.confidence_interval(**kwargs)


@pytest.mark.parametrize(
    ("X", "y", "params", "message"),
    [
        ([[1.0], [np.nan]], [1, 2], {}, "X contains NaN in row 1"),
        ([[1.0], [-np.inf]], [1, 2], {}, "X contains infinity in row 1"),
        ([[1.0], [2.0]], [np.nan, np.nan], {}, "y has no label"),
        ([[1.0], [2.0]], [1, np.inf], {}, "y contains infinity in row 1; leave NaN"),
        ([[1.0], [2.0]], [1], {}, "inconsistent numbers of samples"),
        ([[1.0], [2.0]], ["a", "b"], {}, "y holds a word"),
        ([[10**400], [2.0]], [1, 2], {}, "no float can hold"),
        ([[1.0], [2.0]], [10**400, 2], {}, "no float can hold"),
        ([[1e200], [-1e200], [0.0], [1.0]], [1, 2, 3, np.nan], {}, "overflow"),
        (
            [[1e160], [-1e160], [0], [1]],
            [1, 2, 3, np.nan],
            {"lam": "ppi++"},
            "overflow",
        ),
        ([[1.0], [2.0]], [1, np.nan], {"lam": ["a"]}, "has to be a number"),
        ([[1.0], [2.0]], [1, np.nan], {"lam": np.array(1j)}, "has to be a number"),
        ([[1.0], [2.0]], [1, np.nan], {"lam": [10**400]}, "has to be a number"),
        ([[1.0], [2.0]], None, {}, "requires y"),
        ([[1.0], [2.0]], [1, np.nan], {"lam": [1, 2]}, "lam has shape"),
        ([[1.0], [2.0]], [1, np.nan], {"lam": [np.nan]}, "finite"),
        ([[1.0], [2.0]], [1, np.nan], {"lam": np.inf}, "'lam' parameter"),
        ([[1.0], [2.0]], [1, np.nan], {"lam": "auto"}, "'lam' parameter"),
        ([[1e300], [-1e300], [0.0], [1.0]], [1, 2, 3, np.nan], {"lam": 1}, "overflow"),
        ([[1.0], [2.0], [3.0], [4.0]], [1e200, -1e200, 0, np.nan], {}, "overflow"),
    ],
)
def test_bad_input_is_one_clear_error(X, y, params, message):
    with pytest.raises(ValueError, match=message):
        PPIMeanEstimator(**params).fit(X, y)


@pytest.mark.parametrize(
    "y",
    [
        [1, None, 0, None, 1],
        pd.Series([1, None, 0, None, 1], dtype="Int64"),
        pd.Series([True, None, False, None, True], dtype="boolean"),
        pd.Series([1.0, None, 0.0, None, 1.0], index=[5, 4, 3, 2, 1]),
        np.array([1, None, 0, None, 1], dtype=object),
        np.array([1, np.nan, 0, np.nan, 1], dtype=np.float16),
    ],
    ids=["list", "Int64", "boolean", "Series", "object", "float16"],
)
def test_missing_labels_of_every_kind_are_the_pool(y):
    X = [[0.9], [0.8], [0.1], [0.3], [0.7]]
    estimator = PPIMeanEstimator().fit(X, y)
    assert (estimator.n_labeled_, estimator.n_unlabeled_) == (3, 2)
    expected = PPIMeanEstimator().fit(X, [1, np.nan, 0, np.nan, 1])
    assert estimator.mean_ == expected.mean_


def test_score_is_r2_of_the_labelled_rows():
    X, y = make_judged_pool(100, 30, random_state=0)
    labeled = ~np.isnan(y)
    estimator = PPIMeanEstimator().fit(X, y)
    twin = LinearRegression().fit(X[labeled], y[labeled])
    assert estimator.score(X, y) == pytest.approx(twin.score(X[labeled], y[labeled]))
    weights = np.arange(100.0)
    assert estimator.score(X, y, sample_weight=weights) == pytest.approx(
        twin.score(X[labeled], y[labeled], sample_weight=weights[labeled])
    )
    assert estimator.score(X[labeled][:1], y[labeled][:1]) == 0.0
    with pytest.raises(ValueError, match="no label to score"):
        estimator.score(X[~labeled], y[~labeled])


def test_moments_of_many_batches_are_those_of_one_array():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200_001, 2)) * [1, 1e-3] + [1e6, -1]
    y = np.full(len(X), np.nan)
    y[:50] = rng.normal(size=50) + X[:50, 0] - 1e6
    estimator = PPIMeanEstimator(1.0).fit(X, y)
    mean, variance = from_the_definition(X, y, np.ones(2), ddof=1)
    # The mean is a small difference of numbers near a million.
    assert estimator.mean_ == pytest.approx(mean, abs=1e-15 * 1e6)
    assert estimator.standard_error_ == pytest.approx(math.sqrt(variance), rel=1e-6)


@pytest.mark.parametrize("judge", [0.9, 0.5, 0.0, -0.5])
@pytest.mark.parametrize("lam", ["ols", "ppi++", 1.0])
@pytest.mark.simulation
def test_bias_and_coverage_by_simulation(judge, lam):
    rate, runs = 0.4, 1500
    rng = np.random.RandomState(0)
    errors, held = [], {"wilson": 0, "t": 0}
    for _ in range(runs):
        X, y = make_judged_pool(540, 40, rate=rate, judge=judge, random_state=rng)
        estimator = PPIMeanEstimator(lam).fit(X, y)
        errors.append(estimator.mean_ - rate)
        for method in held:
            low, high = estimator.confidence_interval(method=method)
            held[method] += low <= rate <= high
    # An adaptive weight has a bias of order 1/n, far below the standard error.
    assert abs(np.mean(errors)) <= 3 * np.std(errors) / np.sqrt(runs) + 0.002
    for method, count in held.items():
        assert count / runs >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / runs), method


@pytest.mark.simulation
def test_interval_holds_the_rate_of_each_chat_model(real_data):
    table = pd.read_csv(real_data / "xstest_refusal.csv")
    for model, rows in table.groupby("model"):
        X = rows[["judge_gpt4"]].to_numpy(dtype=float)
        refusal = rows["refusal"].to_numpy(dtype=float)
        held = 0
        for seed in range(100):
            y = np.full(len(refusal), np.nan)
            labeled = np.random.default_rng(seed).choice(len(y), 40, replace=False)
            y[labeled] = refusal[labeled]
            low, high = PPIMeanEstimator().fit(X, y).confidence_interval()
            held += low <= refusal.mean() <= high
        assert held >= 90, model


@pytest.mark.parametrize(
    "weight", [np.ones(3), np.ones((100, 2)), "ab", 1.0, np.zeros(100)]
)
def test_bad_weights_of_the_score_are_refused(weight):
    X, y = make_judged_pool(100, 30, random_state=0)
    with pytest.raises(ValueError, match=r"inconsistent|1d|convert|weight"):
        PPIMeanEstimator().fit(X, y).score(X, y, sample_weight=weight)


def test_predictions_and_scores_that_overflow_are_refused():
    X, y = make_judged_pool(100, 30, random_state=0)
    estimator = PPIMeanEstimator(2.0).fit(X, y)
    with pytest.raises(ValueError, match="prediction contains infinity in row 1"):
        estimator.predict([[0.5], [1.7e308]])
    with pytest.raises(ValueError, match="overflow"):
        estimator.score(X[:3], [0, 1e200, 1])


@pytest.mark.parametrize("method", ["normal", "t", "wilson"])
@pytest.mark.parametrize("level", [1e-17, 1e-300, 0.5, 1 - 1e-16])
def test_levels_near_zero_and_one_are_finite(method, level):
    X, y = make_judged_pool(100, 30, random_state=0)
    for estimator in (PPIMeanEstimator().fit(X, y), PPIMeanEstimator().fit(X, 0 * y)):
        for alternative in ("two-sided", "less", "greater"):
            low, high = estimator.confidence_interval(
                level, method=method, alternative=alternative
            )
            assert not np.isnan([low, high]).any()
            assert np.isfinite([low, high]).sum() >= 1
            assert low <= high


def test_wilson_with_almost_no_information_is_everything():
    X, y = make_judged_pool(100, 30, random_state=0)
    low, high = PPIMeanEstimator(1.0).fit(X * 1e100, y).confidence_interval()
    assert (low, high) == pytest.approx((0, 1), abs=1e-9)
