"""How experiments are found, configured and run, and what their records say."""
