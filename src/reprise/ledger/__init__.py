"""Ledger of runs: plans, costs, differences, drift, and recorded runs."""
