"""Figure 1 (right) and Theorem 3: power iteration with a matrix that depends on the iterate."""
