"""Splitters for data in which few rows have labels."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.model_selection import BaseCrossValidator, KFold
from sklearn.utils import check_array, column_or_1d, indexable

__all__ = ["LabeledKFold"]


class LabeledKFold(BaseCrossValidator):
    """K-fold cross-validation of the labelled rows alone.

    Only rows with a label are split; every unlabelled row stays in each training
    fold, and none is in a test fold.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2.
    shuffle : bool, default=False
        Shuffle the labelled rows before they are split.
    random_state : int, RandomState instance or None, default=None
        Seed of the shuffle.

    Raises
    ------
    ValueError
        If `y` is missing, has fewer labels than folds, or the arguments are not those
        of scikit-learn's `KFold`.

    See Also
    --------
    PPIMeanEstimator : Takes NaN in `y` for rows without a label.

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
        groups : object
            Ignored.

        Yields
        ------
        train : ndarray
            All unlabelled rows and the labelled rows of the other folds, ascending.
        test : ndarray
            The labelled rows of this fold.

        Raises
        ------
        ValueError
            If `y` is None or has fewer labels than folds.
        """
        if y is None:
            raise ValueError(
                "y is None; pass the labels, NaN where a row has none, so that the "
                "labelled rows can be split."
            )
        X, y = indexable(X, y)
        y = check_array(
            y,
            ensure_2d=False,
            dtype=np.float64,
            ensure_all_finite="allow-nan",
            input_name="y",
        )
        labeled = np.flatnonzero(~np.isnan(column_or_1d(y)))
        if len(labeled) < self.n_splits:
            raise ValueError(
                f"n_splits={self.n_splits} is more than the {len(labeled)} labelled "
                "rows of y; label more rows or ask for fewer folds."
            )
        folds = KFold(
            self.n_splits, shuffle=self.shuffle, random_state=self.random_state
        )
        for _, test in folds.split(labeled):
            train = np.ones(len(y), dtype=bool)
            train[labeled[test]] = False
            yield np.flatnonzero(train), labeled[test]
