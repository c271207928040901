"""What is measured of weights and embeddings."""
