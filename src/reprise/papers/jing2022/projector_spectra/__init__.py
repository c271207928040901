"""Figures 2, 7b, 9 and 10, Table 1 and Section 6.3: the effect of a projector on the representation's
spectrum and on linear probes."""
