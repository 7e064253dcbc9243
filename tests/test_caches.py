"""No cache grows without end: what is remembered by argument is bounded, and by a stated number."""

import ast
from collections.abc import Iterator
from pathlib import Path

SRC = Path(__file__).resolve().parents[1] / "src"
MOST = 2**17
FEW_ARGUMENTS = {"_get_type_check", "_make_json_schema", "get_inner_fields_by_block"}
"""Caches without a bound whose arguments are the kinds of commands, of which there are twenty-five."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


def cached() -> Iterator[tuple[str, Function, int | None]]:
    """Each function whose results are remembered, by its file, with the bound on how many."""
    for path in sorted(SRC.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "cache" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            for decorator in node.decorator_list if isinstance(node, Function) else ():
                called = decorator.func if isinstance(decorator, ast.Call) else decorator
                name = ast.unparse(called).removeprefix("functools.")
                if isinstance(node, Function) and name in ("cache", "lru_cache"):
                    yield f"{path.relative_to(SRC)}:{node.name}", node, _bound(name, decorator)


def _bound(name: str, decorator: ast.expr) -> int | None:
    if name == "cache":
        return None
    if not isinstance(decorator, ast.Call):
        return 128
    given = {keyword.arg: keyword.value for keyword in decorator.keywords}
    return eval(ast.unparse(given["maxsize"]))


def test_every_cache_by_argument_is_bounded_by_a_number() -> None:
    found = list(cached())
    assert len(found) > 30
    unbounded = [
        name
        for name, function, bound in found
        if function.args.args and function.name not in FEW_ARGUMENTS and (bound is None or not 1 <= bound <= MOST)
    ]
    assert unbounded == []
