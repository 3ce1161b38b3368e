"""Draws with known probabilities, and what may be said because they are known."""

import itertools
import math
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.base import clone
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from strategies import seeds

from skdiffuse import (
    BettingRule,
    DiffUseSelector,
    FixedBudget,
    HypergeometricRule,
    NormSelector,
    PairDifference,
    PPIMeanEstimator,
    PreferenceComparison,
    RandomSelector,
    SubsampleSplit,
    identical_outputs,
)
from skdiffuse.comparison import (
    BiasedSampleWarning,
    Draws,
    _betting,
    confidence_sequence,
    distance_of_sample,
)
from skdiffuse.comparison._betting import Wealth, surviving
from skdiffuse.comparison._draws import Estimates, combined
from skdiffuse.datasets import make_preference_pool
from skdiffuse.selection._draws import (
    draw_in_order,
    next_draw_probabilities,
    sequential_weights,
)

RANDOM = RandomSelector(random_state=0)
WEIGHTED = NormSelector(probability=True, random_state=0)


def orders_with_chances(weights, k):
    """All orders of the first k draws, each with its probability."""
    for order in itertools.permutations(range(len(weights)), k):
        chance, left = 1.0, sum(weights)
        for row in order:
            chance *= weights[row] / left
            left -= weights[row]
        yield list(order), chance


def small_pool(seed, n=5):
    rng = np.random.default_rng(seed)
    weights = rng.uniform(0.2, 1, size=n)
    y = rng.choice([-1.0, 0.0, 1.0, 0.5], size=n)
    judge = np.clip(y + rng.normal(size=n) / 2, -1, 1)
    return weights / weights.sum(), y, judge


# Selectors ---------------------------------------------------------------------------


def test_weighted_draws_have_the_probabilities_they_say():
    X = np.array([[0.0], [1.0], [2.0], [4.0]])
    selector = NormSelector(probability=True, floor=0.4, random_state=7).fit(X)
    weights = 0.6 * X[:, 0] / 7 + 0.1
    np.testing.assert_allclose(selector.draw_weights_, weights)
    order = draw_in_order(weights, np.random.RandomState(7))
    np.testing.assert_array_equal(selector.annotation_order(), order)
    rng = np.random.RandomState(0)
    runs = 20_000
    counts = np.zeros((4, 4))
    for _ in range(runs):
        first, second, *_ = draw_in_order(weights, rng)
        counts[first, second] += 1
    for first, second in itertools.permutations(range(4), 2):
        chance = weights[first] * weights[second] / (1 - weights[first])
        error = math.sqrt(chance * (1 - chance) / runs)
        assert counts[first, second] / runs == pytest.approx(chance, abs=4 * error)


@given(seeds, st.integers(1, 40))
def test_draw_probabilities_equal_the_definition(seed, n):
    X = np.random.default_rng(seed).normal(size=(n, 3))
    for selector in (RandomSelector(), NormSelector(probability=True, power=2.0)):
        fitted = selector.set_params(random_state=seed).fit(X)
        left = list(range(n))
        order = fitted.annotation_order().tolist()
        assert sorted(order) == left
        for row, chance in zip(order, fitted.draw_probabilities_, strict=True):
            weights = fitted.draw_weights_
            assert chance == pytest.approx(weights[row] / weights[left].sum())
            left.remove(row)


def test_inclusion_probabilities_of_weighted_draws():
    X = np.exp(np.random.default_rng(0).normal(size=(30, 1)))
    selector = NormSelector(10, probability=True)
    runs = 4000
    counts = np.zeros(30)
    for seed in range(runs):
        selector.set_params(random_state=seed).fit(X)
        counts[selector.selected_indices_] += 1
    given_ = selector.inclusion_probabilities_
    assert given_.sum() == pytest.approx(10)
    # An approximation, but no worse than this.
    np.testing.assert_allclose(given_, counts / runs, atol=0.03)
    assert (selector.set_params(n_select=30).fit(X).inclusion_probabilities_ == 1).all()
    equal = selector.set_params(n_select=6, floor=1.0).fit(X)
    np.testing.assert_allclose(equal.inclusion_probabilities_, 0.2)


@pytest.mark.parametrize("n_select", [1, 3, 5])
def test_weights_of_a_selection_are_unbiased_exactly(n_select):
    weights, y, _ = small_pool(3)
    mean = 0.0
    for order, chance in orders_with_chances(weights, 5):
        probabilities = next_draw_probabilities(weights, np.array(order))[:n_select]
        each = sequential_weights(probabilities, 5)
        assert (each >= 0).all()
        mean += chance * (each @ y[order[:n_select]]) / n_select
    assert mean == pytest.approx(y.mean(), abs=1e-12)


def test_weights_of_a_selection():
    X, _ = make_preference_pool(60, identical_rate=0.2, random_state=0)
    random = RandomSelector(12, random_state=0).fit(X)
    weights = random.sample_weight()
    np.testing.assert_allclose(weights[random.selected_indices_], 5)
    assert weights.sum() == pytest.approx(60)
    strata = DiffUseSelector(12, representative="random", random_state=0).fit(X)
    sizes = np.bincount(strata.labels_)
    np.testing.assert_allclose(
        strata.sample_weight()[strata.selected_indices_], sizes, rtol=1e-12
    )
    labels = strata.strata(12)
    for stratum in range(12):
        inside = np.isin(strata.annotation_order(12), np.flatnonzero(labels == stratum))
        assert inside.sum() == 1
    for selector in (DiffUseSelector(5), NormSelector(5)):
        assert selector.fit(X).strata(5) is None
        with pytest.raises(ValueError, match=r"for a size take RandomSelector\(\)"):
            selector.sample_weight()
    # Duplicates follow the distinct rows in no random order.
    assert strata.strata(60) is None


