"""Figures 2, 7b, 9 and 10, Table 1 and Section 6.3: what a projector does to the representation's spectrum
and to what a linear probe finds in it."""
