"""Who started, cancelled and scheduled runs and who wrote texts is stored, and data of earlier versions is read."""

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from pflow import mcp_server
from pflow.config import load_settings
from pflow.service.history import ChangeRecord
from pflow.service.installed_schedules import find_scheduler_actor, format_revision
from pflow.service.operations import Service
from pflow.store.run_log import RunLog
from tests.pflow.store.homes import write_draft
from uraniborg.kernel.actors import Actor, get_process_actor
from uraniborg.kernel.logging import Logger
from uraniborg.kernel.mcp.testing import connect_client

ADA = Actor(kind="person", name="Ada", authenticated="sign_in")
AGENT = Actor(kind="agent", name="assistant 1.0", authenticated="account")
HELLO: dict[str, Any] = {"nodes": [{"id": "hi", "type": "echo", "params": {"message": "hello"}}]}
OTHER: dict[str, Any] = {"nodes": [{"id": "hi", "type": "echo", "params": {"message": "good day"}}]}


@pytest.fixture
def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Service:
    monkeypatch.setenv("PFLOW_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("URANIBORG_HOME", str(tmp_path / "uraniborg"))
    monkeypatch.chdir(tmp_path)
    return Service(load_settings(), door="console")


def test_a_run_has_the_actor_who_started_it_and_the_wire_field_of_earlier_versions(service: Service) -> None:
    result = service.run_document(HELLO, name="hello", actor=ADA)
    run: Any = service.history.get_run(result.run_id)
    assert run["actor"] == ADA.model_dump()
    assert run["starter"] == {"door": "console", "name": "Ada"}


def test_a_program_that_names_no_actor_started_its_run_itself(service: Service) -> None:
    embedding = Service(service.settings)
    run = service.history.get_run(embedding.run_document(HELLO, name="hello").run_id)
    assert run["actor"] == get_process_actor().model_dump()
    assert "starter" not in run


def test_a_log_of_an_earlier_version_is_migrated_and_its_runs_have_no_actor(service: Service) -> None:
    run_id = service.run_document(HELLO, name="hello", actor=ADA).run_id
    with closing(sqlite3.connect(service.home / "runs.db")) as connection, connection:
        connection.executescript(
            "DROP TABLE changes; ALTER TABLE runs DROP COLUMN actor; DELETE FROM migrations WHERE name = 'actors'"
        )
    run: Any = service.history.get_run(run_id)
    assert (run["actor"], run["starter"]["name"]) == (None, "Ada")
    service.cancel_run(run_id, ADA)
    assert service.changes.find_actor("cancel", run_id) == ADA
    assert list(service.home.glob("runs.db.before-actors")), "the file before the migration"


def test_who_requested_a_cancellation_is_shown_with_the_run(service: Service) -> None:
    log = RunLog(service.home / "runs.db")
    log.record_run_start("run_1", "hello", "draft", "2026-01-01T00:00:00Z", {}, actor=AGENT)
    service.cancel_run("run_1", ADA)
    assert "cancelled_by" not in service.history.get_run("run_1"), "it still runs"
    log.record_run_end("run_1", "cancelled", "2026-01-01T00:00:01Z", 1.0)
    log.close()
    run: Any = service.history.get_run("run_1")
    assert (run["actor"], run["cancelled_by"]) == (AGENT.model_dump(), ADA.model_dump())


def test_a_text_has_the_actor_who_wrote_it_until_it_is_written_in_another_way(service: Service) -> None:
    service.texts.create_draft("hello", HELLO, AGENT)
    assert service.texts.list_writers() == {("draft", "hello"): AGENT}
    service.texts.write_draft("hello", OTHER, actor=ADA)
    assert service.texts.list_writers() == {("draft", "hello"): ADA}
    write_draft(service.home, "hello", {**HELLO, "outputs": {}})
    assert service.texts.list_writers() == {}, "an editor names nobody"
    write_draft(service.home, "hello", HELLO)
    service.texts.save_to_library("hello", "kept", "Greets.", ADA)
    assert service.texts.list_writers() == {("library", "kept"): ADA}
    service.texts.replace_workflow("kept", OTHER, actor=AGENT)
    assert service.texts.list_writers() == {("library", "kept"): AGENT}


def test_a_change_that_cannot_be_recorded_is_made_and_logged(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[Any] = []

    def note(_self: Logger, _event: str, **facts: Any) -> None:
        lines.append(facts)

    monkeypatch.setattr(Logger, "exception", note)
    (service.home / "runs.db").mkdir(parents=True)
    service.texts.create_draft("hello", HELLO, ADA)
    assert service.texts.read_draft("hello") == HELLO
    assert lines[0]["actor"] == ADA.model_dump()


def test_the_last_of_two_schedules_of_one_workflow_counts(service: Service) -> None:
    record = ChangeRecord(service.home)
    for kind, actor in (("systemd", AGENT), ("cron", ADA)):
        record.add("schedule", "hello", actor, format_revision(kind, "mon 07:00"))  # pyright: ignore[reportArgumentType]
    assert find_scheduler_actor(service.home, "hello", "mon 07:00") == ADA
    assert find_scheduler_actor(service.home, "hello", "tue 07:00") is None


def test_only_the_last_changes_of_a_subject_are_kept(service: Service) -> None:
    record = ChangeRecord(service.home)
    for number in range(30):
        record.add("write", "draft:hello", ADA, str(number))
    assert len(record.list_actors("write")) == 20


def test_a_run_worker_gets_the_actor(service: Service) -> None:
    write_draft(service.home, "hello", HELLO)
    for request, expected in (
        ({"name": "hello", "actor": ADA.model_dump()}, ADA.model_dump()),
        ({"name": "hello", "person": "Ada"}, {"kind": "software", "name": "Ada", "authenticated": "account"}),
    ):
        done = subprocess.run(
            [sys.executable, "-m", "pflow.api.run_worker"],
            input=json.dumps({"id": 0, "request": request}) + "\n",
            capture_output=True, text=True, timeout=100, check=True,
        )  # fmt: skip
        run_id = json.loads(done.stdout.splitlines()[-1])["result"]["run_id"]
        assert service.history.get_run(run_id)["actor"] == expected


async def test_a_tool_call_over_stdio_is_of_an_agent_of_this_account(service: Service) -> None:
    write_draft(service.home, "hello", HELLO)
    async with connect_client(mcp_server.build_server()) as client:
        await client.call_tool("execute", {"name": "hello"})
        await client.call_tool(
            "save_to_library", {"draft_name": "hello", "final_name": "kept", "description": "Greets."}
        )
    runs: list[Any] = [*service.history.list_runs()]
    (run,) = runs
    assert (run["actor"]["kind"], run["actor"]["authenticated"], run["starter"]["door"]) == ("agent", "account", "mcp")
    (writer,) = service.texts.list_writers().values()
    assert writer is not None
    assert writer.kind == "agent"


def test_who_resumed_a_run_with_a_decision_is_shown_beside_who_started_it(service: Service) -> None:
    log = RunLog(service.home / "runs.db")
    for run_id, earlier in (("run_1", None), ("run_2", "run_1"), ("run_3", "run_2")):
        log.record_run_start(run_id, "hello", "draft", "2026-01-01T00:00:00Z", {}, resumed_from=earlier, actor=AGENT)
    service.changes.add("resume", "run_1", ADA)
    log.close()
    runs = [service.history.get_run(run_id) for run_id in ("run_1", "run_2", "run_3")]
    assert [run["actor"] for run in runs] == [AGENT.model_dump()] * 3
    assert [run.get("resumed_by") for run in runs] == [None, ADA.model_dump(), None]


@pytest.mark.parametrize("damage", ["", "{", "[1]", '{"kind": "king"}'])
def test_damaged_actors_of_changes_are_unknown_and_cost_no_other_change(service: Service, damage: str) -> None:
    service.changes.add("connect", "broken", ADA)
    with closing(sqlite3.connect(service.home / "runs.db")) as connection, connection:
        connection.execute("UPDATE changes SET actor = ?", (damage,))
    service.changes.add("connect", "whole", ADA)
    assert service.changes.list_actors("connect") == {("broken", ""): None, ("whole", ""): ADA}
    assert service.changes.find_actor("connect", "broken") is None
    assert [(one.subject, one.actor) for one in service.changes.list_all()] == [("broken", None), ("whole", ADA)]
