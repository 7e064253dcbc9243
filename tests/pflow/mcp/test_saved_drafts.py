"""A draft is removed once it is saved: that draft alone, wherever it lies, and never when it could not be saved."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.pflow.library.homes import IR, draft, files, raw, said, saved
from tests.pflow.mcp.agents import agent, failed, told
from tests.pflow.mcp.material import HELLO
from tests.requirements import requirement


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def wrapped(home: Path, name: str, ir: dict[str, Any]) -> Path:
    return draft(home, name, {"name": name, "description": "Old.", "ir": ir})


@requirement("PF-R15")
async def test_saving_removes_the_draft_that_was_saved_and_no_other(home: Path) -> None:
    kept = [draft(home, name) for name in ("greet", "greeter-2", "hello")]
    kinds: list[tuple[str, Callable[[Path, str, dict[str, Any]], Path]]] = [
        ("greeter", draft),
        ("wrapped", wrapped),
        ("raw", raw),
    ]
    paths = {name: put(home, name, HELLO) for name, put in kinds}
    async with agent(home) as client:
        for name, path in paths.items():
            final = f"final-{name}"
            before = files(home)
            reply = await told(client, "save_to_library", draft_name=name, final_name=final, description="New.")
            assert reply["success"] is True
            assert not path.exists()
            after = files(home)
            own = path.relative_to(home).as_posix()
            assert before.keys() - after.keys() == {own}
            assert after.keys() - before.keys() == {f"workflows/{final}.json"}
            assert all(after[one] == before[one] for one in before if one != own)
            assert json.loads(after[f"workflows/{final}.json"])["ir"] == HELLO, "nothing of it is lost"
            again = await failed(client, "save_to_library", draft_name=name, final_name="other", description="x")
            assert again["error"]["type"] == "FileNotFoundError"
            assert name not in again["error"]["available"]
            assert (await failed(client, "execute", name=name))["error"]["type"] == "FileNotFoundError"
    assert all(said(path) == IR for path in kept)


@requirement("PF-R15")
async def test_a_draft_that_could_not_be_saved_stays_as_it_is(home: Path) -> None:
    draft(home, "greeter", HELLO)
    draft(home, "broken", {"nodes": [{"id": "a", "type": "no-such-type"}]})
    draft(home, "unreadable", "{")
    saved(home, "taken")
    (home / "workflows" / "in-the-way.json").mkdir()
    before = files(home)
    good = {"draft_name": "greeter", "final_name": "free", "description": "x"}
    async with agent(home) as client:
        for wrong in (
            {"final_name": "taken"},
            {"final_name": "../free"},
            {"final_name": "in-the-way"},
            {"draft_name": "broken"},
            {"draft_name": "unreadable"},
            {"draft_name": "gretter"},
        ):
            await failed(client, "save_to_library", **good | wrong)
            assert files(home) == before, wrong
        await told(client, "save_to_library", **good)
    assert files(home).keys() - before.keys() == {"workflows/free.json"}
    assert before.keys() - files(home).keys() == {"workflows/drafts/greeter.json"}
