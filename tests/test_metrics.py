import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skdiffuse.metrics import winner, winning_distance


@given(st.lists(st.sampled_from([-1, 0, 1]), min_size=1))
def test_winner_is_the_majority_and_distance_the_difference_of_rates(preferences):
    wins, losses = preferences.count(1), preferences.count(-1)
    assert winner(preferences) == (wins > losses) - (wins < losses)
    assert winning_distance(preferences) == (wins - losses) / len(preferences)
    assert winner([-p for p in preferences]) == -winner(preferences)


def test_graded_preferences_are_averaged():
    assert winner([0.9, -0.5, -0.5]) == -1
    assert winning_distance([0.5, -0.25, 0.0, 0.0]) == 0.0625


def test_rounding_does_not_break_a_tie():
    assert winner([0.1, 0.2, -0.3]) == 0
    assert winner([0.1] * 10 + [-1.0]) == 0


@given(
    st.lists(st.floats(-1e9, 1e9) | st.sampled_from([0.1, -0.1, 0.3, -0.3, 1.0, -1.0])),
    st.booleans(),
)
def test_winner_is_the_sign_of_the_exact_sum(preferences, balanced):
    if balanced:
        preferences = [*preferences, *(-p for p in preferences), 1e-7]
    values = np.array([*preferences, 0.0])
    total, size = math.fsum(values), math.fsum(np.abs(values))
    counts = abs(total) > np.finfo(np.float64).eps * size
    assert winner(values) == (np.sign(total) if counts else 0)


@pytest.mark.parametrize(
    ("preferences", "message"),
    [
        ([1, np.nan, 0], "NaN in row 1"),
        ([1, np.inf], "infinity in row 1"),
        ([], "0 sample"),
        ([[1, 0], [0, 1]], "1d array"),
        (["A", "B"], "words or booleans; write numbers"),
        ([True, False], "words or booleans"),
        (np.array([1, "tie"], dtype=object), "words or booleans"),
        (np.array([1, None], dtype=object), "NaN in row 1"),
        ([1e308, 1e308], "may overflow"),
        (np.array([10**400], dtype=object), "something else than numbers"),
        (np.array([[1], [{}]], dtype=object).ravel(), "something else than numbers"),
    ],
)
def test_bad_preferences_are_one_clear_error(preferences, message):
    for function in (winner, winning_distance):
        with pytest.raises(ValueError, match=message):
            function(preferences)
