"""Write the tables of README and docs/benchmarks.md: of the registry, and of the latest runs.

`make bench` and `make peers` measure; what they find is kept in runs.json, beside two pictures of
it, which are drawn again when it changes.
"""

from bench.report.blocks import blocks, pages
from bench.report.pictures import draw
from bench.report.runs import collected, keep, kept


def main() -> None:
    runs = collected()
    for page, text in pages(runs).items():
        page.write_text(text)
    print(f"wrote {len(blocks(runs))} tables")
    if runs != kept():
        draw(runs)
        keep(runs)
        print("drew 2 pictures")


if __name__ == "__main__":
    main()
