"""Section 3.1: FroSSL with weights on its invariance, from which equal ones came out as the best."""
