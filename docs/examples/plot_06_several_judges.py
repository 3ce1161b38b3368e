"""
Several judges
==============

Each column is a judge. With few labels and many judges, a penalty keeps noise from
being taken for knowledge: ``RidgePPIMeanEstimator`` chooses it.
"""

import numpy as np

from skdiffuse import PPIMeanEstimator, RidgePPIMeanEstimator

rng = np.random.default_rng(0)
n, n_labeled = 3000, 40
quality = rng.normal(size=n)
label = (quality + rng.normal(size=n) > 0.5).astype(float)
good = quality + rng.normal(size=n)
fair = quality + 3 * rng.normal(size=n)
noise = rng.normal(size=(n, 6))
judges = np.column_stack([good, fair, noise])
y = np.where(np.arange(n) < n_labeled, label, np.nan)

# %%
# Six of the eight judges know nothing. Ordinary least squares believes some of them.
for name, estimator in {
    "labels alone": PPIMeanEstimator(lam=0),
    "least squares": PPIMeanEstimator(),
    "ridge": RidgePPIMeanEstimator(penalty="plugin"),
}.items():
    low, high = estimator.fit(judges, y).confidence_interval()
    print(f"{name:14s} {estimator.mean_:.3f}, {high - low:.3f} wide")

# %%
# The truth of this very pool:
print(label.mean().round(3))
