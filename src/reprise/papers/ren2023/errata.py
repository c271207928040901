"""Errors in the paper's text: none that we can show.

Our copy of the text has lost its formulas, so that no misprint in one can be told from the loss. What the
prose says and the experiments contradict stands among the claims.
"""

from reprise.evidence.errata import Erratum

ERRATA: list[Erratum] = []
