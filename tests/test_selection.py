import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import linkage
from scipy.stats import chisquare
from sklearn.cluster import (
    DBSCAN,
    AgglomerativeClustering,
    Birch,
    BisectingKMeans,
    KMeans,
    SpectralClustering,
)
from sklearn.metrics import adjusted_rand_score
from strategies import (
    clusterings,
    differences,
    hierarchical,
    repeated_differences,
    rules,
    seeds,
)

from skdiffuse import DiffUseSelector, NormSelector, RandomSelector
from skdiffuse.datasets import make_preference_pool
from skdiffuse.metrics import winning_distance


def reference_clusters(X, clustering, k):
    """Cut scipy's tree at k clusters, from the definition: undo the last merges."""
    tree = (
        linkage(X, "ward")
        if clustering == "ward"
        else linkage(X, "average", metric="cosine")
    )
    clusters = {i: [i] for i in range(len(X))}
    for step, (left, right) in enumerate(tree[: len(X) - k, :2].astype(int)):
        clusters[len(X) + step] = clusters.pop(left) + clusters.pop(right)
    return {frozenset(rows) for rows in clusters.values()}


def reference_cost(X, rows, rule):
    """What the chosen row of a cluster must minimise, from the definition."""
    cluster = X[rows]
    centroid = cluster.mean(axis=0)
    if rule == "centroid":
        return [np.linalg.norm(x - centroid) for x in cluster]
    if rule == "cosine":
        return [
            -(x @ centroid) / (np.linalg.norm(x) * np.linalg.norm(centroid))
            for x in cluster
        ]
    return [-np.linalg.norm(x) for x in cluster]


def clusters_of(labels):
    return {frozenset(np.flatnonzero(labels == label)) for label in np.unique(labels)}


@given(differences(max_rows=25), hierarchical, rules)
def test_every_cut_and_representative_equals_a_plain_reference(X, clustering, rule):
    selector = DiffUseSelector(clustering=clustering, representative=rule).fit(X)
    for k in range(1, len(X) + 1):
        expected = (
            reference_clusters(X, clustering, k) if len(X) > 1 else {frozenset([0])}
        )
        chosen = selector.select(k)
        refitted = selector.set_params(n_select=k, random_state=0).fit(X)
        assert clusters_of(refitted.labels_) == expected
        assert sorted(len(c & set(chosen)) for c in expected) == [1] * k
        if rule == "random":
            continue
        for cluster in expected:
            rows = sorted(cluster)
            cost = dict(zip(rows, reference_cost(X, rows, rule), strict=True))
            row = next(iter(cluster & set(chosen)))
            best = min(cost.values())
            assert cost[row] <= best + 1e-9 * abs(best)


@given(differences(max_rows=25), hierarchical, rules)
def test_nested_order_equals_a_plain_reference(X, clustering, rule):
    selector = DiffUseSelector(
        clustering=clustering, representative=rule, random_state=0
    ).fit(X)
    order = selector.annotation_order()
    assert sorted(order) == list(range(len(X)))
    for k in range(1, len(X) + 1):
        expected = (
            reference_clusters(X, clustering, k) if len(X) > 1 else {frozenset([0])}
        )
        assert sorted(len(c & set(order[:k])) for c in expected) == [1] * k
        np.testing.assert_array_equal(selector.annotation_order(k), order[:k])
        # The row that is new at k represents the part that has no judged row yet.
        if rule != "random":
            new = next(c for c in expected if order[k - 1] in c)
            rows = sorted(new)
            cost = dict(zip(rows, reference_cost(X, rows, rule), strict=True))
            best = min(cost.values())
            assert cost[order[k - 1]] <= best + 1e-9 * abs(best)
        if rule in ("max_norm", "random"):
            assert set(order[:k]) == set(selector.select(k))


