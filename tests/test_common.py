"""scikit-learn's own checks of every public estimator."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

import skdiffuse
from skdiffuse import (
    BettingRule,
    DiffUseSelector,
    FixedBudget,
    HypergeometricRule,
    NormSelector,
    PairDifference,
    PPIMeanEstimator,
    PreferenceComparison,
    RandomSelector,
    RidgePPIMeanEstimator,
    SigmoidPPIMeanEstimator,
)

SELECTORS = [
    DiffUseSelector(n_select=3),
    DiffUseSelector(n_select=3, clustering="cosine", representative="cosine"),
    DiffUseSelector(n_select=3, clustering="kmeans", representative="max_norm"),
    DiffUseSelector(n_select=3, representative="random"),
    RandomSelector(n_select=3),
    NormSelector(n_select=3),
    NormSelector(n_select=3, probability=True, random_state=0),
]
RULES = [HypergeometricRule(), BettingRule(), FixedBudget()]
ESTIMATORS = [
    *SELECTORS,
    PPIMeanEstimator(),
    PPIMeanEstimator(lam="ppi++", clip=True),
    PPIMeanEstimator(lam=1.0),
    PPIMeanEstimator(cross_fit=3),
    PPIMeanEstimator(regressor=LinearRegression()),
    RidgePPIMeanEstimator(),
    RidgePPIMeanEstimator(penalty="plugin"),
    SigmoidPPIMeanEstimator(Cs=[0, 1, 100, 1e4]),
    PreferenceComparison(DiffUseSelector(random_state=0)),
    PreferenceComparison(RandomSelector(random_state=0), FixedBudget()),
]


def expected_failures(estimator):
    folds = getattr(estimator, "cross_fit", None) or getattr(
        estimator, "regressor", None
    )
    if not folds:
        return {}
    # As scikit-learn's own estimators that split rows by themselves.
    name = "check_sample_weight_equivalence_on_dense_data"
    return {name: "folds are made of rows: copies of one may be in several"}


# `check_estimator` does not yield these.
MORE_CHECKS = ["check_param_validation", "check_dataframe_column_names_consistency"]
TRANSFORMER_CHECKS = [
    "check_set_output_transform",
    "check_set_output_transform_pandas",
    "check_set_output_transform_polars",
    "check_global_output_transform_pandas",
    "check_global_set_output_transform_polars",
    "check_transformer_get_feature_names_out",
    "check_transformer_get_feature_names_out_pandas",
]


@pytest.mark.filterwarnings("ignore:Skipping check:sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_scikit_learn_check(estimator, check):
    check(estimator)


# scikit-learn mixes frames and arrays in these checks, and would be warned of it.
@pytest.mark.filterwarnings("ignore:X does not have valid feature names:UserWarning")
@pytest.mark.filterwarnings("ignore:X has feature names:UserWarning")
@pytest.mark.parametrize(
    ("estimator", "name"),
    [(estimator, name) for estimator in ESTIMATORS for name in MORE_CHECKS]
    + [(selector, name) for selector in SELECTORS for name in TRANSFORMER_CHECKS],
)
def test_check_that_is_not_yielded(estimator, name):
    getattr(estimator_checks, name)(type(estimator).__name__, clone(estimator))


def test_every_public_estimator_is_checked():
    public = {
        name
        for name in skdiffuse.__all__
        if hasattr(getattr(skdiffuse, name), "get_params")
    }
    # PairDifference takes pairs of texts; its checks are in test_pairs.py.
    checked = {type(estimator).__name__ for estimator in [*ESTIMATORS, *RULES]}
    assert public == checked | {"PairDifference"}


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_read_only_memory_map(estimator, tmp_path):
    rng = np.random.default_rng(0)
    np.save(tmp_path / "X.npy", rng.normal(size=(40, 3)))
    np.save(
        tmp_path / "y.npy", np.where(np.arange(40) < 15, rng.normal(size=40), np.nan)
    )
    X, y = (np.load(tmp_path / f"{name}.npy", mmap_mode="r") for name in "Xy")
    if "random_state" in estimator.get_params():
        estimator = clone(estimator).set_params(random_state=0)
    if isinstance(estimator, PreferenceComparison):
        y = np.sign(np.nan_to_num(y))
    mapped = clone(estimator).fit(X, y)
    copied = clone(estimator).fit(np.array(X), np.array(y))
    for name, value in vars(copied).items():
        if name.endswith("_") and not hasattr(value, "get_params"):
            np.testing.assert_array_equal(getattr(mapped, name), value)


@pytest.mark.parametrize(
    "estimator", [*ESTIMATORS, *RULES, PairDifference(featurizer=len)], ids=repr
)
def test_clone_and_pickle_keep_parameters(estimator):
    for copy in (clone(estimator), pickle.loads(pickle.dumps(estimator))):
        assert repr(copy) == repr(estimator)
        assert copy.get_params().keys() == estimator.get_params().keys()


@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_rules_only_store_their_parameters(rule):
    estimator_checks.check_parameters_default_constructible(type(rule).__name__, rule)
    estimator_checks.check_no_attributes_set_in_init(type(rule).__name__, rule)
    estimator_checks.check_get_params_invariance(type(rule).__name__, rule)
