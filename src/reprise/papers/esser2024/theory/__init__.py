"""The theory before the ODE, formula by formula, at random points."""
