"""Every objective by every diagnostic, on common tasks: which of them differ by more than their seeds do."""
