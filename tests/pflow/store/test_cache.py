"""The cache of discovered nodes."""

import multiprocessing
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from pflow.store import node_registry
from pflow.store.node_discovery import FILE
from pflow.store.node_registry import Registry
from tests.pflow.store.declared_nodes import (
    SOURCE,
    declare,
    declare_user_nodes,
    install_package,
    list_tools,
    make_importable,
    node,
)


@pytest.fixture
def discoveries(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Return a list that collects the homes whose nodes are discovered again."""
    from pflow.store import node_discovery

    seen: list[Path] = []
    real = node_discovery.discover_nodes

    def counted(home: Path, *more: object) -> object:
        seen.append(home)
        return real(home, *more)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(node_discovery, "discover_nodes", counted)
    return seen


def test_cached_nodes_are_the_same_and_not_discovered_again(tmp_path: Path, discoveries: list[Path]) -> None:
    declare_user_nodes(tmp_path, node("mine", params={"a": "str"}, tags=["x"]), {"type": "bad"})
    list_tools(tmp_path, "web", {"name": "find", "description": "Finds.", "inputSchema": {}})
    first, second = Registry(tmp_path), Registry(tmp_path)
    assert dict(first.load()) == dict(second.load())
    assert first.problems == second.problems != []
    assert first.search("mine") == second.search("mine")
    assert len(discoveries) == 1


def edit_code(home: Path) -> None:
    (home / "nodes" / "own.py").write_text(SOURCE.replace("hello", "adieu"))


def add_file(home: Path) -> None:
    declare(home / "nodes" / "more.json", node("more"))


def remove_file(home: Path) -> None:
    (home / "nodes" / "own.json").unlink()


def edit_in_place(home: Path) -> None:
    """Edit a file so that its size and time stay the same."""
    file = home / "nodes" / "own.json"
    before = file.stat()
    file.write_text(file.read_text().replace("mine", "mina"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def sync_tools(home: Path) -> None:
    list_tools(home, "web", {"name": "find", "inputSchema": {}})


@pytest.mark.parametrize("change", [edit_code, add_file, remove_file, edit_in_place, sync_tools])
def test_every_kind_of_change_is_noticed(
    tmp_path: Path, discoveries: list[Path], change: Callable[[Path], None]
) -> None:
    declare_user_nodes(tmp_path, node("mine"))
    before = dict(Registry(tmp_path).load())
    change(tmp_path)
    assert dict(Registry(tmp_path).load()) != before
    assert len(discoveries) == 2


def test_code_that_was_missing_is_seen_when_it_comes(tmp_path: Path) -> None:
    declare(tmp_path / "nodes" / "own.json", node("mine"))
    assert Registry(tmp_path).get("mine") is None
    (tmp_path / "nodes" / "own.py").write_text(SOURCE)
    assert Registry(tmp_path).get("mine") is not None


def test_a_package_that_is_installed_or_edited_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, discoveries: list[Path]
) -> None:
    site = tmp_path / "site"
    site.mkdir()
    make_importable(monkeypatch, site)
    home = tmp_path / "home"
    assert Registry(home).get("theirs") is None
    file = install_package(site, "cached_package.nodes", node("theirs", run="m:f"))
    assert Registry(home).get("theirs") is not None
    declare(file, node("theirs-too", run="m:f"))
    assert Registry(home).get("theirs-too") is not None
    assert len(discoveries) == 3


def test_packages_without_nodes_do_not_outdate_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, discoveries: list[Path]
) -> None:
    Registry(tmp_path / "home").load()
    for name in ("a", "b"):
        (tmp_path / name / "other-1.dist-info").mkdir(parents=True)
        make_importable(monkeypatch, tmp_path / name)
        Registry(tmp_path / "home").load()
    assert len(discoveries) == 1


def test_the_cache_of_a_home_that_was_copied_is_not_taken_for_its_own(tmp_path: Path) -> None:
    declare_user_nodes(tmp_path / "first", node("mine"))
    Registry(tmp_path / "first").load()
    shutil.copytree(tmp_path / "first", tmp_path / "second")
    declare(tmp_path / "second" / "nodes" / "own.json", node("another"))
    assert Registry(tmp_path / "second").get("another") is not None


def test_file_names_that_are_not_valid_text_are_reported(tmp_path: Path) -> None:
    home = tmp_path / os.fsdecode(b"h\xffme")
    declare_user_nodes(home, node("mine"))
    (home / "nodes" / os.fsdecode(b"\xff.json")).write_text("{}")
    for _ in range(2):
        node_registry = Registry(home)
        assert node_registry.get("mine") is not None
        assert [str(problem) for problem in node_registry.problems] == [
            "nodes: It has files whose names are not valid text. Rename them."
        ]


def flip_byte(data: bytes, place: int) -> bytes:
    return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda data: b"",
    "an object": lambda data: b"{}",
    "a list": lambda data: b"[]\n",
    "null": lambda data: b"null\n{}",
    "noise": lambda data: b"\x00\xff" * 100,
    "half of it": lambda data: data[: len(data) // 2],
    "the beginning of it": lambda data: data[:100],
    "more than it": lambda data: data + b"\n",
    "another format": lambda data: data.replace(b"pflow registry", b"other registry", 1),
    "one type too many": lambda data: data.replace(b'"types":[', b'"types":["extra",', 1),
    "a wrong folder": lambda data: data.replace(b'"folders":{', b'"folders":{"x":3,', 1),
    "one bit in the middle": lambda data: flip_byte(data, len(data) // 2),
    "one bit near the beginning": lambda data: flip_byte(data, data.index(b'"types":[') + 12),
    "one bit of the checksum": lambda data: flip_byte(data, data.index(b"\n") - 1),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_cache_is_rebuilt_and_reported_once(tmp_path: Path, damage: str) -> None:
    declare_user_nodes(tmp_path, node("mine"))
    before = dict(Registry(tmp_path).load())
    file = tmp_path / FILE
    file.write_bytes(DAMAGES[damage](file.read_bytes()))
    repaired = Registry(tmp_path)
    assert dict(repaired.load()) == before
    assert [problem.where for problem in repaired.problems] == [FILE]
    assert Registry(tmp_path).problems == []


@pytest.mark.parametrize("obstacle", ["file instead of the folder", "folder instead of the file", "no home"])
def test_a_read_only_home_is_not_a_problem(tmp_path: Path, obstacle: str) -> None:
    home = tmp_path / "home"
    if obstacle == "no home":
        home.write_text("not a folder")
    else:
        declare_user_nodes(home, node("mine"))
        (home / "cache").write_text("") if "file instead" in obstacle else (home / FILE).mkdir(parents=True)
    found = Registry(home)
    assert found.get("echo") is not None
    assert FILE not in [problem.where for problem in found.problems]


def test_no_half_written_file_is_left(tmp_path: Path) -> None:
    Registry(tmp_path).load()
    assert os.listdir(tmp_path / "cache") == ["registry.json"]


def load_often(home: str, number: int) -> list[int]:
    counts: list[int] = []
    for turn in range(20):
        declare(Path(home) / "nodes" / f"{number}.json", node(f"mine-{number}-{turn}"))
        found = Registry(Path(home))
        counts.append(len(found.load()))
        assert found.get(f"mine-{number}-{turn}") is not None
        assert [problem for problem in found.problems if problem.where == FILE] == []
    return counts


def test_processes_that_write_it_at_once_never_see_half_of_it(tmp_path: Path) -> None:
    declare_user_nodes(tmp_path, node("mine"))
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert len(pool.starmap_async(load_often, [(str(tmp_path), n) for n in range(2)]).get(50)) == 2


def test_fresh_registries_share_nothing(tmp_path: Path) -> None:
    first = Registry(tmp_path).load()
    second = Registry(tmp_path).load()
    assert first["echo"] == second["echo"]
    assert first["echo"] is not second["echo"]
    assert node_registry.Registry(tmp_path).load() is not first
