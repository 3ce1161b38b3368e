"""Which examples to annotate."""

from skdiffuse.selection._base import BaseSelector
from skdiffuse.selection._baselines import NormSelector, RandomSelector
from skdiffuse.selection._diffuse import DiffUseSelector

__all__ = ["BaseSelector", "DiffUseSelector", "NormSelector", "RandomSelector"]
