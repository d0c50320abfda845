"""Numbers from theorems: which staircase is best for which cost."""
