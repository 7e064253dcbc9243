"""The twenty-five criteria of the specification, one by one, over real stdio.

The tools, the silence of both streams and the interrupt are proved of the command as it is installed, the rest of
servers that are forked when they are loaded.
"""

import asyncio
import json
import os
import signal
import stat
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from mcp.server.fastmcp import FastMCP

from pflow import mcp_server
from tests.pflow.mcp.agents import (
    COMMAND,
    SERVE,
    agent,
    call_failing_tool,
    call_tool,
    execute_workflow,
    get_stderr_file,
    make_working_folder,
)
from tests.pflow.mcp.gates import gate
from tests.pflow.mcp.raw_server import raw_server
from tests.pflow.mcp.sample_workflows import (
    HELLO,
    chain,
    count_runs,
    counting_node,
    declare_user_node,
    read_checkpoint,
    read_history,
    shell_node,
)
from tests.pflow.store.homes import read_all_files, read_json, write_draft, write_saved, write_workflow_file
from tests.requirements import requirement

SECRET = "t0p-s3cret-v4lue"
SMALL_FILES_ONLY = ("sh", "-c", 'ulimit -f 200; exec "$@"', "sh")
"""In front of a command: the system refuses to write more than 100 KB to one file, as a full disk does."""
PR_ANALYZER = chain(
    {"id": "pulls", "type": "github", "params": {"operation": "list-prs", "repo": "${repo}"}},
    {"id": "count", "type": "echo", "params": {"message": "${pulls.prs}"}},
)
TOOLS = {"browse_components", "list_library", "describe_workflow", "execute", "save_to_library"}


@requirement("PF-R1")
async def test_01_the_server_offers_exactly_five_tools(home: Path) -> None:
    async with agent(home, from_the_start=True) as client:
        offered = [tool.name for tool in (await client.list_tools()).tools]
    assert len(offered) == 5
    assert set(offered) == TOOLS


@requirement("PF-R2")
async def test_02_browsing_for_github_finds_the_github_node_with_its_interface(home: Path) -> None:
    async with agent(home) as client:
        found = await call_tool(client, "browse_components", query="github", include_workflows=True)
    node = found["nodes"][0]
    assert node["type"] == "github"
    assert node["description"].startswith("GitHub operations")
    (repo,) = [one for one in node["inputs"] if one["key"] == "repo"]
    assert repo.keys() >= {"key", "type", "required", "default", "description"}
    assert repo["type"] == "str"
    for each in found["nodes"]:
        assert each.keys() >= {"type", "description", "inputs", "outputs", "actions", "example"}
        assert all(one.keys() >= {"key", "type"} for one in [*each["inputs"], *each["outputs"]])
    assert any(each["type"].startswith("github-") for each in found["nodes"])


@requirement("PF-R3")
async def test_03_browsing_lists_workflows_unless_excluded(home: Path) -> None:
    write_saved(home, "pr-analyzer", "Analyzes PRs", PR_ANALYZER)
    write_draft(home, "github-notes")
    write_saved(home, "greeter", "Greets people.", HELLO)
    async with agent(home) as client:
        with_them = await call_tool(client, "browse_components", query="github", include_workflows=True)
        by_default = await call_tool(client, "browse_components", query="github")
        without = await call_tool(client, "browse_components", query="github", include_workflows=False)
    workflows = {one["name"]: one for one in with_them["workflows"]}
    assert workflows.keys() == {"pr-analyzer", "github-notes"}
    assert {key: workflows["pr-analyzer"][key] for key in ("name", "description")} == {
        "name": "pr-analyzer",
        "description": "Analyzes PRs",
    }, "the specification's first example: nothing but its node type has the word"
    assert (workflows["pr-analyzer"]["source"], workflows["github-notes"]["source"]) == ("library", "draft")
    assert by_default["workflows"] == with_them["workflows"]
    assert "workflows" not in without
    assert without["nodes"] == with_them["nodes"]


