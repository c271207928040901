"""Checks the theory that precedes the ODE, formula by formula, at random points."""
