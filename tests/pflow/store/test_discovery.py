"""Discovery of nodes of all sources."""

import os
import sys
from pathlib import Path
from typing import Any

import orjson
import pytest

from pflow.store.node_discovery import BUILT_IN, discover_nodes
from tests.pflow.store.declared_nodes import (
    SOURCE,
    declare,
    declare_user_nodes,
    install_package,
    list_tools,
    make_importable,
    node,
)


def get_interface(home: Path, kind: str) -> dict[str, Any]:
    return orjson.loads(discover_nodes(home).components[kind].line)


def list_problems(home: Path) -> list[str]:
    return [str(problem) for problem in discover_nodes(home).problems]


def get_only_problem(home: Path) -> str:
    (problem,) = list_problems(home)
    return problem


def test_every_file_of_built_in_nodes_is_sound(tmp_path: Path) -> None:
    found = discover_nodes(tmp_path)
    assert found.problems == []
    files = {component.where for component in found.components.values()}
    assert {f"pflow/nodes/{path.name}" for path in BUILT_IN.glob("*.json")} <= files


def test_a_users_node_is_found_with_a_version_that_follows_its_code(tmp_path: Path) -> None:
    declare_user_nodes(tmp_path, node("mine", version="3"))
    before = get_interface(tmp_path, "mine")
    assert (before["source"], before["file"]) == ("user", "nodes/own.json")
    assert before["version"].startswith("3+")
    (tmp_path / "nodes" / "own.py").write_text(SOURCE.replace("hello", "adieu"))
    assert get_interface(tmp_path, "mine")["version"] != before["version"]
    (tmp_path / "nodes" / "own.py").write_text(SOURCE)
    assert get_interface(tmp_path, "mine")["version"] == before["version"]


def test_a_tool_of_a_server_is_found_with_the_names_of_both(tmp_path: Path) -> None:
    list_tools(tmp_path, "my-web", {"name": "a/b", "inputSchema": {}})
    found = get_interface(tmp_path, "mcp-my-web-a/b")
    assert (found["source"], found["file"]) == ("mcp", "my-web/a/b")


@pytest.mark.parametrize("module", ["made_up_package.deep.nodes", "made_up_package.nodes", "made_up_nodes"])
def test_nodes_of_an_installed_package_are_found_and_nothing_of_it_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str
) -> None:
    install_package(
        tmp_path / "site", module, node("theirs", run=f"{module}:go"), code="raise RuntimeError('imported')"
    )
    make_importable(monkeypatch, tmp_path / "site")
    found = get_interface(tmp_path / "home", "theirs")
    assert (found["source"], found["run"]) == ("entry-point", f"{module}:go")
    assert module.partition(".")[0] not in sys.modules


def test_of_two_installations_of_a_package_the_first_on_the_path_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for version in ("1", "2"):
        install_package(
            tmp_path / version, f"twice{version}", node(f"twice-{version}", run="m:f"), name="twice", version=version
        )
        make_importable(monkeypatch, tmp_path / version)
    found = discover_nodes(tmp_path / "home")
    assert "twice-2" in found.components
    assert "twice-1" not in found.components


def test_an_installed_package_without_its_json_file_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_package(tmp_path / "site", "half.nodes", node("half")).unlink()
    make_importable(monkeypatch, tmp_path / "site")
    assert "entry point made-up of made_up: There is no JSON file beside the module half.nodes." in get_only_problem(
        tmp_path
    )


def test_an_entry_point_of_a_missing_package_is_reported_and_discovered_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    meta = tmp_path / "site" / "gone-1.dist-info"
    meta.mkdir(parents=True)
    (meta / "entry_points.txt").write_text("[pflow.nodes]\ngone = nowhere_to_be_found.nodes:x [extra]\n")
    make_importable(monkeypatch, tmp_path / "site")
    found = discover_nodes(tmp_path)
    assert "beside the module nowhere_to_be_found.nodes" in str(found.problems[0])
    assert found.stamps["module nowhere_to_be_found.nodes"] == []


