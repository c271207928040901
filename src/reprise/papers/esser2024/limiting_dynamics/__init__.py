"""Figure 3, Theorems 2 and 3: projected gradient descent (11), the ordinary differential equation (12), and
their limits."""
