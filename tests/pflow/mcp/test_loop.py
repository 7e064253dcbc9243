"""The loop of an agent: browse, write a draft, execute, fix, resume, save."""

import json
import re
from pathlib import Path
from typing import Any

from pydantic import AnyUrl

from tests.pflow.mcp.agents import agent, call_failing_tool, call_tool, execute_workflow
from tests.pflow.mcp.sample_workflows import chain, count_runs, counting_node, declare_user_node, shell_node
from tests.pflow.store.homes import read_all_files, write_draft
from tests.requirements import requirement


@requirement("PF-E10", "PF-R10", "PF-R15", "PF-T7")
async def test_an_agent_browses_drafts_fails_fixes_resumes_saves_and_finds_it_again(home: Path, tmp_path: Path) -> None:
    gathered, sent = tmp_path / "gathered", tmp_path / "sent"
    gather = counting_node("gather", gathered)
    broken = {"id": "sum", "type": "python", "params": {"code": "result = 1 / 0"}}
    fixed = {"id": "sum", "type": "python", "params": {"code": "result = len(word)", "inputs": {"word": "${word}"}}}
    send = shell_node("send", f"echo ${{sum.result}} >> '{sent}'")
    more: dict[str, Any] = {
        "inputs": {"word": {"type": "string"}},
        "outputs": {"total": {"source": "${sum.result}"}},
    }

    async with agent(home, from_the_start=True) as client:
        found = await call_tool(client, "browse_components", query="run a shell command")
        assert "shell" in [node["type"] for node in found["nodes"]][:3]

        write_draft(home, "letters", chain(gather, broken, send, **more))
        reply = await call_failing_tool(client, "execute", name="letters", inputs={"word": "Stjerneborg"})
        assert reply["error"]["node"] == "sum"
        assert "division" in reply["error"]["message"]
        assert reply["checkpoint"]["completed_nodes"] == ["gather"]
        assert reply["checkpoint"]["resumable"] is True

        write_draft(home, "letters", chain(gather, fixed, send, **more))
        again = await execute_workflow(client, "letters", word="Stjerneborg")
        assert again["outputs"] == {"total": 11}
        assert again["reused_nodes"] == ["gather"]
        assert again["resumed_from"] == reply["run_id"]
        assert "sum" in again["not_reused"]
        assert (count_runs(gathered), count_runs(sent)) == (1, 1)

        new_run = await execute_workflow(client, "letters", word="Hven")
        assert new_run["reused_nodes"] == [], "a run that succeeded leaves nothing to resume"
        assert (count_runs(gathered), count_runs(sent)) == (2, 2)

        kept = await call_tool(
            client, "save_to_library", draft_name="letters", final_name="count-letters", description="Counts letters."
        )
        assert kept == {
            "success": True,
            "path": "workflows/count-letters.json",
            "name": "count-letters",
            "warnings": [],
        }

        (listed,) = await call_tool(client, "list_library")
        assert (listed["name"], listed["description"]) == ("count-letters", "Counts letters.")
        assert (listed["inputs"], listed["execution_count"]) == (["word"], 3)
        about = await call_tool(client, "describe_workflow", name="count-letters")
        assert about["source"] == "library"
        assert about["statistics"]["execution_count"] == 3
        assert (about["statistics"]["success_count"], about["statistics"]["failure_count"]) == (2, 1)
        assert about["last_failure"]["failed_node"] == "sum"
        assert [node["id"] for node in about["nodes"]] == ["gather", "sum", "send"]
        assert "gather --> sum" in about["graph"]
        assert (await execute_workflow(client, "count-letters", word="Hven"))["outputs"] == {"total": 4}
    assert read_all_files(home).keys() == {"workflows/count-letters.json"}


@requirement("PF-E10")
async def test_the_next_server_resumes_from_the_results_of_the_last_one(home: Path, tmp_path: Path) -> None:
    tally, marker = tmp_path / "tally", tmp_path / "marker"
    write_draft(home, "later", chain(counting_node("first", tally), shell_node("second", f"test -e '{marker}'")))
    async with agent(home) as client:
        reply = await call_failing_tool(client, "execute", name="later")
    marker.touch()
    async with agent(home) as client:
        again = await execute_workflow(client, "later")
    assert again["resumed_from"] == reply["run_id"]
    assert again["reused_nodes"] == ["first"]
    assert count_runs(tally) == 1


