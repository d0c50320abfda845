"""What compares mechanisms."""
