"""Hostile input: too much, too long, too deep, cyclic, of the wrong shape, and misbehaving commands.

Each is refused or survived with words that help, in bounded time, memory and length, and what comes after is answered.
"""

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pflow.domain.template_resolution import Resolution, Scope
from pflow.errors import NodeFailed, PflowError
from tests.pflow.hostile import (
    GOOD,
    SHORT,
    SOON_S,
    check_refusal,
    echo,
    execute,
    list_leftovers,
    make_service,
    measure_reply,
    run_in_child,
)
from tests.pflow.mcp.agents import agent, call_failing_tool, call_tool, execute_workflow
from tests.pflow.mcp.gates import is_running
from tests.pflow.mcp.raw_server import raw_server
from tests.pflow.mcp.sample_workflows import chain, count_runs, shell_node
from tests.pflow.service.engine.counting_home import until
from tests.pflow.store.homes import read_all_files, write_draft
from tests.requirements import requirement

MANY = 10_000
LONG = "m" * 1_000_000


# Much of it.


def build_chain(count: int) -> dict[str, Any]:
    return chain(*(echo(f"n{at}", at) for at in range(count)))


def build_passing_chain(count: int) -> dict[str, Any]:
    return chain(echo("n0", 1), *(echo(f"n{at}", f"${{n{at - 1}.echo}}") for at in range(1, count)))


def build_parallel_nodes(count: int) -> dict[str, Any]:
    edges = [{"from": "n0", "to": f"n{at}"} for at in range(1, count)]
    return build_chain(count) | {"edges": edges, "outputs": {"last": {"source": f"${{n{count - 1}.echo}}"}}}


@pytest.mark.parametrize("make", [build_passing_chain, build_parallel_nodes])
def test_ten_thousand_nodes_are_checked_and_run_within_limits(home: Path, make: Callable[[int], Any]) -> None:
    ir = make(MANY)
    write_draft(home, "x", ir)
    began = time.monotonic()
    assert make_service(home).check_document(ir).errors == []
    checked_s = time.monotonic() - began
    (reply,), peak_mb = run_in_child(home, ("execute", "x"))
    assert reply["success"]
    assert measure_reply(reply) < SHORT
    assert checked_s < SOON_S / 2
    assert peak_mb < 300


def build_nodes_of_type(kind: str, count: int) -> dict[str, Any]:
    return chain(*(echo(f"n{at}") | {"type": kind} for at in range(count)))


TOO_MANY: dict[str, tuple[Any, str]] = {
    "types": (build_nodes_of_type("ecoh", MANY), "'ecoh'"),
    "ids": ({"nodes": [echo("n")] * MANY}, "Two nodes have the id 'n'"),
    "unconnected": (build_chain(MANY) | {"edges": []}, "No edge leads to 'n1'"),
    "edges": ({**GOOD, "edges": [{"from": f"b{at}", "to": "a"} for at in range(MANY)]}, "it is 'b0'"),
    "keys": ({**GOOD, **{f"k{at}": 1 for at in range(MANY)}}, "no key 'k0'"),
    "outputs": (
        {**GOOD, "outputs": {f"o{at}": {"source": f"${{a.o{at}}}"} for at in range(MANY)}},
        "has no output `o0`",
    ),
    "circle": (
        build_chain(MANY) | {"edges": [*build_chain(MANY)["edges"], {"from": f"n{MANY - 1}", "to": "n1"}]},
        "wait for each other",
    ),
    "nodes": (build_chain(20_001), "at most 20,000 nodes"),
}


@pytest.mark.parametrize("what", TOO_MANY)
def test_ten_thousand_problems_are_summarised(home: Path, what: str) -> None:
    ir, words = TOO_MANY[what]
    error = check_refusal(execute(home, ir), "invalid_workflow", words)
    assert len(error["message"]) < 2000
    assert error["diagnostics"]


@pytest.mark.parametrize("given", [False, True], ids=["missing", "unused"])
def test_ten_thousand_missing_or_unused_inputs_are_summarised(home: Path, given: bool) -> None:
    names = [f"i{at}" for at in range(MANY)]
    ir = GOOD if given else {**GOOD, "inputs": {name: {"type": "string"} for name in names}}
    reply = execute(home, ir, dict.fromkeys(names, 1) if given else None)
    assert reply["success"] is given
    assert measure_reply(reply) < SHORT


