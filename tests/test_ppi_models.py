"""How g is fitted: ridge, logistic curve, any estimator; folds and pools in chunks."""

import itertools
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, RidgeCV
from sklearn.metrics import brier_score_loss
from sklearn.model_selection import GridSearchCV, KFold, ShuffleSplit, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from strategies import judged, seeds

from skdiffuse import (
    LabeledKFold,
    PoolMoments,
    PPIMeanEstimator,
    RidgePPIMeanEstimator,
    SigmoidPPIMeanEstimator,
)
from skdiffuse.datasets import make_judged_pool

LINEAR = {
    "ols": PPIMeanEstimator(),
    "ppi++": PPIMeanEstimator("ppi++"),
    "one": PPIMeanEstimator(1.0),
    "ridge": RidgePPIMeanEstimator(),
    "ridge by folds": RidgePPIMeanEstimator(cv=4),
    "plugin": RidgePPIMeanEstimator(penalty="plugin"),
    "cross-fitted": PPIMeanEstimator(cross_fit=3),
    "cross-fitted ridge": RidgePPIMeanEstimator(cross_fit=3),
}
OTHER = {
    "sigmoid": SigmoidPPIMeanEstimator(Cs=[0, 1, 100], cv=3),
    "cross-fitted sigmoid": SigmoidPPIMeanEstimator(Cs=[0, 1, 100], cv=3, cross_fit=3),
    "regressor": PPIMeanEstimator(regressor=KNeighborsRegressor(2), cross_fit=3),
}
FAMILY = {**LINEAR, **OTHER}
few = settings(max_examples=settings.default.max_examples // 6)


def split(X, y):
    labeled = ~np.isnan(y)
    return X[labeled], y[labeled], X[~labeled]


def scale_of(X, y, estimator):
    weights = getattr(estimator, "lambda_", np.zeros(1))
    return np.nanmax(np.abs(y)) + np.abs(X).max() * np.abs(weights).sum()


@pytest.mark.parametrize("name", FAMILY)
@few
@given(data=judged())
def test_everything_accepted_is_finite(name, data):
    X, y = data
    estimator = FAMILY[name].fit(X, y)
    results = [estimator.mean_, estimator.rectifier_, estimator.effective_sample_size_]
    assert np.isfinite(results).all()
    assert estimator.judge_helps_ == (estimator.labels_saved_ > 0)
    assert estimator.judge_reason_
    assert np.isfinite(estimator.predict(X)).all()
    if estimator.n_labeled_ > 1:
        low, high = estimator.confidence_interval()
        assert np.isfinite([low, high]).all()
        assert low <= high
    if estimator.fallback_:
        assert estimator.mean_ == pytest.approx(estimator.classical_mean_, rel=1e-12)


@pytest.mark.parametrize("name", FAMILY)
@few
@given(data=judged(min_labeled=2))
def test_mean_is_that_of_labels_and_predictions(name, data):
    X, y = data
    estimator = FAMILY[name].fit(X, y)
    pool = np.isnan(y)
    if not pool.any():
        assert estimator.mean_ == pytest.approx(y.mean(), rel=1e-12)
        return
    # A given weight is averaged over the pool alone, a fitted g over all rows: the
    # labels add up to its predictions.
    filled = np.where(pool, estimator.predict(X), y)
    rows = pool if name in ("one", "ppi++") else slice(None)
    tolerance = 1e-9 * scale_of(X, y, estimator)
    assert estimator.mean_ == pytest.approx(filled[rows].mean(), abs=tolerance)


@pytest.mark.parametrize("name", FAMILY)
@few
@given(data=judged(min_labeled=6), shift=st.floats(-50, 50), scale=st.floats(0.1, 50))
def test_mean_moves_with_the_labels(name, data, shift, scale):
    X, y = data
    if name == "one":
        return
    one = FAMILY[name].fit(X, y)
    mean = one.mean_
    other = FAMILY[name].fit(X, scale * y + shift)
    tolerance = 1e-6 * (scale * scale_of(X, y, one) + abs(shift))
    assert other.mean_ == pytest.approx(scale * mean + shift, abs=tolerance)


@pytest.mark.parametrize("name", ["ols", "ridge", "plugin", "cross-fitted", "sigmoid"])
@few
@given(data=judged(min_labeled=8, n_judges=2), shift=st.floats(-5, 5), seed=seeds)
def test_scale_of_a_judge_does_not_matter(name, data, shift, seed):
    X, y = data
    scales = np.random.default_rng(seed).uniform(0.2, 5, size=2) * [1, -1]
    mean = FAMILY[name].fit(X, y).mean_
    moved = (X + shift * np.abs(X).max()) * scales
    other = FAMILY[name].fit(moved, y)
    tolerance = 1e-6 * scale_of(moved, y, other)
    assert other.mean_ == pytest.approx(mean, abs=tolerance)


@pytest.mark.parametrize("name", FAMILY)
@few
@given(data=judged(min_labeled=2, max_unlabeled=60), seed=seeds)
def test_pool_in_chunks_is_the_pool(name, data, seed):
    X, y = data
    here, labels, pool = split(X, y)
    if not len(pool):
        return
    whole = FAMILY[name].fit(X, y)
    expected = whole.mean_, whole._plain_variance(), whole.judge_mean_
    cuts = np.sort(np.random.default_rng(seed).integers(0, len(pool) + 1, size=3))
    parts = np.split(pool, cuts)
    pools = [pool, iter(parts), parts]
    if name in LINEAR:
        pools.append(
            sum((PoolMoments.of(p) for p in parts[1:]), PoolMoments.of(parts[0]))
        )
    for given_pool in pools:
        estimator = FAMILY[name].fit(here, labels, pool=given_pool)
        tolerance = 1e-10 * scale_of(X, y, estimator)
        assert estimator.n_unlabeled_ == len(pool)
        assert estimator.mean_ == pytest.approx(expected[0], abs=tolerance)
        assert estimator._plain_variance() == pytest.approx(
            expected[1], rel=1e-9, abs=tolerance**2
        )
        np.testing.assert_allclose(
            estimator.judge_mean_, expected[2], atol=1e-12 * np.abs(X).max()
        )


@given(seeds, st.integers(1, 50), st.integers(1, 3))
def test_moments_add_up_in_any_order(seed, n, d):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, d)) + 10.0 ** rng.integers(-3, 6)
    parts = np.split(rows, np.sort(rng.integers(0, n + 1, size=2)))
    for order in itertools.permutations(parts):
        moments = PoolMoments.of(order)
        assert moments.count == n
        np.testing.assert_allclose(
            moments.mean, rows.mean(axis=0), rtol=0, atol=1e-14 * np.abs(rows).max()
        )
        np.testing.assert_allclose(
            moments.covariance(),
            np.cov(rows.T, ddof=0).reshape(d, d),
            rtol=1e-6,
            atol=1e-10,
        )