@requirement("PF-R4")
async def test_04_listing_without_a_pattern_gives_every_saved_workflow_and_no_draft(home: Path) -> None:
    for name in ("alpha", "beta", "gamma"):
        write_saved(home, name, f"What {name} does.", HELLO)
    write_draft(home, "delta")
    async with agent(home) as client:
        everything = await call_tool(client, "list_library")
        the_same = await call_tool(client, "list_library", pattern=None)
    assert [one["name"] for one in everything] == ["alpha", "beta", "gamma"]
    assert everything[0].keys() >= {"name", "description", "inputs", "updated_at", "execution_count"}
    assert everything[1]["description"] == "What beta does."
    assert everything[1]["inputs"] == ["who"]
    assert the_same == everything


@requirement("PF-R5")
async def test_05_listing_with_a_pattern_returns_matching_workflows(home: Path) -> None:
    write_saved(home, "test-runner", "Runs things.")
    write_saved(home, "deploy", "Deploys what passed its Tests.")
    write_saved(home, "report-daily", "Writes.")
    write_saved(home, "report-weekly", "Writes, too.")
    async with agent(home) as client:

        async def names(pattern: str) -> list[str]:
            return [one["name"] for one in await call_tool(client, "list_library", pattern=pattern)]

        assert await names("test") == ["deploy", "test-runner"]
        assert await names("TEST") == ["deploy", "test-runner"]
        assert await names("report-*") == ["report-daily", "report-weekly"]
        assert await names("unheard-of") == []


@requirement("PF-R6", "PF-R7")
async def test_06_describing_gives_declared_inputs_and_the_variables_that_templates_use(home: Path) -> None:
    workflow = chain(
        shell_node("fetch", "echo ${url} ${token_file} ${count}"),
        {"id": "show", "type": "echo", "params": {"message": {"deep": ["${fetch.stdout}", '${style ?? "plain"}']}}},
        inputs={
            "url": {"type": "string", "description": "From where."},
            "count": {"type": "integer", "default": 3},
        },
        outputs={"shown": {"source": "${show.echo}", "description": "What was fetched."}},
    )
    write_draft(home, "fetcher", workflow)
    async with agent(home) as client:
        about = await call_tool(client, "describe_workflow", name="fetcher")
    assert about["source"] == "draft"
    assert about["inputs"]["url"] == {"type": "string", "required": True, "description": "From where."}
    assert about["inputs"]["count"]["default"] == 3
    assert about["inputs"]["count"]["required"] is False
    assert about["outputs"]["shown"]["description"] == "What was fetched."
    variables = {one["name"]: one for one in about["template_variables"]}
    assert variables.keys() == {"url", "token_file", "count", "style"}, "and no node"
    declared = {name: (one["declared"], one["required"]) for name, one in variables.items()}
    assert declared["url"] == (True, True)
    assert declared["count"] == (True, False)
    assert declared["token_file"] == (False, True)
    assert variables["token_file"]["used_in"] == [{"node": "fetch", "param": "command"}]
    assert set(about["example"]["inputs"]) >= {"url", "token_file"}


@requirement("PF-T7", "PF-M1")
async def test_07_describing_returns_counts_outcomes_and_durations_of_runs(home: Path) -> None:
    write_draft(home, "flaky", chain(shell_node("only", "test ${how} = well")))
    async with agent(home) as client:
        before = (await call_tool(client, "describe_workflow", name="flaky"))["statistics"]
        await execute_workflow(client, "flaky", how="well")
        await call_failing_tool(client, "execute", name="flaky", inputs={"how": "badly"})
        last = await execute_workflow(client, "flaky", how="well")
        about = await call_tool(client, "describe_workflow", name="flaky")
    assert (before["execution_count"], before["average_duration_ms"]) == (0, None)
    statistics = about["statistics"]
    assert (statistics["execution_count"], statistics["success_count"], statistics["failure_count"]) == (3, 2, 1)
    assert statistics["last_execution_success"] is True
    assert statistics["last_duration_ms"] == last["duration_ms"] > 0
    assert statistics["average_duration_ms"] > 0
    assert statistics["last_execution_timestamp"].endswith("Z")
    assert about["last_failure"]["failed_node"] == "only"


