"""`pflow check` and `pflow graph`."""

import json
import time
from typing import Any, Final
from xml.etree import ElementTree as ET

import pytest

from tests.pflow.cli.commands import GREETER, Ask, Workplace

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


def test_a_workflow_without_problems_is_reported_as_valid(ask: Ask, place: Workplace) -> None:
    place.draft("greet", GREETER)
    done = ask("check", "greet")
    assert (done.code, done.out) == (0, "✓ greet is valid: 2 nodes, 1 input, 1 output.\n")
    said = ask("check", "greet", "--json").json
    assert said == {
        "valid": True,
        "name": "greet",
        "path": "workflows/drafts/greet.json",
        "nodes": 2,
        "inputs": 1,
        "outputs": 1,
        "diagnostics": [],
    }


def test_warnings_alone_are_not_errors(ask: Ask, place: Workplace) -> None:
    place.draft("warned", WARNED)
    done = ask("check", "warned")
    assert done.code == 0
    assert "warning[unknown_param]" in done.out
    assert "warned is valid, with 1 warning: it can be run." in done.out
    said = ask("check", "warned", "--json")
    assert (said.code, said.json["valid"], len(said.json["diagnostics"])) == (0, True, 1)


def test_every_problem_is_reported_with_its_position_and_a_fix(ask: Ask, place: Workplace) -> None:
    place.file("bad.json", BAD)
    done = ask("check", "./bad.json")
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


def test_json_has_the_lines_and_columns_too(ask: Ask, place: Workplace) -> None:
    place.file("bad.json", BAD)
    said = ask("check", "bad.json", "--json")
    assert said.code == 2
    places = {one["code"]: (one["line"], one["column"]) for one in said.json["diagnostics"]}
    assert places["unknown_type"] == (3, 27)
    assert places["unknown_key"] == (4, 35)


def test_positions_are_those_in_the_file_even_if_the_workflow_is_wrapped(ask: Ask, place: Workplace) -> None:
    wrapped = {"name": "w", "description": "", "ir": {"nodes": [{"id": "a", "type": "ecko"}]}}
    place.file("w.json", json.dumps(wrapped, indent=2))
    (one,) = ask("check", "w.json", "--json").json["diagnostics"]
    assert (one["path"], one["line"]) == ("nodes[0].type", 8)


def test_a_file_with_invalid_json_is_reported_with_the_position_of_the_error(ask: Ask, place: Workplace) -> None:
    place.draft("half", '{\n  "nodes": [,]\n}')
    done = ask("check", "half")
    assert done.code == 2
    assert "error[invalid_json]" in done.out
    assert 'workflows/drafts/half.json:2:13\n 2 |   "nodes": [,]\n   |             ^\n' in done.out
    said = ask("check", "half", "--json")
    assert (said.code, said.json["valid"], said.json["diagnostics"][0]["line"]) == (2, False, 2)


@pytest.mark.parametrize(
    "text", ["", "[]", "\ufeff{}", '{"nodes": []}', '{"a": 1, "a": 2}', "nul", '{"nodes": 1}', "{}}"]
)
def test_any_content_of_a_file_can_be_reported(ask: Ask, place: Workplace, text: str) -> None:
    place.file("odd.json", text)
    assert ask("check", "odd.json").code == 2
    assert ask("check", "odd.json", "--json").json["valid"] is False


@pytest.mark.parametrize("command", ["check", "run"])
@pytest.mark.parametrize("depth", [200, 1_000, 100_000])
def test_a_deeply_nested_file_is_reported_quickly(ask: Ask, place: Workplace, command: str, depth: int) -> None:
    place.file("deep.json", f'{{"nodes": {"[" * depth}{"]" * depth}}}')
    began = time.process_time()
    assert ask(command, "deep.json").code == 2
    assert time.process_time() - began < 5


