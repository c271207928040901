"""Measurements of weights and embeddings."""
