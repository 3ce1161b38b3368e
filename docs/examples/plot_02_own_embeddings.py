"""
Your own embeddings
===================

Any difference vectors will do: the embedding of A's output minus that of B's, from
whatever model you like. Here both come from a matrix that stands for your model's.
"""

# %%
# A function from texts to vectors is enough for :class:`~skdiffuse.PairDifference`.
import numpy as np

from skdiffuse import DiffUseSelector, PairDifference
from skdiffuse.datasets import load_digit_captions
from skdiffuse.metrics import winner
from skdiffuse.plotting import SelectionMapDisplay

captions = load_digit_captions()
words = sorted({word for text in captions.data.ravel() for word in text.split()})
vectors = np.random.default_rng(0).normal(size=(len(words), 128))
table = dict(zip(words, vectors, strict=True))


def embed(texts):
    """Stand for a sentence embedding: the mean of vectors of words."""
    rows = [[table.get(word, np.zeros(128)) for word in t.split()] for t in texts]
    return np.array([np.mean(row, axis=0) for row in rows])


X = PairDifference(embed).fit_transform(captions.data)
X.shape

# %%
# Vectors that you have already go straight to the selector. These 40 rows are judged,
# and no other.
selector = DiffUseSelector(40, random_state=0).fit(X)
print("of 40 judged:", winner(captions.preference[selector.selected_indices_]))

# %%
# Where they lie among all differences, in two of many dimensions:
SelectionMapDisplay.from_estimator(selector, X)

# %%
# Beside the truth, which nobody would have paid for:
print("of all:", winner(captions.preference))
