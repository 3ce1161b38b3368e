"""A comparison that is put aside, and taken up again."""

from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skdiffuse.comparison._log import (
    fingerprint,
    read_log,
    same_fingerprint,
    write_log,
)


class SavedMixin:
    """Writing a comparison to a file, and reading it back."""

    max_annotations: int
    _answers: dict[int, float | None]
    _asked: frozenset[int]
    _extended: bool
    _fingerprint: dict[str, Any]
    _judge: np.ndarray | None
    _known_ties: np.ndarray
    _n_examples: int
    _order: list[int]
    _setting: dict[str, Any]
    _skipped: frozenset[int]
    # What the comparison itself does.
    _become: Any
    _prepared: Any

    def save(self, path: str | Path, *, remarks: Any = None) -> None:
        """Write order, seed and answers as JSON lines.

        Parameters
        ----------
        path : str or Path
            The file; it is replaced at once when the new one is complete.
        remarks : mapping of int to dict, default=None
            What else is known of the answer to a row, such as who gave it: JSON values,
            written beside it. The key -1 is for the comparison as a whole. `load`
            passes over them; `read_remarks` reads them.
        """
        check_is_fitted(self)
        header = self._setting | {
            "n_examples": self._n_examples,
            "fingerprint": self._fingerprint,
            "order": self._order,
            # Rows that have left the order since a row was skipped.
            "asked_before": sorted(self._asked.difference(self._order)),
            "judge": self._judge_print(),
            "known_ties": self._known_ties.tolist(),
            "extended": self._extended,
        }
        write_log(Path(path), header, self._answers, self._skipped, remarks or {})

    def load(self, path: str | Path, X: Any, *, judge: Any = None) -> Self:
        """Take up a saved comparison of the same difference vectors.

        Parameters
        ----------
        path : str or Path
            A file that `save` wrote.
        X : array-like of shape (n_examples, n_features)
            The difference vectors of then.
        judge : array-like of shape (n_examples,), default=None
            The judge of then.

        Returns
        -------
        self : PreferenceComparison
            With the order and the answers of the file.

        Raises
        ------
        ValueError
            If the file cannot be read, `X` has changed by more than rounding, or the
            comparison was saved with another selector or rule.

        Notes
        -----
        A larger `max_annotations` goes on where an inconclusive comparison ended.
        """
        header, answers, skipped = read_log(Path(path))
        fresh = self._prepared(X, judge, None, header.get("known_ties", []))
        if not same_fingerprint(header.get("fingerprint"), fresh._fingerprint):
            raise ValueError(
                f"X is not the X that {path} was saved with (the fingerprints differ); "
                "pass the same rows in the same order, or start anew."
            )
        for name, value in fresh._setting.items():
            if header.get(name) != value:
                raise ValueError(
                    f"{path} was saved with {name}={header.get(name)}, but this "
                    f"comparison has {name}={value}; use the same, or start anew."
                )
        same = same_fingerprint(header.get("judge"), fresh._judge_print())
        if not same and header.get("judge") != fresh._judge_print():
            raise ValueError(
                f"judge is not the one that {path} was saved with (or only one of both "
                "has any); pass the judge of then, or start anew."
            )
        order = header["order"]
        fresh._asked = frozenset(header.get("asked_before", []))
        fresh._leave_out(answers)
        n = min(self.max_annotations, fresh._n_judgeable)
        # Older files do not say.
        fresh._extended = bool(header.get("extended", True))
        fresh._reordered = fresh._order_of(len(order)) != order
        if n > len(order):
            if fresh._reordered:
                raise ValueError(cannot_go_on(n, len(order)))
            order = fresh._order_of(n)
            fresh._extended |= len(answers) > 0
        return self._become(fresh._begin(order, answers, skipped))

    def _judge_print(self) -> dict[str, Any] | None:
        return None if self._judge is None else fingerprint(self._judge[:, np.newaxis])


def cannot_go_on(n: int, n_ordered: int) -> str:
    """Say why an order cannot be made longer."""
    return (
        f"max_annotations={n} is more than the {n_ordered} rows that were ordered, and "
        "the selector would go on otherwise now; give it the random_state of then, or "
        "the old max_annotations."
    )
