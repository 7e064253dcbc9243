"""`pflow check` and `pflow graph`."""

import json
import time
from typing import Any, Final
from xml.etree import ElementTree as ET

import pytest

from tests.pflow.cli.commands import GREETER, RunPflow, Workplace

BAD: Final = """{
  "nodes": [
    {"id": "ask", "type": "htp", "params": {}},
    {"id": "say", "type": "echo", "prms": {}},
    {"id": "end", "type": "echo", "params": {"mesage": "${nobody}"}}
  ],
  "edges": [{"from": "ask", "to": "say"}, {"from": "say", "to": "end"}]
}
"""
WARNED: Final[dict[str, Any]] = {"nodes": [{"id": "say", "type": "echo", "params": {"mesage": "hi"}}]}


def test_a_workflow_without_problems_is_reported_as_valid(run_pflow: RunPflow, workplace: Workplace) -> None:
    workplace.write_draft("greet", GREETER)
    done = run_pflow("check", "greet")
    assert (done.code, done.out) == (0, "✓ greet is valid: 2 nodes, 1 input, 1 output.\n")
    reply = run_pflow("check", "greet", "--json").json
    assert reply == {
        "valid": True,
        "name": "greet",
        "path": "workflows/drafts/greet.json",
        "nodes": 2,
        "inputs": 1,
        "outputs": 1,
        "diagnostics": [],
    }


def test_warnings_alone_are_not_errors(run_pflow: RunPflow, workplace: Workplace) -> None:
    workplace.write_draft("warned", WARNED)
    done = run_pflow("check", "warned")
    assert done.code == 0
    assert "warning[unknown_param]" in done.out
    assert "warned is valid, with 1 warning: it can be run." in done.out
    reply = run_pflow("check", "warned", "--json")
    assert (reply.code, reply.json["valid"], len(reply.json["diagnostics"])) == (0, True, 1)


def test_every_problem_is_reported_with_its_position_and_a_fix(run_pflow: RunPflow, workplace: Workplace) -> None:
    workplace.write_file("bad.json", BAD)
    done = run_pflow("check", "./bad.json")
    assert done.code == 2
    assert done.err == ""
    assert (
        "error[unknown_type]: There is no node type 'htp'.\n"
        "  --> bad.json:3:27  nodes[0].type\n"
        ' 3 |     {"id": "ask", "type": "htp", "params": {}},\n'
        "   |                           ^^^^^\n"
        "  = did you mean: http\n"
    ) in done.out
    assert (
        "error[unknown_key]: A node has no key 'prms'.\n"
        "  --> bad.json:4:35  nodes[1].prms\n"
        ' 4 |     {"id": "say", "type": "echo", "prms": {}},\n'
        "   |                                   ^^^^^^\n"
    ) in done.out
    assert "  = example: " in done.out
    assert "./bad.json is not valid: 2 errors and " in done.out
    assert done.out.index("error[unknown_key]") < done.out.index("warning[unknown_param]")


def test_json_has_the_lines_and_columns_too(run_pflow: RunPflow, workplace: Workplace) -> None:
    workplace.write_file("bad.json", BAD)
    reply = run_pflow("check", "bad.json", "--json")
    assert reply.code == 2
    places = {one["code"]: (one["line"], one["column"]) for one in reply.json["diagnostics"]}
    assert places["unknown_type"] == (3, 27)
    assert places["unknown_key"] == (4, 35)


def test_positions_are_those_in_the_file_even_if_the_workflow_is_wrapped(
    run_pflow: RunPflow, workplace: Workplace
) -> None:
    wrapped = {"name": "w", "description": "", "ir": {"nodes": [{"id": "a", "type": "ecko"}]}}
    workplace.write_file("w.json", json.dumps(wrapped, indent=2))
    (one,) = run_pflow("check", "w.json", "--json").json["diagnostics"]
    assert (one["path"], one["line"]) == ("nodes[0].type", 8)


def test_a_file_with_invalid_json_is_reported_with_the_position_of_the_error(
    run_pflow: RunPflow, workplace: Workplace
) -> None:
    workplace.write_draft("half", '{\n  "nodes": [,]\n}')
    done = run_pflow("check", "half")
    assert done.code == 2
    assert "error[invalid_json]" in done.out
    assert 'workflows/drafts/half.json:2:13\n 2 |   "nodes": [,]\n   |             ^\n' in done.out
    reply = run_pflow("check", "half", "--json")
    assert (reply.code, reply.json["valid"], reply.json["diagnostics"][0]["line"]) == (2, False, 2)


@pytest.mark.parametrize(
    "text", ["", "[]", "\ufeff{}", '{"nodes": []}', '{"a": 1, "a": 2}', "nul", '{"nodes": 1}', "{}}"]
)
def test_any_content_of_a_file_can_be_reported(run_pflow: RunPflow, workplace: Workplace, text: str) -> None:
    workplace.write_file("odd.json", text)
    assert run_pflow("check", "odd.json").code == 2
    assert run_pflow("check", "odd.json", "--json").json["valid"] is False


