"""Checks the formulas of Sections 4 and 5 and of the appendices at random points and sizes."""
