"""Data that a newer version wrote: refused with an error that says so, and left as it is."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.uraniborg.old_data.folder import OldData

NEWER = "was made by a newer version"


def make_newer(database: Path) -> None:
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("INSERT INTO migrations VALUES ('9999 later')")


def says_newer(reply: dict[str, Any]) -> bool:
    error = reply["error"]
    return error["code"] == "database_newer" and NEWER in error["message"] and "newer version" in error["hint"]


def test_a_newer_session_is_refused_and_the_others_resume(old: OldData) -> None:
    file, session_id = old.session_file("at_review"), old.ids["sessions"]["at_review"]
    make_newer(file)
    before = file.read_bytes()
    with old.server() as server:
        for call in (
            server.call("get_session", session_id=session_id),
            server.call("decide", session_id=session_id, action="approve"),
            server.call("export_results", session_id=session_id),
        ):
            assert says_newer({"error": call.error})
        assert server.state(old.ids["sessions"]["at_strategy"])["has_pending_checkpoint"]
    assert file.read_bytes() == before


def test_a_newer_inbox_is_refused(old: OldData) -> None:
    make_newer(old.data / "inbox.db")
    assert says_newer(old.run("uraniborg", "inbox", code=4))
    with old.server() as server:
        error = server.call("search_papers", query="tidal heating").error
    assert NEWER in error["message"]


def test_newer_universes_are_refused(old: OldData) -> None:
    make_newer(old.data / "universe" / "universes.db")
    for arguments in (["list"], ["undo", "trappist"], ["verify"]):
        assert says_newer(old.run("universe", *arguments, code=4))


def test_a_newer_log_of_runs_is_refused_and_only_a_run_without_effects_works_without_it(old: OldData) -> None:
    make_newer(old.pflow / "runs.db")
    assert says_newer(old.run("pflow", "history", code=4))
    error = old.run("pflow", "run", "greeter", code=5)["error"]
    assert error["code"] == "run_not_recorded"
    assert NEWER in error["message"]
    assert "newer version" in error["hint"]
    draft = {"nodes": [{"id": "say", "type": "echo", "params": {"message": "Hello"}}]}
    (old.pflow / "workflows" / "drafts").mkdir(exist_ok=True)
    (old.pflow / "workflows" / "drafts" / "pure.json").write_text(json.dumps(draft))
    reply = old.run("pflow", "run", "pure")
    assert reply["success"]
    assert any("newer version" in warning for warning in reply["warnings"]), reply["warnings"]


@pytest.mark.parametrize("name", ["harvest", "slow"])
def test_a_newer_resume_point_is_refused_and_no_effect_is_repeated(old: OldData, name: str) -> None:
    (file,) = (old.pflow / "checkpoints").glob(f"{name}.*j*")
    text = file.read_text()
    file.write_text('{"format":99,' + text.removeprefix('{"format":2,').removeprefix("{"))
    before = file.read_bytes()
    for options in ([], ["--dry-run"]):
        reply = old.run("pflow", "run", name, *options, code=5, OPEN="1")
        assert reply["error"]["code"] == "checkpoint_unusable"
        assert "newer version" in reply["error"]["message"]
        assert "--fresh" in reply["error"]["hint"]
    assert not old.effects.exists()
    assert file.read_bytes() == before
    assert old.run("pflow", "run", name, "--fresh", OPEN="1")["success"]
    assert old.effects.read_text()


def test_a_newer_shelf_is_refused(old: OldData) -> None:
    manifest = json.loads((old.shelf / "manifest.json").read_text())
    (old.shelf / "manifest.json").write_text(json.dumps({**manifest, "schema_version": 99}))
    error = old.run("paper-library", "stats", str(old.shelf), code=4)["error"]
    assert error["code"] == "shelf_too_new"
    assert "later version" in error["message"]
