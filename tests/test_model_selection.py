import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from strategies import seeds

from skdiffuse import (
    LabeledKFold,
    PPIMeanEstimator,
    RidgePPIMeanEstimator,
    SigmoidPPIMeanEstimator,
    neg_labeled_squared_error,
)
from skdiffuse._validation import check_groups
from skdiffuse.datasets import make_judged_pool


@given(seeds, st.integers(2, 5), st.integers(0, 20), st.integers(0, 20), st.booleans())
def test_only_labelled_rows_are_split(seed, n_splits, extra, n_unlabeled, shuffle):
    rng = np.random.default_rng(seed)
    y = np.concatenate(
        [rng.normal(size=n_splits + extra), np.full(n_unlabeled, np.nan)]
    )
    rng.shuffle(y)
    folds = LabeledKFold(
        n_splits, shuffle=shuffle, random_state=seed if shuffle else None
    )
    labeled, unlabeled = (set(np.flatnonzero(m)) for m in (~np.isnan(y), np.isnan(y)))
    tests = []
    for train, test in folds.split(np.zeros(len(y)), y):
        assert set(train) | set(test) == set(range(len(y)))
        assert not set(train) & set(test)
        assert unlabeled <= set(train)
        tests.extend(test)
    assert sorted(tests) == sorted(labeled)
    assert folds.get_n_splits() == n_splits


def test_grid_search_with_unlabelled_rows():
    X, y = make_judged_pool(500, 60, judge=[0.95, 0.0], random_state=0)
    pipeline = make_pipeline(StandardScaler(), PPIMeanEstimator())
    grid = {"ppimeanestimator__lam": [0.0, 0.1, 5.0, [0.0, 0.1], "ols", "ppi++"]}
    search = GridSearchCV(
        pipeline, grid, cv=LabeledKFold(5, shuffle=True, random_state=0)
    ).fit(X, y)
    scores = search.cv_results_["mean_test_score"]
    assert np.isfinite(scores).all()
    assert search.best_params_["ppimeanestimator__lam"] in ("ols", "ppi++")
    # A classical mean explains nothing, a weight of 5 harms.
    assert scores[2] < scores[0] <= 0 < scores[4]
    best = search.best_estimator_[-1]
    assert (best.n_labeled_, best.n_unlabeled_) == (60, 440)
    # Leave one out: one labelled row a fold has a score, if not a telling one.
    scores = cross_val_score(PPIMeanEstimator(), X, y, cv=LabeledKFold(60))
    assert np.isfinite(scores).all()
    errors = cross_val_score(
        PPIMeanEstimator(), X, y, cv=LabeledKFold(60), scoring="neg_mean_squared_error"
    )
    assert np.isfinite(errors).all()


def test_arguments_are_checked():
    with pytest.raises(ValueError, match="n_splits=1"):
        LabeledKFold(1)
    with pytest.raises(ValueError, match="random_state"):
        LabeledKFold(3, random_state=0)
    with pytest.raises(ValueError, match="y is None"):
        next(LabeledKFold().split([[1]]))
    with pytest.raises(ValueError, match="n_splits=5 is more than the 2 labelled"):
        next(LabeledKFold().split([[1]] * 3, [1, np.nan, 2]))
    with pytest.raises(ValueError, match="infinity in row 1"):
        next(LabeledKFold(2).split([[1]] * 3, [1, np.inf, 2]))
    with pytest.raises(ValueError, match="holds a word"):
        next(LabeledKFold(2).split([[1]] * 2, ["yes", "no"]))
    with pytest.raises(ValueError, match="inconsistent"):
        next(LabeledKFold().split([[1]] * 3, [1, 2]))
    assert "n_splits=3" in repr(LabeledKFold(3))


def folds_of(splitter, y, groups):
    """Return the folds as lists, so that they can be compared."""
    return [
        (train.tolist(), test.tolist())
        for train, test in splitter.split(np.zeros(len(y)), y, groups)
    ]


