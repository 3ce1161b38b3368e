"""
Two generators on the same inputs: paired differences
=====================================================

By how much is A right more often than B? Take the difference of their labels, row by
row, and both judges as columns. Inputs that are hard for A are hard for B: the
difference of each pair knows that, two separate means do not.
"""

import numpy as np

from skdiffuse import PPIMeanEstimator
from skdiffuse.datasets import load_digit_captions

captions = load_digit_captions()
judges = np.column_stack([captions.judge_a, captions.judge_b])
rows = np.random.default_rng(0).choice(len(judges), 150, replace=False)


def labels_of(values):
    """Keep the labels of the random rows."""
    y = np.full(len(values), np.nan)
    y[rows] = values[rows]
    return y


ahead = PPIMeanEstimator().fit(
    judges, labels_of(captions.correct_a - captions.correct_b)
)
low, high = ahead.confidence_interval(label_range=(-1, 1))
print(f"A is ahead by {ahead.mean_:.3f}, between {low:.3f} and {high:.3f}")
print("all labels say", (captions.correct_a - captions.correct_b).mean().round(3))

# %%
# Two separate means are less precise:
a = PPIMeanEstimator().fit(judges[:, [0]], labels_of(captions.correct_a))
b = PPIMeanEstimator().fit(judges[:, [1]], labels_of(captions.correct_b))
apart = np.hypot(a.standard_error_, b.standard_error_)
print(f"standard error {ahead.standard_error_:.3f} paired, {apart:.3f} apart")
