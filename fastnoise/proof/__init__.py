"""What the tables of a law prove about it: privacy, and how far it is from the ideal law."""
