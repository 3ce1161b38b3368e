"""Stopping rules: when the preferences seen so far are enough."""

import math
from functools import lru_cache
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from scipy import stats
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval, StrOptions

from skdiffuse.comparison._betting import Wealth
from skdiffuse.comparison._draws import Draws, Estimates, after, combined
from skdiffuse.metrics import sign_of_sum

_NOTHING = 1e-12


class Assessment(NamedTuple):
    """What a rule says of the preferences seen so far.

    Attributes
    ----------
    leader : int
        +1 if A is ahead, -1 if B is, 0 if neither is.
    risk : float or None
        The rule's risk of naming the leader, in [0, 1]; None if it has no such thing.
    stop : bool
        Whether the leader may be named the winner now.
    """

    leader: int
    risk: float | None
    stop: bool


class StoppingRule(BaseEstimator):
    """Base of the stopping rules, and the protocol of your own.

    A rule is an estimator without `fit`: its constructor stores parameters, so that it
    can be cloned and searched. It has one method of its own, `assess`. Override
    `check_selector` if the rule needs a certain order of annotation, `begin` if it
    looks at the probabilities of the draws or at a judge, `check_preference` if it
    cannot take every finite number, and set `decides_at_budget` if the leader is named
    when the budget is spent.

    Attributes
    ----------
    decides_at_budget : bool
        What happens if `max_annotations` is reached before the rule stops: True names
        the leader, False is inconclusive.
    risk_means : str
        What the risk is worth, to be shown beside it.

    Examples
    --------
    Stop at a lead of ten:

    >>> import numpy as np
    >>> from skdiffuse.comparison import Assessment, StoppingRule
    >>> class LeadRule(StoppingRule):
    ...     def __init__(self, lead=10):
    ...         self.lead = lead
    ...     def assess(self, preferences, n_examples):
    ...         ahead = int(preferences.sum())
    ...         leader = (ahead > 0) - (ahead < 0)
    ...         return Assessment(leader, None, abs(ahead) >= self.lead)
    >>> LeadRule(lead=2).assess(np.array([1, 1, 0]), 100)
    Assessment(leader=1, risk=None, stop=True)
    """

    _parameter_constraints: dict = {}
    decides_at_budget = False
    risk_means = ""

    def check_selector(self, selector: Any) -> None:
        """Raise a ValueError if the rule does not hold for this fitted selector.

        Parameters
        ----------
        selector : selector
            The fitted selector whose `annotation_order` is followed.
        """

    def begin(self, draws: Draws) -> None:
        """Learn how the examples are drawn, before the first answer.

        Parameters
        ----------
        draws : Draws
            The order, its probabilities if it has any, and the judge's predictions if
            there are any.
        """

    def check_preference(self, preference: float) -> None:
        """Raise a ValueError if the rule cannot take a preference.

        Parameters
        ----------
        preference : float
            A finite number.
        """

    def assess(self, preferences: np.ndarray, n_examples: int) -> Assessment:
        """Say who is ahead, at which risk, and whether that is enough.

        Parameters
        ----------
        preferences : ndarray of shape (n_annotations,)
            The preferences in the order of annotation, at least one.
        n_examples : int
            Number of all examples.

        Returns
        -------
        Assessment
            Leader, risk, and whether to stop.
        """
        raise TypeError(f"{type(self).__name__} has to define the method assess.")


