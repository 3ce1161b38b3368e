"""Parts of the benchmark of speed: clustering and choosing."""

import numpy as np
from scipy.cluster.hierarchy import linkage
from sklearn.cluster import AgglomerativeClustering

from benchmarks.measure import Part
from skdiffuse import DiffUseSelector

BUDGETS = range(5, 201)


def differences(n_rows, n_columns, seed=0):
    """Return difference vectors in twenty loose groups."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    X += 2 * rng.normal(size=(20, n_columns))[rng.integers(20, size=n_rows)]
    return X


def all_budgets(quick):
    X = differences(200 if quick else 800, 384)
    budgets = [k for k in BUDGETS if k <= len(X)]

    def one_linkage():
        linkage(X, "ward")

    def ours():
        selector = DiffUseSelector(random_state=0).fit(X)
        chosen = [selector.select(k) for k in budgets]
        return chosen, selector.annotation_order()

    def anew():
        for k in budgets:
            labels = AgglomerativeClustering(k).fit_predict(X)
            for label in range(k):
                rows = X[labels == label]
                np.linalg.norm(rows - rows.mean(axis=0), axis=1).argmin()

    return {
        "one scipy linkage": one_linkage,
        "skdiffuse: 196 budgets and the order": ours,
        "clustering anew with scikit-learn": anew,
    }


PARTS = [Part("all budgets 5 to 200, 800 rows of 384", all_budgets, 10)]
