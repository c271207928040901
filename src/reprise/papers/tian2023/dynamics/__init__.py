"""The theory of Sections 2 to 4 and of Appendices A to D, formula by formula, at random points and sizes."""
