"""What the property tests draw: sizes and seeds; numpy draws the numbers."""

import numpy as np
from hypothesis import strategies as st

seeds = st.integers(0, 2**32 - 1)
clusterings = st.sampled_from(["ward", "cosine", "kmeans"])
hierarchical = st.sampled_from(["ward", "cosine"])
rules = st.sampled_from(["centroid", "cosine", "max_norm", "random"])


@st.composite
def differences(draw, min_rows=1, max_rows=40):
    """Difference vectors of any scale."""
    rng = np.random.default_rng(draw(seeds))
    shape = draw(st.integers(min_rows, max_rows)), draw(st.integers(2, 6))
    return rng.normal(size=shape) * 10.0 ** draw(st.integers(-6, 6))


@st.composite
def repeated_differences(draw):
    """Difference vectors with identical and with zero rows."""
    X = draw(differences())
    rng = np.random.default_rng(draw(seeds))
    X = X[rng.integers(0, draw(st.integers(1, len(X))), size=len(X))]
    X[rng.uniform(size=len(X)) < draw(st.sampled_from([0.0, 0.4, 1.0]))] = 0
    return X


@st.composite
def judged(draw, min_labeled=1, max_labeled=30, max_unlabeled=40, n_judges=None):
    """Judge scores and labels, NaN where a row has none."""
    rng = np.random.default_rng(draw(seeds))
    n = draw(st.integers(min_labeled, max_labeled))
    size = n + draw(st.integers(0, max_unlabeled))
    X = rng.normal(size=(size, n_judges or draw(st.integers(1, 3))))
    X = X * 10.0 ** draw(st.integers(-4, 4))
    y = rng.normal(size=size) + X.sum(axis=1) * draw(st.floats(-2, 2))
    if draw(st.booleans()):
        y = (y > draw(st.sampled_from([-np.inf, 0, np.inf]))).astype(float)
    y[rng.permutation(size)[n:]] = np.nan
    return X, y
