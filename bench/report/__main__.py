"""Write the README's tables and two pictures from the latest runs of this machine.

`make bench` and `make peers` measure; what they find is kept in runs.json, beside the pictures.
"""

from bench.report.blocks import README, blocks, put
from bench.report.pictures import draw
from bench.report.runs import collected, keep


def main() -> None:
    runs = collected()
    text = README.read_text()
    for name, lines in blocks(runs).items():
        text = put(text, name, lines)
    README.write_text(text)
    draw(runs)
    keep(runs)
    print(f"wrote {len(blocks(runs))} tables and 2 pictures")


if __name__ == "__main__":
    main()