@pytest.mark.parametrize("command", ["check", "run"])
@pytest.mark.parametrize("depth", [200, 1_000, 100_000])
def test_a_deeply_nested_file_is_reported_quickly(
    run_pflow: RunPflow, workplace: Workplace, command: str, depth: int
) -> None:
    workplace.write_file("deep.json", f'{{"nodes": {"[" * depth}{"]" * depth}}}')
    began = time.process_time()
    assert run_pflow(command, "deep.json").code == 2
    assert time.process_time() - began < 5


def test_only_the_first_of_very_many_problems_are_printed_and_json_lists_all(
    run_pflow: RunPflow, workplace: Workplace
) -> None:
    workplace.write_file("many.json", {"nodes": [{"id": f"n{number}", "type": "ecko"} for number in range(200)]})
    done = run_pflow("check", "many.json")
    assert done.out.count("error[") == 50
    assert "more; --json lists all." in done.out
    assert len(run_pflow("check", "many.json", "--json").json["diagnostics"]) > 200


def test_a_very_long_line_is_shown_around_the_position(run_pflow: RunPflow, workplace: Workplace) -> None:
    text = json.dumps({"nodes": [{"id": "a", "purpose": "x" * 5_000, "type": "ecko"}]})
    workplace.write_file("long.json", text)
    done = run_pflow("check", "long.json")
    assert '"type": "ecko"' in done.out
    assert max(map(len, done.out.splitlines())) < 250


def test_a_missing_workflow_is_not_found(run_pflow: RunPflow) -> None:
    assert run_pflow("check", "nothing").code == 3
    assert run_pflow("check", "nothing.json", "--json").error["type"] == "FileNotFoundError"


def test_a_secret_in_the_line_that_is_shown_is_masked(run_pflow: RunPflow, workplace: Workplace) -> None:
    workplace.write_file("leak.json", '{"nodes": [{"id": "a", "type": "ecko", "params": {"api_key": "sk-hunter2"}}]}')
    assert "hunter2" not in run_pflow("check", "leak.json").out


def test_a_graph_is_mermaid(run_pflow: RunPflow, workplace: Workplace) -> None:
    workplace.write_draft("greet", GREETER)
    drawn = run_pflow("graph", "greet").out
    assert drawn.startswith("flowchart TD\n")
    assert "hello --> loud" in drawn
    assert run_pflow("graph", "greet", "--json").json == {"name": "greet", "graph": drawn}


def test_a_graph_is_drawn_into_a_file_or_to_stdout(run_pflow: RunPflow, workplace: Workplace) -> None:
    workplace.write_draft("greet", GREETER)
    assert run_pflow("graph", "greet", "--svg", "g.svg").out == "Wrote a drawing of 'greet' to g.svg.\n"
    picture = (workplace.folder / "g.svg").read_text()
    assert ET.fromstring(picture).tag.endswith("svg")
    assert run_pflow("graph", "greet", "--svg", "-").out == picture
    assert run_pflow("graph", "greet", "--svg", "g.svg", "--json").json == {"name": "greet", "path": "g.svg"}


def test_a_picture_that_cannot_be_written_is_an_error(run_pflow: RunPflow, workplace: Workplace) -> None:
    workplace.write_draft("greet", GREETER)
    done = run_pflow("graph", "greet", "--svg", "nowhere/g.svg")
    assert done.code == 2
    assert "cannot be written" in done.err


def test_an_invalid_workflow_is_drawn_with_a_warning_if_it_has_nodes(run_pflow: RunPflow, workplace: Workplace) -> None:
    workplace.write_draft("bad", BAD)
    done = run_pflow("graph", "bad")
    assert done.code == 0
    assert done.out.startswith("flowchart TD")
    assert "warning: 'bad' is not valid: `pflow check bad`" in done.err
    workplace.write_draft("empty", {"nodes": []})
    assert run_pflow("graph", "empty").code == 2


def test_a_value_used_as_a_program_is_an_error_of_check_and_of_run(run_pflow: RunPflow, workplace: Workplace) -> None:
    nodes = [
        {"id": "first", "type": "write-file", "params": {"file_path": "ran.txt", "content": "x"}},
        {"id": "say", "type": "shell", "params": {"command": 'sh -c "echo ${who}"'}},
    ]
    workplace.write_draft("inject", {"nodes": nodes, "edges": [{"from": "first", "to": "say"}], "inputs": {"who": {}}})
    (report,) = run_pflow("check", "inject", "--json").json["diagnostics"]
    assert (report["severity"], report["code"], report["node"]) == ("error", "template_to_interpreter", "say")
    assert report["hint"].endswith("sh -c 'echo \"$1\"' _ ${who}")
    done = run_pflow("run", "inject", "who=$(touch pwned)")
    assert done.code == 2
    assert "would be code for `sh`" in done.out + done.err
    assert not list(workplace.folder.rglob("ran.txt"))
