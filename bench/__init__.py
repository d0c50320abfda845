"""Benchmarks: `python -m bench.speed` for the tables of docs/benchmarks.md, `asv` for history."""
