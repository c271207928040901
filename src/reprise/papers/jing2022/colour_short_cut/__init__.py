"""Not in the paper: the stand-in for its images lets a network learn shape, unless colour is a shortcut."""
