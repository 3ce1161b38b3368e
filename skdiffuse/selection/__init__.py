"""Which examples to annotate."""

from skdiffuse.selection._diffuse import DiffUseSelector

__all__ = ["DiffUseSelector"]
