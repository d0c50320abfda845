"""Exact and interval arithmetic."""