def test_many_small_outputs_take_no_more_than_they_are(home: Path) -> None:
    ir: dict[str, Any] = build_parallel_nodes(3_000) | {
        "nodes": [echo(f"n{at}", "x" * 50) for at in range(3_000)],
        "outputs": {},
    }
    reply = execute(home, ir)
    assert reply["success"]
    assert measure_reply(reply) < SHORT
    assert len(list((home / "spool").rglob("*"))) < 10


@pytest.mark.parametrize(
    "ir",
    [
        pytest.param(build_chain(3_000), id="nodes"),
        pytest.param(build_nodes_of_type("ecoh", 1_000), id="types"),
        pytest.param({**GOOD, **{f"k{at}": 1 for at in range(1_000)}}, id="keys"),
    ],
)
def test_the_description_of_a_workflow_is_bounded(home: Path, ir: Any) -> None:
    write_draft(home, "x", ir)
    assert measure_reply(make_service(home).describe_workflow("x")) < SHORT


# Long.

TOO_LONG: dict[str, tuple[Any, Any, str, str]] = {
    "id": ({"nodes": [echo(LONG)]}, None, "invalid_workflow", "at most 100 characters"),
    "type": (build_nodes_of_type(LONG, 1), None, "invalid_workflow", "no node type 'mmm"),
    "end of an edge": ({**GOOD, "edges": [{"from": LONG, "to": "a"}]}, None, "invalid_workflow", "id of a node"),
    "start": ({**GOOD, "start_node": LONG}, None, "invalid_workflow", "id of a node"),
    "version": ({**GOOD, "ir_version": LONG}, None, "invalid_workflow", "`ir_version`"),
    "key": ({**GOOD, LONG: 1}, None, "invalid_workflow", "no key 'mmm"),
    "key of a node": ({"nodes": [echo("a") | {LONG: 1}]}, None, "invalid_workflow", "no key 'mmm"),
    "name of an input": ({**GOOD, "inputs": {LONG: {"type": "string"}}}, None, "invalid_workflow", "at most 100"),
    "name of an output": (
        {**GOOD, "outputs": {LONG: {"source": "${a.echo}"}}},
        None,
        "invalid_workflow",
        "at most 100",
    ),
    "name within": (build_nodes_of_type("workflow", 1), None, "invalid_workflow", "1,000,000 characters"),
    "command": ({"nodes": [shell_node("a", f"true {LONG}")]}, None, "node_failed", "too long"),
    "argument": ({"nodes": [shell_node("a", "true ${v}")]}, {"v": LONG}, "node_failed", "longer than 100,000 bytes"),
    "number": (json.dumps(GOOD).replace('"well"', "9" * 1_000_000), None, "invalid_workflow", "line 1, column"),
}
TOO_LONG["name within"][0]["nodes"][0]["params"] = {"workflow_name": LONG}


@pytest.mark.parametrize("what", TOO_LONG)
def test_a_million_characters_in_a_wrong_field_are_refused_and_not_repeated(home: Path, what: str) -> None:
    ir, inputs, code, words = TOO_LONG[what]
    check_refusal(execute(home, ir, inputs), code, words)


@pytest.mark.parametrize("tool", ["execute", "describe", "save", "save as"])
@requirement("PF-R16")
def test_a_name_of_a_million_characters_or_with_a_nul_is_refused_by_every_operation(home: Path, tool: str) -> None:
    write_draft(home, "x", GOOD)
    before = read_all_files(home)
    asks: dict[str, Callable[[str], Any]] = {
        "execute": lambda name: make_service(home).execute(name),
        "describe": lambda name: make_service(home).describe_workflow(name),
        "save": lambda name: make_service(home).texts.save_to_library(name, "y", "Greets."),
        "save as": lambda name: make_service(home).texts.save_to_library("x", name, "Greets."),
    }
    for name in (LONG, "a\0b", "\0", "x\0.json", "\ud800"):
        with pytest.raises(PflowError, match="1 to 50 characters") as caught:
            asks[tool](name)
        assert caught.value.type == "SecurityError"
        assert len(caught.value.message) < 500
        assert "\0" not in caught.value.message
    assert read_all_files(home) == before


