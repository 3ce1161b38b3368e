"""Two generators on the same prompts: the mean of their differences."""

import numpy as np
import polars as pl
import pytest
from scipy import stats

from skdiffuse import PPIMeanEstimator

TRUE_DIFFERENCE = stats.norm.cdf(0.3 / np.sqrt(1.25)) - 0.5


def make_prompts(rng, n, shared=1.0):
    """Labels 0/1 and judge scores of A and B, to whom prompts are alike hard."""
    difficulty = shared * rng.normal(size=(n, 1))
    quality = difficulty + np.sqrt(1.25 - shared**2) * rng.normal(size=(n, 2))
    labels = (quality < [0.3, 0.0]).astype(float)
    return labels, quality + rng.normal(size=(n, 2))


def fit(judges, values, rows):
    y = np.full(len(values), np.nan)
    y[rows] = values[rows]
    return PPIMeanEstimator().fit(judges, y)


def fit_pairs(judges, labels, rows):
    return fit(judges, labels[:, 0] - labels[:, 1], rows)


def fit_side(judges, labels, rows, side):
    return fit(judges[:, [side]], labels[:, side], rows)


def two_sample_error(a, b):
    return np.hypot(a.standard_error_, b.standard_error_)


def within_monte_carlo_error(share, runs, level=0.95):
    return abs(share - level) <= 3 * np.sqrt(level * (1 - level) / runs)


def test_mean_of_differences_by_simulation():
    runs, n_labeled = 400, 80
    rng = np.random.default_rng(0)
    errors, errors_apart, ratios, held = [], [], [], 0
    for _ in range(runs):
        labels, judges = make_prompts(rng, 800)
        # Rows are drawn alike: the first are as random as any others.
        here, others = np.arange(n_labeled), np.arange(n_labeled, 2 * n_labeled)
        pairs = fit_pairs(judges, labels, here)
        low, high = pairs.confidence_interval(0.95, method="t")
        held += low <= TRUE_DIFFERENCE <= high
        errors.append(pairs.mean_ - TRUE_DIFFERENCE)
        a, b, b_apart = (
            fit_side(judges, labels, rows, side)
            for rows, side in ((here, 0), (here, 1), (others, 1))
        )
        ratios.append(pairs.standard_error_ / two_sample_error(a, b))
        errors_apart.append(a.mean_ - b_apart.mean_ - TRUE_DIFFERENCE)
    assert abs(np.mean(errors)) <= 3 * np.std(errors) / np.sqrt(runs)
    assert within_monte_carlo_error(held / runs, runs)
    # The promise of a smaller error is kept: other prompts for B cost as much.
    assert np.mean(ratios) < 0.85
    assert np.mean(np.array(ratios) < 1) > 0.99
    assert np.std(errors) < 0.85 * np.std(errors_apart)


def test_pairs_gain_nothing_where_nothing_is_shared():
    rng = np.random.default_rng(0)
    ratios = []
    for _ in range(100):
        labels, judges = make_prompts(rng, 800, shared=0.0)
        here = np.arange(80)
        pairs = fit_pairs(judges, labels, here)
        sides = (fit_side(judges, labels, here, side) for side in (0, 1))
        ratios.append(pairs.standard_error_ / two_sample_error(*sides))
    assert np.mean(ratios) == pytest.approx(1, abs=0.03)


@pytest.mark.parametrize(
    ("model_a", "model_b"), [("gpt4", "llama2new"), ("gpt4", "mistralinstruct")]
)
def test_difference_of_refusal_rates_of_two_chat_models(real_data, model_a, model_b):
    table = pl.read_csv(real_data / "xstest_refusal.csv")
    a, b = (table.filter(pl.col("model") == model) for model in (model_a, model_b))
    both = a.join(b, on="prompt_id", validate="1:1", suffix="_b")
    assert len(both) == len(a) == len(b)
    labels, judges = (
        both.select(name, f"{name}_b").to_numpy().astype(float)
        for name in ("refusal", "judge_gpt4")
    )
    truth = (labels[:, 0] - labels[:, 1]).mean()
    runs, held, widths, widths_one, widths_apart = 200, 0, [], [], []
    one_column = judges[:, [0]] - judges[:, [1]]
    for seed in range(runs):
        rows = np.random.default_rng(seed).choice(len(labels), 40, replace=False)
        low, high = fit_pairs(judges, labels, rows).confidence_interval(method="t")
        held += low <= truth <= high
        widths.append(high - low)
        one = fit_pairs(one_column, labels, rows)
        widths_one.append(np.diff(one.confidence_interval(method="t")))
        sides = (fit_side(judges, labels, rows, side) for side in (0, 1))
        widths_apart.append(2 * stats.norm.ppf(0.975) * two_sample_error(*sides))
    assert within_monte_carlo_error(held / runs, runs)
    assert np.mean(widths) < np.mean(widths_apart)
    # One weight for both judges saves little, and costs where one of them is useless.
    assert np.mean(widths) < 1.02 * np.mean(widths_one)
    if model_b == "mistralinstruct":
        assert np.mean(widths) < 0.9 * np.mean(widths_one)
