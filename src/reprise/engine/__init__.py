"""Finds, configures and runs experiments, and records how their results were made."""
