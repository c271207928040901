"""Table 1 and Figure 11: BatchNorm where tokens are of unequal length."""
