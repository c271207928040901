"""The lemmas, propositions, theorems and formulas of the paper that can be tried at random points."""

from reprise.evidence.formula import claims
from reprise.papers.esser2024.theory.formulas import FORMULAS

THEORY = claims("esser2024", *FORMULAS)
