import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skdiffuse import PPIMeanEstimator, RidgePPIMeanEstimator, plan_labels
from skdiffuse.datasets import make_judged_pool

rhos = st.floats(0, 0.99)
prices = st.floats(0.001, 2)


def effective(n, m, rho):
    if m <= n:
        return n
    return 1 / ((1 - rho**2) / n + rho**2 / m)


@given(rhos, prices, st.floats(5, 300))
def test_no_other_plan_gives_more_for_the_budget(rho, price, budget):
    plan = plan_labels(rho, budget=budget, prediction_cost=price)
    assert plan.feasible
    assert plan.cost <= budget * (1 + 1e-9)
    best = max(
        effective(n, max(0, int((budget - n) / price)), rho)
        for n in range(1, int(budget) + 1)
    )
    assert plan.effective_sample_size >= best * (1 - 1e-9)
    assert plan.effective_sample_size == pytest.approx(
        effective(plan.n_labels, plan.n_predictions, rho)
    )


@given(rhos, prices, st.floats(0.02, 0.6), st.integers(1, 3000))
def test_width_is_reached_or_said_to_be_out_of_reach(rho, price, width, rows):
    plan = plan_labels(rho, width=width, prediction_cost=price, pool_size=rows)
    assert max(plan.n_labels, plan.n_predictions) <= rows
    z = 1.959963984540054
    assert plan.width == pytest.approx(z / math.sqrt(plan.effective_sample_size))
    assert plan.feasible == (plan.width <= width * (1 + 1e-9))
    if not plan.feasible:
        # Even all labels would not do.
        assert z / math.sqrt(rows) > width * (1 - 1e-9)
        assert str(rows) in plan.reason
    elif plan.n_labels > 1:
        fewer = effective(plan.n_labels - 1, plan.n_predictions, rho)
        assert z / math.sqrt(fewer) > width * (1 - 1e-6)


# ppi-python 0.2.3, `ppi_power`: (rho, label, prediction, budget) -> n, N, effective n;
# it rounds up, beyond the budget where it must.
@pytest.mark.parametrize(
    ("rho", "label", "prediction", "budget", "n", "unlabeled", "effective_n"),
    [
        (0.8, 1, 0.01, 100, 88, 1088, 216),
        (0.9, 1, 0.001, 1000, 939, 60352, 4639),
        (0.5, 10, 0.1, 1000, 95, 451, 120),
        (0.1, 1, 0.1, 1000, 1000, 0, 1000),
    ],
)
def test_plans_of_ppi_python(rho, label, prediction, budget, n, unlabeled, effective_n):
    plan = plan_labels(rho, budget=budget, label_cost=label, prediction_cost=prediction)
    assert plan.cost <= budget
    assert abs(plan.n_labels - n) <= 1
    assert plan.effective_sample_size == pytest.approx(effective_n, rel=0.02)
    if not unlabeled:
        assert plan.n_predictions == 0
        assert "labels alone" in plan.reason


def test_free_predictions_need_a_number_of_rows():
    with pytest.raises(ValueError, match="give pool_size"):
        plan_labels(0.8, budget=100)
    plan = plan_labels(0.8, budget=100, pool_size=5000)
    assert (plan.n_labels, plan.n_predictions) == (100, 5000)


def test_pilot_gives_correlation_and_spread():
    X, y = make_judged_pool(20_000, 4000, judge=0.9, random_state=0)
    labeled = ~np.isnan(y)
    rho = np.corrcoef(X[labeled, 0], y[labeled])[0, 1]
    plan = plan_labels(pilot=PPIMeanEstimator().fit(X, y), budget=100, pool_size=2000)
    assert plan.rho == pytest.approx(rho, abs=0.01)
    assert plan.spread == pytest.approx(y[labeled].std(), rel=0.01)
    useless, y = make_judged_pool(1000, 50, judge=0.0, random_state=0)
    pilot = RidgePPIMeanEstimator().fit(useless, y)
    assert plan_labels(pilot=pilot, budget=100, prediction_cost=0.1).n_predictions == 0
    constant = RidgePPIMeanEstimator().fit(X, np.zeros(20_000))
    with pytest.raises(ValueError, match="all equal"):
        plan_labels(pilot=constant, budget=9, pool_size=9)
    with pytest.raises(ValueError, match="has 2 labels"):
        plan_labels(
            pilot=PPIMeanEstimator().fit([[1], [2]], [0, 1]), budget=9, pool_size=9
        )


