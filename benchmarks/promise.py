"""Whether the betting rule names the worse one at most as often as it promises.

Made pools of 30 examples in which B is ahead by a single one, or both are equal, with
few ties and many, drawn with equal and with unequal chances, with judges that are good,
useless or adverse. Run to the last example but one.

    python -m benchmarks.promise [--runs 5000]

The table goes to `benchmarks/results/promise.csv`, and its summary into
`docs/evidence.md`. `--quick` takes few runs and writes nothing; `--summary-only` makes
the summary from the file.
"""

import itertools

import numpy as np
import polars as pl
from sklearn.base import clone

from benchmarks import options
from benchmarks.documents import fill
from benchmarks.runs import make, read
from skdiffuse import BettingRule, NormSelector, RandomSelector
from skdiffuse.comparison import Draws

NAME, NEEDS_DATA = "promise", False
N_EXAMPLES = 30
ALPHAS = (0.05, 0.2)
SELECTORS = {
    "random": RandomSelector(),
    "weighted": NormSelector(probability=True),
    "weighted, floor 0.1": NormSelector(probability=True, floor=0.1),
}
JUDGES = ("none", "good", "useless", "adverse")


def pool_of(ahead, ties, rng):
    """Return preferences in which B wins `ahead` examples more, and vectors of them."""
    n_ties = round(N_EXAMPLES * ties)
    n_ties += (N_EXAMPLES - n_ties - ahead) % 2
    wins = (N_EXAMPLES - n_ties - ahead) // 2
    y = np.repeat([1.0, 0.0, -1.0], [wins, n_ties, wins + ahead])
    # Longer where one wins, longest where A does: the draws prefer the worse one.
    X = (
        np.exp(0.5 * rng.normal(size=(N_EXAMPLES, 1)))
        * (1 + np.abs(y) + (y > 0))[:, np.newaxis]
    )
    return X, y


def predictions(judge, y, rng):
    """Return the preferences that a judge predicts."""
    if judge == "none":
        return None
    guess = rng.choice([-1.0, 0.0, 1.0], size=len(y))
    if judge == "useless":
        return guess
    right = y if judge == "good" else -y
    return np.where(rng.uniform(size=len(y)) < 0.8, right, guess)


def study(ahead, ties, selector, judge, runs):
    """Return how often whom is named, a record for each alpha."""
    named = {alpha: [] for alpha in ALPHAS}
    place = [ahead, round(10 * ties), list(SELECTORS).index(selector)]
    for run in range(runs):
        rng = np.random.default_rng([*place, JUDGES.index(judge), run])
        X, y = pool_of(ahead, ties, rng)
        predicted = predictions(judge, y, rng)
        chooser = clone(SELECTORS[selector]).set_params(
            random_state=int(rng.integers(2**31))
        )
        chooser.fit(X)
        order = chooser.annotation_order()
        draws = Draws(order, chooser.draw_weights_, predicted, N_EXAMPLES)
        for alpha, winner in first_named(draws, y[order]).items():
            named[alpha].append(winner)
    return [
        {
            "ahead": ahead,
            "ties": ties,
            "selector": selector,
            "judge": judge,
            "alpha": alpha,
            "runs": runs,
            "named_a": np.mean(np.array(winners) == 1).round(4),
            "named_b": np.mean(np.array(winners) == -1).round(4),
        }
        for alpha, winners in named.items()
    ]


def first_named(draws, preferences):
    """Return whom the rule names for each alpha; 0 if only the last example tells."""
    rule = BettingRule(min(ALPHAS))
    rule.begin(draws)
    named = dict.fromkeys(ALPHAS, 0)
    for t in range(1, N_EXAMPLES):
        look = rule.assess(preferences[:t], N_EXAMPLES)
        for alpha in ALPHAS:
            if named[alpha] == 0 and look.leader and look.risk < alpha:
                named[alpha] = look.leader
        if look.stop:
            break
    return named


def tasks(chosen):
    """Yield the arguments of each study."""
    cells = itertools.product((0, 1), (0.0, 0.3, 0.7), SELECTORS, JUDGES)
    for ahead, ties, selector, judge in cells:
        yield ahead, ties, selector, judge, chosen.runs


def with_promises(table):
    """Return the table with what goes wrong, what is promised, and by how much more."""
    tied = pl.col("ahead") == 0
    wrong = pl.col("named_a") + pl.when(tied).then(pl.col("named_b")).otherwise(0)
    promised = pl.col("alpha") * pl.when(tied).then(2).otherwise(1)
    error = (promised * (1 - promised) / pl.col("runs")).sqrt()
    return table.with_columns(
        wrong=wrong, promised=promised, over=(wrong - promised) / error
    )


def summary(table):
    """Return the largest shares over ties, beside what is promised."""
    index = ["ahead", "alpha", "promised", "selector"]
    return (
        with_promises(table)
        .group_by(*index, "judge", maintain_order=True)
        .agg(pl.col("wrong").max().round(3))
        .pivot("judge", index=index, values="wrong")
        .sort("ahead", "alpha", descending=[True, False], maintain_order=True)
    )


def tables():
    """Return the tables of the documents by their names."""
    return {NAME: summary(read(NAME))}


def main(arguments=None):
    parse = options.parser(__doc__)
    parse.add_argument("--runs", type=options.positive, default=5000)
    if make(NAME, options.parse(parse, arguments, runs=10), study, tasks):
        fill(tables())


if __name__ == "__main__":
    main()
