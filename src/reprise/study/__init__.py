"""What an experiment's folder is made of: its contract, its parameters, the losses they name, its tables."""