@pytest.mark.parametrize("k", [2, 7, 30])
def test_clusters_are_those_of_scikit_learn(k):
    X, _ = make_preference_pool(n_samples=200, random_state=0)
    for clustering, twin in {
        "ward": AgglomerativeClustering(k),
        "cosine": AgglomerativeClustering(k, metric="cosine", linkage="average"),
    }.items():
        labels = DiffUseSelector(k, clustering=clustering).fit(X).labels_
        assert adjusted_rand_score(labels, twin.fit_predict(X)) == 1
    selector = DiffUseSelector(k, clustering="kmeans", random_state=0).fit(X)
    twin = KMeans(k, random_state=selector._seed).fit(X)
    assert adjusted_rand_score(selector.labels_, twin.labels_) == 1


@given(repeated_differences(), clusterings, rules, st.integers(1, 45))
def test_each_cluster_holds_exactly_one_selected_row(X, clustering, rule, k):
    selector = DiffUseSelector(
        k, clustering=clustering, representative=rule, random_state=0
    ).fit(X)
    chosen = selector.selected_indices_
    assert selector.n_selected_ == len(chosen) <= min(k, len(X))
    assert selector.n_selected_ <= len(np.unique(X, axis=0))
    if clustering != "kmeans":
        assert selector.n_selected_ == min(k, len(np.unique(X, axis=0)))
    np.testing.assert_array_equal(selector.labels_[chosen], np.arange(len(chosen)))
    np.testing.assert_array_equal(np.unique(selector.labels_), np.arange(len(chosen)))
    assert (np.diff(chosen) > 0).all()
    np.testing.assert_array_equal(selector.select(k), chosen)
    np.testing.assert_array_equal(selector.get_support().nonzero()[0], chosen)
    np.testing.assert_array_equal(selector.get_support(indices=True), chosen)
    np.testing.assert_array_equal(selector.representatives_, X[chosen])
    # Identical rows are never separated.
    for row in np.unique(X, axis=0):
        same = (row == X).all(axis=1)
        assert len(np.unique(selector.labels_[same])) == 1


@given(repeated_differences(), clusterings, rules)
def test_identical_outputs_cost_at_most_one_label(X, clustering, rule):
    selector = DiffUseSelector(
        3, clustering=clustering, representative=rule, random_state=0
    ).fit(X)
    order = selector.annotation_order()
    assert sorted(order) == list(range(len(X)))
    zero = ~X.any(axis=1)
    if zero.any():
        n_rest = np.count_nonzero(~zero)
        assert np.count_nonzero(zero[order[: n_rest + 1]]) == 1
    # Duplicates follow when every distinct row was judged.
    n_distinct = len(np.unique(X, axis=0))
    assert len(np.unique(X[order[:n_distinct]], axis=0)) == n_distinct


@given(repeated_differences(), clusterings, rules, st.integers(1, 20))
def test_swapping_a_and_b_keeps_the_selection(X, clustering, rule, k):
    selector = DiffUseSelector(
        k, clustering=clustering, representative=rule, random_state=0
    )
    one = selector.fit(X).annotation_order(), selector.selected_indices_
    other = selector.fit(-X).annotation_order(), selector.selected_indices_
    np.testing.assert_array_equal(one[0], other[0])
    np.testing.assert_array_equal(one[1], other[1])


@given(differences(), clusterings, rules, st.integers(-300, 300))
def test_scale_does_not_matter(X, clustering, rule, exponent):
    selector = DiffUseSelector(
        5, clustering=clustering, representative=rule, random_state=0
    )
    expected = selector.fit(X).annotation_order()
    scaled = selector.fit(np.ldexp(X, exponent)).annotation_order()
    np.testing.assert_array_equal(scaled, expected)


@pytest.mark.parametrize("scale", [3, 1 / 3, 7, -1])
def test_rounding_names_no_representative_of_rows_that_cancel_out(scale):
    X = np.random.default_rng(0).normal(size=(300, 8))
    X -= X.mean(axis=0)
    first = DiffUseSelector(n_select=1).fit(scale * X).selected_indices_
    assert first.tolist() == [np.argmax(np.linalg.norm(X, axis=1))]


