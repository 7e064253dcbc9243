"""Write the page about node types from their interfaces; `make docs` runs it."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from pflow.domain.node_interface import Interface, OutputField, parse_interface

ROOT: Final = Path(__file__).resolve().parents[1]
PAGE: Final = ROOT / "docs" / "reference" / "nodes.md"
BUILT_IN: Final = ROOT / "src" / "pflow" / "nodes"

TITLES: Final = {
    "files": "Files",
    "shell": "Commands",
    "python": "Python code",
    "http": "Requests over HTTP",
    "llm": "Language models",
    "git": "Git repositories",
    "github": "Issues and pull requests at GitHub",
    "mcp": "Tools of MCP servers",
    "approval": "People",
    "composite": "Workflows and lists",
    "echo": "Trying things out",
    "paper_search": "Paper search",
    "paper_library": "Paper library",
    "universe": "Universes",
}
"""What the nodes of each file are for, in the order of the page; parts are named by their packages."""

_INTRODUCTION: Final = """\
# Node types

This page is generated from the interfaces of the nodes; `pflow browse` prints the same. Parameters not marked
**required** are optional. Every node can also output `error`, its error message. [Workflows](workflows.md) describes
how to connect nodes; [How workflows run](../concepts/workflows.md) describes effects and your own nodes.
"""


def nodes_page() -> str:
    """Return the page about all node types that ship."""
    files = {path.stem: path for path in BUILT_IN.glob("*.json")}
    source = ROOT / "src"
    files |= {path.relative_to(source).parts[0]: path for path in source.rglob("workflow_nodes.json")}
    if unknown := sorted(files.keys() ^ TITLES.keys()):
        raise ValueError(f"TITLES does not go with the files of nodes: {', '.join(unknown)}")
    kinds = {name: _read(files[name]) for name in TITLES}
    parts = [_INTRODUCTION, _contents(kinds)]
    for name, nodes in kinds.items():
        parts.append(f"## {TITLES[name]}\n")
        parts += [section(node) for node in nodes]
    return "\n".join(parts)


def section(node: Interface) -> str:
    """Return the section about one node type."""
    lines = [f"### `{node.type}`", "", node.description, ""]
    if node.params:
        lines += ["| parameter | type | default | |", "|---|---|---|---|"]
        lines += [
            f"| `{one.key}` | {_type(one.type)} | {_default(one.required, one.default)} | {_cell(one.description)} |"
            for one in node.params.values()
        ]
        lines.append("")
    if node.outputs:
        lines += ["| output | type | |", "|---|---|---|"]
        lines += [f"| `{path}` | {_type(out.type)} | {_cell(out.description)} |" for path, out in _paths(node.outputs)]
        lines.append("")
    lines += [" ".join(_facts(node)), "", "```json", _example(node), "```", ""]
    return "\n".join(lines)


def _read(path: Path) -> list[Interface]:
    declared = json.loads(path.read_text(encoding="utf-8"))["nodes"]
    return [parse_interface(plain, source="builtin") for plain in declared]


def _contents(kinds: Mapping[str, list[Interface]]) -> str:
    rows = [
        f"| {TITLES[name]} | {', '.join(f'[`{node.type}`](#{node.type})' for node in nodes)} |"
        for name, nodes in kinds.items()
    ]
    return "\n".join(["| for | types |", "|---|---|", *rows, ""])


def _paths(outputs: Mapping[str, OutputField], prefix: str = "") -> Iterator[tuple[str, OutputField]]:
    """Each output with the path that a template takes to it; `[…]` stands for the place in a list."""
    for out in outputs.values():
        path = f"{prefix}{out.key}"
        yield path, out
        if out.structure:
            yield from _paths(out.structure, f"{path}[…]." if out.type == "list" else f"{path}.")


def _facts(node: Interface) -> Iterator[str]:
    actions = ", ".join(f"`{action}`" for action in node.actions)
    yield f"Actions: {actions}{', and others that it chooses itself' if node.open_actions else ''}."
    yield _effect(node)
    if node.reads:
        files = " and ".join(f"`{key}`" for key in node.reads)
        yield f"An earlier result is used only while the file of {files} is unchanged."
    if node.timeout is not None:
        yield f"Given up after {node.timeout:g} seconds unless the node says otherwise."
    if node.open_params:
        yield "Takes other parameters, too."


def _effect(node: Interface) -> str:
    if node.effect_by is None:
        return f"Effect: {node.effect}."
    param, effects = node.effect_by
    by_effect: dict[str, list[str]] = {}
    for value, effect in effects.items():
        by_effect.setdefault(effect, []).append(f"`{value if value not in ('TRUE', 'FALSE') else value.lower()}`")
    effects = "; ".join(f"{effect} where `{param}` is {', '.join(values)}" for effect, values in by_effect.items())
    return f"Effect: {effects}; else {node.effect}."


def _default(required: bool, default: Any) -> str:
    if required:
        return "**required**"
    return "" if default is None else f"`{json.dumps(default, ensure_ascii=False)}`"


def _example(node: Interface) -> str:
    return json.dumps({"type": node.type, "params": dict(node.example)}, ensure_ascii=False)


def _type(kind: str) -> str:
    return kind.replace("|", " or ")


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def main() -> None:
    PAGE.write_text(nodes_page().rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
