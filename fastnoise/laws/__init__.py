"""What is drawn: one package a family."""
