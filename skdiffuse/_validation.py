"""Messages about the user's data that name the argument, the row and the mend."""

from collections.abc import Sequence
from typing import Any

import numpy as np
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
    X = validate_data(
        estimator,
        X,
        dtype=[np.float64, np.float32],
        ensure_all_finite=False,
        reset=reset,
    )
    check_finite_rows(
        X, "X", "drop these rows or fill them in (for example with SimpleImputer)"
    )
    return X
