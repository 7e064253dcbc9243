"""The names that the source code defines, to compare documents with."""

import ast
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Final

SOURCES: Final = Path(__file__).resolve().parents[1] / "src"


class CodeNames:
    """The names of some packages: parts of module paths, and what modules and classes define."""

    def __init__(self, packages: Sequence[str]) -> None:
        self._names: set[str] = set()
        for package in packages:
            for path in (SOURCES / package.replace(".", "/")).rglob("*.py"):
                module = path.relative_to(SOURCES).with_suffix("").parts
                module = module[:-1] if module[-1] == "__init__" else module
                self._names.update(".".join(module[start:]) for start in range(len(module)))
                self._names.update(_list_definitions(path))

    def __contains__(self, name: str) -> bool:
        """Return True for the end of a module path, such as `sources.registry`, and for a definition."""
        return name.rstrip("/").replace("/", ".") in self._names


@cache
def _list_definitions(path: Path) -> frozenset[str]:
    """Return the functions and classes of a module, and the members of its classes, bare and as `Class.member`."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        if isinstance(node, ast.ClassDef):
            for member in _list_members(node):
                names |= {member, f"{node.name}.{member}"}
    return frozenset(names)


def _list_members(definition: ast.ClassDef) -> Iterator[str]:
    """Yield the methods and fields of a class, and the values of an enumeration."""
    for node in definition.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id
        elif (
            isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        ):
            yield node.value.value
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))
