"""A real bundled task: two captioners of digits."""

from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import Bunch
from sklearn.utils._param_validation import validate_params

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
