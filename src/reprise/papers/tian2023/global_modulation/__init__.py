"""Theorem 6: modulation by the top layer widens a pattern's basin in the layer below (Figure 7, Appendix
C.3)."""
