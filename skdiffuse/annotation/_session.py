"""A comparison that people judge: whom to ask what, and what was said."""

import hashlib
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from skdiffuse.annotation._text import visible
from skdiffuse.comparison import PreferenceComparison, read_remarks

# After so many seconds without a sign of life an annotator's question is another's.
_PATIENCE = 60.0
# Fewer answers say nothing of how many more it takes.
_FEW = 10
ANSWERS = ("left", "right", "tie", "skip")


class AlreadyAnsweredError(ValueError):
    """Somebody else has judged the pair in the meantime."""


@dataclass(frozen=True)
class Question:
    """A pair as an annotator sees it: which side is whose is not said.

    Attributes
    ----------
    row : int
        The row of the example.
    input : str or None
        What both outputs answer.
    left, right : str
        The outputs, without signs that act on a terminal.
    same : bool
        Whether the outputs are equal.
    """

    row: int
    input: str | None
    left: str
    right: str
    same: bool


class Session:
    """Ask annotators, and write each answer to disk before the next question.

    Parameters
    ----------
    comparison : PreferenceComparison
        Started, or loaded from `path`.
    texts_a, texts_b : sequence of str
        The outputs of A and of B.
    inputs : sequence of (str or None), or None
        What both answer.
    path : Path
        Where the answers are. If the file exists, its remarks are kept.
    seed : int
        Decides which output is on the left.
    about : mapping, default=None
        What else is to be remembered of this session: JSON values.
    summarise : callable, default=None
        Makes of the session what is shown at its end: a dictionary with `headline`,
        `details` and `notes`. None for the verdict alone.

    Notes
    -----
    Several annotators may ask and answer from several threads. Each has one question
    at a time, the first in the order of annotation that nobody else has.
    """

    def __init__(
        self,
        comparison: PreferenceComparison,
        texts_a: Sequence[str],
        texts_b: Sequence[str],
        inputs: Sequence[str | None] | None,
        path: Path,
        *,
        seed: int,
        about: Mapping[str, Any] | None = None,
        summarise: Callable[[Any], dict[str, Any]] | None = None,
    ) -> None:
        self.comparison = comparison
        self.path = path
        self._texts = texts_a, texts_b
        self._inputs = inputs
        sides = np.random.default_rng([seed, len(texts_a)])
        self._a_is_left = sides.random(len(texts_a)) < 0.5
        self._remarks: dict[int, dict[str, Any]] = {}
        if path.exists():
            self._remarks = read_remarks(path)
        if about is not None:
            self._remarks[-1] = dict(about)
        self._summarise = summarise or _verdict
        self._summary: dict[str, Any] | None = None
        self._status: dict[str, Any] | None = None
        self._claims: dict[str, int] = {}
        self._heard: dict[str, float] = {}
        self._lock = threading.RLock()
        if not path.exists():
            self._save()

    @property
    def has_ended(self) -> bool:
        """Whether there is a verdict, or nothing more to ask."""
        return self.comparison.termination_condition_ != "in_progress"

    def ask(self, annotator: str) -> Question | None:
        """Return an annotator's question; None if there is none (for the moment)."""
        with self._lock:
            self._heard[annotator] = time.monotonic()
            if self.has_ended:
                return None
            row, waiting = self._claims.get(annotator), self._waiting()
            taken = self._taken(annotator)
            if row not in waiting or row in taken:
                row = next((r for r in waiting if r not in taken), None)
            if row is None:
                self._claims.pop(annotator, None)
                return None
            self._claims[annotator] = row
            return self._question(row)

    def answer(self, annotator: str, row: int, answer: str) -> None:
        """Take an answer to a question, and write it to disk.

        Raises
        ------
        AlreadyAnsweredError
            If somebody else has answered it.
        ValueError
            If it is no answer, or the row was never asked for.
        OSError
            If it cannot be written; then it does not count.
        """
        if answer not in ANSWERS:
            raise ValueError(f"{answer!r} is no answer; give one of {ANSWERS}.")
        if not 0 <= row < len(self._a_is_left):
            raise ValueError(f"row {row} is no example.")
        with self._lock:
            if row in self.comparison.answers_:
                known = self._remarks.get(row, {})
                # The page did not hear that its answer had come, and sent it again.
                if (known.get("annotator"), known.get("answer")) == (annotator, answer):
                    return
                raise AlreadyAnsweredError(f"row {row} has an answer already.")
            try:
                if answer == "skip":
                    self.comparison.skip(row)
                else:
                    self.comparison.tell(row, self._preference(row, answer))
                self._remarks[row] = {
                    "answer": answer,
                    "left": "A" if self._a_is_left[row] else "B",
                    "annotator": annotator,
                    "time": datetime.now(UTC).isoformat(timespec="seconds"),
                }
                self._save()
            except BaseException:
                if row in self.comparison.answers_:
                    self.comparison.untell(row)
                self._remarks.pop(row, None)
                raise
            self._claims.pop(annotator, None)

    def undo(self, annotator: str | None) -> bool:
        """Take back the last answer of an annotator, and ask it again.

        Parameters
        ----------
        annotator : str or None
            None for the last answer of anybody.

        Returns
        -------
        bool
            False if there is none.
        """
        with self._lock:
            rows = [
                row
                for row in self.comparison.answers_
                if annotator in (None, self._remarks.get(row, {}).get("annotator"))
            ]
            if not rows:
                return False
            row = rows[-1]
            skipped = row in self.comparison.skipped_indices_
            value = self.comparison.answers_[row]
            try:
                self.comparison.untell(row)
                self._save()
            except BaseException:
                if row not in self.comparison.answers_ and skipped:
                    self.comparison.skip(row)
                elif row not in self.comparison.answers_:
                    self.comparison.tell(row, value)
                raise
            self._remarks.pop(row, None)
            if annotator is not None:
                self._claims[annotator] = row
            return True

    def leave(self, annotator: str) -> None:
        """Let others have an annotator's question."""
        with self._lock:
            self._claims.pop(annotator, None)
            self._heard.pop(annotator, None)

    def hear(self, annotator: str) -> None:
        """Note that an annotator is at work, and keeps the question."""
        with self._lock:
            self._heard[annotator] = time.monotonic()

    def status(self) -> dict[str, Any]:
        """Return how far the comparison is, without a word of who leads."""
        with self._lock:
            if self._status is None:
                self._status = self._look()
            return self._status

    def _look(self) -> dict[str, Any]:
        comparison, rule = self.comparison, self.comparison.stopping_rule_
        told = comparison.n_annotations_
        n_answers = sum(value is not None for value in comparison.answers_.values())
        status = {
            "judged": told,
            "at_most": told + len(self._waiting()),
            "left": comparison.annotations_left() if told >= _FEW else None,
            "risk": comparison.risk_,
            "threshold": getattr(rule, "risk", getattr(rule, "alpha", None)),
            "skipped": len(comparison.skipped_indices_),
            "early": n_answers - told,
            "ended": self.has_ended,
        }
        return status | {"words": _in_words(status)}

    def summary(self) -> dict[str, Any]:
        """Return what is to be said at the end."""
        with self._lock:
            if self._summary is None:
                self._summary = self._summarise(self)
            return self._summary

    def lead(self) -> dict[str, int]:
        """Return how many examples A wins, B wins, and are ties."""
        with self._lock:
            return self.comparison.verdict_.counts

    def sides(self) -> tuple[int, int]:
        """Return how often the left and the right output was preferred."""
        given = [remark.get("answer") for remark in self._remarks.values()]
        return given.count("left"), given.count("right")

    def table(self) -> dict[str, list[Any]]:
        """Return the columns of a table of all answers, in the order of answering."""
        answers = self.comparison.answers_
        remarks = [self._remarks.get(row, {}) for row in answers]
        columns: dict[str, list[Any]] = {"row": list(answers)}
        if self._inputs is not None:
            columns["input"] = [self._inputs[row] for row in answers]
        for name, texts in zip(("output_a", "output_b"), self._texts, strict=True):
            columns[name] = [texts[row] for row in answers]
        skipped = set(self.comparison.skipped_indices_.tolist())
        words = {1.0: "A", -1.0: "B", 0.0: "tie"}
        columns["preference"] = [
            None if row in skipped or value is None else words.get(value, str(value))
            for row, value in answers.items()
        ]
        for name in ("left", "annotator", "time"):
            columns[name] = [remark.get(name) for remark in remarks]
        return columns

    def _waiting(self) -> list[int]:
        return self.comparison.ask(self.comparison.max_annotations).tolist()

    def _taken(self, annotator: str) -> set[int]:
        """Return the questions that others are thinking about."""
        now = time.monotonic()
        return {
            row
            for other, row in self._claims.items()
            if other != annotator and now - self._heard.get(other, 0.0) < _PATIENCE
        }

    def _question(self, row: int) -> Question:
        a, b = (visible(texts[row]) for texts in self._texts)
        left, right = (a, b) if self._a_is_left[row] else (b, a)
        asked = None if self._inputs is None else self._inputs[row]
        same = self._texts[0][row] == self._texts[1][row]
        shown = None if asked is None else visible(asked)
        return Question(row, shown, left, right, same)

    def _preference(self, row: int, answer: str) -> float:
        if answer == "tie":
            return 0.0
        return 1.0 if (answer == "left") == bool(self._a_is_left[row]) else -1.0

    def _save(self) -> None:
        self._summary = self._status = None
        self.comparison.save(self.path, remarks=self._remarks)


def _in_words(status: dict[str, Any]) -> list[str]:
    """Say how far a comparison is."""
    parts = [f"{status['judged']} judged"]
    if status["skipped"]:
        parts.append(f"{status['skipped']} skipped")
    if status["early"] and not status["ended"]:
        parts.append(f"{status['early']} not counted yet")
    if status["risk"] is not None and status["judged"]:
        part = f"risk {status['risk']:.2g}"
        if status["threshold"] is not None:
            part += f" (stops below {status['threshold']:g})"
        parts.append(part)
    if not status["ended"]:
        most = status["at_most"] - status["judged"]
        likely = status["left"]
        parts.append(f"about {likely} more" if likely else f"at most {most} more")
    return parts


def _verdict(session: Session) -> dict[str, Any]:
    verdict = session.comparison.verdict_
    return {"headline": verdict.headline, "details": verdict.details, "notes": []}


def digest(texts_a: Sequence[str], texts_b: Sequence[str]) -> str:
    """Return a short word that changes with the outputs."""
    content = hashlib.sha256()
    for text in (*texts_a, *texts_b):
        encoded = text.encode("utf-8", "surrogatepass")
        content.update(len(encoded).to_bytes(8, "big") + encoded)
    return content.hexdigest()[:16]
