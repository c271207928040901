"""Every formula of the theory that is tried at random points."""

from reprise.evidence.formula import Formula
from reprise.papers.tian2023.dynamics import batchnorm, kernels, one_layer, roughness, two_layers

FORMULAS: tuple[Formula, ...] = (
    *kernels.FORMULAS,
    *one_layer.FORMULAS,
    *roughness.FORMULAS,
    *two_layers.FORMULAS,
    *batchnorm.FORMULAS,
)
"""All formulas, in the order of the paper's sections."""
