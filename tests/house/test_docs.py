"""Does what the code and the pages point to exist?"""

import re
from pathlib import Path

import pytest
from conftest import ROOT

FOLDERS = ("fastnoise", "kernels", "bench", "tests")
CODE = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
POINTER = re.compile(r"\b(docs/[\w/.-]+\.md)(?:#([\w-]+))?")
LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([\w-]+))?\)")


def anchors(page: Path) -> set[str]:
    """Of its headings, as GitHub makes them."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


def missing(page: Path, anchor: str) -> bool:
    return not page.exists() or (bool(anchor) and anchor not in anchors(page))


def broken(path: Path) -> list[str]:
    """Pointers of code, links of pages."""
    found = (LINK if path.suffix == ".md" else POINTER).findall(path.read_text())
    home = path.parent if path.suffix == ".md" else ROOT
    return [f"{to}#{at}" for to, at in found if missing(home / to if to else path, at)]


def test_code__points_to_headings_that_exist():
    assert {str(path.relative_to(ROOT)): broken(path) for path in CODE if broken(path)} == {}
    pointed = {at for path in CODE for _, at in POINTER.findall(path.read_text())}
    assert {"layers", "grid-release", "discrete-staircase", "l2-laplace"} <= pointed


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links__lead_somewhere(page):
    assert broken(page) == []


def test_code__points_to_nothing_outside_the_repository():
    outside = re.compile(r"\bspec(ification)? (section )?\d|\bspec:|\bspec\.md\b", re.IGNORECASE)
    assert [path.name for path in CODE if outside.search(path.read_text())] == []


def test_broken_pointers__are_noticed(tmp_path):
    page, code = tmp_path / "page.md", tmp_path / "code.py"
    page.write_text("# A page\n[a](page.md#a-page) [b](page.md#other) [c](no.md)\n")
    assert broken(page) == ["page.md#other", "no.md#"]
    wrong = "docs/mathematics.md" + "#lairs"
    code.write_text(f"# docs/mathematics.md#layers, {wrong}")
    assert broken(code) == [wrong]