@given(seeds, st.integers(2, 4), st.integers(0, 20), st.integers(0, 20), st.booleans())
def test_no_group_is_tested_in_two_folds(seed, n_splits, extra, n_unlabeled, shuffle):
    rng = np.random.default_rng(seed)
    n_groups = n_splits + rng.integers(0, 4)
    groups = np.concatenate(
        [np.arange(n_groups), rng.integers(0, n_groups + 2, size=extra + n_unlabeled)]
    )
    y = rng.normal(size=len(groups))
    y[len(y) - n_unlabeled :] = np.nan
    order = rng.permutation(len(y))
    groups, y = groups[order], y[order]
    options = {"shuffle": shuffle, "random_state": seed if shuffle else None}
    splitter = LabeledKFold(n_splits, **options)
    labeled, unlabeled = np.flatnonzero(~np.isnan(y)), np.flatnonzero(np.isnan(y))
    folds = folds_of(splitter, y, groups)
    assert len(folds) == n_splits == splitter.get_n_splits(y, y, groups)
    for train, test in folds:
        assert sorted(train + test) == list(range(len(y)))
        assert set(unlabeled) <= set(train)
        assert not set(groups[test]) & set(groups[np.setdiff1d(labeled, test)])
    assert sorted(row for _, test in folds for row in test) == labeled.tolist()
    twin = GroupKFold(n_splits, **options).split(labeled, groups=groups[labeled])
    assert [test for _, test in folds] == [labeled[test].tolist() for _, test in twin]


def test_groups_may_be_any_labels_in_any_container():
    y = np.array([1.0, np.nan, 0.0, 1.0, np.nan, 0.0, 1.0])
    numbers = np.array([3, 3, 10, 3, 5, 10, 7])
    splitter = LabeledKFold(3)
    expected = folds_of(splitter, y, numbers)
    assert [test for _, test in expected] == [[2, 5], [0, 3], [6]]
    words = [f"prompt {number:02}" for number in numbers]
    with_gaps = [
        word if known else None for word, known in zip(words, y >= 0, strict=True)
    ]
    for groups in (
        numbers.tolist(),
        tuple(numbers),
        pd.Series(numbers, index=range(10, 17)),
        pl.Series(numbers),
        words,
        np.array(words),
        np.array(words, dtype=object),
        pd.Series(words),
        pd.Series(words).astype("category"),
        with_gaps,
        pd.Series(with_gaps),
        pl.Series(with_gaps),
        np.where(np.isnan(y), np.nan, numbers),
        pd.array(numbers, dtype="Int64"),
        [(0, int(number)) for number in numbers],
    ):
        assert folds_of(splitter, y, groups) == expected
    # A number is not the string that looks like it, and neither is less.
    mixed = folds_of(LabeledKFold(2), [1.0, 0.0, 1.0, 0.0], [1, "1", 1, "1"])
    assert [test for _, test in mixed] in ([[0, 2], [1, 3]], [[1, 3], [0, 2]])
    # Identifiers that no float tells apart.
    apart = folds_of(LabeledKFold(2), [1.0, 0.0, np.nan], [2**60, 2**60 + 1, None])
    assert len(apart) == 2


def test_groups_left_out_change_nothing():
    y = np.where(np.arange(20) % 3, np.nan, 1.0)
    for options in ({}, {"shuffle": True, "random_state": 0}):
        labeled = np.flatnonzero(~np.isnan(y))
        twin = KFold(3, **options).split(labeled)
        tests = [test for _, test in folds_of(LabeledKFold(3, **options), y, None)]
        assert tests == [labeled[test].tolist() for _, test in twin]


