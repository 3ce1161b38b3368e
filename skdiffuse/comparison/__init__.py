"""Who wins, and when to stop."""

from skdiffuse.comparison._betting import confidence_sequence
from skdiffuse.comparison._comparison import PreferenceComparison
from skdiffuse.comparison._distance import WinningDistance, distance_of_sample
from skdiffuse.comparison._draws import Draws
from skdiffuse.comparison._log import read_remarks
from skdiffuse.comparison._rules import (
    Assessment,
    BettingRule,
    FixedBudget,
    HypergeometricRule,
    StoppingRule,
)
from skdiffuse.comparison._size import BiasedSampleWarning
from skdiffuse.comparison._verdict import Verdict

__all__ = [
    "Assessment",
    "BettingRule",
    "BiasedSampleWarning",
    "Draws",
    "FixedBudget",
    "HypergeometricRule",
    "PreferenceComparison",
    "StoppingRule",
    "Verdict",
    "WinningDistance",
    "confidence_sequence",
    "distance_of_sample",
    "read_remarks",
]
