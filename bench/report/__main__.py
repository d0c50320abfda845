"""Write the tables of README and docs/benchmarks.md and two pictures from the latest runs.

`make bench` and `make peers` measure; what they find is kept in runs.json, beside the pictures.
"""

from bench.report.blocks import blocks, pages
from bench.report.pictures import draw
from bench.report.runs import collected, keep


def main() -> None:
    runs = collected()
    for page, text in pages(runs).items():
        page.write_text(text)
    draw(runs)
    keep(runs)
    print(f"wrote {len(blocks(runs))} tables and 2 pictures")


if __name__ == "__main__":
    main()