@requirement("PF-E10")
async def test_changed_inputs_rerun_only_the_nodes_that_depend_on_them(home: Path, tmp_path: Path) -> None:
    fixed, given, code = tmp_path / "fixed", tmp_path / "given", tmp_path / "code"
    nodes = [
        counting_node("fixed", fixed),
        shell_node("given", f"echo ran >> '{given}'; echo ${{who}}"),
        {"id": "mine", "type": "mine", "params": {"text": "${fixed.stdout}"}},
        shell_node("last", "test ${who} = Kirsten && echo ${given.stdout}"),
    ]
    declare_user_node(
        home, "mine", f"def run(params, context):\n    open({str(code)!r}, 'a').write('ran\\n')\n    return {{}}\n"
    )
    write_draft(home, "partly", chain(*nodes))
    async with agent(home) as client:
        await call_failing_tool(client, "execute", name="partly", inputs={"who": "Tycho"})
        again = await execute_workflow(client, "partly", who="Kirsten")
    assert again["outputs"]["last"]["stdout"] == "Kirsten"
    assert again["reused_nodes"] == ["fixed", "mine"]
    assert again["not_reused"].keys() == {"given", "last"}
    assert any("'given' has effects" in warning for warning in again["warnings"])
    assert (count_runs(fixed), count_runs(code), count_runs(given)) == (1, 1, 2)


async def test_a_draft_in_the_project_s_own_folder_runs_too_and_is_saved_as_a_copy(home: Path, tmp_path: Path) -> None:
    local = tmp_path / "workplace" / ".pflow" / "workflows" / "here.json"
    local.parent.mkdir(parents=True)
    local.write_text(json.dumps(chain({"id": "say", "type": "echo", "params": {"message": "from here"}})))
    before = local.read_bytes()
    async with agent(home) as client:
        assert (await execute_workflow(client, "here"))["outputs"] == {"say": {"echo": "from here"}}
        await call_tool(client, "save_to_library", draft_name="here", final_name="there", description="From afar.")
        assert (await execute_workflow(client, "there"))["outputs"] == {"say": {"echo": "from here"}}
    assert local.read_bytes() == before


async def test_the_example_of_the_guide_is_a_valid_workflow(home: Path) -> None:
    async with agent(home) as client:
        (content,) = (await client.read_resource(AnyUrl("pflow://guide"))).contents
        shown = re.findall(r"```json\n(.*?)```", getattr(content, "text", ""), re.DOTALL)
        assert shown
        for number, text in enumerate(shown):
            write_draft(home, f"shown-{number}", text)
            about = await call_tool(client, "describe_workflow", name=f"shown-{number}")
            assert about["diagnostics"] == []
        reply = await execute_workflow(client, "shown-0", city="Hven")
    assert reply["outputs"] == {"report": {"city": "Hven", "days": [1, 2, 3]}}


@requirement("PF-R10")
async def test_a_run_that_asks_a_person_ends_with_a_checkpoint_and_an_explanation(home: Path, tmp_path: Path) -> None:
    tally = tmp_path / "tally"
    ask = {"id": "ask", "type": "approval", "params": {"question": "Send it?"}}
    write_draft(home, "asks", chain(counting_node("write", tally), ask, shell_node("send", "echo sent")))
    async with agent(home) as client:
        for _ in range(2):
            reply = await call_failing_tool(client, "execute", name="asks")
            assert reply["error"]["type"] == "approval_required"
            assert reply["checkpoint"]["completed_nodes"] == ["write"]
            assert reply["checkpoint"]["failed_node"] == "ask"
    assert count_runs(tally) == 1


async def test_a_value_used_as_a_program_is_refused_before_anything_runs(home: Path, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    write_draft(
        home, "inject", chain(counting_node("first", ran), shell_node("say", 'sh -c "echo ${who}"'), inputs={"who": {}})
    )
    async with agent(home) as client:
        reply = await call_failing_tool(client, "execute", name="inject", inputs={"who": "$(touch pwned)"})
    (diagnostic,) = reply["error"]["diagnostics"]
    assert (diagnostic["severity"], diagnostic["code"], diagnostic["node"]) == (
        "error",
        "template_to_interpreter",
        "say",
    )
    assert diagnostic["hint"].endswith("sh -c 'echo \"$1\"' _ ${who}")
    assert not ran.exists()
