"""Workflow nodes for universes."""

import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from importlib import import_module
from inspect import iscoroutinefunction
from pathlib import Path
from typing import Any, Final

import pytest
from blockbuster import blockbuster_ctx

from pflow.domain.node_interface import parse_interface
from tests.universe.domain.samples import EMPTY_STATE, add_star
from universe.api import workflow_nodes
from universe.claims.claim_command import claim_value
from universe.config import load_config
from universe.errors import (
    CommandRefused,
    JobFailed,
    KeyReused,
    MalformedCommand,
    MalformedRequest,
    UniverseNotFound,
    VersionConflict,
    VersionNotFound,
)
from universe.service.universes import UniverseService
from universe.store.factory import make_store
from uraniborg.kernel.actors import Actor
from uraniborg.kernel.errors import NotFound, UraniborgError
from uraniborg.kernel.store.sqlite import DatabaseMissing

nodes: Any = workflow_nodes

INTERFACES: Final = {
    plain["type"]: plain for plain in json.loads(Path(nodes.__file__).with_suffix(".json").read_text())["nodes"]
}
TICK: Final = {"type": "tick", "dt": 2}


@dataclass(frozen=True)
class Context:
    folder: Path
    run_id: str = "run_1"
    node_id: str = "change"


@dataclass(frozen=True)
class KeepingContext(Context):
    lineage: str = ""
    shared_objects: Any = None


class SharedObjects:
    """Keeps what is made until it is closed, as a run does."""

    def __init__(self) -> None:
        self.kept: dict[str, Any] = {}

    async def get_or_create(self, key: str, make: Callable[[], Awaitable[Any]]) -> Any:
        if key not in self.kept:
            self.kept[key] = await make()
        return self.kept[key]

    async def close(self) -> None:
        for one in self.kept.values():
            await one.close()


