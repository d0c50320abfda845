"""The `fastnoise` command."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from io import TextIOWrapper

from fastnoise.float_mode import refuse_odd_floats
from fastnoise.version import VERSION


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    if isinstance(sys.stdout, TextIOWrapper):  # names that a terminal cannot show
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        refuse_odd_floats()
        module, name = options.run.rsplit(".", 1)
        return int(getattr(import_module(module), name)(options))
    except Exception as problem:  # damaged files raise anything, SystemError and RecursionError too
        first = (str(problem) or type(problem).__name__).partition("\n")[0]
        print(f"fastnoise {options.command}: {first}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"fastnoise {options.command}: interrupted", file=sys.stderr)
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="fastnoise", description="Noise for differential privacy, exact and at memory speed."
    )
    parser.add_argument("--version", action="version", version=f"fastnoise {VERSION}")
    commands = parser.add_subparsers(dest="command", required=True)

    demo = commands.add_parser("demo", help="perturb a file of people and show what came out")
    demo.add_argument("--rows", type=int, default=2_000_000, help="default: 2000000")
    demo.add_argument("--png", metavar="FILE", help="save a picture of the noise there")
    demo.set_defaults(run="fastnoise.etl.demo.command")

    perturb = commands.add_parser("perturb", help="add noise to columns of a file or folder")
    perturb.add_argument("input", metavar="IN", help="Parquet file or folder, Arrow IPC or CSV")
    perturb.add_argument("output", metavar="OUT", help="the same format; whole, or not there")
    perturb.add_argument("--plan", required=True, metavar="FILE", help="TOML: columns, mechanisms")
    perturb.add_argument("--key-file", metavar="FILE", help="32 secret bytes: repeatable noise")
    perturb.add_argument("--threads", type=int, help="default: all")
    perturb.add_argument("--again", action="store_true", help="perturb what has noise already")
    perturb.add_argument("--dry-run", action="store_true", help="check, and say what would happen")
    perturb.add_argument("--quiet", action="store_true", help="no progress, no summary")
    perturb.add_argument("--json", action="store_true", help="the summary as JSON")
    perturb.set_defaults(run="fastnoise.etl.command.perturb")

    receipt = commands.add_parser("receipt", help="what was done to the columns of a file")
    receipt.add_argument("input", metavar="FILE")
    receipt.add_argument("--json", action="store_true", help="print JSON instead of a page")
    receipt.set_defaults(run="fastnoise.etl.command.receipt")

    warm = commands.add_parser("warmup", help="compile every kernel into the cache")
    warm.set_defaults(run="fastnoise.warmup.command")

    check = commands.add_parser("verify", help="check on this machine all that is promised")
    check.add_argument("--only", nargs="+", metavar="NAME", default=[], help="these checks alone")
    check.add_argument("--json", action="store_true", help="print JSON instead of a table")
    check.set_defaults(run="fastnoise.verify.run.command")
    return parser


if __name__ == "__main__":
    sys.exit(main())