@given(
    st.sampled_from([st.integers(-3, 3), st.floats(-2, 2), st.text("ab0", max_size=2)])
    .flatmap(lambda names: st.lists(names, min_size=1, max_size=12))
    .map(np.array),
    seeds,
)
def test_groups_of_an_array_are_numbered_as_those_of_a_list(groups, seed):
    rows = np.random.default_rng(seed).permutation(len(groups))[: len(groups) // 2 + 1]
    for read in (None, rows):
        expected = check_groups(groups.tolist(), len(groups), read)
        np.testing.assert_array_equal(check_groups(groups, len(groups), read), expected)
        series = pd.Series(groups)
        np.testing.assert_array_equal(check_groups(series, len(groups), read), expected)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([1, 2, 3], "groups has 3 values, but X has 4 rows; give one"),
        ([1, 1, 2, 1], r"n_splits=2 is more than the 1 groups of the labelled rows"),
        ([1, None, 2, 3], r"groups has no value \(None\) in row 1; give"),
        ([1, np.nan, 2, np.nan], r"groups has no value \(nan\) in rows 1, 3; give"),
        (pd.Series([1, pd.NA, 2, 3], dtype="Int64"), r"no value \(<NA>\) in row 1"),
        (pd.Series(["a", None, "b", "c"]), r"no value \(.*\) in row 1"),
        (pl.Series([1, None, 2, 3]), r"no value \(None\) in row 1"),
        (
            np.array(["2026-01-01", "NaT"] * 2, "M8[D]"),
            r"no value \(NaT\) in rows 1, 3",
        ),
        ([1, [2], 2, 3], r"groups holds \[2\] in row 1, which is no name of a group"),
        ("abcd", "groups is a str; pass a list or a 1-d array"),
        (3, "groups is a int; pass a list"),
        ({1, 2, 3, 4}, "groups is a set; pass a list"),
        (np.ones((4, 1)), r"groups is a ndarray of shape \(4, 1\)"),
        (pd.DataFrame(np.ones((4, 4))), r"groups is a DataFrame of shape \(4, 4\)"),
    ],
)
def test_bad_groups_are_refused(groups, message):
    y = [1.0, 0.0, np.nan, 1.0]
    with pytest.raises(ValueError, match=message):
        folds_of(LabeledKFold(2), y, groups)


@pytest.mark.parametrize("routing", [False, True])
def test_groups_reach_the_splitter(routing):
    X, y = make_judged_pool(90, 60, judge=0.9, random_state=0)
    groups = np.repeat([f"prompt {i}" for i in range(30)], 3)
    splitter = LabeledKFold(4, shuffle=True, random_state=0)
    expected = cross_val_score(
        PPIMeanEstimator(), X, y, cv=list(splitter.split(X, y, groups))
    )
    without = cross_val_score(PPIMeanEstimator(), X, y, cv=splitter)
    assert not np.allclose(expected, without)
    with config_context(enable_metadata_routing=routing):
        estimator, passed = PPIMeanEstimator(), {"groups": groups}
        if routing:
            # The splitter asks for groups by itself; `fit` takes them too if asked to.
            estimator.set_fit_request(groups=False)
            passed = {"params": passed}
        scores = cross_val_score(estimator, X, y, cv=splitter, **passed)
        np.testing.assert_array_equal(scores, expected)
        for copy in (splitter, pickle.loads(pickle.dumps(splitter))):
            search = GridSearchCV(estimator, {"lam": [0.0, "ols"]}, cv=copy)
            search.fit(X, y, groups=groups)
            by_fold = [search.cv_results_[f"split{i}_test_score"][1] for i in range(4)]
            np.testing.assert_array_equal(by_fold, expected)
        np.testing.assert_array_equal(
            cross_val_score(estimator, X, y, cv=splitter, params={}), without
        )


def test_squared_error_of_the_labelled_rows():
    X, y = make_judged_pool(300, 40, judge=0.8, random_state=0)
    labeled = ~np.isnan(y)
    estimator = PPIMeanEstimator().fit(X, y)
    expected = -np.mean((y - estimator.predict(X))[labeled] ** 2)
    assert neg_labeled_squared_error(estimator, X, y) == pytest.approx(expected)
    assert neg_labeled_squared_error(
        estimator, X[labeled], y[labeled]
    ) == pytest.approx(expected)
    row = np.flatnonzero(labeled)[[0]]
    one = neg_labeled_squared_error(estimator, X[row], y[row])
    assert one == pytest.approx(-((y[row] - estimator.predict(X[row])) ** 2).item())
    frame = pl.DataFrame({"judge": X[:, 0]})
    label = pl.Series(y).fill_nan(None)
    assert neg_labeled_squared_error(
        PPIMeanEstimator().fit(frame, label), frame, label
    ) == pytest.approx(expected)
    # A column of predictions is one number a row.
    column = LinearRegression().fit(X[labeled], y[labeled, np.newaxis])
    flat = LinearRegression().fit(X[labeled], y[labeled])
    assert neg_labeled_squared_error(column, X, y) == pytest.approx(
        neg_labeled_squared_error(flat, X, y)
    )


