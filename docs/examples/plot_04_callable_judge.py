"""
One judgement after the other, from a function
==============================================

An oracle is any function from row numbers to preferences: a call to a language model, a
person at a prompt, a metric. It is asked for the rows that are chosen and for no others,
so count what it costs.
"""

import numpy as np

from skdiffuse import BettingRule, PreferenceComparison, RandomSelector
from skdiffuse.datasets import make_preference_pool

X, truth = make_preference_pool(600, winning_distance=0.25, random_state=1)
asked = []


def oracle(rows):
    """Stand for an expensive judge: 1 A is better, 0 tie, -1 B is better."""
    asked.extend(rows.tolist())
    return truth[rows]


comparison = PreferenceComparison(max_annotations=200).fit(X, oracle)
comparison.verdict_

# %%
# The path: who leads after each judgement, and the risk that the rule still sees.
path = comparison.path_
print(len(asked), "judgements;", "risk at the end:", path["risk"][-1].round(4))

# %%
# The same with a guarantee, and with a cheap judge's predictions for all rows: whatever
# they are worth, the worse generator is named at most once in twenty comparisons.
cheap = np.clip(0.6 * truth + np.random.default_rng(0).normal(0, 0.3, len(truth)), -1, 1)
sure = PreferenceComparison(RandomSelector(random_state=0), BettingRule())
alone = sure.fit(X, oracle).n_annotations_
with_judge = sure.fit(X, oracle, judge=cheap).n_annotations_
print(f"{alone} judgements alone, {with_judge} with the cheap judge")
sure.winning_distance()
