"""Laws of nested layers: staircases on vectors."""
