"""A single temperature throughout (Section 5), and how Stage 1 approaches the other loss (Lemma B.9)."""
