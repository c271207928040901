"""Figures 4, 5, 9 and 10: which activation lets the filters specialise."""
