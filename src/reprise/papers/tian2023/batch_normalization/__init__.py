"""Table 1 and Figure 11: BatchNorm on tokens of unequal length."""
