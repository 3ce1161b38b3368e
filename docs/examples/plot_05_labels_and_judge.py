"""
A rate from few labels and a judge on everything
================================================

Label a random part of the rows, let a judge score all of them, and leave the other
labels NaN. The estimate corrects the judge by what the labels say of it.
"""

import numpy as np

from skdiffuse import (
    PPIMeanEstimator,
    RidgePPIMeanEstimator,
    SigmoidPPIMeanEstimator,
)
from skdiffuse.datasets import make_judged_pool
from skdiffuse.plotting import CalibrationDisplay, MeanComparisonDisplay

judge, label = make_judged_pool(2000, 60, rate=0.2, judge=0.7, random_state=0)
print(
    np.isfinite(label).sum(), "labels;", "the judge alone says", judge.mean().round(3)
)

# %%
# All variants side by side. The judge alone knows nothing of the truth, 0.2.
variants = {
    "PPI": PPIMeanEstimator(),
    "ridge PPI": RidgePPIMeanEstimator(penalty="plugin"),
    "sigmoid PPI": SigmoidPPIMeanEstimator(),
}
for estimator in variants.values():
    estimator.fit(judge, label)
MeanComparisonDisplay.from_estimators(variants, truth=0.2)

# %%
# What is the judge worth? So many labels more, drawn in the same way:
print(round(variants["ridge PPI"].labels_saved_))

# %%
# How well does it predict labels? Rows that were not used in the fit tell most.
others, truth = make_judged_pool(500, None, rate=0.2, judge=0.7, random_state=1)
CalibrationDisplay.from_estimator(variants["sigmoid PPI"], others, truth)