class HypergeometricRule(StoppingRule):
    r"""Stop when the leader's wins are unlikely for two equal generators.

    The rule of Algorithm 1 of [1]_.

    Parameters
    ----------
    risk : float, default=0.05
        Stop when the risk is below this, in (0, 1). The paper has 0.05, 0.1 and 0.2.
    ties : {"draw", "drop"}, default="drop"
        What a tie is. ``"draw"``: a draw that is not a win. ``"drop"``: no draw at
        all; the pool then has as many examples as would be decided at the rate seen so
        far, and enough for the leader to be caught up with while the rest of the
        examples allow it. The paper leaves it open.

    See Also
    --------
    BettingRule : A rule with a guarantee, for a random order.

    Notes
    -----
    After t draws of which the leader has won w, the risk is

    .. math:: P(X \ge w), \quad X \sim \mathrm{Hypergeometric}(N, N/2, t),

    the probability of so many wins in t draws without replacement from N examples
    of which half are wins (rounded down, or up for ``ties="drop"``, where N is itself
    an estimate). With ties as draws this is slow where ties
    are many: the leader must win more than half of *all* draws.

    The defaults were chosen on five public data sets (``docs/evidence.md``, "When does
    a comparison stop, and is it right?"): with ties as draws most comparisons were
    still inconclusive after 200 judgements, and a larger risk was wrong more often for
    few judgements saved.

    **This is a heuristic.** The risk is that of one look at a uniformly random
    sample. The rule looks after each annotation, and the order of `DiffUseSelector` is
    not random, so the share of wrong verdicts may lie above `risk`, or far below.

    References
    ----------
    .. [1] Ashury-Tahan et al., "Label-Efficient Model Selection for Text
       Generation", ACL 2024, arXiv:2402.07891.

    Examples
    --------
    >>> from skdiffuse import HypergeometricRule
    >>> import numpy as np
    >>> preferences = np.array([1, 1, 0, 1, 0, 1, 1])
    >>> HypergeometricRule().assess(preferences, 800).stop
    True
    >>> HypergeometricRule(ties="draw").assess(preferences, 800).stop
    False
    """

    _parameter_constraints: dict = {
        "risk": [Interval(Real, 0, 1, closed="neither")],
        "ties": [StrOptions({"draw", "drop"})],
    }

    risk_means = "a rule of thumb, no guarantee"

    def __init__(self, risk: float = 0.05, *, ties: str = "drop") -> None:
        self.risk = risk
        self.ties = ties

    def assess(self, preferences: np.ndarray, n_examples: int) -> Assessment:
        """Say who is ahead, at which risk, and whether that is enough.

        Parameters
        ----------
        preferences : ndarray of shape (n_annotations,)
            The preferences in the order of annotation. Of graded ones the sign of the
            sum names the leader, and those with that sign are its wins.
        n_examples : int
            Number of all examples.

        Returns
        -------
        Assessment
            Leader, hypergeometric risk, and whether it is below `risk`.
        """
        preferences = _checked(preferences, n_examples)
        leader = sign_of_sum(preferences)
        if leader == 0:
            return Assessment(0, 1.0, False)
        signs = np.sign(preferences)
        wins, draws = int(np.sum(signs == leader)), len(signs)
        pool, half = n_examples, n_examples // 2
        if self.ties == "drop":
            decided = int(np.count_nonzero(signs))
            most = decided + n_examples - draws
            # The pool is an estimate: it must not decide for the leader by being odd,
            # or too small to be half won, while the rest could still turn the winner.
            pool = max(decided, round(n_examples * decided / draws))
            pool = max(pool, min(2 * wins, most))
            draws, half = decided, (pool + 1) // 2
        risk = _chance_of_wins(wins, pool, half, draws)
        return Assessment(leader, risk, risk < self.risk)


