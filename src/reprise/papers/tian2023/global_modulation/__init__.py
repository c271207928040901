"""Theorem 6: how the top layer's modulation widens the basin of a pattern below (Figure 7, Appendix C.3)."""
