"""Mechanisms: one short file per family."""
