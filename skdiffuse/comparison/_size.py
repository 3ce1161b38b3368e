"""How far one is ahead: what the judged examples of a comparison say of all."""

import warnings
from array import array
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skdiffuse._validation import check_level
from skdiffuse.comparison import _distance
from skdiffuse.comparison._distance import WinningDistance
from skdiffuse.comparison._draws import Draws, after
from skdiffuse.comparison._rules import FixedBudget
from skdiffuse.selection._draws import next_draw_probabilities, sequential_weights


class BiasedSampleWarning(UserWarning):
    """Labels were chosen, or their number was, so that their mean is no size."""


class SizeMixin:
    """Sizes, labels and weights, from what a comparison has judged."""

    selector_: Any
    stopping_rule_: Any
    n_annotations_: int
    annotated_indices_: np.ndarray
    termination_condition_: str
    _counted: array
    _draws: Draws
    _extended: bool
    _known_ties: np.ndarray
    _left_out: list[int]
    _reordered: bool
    _n_examples: int
    _rows: np.ndarray
    _weights: np.ndarray | None

    def winning_distance(self, confidence_level: float = 0.95) -> WinningDistance:
        """Estimate how far A is ahead of B over all examples, with an interval.

        Parameters
        ----------
        confidence_level : float, default=0.95
            Between 0 and 1, exclusive.

        Returns
        -------
        WinningDistance
            The signed estimate `mean` with `low`, `high`, `standard_error` and the
            `method` behind them.

        Raises
        ------
        ValueError
            If the examples were not drawn with known probabilities, or no preference
            was given yet.

        Notes
        -----
        The number of preferences decides what may be said. Where `FixedBudget` spent
        all of a `max_annotations` that was never raised, it is an ordinary interval
        for a fixed sample: the unbiased estimates Z_t of `BettingRule` with the shares
        of [1]_ (under equal probabilities and without a judge: the mean preference),
        and Wilson's interval with the effective number of preferences that their
        spread tells. At any other moment it depends on the preferences themselves, and
        an ordinary interval would be too narrow: then it is the confidence sequence,
        the values that the bets of `BettingRule` have not refuted, which holds at all
        moments together.

        With ``DiffUseSelector(representative="random")`` and `FixedBudget` each
        preference counts for its cluster. The clusters differ much in size, so that
        the interval is several times as wide as that of `RandomSelector`.

        References
        ----------
        .. [1] Farquhar, Gal and Rainforth, "On statistical bias in active learning",
           ICLR 2021, arXiv:2101.11665.

        Examples
        --------
        >>> from skdiffuse import FixedBudget, PreferenceComparison, RandomSelector
        >>> from skdiffuse.datasets import make_preference_pool
        >>> X, y = make_preference_pool(winning_distance=0.4, random_state=0)
        >>> selector = RandomSelector(random_state=0)
        >>> comparison = PreferenceComparison(selector, FixedBudget()).fit(X, y)
        >>> comparison.winning_distance()
        <WinningDistance: ...>
        """
        check_is_fitted(self)
        check_level(confidence_level, "winning_distance")
        preferences = np.array(self._counted)
        if self.n_annotations_ == 0:
            raise ValueError("no preference counts yet; tell some.")
        if self.termination_condition_ == "all_annotated":
            found = _distance.exact(preferences, confidence_level)
        elif self._weights is None:
            sizes = self._stratum_sizes()
            found = _distance.of_strata(preferences, sizes, confidence_level)
        else:
            found = self._of_draws(preferences, confidence_level)
        # Rows that were left out are no part of what is told.
        n_judgeable = len(self._rows) - len(self._left_out)
        return found.times(n_judgeable / (n_judgeable + len(self._known_ties)))

    def _of_draws(self, preferences: np.ndarray, level: float) -> WinningDistance:
        n_examples = len(self._rows)
        estimates = after(None, preferences, self._draws)
        if self._fixed_sample:
            values = np.array(estimates.values)
            return _distance.of_fixed_sample(preferences, values, n_examples, level)
        return _distance.at_any_time(preferences, estimates, n_examples, level)

    def labels(self) -> np.ndarray:
        """Return the preferences that count, for estimators of a mean.

        Returns
        -------
        ndarray of shape (n_examples,)
            NaN where a row was not judged, 0 for known ties. Preferences are between
            -1 and 1 even where none of them is -1 by chance: pass
            ``label_range=(-1, 1)`` to `confidence_interval`.

        Warns
        -----
        BiasedSampleWarning
            If these rows are no sample of a fixed size with known probabilities: then
            their mean says nothing of that of all rows, whatever corrects it.
        """
        check_is_fitted(self)
        try:
            self.sample_weight()
        except ValueError as error:
            warnings.warn(str(error), BiasedSampleWarning, stacklevel=2)
        labels = np.full(self._n_examples, np.nan)
        labels[self._known_ties] = 0.0
        labels[self.annotated_indices_] = self._counted
        return labels

    def sample_weight(self) -> np.ndarray:
        """Return the weights with which the judged rows stand for all rows.

        Returns
        -------
        ndarray of shape (n_examples,)
            For `sample_weight` of `PPIMeanEstimator`, beside `labels`: 1 for known
            ties, 0 for rows that were not judged.

        Raises
        ------
        ValueError
            If the rows are no sample of a fixed size with known probabilities.
        """
        check_is_fitted(self)
        weights = np.zeros(self._n_examples)
        weights[self._known_ties] = 1.0
        n, n_examples = self.n_annotations_, len(self._rows)
        if self.termination_condition_ == "all_annotated":
            weights[self.annotated_indices_] = 1.0
        elif self._weights is None:
            weights[self.annotated_indices_] = self._stratum_sizes()
        elif self._fixed_sample:
            drawn = self._draws.order[:n]
            others = np.ones(n_examples, dtype=bool)
            others[drawn] = False
            order = np.append(drawn, np.flatnonzero(others))
            chances = next_draw_probabilities(self._weights, order)[:n]
            each = sequential_weights(chances, n_examples)
            weights[self.annotated_indices_] = each * n_examples / n
        else:
            raise ValueError(
                "the number of judged examples depends on their preferences, which "
                "biases their mean; use winning_distance(), or decide on a number "
                "before with stopping_rule=FixedBudget()."
            )
        return weights

    @property
    def _fixed_sample(self) -> bool:
        """Whether the number of annotations was fixed before the first of them."""
        return (
            type(self.stopping_rule_) is FixedBudget
            and self.termination_condition_ == "max_annotations"
            and not self._extended
        )

    def _stratum_sizes(self) -> np.ndarray:
        """Return the size of the stratum that each annotation stands for."""
        if self.n_annotations_ == 0:
            raise ValueError("no preference counts yet; tell some.")
        if self._reordered:
            raise ValueError(
                "the selector makes other clusters now than those of the saved order; "
                "give it the random_state of then."
            )
        strata = getattr(self.selector_, "strata", lambda n: None)(self.n_annotations_)
        random = getattr(self.selector_, "inclusion_probabilities_", None) is not None
        if strata is None and random:
            raise ValueError(
                f"{self.n_annotations_} examples are more than there are distinct "
                "ones, and the duplicates followed in no random order; use "
                "selector=RandomSelector()."
            )
        if strata is None:
            raise ValueError(
                f"the examples were chosen by {self.selector_!r} to find the winner, "
                "and their mean is not that of all examples; for a size use "
                "selector=RandomSelector() or NormSelector(probability=True)."
            )
        if not self._fixed_sample:
            raise ValueError(
                "one random example of each cluster gives a size for a number of "
                "examples that is fixed before and never raised: use "
                "stopping_rule=FixedBudget(), or selector=RandomSelector() to look at "
                "any time."
            )
        return np.bincount(strata)[strata[self._draws.order[: self.n_annotations_]]]
