"""What anyone can repeat of docs/reliability.md: `make faults` kills, `make mutations` and `make mutants`
edit."""
