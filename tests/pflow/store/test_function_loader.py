"""Loading of the functions of nodes."""

import sys
import threading
from pathlib import Path
from typing import Any, cast

import pytest

from pflow.domain.node import NodeContext
from pflow.domain.node_interface import Interface
from pflow.errors import NodeChanged, NodeFailed, NodeNotLoaded
from pflow.store.node_registry import Registry
from tests.pflow.store.declared_nodes import SOURCE, declare_user_nodes, install_package, make_importable, node
from uraniborg.kernel.store.files import PathRefused


def get_interface(registry: Registry, kind: str) -> Interface:
    found = registry.get(kind)
    assert found is not None
    return found


def run(home: Path, kind: str) -> Any:
    registry = Registry(home)
    context = NodeContext("run", "flow", "node", home, home, home)
    return registry.load_function(get_interface(registry, kind))({}, context)


def test_a_built_in_node_is_imported_when_it_is_needed(tmp_path: Path) -> None:
    registry = Registry(tmp_path)
    function = registry.load_function(get_interface(registry, "mcp"))
    assert (function.__module__, function.__name__) == ("pflow.nodes.mcp", "call_named_tool")


def test_a_users_node_runs_and_an_edit_is_taken_by_the_next_registry(tmp_path: Path) -> None:
    declare_user_nodes(tmp_path, node("mine"))
    assert run(tmp_path, "mine") == {"said": "hello"}
    (tmp_path / "nodes" / "own.py").write_text(SOURCE.replace("hello", "adieu"))
    assert run(tmp_path, "mine") == {"said": "adieu"}


def test_code_can_define_classes_that_need_their_module(tmp_path: Path) -> None:
    source = (
        "from __future__ import annotations\nfrom dataclasses import dataclass, asdict\n\n@dataclass\nclass Said:\n"
        "    said: str\n\ndef run(params, context):\n    return asdict(Said('so'))\n"
    )
    declare_user_nodes(tmp_path, node("mine"), source=source)
    assert run(tmp_path, "mine") == {"said": "so"}


def test_code_is_executed_once_and_never_compiled_to_a_file(tmp_path: Path) -> None:
    declare_user_nodes(tmp_path, node("mine"), source="seen = []\n" + SOURCE)
    registry = Registry(tmp_path)
    found: list[Any] = []
    threads = [
        threading.Thread(target=lambda: found.append(registry.load_function(get_interface(registry, "mine"))))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert len(set(map(id, found))) == 1
    assert not (tmp_path / "nodes" / "__pycache__").exists()


def test_code_that_changed_since_the_lookup_is_refused_and_the_next_lookup_sees_it(tmp_path: Path) -> None:
    declare_user_nodes(tmp_path, node("mine"))
    registry = Registry(tmp_path)
    registry.load()
    (tmp_path / "nodes" / "own.py").write_text(SOURCE.replace("hello", "adieu"))
    with pytest.raises(NodeChanged, match=r"own\.py changed"):
        registry.load_function(get_interface(registry, "mine"))
    assert run(tmp_path, "mine") == {"said": "adieu"}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def run(:", "SyntaxError"),
        ("import no_such_module_anywhere", "ModuleNotFoundError"),
        ("raise ValueError('broken')", "ValueError: broken"),
        ("raise SystemExit(3)", "SystemExit"),
        ("other = 1", "names a function run, which own.py does not have"),
        ("run = 1", "names a function run, which own.py does not have"),
    ],
)
def test_code_that_cannot_be_loaded_is_reported_and_leaves_nothing_behind(
    tmp_path: Path, source: str, expected: str
) -> None:
    declare_user_nodes(tmp_path, node("mine"), source=source)
    before = {name for name in sys.modules if "own_nodes" in name}
    with pytest.raises(NodeNotLoaded, match=expected) as caught:
        run(tmp_path, "mine")
    assert isinstance(caught.value, NodeFailed)
    assert caught.value.ids["node_type"] == "mine"
    assert "which own.py" in expected or {name for name in sys.modules if "own_nodes" in name} == before


def test_code_that_became_a_link_out_of_its_folder_is_refused(tmp_path: Path) -> None:
    declare_user_nodes(tmp_path / "home", node("mine"))
    registry = Registry(tmp_path / "home")
    mine = get_interface(registry, "mine")
    (tmp_path / "elsewhere.py").write_text(SOURCE)
    (tmp_path / "home" / "nodes" / "own.py").unlink()
    (tmp_path / "home" / "nodes" / "own.py").symlink_to(tmp_path / "elsewhere.py")
    with pytest.raises(PathRefused):
        registry.load_function(mine)


def test_a_failing_module_of_an_installed_package_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install_package(
        tmp_path / "site", "failing_nodes", node("theirs", run="failing_nodes:f"), code="import not_installed_here"
    )
    make_importable(monkeypatch, tmp_path / "site")
    with pytest.raises(NodeNotLoaded, match="not_installed_here"):
        run(tmp_path, "theirs")
    assert "failing_nodes" not in sys.modules
    assert cast("Any", Registry(tmp_path).get("theirs")).source == "entry-point"
