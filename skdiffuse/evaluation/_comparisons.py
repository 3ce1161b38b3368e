"""Studies of selectors and comparisons, on pairs with all preferences."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pickle import PicklingError
from typing import Any

import joblib
import numpy as np
from joblib import delayed
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

from skdiffuse._validation import count_of_share
from skdiffuse.comparison import PreferenceComparison
from skdiffuse.evaluation._run import (
    Record,
    Total,
    check_arms,
    check_protocol,
    check_values,
    check_vectors_of,
    count,
    counts,
    items,
    run,
    summarise,
    three,
)
from skdiffuse.metrics import sign_of_sum, winner, winning_distance
from skdiffuse.selection import DiffUseSelector
from skdiffuse.selection._base import scaled


def success_curve(
    selectors: Mapping[str, Any],
    pairs: Iterable[tuple[str, Any, Any]],
    *,
    budgets: Sequence[int],
    n_repeats: int = 10,
    subsample: float = 0.8,
    random_state: int = 0,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> list[Record]:
    """Measure how often selected examples name the winner, against the budget.

    Parameters
    ----------
    selectors : dict of str to selector
        Unfitted selectors by the name that the table gives them.
    pairs : iterable of (name, X, y)
        Pairs of generators: difference vectors of shape (n_examples, n_features) and
        all preferences of shape (n_examples,), or a dictionary of such preferences by
        the name of who judged. A generator is read as it is needed.
    budgets : sequence of int
        Numbers of examples to judge; those that exceed the rows drawn are left out.
    n_repeats : int, default=10
        How often rows are drawn from a pair.
    subsample : float, default=0.8
        Which share of the rows is drawn, in (0, 1]; their own winner is the truth.
    random_state : int, default=0
        Seed; the same numbers come out whatever the number of workers.
    n_jobs : int, default=None
        Number of workers, as in scikit-learn; any joblib backend can be set around the
        call by ``joblib.parallel_config``.
    verbose : bool, default=False
        Print the progress to stderr.

    Returns
    -------
    list of dict
        A row for each pair, judge, selector and budget: ``pair``, ``judge``,
        ``selector``, ``budget``, ``n_repeats``, ``n_judged`` (on average; fewer than
        the budget where there are not so many distinct differences), ``success`` (the
        mean over the repeats), ``bias`` (of the winning distance, towards the winner)
        and ``distance`` (of all rows drawn, without its sign). ``pandas.DataFrame``
        takes it as it is, `summarise` averages over the pairs.

    Raises
    ------
    ValueError
        If an argument is out of its range, or a pair has other lengths.

    Warns
    -----
    StudyInterruptedWarning
        If it is interrupted (Ctrl-C); the rows that are finished are returned.

    See Also
    --------
    summarise : Means over pairs with their errors.
    iterative_study : The same for comparisons that stop by themselves.

    Notes
    -----
    A selector is fitted once for all budgets. Selectors that differ in the
    representative alone share one clustering.

    References
    ----------
    .. [1] Ashury-Tahan et al., "Label-Efficient Model Selection for Text
       Generation", ACL 2024, arXiv:2402.07891.

    Examples
    --------
    >>> from skdiffuse import DiffUseSelector, RandomSelector
    >>> from skdiffuse.datasets import make_preference_pool
    >>> from skdiffuse.evaluation import success_curve, summarise
    >>> pairs = [
    ...     (f"pair {seed}", *make_preference_pool(200, random_state=seed))
    ...     for seed in range(5)
    ... ]
    >>> selectors = {"diffuse": DiffUseSelector(), "random": RandomSelector()}
    >>> rows = success_curve(selectors, pairs, budgets=[5, 20], n_repeats=4)
    >>> len(rows)
    20
    >>> best = summarise(rows, by=["selector"])[0]
    >>> best["selector"], 0 <= best["low"] <= best["mean"] <= best["high"] <= 1
    ('diffuse', True)
    """
    check_protocol(n_repeats, subsample, random_state)
    check_arms(selectors, "selectors", ["fit", "select"])
    numbers = counts(budgets, "budgets")
    tasks = (
        delayed(_curve_of_pair)(selectors, numbers, draws)
        for draws in _Draws.of_pairs(pairs, n_repeats, subsample, random_state)
    )
    return run("success_curve", tasks, n_jobs, verbose)


def distance_bias(
    selectors: Mapping[str, Any],
    pairs: Iterable[tuple[str, Any, Any]],
    *,
    budgets: Sequence[int],
    **protocol: Any,
) -> list[Record]:
    """Measure by how much selected examples exaggerate how far the winner is ahead.

    Parameters
    ----------
    selectors : dict of str to selector
        As in `success_curve`.
    pairs : iterable of (name, X, y)
        As in `success_curve`.
    budgets : sequence of int
        As in `success_curve`.
    **protocol : dict
        `n_repeats`, `subsample`, `random_state`, `n_jobs` and `verbose` of
        `success_curve`.

    Returns
    -------
    list of dict
        A row for each selector and budget: ``selector``, ``budget``, and the ``mean``
        of the bias over the pairs with its ``error``, ``low`` and ``high``, as
        `summarise` gives them. It is 0 for random examples.

    Raises
    ------
    ValueError
        As in `success_curve`.

    Examples
    --------
    >>> from skdiffuse import NormSelector
    >>> from skdiffuse.datasets import make_preference_pool
    >>> from skdiffuse.evaluation import distance_bias
    >>> pairs = [("pair", *make_preference_pool(300, random_state=1))]
    >>> rows = distance_bias({"norm": NormSelector()}, pairs, budgets=[20])
    >>> bool(rows[0]["mean"] > 0)
    True
    """
    rows = success_curve(selectors, pairs, budgets=budgets, **protocol)
    return summarise(rows, by=["selector", "budget"], value="bias")


def iterative_study(
    comparisons: Mapping[str, PreferenceComparison],
    pairs: Iterable[tuple[str, Any, Any]],
    *,
    n_repeats: int = 10,
    subsample: float = 0.8,
    random_state: int = 0,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> list[Record]:
    """Measure what comparisons that stop by themselves cost, and how often they err.

    Parameters
    ----------
    comparisons : dict of str to PreferenceComparison
        Unfitted comparisons by the name that the table gives them.
    pairs : iterable of (name, X, y)
        As in `success_curve`.
    n_repeats : int, default=10
        How often rows are drawn from a pair.
    subsample : float, default=0.8
        Which share of the rows is drawn, in (0, 1].
    random_state : int, default=0
        Seed.
    n_jobs : int, default=None
        Number of workers.
    verbose : bool, default=False
        Print the progress to stderr.

    Returns
    -------
    list of dict
        A row for each pair, judge and comparison: ``pair``, ``judge``,
        ``comparison``, ``n_repeats``, ``annotations`` (mean), ``success``, ``error``
        and ``inconclusive`` (shares of the verdicts; a verdict on rows whose truth is
        a tie counts as an error where it names one), ``distance`` (of all rows drawn,
        without its sign), ``distance_right`` and ``distance_wrong`` (the mean of that
        over right and over wrong verdicts; NaN if there are none).

    Raises
    ------
    ValueError
        If an argument is out of its range, a pair has other lengths, or a rule does
        not hold for its selector.

    Warns
    -----
    StudyInterruptedWarning
        As in `success_curve`.

    Examples
    --------
    >>> from skdiffuse import PreferenceComparison
    >>> from skdiffuse.datasets import make_preference_pool
    >>> from skdiffuse.evaluation import iterative_study
    >>> pairs = [("pair", *make_preference_pool(200, random_state=0))]
    >>> row = iterative_study({"default": PreferenceComparison()}, pairs)[0]
    >>> row["success"] + row["error"] + row["inconclusive"]
    1.0
    """
    check_protocol(n_repeats, subsample, random_state)
    check_arms(comparisons, "comparisons", ["start", "tell"])
    tasks = (
        delayed(_verdicts_of_pair)(comparisons, draws)
        for draws in _Draws.of_pairs(pairs, n_repeats, subsample, random_state)
    )
    return run("iterative_study", tasks, n_jobs, verbose)


def norm_agreement(
    pairs: Iterable[tuple[str, Any, Any]], *, n_bins: int = 50
) -> list[Record]:
    """Show how preferences depend on the norm of the difference vector.

    Parameters
    ----------
    pairs : iterable of (name, X, y)
        As in `success_curve`.
    n_bins : int, default=50
        Number of bins, of equally many examples as far as that goes; at most as many
        as a pair has examples.

    Returns
    -------
    list of dict
        A row for each pair, judge and bin: ``pair``, ``judge``, ``bin`` (from 0, the
        smallest norms), ``n_examples``, ``norm`` (mean), ``winner``, ``tie`` and
        ``loser`` (shares of the examples that the winner of the pair wins, ties and
        loses). Pairs whose truth is a tie are left out.

    Raises
    ------
    ValueError
        If `n_bins` is not a positive integer, or a pair has other lengths.

    Examples
    --------
    >>> from skdiffuse.datasets import make_preference_pool
    >>> from skdiffuse.evaluation import norm_agreement
    >>> pairs = [("pair", *make_preference_pool(300, random_state=1))]
    >>> rows = norm_agreement(pairs, n_bins=3)
    >>> [row["n_examples"] for row in rows]
    [100, 100, 100]
    """
    count(n_bins, "n_bins")
    rows: list[Record] = []
    for name, X, outcomes in map(_checked_pair, items(pairs, "pairs")):
        norms = _norms(X)
        bins = np.array_split(np.argsort(norms, kind="stable"), min(n_bins, len(X)))
        for judge, y in outcomes.items():
            ahead = winner(y)
            if ahead == 0:
                continue
            for number, members in enumerate(bins):
                signs = np.sign(y[members]) * ahead
                rows.append(
                    {
                        "pair": name,
                        "judge": judge,
                        "bin": number,
                        "n_examples": len(members),
                        "norm": float((norms[members] / len(members)).sum()),
                        "winner": float(np.mean(signs > 0)),
                        "tie": float(np.mean(signs == 0)),
                        "loser": float(np.mean(signs < 0)),
                    }
                )
    return rows


def _norms(X: np.ndarray) -> np.ndarray:
    _, exponent = np.frexp(np.abs(X).max())
    return np.ldexp(np.linalg.norm(scaled(X), axis=1), exponent)


class _Draws:
    """A pair, and the rows that are drawn from it."""

    def __init__(
        self, number: int, pair: tuple, n_repeats: int, subsample: float, seed: int
    ) -> None:
        self.name, self.X, self.outcomes = pair
        self.n_repeats = n_repeats
        self.subsample = subsample
        self.entropy = [seed, number]

    @classmethod
    def of_pairs(
        cls, pairs: Iterable, n_repeats: int, subsample: float, seed: int
    ) -> Iterator["_Draws"]:
        for number, pair in enumerate(items(pairs, "pairs")):
            yield cls(number, _checked_pair(pair), n_repeats, subsample, seed)

    def __iter__(self) -> Iterator[tuple[np.ndarray, dict[str, np.ndarray], int]]:
        """Yield the vectors, preferences and a seed of each draw."""
        n = len(self.X)
        size = count_of_share(self.subsample, n)
        for repeat in range(self.n_repeats):
            rng = np.random.default_rng([*self.entropy, repeat])
            rows = np.sort(rng.permutation(n)[:size])
            seed = int(rng.integers(2**31))
            outcomes = {judge: y[rows] for judge, y in self.outcomes.items()}
            yield self.X[rows], outcomes, seed


def _curve_of_pair(
    selectors: Mapping[str, Any], budgets: Sequence[int], draws: _Draws
) -> list[Record]:
    totals: dict[tuple, Total] = {}
    for X, outcomes, seed in draws:
        feasible = [budget for budget in budgets if budget <= len(X)]
        if not feasible:
            raise ValueError(
                f"budgets: {draws.name!r} has {len(X)} rows in a draw, fewer than the "
                f"smallest budget, {min(budgets)}; give a smaller one, or leave the "
                "pair out."
            )
        truths = _truths(outcomes)
        for name, select in _fitted(selectors, X, max(feasible), seed):
            for budget in feasible:
                rows = select(budget)
                for judge, y in outcomes.items():
                    ahead, truth = truths[judge]
                    total = totals.setdefault((judge, name, budget), Total())
                    values = y[rows]
                    total.add(
                        n_judged=len(rows),
                        success=(1 + sign_of_sum(values) * ahead) / 2,
                        bias=(ahead or 1) * (values.mean() - truth),
                        distance=abs(truth),
                    )
    return [
        {
            "pair": draws.name,
            "judge": judge,
            "selector": name,
            "budget": budget,
            "n_repeats": draws.n_repeats,
            **total.means("n_judged", "success", "bias", "distance"),
        }
        for (judge, name, budget), total in totals.items()
    ]


def _truths(outcomes: Mapping[str, np.ndarray]) -> dict[str, tuple[int, float]]:
    """Return who wins over all rows, and by how far, by who judged."""
    return {judge: (winner(y), winning_distance(y)) for judge, y in outcomes.items()}


def _fitted(
    selectors: Mapping[str, Any], X: np.ndarray, most: int, seed: int
) -> Iterator[tuple[str, Callable[[int], np.ndarray]]]:
    """Yield the choice of each selector; the costly part of the fit is shared."""
    shared: dict[tuple, DiffUseSelector] = {}
    for name, selector in selectors.items():
        fresh = _seeded(clone(selector), seed)
        if "n_select" in fresh.get_params(deep=False):
            fresh.set_params(n_select=most)
        clustering = getattr(fresh, "clustering", None)
        if type(fresh) is not DiffUseSelector or not isinstance(clustering, str):
            yield name, fresh.fit(X).select
            continue
        fresh._validate_params()
        # The representative alone is looked up when rows are selected.
        alike = fresh.get_params(deep=False)
        representative = alike.pop("representative")
        key = tuple(alike.items())
        if key not in shared:
            shared[key] = fresh.fit(X)
        shared[key].set_params(representative=representative)
        yield name, shared[key].select


def _seeded(estimator: Any, seed: int) -> Any:
    if "random_state" in estimator.get_params(deep=False):
        estimator.set_params(random_state=seed)
    return estimator


def _verdicts_of_pair(
    comparisons: Mapping[str, PreferenceComparison], draws: _Draws
) -> list[Record]:
    totals: dict[tuple, Total] = {}
    for X, outcomes, seed in draws:
        selectors: dict[str, Any] = {}
        truths = _truths(outcomes)
        for name, comparison in comparisons.items():
            fitted = _started(comparison, X, seed, selectors)
            order = fitted.ask(len(X))
            for judge, y in outcomes.items():
                # All answers at once: those beyond the verdict do not count.
                fitted.tell(order, y[order])
                verdict, (truth, distance) = fitted.winner_, truths[judge]
                distance = abs(distance)
                total = totals.setdefault((judge, name), Total())
                right = verdict != 0 and verdict == truth
                total.add(
                    annotations=fitted.n_annotations_,
                    success=float(right),
                    error=float(verdict != 0 and not right),
                    inconclusive=float(verdict == 0),
                    distance=distance,
                )
                if verdict != 0:
                    which = "distance_right" if right else "distance_wrong"
                    total.add(**{which: distance})
                fitted.untell(order)
    return [
        {
            "pair": draws.name,
            "judge": judge,
            "comparison": name,
            "n_repeats": draws.n_repeats,
            **total.means(
                "annotations",
                "success",
                "error",
                "inconclusive",
                "distance",
                "distance_right",
                "distance_wrong",
            ),
        }
        for (judge, name), total in totals.items()
    ]


def _started(
    comparison: PreferenceComparison, X: np.ndarray, seed: int, selectors: dict
) -> PreferenceComparison:
    """Start a comparison with a selector that is fitted once for all alike."""
    fresh = clone(comparison)
    if fresh.selector is not None:
        fresh.set_params(selector=_seeded(fresh.selector, seed))
    key = _content(fresh.selector)
    if key not in selectors:
        # `start` fits the selector as `fit` does, whatever the default is.
        selectors[key] = FrozenEstimator(fresh.start(X).selector_)
    return fresh.set_params(selector=selectors[key]).start(X)


def _content(selector: Any) -> str:
    """Return a key that is equal for equal selectors."""
    try:
        return joblib.hash(selector)
    except (PicklingError, AttributeError, TypeError):
        return f"only {id(selector)}"


def _checked_pair(pair: Any) -> tuple[str, np.ndarray, dict[str, np.ndarray]]:
    name, X, y = three(pair, "pairs")
    X = check_vectors_of(name, X)
    outcomes = dict(y) if isinstance(y, Mapping) else {"": y}
    judges = {str(judge) for judge in outcomes}
    if not judges or len(judges) < len(outcomes):
        raise ValueError(
            f"{name!r} has preferences by the judges {list(outcomes)}; give at least "
            "one, and each a name of its own."
        )
    return (
        name,
        X,
        {
            str(judge): check_values(
                name, X, values, f"preferences{f' by {judge}' if judge else ''}"
            )
            for judge, values in outcomes.items()
        },
    )
