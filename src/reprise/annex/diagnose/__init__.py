"""Every diagnostic of a user's own embeddings or model: `reprise diagnose`."""
