"""How often, or by how much: means from few labels and a judge on everything."""

from skdiffuse.ppi._mean import PPIMeanEstimator

__all__ = ["PPIMeanEstimator"]
