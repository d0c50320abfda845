"""From what was measured to README and docs/benchmarks.md: `python -m bench.report`."""
