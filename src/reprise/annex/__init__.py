"""A user's own work: `reprise diagnose`, `reprise try`, and the comparison of objectives behind both."""