@pytest.mark.parametrize(
    ("pool", "message"),
    [
        (np.zeros((3, 2)), "pool has 2 columns, but X has 1"),
        ([np.zeros((3, 1)), np.zeros((3, 2))], "pool has 2 columns, but X has 1"),
        ([np.zeros((2, 1)), [[np.nan]]], "chunk 1 of pool contains NaN in row 0"),
        ([], "no chunk"),
        (iter([]), "no chunk"),
        (3, "pool is a int"),
        ({"a": [1]}, "pool is a dict"),
        ([[10**400]], "no table of judge scores"),
        ([["a"]], "no table of judge scores"),
        ((row for row in np.ones((2, 1))), "chunk 0 of pool has one dimension"),
        ([PoolMoments.of(np.zeros((3, 1)))], "add them up with sum"),
        (pl.DataFrame({"a": [1.0]}).lazy(), r"pool.collect\(\)"),
        ("abc", "pool is a str"),
        (PoolMoments.of(np.zeros((3, 2))), "pool has 2 columns"),
    ],
)
def test_bad_pools_are_refused(pool, message):
    X, y = make_judged_pool(20, None, random_state=0)
    if isinstance(pool, list):
        with pytest.raises(ValueError, match=message):
            SigmoidPPIMeanEstimator(Cs=[1]).fit(X, y, pool=pool)
    with pytest.raises(ValueError, match=message):
        PPIMeanEstimator().fit(X, y, pool=pool)


def test_pool_of_a_curve_must_be_rows():
    X, y = make_judged_pool(30, None, random_state=0)
    with pytest.raises(ValueError, match="has to see the rows"):
        SigmoidPPIMeanEstimator().fit(X, y, pool=PoolMoments.of(X))
    with pytest.raises(ValueError, match="pool has 2 columns"):
        SigmoidPPIMeanEstimator().fit(X, y, pool=np.zeros((3, 2)))


@given(seeds, st.sampled_from([None, 3]), st.integers(1, 3))
def test_ridge_is_scikit_learns_on_scaled_judges(seed, cv, n_judges):
    X, y = make_judged_pool(80, 25, judge=[0.8, 0.4, 0.0][:n_judges], random_state=seed)
    here, labels, _ = split(X, y)
    if np.ptp(labels) == 0:
        return
    scaler = StandardScaler().fit(here)
    alphas = np.logspace(3, -4, 8)
    twin = RidgeCV(25 * alphas, cv=cv, scoring="neg_mean_squared_error")
    twin.fit(scaler.transform(here), labels)
    estimator = RidgePPIMeanEstimator(alphas=alphas, cv=cv).fit(X, y)
    assert estimator.alpha_ == pytest.approx(twin.alpha_ / 25)
    np.testing.assert_allclose(estimator.lambda_, twin.coef_ / scaler.scale_)
    leverage = estimator._hat.diagonal()
    for i in (0, 7):
        kept = np.arange(25) != i
        # The closed form leaves a row out of the fit, not out of the scaling.
        fit = Ridge(twin.alpha_).fit(scaler.transform(here[kept]), labels[kept])
        left_out = labels[i] - fit.predict(scaler.transform(here[[i]]))[0]
        residual = (labels - twin.predict(scaler.transform(here)))[i]
        assert residual / (1 - leverage[i]) == pytest.approx(left_out, rel=1e-6)


