"""Clustering beyond a few hundred rows: distances, groups, micro-clusters, memory."""

import os
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import pdist
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score
from strategies import hierarchical, repeated_differences, rules
from threadpoolctl import threadpool_info, threadpool_limits

from skdiffuse import DiffUseSelector, _memory
from skdiffuse.selection import ApproximateClusteringWarning, _trees
from skdiffuse.selection._distances import squared_distances
from skdiffuse.selection._linkage import AVERAGE_COSINE, WARD, link_groups, link_rows

KINDS = {"ward": (WARD, "ward"), "cosine": (AVERAGE_COSINE, "average")}


def near_duplicates(rng, n_rows, n_columns):
    rows = rng.normal(size=(n_rows // 2, n_columns))
    return np.concatenate([rows, rows + 1e-7 * rng.normal(size=rows.shape)])


def far_from_zero(rng, n_rows, n_columns):
    return 1e4 + rng.normal(size=(n_rows, n_columns))


def of_all_sizes(rng, n_rows, n_columns):
    scales = 10.0 ** rng.integers(-8, 8, size=(n_rows, 1))
    return scales * rng.normal(size=(n_rows, n_columns))


def plain(rng, n_rows, n_columns):
    return rng.normal(size=(n_rows, n_columns))


POOLS = [plain, near_duplicates, far_from_zero, of_all_sizes]


@pytest.mark.parametrize("make", POOLS)
@pytest.mark.parametrize("shape", [(2, 1), (40, 3), (700, 50)])
def test_distances_are_those_of_scipy(make, shape):
    X = make(np.random.default_rng(0), *shape)
    np.testing.assert_allclose(
        squared_distances(X), pdist(X, "sqeuclidean"), rtol=1e-11
    )


def test_distances_do_not_depend_on_the_blocks(monkeypatch):
    X = near_duplicates(np.random.default_rng(1), 90, 5)
    whole = squared_distances(X)
    monkeypatch.setattr("skdiffuse.selection._distances._BLOCK", 200)
    np.testing.assert_allclose(squared_distances(X), whole, rtol=1e-11)


def unit(X):
    return X / np.linalg.norm(X, axis=1, keepdims=True)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("make", POOLS)
def test_merges_are_those_of_scipy(kind, make):
    rule, method = KINDS[kind]
    X = make(np.random.default_rng(2), 600, 30)
    if kind == "cosine":
        X = unit(X)
    metric = "sqeuclidean" if kind == "cosine" else "euclidean"
    expected = linkage(pdist(X, metric) / (2 if kind == "cosine" else 1), method)
    merges, heights = link_rows(X, np.arange(len(X)), rule)
    np.testing.assert_allclose(heights, expected[:, 2], rtol=1e-9)
    np.testing.assert_array_equal(np.sort(merges), np.sort(expected[:, :2]))


@pytest.mark.parametrize("kind", KINDS)
@given(seed=st.integers(0, 2**32 - 1), n_groups=st.integers(2, 30))
def test_groups_merge_as_their_rows_would(kind, seed, n_groups):
    rule, method = KINDS[kind]
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_groups, 4))
    if kind == "cosine":
        X = unit(X)
    sizes = rng.integers(1, 6, size=n_groups)
    rows = np.repeat(X, sizes, axis=0)
    metric = "sqeuclidean" if kind == "cosine" else "euclidean"
    of_rows = linkage(pdist(rows, metric) / (2 if kind == "cosine" else 1), method)
    _, heights = link_groups(X, sizes, np.zeros(n_groups), rule)
    np.testing.assert_allclose(heights, of_rows[-len(heights) :, 2], rtol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_groups_that_are_no_points_merge_by_the_distances_of_their_rows(kind):
    rule, _ = KINDS[kind]
    rng = np.random.default_rng(3)
    parts = [rng.normal(size=(n, 6)) + 4 * rng.normal(size=6) for n in (3, 1, 7, 2, 12)]
    if kind == "cosine":
        parts = [unit(part) for part in parts]
    means = np.array([part.mean(axis=0) for part in parts])
    sizes = np.array([len(part) for part in parts])
    spreads = np.array([part.var(axis=0).sum() for part in parts])
    merges, heights = link_groups(means, sizes, spreads, rule)

    def apart(a, b):
        if kind == "cosine":
            return np.mean(1 - a @ b.T)
        step = np.sum((a.mean(axis=0) - b.mean(axis=0)) ** 2)
        return np.sqrt(2 * len(a) * len(b) / (len(a) + len(b)) * step)

    for (a, b), height in zip(merges, heights, strict=True):
        left = [node for node, part in enumerate(parts) if part is not None]
        apart_now = {
            (i, j): apart(parts[i], parts[j]) for i in left for j in left if i < j
        }
        assert min(apart_now, key=apart_now.get) == (a, b)
        assert height == pytest.approx(apart_now[a, b], rel=1e-9)
        parts.append(np.concatenate([parts[a], parts[b]]))
        parts[a] = parts[b] = None


def clusters_of(selector, X, k):
    labels = clone(selector).set_params(n_select=k).fit(X).labels_
    return {frozenset(np.flatnonzero(labels == label)) for label in np.unique(labels)}


@given(repeated_differences(), hierarchical)
@settings(max_examples=15)
def test_duplicates_do_not_count_against_max_exact(X, clustering):
    n_distinct = len(np.unique(X, axis=0))
    exact = DiffUseSelector(clustering=clustering, random_state=0)
    small = clone(exact).set_params(max_exact=max(n_distinct, 2))
    for k in range(1, n_distinct + 1):
        assert len(clusters_of(small, X, k)) == len(clusters_of(exact, X, k))
    assert clusters_of(small, X, n_distinct) == clusters_of(exact, X, n_distinct)


@pytest.mark.parametrize("clustering", ["ward", "cosine"])
def test_repeated_rows_are_clustered_exactly_whatever_their_number(clustering):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(30, 5))[rng.integers(30, size=200)]
    exact = DiffUseSelector(clustering=clustering, random_state=0)
    for k in range(1, 31):
        small = clone(exact).set_params(max_exact=30)
        assert clusters_of(small, X, k) == clusters_of(exact, X, k)


