"""What the commands answer: plain dictionaries, for machines and for the report."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

import skdiffuse
from skdiffuse.cli._design import Design

if TYPE_CHECKING:
    from skdiffuse.comparison import Verdict, WinningDistance

_NAMES = {1: "A", -1: "B", 0: None}


@dataclass
class Judged:
    """Labels and judge scores, as read from one file or two.

    Attributes
    ----------
    scores : ndarray of shape (n_rows, n_judges)
    labels : ndarray of shape (n_rows,)
    judges : list of str
        Names of the columns.
    alone : dict of str to ndarray
        What each judge says by itself.
    weights, groups : ndarray of shape (n_rows,) or None
    label_range : (low, high) or None
    notes : list of str
        What was noticed in reading.
    paired : bool
        Whether the labels are differences.
    """

    scores: np.ndarray
    labels: np.ndarray
    judges: list[str]
    alone: dict[str, np.ndarray]
    weights: np.ndarray | None = None
    groups: np.ndarray | None = None
    label_range: tuple[float, float] | None = None
    notes: list[str] = field(default_factory=list)
    paired: bool = False


def name_of(sign: int) -> str | None:
    """Return the name of a winner."""
    return _NAMES[sign]


def fixed_verdict(answers: np.ndarray, n_asked: int, n_examples: int) -> Verdict:
    """Make a verdict of all answers of a selection, without an order or a risk."""
    from skdiffuse.comparison import Verdict
    from skdiffuse.metrics import winner

    return Verdict(
        winner=winner(answers),
        termination_condition="max_annotations",
        risk=None,
        preferences=answers,
        risks=np.full(len(answers), np.nan),
        n_examples=n_asked,
        n_known_ties=n_examples - n_asked,
    )


def size_of(
    comparison: skdiffuse.PreferenceComparison, confidence_level: float
) -> WinningDistance | None:
    """Return how far A is ahead, or None where that cannot be told."""
    try:
        return comparison.winning_distance(confidence_level)
    except ValueError:
        return None


def decision(
    design: Design,
    answers: np.ndarray,
    confidence_level: float,
    *,
    as_numbers: bool,
) -> dict[str, Any]:
    """Count the answers to a selection, and say by how much, if that can be told."""
    verdict = fixed_verdict(answers, design.n_pool, design.n_pool + design.n_ties)
    size = _size_of_selection(design, answers, confidence_level)
    if size is not None and design.is_drawn:
        # One answer for both questions: the votes count rare draws like others.
        verdict = replace(verdict, winner=int(np.sign(round(size.mean, 12))))
    if design.is_complete:
        verdict = replace(verdict, termination_condition="all_annotated")
    result = from_verdict(verdict, np.flatnonzero(design.chosen), size)
    result["notes"] = notes_on_verdict(
        verdict,
        rule="fixed",
        size=size,
        equal_chances=design.selector.startswith("random, "),
        ties_are_draws=False,
        selected_before=False,
        as_numbers=as_numbers,
    )
    if size is None:
        result["notes"].insert(0, f"By how much cannot be told: {design.refusal()}.")
    return result


def _size_of_selection(
    design: Design, answers: np.ndarray, confidence_level: float
) -> WinningDistance | None:
    n_examples = design.n_pool
    how = {}
    if design.is_complete:
        pass
    elif not design.is_probability_sample:
        return None
    elif design.is_drawn:
        order = np.argsort(design.draws[design.chosen])
        how["draw_probabilities"] = design.probabilities[design.chosen][order]
        answers = answers[order]
    else:
        how["inclusion_probabilities"] = design.probabilities[design.chosen]
    found = skdiffuse.comparison.distance_of_sample(
        answers, n_examples, confidence_level=confidence_level, **how
    )
    return found.times(n_examples / (n_examples + design.n_ties))


def from_verdict(
    verdict: Verdict, selected: np.ndarray, size: WinningDistance | None
) -> dict[str, Any]:
    """Return a verdict as a dictionary."""
    details = dict(verdict.details)
    distance = None
    if size is not None:
        distance = asdict(size)
        # JSON has no NaN.
        if np.isnan(size.standard_error):
            distance["standard_error"] = None
        ends = f"{size.low:+.3f} to {size.high:+.3f}"
        # After a stop that the answers decided, the estimate itself is too large.
        details["winning distance"] = (
            f"{ends} ({size.confidence_level:g} confidence sequence)"
            if size.method == "confidence sequence"
            else f"{size.mean:+.3f}, {size.confidence_level:g} interval {ends} "
            f"({size.method})"
        )
    return {
        "winner": name_of(verdict.winner),
        "n_annotations": verdict.n_annotations,
        "n_pool": verdict.n_examples,
        "counts": verdict.counts,
        "risk": verdict.risk,
        "termination_condition": verdict.termination_condition,
        "headline": verdict.headline,
        "details": details,
        "winning_distance": distance,
        "selected": selected.tolist(),
    }


def notes_on_verdict(
    verdict: Verdict,
    *,
    rule: str | None,
    size: WinningDistance | None,
    equal_chances: bool,
    ties_are_draws: bool,
    selected_before: bool,
    as_numbers: bool,
) -> list[str]:
    """Return what a reader should know before trusting a verdict."""
    notes = []
    counts = verdict.counts
    exact = size is not None and size.method == "exact"
    if not exact and (rule != "fixed" or not equal_chances):
        mend = "" if size else "; for a size take --selector random or weighted"
        notes.append(
            "The shares of the votes are not win rates: some examples were drawn more "
            "readily than others, which the winning distance accounts for."
            if rule == "fixed" and size
            else "The shares of the votes are not win rates: the examples, or their "
            f"number, were chosen to find the winner{mend}."
        )
    if size is not None and verdict.winner:
        if size.method == "confidence sequence" and size.low <= 0 <= size.high:
            notes.append(
                "The verdict asks one side only, the winning distance both: it may "
                "hold 0 although one is named."
            )
        elif size.method == "strata" and verdict.winner * size.mean < 0:
            notes.append(
                "Votes and winning distance disagree: a vote counts for its example, "
                "the distance counts it for its whole cluster, which is less precise."
            )
    if selected_before:
        notes.append(
            "The file has a column row, as the command select writes it: then the "
            "examples outside the file were not judged, and nothing here counts them."
        )
    if as_numbers and counts["B"] == 0 and counts["A"] and counts["tie"]:
        notes.append(
            "No judged example is won by B. If 0 stands for B in your answers, write "
            "-1 (or B): 0 is a tie."
        )
    if ties_are_draws and verdict.headline == "Inconclusive." and counts["tie"]:
        notes.append(
            "With --ties draw the risk counts ties against the leader; it is not the "
            "chance that the leader is worse. --ties drop leaves them out."
        )
    return _on_strength(verdict, size) + notes


def _on_strength(verdict: Verdict, size: WinningDistance | None) -> list[str]:
    """Say how much a leader is worth that no rule has named."""
    counts = verdict.counts
    decided = counts["A"] + counts["B"]
    if verdict.termination_condition != "max_annotations":
        return []
    if decided < 5:
        are = "example is not a tie" if decided == 1 else "examples are not ties"
        return [f"Only {decided} judged {are}; judge more."]
    if not verdict.winner or verdict.risk is not None:
        return []
    if size is None:
        return [
            "No rule says how sure that is: a lead of a few votes is none. To ask "
            "until it is clear, take skdiffuse annotate, or compare without --budget."
        ]
    if size.low <= 0 <= size.high:
        return ["The interval holds 0: these answers do not tell which is better."]
    return []


def notes_on_selection(n_selected: int, budget: int, n_pool: int) -> list[str]:
    """Return why fewer rows were written than asked for."""
    if n_selected >= budget:
        return []
    if n_selected == n_pool:
        return [f"The file has no more examples than {n_pool}."]
    return [
        f"There are only {n_selected} distinct differences; pairs that differ in the "
        "same way need one judgement."
    ]


# Errs least with few labels (docs/evidence.md), whatever the judge is worth.
_RECOMMENDED = "plugin"


def _variants() -> dict[str, Any]:
    return {
        "classical": skdiffuse.PPIMeanEstimator(lam=0),
        "ppi": skdiffuse.PPIMeanEstimator(),
        "ridge": skdiffuse.RidgePPIMeanEstimator(),
        "sigmoid": skdiffuse.SigmoidPPIMeanEstimator(),
        "plugin": skdiffuse.RidgePPIMeanEstimator(penalty="plugin"),
    }


def fit_recommended(judged: Judged) -> Any:
    """Return the recommended estimator, fitted."""
    return _variants()[_RECOMMENDED].fit(
        judged.scores, judged.labels, sample_weight=judged.weights
    )


def estimates(judged: Judged, confidence_level: float) -> dict[str, Any]:
    """Estimate the mean by the labels, by each judge alone, and by both."""
    X, y = judged.scores, judged.labels
    fitted = {
        name: estimator.fit(X, y, sample_weight=judged.weights, groups=judged.groups)
        for name, estimator in _variants().items()
    }
    results = []
    for name, estimator in fitted.items():
        # Differences of grades may all be -1, 0 or 1 by chance.
        unknown = judged.paired and judged.label_range is None
        low, high = estimator.confidence_interval(
            confidence_level,
            method="t" if unknown else "auto",
            label_range=judged.label_range,
        )
        results.append(
            {
                "method": name,
                "mean": estimator.mean_,
                "low": low,
                "high": high,
                "effective_sample_size": estimator.effective_sample_size_,
                "labels_saved": estimator.labels_saved_,
                "recommended": name == _RECOMMENDED,
            }
        )
    judges = []
    for name, scores in judged.alone.items():
        alone = skdiffuse.PPIMeanEstimator(lam=0)
        alone.fit(X, scores, groups=judged.groups)
        low, high = alone.confidence_interval(confidence_level)
        names = {"method": "judge_only", "judge": name}
        judges.append(names | {"mean": alone.mean_, "low": low, "high": high})
    # The judge beside the labels, before both together.
    results[1:1] = judges
    best = fitted[_RECOMMENDED]
    return {
        "estimates": results,
        "n_labeled": best.n_labeled_,
        "n_unlabeled": best.n_unlabeled_,
        "confidence_level": confidence_level,
        "effective_sample_size": best.effective_sample_size_,
        "labels_saved": best.labels_saved_,
        "judge_helps": best.judge_helps_,
        "judge_reason": best.judge_reason_,
        "fallback": best.fallback_,
        "notes": judged.notes + _notes_on_labels(judged),
    }


def _notes_on_labels(judged: Judged) -> list[str]:
    labeled = ~np.isnan(judged.labels)
    notes = []
    if labeled.all():
        notes.append(
            "Every row has a label. If some stand for a missing one (-1, say), leave "
            "them empty."
        )
    for name, scores in zip(judged.judges, judged.scores.T, strict=True):
        here, pool = scores[labeled], scores[~labeled]
        # Weights are there since the labels are no plain random sample; and labels of
        # whole groups differ by more than those of single rows.
        if not len(pool) or judged.weights is not None or judged.groups is not None:
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
