"""Parts of the benchmark of speed: clustering and choosing."""

import warnings

import numpy as np
from scipy.cluster.hierarchy import linkage
from sklearn.cluster import AgglomerativeClustering, MiniBatchKMeans

from benchmarks.measure import Part
from skdiffuse import DiffUseSelector
from skdiffuse.selection import ApproximateClusteringWarning


def differences(n_rows, n_columns):
    """Return difference vectors in twenty loose groups."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_columns))
    X += 2 * rng.normal(size=(20, n_columns))[rng.integers(20, size=n_rows)]
    return X


def all_budgets(quick):
    X = differences(200 if quick else 800, 384)
    budgets = range(5, 50 if quick else 201)

    def one_linkage():
        linkage(X, "ward")

    def ours():
        selector = DiffUseSelector(random_state=0).fit(X)
        chosen = [selector.select(k) for k in budgets]
        return X, chosen, selector.annotation_order()

    def anew():
        """Cluster for each budget, and take the row nearest to the mean by cosine."""
        chosen = []
        for k in budgets:
            labels = AgglomerativeClustering(k).fit_predict(X)
            for label in range(k):
                rows = X[labels == label]
                cosine = rows @ rows.mean(axis=0) / np.linalg.norm(rows, axis=1)
                cosine.argmax()
            chosen.append(labels)
        return chosen

    return {
        "one scipy linkage": one_linkage,
        "skdiffuse: every budget, and the nested order": ours,
        "scikit-learn: cluster anew for every budget": anew,
    }


def same_clusters(results):
    """See that each row that was chosen lies in a cluster of its own."""
    _, (_, chosen, _), anew = results.values()
    for rows, labels in zip(chosen, anew, strict=True):
        assert sorted(labels[rows]) == list(range(len(rows)))


def whole_tree(n_rows, kind, quick):
    X = differences(500 if quick else n_rows, 384)
    how = ("ward",) if kind == "ward" else ("average", "cosine")

    def of_scipy():
        return linkage(X, *how)

    def ours():
        return DiffUseSelector(clustering=kind, random_state=0).fit(X)

    return {f"scipy linkage, {kind}": of_scipy, "skdiffuse: fit": ours}


def ward_tree(quick):
    return whole_tree(10_000, "ward", quick)


def cosine_tree(quick):
    return whole_tree(10_000, "cosine", quick)


def same_merges(results):
    """Compare the cuts at some numbers of clusters."""
    tree, selector = results.values()
    n_rows = len(tree) + 1
    merges = tree[:, :2].astype(int)
    size = np.ones(2 * n_rows - 1, dtype=int)
    first = np.arange(2 * n_rows - 1)
    for node, (a, b) in enumerate(merges, start=n_rows):
        size[node], first[node] = size[a] + size[b], min(first[a], first[b])
    for k in (1, 2, 10, 200, n_rows // 2, n_rows):
        undone = 2 * n_rows - k
        children = merges[undone - n_rows :].ravel() if k > 1 else [2 * n_rows - 2]
        nodes = [node for node in children if node < undone]
        labels = selector.set_params(n_select=k)._clusters(k)[0]
        ours = np.unique(labels, return_index=True, return_counts=True)[1:]
        expected = sorted(zip(first[nodes], size[nodes], strict=True))
        assert sorted(zip(*ours, strict=True)) == expected


def many_rows(n_rows, n_columns, quick):
    X = differences(2000 if quick else n_rows, n_columns)
    max_exact = 500 if quick else 10_000

    def peer():
        return MiniBatchKMeans(200, random_state=0).fit_predict(X)

    def ours():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ApproximateClusteringWarning)
            selector = DiffUseSelector(200, max_exact=max_exact, random_state=0)
            return selector.fit(X).selected_indices_

    return {"scikit-learn: MiniBatchKMeans(200)": peer, "skdiffuse: 200 rows": ours}


def hundred_thousand(quick):
    return many_rows(100_000, 384, quick)


def million(quick):
    return many_rows(1_000_000, 64, quick)


PARTS = [
    Part("budgets 5 to 200 of 800 x 384", all_budgets, 5, same_clusters),
    Part("Ward of 10,000 x 384", ward_tree, 3, same_merges),
    Part("cosine of 10,000 x 384", cosine_tree, 3, same_merges),
    Part("200 of 100,000 x 384", hundred_thousand, 1),
    Part("200 of 1,000,000 x 64", million, 1),
]
