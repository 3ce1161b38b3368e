"""Count, mean and comoments of rows: all that a linear g needs of the pool."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.utils import check_array

from skdiffuse._validation import check_finite_rows

_BATCH = 1 << 16  # numbers
_FEWEST = 1 << 10  # rows
_FEW_COLUMNS = 4
_BRANCHES = 8


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
    names : tuple of str or None, default=None
        Names of the columns, where the rows had any; moments of columns with other
        names are not added.

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
    names: tuple[str, ...] | None = None

    # An array plus moments is an error, not an array of moments.
    __array_ufunc__ = None

    @classmethod
    def of(cls, rows: Any) -> Self:
        """Add up the rows of an array, or of an iterable of arrays.

        Parameters
        ----------
        rows : array-like of shape (n_samples, n_features), or iterable of such
            Judge scores. An iterable is read once, one chunk at a time; the blocks of
            a dask array (or dataframe) are added up where they are.

        Returns
        -------
        PoolMoments
            Their moments.

        Raises
        ------
        ValueError
            If a chunk has NaN or infinity, or there is no chunk.
        """
        return sum_over(rows, partial(_moments_of_chunk, cls))

    @classmethod
    def of_checked(cls, rows: np.ndarray, where: np.ndarray | None = None) -> Self:
        """Add up an array of finite numbers that was validated before.

        Parameters
        ----------
        rows : ndarray of shape (n_samples, n_features)
            Judge scores.
        where : ndarray of bool of shape (n_samples,), default=None
            Which rows are meant; None for all.

        Returns
        -------
        PoolMoments
            Their moments.
        """
        n_features = rows.shape[1]
        origin = np.zeros(n_features)
        total = cls(0, origin, np.zeros((n_features, n_features)))
        for batch in batches(rows, where):
            if not total.count:
                # Deviations from the first row are exactly zero in a constant column.
                origin = batch[0].astype(np.float64)
            # A column side by side is several times faster to add up.
            columns = np.subtract(batch.T, origin[:, np.newaxis], order="C")
            mean = columns.mean(axis=1)
            columns -= mean[:, np.newaxis]
            if n_features > _FEW_COLUMNS:
                products = columns @ columns.T
            else:
                # Too little work for the threads of a BLAS, which wait for each other.
                products = np.einsum("ij,kj->ik", columns, columns)
            total = total + cls(len(batch), mean, products)
        return cls(total.count, origin + total.mean, total.comoment)

    def __post_init__(self) -> None:
        """Check that the three belong together."""
        mean, comoment = np.asarray(self.mean), np.asarray(self.comoment)
        counted = isinstance(self.count, Integral) and self.count >= 0
        if not counted or comoment.shape != mean.shape * 2 or mean.ndim != 1:
            raise ValueError(
                f"count={self.count}, mean of shape {mean.shape} and comoment of shape "
                f"{comoment.shape} are no moments; make them with PoolMoments.of."
            )
        object.__setattr__(self, "mean", mean)
        object.__setattr__(self, "comoment", comoment)

    def __radd__(self, other: Any) -> Self:
        """Return the moments themselves, so that `sum` adds them up."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __add__(self, other: Self) -> Self:
        """Return the moments of both sets of rows together."""
        if not isinstance(other, PoolMoments):
            return NotImplemented
        if self.mean.shape != other.mean.shape:
            raise ValueError(
                f"moments of {len(self.mean)} and of {len(other.mean)} columns cannot "
                "be added; give every part the same columns."
            )
        if None not in (self.names, other.names) and self.names != other.names:
            raise ValueError(
                f"moments of the columns {list(self.names or ())} and "
                f"{list(other.names or ())} cannot be added; give every part the same "
                "columns in the same order."
            )
        names = self.names or other.names
        if self.count == 0 or other.count == 0:
            return replace(other if self.count == 0 else self, names=names)
        count = self.count + other.count
        step = other.mean - self.mean
        comoment = (
            self.comoment
            + other.comoment
            + np.outer(step, step) * (self.count * other.count / count)
        )
        mean = self.mean + step * (other.count / count)
        return type(self)(count, mean, comoment, names)

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