def test_weighted_draws_of_odd_pools():
    for X in (np.zeros((4, 2)), [[1e300], [1e-300], [0.0]], [[2.0]]):
        selector = NormSelector(probability=True, random_state=0).fit(X)
        assert selector.draw_weights_.sum() == pytest.approx(1)
        assert np.isfinite(selector.draw_probabilities_).all()
        assert selector.draw_probabilities_[-1] == 1
    for params in ({"floor": 1e-9}, {"floor": 1.1}, {"power": -1.0}):
        with pytest.raises(ValueError, match="parameter of NormSelector"):
            NormSelector(probability=True, **params).fit([[1.0]])


# Estimates and bets ------------------------------------------------------------------


def estimated(order, weights, judge, preferences):
    estimates = Estimates(Draws(np.array(order), weights, judge, len(weights)))
    for preference in preferences:
        estimates.add(preference)
    return estimates


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("judged", [False, True])
def test_each_draw_gives_an_unbiased_estimate(seed, judged):
    weights, y, judge = small_pool(seed)
    judge = judge if judged else None
    # Whatever came before, the next estimates have the true mean as expectation.
    for length in range(5):
        for before in itertools.permutations(range(5), length):
            left = [row for row in range(5) if row not in before]
            totals, reach = np.zeros(3), []
            for row in left:
                order = [*before, row]
                last = estimated(order, weights, judge, y[order])
                for_a, low, for_b, high = last.bets(length)[:, 0]
                chance = weights[row] / weights[left].sum()
                totals += chance * np.array([last.values[-1], for_a, for_b])
                reach.append((low, high))
                assert last.least <= y.mean() + 1e-12
                assert last.most >= y.mean() - 1e-12
                for other in (-1.0, 1.0):
                    # No preference goes beyond the reach that was known before.
                    changed = estimated(
                        order, weights, judge, [*y[list(before)], other]
                    )
                    for_a, low, for_b, high = changed.bets(length)[:, 0]
                    assert low - 1e-12 <= for_a
                    assert for_b <= high + 1e-12
                    reach.append((low, high))
            np.testing.assert_allclose(totals, y.mean(), atol=1e-12)
            assert np.ptp(reach, axis=0) == pytest.approx([0, 0], abs=1e-12)


@pytest.mark.parametrize("judged", [False, True])
def test_wealth_has_the_mean_one_where_both_are_equal(judged):
    weights, _, judge = small_pool(5, n=6)
    y = np.array([1.0, -1.0, 0.0, 1.0, 0.5, -1.5 + 0.0])
    y[-1] = -(y[:-1].sum())
    assert abs(y[-1]) <= 1.5
    y = y / 1.5
    total = np.zeros(2)
    for order, chance in orders_with_chances(weights, 4):
        wealth = Wealth(Draws(np.array(order), weights, judge if judged else None, 6))
        for row in order:
            wealth.add(y[[row]])
        total += chance * np.exp(wealth._growth).mean(axis=0)
    np.testing.assert_allclose(total, 1, rtol=1e-10)


# The definitions, counted anew at each draw ------------------------------------------


def plain_estimates(order, weights, judge, preferences):
    """The estimate of each draw, and the bets on A and B with their reach."""
    weights = weights / weights.sum()
    n, judged = len(weights), judge is not None
    judge = judge if judged else np.zeros(n)
    variance = weights @ (judge / weights / n) ** 2 - judge.mean() ** 2
    room = max(1 / weights.min(), 1.5 * n) * weights - 1
    left = np.ones(n, dtype=bool)
    total, values, bets, scales = 0.0, [], [], []
    for t, (row, y) in enumerate(zip(order, preferences, strict=False)):
        scale = weights[left].sum() / weights[row] / n
        before, s = order[:t], np.array(scales)
        label, guess = s * preferences[:t], s * judge[before]
        weight = 0.0
        if judged:
            spread = (guess - guess.mean()) @ guess if t else 0.0
            covariance = (guess - guess.mean()) @ label if t else 0.0
            both = max(spread, 0) + 10 * max(variance, 0)
            weight = (covariance + 5 * max(variance, 0)) / both if both > 0 else 0.0
        level = (label - weight * guess).sum() / (s.sum() + 1)
        value = (total + weight * judge[left].sum() + level * left.sum()) / n
        values.append(value + (y - weight * judge[row] - level) * scale)
        both = []
        for sign in (1, -1):
            held = sign * np.minimum(sign * weight * judge, room if judged else np.inf)
            middle = (total + held[left].sum()) / n
            reach = ((1 + sign * held) / weights)[left].max() * weights[left].sum() / n
            both += [middle + (y - held[row]) * scale, middle - sign * reach]
        bets.append(both)
        scales.append(scale)
        left[row] = False
        total += y
    return np.array(values), np.array(bets)


def log_wealth(values, lows, mean):
    """The log of the mean wealth of all bets that the mean is exceeded."""
    room, theta = mean - lows, (np.arange(100)[:, np.newaxis] + 0.5) / 100
    open_ = room > 1e-9
    gains = np.where(open_, (values - mean) / np.where(open_, room, 1), 0.0)
    factors = np.log1p(theta * gains)
    factors[:, ~open_ & (values > mean + 1e-9)] = np.inf
    return np.logaddexp.reduce(factors.cumsum(axis=1), axis=0) - math.log(100)


