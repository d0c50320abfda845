"""The l2 laws: rounded real numbers."""
