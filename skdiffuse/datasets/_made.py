"""Difference vectors, preferences, judges and labels made by a seed."""

from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import stats
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions, validate_params


@validate_params(
    {
        "n_samples": [Interval(Integral, 1, None, closed="left")],
        "n_features": [Interval(Integral, 1, None, closed="left")],
        "winning_distance": [Interval(Real, -1, 1, closed="both")],
        "tie_rate": [Interval(Real, 0, 1, closed="left")],
        "identical_rate": [Interval(Real, 0, 1, closed="left")],
        "direction_effect": [Interval(Real, 0, None, closed="left")],
        "norm_effect": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
    },
    prefer_skip_nested_validation=True,
)
def make_preference_pool(
    n_samples: int = 500,
    n_features: int = 20,
    *,
    winning_distance: float = 0.2,
    tie_rate: float = 0.2,
    identical_rate: float = 0.0,
    direction_effect: float = 1.0,
    norm_effect: float = 0.3,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Make difference vectors and preferences of two generators.

    Parameters
    ----------
    n_samples : int, default=500
        Number of examples.
    n_features : int, default=20
        Length of the difference vectors.
    winning_distance : float, default=0.2
        Expected P(A wins) - P(B wins), in [-1, 1].
    tie_rate : float, default=0.2
        Expected share of ties, in [0, 1), identical outputs among them.
    identical_rate : float, default=0.0
        Expected share of examples with identical outputs: zero vectors, ties.
    direction_effect : float, default=1.0
        How much the direction of a vector tells of the preference, at least 0.
    norm_effect : float, default=0.3
        How much more often the winner wins where the vector is long, at least 0. With
        both effects at 0 the vectors tell nothing.
    random_state : int, RandomState instance or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        Difference vectors.
    y : ndarray of shape (n_samples,)
        Preferences: +1, 0 or -1.

    Raises
    ------
    ValueError
        If an argument is out of its range or
        ``abs(winning_distance) + tie_rate > 1`` or ``identical_rate > tie_rate``.

    Notes
    -----
    Each example has an advantage a ~ N(mu, 1). A wins above a threshold c and B
    below -c, where mu and c are such that the rates come out as asked. The vector is
    standard normal noise plus ``direction_effect * a`` times a fixed direction, all
    of it times ``exp(norm_effect * a)``, with -a where B is ahead.

    Examples
    --------
    >>> from skdiffuse.datasets import make_preference_pool
    >>> X, y = make_preference_pool(n_samples=1000, random_state=0)
    >>> X.shape, round(float(y.mean()), 1)
    ((1000, 20), 0.2)
    """
    if abs(winning_distance) + tie_rate > 1 + 1e-12:
        raise ValueError(
            f"winning_distance={winning_distance} and tie_rate={tie_rate} need more "
            "than all examples; lower one so that their sizes add up to at most 1."
        )
    if identical_rate > tie_rate:
        raise ValueError(
            f"identical_rate={identical_rate} is above tie_rate={tie_rate}, but "
            "identical outputs are ties; raise tie_rate."
        )
    rng = check_random_state(random_state)
    identical = rng.uniform(size=n_samples) < identical_rate
    # The other examples must supply all wins and the rest of the ties.
    share = 1 - identical_rate
    wins = (1 - tie_rate + winning_distance) / 2 / share
    losses = (1 - tie_rate - winning_distance) / 2 / share
    # Rates of 0, up to rounding, are reached at a threshold nobody passes.
    wins, losses = np.clip([wins, losses], 0, 1)
    upper, lower = np.clip([stats.norm.isf(wins), stats.norm.ppf(losses)], -40, 40)
    noise = rng.normal(size=n_samples)
    y = np.where(noise > upper, 1, np.where(noise < lower, -1, 0))
    advantage = noise - (upper + lower) / 2
    direction = rng.normal(size=n_features)
    direction /= np.linalg.norm(direction)
    X = rng.normal(size=(n_samples, n_features))
    of_winner = advantage if winning_distance >= 0 else -advantage
    with np.errstate(over="ignore"):
        X += direction_effect * advantage[:, np.newaxis] * direction
        X *= np.exp(norm_effect * of_winner)[:, np.newaxis]
    if not np.isfinite(X).all():
        raise ValueError(
            f"direction_effect={direction_effect} and norm_effect={norm_effect} make "
            "vectors that overflow; lower them."
        )
    X[identical], y[identical] = 0, 0
    return X, y


@validate_params(
    {
        "n_samples": [Interval(Integral, 1, None, closed="left")],
        "n_labeled": [Interval(Integral, 1, None, closed="left"), None],
        "rate": [Interval(Real, 0, 1, closed="both")],
        "judge": [Interval(Real, -1, 1, closed="both"), "array-like"],
        "scores": [StrOptions({"probability", "binary"})],
        "random_state": ["random_state"],
    },
    prefer_skip_nested_validation=True,
)
def make_judged_pool(
    n_samples: int = 1000,
    n_labeled: int | None = 50,
    *,
    rate: float = 0.5,
    judge: Any = 0.8,
    scores: str = "probability",
    random_state: int | np.random.RandomState | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Make judge scores on every row and 0/1 labels on a few.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rows, labelled or not.
    n_labeled : int or None, default=50
        How many random rows have a label; None for all. The same seed makes the same
        rows and labels whatever their number.
    rate : float, default=0.5
        Expected share of ones among the labels: the mean to be estimated.
    judge : float or array-like of shape (n_judges,), default=0.8
        How good the judge is: its correlation with the label on the latent scale, in
        [-1, 1]. About 0.9 is good, 0.5 mediocre, 0 useless, below 0 adverse. An array
        makes several judges, whose errors are independent.
    scores : {"probability", "binary"}, default="probability"
        Scores uniform in [0, 1], or ones at the rate of the labels.
    random_state : int, RandomState instance or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n_samples, n_judges)
        Judge scores.
    y : ndarray of shape (n_samples,)
        Labels 0 and 1; NaN where a row has none.

    Raises
    ------
    ValueError
        If an argument is out of its range or `n_labeled` exceeds `n_samples`.

    Notes
    -----
    A row has a latent z ~ N(0, 1) and the label 1 where z exceeds the quantile of
    `rate`. The judge sees ``r * z + sqrt(1 - r**2) * e`` with noise e ~ N(0, 1).

    Examples
    --------
    >>> from skdiffuse.datasets import make_judged_pool
    >>> X, y = make_judged_pool(n_samples=100, n_labeled=10, random_state=0)
    >>> X.shape, int((y >= 0).sum())
    ((100, 1), 10)
    """
    if n_labeled is not None and n_labeled > n_samples:
        raise ValueError(
            f"n_labeled={n_labeled} is more than n_samples={n_samples}; label at most "
            "all rows."
        )
    try:
        correlation = np.atleast_1d(np.asarray(judge, dtype=np.float64))
    except (TypeError, ValueError, OverflowError):
        correlation = np.array([])
    if (
        correlation.ndim != 1
        or not len(correlation)
        or (not (np.abs(correlation) <= 1).all())
    ):
        raise ValueError(
            f"judge={judge!r} must be one correlation in [-1, 1], or a list of them."
        )
    rng = check_random_state(random_state)
    latent = rng.normal(size=n_samples)
    order = rng.permutation(n_samples)
    error = rng.normal(size=(n_samples, len(correlation)))
    seen = correlation * latent[:, np.newaxis] + np.sqrt(1 - correlation**2) * error
    threshold = stats.norm.isf(rate)
    y = (latent > threshold).astype(np.float64)
    X = stats.norm.cdf(seen)
    if scores == "binary":
        X = (seen > threshold).astype(np.float64)
    if n_labeled is not None:
        y[order[n_labeled:]] = np.nan
    return X, y