def plain_sequence(bets, preferences, n, level):
    """The intervals after each draw, each by halving from the one before."""
    limit, low, high, ends = math.log(2 / (1 - level)), -1.0, 1.0, []
    for t in range(1, len(bets) + 1):
        total, others = sum(preferences[:t]), n - t
        for_a, lows, for_b, highs = bets[:t].T
        low = plain_end(for_a, lows, limit, low, high)
        low = min(max(low, (total - others) / n), high)
        high = -plain_end(-for_b, -highs, limit, -high, -low)
        high = max(min(high, (total + others) / n), low)
        ends.append((low, high))
    return np.array(ends).T


def plain_end(values, lows, limit, start, stop):
    # The draws before were looked at then.
    if log_wealth(values, lows, start)[-1] < limit:
        return start
    if log_wealth(values, lows, stop).max() >= limit:
        return stop
    while stop - start > 1e-9:
        middle = (start + stop) / 2
        if log_wealth(values, lows, middle).max() >= limit:
            start = middle
        else:
            stop = middle
    return start


def drawn(seed, n, k):
    """Draws, and the preferences of the first k, of one of many kinds."""
    rng = np.random.default_rng(seed)
    y = rng.choice([-1.0, 0.0, 1.0], size=n, p=rng.dirichlet([1, 1, 1]))
    if seed % 4 == 0:
        y = np.clip(0.7 * y + rng.normal(size=n) / 10, -1, 1)
    weights = np.full(n, 1 / n) if seed % 2 else rng.uniform(0.1, 2, size=n)
    noisy = np.clip(y + rng.normal(size=n), -1, 1)
    judge = (None, noisy, rng.choice([-1.0, 0.0, 1.0], size=n))[seed % 3]
    order = rng.permutation(n)[:k]
    return Draws(order, weights, judge, n), y[order]


