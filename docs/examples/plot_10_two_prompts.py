"""
Two prompts instead of two models
=================================

Nothing here knows what a generator is: two prompts of one model, two temperatures, two
retrieval settings are compared alike. Outputs that are equal word for word are ties
without asking.
"""

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from skdiffuse import PairDifference, PreferenceComparison, identical_outputs

rng = np.random.default_rng(0)
cities = ["Paris", "Lima", "Oslo", "Cairo", "Quito", "Delhi", "Rome", "Accra"]
short, polite, truth = [], [], []
for _ in range(300):
    city, other = rng.choice(cities, 2, replace=False)
    right_short, right_polite = rng.random() < 0.7, rng.random() < 0.85
    answer = f"{city if right_short else other}."
    short.append(answer)
    # Often the polite prompt changes nothing.
    same = rng.random() < 0.3
    polite.append(answer if same else f"It is {city if right_polite else other}.")
    truth.append(0 if same else int(right_short) - int(right_polite))
pairs, truth = list(zip(short, polite, strict=True)), np.array(truth)

# %%
X = PairDifference(TfidfVectorizer()).fit_transform(pairs)
ties = identical_outputs(pairs)
comparison = PreferenceComparison().fit(X, truth, known_ties=ties)
print(ties.sum(), "pairs are equal and were not asked for")
print(comparison.verdict_)
