"""Messages about the user's data that name the argument, the row and the mend."""

import itertools
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils import check_array, column_or_1d
from sklearn.utils._param_validation import Interval, validate_parameter_constraints
from sklearn.utils.validation import validate_data

from skdiffuse._words import rows_in_words

_BATCH = 1 << 16


@contextmanager
def unchanged_on_failure(estimator: Any) -> Iterator[None]:
    """Leave an estimator as it was if what happens to it fails or is interrupted."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


def count_of_share(share: float, n_samples: int) -> int:
    """Return how many rows a share is: rounded down, at least one."""
    # 0.29 * 100 is a little less than 29.
    return max(1, int(share * n_samples + 1e-9))


def check_finite_rows(
    values: np.ndarray,
    name: str,
    mend: str,
    *,
    rows: np.ndarray | None = None,
    allow_nan: bool = False,
) -> None:
    """Raise a ValueError that names the rows of `values` with NaN or infinity.

    Parameters
    ----------
    values : ndarray of shape (n_samples,) or (n_samples, n_features)
        Numbers to look at.
    name : str
        The argument, as the user wrote it.
    mend : str
        What to do about it.
    rows : ndarray of int of shape (n_samples,), default=None
        The numbers of the rows, if not from 0 on.
    allow_nan : bool, default=False
        Whether NaN is no fault.

    Raises
    ------
    ValueError
        If any value is NaN or infinite.
    """

    def bad(part: np.ndarray) -> np.ndarray:
        return np.isinf(part) if allow_nan else ~np.isfinite(part)

    starts = range(0, len(values), _BATCH)
    # A large mask would be made for nothing where all is well.
    if not any(bad(values[start : start + _BATCH]).any() for start in starts):
        return
    faults = bad(values)
    places = np.flatnonzero(faults if values.ndim == 1 else faults.any(axis=1))
    what = "infinity" if allow_nan or not np.isnan(values[places[0]]).any() else "NaN"
    numbers = places if rows is None else rows[places]
    raise ValueError(
        f"{name} contains {what} in {rows_in_words(numbers.tolist())}; {mend}."
    )


def check_vectors(estimator: Any, X: Any, *, reset: bool) -> np.ndarray:
    """Validate a 2-d array of finite numbers, as float32 or float64."""
    try:
        X = validate_data(
            estimator,
            X,
            dtype=[np.float64, np.float32],
            ensure_all_finite=False,
            reset=reset,
        )
    except OverflowError as error:
        raise ValueError("X holds an integer that no float can hold.") from error
    check_finite_rows(
        X, "X", "drop these rows or fill them in (for example with SimpleImputer)"
    )
    return X


def check_labels(y: Any) -> np.ndarray:
    """Validate labels: a 1-d array of finite numbers, and NaN where there is none."""
    try:
        y = check_array(
            y,
            ensure_2d=False,
            dtype=np.float64,
            ensure_all_finite=False,
            input_name="y",
        )
    except OverflowError as error:
        raise ValueError("y holds an integer that no float can hold.") from error
    except TypeError as error:
        raise ValueError(
            f"y holds something else than numbers ({error}); leave NaN or None where a "
            "row has no label."
        ) from error
    except ValueError as error:
        if "could not convert" not in str(error):
            raise
        raise ValueError(
            f"y holds a word ({error}); labels are numbers, NaN where a row has none "
            "(for a pandas column: .map({'yes': 1, 'no': 0}))."
        ) from error
    y = column_or_1d(y, warn=True)
    check_finite_rows(y, "y", "leave NaN where a row has no label", allow_nan=True)
    return y


def check_weights(weights: Any, labeled: np.ndarray) -> np.ndarray:
    """Validate the sampling weights of the labelled rows; others are not read.

    Parameters
    ----------
    weights : array-like of shape (n_samples,)
        Numbers of zero and more where `labeled`.
    labeled : ndarray of shape (n_samples,)
        Which rows have a label.

    Returns
    -------
    ndarray of shape (n_labels,)
        Those of the labelled rows; the largest is 1.

    Raises
    ------
    ValueError
        If they are no such weights, or none is positive.
    """
    try:
        weights = check_array(
            weights,
            ensure_2d=False,
            dtype=np.float64,
            ensure_all_finite=False,
            input_name="sample_weight",
        )
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(
            f"sample_weight is no array of numbers ({error}); give one a row."
        ) from error
    if weights.ndim > 1 and weights.size != len(weights):
        raise ValueError(
            f"sample_weight has shape {weights.shape}; give one number a row."
        )
    weights = weights.ravel()
    if len(weights) != len(labeled):
        raise ValueError(
            f"sample_weight has {len(weights)} values, but X has {len(labeled)} rows; "
            "give one a row (those of unlabelled rows are not read)."
        )
    rows, weights = np.flatnonzero(labeled), weights[labeled]
    check_finite_rows(
        weights,
        "sample_weight",
        "give 1 / inclusion probability of a labelled row",
        rows=rows,
    )
    negative = np.flatnonzero(weights < 0)
    if len(negative):
        raise ValueError(
            f"sample_weight is {weights[negative[0]]:g} in "
            f"{rows_in_words(rows[negative].tolist())}; give 1 / inclusion "
            "probability, which is positive."
        )
    if not weights.any():
        raise ValueError(
            "sample_weight is zero in every labelled row; give some of them a weight."
        )
    # A weight too small beside the largest would be lost in the sum.
    weights = weights / weights.max()
    return np.where(weights > 1e-12, weights, 0.0)


def check_level(confidence_level: float, caller: str) -> None:
    """Raise a ValueError unless a confidence level is between 0 and 1."""
    validate_parameter_constraints(
        {"confidence_level": [Interval(Real, 0, 1, closed="neither")]},
        {"confidence_level": confidence_level},
        caller_name=caller,
    )


def check_mask(mask: Any, n_samples: int, name: str) -> np.ndarray:
    """Validate one true or false a row; None is false everywhere."""
    if mask is None:
        return np.zeros(n_samples, dtype=bool)
    values = np.asarray(mask)
    if values.shape != (n_samples,):
        raise ValueError(
            f"{name} has shape {values.shape}, but X has {n_samples} rows; give one "
            "true or false a row."
        )
    if values.dtype == object:
        bad = [i for i, v in enumerate(values) if not isinstance(v, bool | np.bool_)]
    else:
        bad = [] if values.dtype == bool else [0]
    if bad:
        raise ValueError(
            f"{name} holds {values[bad[0]]!r} in {rows_in_words(bad)}; give true or "
            "false for each row (not row numbers)."
        )
    return values.astype(bool)


def check_judge(judge: Any, n_samples: int) -> np.ndarray:
    """Validate predicted preferences: one number in [-1, 1] a row."""
    try:
        values = column_or_1d(
            check_array(
                judge,
                ensure_2d=False,
                dtype=np.float64,
                ensure_all_finite=False,
                input_name="judge",
            )
        )
    except (TypeError, OverflowError, ValueError) as error:
        raise ValueError(
            f"judge is no array of numbers ({error}); give one a row."
        ) from error
    if len(values) != n_samples:
        raise ValueError(
            f"judge has {len(values)} values, but X has {n_samples} rows; give one a "
            "row."
        )
    check_finite_rows(values, "judge", "predict a preference for each row, 0 for none")
    outside = np.flatnonzero(np.abs(values) > 1)
    if len(outside):
        raise ValueError(
            f"judge holds {values[outside[0]]:g} in {rows_in_words(outside.tolist())}; "
            "predicted preferences are in [-1, 1], so divide all by the largest "
            "possible size."
        )
    return values


def check_rows(rows: Any, n_samples: int, name: str) -> np.ndarray:
    """Turn row numbers into a mask of rows.

    Parameters
    ----------
    rows : array-like of int
        From 0 to ``n_samples - 1``.
    n_samples : int
        How many rows there are.
    name : str
        What the argument is called.

    Returns
    -------
    ndarray of bool of shape (n_samples,)

    Raises
    ------
    ValueError
        If one is no row number.
    """
    mask = np.zeros(n_samples, dtype=bool)
    values = np.asarray(rows)
    if values.size == 0:
        return mask
    valid = values.ndim == 1 and values.dtype.kind in "iu"
    bad = values[(values < 0) | (values >= n_samples)] if valid else rows
    if not valid or len(bad):
        found = int(bad[0]) if valid else bad
        raise ValueError(
            f"{name} holds {found!r}; pass a list of row numbers from 0 to "
            f"{n_samples - 1}."
        )
    mask[values] = True
    return mask


def check_groups(
    groups: Any, n_samples: int, rows: np.ndarray | None = None
) -> np.ndarray:
    """Give rows the numbers of their groups.

    Groups are numbered in ascending order, or in that of the rows where they cannot be
    compared (an int and a word).

    Parameters
    ----------
    groups : array-like of shape (n_samples,)
        Numbers or words, or anything hashable.
    n_samples : int
        How many rows there are.
    rows : ndarray of int of shape (n_rows,), default=None
        Which are read; None for all.

    Returns
    -------
    ndarray of int of shape (n_rows,)
        Numbers from zero.

    Raises
    ------
    ValueError
        If there is not one a row, one that is read is missing or not hashable.
    """
    shape = getattr(groups, "shape", None)
    # Letters of a word and columns of a table can be iterated over too.
    is_list = isinstance(groups, Sequence) and not isinstance(groups, str | bytes)
    if not (is_list if shape is None else len(shape) == 1):
        of_shape = "" if shape is None else f" of shape {tuple(shape)}"
        raise ValueError(
            f"groups is a {type(groups).__name__}{of_shape}; pass a list or a 1-d "
            "array with one group a row."
        )
    if len(groups) != n_samples:
        raise ValueError(
            f"groups has {len(groups)} values, but X has {n_samples} rows; give one "
            "group a row."
        )
    dtype = getattr(groups, "dtype", None)
    if isinstance(dtype, np.dtype) and dtype.kind in "biufU":
        names = np.asarray(groups) if rows is None else np.asarray(groups)[rows]
        if (names == names).all():
            return np.unique(names, return_inverse=True)[1]
    values = list(groups)
    read = values if rows is None else [values[row] for row in rows.tolist()]
    # A value that is new takes the next number.
    found: dict[Any, int] = defaultdict(itertools.count().__next__)
    try:
        codes = np.fromiter(map(found.__getitem__, read), np.intp, len(read))
    except TypeError:
        _refuse_missing(read, rows)
        _refuse_unhashable(read, rows)
        raise
    if any(_is_missing(value) for value in found):
        _refuse_missing(read, rows)
    try:
        order = [found[name] for name in sorted(found)]
    except TypeError:
        return codes
    return np.argsort(order)[codes]


def _refuse_missing(groups: list, rows: np.ndarray | None) -> None:
    places = [place for place, value in enumerate(groups) if _is_missing(value)]
    if places:
        numbers = places if rows is None else rows[places].tolist()
        raise ValueError(
            f"groups has no value ({groups[places[0]]}) in {rows_in_words(numbers)}; "
            "give each row a group, one of its own where it belongs to no other."
        )


def _refuse_unhashable(groups: list, rows: np.ndarray | None) -> None:
    for place, value in enumerate(groups):
        try:
            hash(value)
        except TypeError as error:
            row = place if rows is None else rows[place]
            raise ValueError(
                f"groups holds {value!r} in row {row}, which is no name of a group; "
                "use numbers or words."
            ) from error


def _is_missing(value: Any) -> bool:
    try:
        return value is None or bool(value != value)
    except (TypeError, ValueError):
        # pandas.NA is neither equal to itself nor not; an array is caught later.
        return type(value).__name__ == "NAType"
