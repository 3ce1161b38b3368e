"""Judge generated text on a small budget, with scikit-learn estimators."""

from skdiffuse.model_selection import LabeledKFold
from skdiffuse.pairs import PairDifference
from skdiffuse.ppi import PPIMeanEstimator
from skdiffuse.selection import DiffUseSelector

__version__ = "0.1.0"

__all__ = [
    "DiffUseSelector",
    "LabeledKFold",
    "PPIMeanEstimator",
    "PairDifference",
    "__version__",
]
