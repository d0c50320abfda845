"""Do packages depend on each other in one direction alone, lazy imports included?"""

import ast
from graphlib import CycleError, TopologicalSorter

import pytest
from conftest import ROOT

PACKAGES = {
    "fastnoise": ROOT / "fastnoise",
    "fastnoise_kernels": ROOT / "kernels/fastnoise_kernels",
}


def imports(source: str) -> set[str]:
    """Modules that a source imports, anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def node_of(module: str) -> str:
    """A package below fastnoise, a family of laws, or a module at the root of fastnoise."""
    parts = module.split(".")
    if parts[0] == "fastnoise_kernels":
        return "kernels"
    depth = 3 if parts[1:2] == ["laws"] else 2
    return ".".join(parts[:depth]).removeprefix("fastnoise.")


def graph() -> dict[str, set[str]]:
    """What depends on what: modules at the root, packages below it, families of laws."""
    modules = {}
    for name, folder in PACKAGES.items():
        for path in folder.rglob("*.py"):
            parts = path.relative_to(folder).with_suffix("").parts
            parts = parts[:-1] if parts[-1] == "__init__" else parts
            modules[".".join((name, *parts))] = path.read_text()
    edges: dict[str, set[str]] = {}
    for module, source in modules.items():
        if module == "fastnoise":  # the top: it gives names to what is below
            continue
        targets = {node_of(target) for target in imports(source) & set(modules) - {"fastnoise"}}
        edges.setdefault(node_of(module), set()).update(targets - {node_of(module)})
    return edges


def test_packages__form_no_cycle():
    list(TopologicalSorter(graph()).static_order())


def test_cycles__would_be_seen():
    edges = graph()
    edges["design"] = edges["design"] | {"mechanisms"}
    with pytest.raises(CycleError):
        list(TopologicalSorter(edges).static_order())


MUST_NOT = [
    ("kernels", {"mechanisms", "dispatch", "stream"}),
    ("design", {"mechanisms", "ideal", "optimum", "etl", "verify"}),
    ("ideal", {"mechanisms", "dispatch", "etl", "verify"}),
    ("mechanisms", {"etl", "verify", "optimum"}),
    ("laws.line", {"laws.layers", "laws.l2", "laws.choice", "mechanisms"}),
    ("laws.layers", {"laws.l2", "laws.choice", "mechanisms"}),
]


@pytest.mark.parametrize(
    ("package", "forbidden"), MUST_NOT, ids=lambda p: p if isinstance(p, str) else ""
)
def test_directions(package, forbidden):
    edges, reached, left = graph(), set(), [package]
    while left:
        for target in edges.get(left.pop(), set()) - reached:
            reached.add(target)
            left.append(target)
    assert not reached & forbidden


def test_top__is_imported_by_nobody():
    """`import fastnoise` inside the package would be a cycle through the top."""
    for folder in PACKAGES.values():
        for path in folder.rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Import):
                    assert "fastnoise" not in {alias.name for alias in node.names}, path
