"""The environment of child processes, and the masking of its secrets."""

import json
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.pflow import tool_server
from tests.pflow.cli.commands import Workplace
from tests.requirements import requirement

KEYS = {
    "OPENAI_API_KEY": "sk-openai-5f2e8a71c0",
    "GITHUB_TOKEN": "ghp_hven1576stjerneborg",
    "AWS_SECRET_ACCESS_KEY": "wJalr/XUtn+FEMI=K7",
    "PGPASSWORD": 'pass"word\\with signs',
    "DEPLOY_PAT": "pat-2b1c0d9e8f",
    "DATABASE_URL": "postgresql://tycho:elbow-quadrant@db.example/stars",
}
VALUES = [*list(KEYS.values())[:-1], "elbow-quadrant"]
SPELLINGS = [form for value in VALUES for form in {value, json.dumps(value)[1:-1], repr(value)[1:-1]}]


def run_workflow(workplace: Workplace, ir: dict[str, Any]) -> dict[str, Any]:
    """Run the workflow in a process that has all keys; check that none appears in what it printed or wrote."""
    done = workplace.run_process(
        "run",
        str(workplace.write_file("flow.json", ir)),
        "--json",
        env={**workplace.env, **KEYS, "PLAIN": "plain-value"},
    )
    written = {
        str(path.relative_to(workplace.folder)): path.read_bytes().decode(errors="replace")
        for path in workplace.folder.rglob("*")
        if path.is_file() and path.name not in {"flow.json", "mcp-servers.json"}
    }
    everything = {"stdout": done.out, "stderr": done.err, **written}
    assert len(written) > 1, "the run left records to look at"
    assert [(where, value) for where, text in everything.items() for value in SPELLINGS if value in text] == []
    return done.json


def build_workflow(*nodes: dict[str, Any], outputs: dict[str, str] | None = None) -> dict[str, Any]:
    ids = [one["id"] for one in nodes]
    return {
        "nodes": list(nodes),
        "edges": [{"from": before, "to": after} for before, after in pairwise(ids)],
        "outputs": {name: {"source": source} for name, source in (outputs or {}).items()},
    }


def build_node(id: str, type: str, **params: Any) -> dict[str, Any]:  # noqa: A002 - what workflows call it
    return {"id": id, "type": type, "params": params}


@requirement("PF-N4")
def test_children_inherit_no_key(workplace: Workplace) -> None:
    code = "import os\nresult = sorted(os.environ)\nprint(dict(os.environ))"
    reply = run_workflow(
        workplace,
        build_workflow(
            build_node("python", "python", code=code),
            build_node("shell", "shell", command="env | cut -d= -f1 | sort"),
            outputs={"python": "${python.result}", "shell": "${shell.stdout}"},
        ),
    )
    names = {*reply["outputs"]["python"], *reply["outputs"]["shell"].split()}
    assert {"PATH", "HOME"} <= names
    assert not names & {*KEYS, "PLAIN"}


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")
@pytest.mark.parametrize("ends_well", [True, False])
def test_keys_that_a_child_reads_from_our_own_process_are_masked(workplace: Workplace, ends_well: bool) -> None:
    code = (
        "import os\n"
        "text = open(f'/proc/{os.getppid()}/environ').read()\n"
        "result = dict(line.split('=', 1) for line in text.split('\\0') if line)\n"
        "print(text)\n"
        "import sys; sys.stderr.write(repr(result))"
    )
    last = (
        build_node("end", "shell", command="true")
        if ends_well
        else build_node("end", "python", code=f"{code}\nraise ValueError(text)")
    )
    reply = run_workflow(
        workplace,
        build_workflow(
            build_node("python", "python", code=code),
            build_node("echo", "echo", message="${python.stdout}"),
            last,
            outputs={"all": "${python.result}", "printed": "${python.stdout}", "echoed": "${echo.echo}"},
        ),
    )
    assert reply["success"] is ends_well
    assert ends_well is False or "***" in reply["outputs"]["printed"]


