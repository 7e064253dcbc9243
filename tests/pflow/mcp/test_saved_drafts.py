"""Saving removes the saved draft, no other, and only after success."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.pflow.mcp.agents import agent, call_failing_tool, call_tool
from tests.pflow.mcp.sample_workflows import HELLO
from tests.pflow.store.homes import IR, read_all_files, read_json, write_draft, write_raw_draft, write_saved
from tests.requirements import requirement


def write_wrapped_draft(home: Path, name: str, ir: dict[str, Any]) -> Path:
    return write_draft(home, name, {"name": name, "description": "Old.", "ir": ir})


@requirement("PF-R15")
async def test_saving_removes_the_draft_that_was_saved_and_no_other(home: Path) -> None:
    kept = [write_draft(home, name) for name in ("greet", "greeter-2", "hello")]
    kinds: list[tuple[str, Callable[[Path, str, dict[str, Any]], Path]]] = [
        ("greeter", write_draft),
        ("wrapped", write_wrapped_draft),
        ("raw", write_raw_draft),
    ]
    paths = {name: put(home, name, HELLO) for name, put in kinds}
    async with agent(home) as client:
        for name, path in paths.items():
            final = f"final-{name}"
            before = read_all_files(home)
            reply = await call_tool(client, "save_to_library", draft_name=name, final_name=final, description="New.")
            assert reply["success"] is True
            assert not path.exists()
            after = read_all_files(home)
            own = path.relative_to(home).as_posix()
            assert before.keys() - after.keys() == {own}
            assert after.keys() - before.keys() == {f"workflows/{final}.json"}
            assert all(after[one] == before[one] for one in before if one != own)
            assert json.loads(after[f"workflows/{final}.json"])["ir"] == HELLO, "nothing of it is lost"
            again = await call_failing_tool(
                client, "save_to_library", draft_name=name, final_name="other", description="x"
            )
            assert again["error"]["type"] == "FileNotFoundError"
            assert name not in again["error"]["available"]
            assert (await call_failing_tool(client, "execute", name=name))["error"]["type"] == "FileNotFoundError"
    assert all(read_json(path) == IR for path in kept)


@requirement("PF-R15")
async def test_a_draft_that_could_not_be_saved_stays_unchanged(home: Path) -> None:
    write_draft(home, "greeter", HELLO)
    write_draft(home, "broken", {"nodes": [{"id": "a", "type": "no-such-type"}]})
    write_draft(home, "unreadable", "{")
    write_saved(home, "taken")
    (home / "workflows" / "in-the-way.json").mkdir()
    before = read_all_files(home)
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
            await call_failing_tool(client, "save_to_library", **good | wrong)
            assert read_all_files(home) == before, wrong
        await call_tool(client, "save_to_library", **good)
    assert read_all_files(home).keys() - before.keys() == {"workflows/free.json"}
    assert before.keys() - read_all_files(home).keys() == {"workflows/drafts/greeter.json"}