def batches(rows: np.ndarray, where: np.ndarray | None = None) -> Iterator[np.ndarray]:
    """Yield the rows, or those that are meant, as many as a cache holds."""
    step = max(_BATCH // rows.shape[1], _FEWEST)
    for start in range(0, len(rows), step):
        batch = slice(start, start + step)
        if where is None or where[batch].all():
            yield rows[batch]
        elif where[batch].any():
            yield rows[batch][where[batch]]


def sum_over(pool: Any, function: Callable[[Any, int], Any]) -> Any:
    """Sum what a function makes of each chunk of a pool.

    Parameters
    ----------
    pool : array-like, or iterable of array-like
        An iterable is read once. The blocks of a dask collection stay where they are:
        what the function makes of them is added up there, and comes here alone.
    function : callable
        Takes a chunk and its number.

    Returns
    -------
    object
        The sum.

    Raises
    ------
    ValueError
        If there is no chunk.
    """
    if _is_delayed(pool):
        raise ValueError(
            "pool is dask.delayed; pass dask.array.from_delayed(...), whose blocks "
            "stay where they are, or pool.compute()."
        )
    if hasattr(pool, "shape") and hasattr(pool, "to_delayed"):
        return _sum_over_blocks(pool, function)
    total = None
    for number, chunk in enumerate(chunks(pool)):
        part = function(chunk, number)
        total = part if total is None else total + part
    if total is None:
        raise ValueError(
            "pool has no chunk; pass at least one (a generator can be read only once), "
            "or pool=None."
        )
    return total


def _sum_over_blocks(pool: Any, function: Callable[[Any, int], Any]) -> Any:
    from dask import delayed

    if hasattr(pool, "rechunk"):
        whole_rows = dict.fromkeys(range(1, pool.ndim), -1)
        blocks = pool.rechunk(whole_rows).to_delayed().ravel()
    else:
        blocks = pool.to_delayed()
    parts = [delayed(function)(block, number) for number, block in enumerate(blocks)]
    while len(parts) > 1:
        parts = [
            delayed(sum)(parts[start : start + _BRANCHES])
            for start in range(0, len(parts), _BRANCHES)
        ]
    return parts[0].compute()


def _moments_of_chunk(cls: type[PoolMoments], chunk: Any, number: int) -> PoolMoments:
    moments = cls.of_checked(checked_chunk(chunk, number))
    names = tuple(getattr(chunk, "columns", ()))
    named = bool(names) and all(isinstance(name, str) for name in names)
    return replace(moments, names=names) if named else moments


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
    if isinstance(rows, list | tuple) and rows and not _is_delayed(rows[0]):
        return [rows] if np.ndim(rows[0]) < 2 else rows
    return rows


def _is_delayed(value: Any) -> bool:
    """Tell a dask.delayed, which seems to have every attribute."""
    return type(value).__module__ == "dask.delayed"


def checked_chunk(
    chunk: Any,
    number: int,
    n_features: int | None = None,
    names: Sequence[str] | None = None,
) -> np.ndarray:
    """Validate one chunk of the pool.

    Parameters
    ----------
    chunk : array-like of shape (n_rows, n_features)
    number : int
        Its place in the pool.
    n_features : int, default=None
        How many columns `X` has, if there is one.
    names : list of str, default=None
        Names of these columns, if they have any.
    """
    name = f"chunk {number} of pool"
    first = chunk[0] if isinstance(chunk, list | tuple) and len(chunk) else chunk
    if isinstance(first, PoolMoments):
        raise ValueError("pool holds PoolMoments; add them up with sum(...).")
    if _is_delayed(chunk):
        raise ValueError(
            f"{name} is dask.delayed; pass dask.array.from_delayed(...) of all, or "
            "compute them."
        )
    if getattr(chunk, "ndim", 2) == 1:
        raise ValueError(
            f"{name} has one dimension; pass one column a judge: values[:, None] of an "
            "array, table[['judge']] of a table."
        )
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
            f"{name} is no table of judge scores ({str(error).splitlines()[0]}); pass "
            "an array of shape (n_rows, n_features)."
        ) from error
    check_finite_rows(values, name, "a judge must score every row")
    if n_features is not None:
        check_columns(values.shape[1], n_features)
    if hasattr(chunk, "columns"):
        check_names(name, list(chunk.columns), names)
    return values


def check_names(what: str, columns: Sequence[str], names: Sequence[str] | None) -> None:
    """Raise a ValueError unless the pool has the names of X, if that has any."""
    if names is not None and list(columns) != list(names):
        raise ValueError(
            f"{what} has the columns {list(columns)}, but X has {list(names)}; give "
            "both the same judges in the same order."
        )


def check_columns(n_columns: int, n_features: int) -> None:
    """Raise a ValueError unless the pool has the columns of X."""
    if n_columns != n_features:
        raise ValueError(
            f"pool has {n_columns} columns, but X has {n_features}; give both the same "
            "judges in the same order."
        )