def test_a_variable_that_the_workflow_names_is_passed_and_its_value_masked(workplace: Workplace) -> None:
    tests = 'test "$GITHUB_TOKEN" = ghp_hven"1576"stjerneborg && echo "$PLAIN $OWN $GITHUB_TOKEN"'
    code = "import os\nresult = [len(os.environ['GITHUB_TOKEN']), os.environ['PLAIN'], os.environ['GITHUB_TOKEN']]"
    reply = run_workflow(
        workplace,
        build_workflow(
            build_node("shell", "shell", command=tests, pass_env=["GITHUB_TOKEN", "PLAIN"], env={"OWN": "1"}),
            build_node("python", "python", code=code, pass_env=["GITHUB_TOKEN", "PLAIN"]),
            outputs={"shell": "${shell.stdout}", "python": "${python.result}"},
        ),
    )
    assert reply["outputs"] == {"shell": "plain-value 1 ***", "python": [23, "plain-value", "***"]}


def test_a_variable_that_the_settings_name_is_passed_to_every_node(
    workplace: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(KEYS, "URANIBORG_PFLOW__PASS_ENV", '["PLAIN", "NOT_SET", "GITHUB_TOKEN"]')
    code = "import os\nresult = os.environ['PLAIN']"
    reply = run_workflow(
        workplace,
        build_workflow(
            build_node("shell", "shell", command='echo "$PLAIN $GITHUB_TOKEN"'),
            build_node("python", "python", code=code),
            outputs={"shell": "${shell.stdout}", "python": "${python.result}"},
        ),
    )
    assert reply["outputs"] == {"shell": "plain-value ***", "python": "plain-value"}


def test_a_variable_that_is_not_set_is_named_before_the_node_runs(workplace: Workplace) -> None:
    reply = run_workflow(
        workplace, build_workflow(build_node("shell", "shell", command="touch ran.txt", pass_env=["NO_SUCH", "PLAIN"]))
    )
    assert "`pass_env` names NO_SUCH, which the environment does not set." in reply["error"]["message"]
    assert not (workplace.folder / "ran.txt").exists()


def test_a_secret_input_is_taken_from_the_environment_and_given_with_env(workplace: Workplace) -> None:
    ir = build_workflow(
        build_node("shell", "shell", command='echo "${#MINE}"; echo "$MINE"', env={"MINE": "${GITHUB_TOKEN}"}),
        outputs={"shell": "${shell.stdout}"},
    )
    ir["inputs"] = {"GITHUB_TOKEN": {"type": "string", "secret": True}}
    assert run_workflow(workplace, ir)["outputs"] == {"shell": "23\n***"}


def test_a_server_gets_the_variables_of_its_configuration_and_its_replies_are_masked(workplace: Workplace) -> None:
    workplace.home.mkdir()
    server = {
        "command": sys.executable,
        "args": [str(Path(tool_server.__file__).resolve())],
        "env": {
            "PYTHONPATH": str(Path(__file__).parents[3]),
            "THEIRS": "${OPENAI_API_KEY}",
            "A_TOKEN": "of-the-file-77",
        },
    }
    (workplace.home / "mcp-servers.json").write_text(json.dumps({"mcpServers": {"tools": server}}))
    calls = {name: {"variable": name} for name in ("THEIRS", "A_TOKEN", "GITHUB_TOKEN", "HOME")}
    ids = {name: name.lower().replace("_", "-") for name in calls}
    reply = run_workflow(
        workplace,
        build_workflow(
            *(
                build_node(ids[name], "mcp", server="tools", tool="show_variable", arguments=arguments)
                for name, arguments in calls.items()
            ),
            outputs={name: f"${{{ids[name]}.result}}" for name in calls},
        ),
    )
    assert reply["outputs"] == {"THEIRS": "***", "A_TOKEN": "***", "GITHUB_TOKEN": "", "HOME": str(workplace.folder)}
