"""Parts of the benchmark of speed: means of a large pool."""

from functools import partial

import numpy as np
from scipy.special import expit

from benchmarks.measure import Part
from skdiffuse import PPIMeanEstimator, RidgePPIMeanEstimator, SigmoidPPIMeanEstimator

N_LABELS = 200
CHUNK = 1_000_000


def sample(n_rows, n_columns=1, n_labels=N_LABELS, dtype=np.float64):
    """Return judge scores and labels of a few rows, and scores of many others."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(n_labels, n_columns))
    y = (rng.uniform(size=n_labels) < X[:, 0]).astype(np.float64)
    return X, y, rng.uniform(size=(n_rows, n_columns)).astype(dtype)


def fitted(estimator, *data, **more):
    """Return estimate, interval, and mean of the judges."""
    estimator.fit(*data, **more)
    method = "normal" if getattr(estimator, "clip", False) else "auto"
    ends = estimator.confidence_interval(method=method)
    return estimator.mean_, ends, estimator.judge_mean_


def as_ppi_python():
    return PPIMeanEstimator("ppi++", clip=True)


def ppi_python(X, y, pool):
    import ppi_py

    mean = ppi_py.ppi_mean_pointestimate(y, X[:, 0], pool[:, 0])
    low, high = ppi_py.ppi_mean_ci(y, X[:, 0], pool[:, 0], alpha=0.05)
    return mean.item(), (low.item(), high.item())


def beside_x(quick, dtype=np.float64):
    import ppi_py  # noqa: F401 - not in the first call, whose memory counts

    X, y, pool = sample(100_000 if quick else 10_000_000, dtype=dtype)
    return {
        "numpy: mean and variance": lambda: (pool.mean(dtype=float), pool.var()),
        "PPIMeanEstimator": lambda: fitted(PPIMeanEstimator(), X, y, pool=pool),
        "RidgePPIMeanEstimator": lambda: fitted(
            RidgePPIMeanEstimator(), X, y, pool=pool
        ),
        "the same as ppi-python": lambda: fitted(as_ppi_python(), X, y, pool=pool),
        "ppi-python": lambda: ppi_python(X, y, pool),
    }


def within_x(quick):
    X, y, pool = sample(100_000 if quick else 10_000_000)
    X = np.concatenate([X, pool])
    y = np.concatenate([y, np.full(len(pool), np.nan)])
    del pool

    def moments():
        pool = X[np.isnan(y)]
        return pool.mean(), pool.var()

    return {
        "numpy: mean and variance of X[isnan(y)]": moments,
        "PPIMeanEstimator": lambda: fitted(PPIMeanEstimator(), X, y),
        "RidgePPIMeanEstimator": lambda: fitted(RidgePPIMeanEstimator(), X, y),
    }


def four_judges(quick):
    X, y, pool = sample(100_000 if quick else 10_000_000, 4)
    return {
        "numpy: mean and covariance": lambda: (
            pool.mean(axis=0),
            np.cov(pool, rowvar=False),
        ),
        "PPIMeanEstimator": lambda: fitted(PPIMeanEstimator(), X, y, pool=pool),
        "RidgePPIMeanEstimator": lambda: fitted(
            RidgePPIMeanEstimator(), X, y, pool=pool
        ),
    }


def sigmoid(quick):
    X, y, pool = sample(100_000 if quick else 10_000_000)

    def curve():
        values = expit(5 * pool[:, 0] - 2.5)
        return pool.mean(), values.mean(), values.var()

    return {
        "scipy and numpy: curve, mean and variance": curve,
        "SigmoidPPIMeanEstimator": lambda: fitted(
            SigmoidPPIMeanEstimator(), X, y, pool=pool
        ),
    }


def grouped(quick):
    X, y, pool = sample(100_000 if quick else 10_000_000)
    X = np.concatenate([X, pool])
    y = np.concatenate([y, np.full(len(pool), np.nan)])
    del pool
    groups = np.random.default_rng(1).integers(len(X) // 10, size=len(X))

    def sums():
        codes = np.unique(groups, return_inverse=True)[1]
        others = np.isnan(y)
        np.bincount(codes[others], weights=X[others, 0])
        return (X[others].mean(),)

    return {
        "numpy: sums by group": sums,
        "PPIMeanEstimator": lambda: fitted(PPIMeanEstimator(), X, y, groups=groups),
    }


def resampled(quick):
    X, y, pool = sample(10_000 if quick else 1_000_000)
    estimator = PPIMeanEstimator().fit(X, y, pool=pool)

    def means():
        drawn = np.random.default_rng(0).integers(len(y), size=(9999, len(y)))
        return np.quantile(y[drawn].mean(axis=1), [0.025, 0.975])

    return {
        "numpy: 9,999 means of 200 resampled labels": means,
        "skdiffuse: fit and bootstrap interval": lambda: estimator.fit(
            X, y, pool=pool
        ).confidence_interval(method="bootstrap"),
    }


def many_labels(quick):
    size = 10_000 if quick else 1_000_000
    X, y, pool = sample(size, n_labels=size)

    def moments():
        covariance = np.cov(X[:, 0], y)
        slope = covariance[0, 1] / covariance[0, 0]
        return pool.mean(), pool.var(), np.var(y - slope * X[:, 0])

    return {
        "numpy: regression, and moments of the pool": moments,
        "PPIMeanEstimator": lambda: fitted(PPIMeanEstimator(), X, y, pool=pool),
        "RidgePPIMeanEstimator": lambda: fitted(
            RidgePPIMeanEstimator(), X, y, pool=pool
        ),
    }


def in_chunks(quick):
    X, y, chunk = sample(CHUNK)
    n_chunks = 5 if quick else 1000

    def chunks():
        for _ in range(n_chunks):
            yield chunk

    def moments():
        parts = [(part.mean(), part.var()) for part in chunks()]
        means, variances = np.transpose(parts)
        return means.mean(), variances.mean() + means.var()

    return {
        "numpy: mean and variance of each chunk": moments,
        "PPIMeanEstimator": lambda: fitted(PPIMeanEstimator(), X, y, pool=chunks()),
    }


def dask_pool(quick, on_cluster):
    import dask
    import dask.array as da

    X, y, _ = sample(1)
    n_rows = (3 if quick else 100) * CHUNK
    pool = da.random.default_rng(0).uniform(size=(n_rows, 1), chunks=(CHUNK, 1))
    if on_cluster:
        from distributed import Client

        # The calls hold it, and the end of their process closes it.
        client = Client(n_workers=2, threads_per_worker=1, dashboard_address=None)

    def moments():
        assert not on_cluster or client.status == "running"
        return dask.compute(pool.mean(), pool.var())

    return {
        "dask: mean and variance": moments,
        "PPIMeanEstimator": lambda: fitted(PPIMeanEstimator(), X, y, pool=pool),
        "SigmoidPPIMeanEstimator": lambda: fitted(
            SigmoidPPIMeanEstimator(), X, y, pool=pool
        ),
    }


def agree(results):
    """Raise unless the means of the pool, and ours and ppi-python's results, agree."""
    (mean, *_), *others = results.values()
    for _, _, judge_mean in (result for result in others if len(result) == 3):
        np.testing.assert_allclose(judge_mean, mean, rtol=1e-9)
    if "ppi-python" in results:
        mean, ends, _ = results["the same as ppi-python"]
        theirs = results["ppi-python"]
        np.testing.assert_allclose([mean, *ends], [theirs[0], *theirs[1]], rtol=1e-7)


PARTS = [
    Part("mean: 10^7 rows beside X", beside_x, 10, agree),
    Part("mean: 10^7 rows of float32", partial(beside_x, dtype=np.float32), 10),
    Part("mean: 10^7 rows without a label in X", within_x, 10, agree),
    Part("mean: 10^7 rows of 4 judges", four_judges, 5, agree),
    Part("mean: 10^7 rows, a logistic curve", sigmoid, 10, agree),
    Part("mean: 10^7 rows in 10^6 groups", grouped, 3, agree),
    Part("mean: bootstrap, 10^6 rows", resampled, 10),
    Part("mean: 10^6 labels, 10^6 rows", many_labels, 5, agree),
    Part("mean: 10^9 rows in chunks of 10^6", in_chunks, 2, agree),
    Part(
        "mean: 10^8 rows of dask, threads",
        partial(dask_pool, on_cluster=False),
        3,
        agree,
    ),
    Part(
        "mean: 10^8 rows of dask, 2 workers (memory without theirs)",
        partial(dask_pool, on_cluster=True),
        3,
        agree,
    ),
]