@pytest.fixture
def context(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Context:
    for name in [name for name in os.environ if name.startswith("URANIBORG_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("URANIBORG_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return Context(tmp_path)


async def made(context: Context, **params: Any) -> str:
    """Create a universe with a separate node and return its id."""
    maker = replace(context, node_id="make")
    return (await nodes.command({"create": True, "universe_id": "hven", **params}, maker))["universe_id"]


@pytest.mark.parametrize("kind", [*INTERFACES])
def test_every_interface_is_valid_and_names_a_function_and_known_parameters(kind: str) -> None:
    reply = parse_interface(INTERFACES[kind], source="entry-point")
    module, _, name = reply.run.partition(":")
    assert iscoroutinefunction(getattr(import_module(module), name)) == (kind != "universe-claim")
    assert reply.example.keys() <= reply.params.keys()
    assert reply.effect == ("pure" if kind in ("universe-state", "universe-claim") else "idempotent")


def test_the_claim_gives_the_outputs_of_its_interface() -> None:
    row = {"table": "2", "header": ["planet", "mass [M⊕]"], "row": ["TRAPPIST-1 e", "0.692"]}
    made = claim_value({"body": "trappist-1-e", "rows": [row], "paper": {"title": "T", "paper_id": "p"}})
    assert made.keys() == INTERFACES["universe-claim"]["outputs"].keys()


def test_the_nodes_work_without_the_part_that_runs_workflows() -> None:
    reply = "import sys, universe.api.workflow_nodes; print([name for name in sys.modules if name.startswith('pflow')])"
    done = subprocess.run([sys.executable, "-c", reply], capture_output=True, text=True, timeout=50, check=True)
    assert done.stdout.strip() == "[]"


async def test_a_universe_is_made_changed_and_read(context: Context) -> None:
    commands = [add_star("nova"), TICK]
    params = {"create": True, "name": "Hven", "from": "trappist-1", "command": commands, "db": "sky.db"}
    done = await nodes.command(params, context)
    assert done.keys() == INTERFACES["universe-command"]["outputs"].keys()
    assert (done["version"], done["created"]) == (3, True)
    assert done["events"] == [{"type": "starAdded", "id": "nova"}]
    requests = {"universe_id": done["universe_id"], "db": f"sqlite:///{context.folder / 'sky.db'}"}
    seen = await nodes.state(requests, context)
    assert seen.keys() == INTERFACES["universe-state"]["outputs"].keys()
    assert seen["state"].keys() == INTERFACES["universe-state"]["outputs"]["state"]["structure"].keys()
    assert (seen["version"], seen["name"], seen["state"]["time"]) == (3, "Hven", 2)
    assert len(seen["state"]["stars"]) == 9
    assert json.loads(json.dumps([done, seen])) == [done, seen]


async def test_a_universe_can_be_created_without_a_command_and_is_named_after_its_origin(context: Context) -> None:
    done = await nodes.command({"create": True, "from": "KEPLER-90"}, context)
    assert (done["events"], done["version"], done["created"]) == ([], 1, True)
    assert (await nodes.state({"universe_id": done["universe_id"]}, context))["name"] == "Kepler-90"


async def test_parts_of_a_state_and_earlier_versions_are_read(context: Context) -> None:
    await made(context, **{"from": "trappist-1"})
    await nodes.command({"universe_id": "hven", "command": [TICK, TICK]}, context)
    whole = (await nodes.state({"universe_id": "hven", "version": 1}, context))["state"]
    assert whole["time"] == 0
    star = next(iter(whole["stars"]))
    params = {"universe_id": "hven", "ids": [star, "ghost"], "fields": ["name"]}
    part = await nodes.state(params, context)
    assert part["state"] == {**EMPTY_STATE, **part["state"], "stars": {star: {"name": whole["stars"][star]["name"]}}}
    assert (part["not_found"], part["version"], part["state"]["time"]) == (["ghost"], 3, 4)


async def test_a_run_that_is_resumed_neither_makes_nor_sends_anything_twice(context: Context) -> None:
    params = {"create": True, "from": "trappist-1", "command": [add_star("nova"), TICK]}
    first = await nodes.command(params, context)
    again = await nodes.command(params, context)
    assert again == {**first, "created": False}
    resumed = KeepingContext(context.folder, run_id="run_2", lineage="run_1")
    assert await nodes.command(params, resumed) == again


@pytest.mark.parametrize(
    "other",
    [{"run_id": "run_2"}, {"node_id": "change[1]"}, {"node_id": "inner/change"}],
    ids=["another run", "another item", "another workflow"],
)
async def test_the_same_command_from_another_place_is_another_command(context: Context, other: dict[str, str]) -> None:
    await made(context)
    params = {"universe_id": "hven", "command": TICK}
    assert (await nodes.command(params, context))["version"] == 1
    assert (await nodes.command(params, replace(context, **other)))["version"] == 2


async def test_another_command_from_the_same_place_is_another_command_unless_a_key_is_given(
    context: Context,
) -> None:
    await made(context)
    await nodes.command({"universe_id": "hven", "command": TICK}, context)
    edited = {"universe_id": "hven", "command": {"type": "tick", "dt": 3}}
    assert (await nodes.command(edited, context))["version"] == 2
    keyed = {"universe_id": "hven", "command": TICK, "idempotency_key": "mine"}
    assert (await nodes.command(keyed, context))["version"] == 3
    assert (await nodes.command(keyed, replace(context, run_id="run_9")))["version"] == 3
    with pytest.raises(KeyReused):
        await nodes.command({**edited, "idempotency_key": "mine"}, context)


async def test_an_existing_universe_is_used_unchanged(context: Context) -> None:
    await made(context, name="First")
    done = await nodes.command({"create": True, "universe_id": "hven", "name": "Second"}, context)
    assert done["created"] is False
    assert (await nodes.state({"universe_id": "hven"}, context))["name"] == "First"


async def test_nodes_of_a_run_share_one_connection_that_sees_changes_of_others(context: Context) -> None:
    shared_objects = SharedObjects()
    inside = KeepingContext(context.folder, shared_objects=shared_objects)
    try:
        await nodes.command({"create": True, "universe_id": "hven", "command": TICK}, inside)
        await nodes.command({"universe_id": "hven", "command": TICK}, replace(context, run_id="run_2"))
        assert (await nodes.state({"universe_id": "hven"}, inside))["version"] == 2
        assert len(shared_objects.kept) == 1
    finally:
        await shared_objects.close()


@pytest.mark.parametrize(
    ("params", "kind"),
    [
        ({}, MalformedRequest),
        ({"command": TICK}, MalformedRequest),
        ({"command": TICK, "universe_id": "nowhere"}, UniverseNotFound),
        ({"command": {"type": "tick", "dt": "soon"}, "universe_id": "hven"}, MalformedCommand),
        ({"command": {"type": "removeStar", "id": "ghost"}, "universe_id": "hven"}, CommandRefused),
        ({"command": [TICK, {"type": "removeStar", "id": "ghost"}], "universe_id": "hven"}, CommandRefused),
        ({"command": TICK, "universe_id": "hven", "expected_version": 7}, VersionConflict),
        ({"create": True, "from": "atlantis"}, NotFound),
        ({"command": TICK, "universe_id": "hven", "db": "missing.db"}, DatabaseMissing),
        ({"command": TICK, "universe_id": "hven", "db": "oracle://x"}, MalformedRequest),
        ({"command": {"type": "tick", "dt": 10**400}, "universe_id": "hven"}, MalformedCommand),
    ],
)
async def test_a_command_that_cannot_be_changes_nothing(
    context: Context, params: dict[str, Any], kind: type[UraniborgError]
) -> None:
    await made(context)
    with pytest.raises(kind) as refused:
        await nodes.command(params, context)
    assert refused.value.hint
    assert (await nodes.state({"universe_id": "hven"}, context))["version"] == 0
    assert not (context.folder / "missing.db").exists()


@pytest.mark.parametrize(
    ("params", "kind"),
    [
        ({"universe_id": ""}, MalformedRequest),
        ({"universe_id": "nowhere"}, UniverseNotFound),
        ({"universe_id": "hven", "version": 99}, VersionNotFound),
        ({"universe_id": "hven", "db": "missing.db"}, DatabaseMissing),
    ],
)
async def test_an_invalid_state_request_is_refused_with_a_hint(
    context: Context, params: dict[str, Any], kind: type[UraniborgError]
) -> None:
    await made(context)
    with pytest.raises(kind) as refused:
        await nodes.state(params, context)
    assert refused.value.hint
    assert not (context.folder / "missing.db").exists()


async def test_the_database_is_that_of_the_settings_unless_named(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("URANIBORG_UNIVERSE__DB", f"sqlite:///{context.folder / 'own.db'}")
    await made(context)
    assert (context.folder / "own.db").is_file()
    await made(context, universe_id="other", db="other.db")
    with pytest.raises(UniverseNotFound):
        await nodes.state({"universe_id": "other"}, context)


async def test_the_nodes_do_not_block_the_loop(context: Context) -> None:
    shared_objects = SharedObjects()
    inside = KeepingContext(context.folder, shared_objects=shared_objects)
    try:
        await made(inside, **{"from": "trappist-1"})  # what is imported on the way is read from the disk
        with blockbuster_ctx():
            await nodes.command({"universe_id": "hven", "command": TICK}, inside)
            assert (await nodes.state({"universe_id": "hven", "fields": ["name"]}, inside))["version"] == 2
    finally:
        await shared_objects.close()


async def test_changes_of_a_node_have_the_workflow_and_run_as_author(context: Context) -> None:
    universe = await made(context, command=add_star("ven"))
    async with UniverseService(make_store(load_config().database_address)).running() as service:
        entries = await service.read_history(universe)
        record = await service.read_record(universe)
    name = "workflow without a name, run run_1"
    assert {entry.author for entry in entries} == {f"{name} (software)"}
    actor = Actor(kind="software", name=name, authenticated="account")
    assert all(entry.actor == actor for entry in entries)
    assert record.created_by == actor.model_dump_json()


# Jobs

RUN: Final = {"universe_id": "hven", "days": 2, "bodies": ["trappist-1", "trappist-1-b"]}


async def test_a_run_is_computed_as_a_job_and_reused_by_a_resumed_run(context: Context) -> None:
    await made(context, **{"from": "trappist-1"})
    done = await nodes.nbody(RUN, context)
    assert done.keys() == INTERFACES["universe-nbody"]["outputs"].keys()
    assert (done["trustworthy"], done["version"], done["result"]["days"]) == (True, 1, 2.0)
    resumed = KeepingContext(context.folder, run_id="run_2", lineage="run_1")
    assert (await nodes.nbody(RUN, resumed))["job_id"] == done["job_id"]
    assert (await nodes.nbody(RUN, replace(context, run_id="run_3")))["job_id"] != done["job_id"]


async def test_transits_are_computed_as_a_job(context: Context) -> None:
    await made(context, **{"from": "trappist-1"})
    done = await nodes.transits({"universe_id": "hven", "days": 3, "bodies": ["b"]}, context)
    assert done.keys() == INTERFACES["universe-transits"]["outputs"].keys()
    assert [*done["planets"]] == ["trappist-1-b"]


async def test_a_job_that_fails_fails_the_node_with_its_reason(context: Context) -> None:
    await made(context, **{"from": "trappist-1"})
    with pytest.raises(JobFailed, match="too many for 8 bodies") as caught:
        await nodes.nbody({"universe_id": "hven", "days": 1e9}, context)
    assert caught.value.ids["reason"] == "invalid_argument"