def test_the_planned_width_is_the_width_found():
    rate, widths = 0.5, []
    pilot, y = make_judged_pool(2000, 1000, judge=0.9, random_state=1)
    plan = plan_labels(
        pilot=PPIMeanEstimator().fit(pilot, y), width=0.1, pool_size=3000
    )
    assert plan.feasible
    for seed in range(40):
        X, y = make_judged_pool(
            plan.n_predictions, plan.n_labels, rate=rate, judge=0.9, random_state=seed
        )
        low, high = PPIMeanEstimator().fit(X, y).confidence_interval()
        widths.append(high - low)
    assert np.mean(widths) == pytest.approx(plan.width, rel=0.1)


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"budget": 9}, "one of rho and pilot"),
        (
            {"rho": 0.5, "pilot": PPIMeanEstimator(), "budget": 9},
            "one of rho and pilot",
        ),
        ({"rho": 0.5}, "one of width and budget"),
        ({"rho": 0.5, "budget": 9, "width": 0.1}, "one of width and budget"),
        ({"rho": 1.5, "budget": 9}, "'rho' parameter"),
        ({"rho": 0.5, "budget": -9}, "'budget' parameter"),
        ({"rho": 0.5, "width": 0}, "'width' parameter"),
        ({"rho": 0.5, "budget": 9, "label_cost": 0}, "'label_cost' parameter"),
    ],
)
def test_arguments_are_checked(kwargs, message):
    with pytest.raises(ValueError, match=message):
        plan_labels(**kwargs)


def test_a_budget_below_one_label_is_not_feasible():
    plan = plan_labels(0.5, budget=0.5, prediction_cost=0.1)
    assert not plan.feasible
    assert plan.n_labels == 0
    assert plan.effective_sample_size == 0


@pytest.mark.parametrize(
    "arguments",
    [
        {"rho": 0.8, "width": 1e6, "prediction_cost": 0.1},
        {"rho": 0.8, "width": 1.0, "spread": 1e-6, "prediction_cost": 0.1},
        {"rho": 0.8, "width": 1e-200, "prediction_cost": 0.1},
        {"rho": 0.5, "budget": 1e300, "label_cost": 1e-300, "prediction_cost": 0.1},
        {"rho": 0.5, "budget": 1e300, "prediction_cost": 1e-300},
        {"rho": 0.5, "width": 1.0, "confidence_level": 1e-18, "pool_size": 100},
        {"rho": 0.5, "width": 1.0, "spread": 1e-200, "prediction_cost": 0.1},
    ],
    ids=range(7),
)
def test_plans_at_the_ends_of_the_range(arguments):
    plan = plan_labels(**arguments)
    assert plan.n_labels >= 1
    assert math.isfinite(plan.width)
    if plan.feasible and "width" in arguments:
        assert plan.width <= arguments["width"]
        assert plan.n_labels == 1


@given(
    st.sampled_from([0.3, 0.8, 0.95, 0.99]),
    st.floats(0.3, 5),
    st.floats(0.01, 2),
    st.integers(2, 120),
    st.floats(1, 60),
    st.floats(0.15, 1.5),
)
def test_plans_are_the_best_of_all(rho, label, prediction, rows, budget, width):
    prices = {"label_cost": label, "prediction_cost": prediction, "pool_size": rows}
    every = [(n, m) for n in range(1, rows + 1) for m in [0, *range(n + 1, rows + 1)]]
    gives = {plan: effective(*plan, rho) for plan in every}
    costs = {(n, m): n * label + m * prediction for n, m in every}
    affordable = [gives[p] for p in every if costs[p] <= budget]
    best = plan_labels(rho, budget=budget, **prices)
    if affordable:
        assert best.effective_sample_size == pytest.approx(max(affordable))
    wanted = (1.959963984540054 / width) ** 2
    enough = [costs[p] for p in every if gives[p] >= wanted]
    cheapest = plan_labels(rho, width=width, **prices)
    assert cheapest.feasible == bool(enough)
    if enough:
        assert cheapest.cost == pytest.approx(min(enough))


def test_a_pilot_is_one_of_ours():
    class Other:
        def confidence_interval(self):
            return 0, 1

    with pytest.raises(ValueError, match="not an estimator of this library"):
        plan_labels(pilot=Other(), budget=9, pool_size=9)