@requirement("PF-R8")
async def test_08_executing_runs_the_saved_workflow_where_there_is_a_draft_too(home: Path) -> None:
    write_saved(home, "greeter", ir=chain({"id": "say", "type": "echo", "params": {"message": "saved"}}))
    write_draft(home, "greeter", chain({"id": "say", "type": "echo", "params": {"message": "draft"}}))
    async with agent(home) as client:
        reply = await execute_workflow(client, "greeter")
    assert reply["outputs"] == {"say": {"echo": "saved"}}
    assert any("draft of the same name" in warning for warning in reply["warnings"])


@requirement("PF-R9")
async def test_09_executing_falls_back_to_the_draft(home: Path) -> None:
    write_draft(home, "greeter", HELLO)
    write_saved(home, "other")
    async with agent(home) as client:
        reply = await execute_workflow(client, "greeter", who="Tycho")
    assert reply["outputs"] == {"greeting": "Hello Tycho"}
    assert reply["warnings"] == []


@requirement("PF-R10", "PF-N6")
async def test_10_a_failed_run_returns_a_checkpoint_and_the_failed_node(home: Path) -> None:
    write_draft(
        home, "breaks", chain(shell_node("init", "echo ready"), shell_node("fetch", "echo no such host >&2; exit 7"))
    )
    async with agent(home) as client:
        reply = await call_failing_tool(client, "execute", name="breaks", inputs={})
    assert reply["error"]["type"] == "execution_error"
    assert reply["error"]["node"] == "fetch"
    assert "exit code 7" in reply["error"]["message"]
    checkpoint = reply["checkpoint"]
    assert checkpoint["completed_nodes"] == ["init"]
    assert checkpoint["failed_node"] == "fetch"
    assert checkpoint["node_actions"] == {"init": "default"}
    assert checkpoint["resumable"] is True
    assert checkpoint["run_id"] == reply["run_id"]


@requirement("PF-R11")
def test_11_a_run_prints_nothing_on_either_stream_but_the_protocol(home: Path) -> None:
    noise = "echo loud; echo LOUD >&2; cat"
    code = "import sys; print('chatter'); print('CHATTER', file=sys.stderr); result = sys.stdin.read()"
    python = {"id": "code", "type": "python", "params": {"code": code}}
    write_draft(home, "noisy", chain(shell_node("first", noise), python, shell_node("last", f"{noise}; exit 1")))
    with raw_server(home, command=[COMMAND, *SERVE]) as server:
        server.call("execute", name="noisy")
        reply = server.reply()
        assert reply["checkpoint"]["completed_nodes"] == ["first", "code"]
        server.stdin.close()
        assert server.exit_code() == 0
        assert server.stdout.read() == b""
        assert server.stderr.read() == b""


@requirement("PF-R12")
async def test_12_a_failing_run_is_tried_once_and_its_file_is_unchanged(home: Path, tmp_path: Path) -> None:
    tally = tmp_path / "tally"
    file = write_draft(home, "wrong", chain(shell_node("only", f"echo ran >> '{tally}'; no-such-program-here")))
    misspelt = write_draft(
        home, "misspelt", {"nodes": [{"id": "one", "type": "shel", "parameters": {"comand": "true"}}]}
    )
    before = file.read_bytes(), misspelt.read_bytes()
    async with agent(home) as client:
        await call_failing_tool(client, "execute", name="wrong")
        assert count_runs(tally) == 1
        reply = await call_failing_tool(client, "execute", name="misspelt")
    assert reply["error"]["type"] == "validation_error"
    assert "shell" in json.dumps(reply["error"])
    assert (file.read_bytes(), misspelt.read_bytes()) == before


@requirement("PF-R14", "PF-O1")
async def test_13_saving_moves_the_draft_into_the_library_in_one_step(home: Path) -> None:
    write_draft(home, "greeter", HELLO)
    async with agent(home) as client:
        reply = await call_tool(
            client, "save_to_library", draft_name="greeter", final_name="hello", description="Greets somebody."
        )
        assert (await execute_workflow(client, "hello", who="Sophie"))["outputs"] == {"greeting": "Hello Sophie"}
    assert reply["success"] is True
    assert reply["path"] == "workflows/hello.json"
    assert read_all_files(home).keys() == {"workflows/hello.json"}, "nothing half-made is left"
    document = read_json(home / reply["path"])
    assert (document["name"], document["description"]) == ("hello", "Greets somebody.")
    assert document["ir"]["nodes"] == HELLO["nodes"]


