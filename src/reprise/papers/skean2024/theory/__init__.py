"""The theory of Sections 2 to 5 and Appendices A and E: identities, invariances, gradients, cost."""
