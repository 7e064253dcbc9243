"""The functions of a package and what they return, for the tests that no function returns an untyped dictionary."""

import ast
import importlib
import inspect
import pkgutil
from collections.abc import Callable, Collection, Iterator
from functools import cache
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, get_type_hints

from typing_extensions import is_typeddict


@cache
def import_for_types(module: ModuleType) -> dict[str, Any]:
    """Return what a module imports for type checkers only."""
    names: dict[str, Any] = {}
    for statement in ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.If) and ast.unparse(statement.test) == "TYPE_CHECKING":
            exec(ast.unparse(ast.Module(statement.body, [])), names)
    return names


def list_modules(package: ModuleType, skipped: Collection[str] = ()) -> dict[str, ModuleType]:
    """Import and return the modules of a package by name, without those that are programs, and the skipped ones."""
    found = [one.name for one in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")]
    names = [one for one in found if not one.endswith("__main__") and not any(map(one.startswith, skipped))]
    return {name: importlib.import_module(name) for name in names}


class PackageFunctions:
    """The functions of the modules of a package, with their types as a type checker resolves them."""

    def __init__(self, modules: dict[str, ModuleType]) -> None:
        self.modules = modules

    @property
    def known_names(self) -> dict[str, Any]:
        """The names that all modules import for type checkers only."""
        return _list_known_names(tuple(self.modules.values()))

    def find_reply(self, function: Callable[..., Any]) -> Any:
        """Return the type of the return value, or Any if there is none."""
        module = self.modules.get(function.__module__) or importlib.import_module(function.__module__)
        names = self.known_names | vars(module) | import_for_types(module)
        return get_type_hints(function, names, include_extras=True).get("return", Any)

    def list_typed_dictionaries(self, name: str) -> list[type]:
        """Return the typed dictionaries that a module declares."""
        return [one for one in vars(self.modules[name]).values() if is_typeddict(one) and one.__module__ == name]


def iter_functions(owner: type | ModuleType) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield the functions of a module and of its classes, those of properties too."""
    for name, member in vars(owner).items():
        function: Any = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
        plain = inspect.unwrap(function) if callable(function) else None
        home = owner.__name__ if isinstance(owner, ModuleType) else owner.__module__
        if getattr(plain, "__module__", "") != home:
            continue
        if isinstance(plain, FunctionType) and plain.__code__.co_filename.endswith(".py"):
            yield f"{owner.__name__}.{name}", plain
        elif isinstance(plain, type) and isinstance(owner, ModuleType) and not is_typeddict(plain):
            yield from iter_functions(plain)


def iter_dictionaries_of_anything(source: str) -> Iterator[int]:
    """Yield the lines with a type such as dict[str, Any]: of annotations, of aliases, and of casts, which are texts."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "dict[" in node.value:
            try:
                inner = ast.parse(node.value, mode="eval")
            except SyntaxError:
                continue
            yield from (node.lineno for _ in iter_dictionaries_of_anything(ast.unparse(inner)))
        elif isinstance(node, ast.Subscript) and ast.unparse(node.value) in ("dict", "Dict"):
            last = node.slice.elts[-1] if isinstance(node.slice, ast.Tuple) else node.slice
            if ast.unparse(last) in ("Any", "object"):
                yield node.lineno


@cache
def _list_known_names(modules: tuple[ModuleType, ...]) -> dict[str, Any]:
    return {name: one for module in modules for name, one in import_for_types(module).items()}