@given(
    differences(),
    hierarchical,
    st.sampled_from(["centroid", "cosine", "max_norm"]),
    st.integers(1, 20),
    seeds,
)
def test_order_of_the_rows_does_not_matter(X, clustering, rule, k, seed):
    selector = DiffUseSelector(k, clustering=clustering, representative=rule)
    chosen = selector.fit(X).selected_indices_
    order = selector.annotation_order()
    permutation = np.random.default_rng(seed).permutation(len(X))
    permuted = selector.fit(X[permutation])
    assert set(permutation[permuted.selected_indices_]) == set(chosen)
    np.testing.assert_array_equal(permutation[permuted.annotation_order()], order)


@pytest.mark.parametrize("clustering", ["ward", "cosine", "kmeans"])
@pytest.mark.parametrize("rule", ["centroid", "cosine", "max_norm", "random"])
def test_degenerate_pools(clustering, rule):
    def fit(X, n_select=3):
        return DiffUseSelector(
            n_select, clustering=clustering, representative=rule, random_state=0
        ).fit(X)

    assert fit([[1.0, 2.0]]).selected_indices_.tolist() == [0]
    assert fit(np.zeros((5, 2))).n_selected_ == 1
    assert fit(np.zeros((5, 2))).annotation_order(5).size == 5
    assert fit(np.ones((5, 2))).n_selected_ == 1
    assert fit([[0.0], [1.0], [1.0]], n_select=50).n_selected_ == 2
    constant_column = np.column_stack([np.arange(6.0), np.full(6, 7.0)])
    assert fit(constant_column).n_selected_ == 3
    # One column has two directions only, but six different rows.
    assert fit(np.arange(-3.0, 3.0)[:, np.newaxis], n_select=6).n_selected_ == 6
    huge = np.random.default_rng(0).normal(size=(20, 3)) * 1e300
    assert fit(huge).n_selected_ == 3
    assert np.isfinite(fit(huge).annotation_order()).all()
    tiny = np.random.default_rng(0).normal(size=(20, 3)) * 1e-310
    assert fit(tiny).n_selected_ == 3


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int8, bool])
def test_dtypes(dtype):
    X = (np.random.default_rng(0).normal(size=(30, 4)) * 3).astype(dtype)
    selector = DiffUseSelector(5).fit(X)
    expected = DiffUseSelector(5).fit(X.astype(np.float64))
    np.testing.assert_array_equal(
        selector.selected_indices_, expected.selected_indices_
    )
    assert selector.transform(X).dtype == (
        np.float32 if dtype == np.float32 else np.float64
    )


def test_share_of_the_rows_as_budget():
    X = np.random.default_rng(0).normal(size=(30, 2))
    assert DiffUseSelector(0.1).fit(X).n_selected_ == 3
    assert DiffUseSelector(1.0).fit(X).n_selected_ == 30
    assert DiffUseSelector(0.001).fit(X).n_selected_ == 1


@pytest.mark.parametrize(
    "clusterer",
    [
        KMeans(),
        BisectingKMeans(),
        AgglomerativeClustering(linkage="complete"),
        Birch(threshold=0.01),
        SpectralClustering(),
    ],
    ids=lambda clusterer: type(clusterer).__name__,
)
def test_any_clusterer_with_a_number_of_clusters(clusterer):
    X, _ = make_preference_pool(n_samples=80, n_features=3, random_state=0)
    selector = DiffUseSelector(6, clustering=clusterer, random_state=0).fit(X)
    assert selector.n_selected_ == 6
    assert clusterer.n_clusters in (3, 8, 2)
    np.testing.assert_array_equal(selector.fit(X).select(6), selector.select(6))
    order = selector.annotation_order()
    assert sorted(order) == list(range(80))
    assert len(set(selector.labels_[order[:6]])) == 6
    assert len(selector.select(4)) == 4


