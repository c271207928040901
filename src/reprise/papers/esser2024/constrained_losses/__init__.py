"""Figure 1 and Propositions 1 to 3: gradient descent with and without constraints."""
