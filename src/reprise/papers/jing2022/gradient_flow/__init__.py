"""The theory of Sections 4 and 5 and of the appendices, tested formula by formula at random points and
sizes."""
