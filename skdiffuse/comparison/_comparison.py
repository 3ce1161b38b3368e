"""PreferenceComparison: judge one example after the other until it is clear."""

from array import array
from collections.abc import Mapping
from itertools import islice
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_array, column_or_1d
from sklearn.utils._param_validation import HasMethods, Interval
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from skdiffuse import metrics
from skdiffuse._validation import check_judge, check_mask, check_vectors
from skdiffuse.comparison._answers import as_number, as_row, listed
from skdiffuse.comparison._draws import Draws
from skdiffuse.comparison._log import fingerprint, plain
from skdiffuse.comparison._outlook import likely_left
from skdiffuse.comparison._rules import (
    Assessment,
    HypergeometricRule,
    StoppingRule,
)
from skdiffuse.comparison._saved import SavedMixin, cannot_go_on
from skdiffuse.comparison._size import SizeMixin
from skdiffuse.comparison._verdict import Verdict
from skdiffuse.selection import DiffUseSelector


class PreferenceComparison(SizeMixin, SavedMixin, BaseEstimator):
    """Compare two generators by few preferences, asked one after the other.

    The selector orders the examples, an oracle judges them in that order, and after
    each judgement the stopping rule says whether the winner is clear (Algorithm 1 of
    [1]_).

    Parameters
    ----------
    selector : selector, default=None
        An unfitted selector with `annotation_order`; None for ``DiffUseSelector()``.
        To search its parameters in a grid (``selector__representative``), pass an
        instance.
    stopping_rule : stopping rule, default=None
        When to stop; None for ``HypergeometricRule()``.
    min_annotations : int, default=5
        The rule is not asked before so many annotations.
    max_annotations : int, default=200
        After so many annotations without a verdict the comparison is inconclusive
        (under `FixedBudget`: names the leader).
    batch_size : int, default=1
        How many examples a callable oracle is asked for at once. More than one is
        for oracles that work in parallel; the annotations beyond the one at which the
        rule stops do not count.

    Attributes
    ----------
    winner_ : int
        +1 if A is named, -1 if B is, 0 if it is inconclusive (or not decided yet).
    annotated_indices_ : ndarray of shape (`n_annotations_`,)
        The rows whose preferences count, in the order of annotation.
    answers_ : dict of int to (float or None)
        The answer to each row, in the order in which they were told, also those that
        do not count (yet); None for a row that was left out.
    skipped_indices_ : ndarray of shape (n_skipped,)
        The rows that nobody could judge, in the order in which they were skipped.
    n_annotations_ : int
        Their number.
    risk_ : float or None
        The rule's risk after the last of them.
    termination_condition_ : {"stopping_rule", "max_annotations", "all_annotated", \
"in_progress"}
        Why it ended, if it did. A comparison in which every example was judged has
        the exact winner, whatever the rule.
    path_ : dict of ndarray of shape (`n_annotations_`,)
        After each annotation: ``"n_annotations"``, ``"A"`` and ``"B"`` (wins),
        ``"tie"``, ``"risk"`` (NaN where the rule has none).
    verdict_ : Verdict
        All of this to read: it prints as a sentence, and as a table in a notebook.
    selector_ : selector
        The fitted selector.
    stopping_rule_ : stopping rule
        The rule in use.
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of features seen during `fit`, where `X` has names that are all strings.

    Raises
    ------
    ValueError
        If `X` has NaN or infinity, a preference that is asked for is not a finite
        number, ``min_annotations > max_annotations``, or the rule does not hold for
        the selector.

    See Also
    --------
    DiffUseSelector : The default selector.
    HypergeometricRule : The default rule, a heuristic.
    BettingRule : A rule with a guarantee.

    Notes
    -----
    Selector and rule have the defaults that served best on public judgements
    (``docs/evidence.md``, "When does a comparison stop, and is it right?").

    For graded preferences the winner is the sign of their mean.

    A grid search needs splits of the rows; a callable oracle cannot be split, so pass
    `y` as an array there. `SubsampleSplit` is the protocol of the paper.

    References
    ----------
    .. [1] Ashury-Tahan et al., "Label-Efficient Model Selection for Text
       Generation", ACL 2024, arXiv:2402.07891.

    Examples
    --------
    >>> from skdiffuse import PreferenceComparison
    >>> from skdiffuse.datasets import make_preference_pool
    >>> X, y = make_preference_pool(winning_distance=0.4, random_state=0)
    >>> comparison = PreferenceComparison().fit(X, y)
    >>> comparison.verdict_
    <Verdict: A is better. judged: 8 of 500 examples; votes: A wins 7, B wins 1, 0
    ties; status: the stopping rule is satisfied; risk: 0.0341 (a rule of thumb, no
    guarantee)>
    >>> comparison.score(X, y)
    1.0

    With people, or anything that answers later:

    >>> comparison = PreferenceComparison(min_annotations=2).start(X)
    >>> rows = comparison.ask(2)
    >>> comparison.tell(rows, [1, 1]).winner_
    0
    """

    _parameter_constraints: dict = {
        "selector": [HasMethods(["fit", "annotation_order"]), None],
        "stopping_rule": [HasMethods(["assess"]), None],
        "min_annotations": [Interval(Integral, 1, None, closed="left")],
        "max_annotations": [Interval(Integral, 1, None, closed="left")],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
    }

    _asked: frozenset[int]

    def __init__(
        self,
        selector: Any = None,
        stopping_rule: Any = None,
        min_annotations: int = 5,
        max_annotations: int = 200,
        *,
        batch_size: int = 1,
    ) -> None:
        self.selector = selector
        self.stopping_rule = stopping_rule
        self.min_annotations = min_annotations
        self.max_annotations = max_annotations
        self.batch_size = batch_size

    def fit(self, X: Any, y: Any, *, judge: Any = None, known_ties: Any = None) -> Self:
        """Compare, and stop when the rule says so.

        Parameters
        ----------
        X : array-like of shape (n_examples, n_features)
            Difference vectors.
        y : array-like of shape (n_examples,) or callable
            The preferences, of which only the rows asked for are read: the others may
            be NaN. Or an oracle, called with an array of row numbers, that returns as
            many preferences.
        judge : array-like of shape (n_examples,), default=None
            Preferences in [-1, 1] that a cheap judge predicts for all examples, without
            having seen `y`. `BettingRule` and `winning_distance` need fewer
            preferences with a good one, and hold with any.
        known_ties : array-like of bool of shape (n_examples,), default=None
            Examples that are ties without asking, such as those whose two outputs are
            the same string (`identical_outputs`). Equal embeddings are no proof.

        Returns
        -------
        self : PreferenceComparison
            The comparison with its verdict.

        Raises
        ------
        ValueError
            If `X`, `judge` or `known_ties` cannot be used or an answer is not a finite
            number.

        Notes
        -----
        If the oracle fails, or one of its answers cannot be used, the good answers so
        far are kept: go on with `resume`, or save them.
        """
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but "
                "the target y is None: pass the preferences, or a callable that judges "
                "rows (or use start, ask and tell)."
            )
        return self.start(X, judge=judge, known_ties=known_ties).resume(y)

    def start(self, X: Any, *, judge: Any = None, known_ties: Any = None) -> Self:
        """Order the examples, and forget all answers.

        Parameters
        ----------
        X : array-like of shape (n_examples, n_features)
            Difference vectors.
        judge : array-like of shape (n_examples,), default=None
            As in `fit`.
        known_ties : array-like of bool of shape (n_examples,), default=None
            As in `fit`.

        Returns
        -------
        self : PreferenceComparison
            Ready to `ask`.

        Raises
        ------
        ValueError
            If `X`, `judge` or `known_ties` cannot be used, or the rule does not hold
            for the selector.
        """
        fresh = self._prepared(X, judge, known_ties)
        return self._become(fresh._begin(fresh._order_of(self.max_annotations), {}))

    def ask(self, n: int = 1) -> np.ndarray:
        """Return the next rows to judge.

        Rows that were asked for but not answered yet are returned again.

        Parameters
        ----------
        n : int, default=1
            How many rows.

        Returns
        -------
        ndarray of shape (<= n,)
            Row numbers; empty when the comparison has ended.

        Raises
        ------
        ValueError
            If `n` is not a positive integer.
        """
        self._check_started()
        if not isinstance(n, Integral) or isinstance(n, bool) or n < 1:
            raise ValueError(f"n={n!r} is not a number of rows; pass an int >= 1.")
        self._go_on()
        if self.termination_condition_ != "in_progress":
            return np.empty(0, dtype=np.intp)
        # What counts is answered.
        places = range(self.n_annotations_, len(self._order))
        rows = (self._order[place] for place in places)
        waiting = (row for row in rows if row not in self._answers)
        return np.fromiter(islice(waiting, n), dtype=np.intp)

    def tell(self, indices: Any, preferences: Any) -> Self:
        """Take answers, in any order; they count in the order of annotation.

        Parameters
        ----------
        indices : int or array-like of shape (n,)
            The rows that were judged.
        preferences : float or array-like of shape (n,)
            Their preferences: +1 A is better, 0 tie, -1 B is better, or a finite
            number between or beyond.

        Returns
        -------
        self : PreferenceComparison
            With the verdict so far.

        Raises
        ------
        ValueError
            If a row is not in the order of annotation or has an answer already, or a
            preference is not a finite number. The other answers of the call are kept.
        """
        self._check_started()
        rows = [as_row(row) for row in listed(indices)]
        values = listed(preferences)
        if len(rows) != len(values):
            raise ValueError(
                f"preferences has {len(values)} answers for {len(rows)} rows; give one "
                "a row."
            )
        faults = []
        for row, value in zip(rows, values, strict=True):
            number = as_number(value)
            if row in self._answers:
                state = "was skipped" if row in self._skipped else "has an answer"
                faults.append(f"row {row} {state} already; untell it first")
            elif row not in self._asked:
                faults.append(f"row {row} was not asked for; tell rows of ask()")
            elif number is None:
                faults.append(
                    f"the preference of row {row} is {value!r}; write a finite number "
                    "(1: A is better, 0: tie, -1: B)"
                )
            else:
                try:
                    self.stopping_rule_.check_preference(number)
                except ValueError as error:
                    faults.append(f"row {row}: {error}")
                else:
                    self._answers[row] = number
        self._assess()
        if faults:
            more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
            raise ValueError(f"{faults[0]}{more}. The other answers are kept.")
        return self

    def skip(self, indices: Any) -> Self:
        """Leave out rows that nobody can judge.

        Parameters
        ----------
        indices : int or array-like of shape (n,)
            Rows that were asked for.

        Returns
        -------
        self : PreferenceComparison
            With the verdict so far.

        Raises
        ------
        ValueError
            If a row was not asked for or has an answer already, or no row would be
            left; then none is skipped.

        Notes
        -----
        Where rows are drawn with known probabilities a skipped one counts as a tie:
        another in its place would break the probabilities. Otherwise the next of its
        cluster takes its place, and the comparison is about the rows that can be
        judged. Answers to rows that thereby leave the order are kept, but do not count.
        """
        self._check_started()
        rows = [as_row(row) for row in listed(indices)]
        for row in rows:
            if row in self._answers:
                raise ValueError(f"row {row} has an answer already; untell it first.")
            if row not in self._asked:
                raise ValueError(f"row {row} was not asked for; skip rows of ask().")
        value = 0.0 if self._is_sample else None
        if value is not None:
            self.stopping_rule_.check_preference(value)
        self._recount(
            self._answers | dict.fromkeys(rows, value),
            self._skipped | set(rows),
        )
        return self

    def untell(self, indices: Any) -> Self:
        """Take answers back, or skips, to judge these rows again.

        Parameters
        ----------
        indices : int or array-like of shape (n,)
            Rows with an answer, or skipped.

        Returns
        -------
        self : PreferenceComparison
            With the verdict of the other answers.

        Raises
        ------
        ValueError
            If a row has no answer; then none is taken back.
        """
        self._check_started()
        rows = [as_row(row) for row in listed(indices)]
        without = [row for row in rows if row not in self._answers]
        if without:
            raise ValueError(f"row {without[0]} has no answer to take back.")
        taken = set(rows)
        self._recount(
            {k: v for k, v in self._answers.items() if k not in taken},
            self._skipped - taken,
        )
        return self

    def annotations_left(self) -> int | None:
        """Guess how many more annotations the rule will take.

        Returns
        -------
        int or None
            After how many more the comparison ends if the preferences so far repeat
            themselves; None where it would still be inconclusive at
            `max_annotations` or after a thousand more, or nothing was told yet. 0 if
            it has ended.

        Notes
        -----
        A guess for people who plan their day: after few annotations it is a poor one.
        To decide by it when to stop would void the promise of a rule that has one.
        """
        self._check_started()
        if self.termination_condition_ != "in_progress":
            return 0
        return likely_left(
            self.stopping_rule_,
            np.array(self._counted),
            self._n_judgeable,
            self.min_annotations,
            len(self._order),
        )

    def resume(self, y: Any) -> Self:
        """Go on from the answers so far, and stop when the rule says so.

        Parameters
        ----------
        y : array-like of shape (n_examples,) or callable
            As in `fit`.

        Returns
        -------
        self : PreferenceComparison
            The comparison with its verdict.

        Raises
        ------
        ValueError
            If an answer is not a finite number.
        """
        self._check_started()
        self._go_on()
        oracle = y if callable(y) else self._lookup(y)
        while self.termination_condition_ == "in_progress":
            before_the_rule = self.min_annotations - self.n_annotations_
            rows = self.ask(max(before_the_rule, self.batch_size))
            self.tell(rows, oracle(rows))
        return self

    def score(self, X: Any, y: Any) -> float:
        """Tell whether the verdict holds on fully judged examples.

        Parameters
        ----------
        X : array-like of shape (n_examples, n_features)
            Difference vectors; only their number matters.
        y : array-like of shape (n_examples,)
            All their preferences.

        Returns
        -------
        float
            1 if the winner named is the winner of `y`, 0 if it is the other, 0.5 if
            the verdict is inconclusive or `y` is tied.

        Raises
        ------
        ValueError
            If `y` has NaN or infinity, or another length than `X`.

        Notes
        -----
        A small test split has a winner of its own: the score is then about that, not
        about all examples. `SubsampleSplit` scores against all rows, or the same.
        """
        check_is_fitted(self)
        check_consistent_length(check_vectors(self, X, reset=False), y)
        return metrics.success(self.winner_, y)

    @property
    def answers_(self) -> dict[int, float | None]:
        """All answers by row, in the order in which they were told."""
        check_is_fitted(self)
        return dict(self._answers)

    @property
    def skipped_indices_(self) -> np.ndarray:
        """The rows that nobody could judge."""
        check_is_fitted(self)
        rows = [row for row in self._answers if row in self._skipped]
        return np.array(rows, dtype=np.intp)

    @property
    def verdict_(self) -> Verdict:
        """The verdict so far, to read."""
        check_is_fitted(self)
        return Verdict(
            winner=self.winner_,
            termination_condition=self.termination_condition_,
            risk=self.risk_,
            preferences=np.array(self._counted),
            risks=np.array(self._risks),
            n_examples=self._n_judgeable,
            n_known_ties=len(self._known_ties),
            n_skipped=len(self._skipped),
            skips_are_ties=self._is_sample,
            risk_means=self.stopping_rule_.risk_means,
        )

    @property
    def path_(self) -> dict[str, np.ndarray]:
        """Counts and risk after each annotation."""
        verdict = self.verdict_
        signs = np.sign(verdict.preferences)
        return {
            "n_annotations": np.arange(1, len(signs) + 1),
            "A": np.cumsum(signs > 0),
            "B": np.cumsum(signs < 0),
            "tie": np.cumsum(signs == 0),
            "risk": verdict.risks,
        }

    def _prepared(
        self, X: Any, judge: Any, known_ties: Any, tied_rows: Any = ()
    ) -> Self:
        """Check everything on a copy, so that a failure leaves this one as it was."""
        self._validate_params()
        for name in ("selector", "stopping_rule"):
            if isinstance(getattr(self, name), type):
                raise ValueError(
                    f"{name}={getattr(self, name).__name__} is a class; pass an "
                    "instance, with parentheses."
                )
        if self.min_annotations > self.max_annotations:
            raise ValueError(
                f"min_annotations={self.min_annotations} is more than "
                f"max_annotations={self.max_annotations}; lower it."
            )
        fresh = clone(self)
        X = check_vectors(fresh, X, reset=True)
        selector = DiffUseSelector() if self.selector is None else clone(self.selector)
        rule = clone(self._rule())
        if not isinstance(rule, StoppingRule):
            raise ValueError(
                f"stopping_rule={rule!r} is not a stopping rule; derive its class from "
                "skdiffuse.comparison.StoppingRule."
            )
        rule._validate_params()
        fresh.stopping_rule_ = rule
        tied = check_mask(known_ties, len(X), "known_ties")
        tied[np.asarray(tied_rows, dtype=np.intp)] = True
        if tied.all():
            raise ValueError(
                "known_ties says that every example is a tie, so there is nothing to "
                "compare."
            )
        fresh._known_ties, fresh._rows = np.flatnonzero(tied), np.flatnonzero(~tied)
        # A `FrozenEstimator` asks for `y`.
        fresh.selector_ = selector.fit(X[~tied] if tied.any() else X, None)
        rule.check_selector(fresh.selector_)
        fresh._weights = getattr(fresh.selector_, "draw_weights_", None)
        fresh._judge = None
        if judge is not None:
            fresh._judge = check_judge(judge, len(X))[fresh._rows]
            if fresh._weights is None:
                raise ValueError(
                    f"judge is of use where the examples are drawn with known "
                    f"probabilities, and {fresh.selector_!r} draws none; use "
                    "selector=RandomSelector(), or leave judge out."
                )
        fresh._n_examples = len(X)
        fresh._leave_out({})
        fresh._asked = frozenset()
        fresh._extended = fresh._reordered = False
        fresh._fingerprint = fingerprint(X)
        fresh._setting = {
            "selector": plain(selector),
            "stopping_rule": plain(rule),
        }
        return fresh

    @property
    def _is_sample(self) -> bool:
        """Whether the rows are drawn with known probabilities."""
        strata = getattr(self.selector_, "inclusion_probabilities_", None)
        return self._weights is not None or strata is not None

    @property
    def _n_judgeable(self) -> int:
        return len(self._rows) - len(self._left_out)

    def _leave_out(self, answers: Mapping[int, float | None]) -> None:
        """Note the rows that were skipped and are not in the order any more."""
        self._left_out = [row for row, value in answers.items() if value is None]

    def _order_of(self, n: int) -> list[int]:
        """Return the first rows to ask for."""
        n = min(n, self._n_judgeable)
        without = {}
        # A selector of one's own need not know the word.
        if self._left_out:
            without["exclude"] = np.searchsorted(self._rows, np.sort(self._left_out))
        places = np.asarray(self.selector_.annotation_order(n, **without))
        # A selector that was fitted elsewhere may know other rows.
        checked = Draws(places, None, None, len(self._rows)).order
        return self._rows[checked].tolist()

    def _begin(
        self,
        order: list[int],
        answers: dict[int, float | None],
        skipped: frozenset[int] = frozenset(),
    ) -> Self:
        self._order = order
        # An answer that is under way still counts when its row has left the order.
        self._asked = self._asked | frozenset(order)
        self._skipped = skipped
        self._draws = Draws(
            np.searchsorted(self._rows, order),
            self._weights,
            self._judge,
            len(self._rows),
        )
        self.stopping_rule_.begin(self._draws)
        self._restart(answers)
        return self

    def _recount(
        self, answers: dict[int, float | None], skipped: frozenset[int]
    ) -> None:
        """Take other answers, and another order if other rows are left out."""
        before = self._left_out
        self._leave_out(answers)
        if self._left_out == before:
            self._skipped = skipped
            self._count_again(answers)
            return
        try:
            order = self._order_again()
        except ValueError:
            self._left_out = before
            raise
        self._begin(order, answers, skipped)

    def _order_again(self) -> list[int]:
        """Return the order of the rows that can be judged, as long as it was."""
        if not self._n_judgeable:
            raise ValueError("no example would be left to judge; end here.")
        if self._reordered:
            raise ValueError(
                "the selector orders otherwise now than when this comparison was "
                "saved, so no other row can be put in a place; give it the "
                "random_state of then."
            )
        return self._order_of(max(len(self._order), self.max_annotations))

    def _restart(self, answers: dict[int, float | None]) -> None:
        """Count these answers, and no others."""
        self._counted, self._risks = array("d"), array("d")
        self.risk_: float | None = None
        self.termination_condition_ = "in_progress"
        self._count_again(answers)

    def _count_again(self, answers: dict[int, float | None]) -> None:
        """Count these answers, from the first that is another in the same order."""
        self._answers = dict(answers)
        counted = zip(self._order, self._counted, strict=False)
        others = (
            place
            for place, (row, preference) in enumerate(counted)
            if answers.get(row) != preference
        )
        first = next(others, None)
        if first is not None:
            del self._counted[first:], self._risks[first:]
            known = first > 0 and not np.isnan(self._risks[-1])
            self.risk_ = self._risks[-1] if known else None
            self.termination_condition_ = "in_progress"
        if self.termination_condition_ == "in_progress":
            self.winner_ = 0
        self._assess()

    def _go_on(self) -> None:
        """Take up an inconclusive comparison if `max_annotations` was raised."""
        rule = self._rule()
        if plain(rule) != self._setting["stopping_rule"]:
            raise ValueError(
                f"stopping_rule is {rule!r} now, but the comparison was started with "
                f"{self.stopping_rule_!r}; set it back, or start anew."
            )
        n = min(self.max_annotations, self._n_judgeable)
        if self.termination_condition_ == "max_annotations" and n > len(self._order):
            if self._reordered:
                raise ValueError(cannot_go_on(self.max_annotations, len(self._order)))
            self._extended = True
            self._begin(self._order_of(n), self._answers, self._skipped)

    def _rule(self) -> Any:
        return (
            HypergeometricRule() if self.stopping_rule is None else self.stopping_rule
        )

    def _check_started(self) -> None:
        check_is_fitted(
            self, msg="This %(name)s has no examples yet; call start(X) or fit(X, y)."
        )

    def _become(self, fresh: Self) -> Self:
        """Take over what was learned, and forget what was known."""
        params = self.get_params(deep=False)
        self.__dict__.pop("feature_names_in_", None)
        for name, value in vars(fresh).items():
            if name not in params:
                setattr(self, name, value)
        return self

    def _assess(self) -> None:
        """Let the answers count in the order of annotation, until the rule stops."""
        try:
            while self.termination_condition_ == "in_progress":
                preference = self._answers.get(self._order[len(self._counted)])
                if preference is None:
                    break
                self._count(preference)
        finally:
            self.n_annotations_ = len(self._counted)
            self.annotated_indices_ = self._rows[
                self._draws.order[: self.n_annotations_]
            ]

    def _count(self, preference: float) -> None:
        """Take the next preference in the order, and say whether that ends it."""
        preferences = np.append(np.array(self._counted), preference)
        assessment = Assessment(
            *self.stopping_rule_.assess(preferences, self._n_judgeable)
        )
        self._counted.append(preference)
        n = len(preferences)
        self.risk_ = assessment.risk
        if n == self._n_judgeable:
            self.termination_condition_ = "all_annotated"
            self.winner_, self.risk_ = metrics.winner(preferences), 0.0
        elif assessment.stop and n >= self.min_annotations:
            self.termination_condition_ = "stopping_rule"
            self.winner_ = int(assessment.leader)
        elif n == len(self._order):
            self.termination_condition_ = "max_annotations"
            if self.stopping_rule_.decides_at_budget:
                self.winner_ = int(assessment.leader)
        self._risks.append(np.nan if self.risk_ is None else self.risk_)

    def _lookup(self, y: Any) -> Any:
        """Return an oracle that reads the rows it is asked for."""
        try:
            y = check_array(
                y, ensure_2d=False, dtype=None, ensure_all_finite=False, input_name="y"
            )
        except TypeError as error:
            raise ValueError(
                f"y is a {type(y).__name__}; pass an array of preferences, one a row "
                "of X, or a function from row numbers to preferences."
            ) from error
        y = column_or_1d(y, warn=True)
        if len(y) != self._n_examples:
            raise ValueError(
                f"y has {len(y)} preferences for {self._n_examples} rows of X: "
                "inconsistent numbers of samples; give one a row, NaN where it is not "
                "known."
            )
        return y.__getitem__

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "winner_")

    def __sklearn_tags__(self):  # type: ignore[no-untyped-def]
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
