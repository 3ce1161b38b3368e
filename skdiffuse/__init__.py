"""Judge generated text on a small budget, with scikit-learn estimators."""

from skdiffuse.comparison import (
    BettingRule,
    FixedBudget,
    HypergeometricRule,
    PreferenceComparison,
)
from skdiffuse.model_selection import (
    LabelCostScorer,
    LabeledKFold,
    SubsampleSplit,
    neg_labeled_squared_error,
)
from skdiffuse.pairs import PairDifference, identical_outputs
from skdiffuse.ppi import (
    PoolMoments,
    PPIMeanEstimator,
    RidgePPIMeanEstimator,
    SigmoidPPIMeanEstimator,
    plan_labels,
)
from skdiffuse.selection import DiffUseSelector, NormSelector, RandomSelector

__version__ = "0.1.0"

__all__ = [
    "BettingRule",
    "DiffUseSelector",
    "FixedBudget",
    "HypergeometricRule",
    "LabelCostScorer",
    "LabeledKFold",
    "NormSelector",
    "PPIMeanEstimator",
    "PairDifference",
    "PoolMoments",
    "PreferenceComparison",
    "RandomSelector",
    "RidgePPIMeanEstimator",
    "SigmoidPPIMeanEstimator",
    "SubsampleSplit",
    "__version__",
    "identical_outputs",
    "neg_labeled_squared_error",
    "plan_labels",
]
