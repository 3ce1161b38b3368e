"""Messages about the user's data that name the argument, the row and the mend."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.validation import validate_data


def rows_in_words(rows: Sequence[int]) -> str:
    """Name the first rows of a list: ``row 3``, ``rows 3, 7 and 12 more``."""
    if len(rows) == 1:
        return f"row {rows[0]}"
    shown = ", ".join(str(row) for row in rows[:3])
    more = f" and {len(rows) - 3} more" if len(rows) > 3 else ""
    return f"rows {shown}{more}"


def check_finite_rows(values: np.ndarray, name: str, mend: str) -> None:
    """Raise a ValueError that names the rows of `values` with NaN or infinity.

    Parameters
    ----------
    values : ndarray of shape (n_samples,) or (n_samples, n_features)
        Numbers to look at.
    name : str
        The argument, as the user wrote it.
    mend : str
        What to do about it.

    Raises
    ------
    ValueError
        If any value is NaN or infinite.
    """
    finite = np.isfinite(values)
    if finite.all():
        return
    if values.ndim > 1:
        finite = finite.all(axis=1)
    bad = np.flatnonzero(~finite)
    what = "NaN" if np.isnan(values[bad[0]]).any() else "infinity"
    raise ValueError(
        f"{name} contains {what} in {rows_in_words(bad.tolist())}; {mend}."
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
    except ValueError as error:
        if "could not convert" not in str(error):
            raise
        raise ValueError(
            f"y holds a word ({error}); labels are numbers, NaN where a row has none "
            "(for a pandas column: .map({'yes': 1, 'no': 0}))."
        ) from error
    y = column_or_1d(y, warn=True)
    check_finite_rows(
        np.where(np.isnan(y), 0.0, y), "y", "leave NaN where a row has no label"
    )
    return y
