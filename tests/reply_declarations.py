"""The parts of a declared reply that say nothing: for the tests that every operation of a part declares its reply."""

import ast
import dataclasses
import importlib
import inspect
import pkgutil
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, MutableMapping
from contextlib import suppress
from functools import cache, cached_property
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Annotated, Any, ClassVar, Final, TypeVar, cast, get_args, get_origin, get_type_hints

from pydantic import BaseModel, JsonValue
from typing_extensions import is_typeddict

_DICTIONARIES: Final = (dict, Mapping, MutableMapping)
_FUNCTION: Final[Any] = get_origin(Callable[[], None])
_DICTIONARY_NAMES: Final = ("dict", "Dict", "defaultdict", "OrderedDict", "Mapping", "MutableMapping")


def list_operations(service: type) -> list[Callable[..., Any]]:
    """Return the public functions and methods of a service."""
    members = [getattr(service, name) for name in dir(service) if not name.startswith("_")]
    return [member for member in members if inspect.isfunction(member) or inspect.ismethod(member)]


class PackageTypes:
    """The functions and the types of all modules of a package, with what they import for type checkers only.

    Its program is left out, and so are the modules and packages named in `without`.
    """

    def __init__(self, package: ModuleType, *, without: Collection[str] = ()) -> None:
        self._package = package
        self._without = {f"{package.__name__}.__main__", *without}

    @cached_property
    def modules(self) -> dict[str, ModuleType]:
        """The modules of the package by name."""
        package = self._package
        found = (one.name for one in pkgutil.walk_packages(package.__path__, f"{package.__name__}."))
        names = (name for name in found if not any(f"{name}.".startswith(f"{one}.") for one in self._without))
        inner = {name: importlib.import_module(name) for name in names}
        return {package.__name__: package, **inner}

    @cached_property
    def known_names(self) -> dict[str, Any]:
        """The names that the modules import for type checkers only."""
        return {name: one for module in self.modules.values() for name, one in import_for_types(module).items()}

    def find_reply(self, function: Callable[..., Any]) -> Any:
        """Return the type of the return value, or Any if there is none."""
        plain = inspect.unwrap(function)
        module = sys.modules[plain.__module__]
        names = self.known_names | vars(module) | import_for_types(module)
        return get_type_hints(plain, names, include_extras=True).get("return", Any)

    def list_untyped_replies(self, name: str, *, opaque: Collection[Any] = ()) -> list[str]:
        """Return the functions of a module, private ones too, that return an untyped dictionary, and where."""
        return [
            f"{function}: {place}"
            for function, one in iter_functions(self.modules[name])
            for place in list_untyped_dictionaries(self.find_reply(one), opaque=opaque)
        ]

    def list_public_functions(self, name: str) -> dict[str, Callable[..., Any]]:
        """Return the public functions of a module and of its public classes."""
        functions = {at.removeprefix(f"{name}."): one for at, one in iter_functions(self.modules[name])}
        return {at: one for at, one in functions.items() if not any(part.startswith("_") for part in at.split("."))}

    def list_other_operations(self, services: Collection[type]) -> list[Callable[..., Any]]:
        """Return the operations of services that are not public functions of the package."""
        own = {one for name in self.modules for one in self.list_public_functions(name).values()}
        operations = (one for service in services for one in list_operations(service))
        functions = (inspect.unwrap(getattr(one, "__func__", one)) for one in operations)
        return [one for one in functions if one not in own]

    def list_undeclared_parts(self, name: str, *, opaque: Collection[Any] = ()) -> list[str]:
        """Return the public functions of a module whose replies have a part without a type, and the part."""
        return [
            f"{at}: {part}"
            for at, one in self.list_public_functions(name).items()
            for part in list_untyped_parts(self.find_reply(one), opaque=opaque, known=self.known_names)
        ]

    def list_typed_dictionaries(self, name: str) -> list[type]:
        """Return the typed dictionaries that a module declares."""
        return [one for one in vars(self.modules[name]).values() if is_typeddict(one) and one.__module__ == name]

    def list_untyped_fields(self, name: str, *, opaque: Collection[Any] = ()) -> list[str]:
        """Return the parts without a type of the typed dictionaries that a module declares."""
        declared = self.list_typed_dictionaries(name)
        options: Any = {"opaque": opaque, "known": self.known_names}
        return [part for one in declared for part in list_untyped_parts(one, one.__name__, **options)]

    def list_untyped_spellings(self, name: str) -> list[str]:
        """Return where a module writes a dictionary of Any, or returns one of objects, and its names for such types.

        Casts and types in quotes are read too, and so are the functions within functions.
        """
        module = self.modules[name]
        lines = list_untyped_lines(Path(str(module.__file__)).read_text(encoding="utf-8"))
        aliases = {alias: one for alias, one in vars(module).items() if get_origin(one) is not None}
        named = [place for alias, one in aliases.items() for place in list_untyped_dictionaries(one, alias)]
        return [*(f"line {line}" for line in lines), *named]


