"""Not in the paper: the stand-in of its images lets a net learn shape, and does not where colour is a short
cut."""
