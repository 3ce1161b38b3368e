"""Splitters and scorers for data in which few rows have labels."""

from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.model_selection import BaseCrossValidator, GroupKFold, KFold
from sklearn.pipeline import Pipeline
from sklearn.utils import (
    check_consistent_length,
    check_random_state,
    column_or_1d,
    indexable,
)
from sklearn.utils._param_validation import (
    Interval,
    StrOptions,
    validate_parameter_constraints,
)

from skdiffuse._validation import (
    check_groups,
    check_labels,
    check_weights,
    count_of_share,
)

__all__ = [
    "LabelCostScorer",
    "LabeledKFold",
    "SubsampleSplit",
    "neg_labeled_squared_error",
]


class LabeledKFold(BaseCrossValidator):
    """K-fold cross-validation of the labelled rows alone, or of groups of them.

    Only rows with a label are split; every unlabelled row stays in each training
    fold, and none is in a test fold. With `groups` (the prompt of each row, say) the
    labelled rows of a group are tested together.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2.
    shuffle : bool, default=False
        Shuffle the labelled rows, or their groups, before they are split.
    random_state : int, RandomState instance or None, default=None
        Seed of the shuffle.

    Raises
    ------
    ValueError
        If `y` is missing, has fewer labels (or groups with a label) than folds,
        `groups` cannot be used, or the arguments are not those of scikit-learn's
        `KFold`.

    See Also
    --------
    PPIMeanEstimator : Takes NaN in `y` for rows without a label.
    neg_labeled_squared_error : A score for folds of any size.

    Notes
    -----
    The folds are those of scikit-learn's `KFold` or, with `groups`, `GroupKFold` on
    the labelled rows. An unlabelled row of a test fold's group is still trained on: it
    has scores of judges, but no label that could leak.

    `groups` is requested where metadata routing is enabled, and may be left out.

    Examples
    --------
    >>> import numpy as np
    >>> from skdiffuse import LabeledKFold
    >>> y = np.array([1.0, np.nan, 0.0, np.nan])
    >>> for train, test in LabeledKFold(n_splits=2).split(y, y):
    ...     print(train, test)
    [1 2 3] [0]
    [0 1 3] [2]
    """

    # As scikit-learn's splitters by group do, which ask for `groups` by default.
    __metadata_request__split = {"groups": True}

    def __init__(
        self,
        n_splits: int = 5,
        *,
        shuffle: bool = False,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        # KFold checks the arguments where the user wrote them.
        KFold(n_splits, shuffle=shuffle, random_state=random_state)
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of folds.

        Parameters
        ----------
        X, y, groups : object
            Ignored.

        Returns
        -------
        int
            `n_splits`.
        """
        return self.n_splits

    def split(
        self, X: Any, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the rows of each training and test fold.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Only its length matters.
        y : array-like of shape (n_samples,)
            Labels; NaN where a row has none.
        groups : array-like of shape (n_samples,), default=None
            Group of each row, an int or a string (or anything hashable); those of
            unlabelled rows are not read. No two folds test rows of one group.

        Yields
        ------
        train : ndarray
            All unlabelled rows and the labelled rows of the other folds, ascending.
        test : ndarray
            The labelled rows of this fold.

        Raises
        ------
        ValueError
            If `y` is None or has fewer labels than folds, or `groups` has another
            length, no group for a labelled row, or fewer groups with a label than
            folds.
        """
        if y is None:
            raise ValueError(
                "y is None; pass the labels, NaN where a row has none, so that the "
                "labelled rows can be split."
            )
        X, y = indexable(X, y)
        y = check_labels(y)
        labeled = np.flatnonzero(~np.isnan(y))
        if len(labeled) < self.n_splits:
            raise ValueError(
                f"n_splits={self.n_splits} is more than the {len(labeled)} labelled "
                "rows of y; label more rows or ask for fewer folds."
            )
        codes = None if groups is None else check_groups(groups, len(y), labeled)
        if codes is not None and codes.max() + 1 < self.n_splits:
            raise ValueError(
                f"n_splits={self.n_splits} is more than the {codes.max() + 1} groups "
                "of the labelled rows; label rows of more groups or ask for fewer "
                "folds."
            )
        splitter = KFold if codes is None else GroupKFold
        folds = splitter(
            self.n_splits, shuffle=self.shuffle, random_state=self.random_state
        )
        for _, test in folds.split(labeled, groups=codes):
            train = np.ones(len(y), dtype=bool)
            train[labeled[test]] = False
            yield np.flatnonzero(train), labeled[test]


class SubsampleSplit(BaseCrossValidator):
    """Draw random rows again and again: the protocol of the DiffUse paper.

    The training part is a random part of the rows. The test part is the same rows, or
    all rows: a verdict from few judgements is scored against the full judgement.

    Parameters
    ----------
    n_splits : int, default=10
        Number of draws, at least 1.
    train_size : float, default=0.8
        Share of the rows that is drawn without replacement, in (0, 1]; rounded down,
        at least one.
    score_on : {"sample", "all"}, default="sample"
        Which rows the verdict is scored against: ``"sample"``, the rows of the draw
        itself, whose winner it was to find [1]_; ``"all"``, all rows.
    random_state : int, RandomState instance or None, default=None
        Seed. Pass an int for the same draws in every call.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    See Also
    --------
    PreferenceComparison : What is usually searched with it.

    Notes
    -----
    Training and test rows overlap on purpose: the question is whether few judgements
    find the winner of these rows, not how a model fares on new ones. A `ShuffleSplit`
    works too, but its small test part may have another winner than all rows, and a
    correct verdict then counts as wrong.

    References
    ----------
    .. [1] Ashury-Tahan et al., "Label-Efficient Model Selection for Text
       Generation", ACL 2024, arXiv:2402.07891.

    Examples
    --------
    >>> from skdiffuse import SubsampleSplit
    >>> split = SubsampleSplit(n_splits=2, train_size=0.5, random_state=0)
    >>> for train, test in split.split([[1], [2], [3], [4]]):
    ...     print(train, test)
    [2 3] [2 3]
    [0 2] [0 2]
    """

    def __init__(
        self,
        n_splits: int = 10,
        *,
        train_size: float = 0.8,
        score_on: str = "sample",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        validate_parameter_constraints(
            {
                "n_splits": [Interval(Integral, 1, None, closed="left")],
                "train_size": [Interval(Real, 0, 1, closed="right")],
                "score_on": [StrOptions({"sample", "all"})],
                "random_state": ["random_state"],
            },
            {
                "n_splits": n_splits,
                "train_size": train_size,
                "score_on": score_on,
                "random_state": random_state,
            },
            caller_name="SubsampleSplit",
        )
        self.n_splits = n_splits
        self.train_size = train_size
        self.score_on = score_on
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of draws.

        Parameters
        ----------
        X, y, groups : object
            Ignored.

        Returns
        -------
        int
            `n_splits`.
        """
        return self.n_splits

    def split(
        self, X: Any, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the rows of each draw.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Only its length matters.
        y, groups : object
            Ignored.

        Yields
        ------
        train : ndarray
            The rows that were drawn, ascending.
        test : ndarray
            The same rows, or all.
        """
        n_samples = len(indexable(X)[0])
        size = count_of_share(self.train_size, n_samples)
        rng = check_random_state(self.random_state)
        for _ in range(self.n_splits):
            train = np.sort(rng.permutation(n_samples)[:size])
            yield train, train if self.score_on == "sample" else np.arange(n_samples)


class LabelCostScorer:
    """Score a comparison by its success less the cost of its annotations.

    Parameters
    ----------
    cost : float, default=0.001
        The price of one annotation, in units of a right instead of a wrong verdict, at
        least 0. At 0.001 a hundred annotations must raise the rate of right verdicts
        by 0.1 to pay.

    Raises
    ------
    ValueError
        If `cost` is negative or not a finite number.

    See Also
    --------
    PreferenceComparison : What is scored, alone or as the last step of a Pipeline.

    Examples
    --------
    >>> from skdiffuse import LabelCostScorer, PreferenceComparison
    >>> from skdiffuse.datasets import make_preference_pool
    >>> X, y = make_preference_pool(winning_distance=0.4, random_state=0)
    >>> comparison = PreferenceComparison().fit(X, y)  # 8 annotations
    >>> LabelCostScorer(cost=0.001)(comparison, X, y)
    0.992
    """

    def __init__(self, cost: float = 0.001) -> None:
        validate_parameter_constraints(
            {"cost": [Interval(Real, 0, None, closed="left")]},
            {"cost": cost},
            caller_name="LabelCostScorer",
        )
        self.cost = cost

    def __call__(self, estimator: Any, X: Any, y: Any) -> float:
        """Score a fitted comparison.

        Parameters
        ----------
        estimator : PreferenceComparison or Pipeline
            The fitted comparison, or a pipeline that ends with it.
        X : array-like of shape (n_examples, n_features)
            What the estimator takes.
        y : array-like of shape (n_examples,)
            All preferences.

        Returns
        -------
        float
            Success (1, 0.5 or 0) less `cost` times the number of annotations.
        """
        comparison = estimator
        while not hasattr(comparison, "n_annotations_"):
            # The last step of a pipeline, or what a search has found.
            is_pipeline = isinstance(comparison, Pipeline)
            comparison = comparison[-1] if is_pipeline else comparison.best_estimator_
        return estimator.score(X, y) - self.cost * comparison.n_annotations_

    def __repr__(self) -> str:
        return f"LabelCostScorer(cost={self.cost!r})"


def neg_labeled_squared_error(
    estimator: Any, X: Any, y: Any, sample_weight: Any = None
) -> float:
    """Score predictions by their negative mean squared error on the labelled rows.

    To be passed as ``scoring``. It is scikit-learn's ``"neg_mean_squared_error"``, but
    leaves out rows without a label, which that refuses.

    Parameters
    ----------
    estimator : estimator
        Anything fitted that has `predict`: a `PPIMeanEstimator`, a pipeline that ends
        with one, a search.
    X : array-like of shape (n_samples, n_features)
        What the estimator takes.
    y : array-like of shape (n_samples,)
        Labels; rows with NaN are left out.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the labelled rows, as in `PPIMeanEstimator.fit`.

    Returns
    -------
    float
        At most 0; greater is better. A single label is enough.

    Raises
    ------
    ValueError
        If no row has a label, the lengths differ, a labelled row has no weight or a
        negative one, all their weights are 0, or the squares overflow.

    See Also
    --------
    LabeledKFold : Folds of the labelled rows.
    PPIMeanEstimator.score : R² of the same predictions, which needs two labels.

    Examples
    --------
    >>> from skdiffuse import PPIMeanEstimator, neg_labeled_squared_error
    >>> estimator = PPIMeanEstimator(lam=0.0).fit([[0], [1], [1]], [2, 4, float("nan")])
    >>> neg_labeled_squared_error(estimator, [[0], [1], [1]], [2, 4, float("nan")])
    -1.0
    """
    check_consistent_length(X, y)
    y = check_labels(y)
    labeled = ~np.isnan(y)
    if not labeled.any():
        raise ValueError(
            "y has no label to score against; use LabeledKFold to split the labelled "
            "rows."
        )
    weights = None
    if sample_weight is not None:
        weights = check_weights(sample_weight, labeled)
    predictions = column_or_1d(estimator.predict(X))
    with np.errstate(over="ignore", invalid="ignore"):
        squares = (y - predictions)[labeled] ** 2
        score = -float(np.average(squares, weights=weights))
    if not np.isfinite(score):
        raise ValueError(
            "The squares of y overflow; divide it (and the judges) by a constant."
        )
    return score