@given(seeds, st.integers(1, 60), st.integers(1, 60))
def test_estimates_equal_the_definition(seed, n, k):
    draws, y = drawn(seed, n, min(n, k))
    estimates = Estimates(draws)
    for preference in y:
        estimates.add(float(preference))
    values, bets = plain_estimates(draws.order, draws.weights, draws.judge, y)
    np.testing.assert_allclose(estimates.values, values, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(estimates.bets().T, bets, rtol=1e-11, atol=1e-11)
    np.testing.assert_array_equal(estimates.bets(k // 2), estimates.bets()[:, k // 2 :])


@given(seeds, st.integers(1, 80), st.integers(1, 80))
def test_betting_risk_equals_the_definition(seed, n, k):
    draws, y = drawn(seed, n, min(n, k))
    _, bets = plain_estimates(draws.order, draws.weights, draws.judge, y)
    on_a = log_wealth(bets[:, 0], bets[:, 1], 0.0)
    on_b = log_wealth(-bets[:, 2], -bets[:, 3], 0.0)
    rule = BettingRule()
    rule.begin(draws)
    for t in range(1, len(y) + 1):
        others = n - t
        if abs(y[:t].sum()) > others + 1e-9:
            expected = 0.0
        else:
            most = max(0.0, on_a[:t].max(), on_b[:t].max())
            expected = math.exp(-most)
        assert rule.assess(y[:t], n).risk == pytest.approx(
            expected, rel=1e-9, abs=1e-12
        )


@given(seeds, st.integers(1, 80), st.lists(st.integers(1, 80), max_size=6))
def test_a_look_does_not_depend_on_the_looks_before(seed, n, looks):
    draws, y = drawn(seed, n, n)
    for rule in (BettingRule(), FixedBudget()):
        rule.begin(draws)
        for t in looks:
            fresh = clone(rule)
            fresh.begin(draws)
            found = rule.assess(y[:t], n)
            assert found == fresh.assess(y[:t], n)
            rule = pickle.loads(pickle.dumps(rule))
            other = -y[: t // 2 + 1]
            assert rule.assess(other, n) == fresh.assess(other, n)
            assert rule.assess(y[:t], n) == found


@pytest.mark.parametrize("rule", [BettingRule(), FixedBudget()])
def test_an_interrupted_look_leaves_nothing_behind(rule, monkeypatch):
    draws, y = drawn(4, 50, 30)
    expected = clone(rule)
    for each in (rule, expected):
        each.begin(draws)
    rule.assess(y[:10], 50)
    with monkeypatch.context() as patched:
        patched.setattr(Estimates, "_level", raise_interrupt)
        with pytest.raises(KeyboardInterrupt):
            rule.assess(y[:20], 50)
    assert rule.assess(y[:21], 50) == expected.assess(y[:21], 50)


def raise_interrupt(*_):
    raise KeyboardInterrupt


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("n", [70, 2000])
def test_confidence_sequence_equals_the_definition(seed, n, monkeypatch):
    # Small parts, so that there are several.
    monkeypatch.setattr(_betting, "_AT_ONCE", 16)
    draws, y = drawn(seed, n, 70)
    _, bets = plain_estimates(draws.order, draws.weights, draws.judge, y)
    level = (0.9, 0.95, 0.999)[seed % 3]
    found = confidence_sequence(y, draws, confidence_level=level)
    expected = plain_sequence(bets, y, n, level)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    # One look at the end, as a comparison has it.
    estimates = Estimates(draws)
    for preference in y:
        estimates.add(float(preference))
    last = surviving(estimates, 1 - level)
    np.testing.assert_allclose(last, expected[:, -1], rtol=0, atol=5e-9)


@pytest.mark.parametrize("seed", [1, 5, 6, 7])
def test_many_looks_cost_about_as_much_each_as_few(seed, monkeypatch):
    counted, computed = [0], _betting._log_factors

    def counting(*args):
        found = computed(*args)
        counted[0] += found.size
        return found

    monkeypatch.setattr(_betting, "_log_factors", counting)
    costs = []
    for k in (200, 800):
        counted[0] = 0
        draws, y = drawn(seed, 5000, k)
        confidence_sequence(y, draws)
        costs.append(counted[0] / k)
    assert costs[1] < 1.5 * costs[0]


def test_a_good_judge_saves_draws_and_a_bad_one_costs_few():
    X, y = make_preference_pool(400, winning_distance=0.15, random_state=1)
    rng = np.random.default_rng(0)
    judges = {
        "none": None,
        "good": np.where(rng.uniform(size=400) < 0.85, y, 0.0),
        "adverse": -y,
        "useless": rng.choice([-1.0, 0.0, 1.0], size=400),
    }
    labels = {name: [] for name in judges}
    for name, judge in judges.items():
        for seed in range(20):
            comparison = PreferenceComparison(
                RandomSelector(random_state=seed), BettingRule(), max_annotations=400
            ).fit(X, y, judge=judge)
            assert comparison.winner_ == 1
            labels[name].append(comparison.n_annotations_)
    mean = {name: np.mean(values) for name, values in labels.items()}
    assert mean["good"] < 0.7 * mean["none"]
    # An adverse judge is turned over.
    assert mean["adverse"] < 0.85 * mean["none"]
    assert mean["useless"] < 1.1 * mean["none"]


@pytest.mark.parametrize(
    ("judge", "ahead"), [("none", 1), ("good", 1), ("adverse", 1), ("adverse", 0)]
)
@pytest.mark.simulation
def test_weighted_draws_keep_the_promise(judge, ahead):
    alpha, runs, n = 0.2, 300, 30
    y = np.repeat([1.0, 0.0, -1.0], [9 - ahead, 12 + ahead, 9])
    assert (len(y), y.sum()) == (n, -ahead)
    # The draws prefer what A wins.
    X = (1 + (y > 0) + np.abs(y))[:, np.newaxis]
    predicted = {"none": None, "good": 0.9 * y, "adverse": -y}[judge]
    wrong = 0
    for seed in range(runs):
        selector = NormSelector(probability=True, floor=0.2, random_state=seed)
        rule = BettingRule(alpha)
        comparison = PreferenceComparison(selector, rule, 1, n - 1)
        comparison.fit(X, y, judge=predicted)
        wrong += comparison.winner_ == 1 or (ahead == 0 and comparison.winner_ != 0)
    bound = alpha * (1 if ahead else 2)
    assert wrong / runs <= bound + 3 * math.sqrt(bound * (1 - bound) / runs)


def test_cached_looks_are_those_of_a_fresh_rule():
    y = np.random.default_rng(0).choice([-1.0, 0.0, 1.0], size=60)
    rule = BettingRule()
    for history in (y[:20], y[:5], -y[:30], y[:50]):
        assert rule.assess(history, 60) == BettingRule().assess(history, 60)
    assert rule.assess(y[:9], 100) == BettingRule().assess(y[:9], 100)


def test_rules_refuse_selectors_without_draws():
    X, y = make_preference_pool(60, random_state=0)
    for selector in (
        DiffUseSelector(),
        DiffUseSelector(representative="random"),
        DiffUseSelector(clustering="kmeans", representative="random"),
        NormSelector(),
    ):
        with pytest.raises(ValueError, match="known probabilities only"):
            PreferenceComparison(selector, BettingRule()).start(X)
        with pytest.raises(ValueError, match="judge is of use where"):
            PreferenceComparison(selector).fit(X, y, judge=y)
    PreferenceComparison(WEIGHTED, BettingRule()).start(X)


# Confidence sequence -----------------------------------------------------------------


def test_confidence_sequence_inverts_the_bets():
    rng = np.random.default_rng(1)
    y = rng.choice([-1.0, 0.0, 1.0], size=30)
    n, level, bets = 80, 0.9, (np.arange(100) + 0.5) / 100
    low, high = confidence_sequence(y, Draws.uniform(n), confidence_level=level)
    assert (np.diff(low) >= 0).all()
    assert (np.diff(high) <= 0).all()
    for k in (1, 10, 30):
        refuted = []
        for mean in np.linspace(-0.999, 0.999, 400):
            a = b = np.ones(100)
            largest, total, possible = 0.0, 0.0, True
            for t, value in enumerate(y[:k]):
                left = n - t
                value_now = (total + value * left) / n
                lowest, highest = (total - left) / n, (total + left) / n
                possible &= lowest <= mean <= highest
                if possible and lowest < mean < highest:
                    a = a * (1 + bets * (value_now - mean) / (mean - lowest))
                    b = b * (1 + bets * (mean - value_now) / (highest - mean))
                total += value
                largest = max(largest, a.mean(), b.mean())
            possible &= (total - (n - k)) / n <= mean <= (total + (n - k)) / n
            refuted.append(largest >= 2 / (1 - level) or not possible)
        kept = np.linspace(-0.999, 0.999, 400)[~np.array(refuted)]
        assert low[k - 1] == pytest.approx(kept.min(), abs=0.006)
        assert high[k - 1] == pytest.approx(kept.max(), abs=0.006)


@pytest.mark.parametrize("selector", [RANDOM, WEIGHTED], ids=["random", "weighted"])
@pytest.mark.parametrize("judged", [False, True])
@pytest.mark.simulation
def test_confidence_sequence_holds_at_all_moments(selector, judged):
    X, y = make_preference_pool(40, identical_rate=0.2, random_state=2)
    judge = np.where(np.arange(40) % 3, y, 0.0) if judged else None
    level, runs, missed = 0.8, 150, 0
    for seed in range(runs):
        comparison = PreferenceComparison(
            clone(selector).set_params(random_state=seed), BettingRule(1e-9), 1, 39
        ).fit(X, y, judge=judge)
        found = comparison.winning_distance(level)
        assert found.method == "confidence sequence"
        # It lies in all intervals before, so a miss at any moment is one at the end.
        missed += not found.low <= y.mean() <= found.high
    assert missed / runs <= 1 - level + 3 * math.sqrt(level * (1 - level) / runs)


@pytest.mark.parametrize(
    ("preferences", "draws", "level", "message"),
    [
        ([2.0], Draws.uniform(5), 0.9, r"holds 2 at 0, outside \[-1, 1\]"),
        ([np.nan], Draws.uniform(5), 0.9, r"holds nan at 0"),
        (np.ones(6), Draws.uniform(5), 0.9, "order 5 rows"),
        ([1.0], Draws.uniform(5), 1.0, "'confidence_level'"),
        ([1.0], Draws(np.arange(5), None, None, 5), 0.9, "have no weights"),
    ],
)
def test_confidence_sequence_refuses(preferences, draws, level, message):
    with pytest.raises(ValueError, match=message):
        confidence_sequence(preferences, draws, confidence_level=level)


# Winning distance --------------------------------------------------------------------


@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize("judged", [False, True])
def test_fixed_sample_is_unbiased_exactly(n, judged):
    weights, y, judge = small_pool(7)
    equal = np.full(5, 0.2)
    for chances in (weights, equal):
        mean = spread = estimated = 0.0
        for order, chance in orders_with_chances(chances, n):
            draws = Draws(np.array(order), chances, judge if judged else None, 5)
            estimates = Estimates(draws)
            for row in order:
                estimates.add(y[row])
            value, variance = combined(np.array(estimates.values), 5)
            mean += chance * value
            spread += chance * (value - y.mean()) ** 2
            estimated += chance * variance
        assert mean == pytest.approx(y.mean(), abs=1e-12)
        if chances is equal and not judged:
            assert estimated == pytest.approx(spread, rel=1e-10)


def test_equal_draws_without_a_judge_give_the_mean_and_its_error():
    y = np.random.default_rng(0).choice([-1.0, 0.0, 1.0], size=30)
    found = distance_of_sample(y, 100)
    assert found.mean == pytest.approx(y.mean())
    # As large as Wilson's interval of a rate, where no preference is a tie.
    wins = np.repeat([1.0, -1.0], [20, 10])
    found = distance_of_sample(wins, 10**9)
    wilson = stats.binomtest(20, 30).proportion_ci(method="wilson")
    assert found.low == pytest.approx(2 * wilson.low - 1, abs=1e-6)
    assert found.high == pytest.approx(2 * wilson.high - 1, abs=1e-6)
    # And never without width, as long as something is left.
    all_equal = distance_of_sample(np.zeros(30), 100)
    assert all_equal.low < 0 < all_equal.high
    assert distance_of_sample([1.0], 9).low < 1
    exact = distance_of_sample(y, 30)
    assert (exact.method, exact.low, exact.high) == ("exact", exact.mean, exact.mean)


@pytest.mark.parametrize("selector", [RANDOM, WEIGHTED], ids=["random", "weighted"])
@pytest.mark.parametrize("judged", [False, True])
@pytest.mark.parametrize("n", [20, 60])
@pytest.mark.simulation
def test_interval_of_a_fixed_budget_covers(selector, judged, n):
    X, y = make_preference_pool(
        200, winning_distance=0.2, tie_rate=0.4, identical_rate=0.3, random_state=3
    )
    rng = np.random.default_rng(0)
    judge = np.where(rng.uniform(size=200) < 0.7, y, 0.0) if judged else None
    runs, covered, widths, errors = 200, 0, [], []
    for seed in range(runs):
        chooser = clone(selector).set_params(random_state=seed)
        found = (
            PreferenceComparison(chooser, FixedBudget(), 1, n)
            .fit(X, y, judge=judge)
            .winning_distance()
        )
        assert found.method == "fixed sample"
        covered += found.low <= y.mean() <= found.high
        widths.append(found.high - found.low)
        errors.append(found.mean - y.mean())
    assert covered / runs >= 0.95 - 3 * math.sqrt(0.95 * 0.05 / runs)
    assert abs(np.mean(errors)) <= 4 * np.std(errors) / math.sqrt(runs)
    if judged:
        alone = 2 * 1.96 * y.std() / math.sqrt(n) * math.sqrt(1 - n / 200)
        assert np.mean(widths) < alone


@pytest.mark.simulation
def test_strata_give_a_wide_but_honest_interval():
    X, y = make_preference_pool(150, winning_distance=0.3, random_state=4)
    selector = DiffUseSelector(representative="random")
    covered, means = 0, []
    for seed in range(100):
        comparison = PreferenceComparison(
            selector.set_params(random_state=seed), FixedBudget(), 1, 30
        ).fit(X, y)
        found = comparison.winning_distance()
        assert found.method == "strata"
        covered += found.low <= y.mean() <= found.high
        means.append(found.mean)
        sizes = np.bincount(comparison.selector_.strata(30))
        assert comparison.sample_weight().sum() == sizes.sum() == 150
    assert covered >= 90
    assert np.mean(means) == pytest.approx(y.mean(), abs=4 * np.std(means) / 10)


def test_duplicates_are_no_random_examples_of_their_cluster():
    X = np.repeat(np.eye(3), 10, axis=0)
    selector = DiffUseSelector(representative="random", random_state=0)
    comparison = PreferenceComparison(selector, FixedBudget(), 1, 8)
    comparison.fit(X, np.ones(30))
    with pytest.raises(ValueError, match="8 examples are more than there are distinct"):
        comparison.winning_distance()


def test_what_a_comparison_may_say_of_the_size(tmp_path):
    X, y = make_preference_pool(100, winning_distance=0.5, random_state=0)

    def compared(selector, rule, most=50):
        return PreferenceComparison(selector, rule, 1, most).fit(X, y)

    for selector in (DiffUseSelector(), NormSelector()):
        comparison = compared(selector, FixedBudget())
        with pytest.raises(ValueError, match=r"chosen by .* to find the winner"):
            comparison.winning_distance()
        with pytest.warns(BiasedSampleWarning, match="to find the winner"):
            labels = comparison.labels()
        assert np.count_nonzero(~np.isnan(labels)) == 50
        # Judged to the end there is nothing left to estimate.
        whole = compared(selector, FixedBudget(), 100)
        assert whole.winning_distance().mean == pytest.approx(y.mean())
        np.testing.assert_array_equal(whole.labels(), y)
        assert (whole.sample_weight() == 1).all()
    stopped = compared(RANDOM, HypergeometricRule())
    assert stopped.winning_distance().method == "confidence sequence"
    assert np.isnan(stopped.winning_distance().standard_error)
    with pytest.warns(BiasedSampleWarning, match="depends on their preferences"):
        stopped.labels()
    with pytest.raises(ValueError, match="FixedBudget"):
        stopped.sample_weight()
    by_clusters = compared(DiffUseSelector(representative="random"), BettingLike())
    with pytest.raises(ValueError, match="fixed before"):
        by_clusters.winning_distance()
    # Whoever goes on after having looked has not fixed the number before.
    fixed = compared(RANDOM, FixedBudget(), 20)
    assert fixed.winning_distance().method == "fixed sample"
    fixed.set_params(max_annotations=40).resume(y)
    assert fixed.n_annotations_ == 40
    assert fixed.winning_distance().method == "confidence sequence"
    # Also where the answers come from a file.
    path = tmp_path / "log.jsonl"
    begun = PreferenceComparison(RANDOM, FixedBudget(), 1, 20).start(X)
    rows = begun.ask(19)
    begun.tell(rows, y[rows]).save(path)
    larger = PreferenceComparison(RANDOM, FixedBudget(), 1, 40).load(path, X)
    assert larger.resume(y).winning_distance().method == "confidence sequence"
    same = PreferenceComparison(RANDOM, FixedBudget(), 1, 20).load(path, X)
    assert same.resume(y).winning_distance().method == "fixed sample"
    # A selector that would go on otherwise would ask anew for what is paid for.
    unseeded = PreferenceComparison(RandomSelector(), FixedBudget(), 1, 20).fit(X, y)
    unseeded.save(path)
    loaded = clone(unseeded).load(path, X)
    loaded.set_params(max_annotations=40)
    for go_on in (loaded.ask, lambda: loaded.resume(y)):
        with pytest.raises(ValueError, match="would go on otherwise"):
            go_on()
    assert loaded.n_annotations_ == 20
    with pytest.raises(ValueError, match="would go on otherwise"):
        clone(loaded).load(path, X)
    by_means = DiffUseSelector(8, clustering="kmeans", representative="random")
    clusters = PreferenceComparison(by_means, FixedBudget(), 1, 8).fit(X, y)
    clusters.save(path)
    assert clusters.winning_distance().method == "strata"
    loaded = clone(clusters).load(path, X)
    if loaded._reordered:
        with pytest.raises(ValueError, match="other clusters now"):
            loaded.winning_distance()
    started = PreferenceComparison(RANDOM, FixedBudget()).start(X)
    with pytest.raises(ValueError, match="no preference counts"):
        started.winning_distance()
    with pytest.raises(ValueError, match="'confidence_level'"):
        fixed.winning_distance(1.0)


class BettingLike(HypergeometricRule):
    """A rule that stops by what it sees, and takes any order."""


def test_graded_preferences_beyond_one():
    X, y = make_preference_pool(100, random_state=0)
    fixed = PreferenceComparison(RANDOM, FixedBudget(), 1, 30).fit(X, 5 * y)
    found = fixed.winning_distance()
    assert found.low < found.mean < found.high
    assert found.standard_error == pytest.approx(
        (5 * y)[fixed.annotated_indices_].std(ddof=1) / math.sqrt(30) * math.sqrt(0.7)
    )
    stopped = PreferenceComparison(RANDOM, max_annotations=30).fit(X, 5 * y)
    with pytest.raises(ValueError, match="divide all of them"):
        stopped.winning_distance()


def test_labels_and_weights_go_into_a_mean():
    X, y = make_preference_pool(300, winning_distance=0.2, random_state=5)
    judge = np.where(np.arange(300) % 4, y, 0.0)
    for selector in (RANDOM, WEIGHTED):
        comparison = PreferenceComparison(selector, FixedBudget(), 1, 60).fit(X, y)
        weights = comparison.sample_weight()
        labels = comparison.labels()
        assert (np.isnan(labels) == (weights == 0)).all()
        mean = PPIMeanEstimator().fit(judge[:, np.newaxis], labels)
        weighted = PPIMeanEstimator().fit(
            judge[:, np.newaxis], labels, sample_weight=weights
        )
        assert weighted.mean_ == pytest.approx(y.mean(), abs=0.15)
        if selector is RANDOM:
            assert weighted.mean_ == pytest.approx(mean.mean_, abs=1e-9)
        chosen = selector.set_params(n_select=60).fit(X).sample_weight()
        np.testing.assert_allclose(chosen, weights)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([], 5), "preferences has shape"),
        (([np.nan], 5), "preferences contains NaN in row 0"),
        ((["A"], 5), "preferences is no array of numbers"),
        (([1, 1], 1), "n_examples=1"),
        (([1, 1], 2.5), "n_examples=2.5"),
        (([1, 1], 5, [0.5]), "draw_probabilities must be 2 numbers"),
        (([1, 1], 5, [0.5, 0.0]), "draw_probabilities must be 2 numbers"),
        (([1, 1], 5, [0.5, 0.5], [0.5, 0.5]), "give one of them"),
        (([1, 1], 5, None, [0.5, 2.0]), "inclusion_probabilities must be"),
        (([1, 1], 5, None, [0.5, 0.5]), "stand for 4 examples, not for"),
    ],
)
def test_bad_samples_are_refused(arguments, message):
    names = ("preferences", "n_examples", "draw_probabilities")
    named = dict(zip((*names, "inclusion_probabilities"), arguments, strict=False))
    with pytest.raises(ValueError, match=message):
        distance_of_sample(named.pop("preferences"), named.pop("n_examples"), **named)


def test_votes_and_size_do_not_disagree():
    # Long differences are won by A, the many short ones by B.
    rng = np.random.RandomState(0)
    X = rng.lognormal(0, 1.5, (600, 1))
    y = np.where(X[:, 0] > np.quantile(X[:, 0], 0.6), 1.0, -1.0)
    for seed in range(10):
        selector = NormSelector(probability=True, random_state=seed)
        comparison = PreferenceComparison(selector, FixedBudget(), 1, 150).fit(X, y)
        assert comparison.winner_ == np.sign(comparison.winning_distance().mean)


@pytest.mark.parametrize("n", [5, 20, 150])
def test_what_all_answers_agree_with_is_not_excluded(n):
    X = np.random.RandomState(0).lognormal(size=(200, 1))
    for seed, sign in itertools.product(range(10), (1, -1)):
        selector = NormSelector(probability=True, random_state=seed)
        comparison = PreferenceComparison(selector, FixedBudget(), 1, n)
        found = comparison.fit(X, np.full(200, float(sign))).winning_distance()
        assert max(sign * found.low, sign * found.high) == 1
        width = found.high - found.low
        plain = distance_of_sample(np.full(n, float(sign)), 200)
        assert width < 0.1 + 1.5 * (plain.high - plain.low)


def test_two_ways_to_the_size_of_weighted_draws_agree():
    X, y = make_preference_pool(120, random_state=8)
    comparison = PreferenceComparison(WEIGHTED, FixedBudget(), 1, 40).fit(X, y)
    selector = comparison.selector_
    found = distance_of_sample(
        y[comparison.annotated_indices_],
        120,
        draw_probabilities=selector.draw_probabilities_[:40],
    )
    expected = comparison.winning_distance()
    for name in ("mean", "low", "high", "standard_error"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name))


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([0.5, 0.5], r"shape \(2,\), but there are 4"),
        ([0.5, 0.5, 0.0, 0.1], "holds 0 for example 2"),
        ([0.5, 0.5, -1.0, 0.1], "holds -1 for example 2"),
        ([0.5, np.nan, 1.0, 0.1], "holds nan for example 1"),
        (["a", 1, 1, 1], "are no numbers"),
    ],
)
def test_weights_of_a_selector_of_your_own_are_checked(weights, message):
    class Own(NormSelector):
        def _fit_selection(self, X, k):
            super()._fit_selection(X, k)
            self.draw_weights_ = weights
            return self._order[:k]

    with pytest.raises(ValueError, match=message):
        PreferenceComparison(Own(), BettingRule()).start(np.ones((4, 1)))


