"""How closely learners of finite width follow the infinite-width dynamics, and descent the gradient flow."""