@requirement("PF-R14")
def test_13_saving_that_fails_midway_leaves_the_draft_and_no_half_of_a_file(home: Path) -> None:
    write_draft(home, "large", chain({"id": "say", "type": "echo", "params": {"message": "x" * 200_000}}))
    before = read_all_files(home)
    with raw_server(home, command=[*SMALL_FILES_ONLY, COMMAND, *SERVE]) as server:
        server.call("save_to_library", draft_name="large", final_name="larger", description="Too large.")
        reply = server.reply()
    assert reply["success"] is False
    assert "cannot be written" in reply["error"]["message"]
    assert read_all_files(home) == before


@requirement("PF-R13", "PF-E3")
async def test_14_saving_a_draft_that_does_not_exist_is_refused_and_makes_nothing(home: Path) -> None:
    write_draft(home, "greeter", HELLO)
    write_saved(home, "kept")
    before = read_all_files(home)
    async with agent(home) as client:
        missing = await call_failing_tool(
            client, "save_to_library", draft_name="greter", final_name="hello", description="x"
        )
        not_a_draft = await call_failing_tool(
            client, "save_to_library", draft_name="kept", final_name="hello", description="x"
        )
    for reply in (missing, not_a_draft):
        assert reply["error"]["type"] == "FileNotFoundError"
        assert {"greeter", "kept"} <= set(reply["error"]["available"])
    assert missing["error"]["hint"] == "Did you mean 'greeter'?"
    assert read_all_files(home) == before


@requirement("PF-R15")
async def test_15_saving_removes_the_draft_and_only_when_it_has_saved(home: Path) -> None:
    path = write_draft(home, "greeter", HELLO)
    write_saved(home, "taken")
    wrong = {"draft_name": "greeter", "final_name": "taken", "description": "x"}
    async with agent(home) as client:
        await call_failing_tool(client, "save_to_library", **wrong)
        assert path.exists()
        await call_tool(client, "save_to_library", **wrong | {"final_name": "free"})
        assert not path.exists()
        assert (await call_tool(client, "describe_workflow", name="free"))["source"] == "library"
        reply = await call_failing_tool(client, "execute", name="greeter")
    assert reply["error"]["type"] == "FileNotFoundError"


@requirement("PF-R15")
async def test_15_a_draft_that_stays_because_it_is_a_projects_own_is_a_warning(home: Path) -> None:
    path = write_workflow_file(make_working_folder(home), ".pflow/workflows/greeter.json", HELLO)
    async with agent(home) as client:
        reply = await call_tool(
            client, "save_to_library", draft_name="greeter", final_name="greeter", description="Greets."
        )
    assert reply["success"] is True
    assert reply["warnings"][0].startswith("The draft stays at .pflow/workflows/greeter.json: ")
    assert (path.exists(), (home / "workflows/greeter.json").exists()) == (True, True)


@requirement("PF-R16", "PF-E1")
async def test_16_a_name_that_climbs_is_a_security_error_that_repeats_nothing_of_it(home: Path) -> None:
    await assert_refused_everywhere(home, "../etc")


@requirement("PF-R16", "PF-E2")
async def test_17_an_absolute_path_is_a_security_error(home: Path) -> None:
    await assert_refused_everywhere(home, "/etc/passwd")


async def assert_refused_everywhere(home: Path, name: str) -> None:
    path = write_draft(home, "greeter", HELLO)
    saving = {"draft_name": "greeter", "final_name": "hello", "description": "x"}
    async with agent(home) as client:
        replies = [
            await call_failing_tool(client, "execute", name=name),
            await call_failing_tool(client, "describe_workflow", name=name),
            await call_failing_tool(client, "save_to_library", **saving | {"draft_name": name}),
            await call_failing_tool(client, "save_to_library", **saving | {"final_name": name}),
        ]
    for reply in replies:
        assert reply["error"]["type"] == "SecurityError"
        assert "etc" not in json.dumps(reply)
        assert str(home) not in json.dumps(reply)
    assert read_all_files(home).keys() == {"workflows/drafts/greeter.json"}
    assert read_json(path) == HELLO