def test_penalties_are_in_units_of_the_spread():
    X, y = make_judged_pool(80, 25, judge=0.8, random_state=0)
    free = PPIMeanEstimator().fit(X, y).lambda_
    halved = RidgePPIMeanEstimator(alphas=[1.0]).fit(X, y)
    np.testing.assert_allclose(halved.lambda_, free / 2)
    none = RidgePPIMeanEstimator(alphas=[np.inf]).fit(X, y)
    assert none.mean_ == none.classical_mean_
    assert none.alpha_ == np.inf
    assert not none.judge_helps_
    assert none.judge_reason_ == "the judge has no weight"
    for alphas in ([0.0], [-1.0], [], [[1.0]], [np.nan]):
        with pytest.raises(ValueError, match="positive numbers"):
            RidgePPIMeanEstimator(alphas=alphas).fit(X, y)


def test_plugin_shrinks_by_the_precision_of_the_weight():
    X, y = make_judged_pool(80, 12, judge=0.8, random_state=0)
    here, labels, _ = split(X, y)
    f = here[:, 0] - here.mean()
    scatter = (12 * f.var() + 2 * X.var()) / 14
    weight = f @ labels / 12 / scatter
    residual = labels - labels.mean() - weight * f
    variance = residual @ residual / 10 * (f @ f) / (12 * scatter) ** 2
    expected = weight * max(0, 1 - variance / weight**2)
    estimator = RidgePPIMeanEstimator(penalty="plugin").fit(X, y)
    np.testing.assert_allclose(estimator.lambda_, [expected])
    assert np.isnan(estimator.alpha_)


@pytest.mark.parametrize("name", ["ols", "plugin", "ridge fixed", "sigmoid fixed"])
@pytest.mark.parametrize("seed", range(4))
def test_influences_are_those_of_fits_without_the_row(name, seed):
    n_judges = 1 + seed % 2
    X, y = make_judged_pool(
        400,
        25,
        rate=0.3,
        judge=[0.7, 0.0][:n_judges],
        scores="binary" if seed > 1 else "probability",
        random_state=seed,
    )
    here, labels, pool = split(X, y)
    family = {
        **FAMILY,
        # Chosen anew without a row, a penalty may be another one.
        "ridge fixed": RidgePPIMeanEstimator(alphas=[0.2]),
        "sigmoid fixed": SigmoidPPIMeanEstimator(Cs=[3.0]),
    }
    estimator = family[name].fit(X, y)
    found = 25 * estimator._residual_influence
    expected = np.empty(25)
    for i in range(25):
        kept = np.arange(25) != i
        rest = np.vstack([pool, here[[i]]])
        twin = family[name].fit(here[kept], labels[kept], pool=rest)
        expected[i] = labels[i] - twin.predict(here[[i]])[0]
    exact = name in ("ols", "plugin")
    np.testing.assert_allclose(found, expected, atol=1e-6 if exact else 0.1)
    assert found @ found == pytest.approx(expected @ expected, rel=0.05)


@pytest.mark.parametrize("name", ["ols", "ridge", "plugin", "sigmoid"])
def test_a_judge_that_flags_a_single_labelled_row(name):
    y = np.concatenate([np.ones(8), np.zeros(32), np.full(410, np.nan)])
    X = np.zeros((450, 1))
    X[[0, *range(40, 58)]] = 1
    estimator = FAMILY[name].fit(X, y)
    # The standard error of labels alone is .064.
    assert estimator.standard_error_ == pytest.approx(0.064, abs=0.005)
    assert abs(estimator.labels_saved_) < 5