def test_squared_error_scores_where_scikit_learns_is_nan():
    X, y = make_judged_pool(300, 40, judge=0.8, random_state=0)
    ours, theirs = neg_labeled_squared_error, "neg_mean_squared_error"
    for folds in (5, 40):
        cv = LabeledKFold(folds)
        scores, same = (
            cross_val_score(PPIMeanEstimator(), X, y, cv=cv, scoring=scoring)
            for scoring in (ours, theirs)
        )
        np.testing.assert_allclose(scores, same)
    with pytest.raises(ValueError, match="NaN"):
        cross_val_score(
            PPIMeanEstimator(), X, y, cv=KFold(5), scoring=theirs, error_score="raise"
        )
    results = cross_validate(
        PPIMeanEstimator(),
        X,
        y,
        cv=KFold(5),
        scoring=ours,
        return_train_score=True,
        error_score="raise",
    )
    assert np.isfinite([results["train_score"], results["test_score"]]).all()
    search = GridSearchCV(
        PPIMeanEstimator(), {"lam": [0.0, "ols"]}, cv=LabeledKFold(40), scoring=ours
    ).fit(X, y)
    assert search.best_params_ == {"lam": "ols"}
    assert search.score(X, y) == ours(search, X, y)


def test_squared_error_checks_its_arguments():
    X, y = make_judged_pool(100, 30, random_state=0)
    estimator = PPIMeanEstimator().fit(X, y)
    with pytest.raises(ValueError, match="no label to score against"):
        neg_labeled_squared_error(estimator, X, np.full(100, np.nan))
    with pytest.raises(ValueError, match="inconsistent"):
        neg_labeled_squared_error(estimator, X[:3], y)
    with pytest.raises(ValueError, match="infinity in row 1"):
        neg_labeled_squared_error(estimator, X[:2], [0, np.inf])
    with pytest.raises(ValueError, match="overflow"):
        neg_labeled_squared_error(estimator, X[:2], [0, 1e200])
    for weights, message in (
        ([1.0, 1.0], "sample_weight has 2 values"),
        ([1.0, np.nan, 1.0], "sample_weight contains NaN in row 1"),
        ([1.0, -1.0, 1.0], "sample_weight is -1 in row 1"),
        ([0.0, 0.0, 1.0], "sample_weight is .* in every labelled row"),
    ):
        with pytest.raises(ValueError, match=message):
            neg_labeled_squared_error(estimator, X[:3], [1, 0, np.nan], weights)


def test_squared_error_of_weighted_rows_is_that_of_repeated_ones():
    X, y = make_judged_pool(100, 30, judge=0.8, random_state=0)
    estimator = PPIMeanEstimator().fit(X, y)
    labeled = np.flatnonzero(~np.isnan(y))
    times = np.random.default_rng(0).integers(0, 4, size=100)
    again = np.repeat(labeled, times[labeled])
    expected = neg_labeled_squared_error(estimator, X[again], y[again])
    weights = np.where(np.isnan(y), np.nan, times)
    score = neg_labeled_squared_error(estimator, X, y, sample_weight=weights)
    assert score == pytest.approx(expected)


def test_search_between_classes_and_judges_finds_the_useful_judge():
    X, y = make_judged_pool(600, 80, judge=[0.9, 0.0], random_state=0)
    pipeline = Pipeline(
        [("judges", ColumnTransformer([])), ("mean", PPIMeanEstimator())]
    )
    grid = {
        "judges__transformers": [
            [("kept", "passthrough", columns)] for columns in ([0], [1], [0, 1])
        ],
        "mean": [
            PPIMeanEstimator(),
            RidgePPIMeanEstimator(),
            SigmoidPPIMeanEstimator(Cs=[1], cv=3),
        ],
    }
    search = GridSearchCV(
        pipeline,
        grid,
        cv=LabeledKFold(3, shuffle=True, random_state=0),
        scoring=neg_labeled_squared_error,
        error_score="raise",
    ).fit(X, y, groups=np.arange(600) // 2)
    useless = [
        params["judges__transformers"][0][2] == [1]
        for params in search.cv_results_["params"]
    ]
    scores = search.cv_results_["mean_test_score"]
    assert scores[useless].max() < scores[np.logical_not(useless)].min()
    assert search.best_estimator_["mean"].judge_helps_
