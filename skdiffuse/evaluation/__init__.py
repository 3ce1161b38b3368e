"""The papers' protocols on your own data: does it work there, and what does it save."""

from skdiffuse.evaluation._comparisons import (
    distance_bias,
    iterative_study,
    norm_agreement,
    success_curve,
)
from skdiffuse.evaluation._means import coverage_study, error_study
from skdiffuse.evaluation._run import StudyInterruptedWarning, summarise

__all__ = [
    "StudyInterruptedWarning",
    "coverage_study",
    "distance_bias",
    "error_study",
    "iterative_study",
    "norm_agreement",
    "success_curve",
    "summarise",
]
