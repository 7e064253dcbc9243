"""Effects that node types declare, and what they mean for a resumed run."""

import itertools
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from pflow.service.operations import Service
from pflow.store.node_registry import Registry
from tests.requirements import requirement

APART = {
    "llm": "it sees what it is sent, and the pictures it is given",
    "approval": "the inbox is not changed by other nodes",
}
"""Types that change something and yet do not depend on what others did, and why."""


def shell_node(name: str, command: str, **more: Any) -> dict[str, Any]:
    return {"id": name, "type": "shell", "params": {"command": command}, **more}


def build_chain(*nodes: dict[str, Any], **more: Any) -> dict[str, Any]:
    edges = [{"from": a["id"], "to": b["id"]} for a, b in itertools.pairwise(nodes)]
    return {"nodes": list(nodes), "edges": edges, **more}


def write_node(content: str) -> dict[str, Any]:
    return {"id": "write", "type": "write-file", "params": {"file_path": "it", "content": content}}


GATE = shell_node("gate", "test -e open")


def run_twice(service: Service, *flows: dict[str, Any]) -> dict[str, Any]:
    """Run one to its gate, then the other past it. The outputs of that."""
    first, second = flows
    assert not service.run_document(first, name="flow").success
    (service.folder / "open").touch()
    run = service.run_document(second, name="flow")
    assert run.success, run.error_body
    return dict(run.outputs)


def test_nodes_with_effects_depend_on_earlier_effects(tmp_path: Path) -> None:
    interfaces = Registry(tmp_path).load()
    changing = {
        kind for kind, one in interfaces.items() if {one.effect, *(one.effect_by or ("", {}))[1].values()} != {"pure"}
    }
    assert {kind for kind in changing if not interfaces[kind].reads_world} == APART.keys()
    assert {"git-push", "library-add", "universe-command", "github", "python"} <= changing


def test_a_search_that_can_read_the_shelf_depends_on_earlier_effects(tmp_path: Path) -> None:
    interfaces = Registry(tmp_path).load()
    searches = ("paper-search", "library-search", "library-read")
    assert all(interfaces[kind].reads_world and interfaces[kind].effect == "pure" for kind in searches)
    assert interfaces["library-add"].writes == ("shelf",)


def test_files_that_are_read_or_written_are_named_by_parameters(tmp_path: Path) -> None:
    for kind, one in Registry(tmp_path).load().items():
        assert {*one.reads, *one.writes} <= one.params.keys(), kind
        assert not (one.is_volatile and one.effect != "pure"), f"{kind} would have its effect each time"
        assert not (one.writes and one.effect == "pure"), kind


@requirement("PF-E10")
def test_a_rewritten_file_is_committed_and_pushed_again(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    settings = service.folder.parent / "gitconfig"
    settings.write_text("[user]\n\tname = Tycho\n\temail = tycho@hven.example\n[init]\n\tdefaultBranch = main\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")

    def git(*arguments: str) -> str:
        done = subprocess.run(["git", *arguments], cwd=service.folder, capture_output=True, text=True, check=True)
        return done.stdout

    git("init", "-q")
    git("init", "-q", "--bare", "../remote.git")
    git("remote", "add", "origin", "../remote.git")
    (service.folder / ".gitignore").write_text("open\n")
    acts: tuple[dict[str, Any], ...] = (
        {"id": "commit", "type": "git-commit", "params": {"message": "Figures"}},
        {"id": "push", "type": "git-push", "params": {}},
        GATE,
    )
    run_twice(service, build_chain(write_node("wrong"), *acts), build_chain(write_node("right"), *acts))
    assert git("show", "origin/main:it") == "right"
    assert git("status", "--porcelain") == ""


@requirement("PF-E10")
def test_a_rewritten_file_is_moved_again(service: Service) -> None:
    params = {"source_path": "it", "dest_path": "there", "overwrite": True}
    move = {"id": "move", "type": "move-file", "params": params}
    run_twice(service, build_chain(write_node("one"), move, GATE), build_chain(write_node("two"), move, GATE))
    assert (service.folder / "there").read_text() == "two"
    assert not (service.folder / "it").exists()


@requirement("PF-E10")
def test_a_file_that_was_written_again_is_deleted_again(service: Service) -> None:
    delete = {"id": "delete", "type": "delete-file", "params": {"file_path": "it", "confirm_delete": True}}
    run_twice(service, build_chain(write_node("one"), delete, GATE), build_chain(write_node("two"), delete, GATE))
    assert not (service.folder / "it").exists()


@requirement("PF-E10")
def test_a_file_that_another_node_wrote_over_is_written_again(service: Service) -> None:
    flows = [
        build_chain(shell_node("spoil", f"echo {word} > it"), write_node("good"), GATE) for word in ("bad", "worse")
    ]
    run_twice(service, *flows)
    assert (service.folder / "it").read_text() == "good"


@pytest.mark.parametrize("kind", ["python", "code"])
@requirement("PF-E10")
def test_a_node_that_reads_a_file_written_by_code_runs_again_after_the_code(service: Service, kind: str) -> None:
    def flow(word: str) -> dict[str, Any]:
        code = f"open({str(service.folder / 'it')!r}, 'w').write({word!r})"
        make = {"id": "make", "type": kind, "params": {"code": code}}
        return build_chain(
            make, shell_node("look", "cat it", effect="pure"), GATE, outputs={"it": {"source": "${look.stdout}"}}
        )

    assert run_twice(service, flow("one"), flow("two")) == {"it": "two"}


def test_a_file_that_was_written_and_moved_stays_in_place_when_the_run_is_resumed(service: Service) -> None:
    move = {"id": "move", "type": "move-file", "params": {"source_path": "it", "dest_path": "there"}}
    run_twice(service, *[build_chain(write_node("one"), move, GATE)] * 2)
    assert (service.folder / "there").read_text() == "one"
    assert not (service.folder / "it").exists()


@pytest.mark.parametrize("operation", ["get-issue", "list-issues", "list-prs", "create-pr"])
def test_an_operation_of_github_has_the_effect_of_its_own_type(tmp_path: Path, operation: str) -> None:
    interfaces = Registry(tmp_path).load()
    one, own, params = interfaces["github"], interfaces[f"github-{operation}"], {"operation": operation}
    assert one.is_volatile_with(params) == own.is_volatile_with({}) == (operation != "create-pr")
    assert one.get_effect(params) == own.get_effect({})


def test_timeouts_are_not_part_of_the_fingerprint(tmp_path: Path) -> None:
    for kind, one in Registry(tmp_path).load().items():
        assert ("timeout" in one.params) == ("timeout" in one.limits), kind