def list_untyped_lines(code: str) -> list[int]:
    """Return the lines of a module that write a dictionary of Any, or a function that returns one of objects."""
    tree = ast.parse(code)
    functions = [one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)]
    returned = [one.returns for one in functions if one.returns is not None]
    lines = {line for kind in returned for line in _iter_untyped_lines(kind, ("Any", "object"))}
    return sorted(lines | set(_iter_untyped_lines(tree, ("Any",))))


def list_lines_with_open_dict(code: str) -> list[int]:
    """Return the lines of a module that write a dict of Any or of objects anywhere, also in a cast or in quotes."""
    return sorted(set(_iter_untyped_lines(ast.parse(code), ("Any", "object"), names=("dict", "Dict"))))


def _iter_untyped_lines(
    tree: ast.AST, untyped: Collection[str], line: int = 0, *, names: Collection[str] = _DICTIONARY_NAMES
) -> Iterator[int]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "[" in node.value:
            with suppress(SyntaxError, ValueError):  # ValueError: lone surrogates and null characters
                inner = ast.parse(node.value.strip(), mode="eval")
                yield from _iter_untyped_lines(inner, untyped, node.lineno, names=names)
        elif isinstance(node, ast.Subscript) and _get_last_name(node.value) in names:
            values = node.slice.elts[-1] if isinstance(node.slice, ast.Tuple) else node.slice
            if _get_last_name(values) in untyped:
                yield line or node.lineno


def _get_last_name(node: ast.expr) -> str:
    return ast.unparse(node).rpartition(".")[2]


@cache
def import_for_types(module: ModuleType) -> dict[str, Any]:
    """Return what a module imports for type checkers only."""
    names: dict[str, Any] = {}
    for statement in ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.If) and ast.unparse(statement.test) == "TYPE_CHECKING":
            exec(ast.unparse(ast.Module(statement.body, [])), names)
    return names


def iter_functions(owner: type | ModuleType) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield the functions of a module and of its classes, those of properties too."""
    for name, member in vars(owner).items():
        function: Any = getattr(member, "__func__", member)
        if isinstance(member, property | cached_property):
            function = member.fget if isinstance(member, property) else member.func
        plain = inspect.unwrap(function) if callable(function) else None
        home = owner.__name__ if isinstance(owner, ModuleType) else owner.__module__
        if getattr(plain, "__module__", "") != home:
            continue
        if isinstance(plain, FunctionType) and plain.__code__.co_filename.endswith(".py"):
            yield f"{owner.__name__}.{name}", plain
        elif isinstance(plain, type) and isinstance(owner, ModuleType) and not is_typeddict(plain):
            yield from iter_functions(plain)


def list_untyped_parts(
    kind: Any,
    path: str = "reply",
    seen: tuple[Any, ...] = (),
    *,
    opaque: Collection[Any] = (),
    known: Mapping[str, Any] | None = None,
) -> Iterator[str]:
    """Yield the places where a type says nothing: Any, object, and containers of them.

    `opaque` are types that are not looked into, and `known` names that modules import for type checkers only.
    """
    if kind is JsonValue or kind in seen or kind in opaque or isinstance(kind, TypeVar):
        return
    if get_origin(kind) in (ClassVar, _FUNCTION):
        return
    if kind in (Any, object, dict, list, tuple):
        yield path
    elif get_origin(kind) is Annotated:
        yield from list_untyped_parts(get_args(kind)[0], path, seen, opaque=opaque, known=known)
    elif fields := _list_fields(kind, known):
        for name, field in fields.items():
            yield from list_untyped_parts(field, f"{path}.{name}", (*seen, kind), opaque=opaque, known=known)
    else:
        for part in get_args(kind):
            if not isinstance(part, str | int):  # values of Literal
                yield from list_untyped_parts(part, f"{path}[]", seen, opaque=opaque, known=known)


def list_untyped_dictionaries(kind: Any, path: str = "reply", *, opaque: Collection[Any] = ()) -> Iterator[str]:
    """Yield the places of dictionaries whose values are not typed, also of those that an alias names.

    `opaque` are types that are not looked into.
    """
    if kind in opaque:
        return
    if (get_origin(kind) or kind) in _DICTIONARIES and (get_args(kind) or (Any,))[-1] in (Any, object):
        yield path
    for part in get_args(kind):
        if not isinstance(part, str | int | list):  # values of Literal, and parameters of a function
            yield from list_untyped_dictionaries(part, f"{path}[]", opaque=opaque)


def _list_fields(kind: Any, known: Mapping[str, Any] | None) -> dict[str, Any]:
    if not isinstance(kind, type):
        return {}
    declared = cast("type[object]", kind)
    if issubclass(declared, BaseModel):
        return {name: field.annotation for name, field in declared.model_fields.items()}
    if is_typeddict(declared) or dataclasses.is_dataclass(declared) or issubclass(declared, tuple):
        hints = get_type_hints(cast("Any", declared), localns=dict(known or {}), include_extras=True)
        return {name: value for name, value in hints.items() if not name.startswith("_")}
    return {}