def test_parameters_of_the_clusterer_are_reachable():
    selector = DiffUseSelector(3, clustering=KMeans()).set_params(clustering__n_init=2)
    assert selector.get_params()["clustering__n_init"] == 2


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"clustering": DBSCAN()}, "no parameter n_clusters"),
        ({"clustering": "spectral"}, "'clustering' parameter"),
        ({"representative": "median"}, "'representative' parameter"),
        ({"n_select": 0}, "'n_select' parameter"),
        ({"n_select": 1.5}, "'n_select' parameter"),
    ],
)
def test_bad_parameters_are_refused(params, message):
    with pytest.raises(ValueError, match=message):
        DiffUseSelector(**params).fit([[0.0], [1.0]])


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_rows_that_are_not_finite_are_named(value):
    X = np.zeros((9, 2))
    X[[2, 3, 5, 7, 8], 1] = value
    with pytest.raises(ValueError, match="rows 2, 3, 5 and 2 more; drop"):
        DiffUseSelector(2).fit(X)


@pytest.mark.parametrize("count", [0, -1, 2.0, True, "3"])
def test_counts_are_checked(count):
    selector = DiffUseSelector(2).fit([[0.0], [1.0]])
    with pytest.raises(ValueError, match="pass an int >= 1"):
        selector.select(count)
    with pytest.raises(ValueError, match="pass an int >= 1"):
        selector.annotation_order(count)
    with pytest.raises(ValueError, match="more than the 2 rows"):
        selector.annotation_order(3)


@pytest.mark.simulation
def test_inclusion_probabilities_of_random_representatives():
    X, _ = make_preference_pool(n_samples=60, n_features=3, random_state=0)
    runs = 4000
    hits = np.zeros(60)
    nested_hits = np.zeros(60)
    for seed in range(runs):
        selector = DiffUseSelector(6, representative="random", random_state=seed).fit(X)
        hits[selector.selected_indices_] += 1
        if seed < 400:
            nested_hits[selector.annotation_order(6)] += 1
    p = selector.inclusion_probabilities_
    assert p.sum() == pytest.approx(6)
    error = np.sqrt(p * (1 - p) / runs)
    # 4.5 standard errors for the largest of 60 deviations.
    assert (np.abs(hits / runs - p) <= 4.5 * error).all()
    assert (np.abs(nested_hits / 400 - p) <= 4.5 * np.sqrt(p * (1 - p) / 400)).all()
    assert DiffUseSelector(6).fit(X).inclusion_probabilities_ is None


def test_one_seed_decides_everything():
    X, _ = make_preference_pool(n_samples=100, random_state=0)
    for params in (
        {"clustering": "kmeans"},
        {"representative": "random"},
        {"clustering": KMeans()},
    ):
        runs = [
            DiffUseSelector(10, random_state=seed, **params).fit(X).annotation_order()
            for seed in (1, 1, 2)
        ]
        np.testing.assert_array_equal(runs[0], runs[1])
        assert (runs[0] != runs[2]).any()


def test_chosen_differences_overstate_the_winning_distance():
    chosen, at_random, truth = [], [], []
    rng = np.random.default_rng(0)
    for seed in range(200):
        X, y = make_preference_pool(
            n_samples=200, winning_distance=0.2, random_state=seed
        )
        selector = DiffUseSelector(30).fit(X)
        chosen.append(winning_distance(y[selector.selected_indices_]))
        at_random.append(winning_distance(rng.choice(y, 30, replace=False)))
        truth.append(winning_distance(y))
    bias = np.array([chosen, at_random]) - truth
    error = bias.std(axis=1) / np.sqrt(200)
    assert bias[0].mean() > 5 * error[0]
    assert abs(bias[1].mean()) < 3 * error[1]


