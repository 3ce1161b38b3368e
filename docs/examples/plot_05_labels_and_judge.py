"""
A rate from few labels and a judge on everything
================================================

Label a random part of the rows, let a judge score all of them, and leave the other labels
NaN. The estimate corrects the judge by what the labels say of it.
"""

import numpy as np

from skdiffuse import (
    PPIMeanEstimator,
    RidgePPIMeanEstimator,
    SigmoidPPIMeanEstimator,
)
from skdiffuse.datasets import make_judged_pool

judge, label = make_judged_pool(2000, 60, rate=0.2, judge=0.7, random_state=0)
print(np.isfinite(label).sum(), "labels;", "the judge alone says", judge.mean().round(3))

# %%
# All variants side by side. The truth is 0.2; the judge alone knows nothing of it.
variants = {
    "labels alone": PPIMeanEstimator(lam=0),
    "PPI": PPIMeanEstimator(),
    "ridge PPI": RidgePPIMeanEstimator(penalty="plugin"),
    "sigmoid PPI": SigmoidPPIMeanEstimator(),
}
for name, estimator in variants.items():
    low, high = estimator.fit(judge, label).confidence_interval(0.95)
    print(f"{name:12s} {estimator.mean_:.3f}  [{low:.3f}, {high:.3f}]")

# %%
# What is the judge worth? So many labels more, drawn in the same way:
round(variants["ridge PPI"].labels_saved_)
