"""What the types of nodes say they do to the world, and depend on in it: what a resumed run goes by."""

import itertools
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from pflow.config import Settings
from pflow.registry.registry import Registry
from pflow.service import Service
from tests.requirements import requirement

APART = {
    "llm": "it sees what it is sent, and the pictures it is given",
    "approval": "the inbox is not changed by other nodes",
}
"""Types that change something and yet do not depend on what others did, and why."""


def shell(name: str, command: str, **more: Any) -> dict[str, Any]:
    return {"id": name, "type": "shell", "params": {"command": command}, **more}


def chain(*nodes: dict[str, Any], **more: Any) -> dict[str, Any]:
    edges = [{"from": a["id"], "to": b["id"]} for a, b in itertools.pairwise(nodes)]
    return {"nodes": list(nodes), "edges": edges, **more}


def write(content: str) -> dict[str, Any]:
    return {"id": "write", "type": "write-file", "params": {"file_path": "it", "content": content}}


GATE = shell("gate", "test -e open")


@pytest.fixture
def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Service:
    monkeypatch.setenv("URANIBORG_HOME", str(tmp_path / "uraniborg"))
    folder = tmp_path / "work"
    folder.mkdir()
    return Service(Settings(home=tmp_path / "home"), folder=folder)


def run_twice(service: Service, *flows: dict[str, Any]) -> dict[str, Any]:
    """Run one to its gate, then the other past it. The outputs of that."""
    first, second = flows
    assert not service.run(first, name="flow").success
    (service.folder / "open").touch()
    run = service.run(second, name="flow")
    assert run.success, run.error_body
    return dict(run.outputs)


def test_whatever_may_change_the_world_depends_on_what_was_done_to_it(tmp_path: Path) -> None:
    interfaces = Registry(tmp_path).load()
    changing = {
        kind for kind, one in interfaces.items() if {one.effect, *(one.effect_by or ("", {}))[1].values()} != {"pure"}
    }
    assert {kind for kind in changing if not interfaces[kind].reads_world} == APART.keys()
    assert {"git-push", "library-add", "universe-command", "github", "python"} <= changing


def test_a_search_that_may_look_at_the_shelf_depends_on_what_was_put_there(tmp_path: Path) -> None:
    interfaces = Registry(tmp_path).load()
    searches = ("paper-search", "library-search", "library-read")
    assert all(interfaces[kind].reads_world and interfaces[kind].effect == "pure" for kind in searches)
    assert interfaces["library-add"].writes == ("shelf",)


def test_what_is_written_or_read_is_named_by_a_parameter(tmp_path: Path) -> None:
    for kind, one in Registry(tmp_path).load().items():
        assert {*one.reads, *one.writes} <= one.params.keys(), kind
        assert not (one.is_volatile and one.effect != "pure"), f"{kind} would have its effect each time"
        assert not (one.writes and one.effect == "pure"), kind


@requirement("PF-E10")
def test_what_was_written_anew_is_committed_and_pushed_anew(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
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
    run_twice(service, chain(write("wrong"), *acts), chain(write("right"), *acts))
    assert git("show", "origin/main:it") == "right"
    assert git("status", "--porcelain") == ""


@requirement("PF-E10")
def test_what_was_written_anew_is_moved_anew(service: Service) -> None:
    params = {"source_path": "it", "dest_path": "there", "overwrite": True}
    move = {"id": "move", "type": "move-file", "params": params}
    run_twice(service, chain(write("one"), move, GATE), chain(write("two"), move, GATE))
    assert (service.folder / "there").read_text() == "two"
    assert not (service.folder / "it").exists()


@requirement("PF-E10")
def test_what_was_deleted_before_is_deleted_again_once_it_was_written_again(service: Service) -> None:
    delete = {"id": "delete", "type": "delete-file", "params": {"file_path": "it", "confirm_delete": True}}
    run_twice(service, chain(write("one"), delete, GATE), chain(write("two"), delete, GATE))
    assert not (service.folder / "it").exists()


@requirement("PF-E10")
def test_a_file_that_another_node_wrote_over_is_written_again(service: Service) -> None:
    flows = [chain(shell("spoil", f"echo {word} > it"), write("good"), GATE) for word in ("bad", "worse")]
    run_twice(service, *flows)
    assert (service.folder / "it").read_text() == "good"


@pytest.mark.parametrize("kind", ["python", "code"])
@requirement("PF-E10")
def test_who_reads_what_code_wrote_runs_again_once_the_code_did(service: Service, kind: str) -> None:
    def flow(word: str) -> dict[str, Any]:
        code = f"open({str(service.folder / 'it')!r}, 'w').write({word!r})"
        make = {"id": "make", "type": kind, "params": {"code": code}}
        return chain(make, shell("look", "cat it", effect="pure"), GATE, outputs={"it": {"source": "${look.stdout}"}})

    assert run_twice(service, flow("one"), flow("two")) == {"it": "two"}


def test_a_file_that_was_written_and_moved_stays_where_it_is_when_the_run_is_gone_on_with(service: Service) -> None:
    move = {"id": "move", "type": "move-file", "params": {"source_path": "it", "dest_path": "there"}}
    run_twice(service, *[chain(write("one"), move, GATE)] * 2)
    assert (service.folder / "there").read_text() == "one"
    assert not (service.folder / "it").exists()


@pytest.mark.parametrize("operation", ["get-issue", "list-issues", "list-prs", "create-pr"])
def test_an_operation_of_github_is_what_the_type_that_does_the_same_is(tmp_path: Path, operation: str) -> None:
    interfaces = Registry(tmp_path).load()
    one, own, params = interfaces["github"], interfaces[f"github-{operation}"], {"operation": operation}
    assert one.is_volatile_with(params) == own.is_volatile_with({}) == (operation != "create-pr")
    assert one.get_effect(params) == own.get_effect({})


def test_how_long_something_may_take_is_no_part_of_what_it_gives(tmp_path: Path) -> None:
    for kind, one in Registry(tmp_path).load().items():
        assert ("timeout" in one.params) == ("timeout" in one.limits), kind