def test_sigmoid_chooses_by_the_brier_score():
    X, y = make_judged_pool(200, 40, judge=0.8, random_state=1)
    here, labels, pool = split(X, y)
    Cs = [0.01, 1.0, 100.0]
    scaler = StandardScaler().fit(here)
    Z = scaler.transform(here)
    folds = list(StratifiedKFold(5).split(Z, labels))
    losses = [
        np.mean(
            [
                brier_score_loss(
                    labels[test],
                    LogisticRegression(C=C / 40, tol=1e-10, max_iter=1000)
                    .fit(Z[train], labels[train])
                    .predict_proba(Z[test])[:, 1],
                )
                for train, test in folds
            ]
        )
        for C in Cs
    ]
    estimator = SigmoidPPIMeanEstimator(Cs=Cs).fit(X, y)
    best = Cs[int(np.argmin(losses))]
    assert best == estimator.C_
    twin = LogisticRegression(C=best / 40, tol=1e-10, max_iter=1000).fit(Z, labels)
    g = twin.predict_proba(scaler.transform(pool))[:, 1]
    rectifier = (labels - twin.predict_proba(Z)[:, 1]).mean()
    mean = 0.8 * (g.mean() + rectifier) + 0.2 * labels.mean()
    assert estimator.mean_ == pytest.approx(mean, abs=1e-6)


def test_sigmoid_takes_none_for_five_folds():
    X, y = make_judged_pool(100, 30, judge=0.8, random_state=0)
    expected = SigmoidPPIMeanEstimator(Cs=[0, 1, 100]).fit(X, y).mean_
    none = SigmoidPPIMeanEstimator(Cs=[0, 1, 100], cv=None).fit(X, y)
    assert none.mean_ == expected


def test_sigmoid_of_labels_between_is_that_of_weighted_pairs():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(300, 1))
    labels = 1 + 4 / (1 + np.exp(-6 * (X[:, 0] - 0.5))) + rng.normal(0, 0.1, 300)
    y = np.where(np.arange(300) < 40, labels, np.nan)
    estimator = SigmoidPPIMeanEstimator().fit(X, y)
    assert estimator.mean_ == pytest.approx(labels.mean(), abs=0.1)
    assert estimator.score(X, y) > 0.95
    here = y[:40]
    share = (here - here.min()) / np.ptp(here)
    Z = StandardScaler().fit(X[:40]).transform(X)
    twin = LogisticRegression(C=estimator.C_ / 40, tol=1e-10, max_iter=1000).fit(
        np.vstack([Z[:40], Z[:40]]),
        np.repeat([1, 0], 40),
        sample_weight=np.concatenate([share, 1 - share]),
    )
    g = here.min() + np.ptp(here) * twin.predict_proba(Z)[:, 1]
    mean = g.mean() + (here - g[:40]).mean()
    assert estimator.mean_ == pytest.approx(mean, abs=1e-6)


@pytest.mark.parametrize(
    "estimator", [RidgePPIMeanEstimator(), SigmoidPPIMeanEstimator()]
)
@pytest.mark.parametrize(
    ("X", "y", "fallback"),
    [
        (np.eye(4)[:, :1], [1, 0, 1, 0], "no unlabelled rows"),
        (np.arange(6.0)[:, None], [1, 1, 1, 1, np.nan, np.nan], "constant labels"),
        (np.array([[2.0]] * 5 + [[1.0]]), [1, 0, 1, 0, 1, np.nan], "constant judge"),
        (np.arange(3.0)[:, None], [1, 0, np.nan], "too few labels"),
        (np.arange(2.0)[:, None], [1, np.nan], "labels"),
    ],
)
def test_fallbacks_say_why(estimator, X, y, fallback):
    estimator.fit(X, y)
    assert fallback in estimator.fallback_
    assert estimator.mean_ == pytest.approx(np.nanmean(y))
    low, high = estimator.confidence_interval()
    assert 0 <= low < high <= 1


def test_sigmoid_needs_two_labels_of_a_kind():
    X, _ = make_judged_pool(30, None, random_state=0)
    y = np.where(np.arange(30) < 10, 0.0, np.nan)
    y[0] = 1
    estimator = SigmoidPPIMeanEstimator().fit(X, y)
    assert estimator.fallback_ == "too few labels of a kind"
    assert np.isnan(estimator.C_)
    y[1] = 1
    assert SigmoidPPIMeanEstimator().fit(X, y).fallback_ is None
    for Cs in ([-1.0], [], [np.inf], [np.nan]):
        with pytest.raises(ValueError, match="non-negative"):
            SigmoidPPIMeanEstimator(Cs=Cs).fit(X, y)


@given(seeds, st.integers(2, 6))
def test_cross_fit_from_the_definition(seed, n_folds):
    X, y = make_judged_pool(60, 17, judge=[0.8, 0.3], random_state=seed)
    here, labels, pool = split(X, y)
    if min(labels.sum(), (1 - labels).sum()) < 5:
        return
    # An intercept that is the same in all folds changes nothing; here g is zero at the
    # mean of the labelled rows.
    g_pool, residuals, centre = 0, np.empty(17), here.mean(axis=0)
    for train, test in KFold(n_folds).split(here):
        twin = LinearRegression().fit(here[train], labels[train])
        g_pool = g_pool + len(test) / 17 * ((pool - centre) @ twin.coef_)
        residuals[test] = labels[test] - (here[test] - centre) @ twin.coef_
    estimator = PPIMeanEstimator(cross_fit=n_folds).fit(X, y)
    share = 43 / 60
    mean = share * (g_pool.mean() + residuals.mean()) + (1 - share) * labels.mean()
    assert estimator.mean_ == pytest.approx(mean)
    together = share * residuals + (1 - share) * labels
    # The variance of g is that over all rows, the labelled ones out of their fold.
    g = np.concatenate([g_pool, labels - residuals])
    expected = share**2 * g.var(ddof=1) / 43 + together.var(ddof=1) / 17
    assert estimator.standard_error_**2 == pytest.approx(expected)
    folds = KFold(n_folds, shuffle=True, random_state=0)
    assert np.isfinite(PPIMeanEstimator(cross_fit=folds).fit(X, y).mean_)


