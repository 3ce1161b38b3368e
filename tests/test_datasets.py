import numpy as np
import pytest
from scipy import stats

from skdiffuse.datasets import (
    load_digit_captions,
    make_judged_pool,
    make_preference_pool,
)
from skdiffuse.metrics import winner, winning_distance


def test_digit_captions_say_what_their_description_says():
    captions = load_digit_captions()
    assert captions.data.shape == (1797, 2)
    np.testing.assert_array_equal(captions.data[:, 0], captions.text_a)
    np.testing.assert_array_equal(captions.target, captions.preference)
    assert all(isinstance(text, str) for text in captions.data.ravel())
    for side in "ab":
        correct, judge = captions[f"correct_{side}"], captions[f"judge_{side}"]
        assert ((judge >= 0) & (judge <= 1)).all()
        assert np.corrcoef(judge, correct)[0, 1] > 0.3
    np.testing.assert_array_equal(
        captions.preference, captions.correct_a - captions.correct_b
    )
    assert winner(captions.preference) == 1
    # Equal captions are equally right.
    same = captions.text_a == captions.text_b
    assert same.any()
    assert not captions.preference[same].any()
    for key in captions:
        assert key == "DESCR" or key in captions.DESCR
    X, y = load_digit_captions(return_X_y=True)
    np.testing.assert_array_equal(X, captions.data)
    np.testing.assert_array_equal(y, captions.target)


@pytest.mark.parametrize("distance", [-1.0, -0.3, 0.0, 0.6])
@pytest.mark.parametrize(("ties", "identical"), [(0.0, 0.0), (0.3, 0.0), (0.4, 0.4)])
def test_preference_pool_has_the_rates_asked_for(distance, ties, identical):
    if abs(distance) + ties > 1:
        pytest.skip("more than all examples")
    n = 20_000
    X, y = make_preference_pool(
        n,
        winning_distance=distance,
        tie_rate=ties,
        identical_rate=identical,
        random_state=0,
    )
    assert abs(winning_distance(y) - distance) <= 4 * np.sqrt(1 / n)
    assert abs(np.mean(y == 0) - ties) <= 4 * np.sqrt(0.25 / n)
    zero = ~X.any(axis=1)
    assert abs(zero.mean() - identical) <= 4 * np.sqrt(0.25 / n)
    assert not y[zero].any()


@pytest.mark.parametrize("distance", [-0.2, 0.2])
def test_norm_and_agreement_rise_together_when_the_generator_says_so(distance):
    agreement = {}
    for effect in (0.0, 0.5):
        X, y = make_preference_pool(
            20_000,
            winning_distance=distance,
            direction_effect=0,
            norm_effect=effect,
            random_state=0,
        )
        norms = np.linalg.norm(X, axis=1)
        agreement[effect] = stats.spearmanr(norms, np.sign(distance) * y).statistic
    assert abs(agreement[0.0]) < 4 / np.sqrt(20_000)
    assert agreement[0.5] > 0.5


@pytest.mark.parametrize(
    ("distance", "ties"), [(0.2, 0.8), (0.1, 0.9), (-0.2, 0.8), (0.3, 0.7), (1, 0)]
)
def test_preference_pool_at_the_edge_of_the_possible(distance, ties):
    X, y = make_preference_pool(
        2000, winning_distance=distance, tie_rate=ties, random_state=0
    )
    assert np.isfinite(X).all()
    assert set(np.unique(y)) <= {0, int(np.sign(distance))}


def test_preference_pool_refuses_the_impossible():
    for effects in ({"norm_effect": 1000}, {"direction_effect": 1e308}):
        with pytest.raises(ValueError, match="overflow; lower them"):
            make_preference_pool(random_state=0, **effects)
    with pytest.raises(ValueError, match="more than all examples"):
        make_preference_pool(winning_distance=0.9, tie_rate=0.2)
    with pytest.raises(ValueError, match="raise tie_rate"):
        make_preference_pool(identical_rate=0.5, tie_rate=0.2)


@pytest.mark.parametrize("rate", [0.0, 0.03, 0.5, 1.0])
def test_judged_pool_has_the_rate_and_the_judges_asked_for(rate):
    X, y = make_judged_pool(
        20_000, None, rate=rate, judge=[0.9, 0.0, -0.6], random_state=0
    )
    assert abs(y.mean() - rate) <= 4 * np.sqrt(0.25 / 20_000)
    if 0 < rate < 1:
        latent = [np.corrcoef(column, y)[0, 1] for column in X.T]
        assert latent[0] > 4 / np.sqrt(20_000) > abs(latent[1])
        assert latent[2] < -4 / np.sqrt(20_000)
    binary, _ = make_judged_pool(
        20_000, None, rate=rate, scores="binary", random_state=0
    )
    assert set(np.unique(binary)) <= {0.0, 1.0}
    assert abs(binary.mean() - rate) <= 4 * np.sqrt(0.25 / 20_000)


def test_judged_pool_blanks_labels_and_changes_nothing_else():
    X, full = make_judged_pool(200, None, random_state=3)
    same, y = make_judged_pool(200, 30, random_state=3)
    np.testing.assert_array_equal(X, same)
    labeled = ~np.isnan(y)
    assert labeled.sum() == 30
    np.testing.assert_array_equal(y[labeled], full[labeled])


def test_judged_pool_refuses_the_impossible():
    with pytest.raises(ValueError, match="more than n_samples"):
        make_judged_pool(10, 20)
    for judge in ([0.5, 1.5], [[0.5]], [np.nan], [], ["a"], [10**400]):
        with pytest.raises(ValueError, match=r"in \[-1, 1\]"):
            make_judged_pool(10, 5, judge=judge)
