"""Training loops, methods, optimisers and schedules."""
