"""The lemmas and formulas of the paper that can be tried at random points."""

from reprise.evidence.formula import claims
from reprise.papers.ren2023.theory.formulas import FORMULAS

THEORY = claims("ren2023", *FORMULAS)
