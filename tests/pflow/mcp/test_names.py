"""Names that lead out of the folder are refused by every tool, without the path."""

import json
from pathlib import Path
from typing import Any

from tests.pflow.mcp.agents import agent, call_failing_tool, call_tool, execute_workflow
from tests.pflow.mcp.sample_workflows import HELLO, chain, count_runs, counting_node, shell_node
from tests.pflow.store.homes import read_all_files, write_draft, write_raw_draft, write_saved
from tests.requirements import requirement

HOSTILE = [
    *("..", ".", "../etc", "../../x", "a/../b", "a/b", "..\\x", "a\\b", "C:\\x", "\\\\host\\x"),
    *("/etc/passwd", "//etc/passwd", "/", "file:///etc/passwd", "%2e%2e%2fetc", "..%2fetc"),
    *("~", "~/x", "~root/x", "$HOME", "${HOME}"),
    *("a\x00b", "hello\x00", "\x00/etc", "hello\n", "a\tb", " hello", "hello "),
    *("a∕b", "a⁄b", "／etc", "．．／etc", "a⧸b", "a＼b", "‥/x", "…", "．"),
    *("\u202ehello", "he\u200bllo", "héllo", "hello.json", "con", "-x", ".hidden", "x..y", "x.", "", "x" * 300),
]
OUTSIDE = "words of somebody else"


def list_calls_with_name(name: str) -> list[tuple[str, dict[str, Any]]]:
    """Return a call for each argument that is a name, with this name."""
    saving = {"draft_name": "hello", "final_name": "kept", "description": "Greets."}
    return [
        ("describe_workflow", {"name": name}),
        ("execute", {"name": name}),
        ("save_to_library", saving | {"draft_name": name}),
        ("save_to_library", saving | {"final_name": name}),
    ]


@requirement("PF-R16", "PF-E1", "PF-E2")
async def test_no_tool_accepts_or_repeats_a_name_that_leads_elsewhere(home: Path) -> None:
    write_draft(home, "hello", HELLO)
    before = read_all_files(home)
    async with agent(home) as client:
        for name in HOSTILE:
            for tool, arguments in list_calls_with_name(name):
                reply = await call_failing_tool(client, tool, **arguments)
                error = reply["error"]
                assert error["type"] == "SecurityError", (tool, arguments)
                assert "1 to 50 characters" in error["message"]
                output = json.dumps(reply, ensure_ascii=False)
                leads = any(sign in name for sign in "/\\~%:\x00\n\t∕⁄／⧸＼．‥…\u202e\u200b")
                assert len(name) < 3 or not leads or name not in output, (tool, name)
                for part in ("etc", "passwd", "root", "host", str(home), "\u202e", "\\u0000"):
                    assert part not in output, (tool, name)
        assert (await execute_workflow(client, "hello", who="Tycho"))["success"] is True
    assert read_all_files(home) == before


@requirement("PF-R16")
async def test_patterns_and_queries_are_never_paths(home: Path, tmp_path: Path) -> None:
    write_saved(home, "hello", ir=HELLO)
    (tmp_path / "outside.json").write_text(json.dumps({"description": OUTSIDE}), encoding="utf-8")
    async with agent(home) as client:
        for text in ("../*", "../outside", "/etc/*", "../../**", "~/*", "*/../*", "[", "hello\x00"):
            assert await call_tool(client, "list_library", pattern=text) == []
            found = await call_tool(client, "browse_components", query=text)
            assert OUTSIDE not in json.dumps(found)
        assert [one["name"] for one in await call_tool(client, "list_library", pattern="*")] == ["hello"]


@requirement("PF-R16")
async def test_a_link_out_of_the_folder_is_neither_followed_nor_reported(home: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    inner = chain(counting_node("one", tmp_path / "tally"), shell_node("two", f"echo {OUTSIDE}"))
    drafted = write_raw_draft(elsewhere, "drafted", inner)
    kept = write_saved(elsewhere, "kept", OUTSIDE, inner)
    (home / "workflows" / "drafts").mkdir(parents=True)
    (home / "workflows" / "drafts" / "linked-draft.json").symlink_to(drafted)
    (home / "workflows" / "linked-library.json").symlink_to(kept)
    (home / "workflows" / "dangling.json").symlink_to(elsewhere / "new.json")
    write_draft(home, "hello", HELLO)
    before = {path: path.read_bytes() for path in elsewhere.rglob("*.json")}
    async with agent(home) as client:
        for name in ("linked-draft", "linked-library"):
            for tool, arguments in list_calls_with_name(name)[:3]:
                reply = await call_failing_tool(client, tool, **arguments)
                assert reply["error"]["type"] == "SecurityError", (tool, name)
                assert "elsewhere" not in json.dumps(reply)
                assert OUTSIDE not in json.dumps(reply)
        for name in ("linked-library", "dangling"):
            reply = await call_failing_tool(
                client, "save_to_library", draft_name="hello", final_name=name, description="x"
            )
            assert reply["error"]["type"] in {"SecurityError", "already_exists"}
            assert "elsewhere" not in json.dumps(reply)
        assert OUTSIDE not in json.dumps(await call_tool(client, "browse_components", query=OUTSIDE))
        assert await call_tool(client, "list_library") == []
    assert {path: path.read_bytes() for path in elsewhere.rglob("*.json")} == before
    assert count_runs(tmp_path / "tally") == 0


@requirement("PF-R16")
async def test_a_workflow_cannot_run_another_by_a_path(home: Path, tmp_path: Path) -> None:
    write_raw_draft(tmp_path, "outside", chain(counting_node("one", tmp_path / "tally")))
    async with agent(home) as client:
        for key in ("workflow_name", "workflow_ref"):
            for name in ("../../workflows/outside", str(tmp_path / "workflows" / "outside"), "~/outside"):
                write_draft(home, "direct", chain({"id": "within", "type": "workflow", "params": {key: name}}))
                write_draft(home, "by-input", chain({"id": "within", "type": "workflow", "params": {key: "${name}"}}))
                await call_failing_tool(client, "execute", name="direct")
                reply = await call_failing_tool(client, "execute", name="by-input", inputs={"name": name})
                assert reply["error"]["type"] == "SecurityError"
                assert reply["checkpoint"]["failed_node"] == "within"
    assert count_runs(tmp_path / "tally") == 0


@requirement("PF-R16")
async def test_two_names_that_differ_only_in_case_are_two_workflows(home: Path) -> None:
    for name in ("Report", "report"):
        write_draft(home, name, chain({"id": "say", "type": "echo", "params": {"message": name}}))
    async with agent(home) as client:
        for name in ("Report", "report"):
            assert (await execute_workflow(client, name))["outputs"] == {"say": {"echo": name}}
