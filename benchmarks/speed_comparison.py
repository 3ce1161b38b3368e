"""Parts of the benchmark of speed: asking, telling, stopping, intervals and studies."""

import itertools

import numpy as np
from scipy import stats

from benchmarks.measure import Part
from skdiffuse import (
    BettingRule,
    HypergeometricRule,
    PreferenceComparison,
    RandomSelector,
)
from skdiffuse.comparison import Draws, confidence_sequence
from skdiffuse.evaluation import success_curve

RANDOM = RandomSelector(random_state=0)
# Never satisfied, so that every answer is looked at.
STRICT = BettingRule(1e-300)


def answers(n, seed=0):
    """Return preferences with a small lead of A."""
    rng = np.random.default_rng(seed)
    return rng.choice([-1.0, 0.0, 1.0], size=n, p=[0.3, 0.36, 0.34])


def told(n_rows, n_answers, judged=False):
    """Return a call that asks for answers and tells them, one after the other."""
    y = answers(n_rows)
    judge = np.where(np.arange(n_rows) % 3, y, 0.0) if judged else None
    comparison = PreferenceComparison(RANDOM, STRICT, 1, n_answers)
    comparison.start(np.zeros((n_rows, 1)), judge=judge)

    def tell():
        comparison.untell(list(comparison.answers_))
        while len(row := comparison.ask()):
            comparison.tell(row, y[row])
        return comparison.n_annotations_

    return tell


def betting(quick):
    few, rows = (50, 400) if quick else (1000, 20_000)
    return {f"{n} answers": told(rows, n) for n in (few, 4 * few)}


def one_answer(quick):
    sizes = (100, 1000) if quick else (1000, 100_000)
    return {f"{n} rows": told(n, n // 10 if quick else 500) for n in sizes}


def one_judged_answer(quick):
    sizes = (100, 1000) if quick else (1000, 100_000)
    return {f"{n} rows": told(n, n // 10 if quick else 500, True) for n in sizes}


def sequence(quick):
    few = 20 if quick else 500

    def looks(n):
        return lambda: confidence_sequence(answers(n), Draws.uniform(20_000))

    return {f"{n} looks": looks(n) for n in (few, 4 * few)}


def hypergeometric(quick):
    n_rows, repeats = 800, 3 if quick else 100

    def risks(risk):
        # Other comparisons at each call, as in a study.
        seeds = itertools.count()

        def call():
            histories = [answers(60, next(seeds)) for _ in range(repeats)]
            return [risk(y[:t]) for y in histories for t in range(5, len(y) + 1)]

        return call

    def plain(y):
        leader = np.sign(y.sum())
        if leader == 0:
            return 1.0
        wins = np.sum(y == leader)
        return stats.hypergeom.sf(wins - 1, n_rows, n_rows // 2, len(y))

    rule = HypergeometricRule(ties="draw")
    return {
        "scipy's hypergeom.sf at each": risks(plain),
        "skdiffuse: HypergeometricRule": risks(lambda y: rule.assess(y, n_rows).risk),
    }


def same_risks(results):
    plain, ours = results.values()
    np.testing.assert_array_equal(ours, plain)


def distance(quick):
    def of(n_rows):
        y = answers(n_rows)
        comparison = PreferenceComparison(RANDOM, STRICT, 1, 20 if quick else 200)
        comparison.fit(np.zeros((n_rows, 1)), y)
        return comparison.winning_distance

    return {f"{n} rows": of(n) for n in ((50, 500) if quick else (10_000, 1_000_000))}


def study(quick):
    budgets, repeats = range(5, 205, 5), 1 if quick else 50
    X, y = np.zeros((805, 1)), answers(805)

    def plain():
        rng = np.random.default_rng(0)
        right = np.zeros(len(budgets))
        for _ in range(repeats):
            drawn = y[rng.permutation(805)[:644]]
            order = rng.permutation(644)
            for place, budget in enumerate(budgets):
                lead = np.sign(drawn[order[:budget]].sum())
                right[place] += (1 + lead * np.sign(drawn.sum())) / 2
        return right / repeats

    def ours():
        arms = {"random": RandomSelector()}
        pairs = [("pair", X, y)]
        return success_curve(arms, pairs, budgets=budgets, n_repeats=repeats)

    return {"a loop in numpy": plain, "skdiffuse: success_curve": ours}


PARTS = [
    Part("BettingRule after each of many answers", betting),
    Part("confidence_sequence after each of many draws", sequence),
    Part("risks of 100 comparisons of 60 answers", hypergeometric, check=same_risks),
    Part("500 answers asked for and told, few or many rows", one_answer),
    Part("500 answers, with a judge that says A, B or tie", one_judged_answer),
    Part("winning_distance after 200 answers, few or many rows", distance, 10),
    Part("success_curve of random examples, 40 budgets", study),
]