@requirement("PF-R17")
async def test_18_each_request_sees_the_current_nodes_and_workflows(home: Path) -> None:
    async with agent(home) as client:

        async def types() -> list[str]:
            found = await call_tool(client, "browse_components", query="frobnicate")
            return [node["type"] for node in found["nodes"] if node["type"].startswith("frob")]

        assert await types() == []
        declare_user_node(home, "frobnicate", "def run(params, context):\n    return {'said': 'first'}\n")
        assert await types() == ["frobnicate"]
        write_draft(home, "uses-it", chain({"id": "one", "type": "frobnicate"}))
        assert (await execute_workflow(client, "uses-it"))["outputs"] == {"one": {"said": "first"}}
        declare_user_node(home, "frobnicate", "def run(params, context):\n    return {'said': 'second'}\n")
        assert (await execute_workflow(client, "uses-it"))["outputs"] == {"one": {"said": "second"}}
        write_draft(home, "uses-it", chain({"id": "two", "type": "frobnicate"}))
        assert (await execute_workflow(client, "uses-it"))["outputs"] == {"two": {"said": "second"}}
        (home / "nodes" / "frobnicate.json").unlink()
        assert await types() == []
        assert (await call_failing_tool(client, "execute", name="uses-it"))["error"]["type"] == "validation_error"


WHERE_AM_I = """\
import threading

async def run(params, context):
    return {"thread": threading.current_thread().name}
"""


@requirement("PF-R18")
async def test_19_a_run_happens_on_a_thread_of_the_default_pool_and_not_on_the_loop(home: Path) -> None:
    declare_user_node(home, "where-am-i", WHERE_AM_I)
    write_draft(home, "asks", chain({"id": "ask", "type": "where-am-i"}))
    async with agent(home) as client:
        threads = [(await execute_workflow(client, "asks"))["outputs"]["ask"]["thread"] for _ in range(3)]
    assert all(name.startswith("asyncio_") for name in threads), "as asyncio calls those of its own pool"


@requirement("PF-R19")
async def test_20_the_server_is_fastmcp_and_follows_the_protocol(home: Path) -> None:
    server = mcp_server.build_server()
    assert isinstance(server, FastMCP)
    async with agent(home) as client:
        over_the_wire = (await client.list_tools()).tools
        await client.send_ping()
        capabilities = client.get_server_capabilities()
    assert over_the_wire == await server.list_tools()
    for tool in over_the_wire:
        Draft202012Validator.check_schema(tool.inputSchema)
        assert tool.inputSchema["type"] == "object"
        assert tool.description
        assert tool.annotations is not None
    assert capabilities is not None
    assert capabilities.tools is not None
    assert capabilities.prompts is not None


@requirement("PF-R20")
def test_21_an_interrupt_ends_the_server_with_130_although_its_input_is_open(home: Path) -> None:
    with raw_server(home, command=[COMMAND, *SERVE]) as server:
        server.process.send_signal(signal.SIGINT)
        assert server.exit_code() == 130
        assert server.stderr.read() == b""


@requirement("PF-E6")
async def test_22_concurrent_runs_of_one_workflow_are_isolated(home: Path, tmp_path: Path) -> None:
    waiting_node = shell_node("wait", "echo $$ > ${gate}.came; read word < ${gate}.go; echo ${mine} $word")
    write_draft(home, "shared", chain({"id": "keep", "type": "echo", "params": {"message": "${mine}"}}, waiting_node))
    with gate(tmp_path, "left") as left, gate(tmp_path, "right") as right:
        async with agent(home) as client:
            runs = [
                asyncio.create_task(execute_workflow(client, "shared", mine=name, gate=str(tmp_path / name)))
                for name in ("left", "right")
            ]
            for one in (left, right):
                await asyncio.to_thread(one.wait)
            right.open("r")
            left.open("l")
            replies = await asyncio.gather(*runs)
    assert [reply["outputs"]["wait"]["stdout"] for reply in replies] == ["left l", "right r"]
    assert len({reply["run_id"] for reply in replies}) == 2
    assert all(reply["reused_nodes"] == [] for reply in replies)
    assert [run["status"] for run in read_history(home, "shared")] == ["success", "success"]