def test_a_built_in_type_cannot_be_replaced_and_others_only_by_those_before_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    declare_user_nodes(tmp_path, node("read-file"), node("mine"), node("mine", description="Again."))
    install_package(tmp_path / "site", "late.nodes", node("mine", run="late.nodes:f"))
    make_importable(monkeypatch, tmp_path / "site")
    found = discover_nodes(tmp_path)
    assert orjson.loads(found.components["read-file"].line)["source"] == "builtin"
    assert orjson.loads(found.components["mine"].line)["description"] == "Does mine."
    report = [str(problem) for problem in found.problems]
    assert (
        "The type 'read-file' is already declared by pflow/nodes/files.json; this declaration is skipped." in report[0]
    )
    assert report[1].startswith("nodes/own.json: The type 'mine' is already declared by nodes/own.json")
    assert report[2].startswith("entry point made-up of made_up: The type 'mine' is already declared by nodes/own.json")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "It is not JSON"),
        (b"{", "It is not JSON"),
        (b"\xff\xfe", "It is not JSON"),
        (b"[" * 100_000, "It is not JSON"),
        (b"[]", "It does not have a list `nodes`"),
        (b'{"nodes": {}}', "It does not have a list `nodes`"),
        (b'{"nodes": [null]}', "A node cannot be used: `type` must be text"),
        (b'{"nodes": [{"type": "odd"}]}', "The node 'odd' cannot be used: `description` must be text"),
    ],
)
def test_an_invalid_declaration_is_reported_and_the_others_are_read(
    tmp_path: Path, content: bytes, expected: str
) -> None:
    declare_user_nodes(tmp_path, node("mine"))
    (tmp_path / "nodes" / "bad.json").write_bytes(content)
    assert "mine" in discover_nodes(tmp_path).components
    assert get_only_problem(tmp_path).startswith(f"nodes/bad.json: {expected}")


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        ("gone.py:run", "there is no file gone.py in the same folder"),
        ("package.module:run", "`run` must be `file.py:function`"),
        ("../own.py:run", "`run` must be `file.py:function`"),
        ("/etc/own.py:run", "`run` must be `file.py:function`"),
        ("own.py", "`run` must be `file.py:function`"),
        ("folder.py:run", "it is not a regular file"),
        ("out.py:run", "The path leads outside its folder"),
    ],
)
def test_code_of_a_user_is_a_file_beside_its_declaration_and_nowhere_else(
    tmp_path: Path, run: str, expected: str
) -> None:
    declare_user_nodes(tmp_path / "home", node("mine", run=run))
    (tmp_path / "home" / "nodes" / "folder.py").mkdir()
    (tmp_path / "elsewhere.py").write_text(SOURCE)
    (tmp_path / "home" / "nodes" / "out.py").symlink_to(tmp_path / "elsewhere.py")
    problem = get_only_problem(tmp_path / "home")
    assert f"The node 'mine' cannot be used: {expected}" in problem
    assert str(tmp_path) not in problem


def test_a_link_that_stays_in_the_folder_is_followed(tmp_path: Path) -> None:
    declare_user_nodes(tmp_path, node("mine", run="other.py:run"))
    (tmp_path / "nodes" / "other.py").symlink_to("own.py")
    assert "mine" in discover_nodes(tmp_path).components


def test_a_path_that_is_not_a_file_is_reported_and_not_waited_for(tmp_path: Path) -> None:
    declare_user_nodes(tmp_path, node("mine"))
    os.mkfifo(tmp_path / "nodes" / "pipe.json")
    (tmp_path / "nodes" / "folder.json").mkdir()
    (tmp_path / "nodes" / "dangling.json").symlink_to("nothing")
    found = discover_nodes(tmp_path)
    assert "mine" in found.components
    assert [problem.where for problem in found.problems] == ["nodes/folder.json", "nodes/pipe.json"]


def test_an_unreadable_file_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    declare_user_nodes(tmp_path, node("mine"), name="locked")
    real = os.open

    def refusing(path: str, flags: int) -> int:
        if path.endswith("locked.json"):
            raise PermissionError(13, "Permission denied", path)
        return real(path, flags)

    monkeypatch.setattr(os, "open", refusing)
    problem = get_only_problem(tmp_path)
    assert problem.startswith("nodes/locked.json: It cannot be read: Permission denied.")
    assert str(tmp_path) not in problem


def test_a_declaration_that_is_nested_too_deep_is_reported(tmp_path: Path) -> None:
    example: dict[str, Any] = {}
    structure: dict[str, Any] = {"x": {"type": "dict"}}
    for _ in range(300):
        example, structure = {"x": example}, {"x": {"type": "dict", "structure": structure}}
    declare_user_nodes(tmp_path, node("deep", example=example), node("deeper", outputs=structure), node("mine"))
    assert "mine" in discover_nodes(tmp_path).components
    assert [str(problem) for problem in list_problems(tmp_path)] == [
        'nodes/own.json: The node \'deep\' is nested too deep. A file of nodes is {"nodes": [{"type": …, '
        '"description": …, "run": …}, …]}.',
        'nodes/own.json: The node \'deeper\' is nested too deep. A file of nodes is {"nodes": [{"type": …, '
        '"description": …, "run": …}, …]}.',
    ]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"[]", "It does not have an object `servers`"),
        (b'{"servers": 3}', "It does not have an object `servers`"),
        (b"nothing", "It is not JSON"),
        (b'{"servers": {"a": {"nodes": [{"type": "mcp-a-b"}]}}}', "The node 'mcp-a-b' cannot be used"),
    ],
)
def test_an_invalid_list_of_tools_is_reported(tmp_path: Path, content: bytes, expected: str) -> None:
    (tmp_path / "mcp-tools.json").write_bytes(content)
    assert get_only_problem(tmp_path).startswith(f"mcp-tools.json: {expected}")


def test_a_home_that_is_not_there_has_the_built_in_nodes_and_no_problems(tmp_path: Path) -> None:
    found = discover_nodes(tmp_path / "nowhere")
    assert found.problems == []
    assert "read-file" in found.components
    assert not (tmp_path / "nowhere").exists()


def test_a_declaration_beside_a_module_names_a_function_of_a_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    declare(install_package(tmp_path / "site", "wrong.nodes"), node("theirs", run="go"))
    make_importable(monkeypatch, tmp_path / "site")
    assert "`run` must be `package.module:function`" in get_only_problem(tmp_path)
