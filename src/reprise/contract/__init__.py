"""The building blocks of an experiment: its contract, parameters, choice of losses, and tables."""