@pytest.mark.parametrize(
    ("order", "message"),
    [([0, 0], "a place twice"), ([0, 4], "the place 4"), ([0.5], "whole numbers")],
)
def test_order_of_draws_is_checked(order, message):
    with pytest.raises(ValueError, match=message):
        Draws(order, None, None, 4)
    for n in (0, 2.5, None):
        with pytest.raises(ValueError, match="n_examples"):
            Draws.uniform(n)


def test_frozen_selectors_know_their_rows():
    X, y = make_preference_pool(50, random_state=0)
    frozen = FrozenEstimator(RandomSelector(random_state=0).fit(X))
    PreferenceComparison(frozen, FixedBudget(), 1, 20).fit(X, y)
    for rows in (X[:20], np.concatenate([X, X])):
        with pytest.raises(ValueError, match=r"draw_weights_ has shape|order holds"):
            PreferenceComparison(frozen, FixedBudget(), 1, 20).start(rows)


# Known ties --------------------------------------------------------------------------


def test_identical_outputs_are_equal_strings():
    pairs = [["a", "a"], ["a", "b"], ["", ""], ["x ", "x"]]
    expected = [True, False, True, False]
    for X in (pairs, np.array(pairs), pd.DataFrame(pairs, columns=["a", "b"])):
        np.testing.assert_array_equal(identical_outputs(X), expected)
    with pytest.raises(ValueError, match="instead of a text in row 1"):
        identical_outputs([["a", "b"], ["a", None]])


