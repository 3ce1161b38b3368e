"""How often, or by how much: means from few labels and a judge on everything."""

from skdiffuse.ppi._base import BasePPIMeanEstimator
from skdiffuse.ppi._mean import PPIMeanEstimator
from skdiffuse.ppi._moments import PoolMoments
from skdiffuse.ppi._planning import LabelPlan, plan_labels
from skdiffuse.ppi._ridge import RidgePPIMeanEstimator
from skdiffuse.ppi._sigmoid import SigmoidPPIMeanEstimator

__all__ = [
    "BasePPIMeanEstimator",
    "LabelPlan",
    "PPIMeanEstimator",
    "PoolMoments",
    "RidgePPIMeanEstimator",
    "SigmoidPPIMeanEstimator",
    "plan_labels",
]
