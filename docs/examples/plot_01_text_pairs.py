"""
Text pairs in a Pipeline
========================

Two captioners described 1,797 images of handwritten digits. Which one is better? A
Pipeline embeds both texts of each pair, subtracts, reduces, and asks for one judgement
after the other until it is clear.
"""

from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

from skdiffuse import PairDifference, PreferenceComparison
from skdiffuse.datasets import load_digit_captions
from skdiffuse.plotting import DecisionPathDisplay

captions = load_digit_captions()
print("A:", captions.text_a[5], "B:", captions.text_b[5])

comparison = make_pipeline(
    PairDifference(TfidfVectorizer(), sparse_output=True),
    TruncatedSVD(20, random_state=0),
    PreferenceComparison(),
)
comparison.fit(captions.data, captions.preference)
print(comparison[-1].verdict_)

# %%
# The path to the verdict: wins and risk after each judgement.
DecisionPathDisplay.from_estimator(comparison[-1])
