"""Sections 5 and 6.1: adjacent linear layers align, and their singular values then grow in proportion to themselves."""
