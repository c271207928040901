"""Observations of ours: statements of three other papers, tried on the two-layer model of Section 5."""
