"""The verdict of a comparison: who wins, from what, and why it ended."""

from dataclasses import dataclass
from html import escape

import numpy as np

_ENDINGS = {
    "stopping_rule": "the stopping rule is satisfied",
    "max_annotations": "the budget is spent",
    "all_annotated": "every example is judged",
    "in_progress": "more annotations are needed",
}


@dataclass(frozen=True, eq=False)
class Verdict:
    """What a comparison says so far.

    Attributes
    ----------
    winner : int
        +1 if A is named, -1 if B is, 0 if it is inconclusive.
    termination_condition : str
        ``"stopping_rule"``, ``"max_annotations"``, ``"all_annotated"`` or
        ``"in_progress"``.
    risk : float or None
        The stopping rule's risk after the last annotation; None if it has none.
    preferences : ndarray of shape (n_annotations,)
        The preferences that count, in the order of annotation.
    risks : ndarray of shape (n_annotations,)
        The risk after each annotation, NaN where the rule has none.
    n_examples : int
        Number of all examples that may be asked for.
    risk_means : str
        What the risk is worth.
    n_known_ties : int
        Number of examples beside them that are ties without asking.
    n_skipped : int
        Number of examples that nobody could judge.
    skips_are_ties : bool
        Whether those count as ties; otherwise others took their place.
    """

    winner: int
    termination_condition: str
    risk: float | None
    preferences: np.ndarray
    risks: np.ndarray
    n_examples: int
    risk_means: str = ""
    n_known_ties: int = 0
    n_skipped: int = 0
    skips_are_ties: bool = False

    @property
    def n_annotations(self) -> int:
        """Number of annotations that count."""
        return len(self.preferences)

    @property
    def counts(self) -> dict[str, int]:
        """How many examples A wins, B wins, and are ties."""
        signs = np.sign(self.preferences)
        return {
            name: int(np.count_nonzero(signs == sign))
            for name, sign in (("A", 1), ("B", -1), ("tie", 0))
        }

    @property
    def headline(self) -> str:
        """The verdict in one sentence."""
        if self.winner:
            # A budget is no reason to believe the leader.
            spent = self.termination_condition == "max_annotations"
            says = "is ahead" if spent else "is better"
            return f"{'A' if self.winner > 0 else 'B'} {says}."
        if self.termination_condition == "in_progress":
            return "Not decided yet."
        if self.termination_condition == "all_annotated":
            return "Neither is better."
        return "Inconclusive."

    @property
    def _ending(self) -> str:
        ending = _ENDINGS[self.termination_condition]
        all_judged = self.termination_condition == "all_annotated"
        return f"{ending} or skipped" if all_judged and self.n_skipped else ending

    @property
    def details(self) -> dict[str, str]:
        """What the verdict rests on, in words."""
        counts = self.counts
        known = f", {self.n_known_ties} more are ties" if self.n_known_ties else ""
        rows = {
            "judged": f"{self.n_annotations} of {self.n_examples} examples{known}",
            "votes": f"A wins {counts['A']}, B wins {counts['B']}, "
            f"{counts['tie']} {'tie' if counts['tie'] == 1 else 'ties'}",
            "status": self._ending,
        }
        if self.n_skipped:
            means = "counted as ties" if self.skips_are_ties else "left out"
            rows["skipped"] = f"{self.n_skipped} ({means})"
        if self.risk is not None:
            certain = self.termination_condition == "all_annotated"
            means = f" ({self.risk_means})" if self.risk_means and not certain else ""
            rows["risk"] = f"{self.risk:.3g}{means}"
        return rows

    def __repr__(self) -> str:
        details = "; ".join(f"{name}: {value}" for name, value in self.details.items())
        return f"<Verdict: {self.headline} {details}>"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th style='text-align:left'>{escape(name)}</th>"
            f"<td style='text-align:left'>{escape(value)}</td></tr>"
            for name, value in self.details.items()
        )
        return f"<p><b>{escape(self.headline)}</b></p><table>{rows}</table>"