def test_cross_fit_needs_a_partition():
    X, y = make_judged_pool(60, 20, random_state=0)
    with pytest.raises(ValueError, match="each has to be in one"):
        PPIMeanEstimator(cross_fit=ShuffleSplit(3, random_state=0)).fit(X, y)


def test_any_estimator_may_be_g():
    X, y = make_judged_pool(600, 80, rate=0.3, judge=[0.9, 0.5], random_state=0)
    for regressor in (
        HistGradientBoostingRegressor(max_iter=20),
        KNeighborsClassifier(),
        make_pipeline(StandardScaler(), LogisticRegression()),
    ):
        estimator = PPIMeanEstimator(regressor=regressor, cross_fit=5).fit(X, y)
        low, high = estimator.confidence_interval()
        assert low < 0.3 < high
        assert estimator.judge_helps_
        assert not hasattr(estimator, "lambda_")
        default = PPIMeanEstimator(regressor=regressor).fit(X, y)
        assert default.mean_ == pytest.approx(estimator.mean_, abs=1e-9)
    with pytest.raises(ValueError, match="without predict_proba"):
        PPIMeanEstimator(regressor=LinearSVC()).fit(X, y)
    with pytest.raises(ValueError, match="needs labels 0 and 1, but y holds 2"):
        PPIMeanEstimator(regressor=KNeighborsClassifier()).fit(X, 2 * y)


@pytest.mark.parametrize("name", FAMILY)
@pytest.mark.parametrize("binary", [True, False])
def test_p_value_agrees_with_the_interval(name, binary):
    X, y = make_judged_pool(100, 20, rate=0.3, random_state=2)
    if not binary:
        y = y + 0.1 * np.arange(100)
    estimator = FAMILY[name].fit(X, y)
    methods = ["auto", "normal", "t"] + ["wilson"] * binary
    for method, alternative in itertools.product(
        methods, ("two-sided", "less", "greater")
    ):
        options = {"method": method, "alternative": alternative}
        for level in (0.5, 0.9, 0.99):
            low, high = estimator.confidence_interval(level, **options)
            for end, inwards in ((low, 1e-6), (high, -1e-6)):
                if not np.isfinite(end) or (end in (0, 1) and method != "normal"):
                    continue
                inside = estimator.p_value(end + inwards, **options)
                outside = estimator.p_value(end - inwards, **options)
                assert inside >= 1 - level >= outside
                assert inside == pytest.approx(1 - level, abs=1e-3)


def test_p_value_checks_its_arguments():
    X, y = make_judged_pool(100, 20, random_state=0)
    estimator = PPIMeanEstimator().fit(X, y)
    with pytest.raises(ValueError, match="no mean of labels in"):
        estimator.p_value(1.5)
    assert estimator.p_value(1.5, method="t") < 1e-3
    for null_mean in (np.nan, np.inf, "0.5", None):
        with pytest.raises(ValueError, match="not a finite number"):
            estimator.p_value(null_mean)
    with pytest.raises(ValueError, match="parameter of p_value"):
        estimator.p_value(0.5, method="exact")
    perfect = PPIMeanEstimator().fit(np.arange(6.0)[:, None], np.arange(6.0) * 0 + 3.5)
    assert perfect.p_value(3.5) == 1
    assert perfect.p_value(3.6) == 0
    assert perfect.p_value(3.4, alternative="greater") == 0
    assert perfect.p_value(3.4, alternative="less") == 1


def test_what_the_judge_is_worth():
    for judge, helps in ((0.95, True), (0.0, False)):
        saved, said = [], []
        for seed in range(30):
            X, y = make_judged_pool(1000, 60, judge=judge, random_state=seed)
            estimator = PPIMeanEstimator(1.0).fit(X, y)
            assert estimator.effective_sample_size_ == pytest.approx(
                60 + estimator.labels_saved_
            )
            said.append(estimator.judge_helps_ == helps)
            saved.append(estimator.labels_saved_)
        # n / (1 - rho²) for large n and pool, less what a cautious count leaves out.
        assert (np.mean(saved) > 30) == helps
        assert np.mean(said) >= 0.9


