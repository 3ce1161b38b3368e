"""Judge generated text on a small budget, with scikit-learn estimators."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

# The rooms below those that are asked for by their own names alone.
_HOMES = ("ppi", "selection", "pairs", "model_selection", "comparison")
_ROOMS = (*_HOMES, "annotation", "datasets", "evaluation", "metrics", "plotting")


def __getattr__(name: str) -> Any:
    """Import what is asked for: scikit-learn alone takes longer than many a call."""
    if name in _ROOMS:
        return import_module(f"{__name__}.{name}")
    if name in __all__:
        for home in _HOMES:
            room = import_module(f"{__name__}.{home}")
            if hasattr(room, name):
                globals()[name] = getattr(room, name)
                return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_ROOMS})
