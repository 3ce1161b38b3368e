"""Who wins, and when to stop."""

from skdiffuse.comparison._comparison import PreferenceComparison
from skdiffuse.comparison._rules import (
    Assessment,
    BettingRule,
    FixedBudget,
    HypergeometricRule,
    StoppingRule,
)
from skdiffuse.comparison._verdict import Verdict

__all__ = [
    "Assessment",
    "BettingRule",
    "FixedBudget",
    "HypergeometricRule",
    "PreferenceComparison",
    "StoppingRule",
    "Verdict",
]
