"""What the commands answer: plain dictionaries, for machines and for the report."""

from typing import Any

import numpy as np

from skdiffuse import (
    PPIMeanEstimator,
    RidgePPIMeanEstimator,
    SigmoidPPIMeanEstimator,
)
from skdiffuse.comparison import Verdict
from skdiffuse.metrics import winner

_NAMES = {1: "A", -1: "B", 0: None}


def name_of(sign: int) -> str | None:
    """Return the name of a winner."""
    return _NAMES[sign]


def fixed_verdict(answers: np.ndarray, n_examples: int) -> Verdict:
    """Make a verdict of all answers of a selection, without an order or a risk."""
    return Verdict(
        winner=winner(answers),
        termination_condition="max_annotations",
        risk=None,
        preferences=answers,
        risks=np.full(len(answers), np.nan),
        n_examples=n_examples,
    )


def from_verdict(verdict: Verdict, selected: np.ndarray) -> dict[str, Any]:
    """Return a verdict as a dictionary."""
    return {
        "winner": name_of(verdict.winner),
        "n_annotations": verdict.n_annotations,
        "n_pool": verdict.n_examples,
        "counts": verdict.counts,
        "risk": verdict.risk,
        "termination_condition": verdict.termination_condition,
        "headline": verdict.headline,
        "details": verdict.details,
        "selected": selected.tolist(),
    }


def notes_on_verdict(
    verdict: Verdict,
    *,
    random_sample: bool,
    ties_are_draws: bool,
    selected_before: bool,
) -> list[str]:
    """Return what a reader should know before trusting a verdict."""
    notes = []
    counts = verdict.counts
    if not random_sample:
        notes.append(
            "The shares of the votes are not win rates: the examples, or their number, "
            "were chosen to find the winner."
        )
    if selected_before:
        notes.append(
            "The file has a column row, as the command select writes it: then the "
            "examples outside the file were not judged, and nothing here counts them."
        )
    if counts["B"] == 0 and counts["A"] and counts["tie"]:
        notes.append(
            "No judged example is won by B. If 0 stands for B in your column, write -1 "
            "(or B): 0 is a tie."
        )
    if ties_are_draws and verdict.headline == "Inconclusive." and counts["tie"]:
        notes.append(
            "The risk counts ties against the leader; it is not the chance that the "
            "leader is worse. --ties drop leaves ties out; --rule betting has a "
            "guarantee."
        )
    decided = counts["A"] + counts["B"]
    if verdict.termination_condition == "max_annotations" and decided < 5:
        notes.append(f"Only {decided} judged examples are not ties; judge more.")
    return notes


def notes_on_selection(n_selected: int, budget: int, n_pool: int) -> list[str]:
    """Return why fewer rows were written than asked for."""
    if n_selected >= budget:
        return []
    if n_selected == n_pool:
        return [f"The file has {n_pool} examples only."]
    return [
        f"There are only {n_selected} distinct differences; pairs that differ in the "
        "same way need one judgement."
    ]


def estimates(
    X: np.ndarray, y: np.ndarray, judges: list[str], confidence_level: float
) -> dict[str, Any]:
    """Estimate the mean by the labels, by each judge alone, and by both."""
    ppi = PPIMeanEstimator().fit(X, y)
    rows: list[tuple[dict[str, str], Any]] = [
        ({"method": "classical"}, PPIMeanEstimator(lam=0).fit(X, y))
    ]
    for name, scores in zip(judges, X.T, strict=True):
        alone = PPIMeanEstimator(lam=0).fit(X, scores)
        rows.append(({"method": "judge_only", "judge": name}, alone))
    rows.append(({"method": "ridge"}, RidgePPIMeanEstimator().fit(X, y)))
    rows.append(({"method": "sigmoid"}, SigmoidPPIMeanEstimator().fit(X, y)))
    rows.append(({"method": "ppi"}, ppi))
    results = []
    for names, estimator in rows:
        low, high = estimator.confidence_interval(confidence_level)
        results.append(names | {"mean": estimator.mean_, "low": low, "high": high})
    return {
        "estimates": results,
        "n_labeled": ppi.n_labeled_,
        "n_unlabeled": ppi.n_unlabeled_,
        "confidence_level": confidence_level,
        "effective_sample_size": ppi.effective_sample_size_,
        "labels_saved": ppi.labels_saved_,
        "judge_helps": ppi.judge_helps_,
        "judge_reason": ppi.judge_reason_,
        "fallback": ppi.fallback_,
        "notes": _notes_on_labels(X, y, judges),
    }


def _notes_on_labels(X: np.ndarray, y: np.ndarray, judges: list[str]) -> list[str]:
    labeled = ~np.isnan(y)
    notes = []
    if labeled.all():
        notes.append(
            "Every row has a label. If some stand for a missing one (-1, say), leave "
            "them empty."
        )
    for name, scores in zip(judges, X.T, strict=True):
        here, pool = scores[labeled], scores[~labeled]
        if not len(pool):
            continue
        error = scores.std() * np.sqrt(1 / len(here) + 1 / len(pool))
        # Random labels go beyond four standard errors once in 16,000 times.
        if abs(here.mean() - pool.mean()) > 4 * error:
            notes.append(
                f"{name} has the mean {here.mean():.4g} on the labelled rows and "
                f"{pool.mean():.4g} on the others: the labels do not look like a "
                "random sample, and then no interval here holds."
            )
    return notes