@pytest.mark.parametrize("clustering", ["ward", "kmeans", AgglomerativeClustering()])
def test_changing_x_after_fit_changes_nothing(clustering):
    X, _ = make_preference_pool(n_samples=40, random_state=0)
    selector = DiffUseSelector(4, clustering=clustering, random_state=0).fit(X)
    before = selector.select(7), selector.annotation_order()
    X[:] = 0
    np.testing.assert_array_equal(selector.select(7), before[0])
    np.testing.assert_array_equal(selector.annotation_order(), before[1])


@pytest.mark.parametrize(("dtype", "scale"), [(np.float64, 1e200), (np.float32, 1e30)])
def test_distances_do_not_overflow_before_they_must(dtype, scale):
    X = np.array([[1.0], [-1.0], [0.0]], dtype) * dtype(scale)
    distances = DiffUseSelector(3).fit(X).transform(X)
    expected = np.abs(X - X.T)
    np.testing.assert_allclose(distances, expected, rtol=1e-6)
    assert distances.dtype == dtype
    largest = np.array([[1.0], [-1.0]], dtype) * np.finfo(dtype).max
    with pytest.raises(ValueError, match="divide X by a constant"):
        DiffUseSelector(2).fit(largest).transform(largest)


def test_own_clusterer_never_sees_squares_that_overflow():
    X = np.random.default_rng(0).normal(size=(10, 2)) * 1e300
    with pytest.raises(ValueError, match="overflow float64"):
        DiffUseSelector(2, clustering=KMeans()).fit(X)


@pytest.mark.parametrize("clusterer", [Birch(), AgglomerativeClustering()])
def test_one_cluster_needs_no_clusterer(clusterer):
    assert (
        DiffUseSelector(3, clustering=clusterer).fit(np.ones((4, 2))).n_selected_ == 1
    )
    assert DiffUseSelector(3, clustering=clusterer).fit([[1.0]]).n_selected_ == 1


def test_parameters_set_after_fit_wait_for_the_next_fit():
    X, _ = make_preference_pool(n_samples=40, random_state=0)
    selector = DiffUseSelector(4, clustering="kmeans", random_state=0).fit(X)
    before = selector.select(3)
    selector.set_params(clustering="ward")
    np.testing.assert_array_equal(selector.select(3), before)


def test_integers_that_no_float_can_hold():
    with pytest.raises(ValueError, match="no float can hold"):
        DiffUseSelector(2).fit([[10**400], [1]])


def test_baselines_from_the_definition():
    X, _ = make_preference_pool(n_samples=60, identical_rate=0.2, random_state=0)
    norms = np.linalg.norm(X, axis=1)
    by_norm = NormSelector(10).fit(X)
    order = by_norm.annotation_order()
    np.testing.assert_array_equal(norms[order], np.sort(norms)[::-1])
    np.testing.assert_array_equal(order[norms[order] == 0], np.flatnonzero(norms == 0))
    random = RandomSelector(10, random_state=0).fit(X)
    assert sorted(random.annotation_order()) == list(range(60))
    assert (random.annotation_order() != np.arange(60)).any()
    np.testing.assert_array_equal(random.inclusion_probabilities_, 10 / 60)
    for selector in (by_norm, random):
        for k in (1, 10, 60, 99):
            np.testing.assert_array_equal(
                selector.select(k), np.sort(selector.annotation_order()[:k])
            )
        np.testing.assert_array_equal(selector.selected_indices_, selector.select(10))
    assert by_norm.inclusion_probabilities_ is None
    np.testing.assert_array_equal(random.draw_weights_, 1 / 60)
    for selector in (by_norm, DiffUseSelector(3).fit(X)):
        assert selector.draw_weights_ is None
        assert selector.draw_probabilities_ is None


@pytest.mark.simulation
def test_random_order_is_uniform():
    first = [
        RandomSelector(random_state=seed).fit(np.eye(4)).annotation_order(2)
        for seed in range(6000)
    ]
    _, counts = np.unique(first, axis=0, return_counts=True)
    assert len(counts) == 12
    assert chisquare(counts).pvalue > 1e-3
