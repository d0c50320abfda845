"""From what was measured to the README: `python -m bench.report`."""