@given(repeated_differences(), hierarchical, rules, st.integers(2, 6))
@settings(max_examples=15)
def test_micro_clusters_keep_what_selectors_promise(X, clustering, rule, max_exact):
    n_distinct = len(np.unique(X, axis=0))
    selector = DiffUseSelector(
        n_select=len(X),
        clustering=clustering,
        representative=rule,
        max_exact=max_exact,
        random_state=0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ApproximateClusteringWarning)
        selector.fit(X)
        again = clone(selector).fit(X)
    assert selector.n_selected_ == n_distinct
    order = selector.annotation_order()
    np.testing.assert_array_equal(np.sort(order), np.arange(len(X)))
    np.testing.assert_array_equal(order, again.annotation_order())
    assert len(np.unique(X[order[:n_distinct]], axis=0)) == n_distinct
    for k in range(1, n_distinct + 1):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ApproximateClusteringWarning)
            cut = clone(selector).set_params(n_select=k).fit(X)
        assert len(set(cut.labels_[order[:k]])) == k
        np.testing.assert_array_equal(cut.selected_indices_, selector.select(k))


@pytest.mark.parametrize("clustering", ["ward", "cosine"])
def test_clear_clusters_are_found_from_micro_clusters(clustering):
    rng = np.random.default_rng(5)
    truth = rng.integers(8, size=3000)
    X = 10 * rng.normal(size=(8, 20))[truth] + rng.normal(size=(3000, 20))
    selector = DiffUseSelector(8, clustering=clustering, max_exact=50, random_state=0)
    with pytest.warns(ApproximateClusteringWarning):
        labels = selector.fit(X).labels_
    assert len(set(zip(labels, truth, strict=True))) == 8


@pytest.mark.parametrize(
    "X",
    [
        # Most rows are in one micro-cluster, which is still too large.
        np.r_[1e-6 * np.arange(400.0), 10.0 ** np.arange(40)][:, np.newaxis],
        # Squares of the differences underflow.
        1 + 1e-300 * np.arange(50.0)[:, np.newaxis],
        # All are parallel.
        np.arange(1.0, 300.0)[:, np.newaxis] * [[1.0, 2.0]],
    ],
    ids=["skewed", "underflow", "parallel"],
)
@pytest.mark.parametrize("clustering", ["ward", "cosine"])
def test_micro_clusters_of_degenerate_pools(X, clustering):
    selector = DiffUseSelector(clustering=clustering, max_exact=20, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ApproximateClusteringWarning)
        selector.fit(X)
    order = selector.annotation_order()
    np.testing.assert_array_equal(np.sort(order), np.arange(len(X)))


