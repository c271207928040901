"""Section 5: adjacent linear layers align, and their singular values then grow in proportion to their
size."""
