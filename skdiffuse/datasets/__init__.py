"""Data made here, a real bundled task, and the outputs of evaluation harnesses."""

from skdiffuse.datasets._captions import load_digit_captions
from skdiffuse.datasets._made import make_judged_pool, make_preference_pool
from skdiffuse.datasets._pairs import read_pairs

__all__ = [
    "load_digit_captions",
    "make_judged_pool",
    "make_preference_pool",
    "read_pairs",
]
