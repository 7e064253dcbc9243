"""Malformed templates are reported before anything runs, to agents and on the command line."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.pflow.cli.commands import Workplace
from tests.pflow.mcp.agents import agent, call_failing_tool, call_tool
from tests.pflow.mcp.sample_workflows import chain, count_runs, counting_node, shell_node
from tests.pflow.store.homes import write_draft
from tests.requirements import requirement


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / ".pflow"


def get_diagnostics(reply: dict[str, Any]) -> list[dict[str, Any]]:
    return reply["error"]["diagnostics"]


@requirement("PF-R10", "PF-E4", "PF-N6")
async def test_a_bare_name_without_a_value_fails_at_its_node_as_in_the_second_example(
    home: Path, tmp_path: Path
) -> None:
    write_draft(
        home, "test-workflow", chain(counting_node("init", tmp_path / "tally"), shell_node("fetch", "echo ${api_key}"))
    )
    async with agent(home) as client:
        reply = await call_failing_tool(client, "execute", name="test-workflow", inputs={})
    error, checkpoint = reply["error"], reply["checkpoint"]
    assert {key: error[key] for key in ("type", "message", "node")} == {
        "type": "template_error",
        "message": "Template ${api_key} not resolved",
        "node": "fetch",
    }
    assert {key: checkpoint[key] for key in ("completed_nodes", "failed_node")} == {
        "completed_nodes": ["init"],
        "failed_node": "fetch",
    }
    assert count_runs(tmp_path / "tally") == 1


@requirement("PF-E4")
async def test_malformed_templates_are_refused_before_anything_runs_with_a_fix(home: Path, tmp_path: Path) -> None:
    tally = tmp_path / "tally"
    last = [
        ("dotted", {"command": "echo ${nodee.stdout}"}, "unknown_root", "${node.stdout}"),
        ("braces", {"command": "echo {{who}}"}, "foreign_placeholder", "${who}"),
        ("dollar", {"command": "echo $who"}, "foreign_placeholder", "${who}"),
        ("angle", {"command": "cat", "stdin": "Dear <who>"}, "foreign_placeholder", "${who}"),
        ("output", {"command": "cat", "stdin": "{{node.stdout}}"}, "foreign_placeholder", "${node.stdout}"),
    ]
    place = Workplace(tmp_path)
    for name, params, _, _ in last:
        inputs = {"who": {"default": "Ada"}} if name in ("braces", "dollar", "angle") else {}
        ir = chain(counting_node("node", tally), {"id": "last", "type": "shell", "params": params}, inputs=inputs)
        write_draft(home, name, ir)
    async with agent(home) as client:
        for name, _, code, right in last:
            reply = await call_failing_tool(client, "execute", name=name)
            (wrong,) = [one for one in get_diagnostics(reply) if one["severity"] == "error"]
            assert (wrong["code"], wrong["node"], wrong["example"]) == (code, "last", right)
            assert right in reply["error"]["hint"] + wrong["message"] + wrong.get("hint", "")
            assert reply["error"]["type"] == "validation_error"
            assert wrong in (await call_tool(client, "describe_workflow", name=name))["diagnostics"]
    for arguments in (["check", "dotted"], ["run", "dotted", "--dry-run"], ["run", "dotted"]):
        done = place.run_process(*arguments, "--json")
        assert done.code != 0
        found = json.dumps(done.json)
        assert "unknown_root" in found
        assert "${node.stdout}" in found
    assert count_runs(tally) == 0
