"""Figure 2, Theorem 1 and Conjecture 1: how far wide nonlinear networks are from linear ones."""