class BettingRule(StoppingRule):
    r"""Stop when a bet against equality has paid off: a rule with a guarantee.

    The strictly worse generator is named with probability at most `alpha`, however
    often one looks. Where both are exactly equal either may be named, with probability
    at most ``2 * alpha`` together.

    Parameters
    ----------
    alpha : float, default=0.05
        The largest probability of naming the worse generator, in (0, 1).

    Raises
    ------
    ValueError
        If the selector's order is not one of draws with known probabilities, or a
        preference lies outside [-1, 1].

    See Also
    --------
    RandomSelector : Draws with equal probabilities.
    NormSelector : With ``probability=True``: large differences more often.
    HypergeometricRule : The heuristic of the paper, for any order.
    confidence_sequence : The winning distances that the bets leave over.

    Notes
    -----
    Let draw t of N examples take example i with probability :math:`q_t(i)` among those
    left. From its preference y comes an unbiased estimate of the winning distance,

    .. math:: Z_t = \frac1N \Big(\sum_{s<t} y_s + \lambda_t \sum_{unseen} f_i
        + \frac{y_t - \lambda_t f_t}{q_t}\Big)

    where f is the judge's predicted preference, if there is one (`judge` of
    `PreferenceComparison.fit`), and :math:`\lambda_t` its weight: a regression on the
    draws before t, that starts from 1/2 as if ten draws had said so. (A prediction that
    would let the estimate reach further from the mean than 1.5, or than it does without
    a judge, is cut off there, on the side that the bet has to bear.) If neither
    generator is better, Z_t has the expectation zero, and a bet of the share theta on A
    multiplies the wealth by ``1 + theta * Z_t / -m_t``, where m_t is the least value
    that Z_t can have. The wealth is averaged over 100 values of theta in (0, 1), and
    mirrored for B. If A is not better, the wealth that bets on A is a nonnegative
    supermartingale that starts at 1, so it ever exceeds ``1 / alpha`` with probability
    at most `alpha` (Ville's inequality) [1]_ [2]_. Whatever the judge is worth, the
    guarantee holds; a good one saves judgements.

    The risk shown is one by the largest wealth of the leading side so far. If the rest
    cannot change the winner, the risk is 0. Under equal probabilities and without a
    judge the bets are those of [1]_ on the mean of (1 + y) / 2.

    References
    ----------
    .. [1] Waudby-Smith and Ramdas, "Confidence sequences for sampling without
       replacement", NeurIPS 2020, arXiv:2006.04347.
    .. [2] Shekhar, Xu, Lipton, Liang and Ramdas, "Risk-limiting financial audits via
       weighted sampling without replacement", UAI 2023, arXiv:2305.06884.

    Examples
    --------
    >>> from skdiffuse import BettingRule
    >>> import numpy as np
    >>> BettingRule(alpha=0.05).assess(np.ones(6), 800).stop
    False
    >>> BettingRule(alpha=0.05).assess(np.ones(7), 800).stop
    True
    """

    _parameter_constraints: dict = {"alpha": [Interval(Real, 0, 1, closed="neither")]}

    risk_means = "of naming the worse one, at every look together"
    _draws: Draws | None = None
    # Where nobody said how the examples are drawn.
    _alone: Draws | None = None
    _wealth: Wealth | None = None

    def __init__(self, alpha: float = 0.05) -> None:
        self.alpha = alpha

    def check_selector(self, selector: Any) -> None:
        """Raise a ValueError unless the selector draws with known probabilities.

        Parameters
        ----------
        selector : selector
            The fitted selector.
        """
        if getattr(selector, "draw_weights_", None) is None:
            raise ValueError(
                f"BettingRule holds for draws with known probabilities only, and the "
                f"order of {selector!r} is none; use selector=RandomSelector() or "
                "NormSelector(probability=True), or keep the selector with "
                "stopping_rule=HypergeometricRule() or FixedBudget()."
            )

    def begin(self, draws: Draws) -> None:
        """Learn how the examples are drawn, before the first answer.

        Parameters
        ----------
        draws : Draws
            The order, its probabilities, and the judge's predictions if there are any.
        """
        self._draws, self._wealth = draws, None

    def check_preference(self, preference: float) -> None:
        """Raise a ValueError unless a preference lies in [-1, 1].

        Parameters
        ----------
        preference : float
            A finite number.
        """
        if abs(preference) > 1:
            raise ValueError(
                f"the preference {preference:g} is outside [-1, 1], where BettingRule "
                "needs it; divide all of them by their largest possible size"
            )

    def assess(self, preferences: np.ndarray, n_examples: int) -> Assessment:
        """Say who is ahead, at which risk, and whether that is enough.

        Parameters
        ----------
        preferences : ndarray of shape (n_annotations,)
            The preferences in the order of annotation, each in [-1, 1].
        n_examples : int
            Number of all examples, drawn with equal probabilities where `begin` said
            nothing else.

        Returns
        -------
        Assessment
            The side with the larger wealth, the risk of naming it, and whether that
            is below `alpha`.
        """
        preferences = _checked(preferences, n_examples)
        for preference in preferences[np.abs(preferences) > 1]:
            self.check_preference(float(preference))
        for_a, for_b = self._wealth_of(preferences, n_examples).logs
        risk = min(1.0, math.exp(-max(for_a, for_b)))
        leader = int(np.sign(for_a - for_b)) if for_a != for_b else 0
        return Assessment(leader, risk, leader != 0 and risk < self.alpha)

    def _wealth_of(self, preferences: np.ndarray, n_examples: int) -> Wealth:
        """Return the wealth after these preferences, from where the last look was."""
        draws = self._draws
        if draws is None:
            if self._alone is None or self._alone.n_examples != n_examples:
                self._alone, self._wealth = Draws.uniform(n_examples), None
            draws = self._alone
        elif draws.n_examples != n_examples:
            raise ValueError(
                f"n_examples={n_examples}, but the rule began with {draws.n_examples}; "
                "take a fresh rule for other examples."
            )
        # Nothing is remembered of a look that is interrupted.
        wealth, self._wealth = self._wealth, None
        if wealth is None or not wealth.estimates.precede(preferences):
            wealth = Wealth(draws)
        wealth.add(preferences[len(wealth.estimates) :])
        self._wealth = wealth
        return wealth


