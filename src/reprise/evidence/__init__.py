"""Claims, their statistics and their verdicts."""
