"""
Which representative, which rule? A grid search
===============================================

If you have old comparisons that were judged in full, search them for the settings that
would have found the winner with few judgements. ``SubsampleSplit`` draws parts of the
rows again and again, as the DiffUse paper does, and ``LabelCostScorer`` takes the price
of the judgements off the score.
"""

from sklearn.model_selection import GridSearchCV

from skdiffuse import (
    DiffUseSelector,
    HypergeometricRule,
    LabelCostScorer,
    PreferenceComparison,
    RandomSelector,
    SubsampleSplit,
)
from skdiffuse.datasets import make_preference_pool
from skdiffuse.evaluation import success_curve
from skdiffuse.plotting import BudgetCurveDisplay

X, preference = make_preference_pool(400, winning_distance=0.2, random_state=0)
search = GridSearchCV(
    PreferenceComparison(DiffUseSelector(), HypergeometricRule()),
    {
        "selector__representative": ["centroid", "cosine", "max_norm"],
        "stopping_rule__risk": [0.05, 0.2],
    },
    cv=SubsampleSplit(10, random_state=0),
    scoring=LabelCostScorer(0.001),
).fit(X, preference)

for params, score in zip(
    search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True
):
    print(f"{score:.3f}", *params.values())

# %%
# The differences between settings are small beside those between splits; do not trust
# the best of many after few.
search.cv_results_["std_test_score"].round(2)

# %%
# Without a rule: how often is the winner of a few judgements that of all?
selectors = {"random": RandomSelector(), "DiffUse": DiffUseSelector()}
BudgetCurveDisplay.from_results(
    success_curve(
        selectors, [("A and B", X, preference)], budgets=[5, 10, 20, 40], n_repeats=40
    )
)