@pytest.mark.parametrize("selector", [RANDOM, WEIGHTED, DiffUseSelector()], ids=repr)
def test_known_ties_are_left_out(selector, tmp_path):
    X, y = make_preference_pool(120, random_state=6)
    tied = (y == 0) & (np.arange(120) % 2 == 0)
    rest = np.flatnonzero(~tied)
    judge = None if isinstance(selector, DiffUseSelector) else 0.5 * y
    comparison = PreferenceComparison(selector, FixedBudget(), 1, 40)
    asked = np.where(tied, np.nan, y)
    comparison.fit(X, asked, known_ties=tied, judge=judge)
    alone = clone(comparison).fit(
        X[rest], y[rest], judge=None if judge is None else judge[rest]
    )
    np.testing.assert_array_equal(
        comparison.annotated_indices_, rest[alone.annotated_indices_]
    )
    assert comparison.winner_ == alone.winner_
    assert f"40 of {len(rest)} examples, {tied.sum()} more are ties" in repr(
        comparison.verdict_
    )
    path = tmp_path / "log.jsonl"
    comparison.save(path)
    loaded = clone(comparison).load(path, X, judge=judge)
    assert repr(loaded.verdict_) == repr(comparison.verdict_)
    if judge is not None:
        share = len(rest) / 120
        found, expected = comparison.winning_distance(), alone.winning_distance()
        assert found.mean == pytest.approx(share * expected.mean)
        assert found.high == pytest.approx(share * expected.high)
        assert loaded.winning_distance() == found
        assert (comparison.labels()[tied] == 0).all()
        assert (comparison.sample_weight()[tied] == 1).all()
        for other in (None, -judge):
            with pytest.raises(ValueError, match="judge is not the one"):
                clone(comparison).load(path, X, judge=other)
        rounded = clone(comparison).load(path, X, judge=judge * (1 + 1e-12))
        assert rounded.winner_ == comparison.winner_
    # All of the others judged, the distance is that of all.
    whole = comparison.set_params(max_annotations=120).fit(X, asked, known_ties=tied)
    assert whole.termination_condition_ == "all_annotated"
    assert whole.winning_distance().mean == pytest.approx(y.mean())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"known_ties": [True, False]}, r"known_ties has shape \(2,\)"),
        ({"known_ties": [0, 1, 2]}, "not row numbers"),
        ({"known_ties": [True, None, False]}, "None in row 1"),
        ({"known_ties": [True] * 3}, "every example is a tie"),
        ({"judge": [0.5, 2.0, 0.0]}, "judge holds 2 in row 1"),
        ({"judge": [0.5, np.nan, 0.0]}, "judge contains NaN in row 1"),
        ({"judge": [0.5, 0.0]}, "judge has 2 values"),
        ({"judge": ["A", "B", "A"]}, "judge is no array of numbers"),
    ],
)
def test_bad_judges_and_ties_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        PreferenceComparison(RANDOM).fit([[1.0], [2.0], [3.0]], [1, 0, 1], **arguments)


