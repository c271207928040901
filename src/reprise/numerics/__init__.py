"""Random streams and compiled loops, which every other room may use."""
