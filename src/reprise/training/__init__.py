"""Optimisation loops."""
