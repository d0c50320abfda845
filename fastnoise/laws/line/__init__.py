"""Laws on the line and on the integers."""
