import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from strategies import seeds

from skdiffuse import LabeledKFold, PPIMeanEstimator
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
