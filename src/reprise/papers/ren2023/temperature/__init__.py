"""One temperature throughout (Section 5), and how Stage 1 nears the other loss (Lemma B.9)."""
