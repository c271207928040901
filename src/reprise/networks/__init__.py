"""Small networks and their initialisations."""
