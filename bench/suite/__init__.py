"""The asv suite."""
