"""
How many labels?
================

``plan_labels`` finds the cheapest mix of labels and predictions for a width, or the
best that a budget buys, from the correlation of judge and label.
"""

import matplotlib.pyplot as plt
import numpy as np

from skdiffuse import plan_labels

plan = plan_labels(rho=0.8, width=0.1, pool_size=5000)
print(plan.n_labels, "labels beside", plan.n_predictions, "predictions;", plan.reason)

# %%
# A better judge saves labels; how many, depends on how good it is.
correlations = np.linspace(0, 0.95, 20)
figure, ax = plt.subplots()
for width in (0.05, 0.1, 0.2):
    needed = [plan_labels(rho, width=width, pool_size=20_000) for rho in correlations]
    ax.plot(correlations, [one.n_labels for one in needed], label=f"width {width:g}")
ax.set(xlabel="correlation of judge and label", ylabel="labels needed", yscale="log")
ax.legend()
figure.tight_layout()

# %%
# Within a budget: a label costs 1, a prediction 0.01.
print(plan_labels(rho=0.8, budget=200, prediction_cost=0.01))
