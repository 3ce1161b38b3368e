"""
One judgement after the other, from a function
==============================================

An oracle is any function from row numbers to preferences: a call to a language model, a
person at a prompt, a metric. It is asked for the rows that are chosen and for no other.
"""

import numpy as np

from skdiffuse import BettingRule, PreferenceComparison, RandomSelector
from skdiffuse.datasets import make_preference_pool
from skdiffuse.plotting import DecisionPathDisplay

X, truth = make_preference_pool(600, winning_distance=0.15, random_state=1)
asked = []


def oracle(rows):
    """Stand for an expensive judge: 1 A is better, 0 tie, -1 B is better."""
    asked.extend(rows.tolist())
    return truth[rows]


comparison = PreferenceComparison().fit(X, oracle)
print(len(asked), "judgements")
print(comparison.verdict_)

# %%
# The same with a guarantee, in random order: the worse generator is named at most once
# in twenty comparisons, however often one looks.
sure = PreferenceComparison(RandomSelector(random_state=0), BettingRule())
sure.set_params(max_annotations=600).fit(X, oracle)
DecisionPathDisplay.from_estimator(sure)

# %%
# A cheap judge's predictions for all rows save judgements, and whatever they are worth,
# they cannot break the guarantee.
noise = np.random.default_rng(0).normal(0, 0.3, len(truth))
cheap = np.clip(0.6 * truth + noise, -1, 1)
alone = sure.n_annotations_
with_judge = sure.fit(X, oracle, judge=cheap).n_annotations_
print(f"{alone} judgements alone, {with_judge} with the cheap judge")
print(sure.winning_distance())

# %%
# The verdict asks one side, the interval both, and at every moment: so it may hold 0
# where the verdict is clear.
