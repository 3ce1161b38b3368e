"""Data made here, and a real bundled task."""

from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import stats
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import Bunch, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions, validate_params

__all__ = ["load_digit_captions", "make_judged_pool", "make_preference_pool"]

_WORDS = (
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
)

_DESCRIPTION = """\
Captions of handwritten digits
------------------------------

The 1797 images of `sklearn.datasets.load_digits`, each described in words by two
captioners, A and B: logistic regressions trained on 70 and on 50 of the images. A
caption names the digit, says how sure the captioner is and, if it is not sure, which
digit comes next. The true digit decides which captions are right. Example i has

- ``text_a[i]``, ``text_b[i]`` : the two captions
- ``truth[i]`` : the true digit
- ``correct_a[i]``, ``correct_b[i]`` : 1 if the caption names the true digit, else 0
- ``preference[i]`` : +1 if only A is right, -1 if only B is, 0 if both or none are
- ``judge_a[i]``, ``judge_b[i]`` : a cheap automatic judge, in [0, 1]: how likely the
  digit of the caption is in the eyes of a third classifier, trained on 200 images

``data`` holds the captions as pairs, of shape (1797, 2), and ``target`` is the
preference.
"""


@validate_params({"return_X_y": ["boolean"]}, prefer_skip_nested_validation=True)
def load_digit_captions(*, return_X_y: bool = False) -> Any:
    """Load a real task: two captioners of digits, and the truth.

    Nothing is downloaded; the images ship with scikit-learn.

    Parameters
    ----------
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.

    Returns
    -------
    Bunch
        With the keys of `DESCR`: `data` (pairs of captions, of shape (1797, 2)),
        `target` (preferences), `text_a`, `text_b`, `truth`, `preference`,
        `correct_a`, `correct_b`, `judge_a`, `judge_b` and `DESCR`.

    Examples
    --------
    >>> from skdiffuse.datasets import load_digit_captions
    >>> captions = load_digit_captions()
    >>> captions.data.shape
    (1797, 2)
    >>> captions.text_a[0]
    'This is surely a zero.'
    >>> captions.text_b[5]
    'This looks like a nine, though it could be an eight.'
    """
    images, truth = load_digits(return_X_y=True)
    proba_a = _train(images, truth, size=70, seed=0)
    proba_b = _train(images, truth, size=50, seed=1)
    proba_judge = _train(images, truth, size=200, seed=2)
    digit_a, digit_b = proba_a.argmax(axis=1), proba_b.argmax(axis=1)
    correct_a, correct_b = (
        (digit_a == truth).astype(int),
        (digit_b == truth).astype(int),
    )
    text_a, text_b = _captions(proba_a), _captions(proba_b)
    preference = correct_a - correct_b
    rows = np.arange(len(truth))
    bunch = Bunch(
        data=np.column_stack([text_a, text_b]),
        target=preference,
        text_a=text_a,
        text_b=text_b,
        truth=truth,
        preference=preference,
        correct_a=correct_a,
        correct_b=correct_b,
        judge_a=proba_judge[rows, digit_a],
        judge_b=proba_judge[rows, digit_b],
        DESCR=_DESCRIPTION,
    )
    return (bunch.data, bunch.target) if return_X_y else bunch


def _train(
    images: np.ndarray, truth: np.ndarray, *, size: int, seed: int
) -> np.ndarray:
    """Return the class probabilities of a classifier that saw `size` images."""
    few, _, labels, _ = train_test_split(
        images, truth, train_size=size, stratify=truth, random_state=seed
    )
    classifier = make_pipeline(StandardScaler(), LogisticRegression())
    return classifier.fit(few, labels).predict_proba(images)


def _captions(proba: np.ndarray) -> np.ndarray:
    return np.array([_caption(row) for row in proba], dtype=object)


def _caption(proba: np.ndarray) -> str:
    second, first = np.argsort(proba)[-2:]
    best, next_best = _WORDS[first], _WORDS[second]
    if proba[first] > 0.8:
        return f"This is surely {_a(best)}."
    if proba[first] > 0.5:
        return f"This looks like {_a(best)}, though it could be {_a(next_best)}."
    return f"Hard to read: perhaps {_a(best)}, perhaps {_a(next_best)}."


def _a(word: str) -> str:
    return f"an {word}" if word == "eight" else f"a {word}"


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
