"""Random streams and compiled loops; every other room may use them."""
