"""Section 5.4: more layers collapse more dimensions, with and without a nonlinearity."""
