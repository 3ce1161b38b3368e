"""Pools in all their forms: names, chunks, and what is no pool."""

import numpy as np
import pandas as pd
import pytest

from skdiffuse import PoolMoments, PPIMeanEstimator
from skdiffuse.evaluation import success_curve
from skdiffuse.selection import ApproximateClusteringWarning, DiffUseSelector

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(30, 2)), columns=["good", "bad"])
Y = X["good"] + RNG.normal(size=30)
POOL = pd.DataFrame(RNG.normal(size=(200, 2)), columns=["good", "bad"])
SWAPPED = POOL[["bad", "good"]]


def test_moments_remember_the_names_of_the_columns():
    moments = PoolMoments.of(POOL[:50]) + PoolMoments.of(POOL[50:])
    assert moments.names == ("good", "bad")
    fit = PPIMeanEstimator().fit(X, Y, pool=moments)
    assert fit.mean_ == pytest.approx(PPIMeanEstimator().fit(X, Y, pool=POOL).mean_)
    message = r"\['bad', 'good'\], but X has \['good', 'bad'\]"
    with pytest.raises(ValueError, match=message):
        PPIMeanEstimator().fit(X, Y, pool=PoolMoments.of(SWAPPED))
    with pytest.raises(ValueError, match=r"cannot be added; give every part the same"):
        PoolMoments.of(POOL) + PoolMoments.of(SWAPPED)
    with pytest.raises(ValueError, match=r"cannot be added; give every part the same"):
        PoolMoments.of([POOL, SWAPPED])


def test_moments_without_names_fit_any():
    unnamed = PoolMoments.of(POOL.to_numpy())
    assert unnamed.names is None
    assert (unnamed + PoolMoments.of(POOL)).names == ("good", "bad")
    PPIMeanEstimator().fit(X, Y, pool=unnamed)
    PPIMeanEstimator().fit(X.to_numpy(), Y, pool=PoolMoments.of(POOL))


@pytest.mark.parametrize(
    ("pool", "message"),
    [
        ([PoolMoments.of(POOL)] * 2, r"holds PoolMoments; add them up with sum"),
        (iter([PoolMoments.of(POOL)]), r"holds PoolMoments; add them up with sum"),
        (np.ones(500), r"chunk 0 of pool has one dimension; pass one column a judge"),
        (POOL["good"], r"chunk 0 of pool has one dimension; .*\[\['judge'\]\]"),
        (iter([]), r"no chunk; .* can be read only once"),
    ],
)
def test_what_is_no_pool_says_so_in_a_line(pool, message):
    with pytest.raises(ValueError, match=message) as found:
        PPIMeanEstimator().fit(X, Y, pool=pool)
    assert len(str(found.value)) < 200


def test_delayed_values_are_refused_with_the_mend():
    dask = pytest.importorskip("dask")
    delayed = dask.delayed(POOL.to_numpy())
    for pool in (delayed, [delayed], iter([delayed])):
        with pytest.raises(ValueError, match=r"dask.delayed; pass dask.array"):
            PPIMeanEstimator().fit(X.to_numpy(), Y, pool=pool)


@pytest.mark.parametrize("count", [5.5, -1, "3"])
def test_moments_count_rows(count):
    with pytest.raises(ValueError, match="are no moments"):
        PoolMoments(count, np.zeros(1), np.zeros((1, 1)))


def test_an_array_does_not_add_to_moments():
    with pytest.raises(TypeError):
        np.zeros(2) + PoolMoments.of(POOL)


def test_a_constant_pool_that_overflows_is_refused():
    with pytest.raises(ValueError, match="overflow"):
        PPIMeanEstimator().fit(X.to_numpy(), Y, pool=np.full((3, 2), 1e200))


def test_arms_share_a_clustering_only_where_it_is_the_same():
    X = np.random.default_rng(1).normal(size=(200, 5))
    y = np.sign(X[:, 0] + np.random.default_rng(2).normal(size=200))
    arms = {
        "exact": DiffUseSelector(),
        "micro": DiffUseSelector(max_exact=20),
        "longest": DiffUseSelector(representative="max_norm"),
    }

    def study(arms):
        return success_curve(arms, [("pair", X, y)], budgets=[5, 10, 20, 40])

    with pytest.warns(ApproximateClusteringWarning):
        together = study(arms)
    with pytest.warns(ApproximateClusteringWarning):
        alone = [row for name, arm in arms.items() for row in study({name: arm})]
    assert together == alone
    assert together[:4] != [row | {"selector": "exact"} for row in together[4:8]]
