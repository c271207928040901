"""Data sets: the real ones, stand-ins for them, and generators."""
