"""Which examples to annotate."""

from skdiffuse.selection._base import BaseSelector
from skdiffuse.selection._baselines import NormSelector, RandomSelector
from skdiffuse.selection._diffuse import DiffUseSelector
from skdiffuse.selection._trees import ApproximateClusteringWarning

__all__ = [
    "ApproximateClusteringWarning",
    "BaseSelector",
    "DiffUseSelector",
    "NormSelector",
    "RandomSelector",
]
