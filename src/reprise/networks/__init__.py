"""Encoders, projectors and small dense networks, with their initialisations."""
