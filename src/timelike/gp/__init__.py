"""The model: one Gaussian process, its fit, and what a course says about its curve."""

from timelike.gp.model import GP, Curve

__all__ = ["GP", "Curve"]
