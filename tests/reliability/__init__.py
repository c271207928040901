"""Studies of docs/reliability.md that anyone can repeat: `make faults` kills, `make mutations` and `make
mutants` edit."""
