"""Jobs: plans, tables, files."""
