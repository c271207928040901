"""Figure 3: how the embedding covariance's eigenvalues rise."""
