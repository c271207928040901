"""The theory of Sections 2 to 5 and of Appendices A and E.1, E.2: identities, invariances, gradients, cost."""
