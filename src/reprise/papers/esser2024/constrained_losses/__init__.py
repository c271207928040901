"""Figure 1 and Propositions 1 to 3: without constraints and with them, by gradient descent."""
