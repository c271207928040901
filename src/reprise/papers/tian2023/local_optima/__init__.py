"""Figure 8 and Appendices B.5 and E.1: the local optima of one unit on the circle."""
