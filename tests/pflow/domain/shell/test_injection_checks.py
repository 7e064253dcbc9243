"""Commands in which a value would be code are refused; in all others hostile values have no effect."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pflow.domain.shell.syntax_tree import Undecided
from pflow.domain.shell.templated_command import check_command_injections, replace_templates_by_variables
from pflow.errors import NodeFailed
from tests.pflow.domain.ir.workflows import Plain, check_document, find_only
from tests.pflow.domain.shell.commands import ACCEPTED, REFUSED

CANARY = "pwned"
HOSTILE = [
    "'; touch pwned; '",
    '"; touch pwned; "',
    "; touch pwned #",
    "$(touch pwned)",
    "`touch pwned`",
    "a\ntouch pwned\n",
    "\n",
    "",
    '"',
    "\\",
    "\\'; touch pwned #",
    "*",
    "~",
    "a[$(touch pwned)]",
    "x[0`touch pwned`]=1",
    "-e",
    "-etouch pwned",
    "-esystem('touch pwned')",
    "-e1e touch pwned",
    "-ctouch pwned",
    "-c",
    "--checkpoint-action=exec=touch pwned",
    "--use-compress-program=touch pwned",
    "--upload-pack=touch pwned",
    "--eval=require('fs').writeFileSync('pwned','')",
    "-va[$(touch pwned)]",
    "-delete",
    "touch pwned|",
    "|touch pwned",
    "!touch pwned",
    "$(shell touch pwned)",
    "1e touch pwned",
    'BEGIN{system("touch pwned")}',
    "EOF\ntouch pwned\n",
    "{}",
    "%s%n$HOME${HOME}",
    "é名🦉\u2028",
    "x" * 2_000,
]
LONG = "x" * 90_000
"""A regular expression of this length would take a minute, so that only commands that print it are given it."""
SLOW = ("python3", "perl", "node", "jq", "yq", "git", "ssh", "vim")
"""Programs that take long to start: each shell gives them only some of the values."""
FILES = {
    "file": "a:b c\nd:e f\n",
    "script.sh": '#!/bin/sh\nprintf %s "$1"\n',
    "script.py": "import sys\nsys.stdout.write(sys.argv[1])\n",
    "script.awk": "{ print $1 }\n",
    "Makefile": "all:\n\t@true\n",
}
PROGRAMS = (
    "bash",
    "awk",
    "sed",
    "perl",
    "jq",
    "git",
    "make",
    "sqlite3",
    "vim",
    "node",
    "tar",
    "ssh",
    "xargs",
    "find",
    "ed",
    "yq",
    "prlimit",
)
DRIVER = """
i=0
while [ $i -lt $COUNT ]; do
  i=$((i + 1))
  eval "PFLOW_1=\\$VALUE_$i"
  export PFLOW_1; export PFLOW_2="$PFLOW_1" PFLOW_3="$PFLOW_1"
  $SHELL_OF_TEST -c "$COMMAND" </dev/null 2>/dev/null
  printf '\\036\\n'
