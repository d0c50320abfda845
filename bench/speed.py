"""The speed tables: `python -m bench.speed`. Ratios to baselines in the same process."""

from __future__ import annotations

import argparse

from bench.busy import busy_table
from bench.engine import engine_table
from bench.etl import etl_table
from bench.mechanisms import flat_table, mechanism_table
from bench.roofline import roofline_table
from bench.scaling import scaling
from bench.table import record, shown
from bench.targets import targets_table

TABLES = {
    "engine": engine_table,
    "busy": busy_table,
    "mechanisms": mechanism_table,
    "flat": flat_table,
    "roofline": roofline_table,
    "etl": etl_table,
    "targets": targets_table,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    names = [*TABLES, "scaling"]
    parser.add_argument("tables", nargs="*", choices=[[], *names], help="which; all by default")
    options = parser.parse_args()
    for name in options.tables or names:
        if name == "scaling":
            record(name, scaling())
        else:
            record(name, shown(TABLES[name]())._asdict())


if __name__ == "__main__":
    main()
