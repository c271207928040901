"""Verdicts and figures as people read them."""
