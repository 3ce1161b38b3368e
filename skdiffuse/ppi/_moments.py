"""Count, mean and comoments of rows: all that a linear g needs of the pool."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils import check_array, gen_batches

from skdiffuse._validation import check_finite_rows

_BATCH = 1 << 16


@dataclass(frozen=True, eq=False)
class PoolMoments:
    """Count, mean and comoment matrix of rows that need not fit into memory.

    Moments of parts add up to those of the whole: compute them where the rows are, and
    merge them with ``+``, in any order.

    Attributes
    ----------
    count : int
        Number of rows.
    mean : ndarray of shape (n_features,)
        Mean of each column.
    comoment : ndarray of shape (n_features, n_features)
        Sum of the outer products of the deviations from the mean.

    Raises
    ------
    ValueError
        If rows have NaN or infinity, or moments of different columns are added.

    See Also
    --------
    PPIMeanEstimator : Takes moments as ``fit(X, y, pool=moments)``.

    Notes
    -----
    Parts merge by the update of Chan, Golub and LeVeque, which loses no digits where
    the mean is large beside the spread [1]_.

    References
    ----------
    .. [1] Chan, Golub and LeVeque, "Algorithms for computing the sample variance",
       The American Statistician 37, 1983.

    Examples
    --------
    >>> import numpy as np
    >>> from skdiffuse import PoolMoments
    >>> rows = np.arange(12.0).reshape(6, 2)
    >>> parts = PoolMoments.of(rows[:4]) + PoolMoments.of(rows[4:])
    >>> parts.count, parts.mean.tolist()
    (6, [5.0, 6.0])
    >>> parts.covariance().tolist() == np.cov(rows.T, ddof=0).tolist()
    True
    """

    count: int
    mean: np.ndarray
    comoment: np.ndarray

    @classmethod
    def of(cls, rows: Any) -> Self:
        """Add up the rows of an array, or of an iterable of arrays.

        Parameters
        ----------
        rows : array-like of shape (n_samples, n_features), or iterable of such
            Judge scores. An iterable is read once, one chunk at a time.

        Returns
        -------
        PoolMoments
            Their moments.

        Raises
        ------
        ValueError
            If a chunk has NaN or infinity, or there is no chunk.
        """
        total = None
        for number, chunk in enumerate(chunks(rows)):
            moments = cls.of_checked(checked_chunk(chunk, number))
            total = moments if total is None else total + moments
        if total is None:
            raise ValueError("pool has no chunk; pass at least one, or pool=None.")
        return total

    @classmethod
    def of_checked(cls, rows: np.ndarray) -> Self:
        """Add up an array of finite numbers that was validated before.

        Parameters
        ----------
        rows : ndarray of shape (n_samples, n_features)
            Judge scores.

        Returns
        -------
        PoolMoments
            Their moments.
        """
        n_samples, n_features = rows.shape
        total = cls(0, np.zeros(n_features), np.zeros((n_features, n_features)))
        if n_samples == 0:
            return total
        # Deviations from the first row are exactly zero in a constant column.
        origin = rows[0].astype(np.float64)
        for batch in gen_batches(n_samples, _BATCH):
            shifted = rows[batch] - origin
            mean = shifted.mean(axis=0)
            shifted -= mean
            total = total + cls(len(shifted), mean, shifted.T @ shifted)
        return cls(total.count, origin + total.mean, total.comoment)

    def __post_init__(self) -> None:
        """Check that the three belong together."""
        mean, comoment = np.asarray(self.mean), np.asarray(self.comoment)
        if self.count < 0 or comoment.shape != mean.shape * 2 or mean.ndim != 1:
            raise ValueError(
                f"count={self.count}, mean of shape {mean.shape} and comoment of shape "
                f"{comoment.shape} are no moments; make them with PoolMoments.of."
            )
        object.__setattr__(self, "mean", mean)
        object.__setattr__(self, "comoment", comoment)

    def __radd__(self, other: Any) -> Self:
        """Return the moments themselves, so that `sum` adds them up."""
        return self if other == 0 else NotImplemented

    def __add__(self, other: Self) -> Self:
        """Return the moments of both sets of rows together."""
        if not isinstance(other, PoolMoments):
            return NotImplemented
        if self.mean.shape != other.mean.shape:
            raise ValueError(
                f"moments of {len(self.mean)} and of {len(other.mean)} columns cannot "
                "be added; give every part the same columns."
            )
        if self.count == 0 or other.count == 0:
            return other if self.count == 0 else self
        count = self.count + other.count
        step = other.mean - self.mean
        comoment = (
            self.comoment
            + other.comoment
            + np.outer(step, step) * (self.count * other.count / count)
        )
        return type(self)(count, self.mean + step * (other.count / count), comoment)

    def covariance(self, ddof: int = 0) -> np.ndarray:
        """Return the covariance matrix.

        Parameters
        ----------
        ddof : int, default=0
            Taken off the count in the denominator.

        Returns
        -------
        ndarray of shape (n_features, n_features)
            Covariances; zero where there are no degrees of freedom.
        """
        return self.comoment / max(self.count - ddof, 1)


def chunks(rows: Any) -> Iterable[Any]:
    """Return the chunks of a pool: the pool itself if it is one array."""
    if hasattr(rows, "collect"):
        raise ValueError("pool is a lazy frame; pass pool.collect().")
    if hasattr(rows, "shape") or hasattr(rows, "columns"):
        return [rows]
    if isinstance(rows, str | dict) or not hasattr(rows, "__iter__"):
        raise ValueError(
            f"pool is a {type(rows).__name__}; pass an array of judge scores, an "
            "iterable of such arrays, or PoolMoments."
        )
    if isinstance(rows, list | tuple) and rows and np.ndim(rows[0]) < 2:
        return [rows]
    return rows


def checked_chunk(chunk: Any, number: int) -> np.ndarray:
    """Validate one chunk of the pool."""
    name = f"chunk {number} of pool"
    try:
        values = check_array(
            chunk,
            dtype=[np.float64, np.float32],
            ensure_all_finite=False,
            ensure_min_samples=0,
            input_name=name,
        )
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(
            f"{name} is no table of judge scores ({error}); pass an array of shape "
            "(n_rows, n_features)."
        ) from error
    check_finite_rows(values, name, "a judge must score every row")
    return values