def test_useless_judges_get_little_weight():
    errors = {"ols": [], "ridge": [], "classical": []}
    for seed in range(400):
        X, y = make_judged_pool(500, 15, rate=0.5, judge=[0.0] * 8, random_state=seed)
        errors["ols"].append(PPIMeanEstimator().fit(X, y).mean_ - 0.5)
        ridge = RidgePPIMeanEstimator().fit(X, y)
        errors["ridge"].append(ridge.mean_ - 0.5)
        errors["classical"].append(ridge.classical_mean_ - 0.5)
    size = {name: np.sqrt(np.mean(np.square(e))) for name, e in errors.items()}
    assert size["ridge"] < 1.15 * size["classical"] < size["ols"]


@pytest.mark.parametrize(
    "estimator",
    [RidgePPIMeanEstimator(), RidgePPIMeanEstimator(penalty="plugin")],
    ids=["cv", "plugin"],
)
@pytest.mark.parametrize("judge", [0.9, 0.0, -0.5])
@pytest.mark.simulation
def test_bias_and_coverage_of_ridge_by_simulation(estimator, judge):
    rate, runs = 0.3, 1000
    rng = np.random.RandomState(0)
    errors, held = [], 0
    for _ in range(runs):
        X, y = make_judged_pool(320, 20, rate=rate, judge=judge, random_state=rng)
        estimator.fit(X, y)
        errors.append(estimator.mean_ - rate)
        low, high = estimator.confidence_interval()
        held += low <= rate <= high
    # Fitting and correcting on the same labels has a bias of order 1/n.
    assert abs(np.mean(errors)) <= 3 * np.std(errors) / np.sqrt(runs) + 0.005
    assert held / runs >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / runs)


@pytest.mark.simulation
def test_cross_fit_takes_the_bias_away():
    bias = {None: [], 5: []}
    for seed in range(3000):
        X, y = make_judged_pool(1012, 12, rate=0.1, judge=0.9, random_state=seed)
        for folds, errors in bias.items():
            estimator = PPIMeanEstimator(cross_fit=folds).fit(X, y)
            errors.append(estimator.mean_ - 0.1)
    error = np.std(bias[5]) / np.sqrt(3000)
    assert abs(np.mean(bias[5])) <= 3.5 * error


def test_grid_search_over_penalties_judges_and_classes():
    X, y = make_judged_pool(400, 50, judge=[0.9, 0.0], random_state=0)
    pipeline = make_pipeline(
        ColumnTransformer([("judges", "passthrough", [0, 1])]), RidgePPIMeanEstimator()
    )
    grid = [
        {"columntransformer__judges": ["passthrough"]},
        {
            "ridgeppimeanestimator": [
                PPIMeanEstimator(0.0),
                PPIMeanEstimator(),
                SigmoidPPIMeanEstimator(Cs=[0, 1, 100]),
            ]
        },
        {"ridgeppimeanestimator__alphas": [[np.inf], [1.0], None]},
    ]
    search = GridSearchCV(pipeline, grid, cv=LabeledKFold(5), error_score="raise")
    search.fit(X, y)
    scores = search.cv_results_["mean_test_score"]
    assert np.isfinite(scores).all()
    assert scores.max() > 0.2 > scores[1]
    assert search.best_estimator_[-1].judge_helps_


@pytest.mark.parametrize("name", ["ols", "ridge", "plugin", "cross-fitted", "sigmoid"])
def test_a_judge_that_varies_by_rounding_alone_is_constant(name):
    rng = np.random.default_rng(0)
    rounded = np.where(np.arange(20) % 2, 0.1 + 0.2, 0.3)[:, np.newaxis]
    assert np.ptp(rounded) > 0
    y = (rng.uniform(size=20) < 0.5).astype(float)
    pool = rng.uniform(size=(200, 1))
    estimator = FAMILY[name].fit(rounded, y, pool=pool)
    assert estimator.fallback_ == "constant judge"
    useful = y[:, np.newaxis] + rng.normal(size=(20, 1))
    both = np.hstack([rounded, useful])
    pools = np.hstack([pool, rng.normal(size=(200, 1))])
    mean = FAMILY[name].fit(useful, y, pool=pools[:, 1:]).mean_
    if name != "sigmoid":
        assert FAMILY[name].fit(both, y, pool=pools).mean_ == pytest.approx(mean)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_columns_of_the_pool_are_those_of_x(frame):
    X, y = make_judged_pool(60, None, judge=[0.8, 0.2], random_state=0)
    here = frame({"a": X[:, 0], "b": X[:, 1]})
    swapped = frame({"b": X[:, 1], "a": X[:, 0]})
    for estimator in (PPIMeanEstimator(), SigmoidPPIMeanEstimator(Cs=[1])):
        with pytest.raises(ValueError, match="chunk 1 of pool has the columns"):
            estimator.fit(here, y, pool=[here, swapped])
        assert estimator.fit(here, y, pool=[here, X]).n_unlabeled_ == 120


