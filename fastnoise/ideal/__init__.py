"""The laws of the papers, on real numbers and integers."""
