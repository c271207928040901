"""Distance of learners of finite width from the infinite-width dynamics, and of descent from gradient
flow."""
