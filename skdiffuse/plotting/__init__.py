"""Displays of matplotlib (extra `plot`), in the manner of scikit-learn's."""

from skdiffuse.plotting._calibration import CalibrationDisplay
from skdiffuse.plotting._means import MeanComparisonDisplay
from skdiffuse.plotting._path import DecisionPathDisplay
from skdiffuse.plotting._selection import SelectionMapDisplay
from skdiffuse.plotting._studies import BudgetCurveDisplay, NormAgreementDisplay

__all__ = [
    "BudgetCurveDisplay",
    "CalibrationDisplay",
    "DecisionPathDisplay",
    "MeanComparisonDisplay",
    "NormAgreementDisplay",
    "SelectionMapDisplay",
]