def test_judge_and_ties_go_through_pipelines_and_searches():
    words = np.random.default_rng(0).choice(["red", "blue", "green", "no"], (60, 2))
    X = words.astype(object)
    y = np.where(words[:, 0] == words[:, 1], 0.0, np.where(words[:, 0] < "h", 1, -1))
    pipeline = make_pipeline(
        PairDifference(CountVectorizer()),
        TruncatedSVD(2),
        PreferenceComparison(RANDOM, BettingRule()),
    )
    tied = identical_outputs(X)
    pipeline.fit(
        X,
        y,
        preferencecomparison__known_ties=tied,
        preferencecomparison__judge=0.5 * y,
    )
    assert pipeline[-1].verdict_.n_known_ties == tied.sum()
    import sklearn

    with sklearn.config_context(enable_metadata_routing=True):
        comparison = PreferenceComparison(RandomSelector(random_state=0), BettingRule())
        comparison.set_fit_request(judge=True, known_ties=True)
        search = GridSearchCV(
            comparison, {"stopping_rule__alpha": [0.05, 0.2]}, cv=SubsampleSplit(3)
        )
        search.fit(np.ones((60, 1)), y, judge=0.5 * y, known_ties=tied)
    assert search.best_estimator_.verdict_.n_known_ties == tied.sum()


@settings(max_examples=25)
@given(seed=seeds, n=st.integers(2, 60), most=st.integers(1, 60))
def test_everything_said_is_finite_and_ordered(seed, n, most):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)) * rng.integers(0, 2, size=(n, 1))
    y = rng.choice([-1.0, 0.0, 1.0, 0.3], size=n)
    judge = rng.uniform(-1, 1, size=n) if seed % 2 else None
    tied = rng.uniform(size=n) < 0.2
    tied[0] = False
    y[tied] = 0
    for selector in (RandomSelector(), NormSelector(probability=True)):
        selector.set_params(random_state=seed % 100)
        for rule in (FixedBudget(), BettingRule(), HypergeometricRule()):
            comparison = PreferenceComparison(selector, rule, 1, most)
            comparison.fit(X, y, judge=judge, known_ties=tied)
            found = comparison.winning_distance()
            assert -1 <= found.low <= found.mean <= found.high <= 1
            risks = comparison.path_["risk"]
            assert isinstance(rule, FixedBudget) or np.isfinite(risks).all()