@requirement("PF-E4")
async def test_23_a_template_error_names_every_variable_that_is_missing(home: Path) -> None:
    declared = {"api_url": {"type": "string"}, "query": {"type": "string"}, "limit": {"type": "integer", "default": 5}}
    use = shell_node("fetch", "echo ${api_url} ${query} ${limit}")
    write_draft(home, "declares", chain(shell_node("init", "echo ready"), use, inputs=declared))
    write_draft(home, "does-not", chain(shell_node("init", "echo ready"), use))
    async with agent(home) as client:
        before = await call_failing_tool(client, "execute", name="declares")
        partly = await call_failing_tool(client, "execute", name="declares", inputs={"query": "x"})
        midway = await call_failing_tool(client, "execute", name="does-not", inputs={"limit": 1})
        await execute_workflow(client, "does-not", limit=1, api_url="u", query="q")
    for reply in (before, partly, midway):
        assert reply["error"]["type"] == "template_error"
        assert reply["error"]["node"] == reply["checkpoint"]["failed_node"] == "fetch"
    assert sorted(before["error"]["missing_variables"]) == ["api_url", "query"]
    assert before["checkpoint"]["completed_nodes"] == [], "what is declared is missed before anything runs"
    assert partly["error"]["missing_variables"] == ["api_url"]
    assert sorted(midway["error"]["missing_variables"]) == ["api_url", "query"]
    assert midway["checkpoint"]["completed_nodes"] == ["init"]
    assert "${api_url}" in midway["error"]["message"]
    assert "limit" in midway["error"]["available"]


@requirement("PF-R10", "PF-N3")
async def test_24_the_checkpoint_lists_the_nodes_that_were_completed_in_the_reply_and_on_disk(
    home: Path, tmp_path: Path
) -> None:
    nodes = [counting_node(name, tmp_path / name) for name in ("one", "two", "three")]
    write_draft(home, "stops", chain(*nodes, shell_node("four", "exit 1"), counting_node("five", tmp_path / "five")))
    async with agent(home) as client:
        reply = await call_failing_tool(client, "execute", name="stops")
    assert reply["checkpoint"]["completed_nodes"] == ["one", "two", "three"]
    assert json.loads(json.dumps(reply["checkpoint"])) == reply["checkpoint"]
    kept = read_checkpoint(home, "stops")
    assert [result["finished"][0] for result in kept["results"]] == ["one", "two", "three"]
    mode = (home / "checkpoints" / "stops.json").stat().st_mode
    assert stat.S_IMODE(mode) == 0o600
    assert not (tmp_path / "five").exists()


LOGS_WHAT_IT_IS_GIVEN = """\
import logging

def run(params, context):
    logging.getLogger("leaky").warning("given %s", params["api_key"])
    raise RuntimeError(f"refused {params['api_key']}")
"""


@requirement("PF-N4")
async def test_25_a_sensitive_value_is_in_no_reply_no_log_and_no_file(home: Path) -> None:
    declare_user_node(
        home, "leaky", LOGS_WHAT_IT_IS_GIVEN, params={"api_key": {"type": "str"}, "plain": {"type": "str"}}
    )
    leaky = {"id": "leak", "type": "leaky", "params": {"api_key": "${api_key}", "plain": "v4lue"}}
    write_draft(home, "leaks", chain(shell_node("say", "echo ${api_key}; echo ${api_key} >&2"), leaky))
    inputs = {"api_key": SECRET}
    async with agent(home, is_silent=False) as client:
        replies: list[Any] = [await call_failing_tool(client, "execute", name="leaks", inputs=inputs) for _ in range(2)]
        replies.append(await call_tool(client, "describe_workflow", name="leaks"))
        write_draft(home, "fixed", chain(shell_node("say", "echo ${api_key}")))
        replies.append(await execute_workflow(client, "fixed", **inputs))
    assert replies[-1]["outputs"]["say"]["stdout"] == "***"
    log = get_stderr_file(home).read_text(encoding="utf-8")
    assert log.count("given") == 2, "the log was written"
    kept = b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file())
    assert kept
    for place in (json.dumps(replies), log, kept.decode("utf-8", "replace"), *map(str, os.listdir(home))):
        assert SECRET not in place