def test_only_the_first_of_very_many_problems_are_printed_and_json_lists_all(ask: Ask, place: Workplace) -> None:
    place.file("many.json", {"nodes": [{"id": f"n{number}", "type": "ecko"} for number in range(200)]})
    done = ask("check", "many.json")
    assert done.out.count("error[") == 50
    assert "more; --json lists all." in done.out
    assert len(ask("check", "many.json", "--json").json["diagnostics"]) > 200


def test_a_very_long_line_is_shown_around_the_position(ask: Ask, place: Workplace) -> None:
    text = json.dumps({"nodes": [{"id": "a", "purpose": "x" * 5_000, "type": "ecko"}]})
    place.file("long.json", text)
    done = ask("check", "long.json")
    assert '"type": "ecko"' in done.out
    assert max(map(len, done.out.splitlines())) < 250


def test_a_missing_workflow_is_not_found(ask: Ask) -> None:
    assert ask("check", "nothing").code == 3
    assert ask("check", "nothing.json", "--json").error["type"] == "FileNotFoundError"


def test_a_secret_in_the_line_that_is_shown_is_masked(ask: Ask, place: Workplace) -> None:
    place.file("leak.json", '{"nodes": [{"id": "a", "type": "ecko", "params": {"api_key": "sk-hunter2"}}]}')
    assert "hunter2" not in ask("check", "leak.json").out


def test_a_graph_is_mermaid(ask: Ask, place: Workplace) -> None:
    place.draft("greet", GREETER)
    drawn = ask("graph", "greet").out
    assert drawn.startswith("flowchart TD\n")
    assert "hello --> loud" in drawn
    assert ask("graph", "greet", "--json").json == {"name": "greet", "graph": drawn}


def test_a_graph_is_drawn_into_a_file_or_to_stdout(ask: Ask, place: Workplace) -> None:
    place.draft("greet", GREETER)
    assert ask("graph", "greet", "--svg", "g.svg").out == "Wrote a drawing of 'greet' to g.svg.\n"
    picture = (place.folder / "g.svg").read_text()
    assert ET.fromstring(picture).tag.endswith("svg")
    assert ask("graph", "greet", "--svg", "-").out == picture
    assert ask("graph", "greet", "--svg", "g.svg", "--json").json == {"name": "greet", "path": "g.svg"}


def test_a_picture_that_cannot_be_written_is_an_error(ask: Ask, place: Workplace) -> None:
    place.draft("greet", GREETER)
    done = ask("graph", "greet", "--svg", "nowhere/g.svg")
    assert done.code == 2
    assert "cannot be written" in done.err


def test_an_invalid_workflow_is_drawn_with_a_warning_if_it_has_nodes(ask: Ask, place: Workplace) -> None:
    place.draft("bad", BAD)
    done = ask("graph", "bad")
    assert done.code == 0
    assert done.out.startswith("flowchart TD")
    assert "warning: 'bad' is not valid: `pflow check bad`" in done.err
    place.draft("empty", {"nodes": []})
    assert ask("graph", "empty").code == 2


def test_a_value_used_as_a_program_is_an_error_of_check_and_of_run(ask: Ask, place: Workplace) -> None:
    nodes = [
        {"id": "first", "type": "write-file", "params": {"file_path": "ran.txt", "content": "x"}},
        {"id": "say", "type": "shell", "params": {"command": 'sh -c "echo ${who}"'}},
    ]
    place.draft("inject", {"nodes": nodes, "edges": [{"from": "first", "to": "say"}], "inputs": {"who": {}}})
    (told,) = ask("check", "inject", "--json").json["diagnostics"]
    assert (told["severity"], told["code"], told["node"]) == ("error", "template_to_interpreter", "say")
    assert told["hint"].endswith("sh -c 'echo \"$1\"' _ ${who}")
    done = ask("run", "inject", "who=$(touch pwned)")
    assert done.code == 2
    assert "would be code for `sh`" in done.out + done.err
    assert not list(place.folder.rglob("ran.txt"))