@pytest.mark.parametrize(
    ("make", "clustering"),
    [
        (lambda rng: rng.normal(size=(2500, 1)), "cosine"),
        (lambda rng: rng.lognormal(0, 10, size=(2500, 1)), "ward"),
    ],
)
def test_clusters_that_cannot_be_cut_do_not_exhaust_the_stack(make, clustering):
    X = make(np.random.default_rng(10))
    selector = DiffUseSelector(clustering=clustering, max_exact=2000, random_state=0)
    with pytest.warns(ApproximateClusteringWarning):
        order = selector.fit(X).annotation_order()
    np.testing.assert_array_equal(np.sort(order), np.arange(len(X)))


@pytest.mark.parametrize("at_once", [2, 8, 64])
def test_bisections_make_no_more_clusters_than_asked_for(monkeypatch, at_once):
    monkeypatch.setattr(_trees, "_AT_ONCE", at_once)
    builder, ones = _trees.TreeBuilder(10, 0), np.ones(200)
    plain = np.random.default_rng(14).normal(size=(200, 2))
    assert len(set(builder._bisected(plain, ones, 70))) == 70
    outliers = 2.0 ** -np.arange(200.0)[:, np.newaxis]
    assert builder._bisected(outliers, ones, 70).max() < 70


def test_rows_that_lose_one_at_a_time_do_not_exhaust_the_stack():
    X = 2.0 ** -np.arange(900.0)[:, np.newaxis]
    selector = DiffUseSelector(max_exact=2, random_state=0)
    with pytest.warns(ApproximateClusteringWarning):
        order = selector.fit(X).annotation_order()
    np.testing.assert_array_equal(np.sort(order), np.arange(len(X)))


def test_repeated_rows_of_nearly_one_direction_are_clustered_exactly():
    rng = np.random.default_rng(11)
    rows = rng.normal(size=(60, 8)) + 1e8 * rng.normal(size=8)
    X = np.repeat(rows, 3, axis=0)
    exact = DiffUseSelector(20, clustering="cosine").fit(X).labels_
    small = DiffUseSelector(20, clustering="cosine", max_exact=60).fit(X).labels_
    assert adjusted_rand_score(exact, small) > 0.99


def test_a_failed_fit_leaves_the_selector_as_it_was(monkeypatch):
    rng = np.random.default_rng(12)
    selector = DiffUseSelector(5).fit(rng.normal(size=(30, 2)))
    order = selector.annotation_order()
    monkeypatch.setattr(_memory, "available_memory", lambda: 0)
    with pytest.raises(MemoryError):
        selector.fit(rng.normal(size=(50, 2)))
    np.testing.assert_array_equal(selector.annotation_order(), order)
    with pytest.raises(MemoryError):
        DiffUseSelector().fit(rng.normal(size=(50, 2)))
    fresh = DiffUseSelector()
    with pytest.raises(MemoryError):
        fresh.fit(rng.normal(size=(50, 2)))
    with pytest.raises(NotFittedError):
        fresh.select(2)


def test_threads_of_python_leave_the_limits_of_others_alone():
    def limits():
        return [library["num_threads"] for library in threadpool_info()]

    rng = np.random.default_rng(13)
    pools = [rng.normal(size=(n, 20)) for n in rng.integers(50, 400, size=12)]
    with threadpool_limits(2):
        before = limits()
        with ThreadPoolExecutor(4) as executor:
            list(executor.map(lambda X: DiffUseSelector(5).fit(X), pools))
        assert limits() == before


def test_large_clusters_of_k_means_are_split_by_micro_clusters():
    X = np.random.default_rng(9).normal(size=(500, 4))
    selector = DiffUseSelector(4, clustering="kmeans", max_exact=30, random_state=0)
    selector.fit(X)
    with pytest.warns(ApproximateClusteringWarning) as found:
        order = selector.annotation_order()
    assert len(found) == 1
    np.testing.assert_array_equal(np.sort(order), np.arange(500))
    assert set(selector.labels_[order[:4]]) == {0, 1, 2, 3}


