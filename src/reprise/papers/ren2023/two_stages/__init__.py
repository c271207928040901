"""Figure 1: contrastive pairs align at the cost of balance, then restore it; without them it is lost."""