def test_queries_of_a_million_characters_are_refused_or_searched(home: Path) -> None:
    write_draft(home, "x", GOOD)
    assert measure_reply(make_service(home).browse_components(LONG)) < SHORT
    for ask in (
        lambda: make_service(home).list_library(LONG),
        lambda: make_service(home).texts.save_to_library("x", "y", LONG),
    ):
        with pytest.raises(PflowError, match="at most 500 characters") as caught:
            ask()
        assert caught.value.hint
    assert read_all_files(home).keys() == {"workflows/drafts/x.json"}


def test_values_of_a_million_characters_pass_through_and_are_cut_in_the_reply_alone(home: Path) -> None:
    ir = chain(echo("a", LONG), echo("b", "${a.echo}"), outputs={"said": {"source": "${b.echo}"}})
    reply = execute(home, ir)
    assert reply["success"]
    assert measure_reply(reply) < SHORT
    assert reply["outputs"]["said"]["bytes"] == len(LONG)
    assert (home / reply["outputs"]["said"]["file"]).read_text() == LONG


@pytest.mark.parametrize(
    ("variable", "kind"),
    [(LONG, "template_error"), (f"v.{LONG}", "validation_error"), (f"{LONG}.v", "validation_error")],
    ids=["name", "path", "root"],
)
def test_a_variable_of_a_million_characters_is_reported_shortened(home: Path, variable: str, kind: str) -> None:
    reply = execute(home, {"nodes": [echo("a", f"${{{variable}}}")]})
    assert reply["error"]["type"] == kind
    assert measure_reply(reply) < SHORT


@pytest.mark.parametrize(
    "ir",
    [
        pytest.param({"nodes": [echo("a", purpose=LONG)]}, id="purpose"),
        pytest.param(build_nodes_of_type(LONG, 1), id="type"),
        pytest.param({**GOOD, "inputs": {"v": {"type": "string", "default": LONG}}}, id="default"),
        pytest.param(build_chain(2) | {"edges": [{"from": "n0", "to": "n1", "action": LONG}]}, id="action"),
    ],
)
def test_a_workflow_of_a_million_characters_is_described_shortened(home: Path, ir: Any) -> None:
    write_draft(home, "x", ir)
    assert measure_reply(make_service(home).describe_workflow("x")) < SHORT


def test_an_input_with_a_name_of_a_million_characters_is_listed_shortened(home: Path) -> None:
    write_draft(home, "x", {**GOOD, "inputs": {LONG: {"type": "string"}}})
    assert measure_reply(make_service(home).browse_components("x")) < SHORT


# Deep, and in circles.


def nest_value(depth: int, before: str = "[", after: str = "]") -> str:
    return before * depth + "1" + after * depth


@pytest.mark.parametrize("depth", [101, 1_000, 100_000])
@pytest.mark.parametrize("signs", [("[", "]"), ('{"a":', "}")], ids=["lists", "objects"])
@pytest.mark.parametrize("where", ["params", "edges", "inputs", "nodes", "ir"])
def test_values_that_are_nested_too_deep_are_refused(
    home: Path, depth: int, signs: tuple[str, str], where: str
) -> None:
    text = {
        "params": '{"nodes": [{"id": "a", "type": "echo", "params": {"message": DEEP}}]}',
        "edges": '{"nodes": [{"id": "a", "type": "echo"}], "edges": DEEP}',
        "inputs": '{"nodes": [{"id": "a", "type": "echo"}], "inputs": {"a": {"type": "any", "default": DEEP}}}',
        "nodes": '{"nodes": [{"id": "a", "type": "echo"}, DEEP]}',
        "ir": '{"ir": DEEP}',
    }[where]
    check_refusal(execute(home, text.replace("DEEP", nest_value(depth, *signs))), "invalid_workflow")
    assert measure_reply(make_service(home).browse_components("x")) < SHORT


def test_the_deepest_that_is_allowed_runs_and_is_reused(home: Path) -> None:
    ir = chain(echo("a", "DEEP"), shell_node("b", "test -e deep"))
    check_refusal(execute(home, json.dumps(ir).replace('"DEEP"', nest_value(99))), "node_failed")
    (home.parent / "deep").touch()
    reply = execute(home)
    assert reply["success"]
    assert reply["reused_nodes"] == ["a"]