def test_the_warning_names_the_switch_and_what_it_takes():
    X = np.random.default_rng(6).normal(size=(120, 3))
    with pytest.warns(ApproximateClusteringWarning) as found:
        DiffUseSelector(max_exact=100, random_state=0).fit(X)
    assert len(found) == 1
    assert found[0].filename == __file__
    assert str(found[0].message) == (
        "120 distinct rows are more than max_exact=100: they are clustered from "
        "micro-clusters on. DiffUseSelector(max_exact=120) clusters them one by one, "
        "in 0.000115 GB of memory; random_state decides which micro-clusters there are."
    )
    DiffUseSelector(max_exact=120).fit(X)


def test_memory_is_asked_for_before_it_is_taken(monkeypatch):
    X = np.random.default_rng(7).normal(size=(100, 3))
    monkeypatch.setattr(_memory, "available_memory", lambda: 70_000)
    with pytest.raises(MemoryError) as found:
        DiffUseSelector().fit(X)
    assert str(found.value) == (
        "Clustering 100 rows one by one needs 8e-05 GB of memory, and 7e-05 GB are "
        "free; set max_exact below 100 (it is 10000), and micro-clusters of them are "
        "clustered."
    )
    with pytest.warns(ApproximateClusteringWarning):
        DiffUseSelector(max_exact=50, random_state=0).fit(X)
    monkeypatch.setattr(_memory, "available_memory", lambda: None)
    DiffUseSelector().fit(X)


def test_free_memory_is_that_of_the_machine_or_of_its_group(monkeypatch, tmp_path):
    assert 1e6 < _memory.available_memory() < 1e15
    limit, used, stat = (tmp_path / name for name in ("max", "current", "stat"))
    group = (str(limit), str(used), str(stat), "inactive_file")
    monkeypatch.setattr(_memory, "_GROUPS", (group,))
    limit.write_text("3000000\n")
    used.write_text("2900000\n")
    # Files that were read are no memory that is lost.
    stat.write_text("anon 1000000\nfile 1900000\ninactive_file 1900000\n")
    assert _memory.available_memory() == 2_000_000
    limit.write_text("max\n")
    assert _memory.available_memory() > 2_000_000
    monkeypatch.setattr(_memory, "_free_of_machine", lambda: None)
    monkeypatch.setattr(_memory, "_free_of_process", lambda: None)
    assert _memory.available_memory() is None


def test_a_limit_of_the_process_is_seen():
    resource = pytest.importorskip("resource")
    code = (
        "import numpy as np, skdiffuse; from skdiffuse import _memory;"
        "print(_memory._free_of_process())"
    )

    def limited():
        resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))

    run = subprocess.run(
        [sys.executable, "-c", code],
        preexec_fn=limited,
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
    )
    assert 0 < int(run.stdout) < 2 << 30


@pytest.mark.parametrize("clustering", ["ward", "cosine"])
@pytest.mark.parametrize("max_exact", [10_000, 60])
def test_the_number_of_threads_decides_nothing(clustering, max_exact):
    # Ties abound: the last digit would tell.
    X = np.random.default_rng(8).integers(-2, 3, size=(400, 37)).astype(float)
    selector = DiffUseSelector(
        clustering=clustering, max_exact=max_exact, random_state=0
    )
    orders = []
    for threads in (1, 2, 4):
        with threadpool_limits(threads), warnings.catch_warnings():
            warnings.simplefilter("ignore", ApproximateClusteringWarning)
            orders.append(selector.fit(X).annotation_order())
    np.testing.assert_array_equal(orders[0], orders[1])
    np.testing.assert_array_equal(orders[0], orders[2])


@pytest.mark.parametrize("max_exact", [1, 0, 2.5, None, "all"])
def test_max_exact_is_checked(max_exact):
    with pytest.raises(ValueError, match="'max_exact' parameter"):
        DiffUseSelector(max_exact=max_exact).fit([[0.0], [1.0]])
