"""Benchmarks: `python -m bench.speed` for the table of the README, `asv` for the history."""
