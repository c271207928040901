"""Theorem 4.3 (b) says that there are a temperature and a length of each stage: where they are."""