done
"""
"""Runs one command with one value after the other: one process of Python for all of them."""
SHELLS = ["/bin/sh", *(["bash --posix"] if shutil.which("bash") else [])]


def is_refused(command: str) -> bool:
    try:
        return bool(check_command_injections(command).findings)
    except Undecided:
        return True


@pytest.mark.parametrize("command", REFUSED)
def test_a_value_used_as_a_program_is_refused(command: str) -> None:
    assert is_refused(command)


@pytest.mark.parametrize("command", ACCEPTED)
def test_a_value_used_as_data_is_accepted(command: str) -> None:
    assert not is_refused(command)


def test_there_are_enough_commands_of_both_kinds() -> None:
    assert len(set(REFUSED)) >= 120
    assert len(ACCEPTED) >= 120


def select_accepted_values(command: str, values: list[str]) -> list[str]:
    """Return the values that the command accepts at run time."""
    taken: list[str] = []
    for value in values:
        try:
            replace_templates_by_variables(command, lambda _, value=value: value)
        except NodeFailed as exc:
            assert value[:1] == "-" or "whole number" in exc.message or value[:1] in "!(),+@;", (command, value)  # noqa: PT017
            assert exc.hint  # noqa: PT017
        else:
            taken.append(value)
    return taken


def run_command(command: str, values: list[str], shell: str, folder: Path) -> list[str]:
    """Return the output of the command with each of the values."""
    for name, text in FILES.items():
        (folder / name).write_text(text)
    (folder / "script.sh").chmod(0o755)
    (folder / "bin").mkdir()
    (folder / "bin" / "python3").symlink_to(sys.executable)
    made = replace_templates_by_variables(command, lambda _: values[0])[0]
    environment = {
        "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
        "HOME": str(folder),
        "GIT_CEILING_DIRECTORIES": str(folder.parent),
        "LC_ALL": "C.UTF-8",
        "COUNT": str(len(values)),
        "SHELL_OF_TEST": shell,
        "COMMAND": made,
        **{f"VALUE_{number}": value for number, value in enumerate(values, 1)},
    }
    done = subprocess.run(
        ["/bin/sh", "-c", DRIVER], env=environment, cwd=folder, capture_output=True, timeout=60, check=False
    )
    return done.stdout.decode(errors="replace").split("\036\n")[:-1]


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("command", ACCEPTED)
def test_hostile_values_do_nothing_but_arrive(command: str, shell: str) -> None:
    if missing := [one for one in PROGRAMS if one in command.split() and not shutil.which(one)]:
        pytest.skip(f"{missing[0]} is not installed")
    expected = ACCEPTED[command]
    values = select_accepted_values(command, [*HOSTILE, *([LONG] if expected else [])]) or select_accepted_values(
        command, ["5"]
    )
    if any(one in command.split() for one in SLOW):
        values = values[SHELLS.index(shell) :: len(SHELLS) * 2]
    elif shell != SHELLS[0]:
        values = values[::4]
    with tempfile.TemporaryDirectory() as name:
        printed = run_command(command, values, shell, Path(name))
        assert not list(Path(name).rglob(CANARY)), command
    assert len(printed) == len(values)
    if expected is not None:
        assert printed == [expected.replace("{}", value) for value in values]


TEXTS = st.text(st.characters(exclude_characters="\0\036", exclude_categories=["Cs"]), max_size=60)


@settings(max_examples=25, deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=8))
def test_any_text_arrives_unchanged(values: list[str]) -> None:
    with tempfile.TemporaryDirectory() as name:
        assert run_command("sh -c 'printf %s \"$1\"' _ ${v}", values, "/bin/sh", Path(name)) == values


def test_a_nul_is_refused_in_every_accepted_command() -> None:
    for command in ACCEPTED:
        if "\\${v}" not in command:
            with pytest.raises(NodeFailed):
                replace_templates_by_variables(command, lambda _: "a\0b")


@pytest.mark.parametrize(
    ("command", "value"),
    [
        ("sed -n 1p ${v}", "-e1e touch pwned"),
        ("tar -cf a.tar ${v}", "--checkpoint-action=exec=touch pwned"),
        ("git clone ${v} there", "--upload-pack=touch pwned"),
        ("perl -e 'print 1' ${v}", "-esystem('touch pwned')"),
        ("find ${v} -type f", "-delete"),
        ("find . -exec echo ${v} {} ';'", ";x"),
        ("printf ${v} x", "-va[$(touch pwned)]"),
        ("vim ${v}", "+!touch pwned"),
        ("ssh ${v}", "-oProxyCommand=touch pwned"),
        ("curl ${v}", "-K/tmp/x"),
    ],
)
def test_a_value_that_would_be_an_option_that_runs_code_is_refused_when_it_runs(command: str, value: str) -> None:
    with pytest.raises(NodeFailed, match=f"begins with '{re.escape(value[0])}'") as caught:
        replace_templates_by_variables(command, lambda _: value)
    assert "`--`" in caught.value.hint
    assert value not in caught.value.message
    assert replace_templates_by_variables(command, lambda _: "plain")[1] == {"PFLOW_1": "plain"}


def test_a_value_after_arithmetic_is_checked_as_its_own_template() -> None:
    values = {"n": 1, "v": "-delete"}
    with pytest.raises(NodeFailed, match="begins with '-'"):
        replace_templates_by_variables("echo $(( ${n} )); find ${v} -type f", lambda one: values[one.text])


@pytest.mark.parametrize(
    "command",
    ["sed -n 1p -- ${v}", "tar -cf a.tar -- ${v}", "git commit -m ${v}", "grep ${v} file", "find . -name ${v}"],
)
def test_a_value_can_begin_with_a_dash_where_it_is_not_an_option(command: str) -> None:
    assert replace_templates_by_variables(command, lambda _: "-x")[1] == {"PFLOW_1": "-x"}


def test_a_comparison_of_numbers_takes_whole_numbers() -> None:
    assert replace_templates_by_variables("[ ${v} -gt 1 ]", lambda _: 5)[1] == {"PFLOW_1": "5"}
    with pytest.raises(NodeFailed, match="whole number"):
        replace_templates_by_variables("[ ${v} -gt 1 ]", lambda _: "a[$(touch pwned)]")


def shell_node(**params: Any) -> Plain:
    return {"nodes": [{"id": "a", "type": "shell", "params": params}], "inputs": {"v": {}}}


@pytest.mark.parametrize(
    ("params", "program"),
    [
        ({"command": "sh", "stdin": "${v}"}, "sh"),
        ({"command": "python3 -", "stdin": "print(${v})"}, "python3"),
        ({"command": "tr a b | bash", "stdin": ["${v}"]}, "bash"),
        ({"command": 'eval "$X"', "env": {"X": "${v}"}}, "eval"),
        ({"command": 'read x; eval "$x"', "stdin": "${v}"}, "eval"),
        ({"command": "make", "env": {"X": "${v}"}}, "make"),
        ({"command": "${v}"}, "sh"),
    ],
)
def test_values_of_stdin_and_env_are_not_run_either(params: Plain, program: str) -> None:
    report = find_only(check_document(shell_node(**params)), "template_to_interpreter")
    assert (report.severity, report.path) == ("error", "nodes[0].params.command")
    assert f"`{program}`" in report.message


@pytest.mark.parametrize(
    "env", ["${v}", '{"X": "${v}"}', {"PATH": "${v}"}, {"LD_PRELOAD": "x${v}"}, {"BASH_ENV": "${v}"}]
)
def test_a_value_does_not_select_a_program_through_a_variable(env: Any) -> None:
    report = find_only(check_document(shell_node(command="ls", env=env)), "template_in_environment")
    assert report.severity == "error"
    assert "choose other names" in report.hint


@pytest.mark.parametrize(
    "params",
    [
        {"command": "cat", "stdin": "${v}"},
        {"command": "sh -c 'cat'", "stdin": "${v}"},
        {"command": 'printf %s "$X"', "env": {"X": "${v}", "PATH": "/bin"}},
        {"command": "sh -c 'printf %s \"$X\"'", "env": {"X": ["${v}"]}},
        {"command": "sh script.sh", "stdin": "${v}"},
    ],
)
def test_values_of_stdin_and_env_are_data(params: Plain) -> None:
    assert check_document(shell_node(**params)).diagnostics == []


@pytest.mark.parametrize(
    ("command", "hint"),
    [
        ('sh -c "echo ${v}"', "sh -c 'echo \"$1\"' _ ${v}"),
        ("python3 -c 'print(${v})'", "sys.argv[1]"),
        ("awk '/${v}/' x", "ENVIRON"),
        ("jq .${v} x", "--arg v ${v}"),
        ("sqlite3 x.db \"select '${v}'\"", "bound parameters"),
        ("trap 'rm ${v}' EXIT", "v=${v}; trap"),
        ("(( ${v} > 1 ))", "[ ${v} -gt 1 ]"),
    ],
)
def test_the_hint_of_a_refused_command_is_a_safe_form(command: str, hint: str) -> None:
    report = find_only(check_document(shell_node(command=command)), "template_to_interpreter")
    assert (report.severity, report.path, report.node) == ("error", "nodes[0].params.command", "a")
    assert hint in report.hint
    assert "`${v}`" in report.message


@pytest.mark.parametrize(
    "command",
    [
        "$(" * 5_000 + "${v}",
        "$((" * 5_000 + "${v}",
        "(" * 5_000 + "${v}",
        "`" * 5_000 + "${v}",
        "{ " * 5_000 + "${v}",
        '"$(' * 5_000 + "${v}",
        "${x:-" * 5_000 + "${v}",
        "if " * 5_000 + "${v}",
        "case x in " * 5_000 + "${v}",
        "f() " * 5_000 + "${v}",
        "<<A " * 5_000 + "${v}\n" * 5_000,
        "eval '" * 5_000 + "${v}",
        "x=$y; y=$z; " * 5_000 + "z=${v}; eval $x",
        "env " * 5_000 + "sh -c ${v}",
    ],
    ids=range(14),
)
def test_a_command_that_is_nested_deeply_is_answered(command: str) -> None:
    is_refused(command)


@settings(max_examples=300, deadline=None)
@given(st.text("sh -c${v}'\"`$()\\{};|&<>\n#=[]!evalEOF<<", max_size=80))
def test_any_command_is_answered(command: str) -> None:
    is_refused(command)
    with suppress(NodeFailed):
        replace_templates_by_variables(command, lambda _: "x")
