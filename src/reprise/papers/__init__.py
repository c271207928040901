"""One folder a paper; found by looking, never imported by a shared room."""
