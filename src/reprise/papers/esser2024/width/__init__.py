"""Figure 2, Theorem 1 and Conjecture 1: the distance of wide nonlinear networks from linear ones."""