@pytest.mark.parametrize("depth", [300, 1_000])
def test_an_input_that_is_nested_too_deep_fails_the_node_that_is_given_it(home: Path, depth: int) -> None:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    reply = execute(home, {"nodes": [echo("a", "${v}")]}, {"v": value})
    assert check_refusal(reply, "node_failed", "nested")["node"] == "a"


@pytest.mark.parametrize("depth", [11, 100])
def test_nested_workflows_have_a_limited_depth(home: Path, depth: int) -> None:
    ir: Any = GOOD
    for _ in range(depth):
        ir = {"nodes": [{"id": "a", "type": "workflow", "params": {"workflow_ir": ir}}]}
    check_refusal(execute(home, ir), "invalid_workflow", "deep")


def test_workflows_that_run_each_other_in_a_cycle_are_refused_before_anything_runs(home: Path) -> None:
    for name, other in (("x", "y"), ("y", "z"), ("z", "x")):
        first = shell_node("first", f"echo ran >> '{home.parent}/tally'")
        write_draft(home, name, chain(first, {"id": "a", "type": "workflow", "params": {"workflow_name": other}}))
    check_refusal(execute(home), "invalid_workflow", "cycle")
    assert count_runs(home.parent / "tally") == 0


@pytest.mark.parametrize("edges", [["aa"], ["ab", "ba"], ["ab", "bc", "cb"]])
def test_a_cycle_is_refused_with_its_nodes(home: Path, edges: list[str]) -> None:
    ir = {"nodes": [echo(name) for name in "abc"], "edges": [{"from": edge[0], "to": edge[1]} for edge in edges]}
    error = check_refusal(execute(home, ir), "invalid_workflow", "wait for each other", " → ")
    assert "circle" in {one["code"] for one in error["diagnostics"]}


# Bombs.


@pytest.mark.parametrize(("over", "first"), [(2, 8_000_000), (30, 50_000)])
def test_a_chain_in_which_each_text_is_the_last_one_over_and_over_is_stopped_in_time(
    home: Path, over: int, first: int
) -> None:
    more = [echo(f"n{at}", f"${{n{at - 1}.echo}}" * over) for at in range(1, 60)]
    write_draft(home, "x", chain(echo("n0", "ha" * first), *more))
    (reply,), peak_mb = run_in_child(home, ("execute", "x"))
    error = check_refusal(reply, "node_failed", "67,108,864 characters")
    assert "Use each value once" in error["hint"]
    assert peak_mb < 1_000


@pytest.mark.parametrize("message", ["${v}" * 5_000, ["${v}"] * 5_000, {"a": ["x${v}"] * 5_000}])
def test_one_parameter_with_thousands_of_templates_of_a_large_value_is_refused(home: Path, message: Any) -> None:
    write_draft(home, "x", {"inputs": {"v": {"type": "string"}}, "nodes": [echo("a", message)]})
    (reply,), peak_mb = run_in_child(home, ("execute", "x", {"v": "x" * 100_000}))
    check_refusal(reply, "node_failed", "67,108,864 characters")
    assert peak_mb < 400


def test_lists_that_contain_each_other_are_counted_by_their_size() -> None:
    value: Any = ["ha"]
    for _ in range(22):
        value = [value, value]
    resolution = Resolution(Scope({"v": value}))
    with pytest.raises(NodeFailed, match="put together"):
        resolution.resolve_value(["${v}", "${v}"])


# Commands.


def test_a_command_that_prints_200_megabytes_fills_a_file_and_neither_the_memory_nor_the_reply(home: Path) -> None:
    ir = chain(
        shell_node("a", "head -c 200000000 /dev/zero | tr '\\0' x"),
        shell_node("b", "wc -c < ${a.stdout_file}"),
        outputs={"count": {"source": "${b.stdout}"}, "file": {"source": "${a.stdout_file}"}},
    )
    write_draft(home, "x", ir)
    (reply,), peak_mb = run_in_child(home, ("execute", "x"))
    for path in (home / "spool").rglob("stdout-*"):
        path.unlink()
    assert reply["success"], reply["error"]
    assert reply["outputs"]["count"].strip() == "200000000"
    assert measure_reply(reply) < SHORT
    assert peak_mb < 300


