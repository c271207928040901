"""Projected gradient descent (11) beside the ordinary differential equation (12), and their limits (Figure 3,
Theorems 2 and 3)."""