class FixedBudget(StoppingRule):
    """Never stop early: spend `max_annotations`, then name the leader.

    Its verdict comes from a number of annotations that does not depend on them, so
    that intervals for a fixed sample apply if the sample is a probability sample. Of
    draws with known probabilities the leader is the sign of the estimated winning
    distance, of other examples that of the sum of the preferences.

    Examples
    --------
    >>> from skdiffuse import FixedBudget
    >>> import numpy as np
    >>> FixedBudget().assess(np.array([1, 0, 1]), 100)
    Assessment(leader=1, risk=None, stop=False)
    """

    decides_at_budget = True
    _draws: Draws | None = None
    _estimates: Estimates | None = None

    def begin(self, draws: Draws) -> None:
        """Learn how the examples are drawn, before the first answer.

        Parameters
        ----------
        draws : Draws
            The order, its probabilities, and the judge's predictions if there are any.
        """
        self._draws, self._estimates = draws, None

    def assess(self, preferences: np.ndarray, n_examples: int) -> Assessment:
        """Say who is ahead; there is no risk, and never a reason to stop.

        Parameters
        ----------
        preferences : ndarray of shape (n_annotations,)
            The preferences in the order of annotation.
        n_examples : int
            Number of all examples.

        Returns
        -------
        Assessment
            The leader.
        """
        preferences = _checked(preferences, n_examples)
        leader = sign_of_sum(preferences)
        draws = self._draws
        if draws is not None and _is_weighted(draws) and len(preferences) < n_examples:
            # Nothing is remembered of a look that is interrupted.
            before, self._estimates = self._estimates, None
            estimates = after(before, preferences, draws)
            self._estimates = estimates
            mean, _ = combined(np.array(estimates.values), n_examples)
            leader = 0 if abs(mean) < _NOTHING else int(np.sign(mean))
        return Assessment(leader, None, False)


@lru_cache(maxsize=2**16)
def _chance_of_wins(wins: int, pool: int, half: int, draws: int) -> float:
    """Return the chance of so many wins or more.

    Many comparisons come to the same counts, and a call of scipy costs more than all
    else in a look.
    """
    return float(stats.hypergeom.sf(wins - 1, pool, half, draws))


def _is_weighted(draws: Draws) -> bool:
    """Whether the estimate is another than the mean of the preferences."""
    if draws.weights is None:
        return False
    return draws.judge is not None or float(np.ptp(draws.weights)) > 0


def _checked(preferences: np.ndarray, n_examples: int) -> np.ndarray:
    """Return preferences as floats: at least one, at most one an example."""
    preferences = np.asarray(preferences, dtype=np.float64)
    if not 0 < len(preferences) <= n_examples or not np.isfinite(preferences).all():
        raise ValueError(
            f"{len(preferences)} preferences of {n_examples} examples, "
            f"{preferences!r}: give at least one, at most all, and finite numbers."
        )
    return preferences
