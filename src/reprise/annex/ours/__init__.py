"""Experiments of our own, which belong to no paper: without a citation, so that nothing counts them among the
papers."""

TITLE = "Objectives by diagnostics"
