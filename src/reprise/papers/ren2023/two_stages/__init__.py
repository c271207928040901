"""Figure 1: contrastive training first loses balance as it aligns, then restores it; other training does
not."""
