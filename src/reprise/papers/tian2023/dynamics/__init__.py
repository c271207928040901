"""Checks the formulas of Sections 2 to 4 and Appendices A to D at random points and sizes."""
