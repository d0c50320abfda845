"""What is drawn: one package per family."""