@pytest.mark.parametrize(
    ("estimator", "n_judges"),
    [
        (PPIMeanEstimator(), 8),
        (RidgePPIMeanEstimator(), 8),
        (RidgePPIMeanEstimator(penalty="plugin"), 8),
    ],
    ids=["ols", "ridge", "plugin"],
)
def test_t_interval_knows_what_many_judges_cost(estimator, n_judges):
    rng = np.random.default_rng(0)
    held, runs, means, errors = 0, 400, [], []
    for _ in range(runs):
        X = rng.normal(size=(420, n_judges))
        y = X[:, 0] + rng.normal(size=420)
        y[20:] = np.nan
        estimator.fit(X, y)
        low, high = estimator.confidence_interval()
        held += low <= 0 <= high
        means.append(estimator.mean_)
        errors.append(estimator.standard_error_)
    assert held / runs >= 0.92 - 3 * np.sqrt(0.92 * 0.08 / runs)
    assert np.sqrt(np.mean(np.square(errors))) >= 0.85 * np.std(means)


def test_fold_without_a_fit_predicts_the_mean_of_its_labels():
    rng = np.random.default_rng(0)
    y = np.full(30, 5.0)
    y[[0, 1, 12]] = 4
    X = y[:, np.newaxis] + rng.normal(0, 0.3, (30, 1))
    pool = 5 + rng.normal(0, 0.3, (300, 1))
    for estimator in (
        SigmoidPPIMeanEstimator(cross_fit=3),
        PPIMeanEstimator(regressor=Ridge(), cross_fit=3),
    ):
        error = estimator.fit(X, y, pool=pool).standard_error_
        assert error < 0.1
        mirrored = estimator.fit(X, 9 - y, pool=pool).standard_error_
        assert mirrored == pytest.approx(error, rel=0.05)


def test_failed_fit_leaves_the_estimator_as_it_was():
    X, y = make_judged_pool(100, 20, random_state=0)
    estimator = RidgePPIMeanEstimator().fit(X, y)
    before = estimator.mean_, estimator.confidence_interval()
    with pytest.raises(ValueError, match="no chunk"):
        estimator.fit(X * 100, y * 7 + 5, pool=[])
    assert (estimator.mean_, estimator.confidence_interval()) == before
    other = PPIMeanEstimator().fit(X, y).set_params(regressor=Ridge()).fit(X, y)
    assert not hasattr(other, "lambda_")


def test_penalties_at_the_ends_of_the_range():
    X, y = make_judged_pool(100, 20, random_state=0)
    flat = RidgePPIMeanEstimator(alphas=[1e308]).fit(X, y)
    assert flat.mean_ == flat.classical_mean_
    twice = RidgePPIMeanEstimator(alphas=[1e-300]).fit(np.hstack([X, X]), y)
    assert np.isfinite(twice.standard_error_)
    none = SigmoidPPIMeanEstimator(Cs=[0]).fit(X, y)
    assert (none.C_, none.fallback_, none.judge_helps_) == (0, None, False)
    assert none.mean_ == pytest.approx(none.classical_mean_, rel=1e-12)
    for alphas in (["a"], [1j], [[1], [2, 3]]):
        with pytest.raises(ValueError, match="positive numbers"):
            RidgePPIMeanEstimator(alphas=alphas).fit(X, y)
        with pytest.raises(ValueError, match="non-negative numbers"):
            SigmoidPPIMeanEstimator(Cs=alphas).fit(X, y)


def test_moments_that_are_none_are_refused():
    for parts in ((-1, [0.0], [[0.0]]), (3, [0.0, 1.0], [[0.0]]), (3, 0.0, 0.0)):
        with pytest.raises(ValueError, match="are no moments"):
            PoolMoments(*parts)
    X, y = make_judged_pool(100, 20, random_state=0)
    listed = PoolMoments(10, [0.5], [[2.0]])
    assert np.isfinite(PPIMeanEstimator().fit(X, y, pool=listed).mean_)
    assert sum([listed, listed]).count == 20


# Pools of any size


def test_moments_of_more_rows_than_a_batch():
    rng = np.random.default_rng(0)
    rows = 1e6 + rng.normal(size=(200_000, 3))
    rows[:, 1] = 0.1
    where = rng.uniform(size=len(rows)) < 0.5
    where[50_000:90_000] = True
    where[100_000:140_000] = False
    for mask, meant in ((None, rows), (where, rows[where])):
        moments = PoolMoments.of_checked(rows, mask)
        assert moments.count == len(meant)
        np.testing.assert_allclose(moments.mean, meant.mean(axis=0), rtol=1e-11)
        covariance = np.cov((meant - 1e6).T, ddof=0)
        np.testing.assert_allclose(moments.covariance(), covariance, atol=1e-9)
        assert moments.mean[1] == 0.1
        assert not moments.comoment[1].any()


