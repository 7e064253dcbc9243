"""Pflow homes with nodes of the user, of an installed package and of MCP servers."""

import importlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from pflow.domain.mcp_tool_interfaces import make_tool_declaration

SOURCE = "def run(params, context):\n    return {'said': 'hello'}\n"


def node(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "description": f"Does {kind}.", "run": "own.py:run", **more}


def declare(file: Path, *nodes: Any) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"nodes": list(nodes)}))
    return file


def declare_user_nodes(home: Path, *nodes: Any, name: str = "own", source: str = SOURCE) -> Path:
    """Declare nodes of the user in `nodes/NAME.json`, with their code in `nodes/own.py`."""
    file = declare(home / "nodes" / f"{name}.json", *nodes)
    (home / "nodes" / "own.py").write_text(source)
    return file


def install_package(
    folder: Path, module: str, *nodes: Any, name: str = "made-up", version: str = "1.0", code: str = ""
) -> Path:
    """Write a distribution with an entry point for the module, and return the JSON file of the module."""
    meta = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    meta.mkdir(parents=True)
    (meta / "entry_points.txt").write_text(
        f"[console_scripts]\nx = a:b\n\n[pflow.nodes]\n# a comment\n{name} = {module}\n\n[other]\ny = c\n"
    )
    package, *inner = module.split(".")
    place = folder.joinpath(package, *inner) if inner else folder / package
    place.parent.mkdir(parents=True, exist_ok=True)
    if inner:
        (folder / package / "__init__.py").write_text("raise RuntimeError('nobody may import this to read of it')\n")
    place.with_suffix(".py").write_text(code)
    return declare(place.with_suffix(".json"), *nodes)


def list_tools(home: Path, server: str, *tools: dict[str, Any]) -> None:
    nodes = [make_tool_declaration(server, tool) for tool in tools]
    home.mkdir(parents=True, exist_ok=True)
    (home / "mcp-tools.json").write_text(json.dumps({"servers": {server: {"nodes": nodes}}}))


def make_importable(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    importlib.invalidate_caches()
