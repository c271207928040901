"""Figure 4: two classes of digits, the time of a step of (11) and of (12), the time to a solution, and how
well a classifier separates the embeddings."""