@pytest.mark.parametrize("name", FAMILY)
@pytest.mark.parametrize("blocks", [(700, 1), (700, 2), (5_000, 2)])
def test_blocks_of_dask_are_added_up_where_they_are(name, blocks, monkeypatch):
    da = pytest.importorskip("dask.array")
    X, y = make_judged_pool(4_000, 40, judge=[0.8, 0.3], random_state=0)
    here, labels, pool = split(X, y)
    array = da.from_array(pool, chunks=blocks)
    monkeypatch.setattr(da.Array, "__array__", None)
    by_blocks, at_once = (
        clone(FAMILY[name]).fit(here, labels, pool=rows) for rows in (array, pool)
    )
    for estimator in (by_blocks, at_once):
        assert estimator.n_unlabeled_ == len(pool)
    assert by_blocks.mean_ == pytest.approx(at_once.mean_, abs=1e-10)
    assert by_blocks.confidence_interval() == pytest.approx(
        at_once.confidence_interval(), abs=1e-10
    )
    np.testing.assert_allclose(by_blocks.judge_mean_, at_once.judge_mean_, atol=1e-10)
    moments = PoolMoments.of(array)
    np.testing.assert_allclose(moments.comoment, PoolMoments.of(pool).comoment)


def test_bad_blocks_of_dask_are_named():
    da = pytest.importorskip("dask.array")
    X, y = make_judged_pool(300, None, random_state=0)
    pool = np.zeros((50, 1))
    pool[33] = np.nan
    for estimator in (PPIMeanEstimator(), SigmoidPPIMeanEstimator(Cs=[1])):
        with pytest.raises(ValueError, match="chunk 3 of pool contains NaN in row 3"):
            estimator.fit(X, y, pool=da.from_array(pool, chunks=10))
        with pytest.raises(ValueError, match="pool has 2 columns, but X has 1"):
            estimator.fit(X, y, pool=da.zeros((50, 2), chunks=10))
        with pytest.raises(ValueError, match="of pool has one dimension"):
            estimator.fit(X, y, pool=da.zeros(50, chunks=10))


def test_partitions_of_a_dask_dataframe_are_chunks():
    dd = pytest.importorskip("dask.dataframe")
    X, y = make_judged_pool(300, 30, judge=[0.8, 0.2], random_state=0)
    here, labels, pool = split(X, y)
    here, pool = (pd.DataFrame(rows, columns=["a", "b"]) for rows in (here, pool))
    at_once = PPIMeanEstimator().fit(here, labels, pool=pool)
    estimator = PPIMeanEstimator().fit(
        here, labels, pool=dd.from_pandas(pool, npartitions=4)
    )
    assert estimator.n_unlabeled_ == len(pool)
    assert estimator.mean_ == pytest.approx(at_once.mean_, abs=1e-10)
    swapped = dd.from_pandas(pool[["b", "a"]], npartitions=1)
    with pytest.raises(ValueError, match="chunk 0 of pool has the columns"):
        estimator.fit(here, labels, pool=swapped)


@pytest.mark.parametrize("name", ["ols", "ridge", "sigmoid"])
def test_memory_does_not_grow_with_the_pool(name):
    X, y = make_judged_pool(400_000, 50, random_state=0)
    here, labels, pool = split(X, y)
    estimator = clone(FAMILY[name])

    def peak(*data, **more):
        tracemalloc.start()
        try:
            estimator.fit(*data, **more)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(here, labels)
    chunks = [peak(here, labels, pool=[pool] * n) for n in (1, 10)]
    assert chunks[1] < 1.1 * chunks[0]
    # Where the rows are in X: some masks, no copy.
    assert peak(here, labels, pool=pool) < X.nbytes
    assert peak(X, y) < peak(here, labels, pool=pool) + X.nbytes / 2


def test_prediction_that_is_no_number_is_refused():
    class Broken(LinearRegression):
        def predict(self, X):
            return np.where(X[:, 0] > 2, np.nan, super().predict(X))

    X, y = make_judged_pool(300, 30, random_state=0)
    here, labels, pool = split(X, y)
    pool[7] = 3
    estimator = PPIMeanEstimator(regressor=Broken())
    for more in ({}, {"groups": np.arange(30)}):
        with pytest.raises(ValueError, match="prediction of a row is NaN"):
            estimator.fit(here, labels, pool=pool, **more)
    X, y = np.concatenate([here, pool]), np.append(labels, np.full(270, np.nan))
    with pytest.raises(ValueError, match="prediction of a row is NaN"):
        estimator.fit(X, y, groups=np.arange(300))