def test_a_truncated_value_is_refused_with_the_path_of_its_file(home: Path) -> None:
    ir = chain(shell_node("a", "head -c 20000000 /dev/zero | tr '\\0' x"), echo("b", "${a.stdout}"))
    error = check_refusal(execute(home, ir), "node_failed", "20,000,000 bytes")
    assert "${a.stdout_file}" in error["hint"]


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("kill -SEGV $$", "SIGSEGV"),
        ("kill -9 $$", "SIGKILL"),
        ("exit 3", "exit code 3"),
        ("no-such-command-at-all", "exit code 127"),
        ("echo a\0b", "null byte"),
        ("exec 2>&1; head -c 3000000 /dev/urandom; exit 1", "exit code 1"),
    ],
)
def test_a_failing_command_is_reported_with_its_ending(home: Path, command: str, words: str) -> None:
    assert check_refusal(execute(home, {"nodes": [shell_node("a", command)]}), "node_failed", words)["node"] == "a"


def test_a_command_that_ignores_sigterm_is_killed_with_all_of_its_processes(home: Path) -> None:
    node = shell_node("a", "trap '' TERM; sleep 300 & echo $! > family; wait; while true; do sleep 1; done")
    node["params"]["timeout"] = 0.5
    began = time.monotonic()
    check_refusal(execute(home, {"nodes": [node]}), "node_timed_out", "0.5 s")
    assert time.monotonic() - began < SOON_S
    family = int((home.parent / "family").read_text())
    until(lambda: not is_running(family))


def test_a_command_that_leaves_a_sleeper_behind_is_not_waited_for(home: Path) -> None:
    ir = {"nodes": [shell_node("a", "sleep 300 & echo $!")], "outputs": {"pid": {"source": "${a.stdout}"}}}
    began = time.monotonic()
    reply = execute(home, ir)
    took_s = time.monotonic() - began
    os.kill(int(reply["outputs"]["pid"]), signal.SIGKILL)
    assert reply["success"]
    assert took_s < SOON_S


def test_a_command_that_reads_its_input_gets_none_and_nothing_of_the_protocol(home: Path) -> None:
    write_draft(
        home, "x", chain(shell_node("a", 'cat; read word; echo "[$word]"'), outputs={"o": {"source": "${a.stdout}"}})
    )
    with raw_server(home) as server:
        server.call("execute", id=1, name="x")
        server.send({"id": 2, "method": "ping"})
        answers = {message["id"]: message["result"] for message in (server.receive(), server.receive())}
    assert json.loads(answers[1]["content"][0]["text"])["outputs"] == {"o": "[]"}
    assert answers[2] == {}


# Values of every kind.

EVERYTHING = "日本語 🌍 ñ \u202e\u0301 👩\u200d🚀 \x01\x7f \ufeff"


@requirement("PF-N3")
async def test_text_of_every_script_is_passed_through_unchanged(tmp_path: Path) -> None:
    home = tmp_path / "hjem på Hven 🔭" / "home"
    write = {"file_path": "書.txt", "content": "${данные.echo.ключ}"}
    ir = chain(
        shell_node("schön", "printf %s ${größe}"),
        echo("данные", {"ключ": "${schön.stdout} 🪐"}),
        {"id": "письмо", "type": "write-file", "params": write},
        inputs={"größe": {"type": "string", "description": EVERYTHING}},
        outputs={"ausgabe": {"source": "${данные.echo}"}},
    )
    write_draft(home, "unicode", ir)
    async with agent(home) as client:
        reply = await execute_workflow(client, "unicode", größe=EVERYTHING)
        assert reply["outputs"] == {"ausgabe": {"ключ": f"{EVERYTHING} 🪐"}}
        about = await call_tool(client, "describe_workflow", name="unicode")
        assert about["inputs"]["größe"]["description"] == EVERYTHING
        await call_tool(client, "save_to_library", draft_name="unicode", final_name="kept", description=EVERYTHING)
        (listed,) = await call_tool(client, "list_library", pattern="日本語")
        assert listed["description"] == EVERYTHING.strip()
    assert (home.parent / "workplace" / "書.txt").read_text() == f"{EVERYTHING} 🪐"


