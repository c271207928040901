"""Two classes of digits: time of a step of (11) and of (12), and what a classifier makes of the embeddings
(Figure 4)."""