TYPES = {"n": "number", "i": "integer", "b": "boolean", "o": "object", "a": "array"}
WRONG: dict[str, list[Any]] = {
    "n": ["abc", [1], True, "1e400", float("nan"), {}],
    "i": [1.5, "x", "1.5", [1], {}],
    "b": ["maybe", 2, [True]],
    "o": ["{", [1], "[1]", 5],
    "a": ["x", {"a": 1}, '{"a": 1}', 5],
}


@pytest.mark.parametrize("name", WRONG)
def test_an_input_of_the_wrong_shape_is_refused_with_the_type_it_should_have(home: Path, name: str) -> None:
    tally = home.parent / "tally"
    inputs = {key: {"type": kind, "required": False} for key, kind in TYPES.items()}
    ir = chain(
        shell_node("ran", f"echo ran >> '{tally}'"), echo("said", [f"${{{key}}}" for key in TYPES]), inputs=inputs
    )
    for value in WRONG[name]:
        check_refusal(execute(home, ir, {name: value}), "invalid_inputs", f"inputs.{name}", TYPES[name])
    assert count_runs(tally) == 0


# The server.


async def test_a_server_answers_every_bad_draft_with_an_error_and_then_runs_a_good_one(home: Path) -> None:
    bad = {
        **{f"many-{what}": TOO_MANY[what][0] for what in ("ids", "keys", "circle")},
        **{f"long-{number}": ir for number, (ir, inputs, *_) in enumerate(TOO_LONG.values()) if inputs is None},
        "deep": f'{{"nodes": {nest_value(100_000)}}}',
        "empty": "",
        "half": '{"nodes": [',
        "null": "null",
        "number": "1e999",
        "bytes": b"\xff\xfe\x00",
        "surrogate": json.dumps({"nodes": [echo("a", "\ud800")]}),
        "twice": '{"nodes": [], "nodes": []}',
    }
    for name, ir in bad.items():
        write_draft(home, name, ir)
    write_draft(home, "good", GOOD)
    async with agent(home) as client:
        for name in bad:
            reply = await call_failing_tool(client, "execute", name=name)
            assert measure_reply(reply) < SHORT, name
            assert reply["error"]["hint"], name
        assert (await execute_workflow(client, "good"))["outputs"]
        assert await call_tool(client, "list_library") == []
    assert list_leftovers(home) == []
    assert not list((home / "checkpoints").glob("*.journal"))


@requirement("PF-E11")
def test_a_server_refuses_arguments_that_are_invalid_json_and_continues(home: Path) -> None:
    write_draft(home, "x", {"nodes": [echo("a", "${v}")]})
    odd: list[dict[str, Any]] = [
        {"name": "\ud800"},
        {"name": "x", "inputs": {"v": "a\ud800b"}},
        {"name": "x", "inputs": {"v": float("nan")}},
        {"name": "x", "inputs": [1]},
        {"name": "x", "inputs": "v=1"},
        {"name": ["x"]},
        {"name": "x", "inputs": {"v": 1}, "more": 1},
    ]
    with raw_server(home) as server:
        for arguments in odd:
            server.call("execute", **arguments)
            answer = server.receive()
            output = json.dumps(answer)
            assert answer["id"] == 1
            assert "error" in answer or answer["result"]["isError"], arguments
            assert "internal" not in output
            assert len(output) < 5_000
        head = '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "execute", "arguments": '
        server.stdin.write(f'{head}{{"name": "x", "inputs": {{"v": {nest_value(1_000)}}}}}}}}}\n'.encode())
        server.stdin.flush()
        assert "error" in server.receive()
        server.call("execute", name="x", inputs={"v": 1})
        assert server.reply()["success"]


def test_bad_input_is_refused_while_a_run_is_under_way(home: Path) -> None:
    write_draft(home, "slow", {"nodes": [shell_node("a", f"echo > '{home.parent}/began'; sleep 300")]})
    write_draft(home, "bad", TOO_MANY["ids"][0])
    with raw_server(home) as server:
        server.call("execute", id="slow", name="slow")
        until((home.parent / "began").exists)
        server.call("execute", id="bad", name="bad")
        assert server.reply("bad")["error"]["code"] == "invalid_workflow"
        server.process.send_signal(signal.SIGINT)
        assert server.exit_code() == 130
