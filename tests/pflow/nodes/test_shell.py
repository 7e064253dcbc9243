"""The shell node: commands, outputs and exit codes."""

import json
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from pflow.domain.node import NodeContext, Outcome
from pflow.domain.node_interface import Interface, parse_interface
from pflow.errors import NodeFailed, NodeTimedOut
from pflow.nodes import shell
from tests.pflow.nodes.long_secrets import KEY_FILE, PIECE, TOKEN, add_secrets

run_shell: Any = shell.run_shell
"""Called with parameters of any shape."""


def load_interface() -> Interface:
    (plain,) = json.loads((resources.files("pflow.nodes") / "shell.json").read_text())["nodes"]
    return parse_interface(plain, source="builtin")


async def expect_failure(context: NodeContext, **params: Any) -> Any:
    with pytest.raises(NodeFailed) as caught:
        await run_shell(params, context)
    return caught.value


async def test_a_command_gives_its_outputs(context: NodeContext) -> None:
    assert await run_shell({"command": "echo out; echo err >&2"}, context) == {
        "stdout": "out",
        "stdout_is_binary": False,
        "stderr": "err\n",
        "stderr_is_binary": False,
        "exit_code": 0,
        "command": "echo out; echo err >&2",
    }


async def test_newlines_at_the_end_stay_if_they_are_wanted(context: NodeContext) -> None:
    assert (await run_shell({"command": "printf 'a\\n\\n'"}, context))["stdout"] == "a"
    assert (await run_shell({"command": "printf 'a\\n\\n'", "strip_newline": False}, context))["stdout"] == "a\n\n"


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("naïve\n", "naïve\n"),
        ("", ""),
        (b"\x01\x02", "\x01\x02"),
        ({"a": [1, None]}, '{"a":[1,null]}'),
        (["ö"], '["ö"]'),
        (3.5, "3.5"),
        (False, "false"),
        (0, "0"),
    ],
)
async def test_any_value_can_be_read_from_stdin(context: NodeContext, given: Any, read: str) -> None:
    outputs = await run_shell({"command": "cat", "stdin": given, "strip_newline": False}, context)
    assert outputs["stdout"] == read


async def test_without_stdin_the_input_is_empty(context: NodeContext) -> None:
    assert (await run_shell({"command": "cat", "stdin": None, "timeout": 20}, context))["stdout"] == ""


async def test_a_value_without_a_json_form_is_refused(context: NodeContext) -> None:
    assert "`stdin` cannot be written as text" in (await expect_failure(context, command="cat", stdin={1, 2})).message


async def test_variables_of_env_reach_the_command_as_text(context: NodeContext) -> None:
    env = {"TEXT": "a b", "NUMBER": 3, "FLAG": True, "NONE": None, "LIST": [1, "x"]}
    outputs = await run_shell({"command": 'echo "$TEXT|$NUMBER|$FLAG|$NONE|$LIST"', "env": env}, context)
    assert outputs["stdout"] == 'a b|3|true||[1,"x"]'


async def test_values_of_templates_reach_the_command_but_are_never_code_and_never_shown(context: NodeContext) -> None:
    hostile = "$(touch pwned); `touch pwned`; 'touch pwned' \"; touch pwned; #\nnext"
    private = {"__environment__": {"PFLOW_1": hostile}}
    outputs = await run_shell({"command": 'printf %s "$PFLOW_1" | wc -c', "env": {"A": "1"}, **private}, context)
    assert int(outputs["stdout"]) == len(hostile)
    assert hostile not in str(outputs)
    assert "__environment__" not in outputs
    assert not (context.folder / "pwned").exists()
    failed = await expect_failure(context, command="exit 1", **private)
    assert "touch pwned" not in str((failed.outputs, failed.body()))


async def test_a_command_runs_in_the_given_folder(context: NodeContext, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    assert (await run_shell({"command": "pwd -P", "cwd": "sub"}, context))["stdout"] == str(
        (tmp_path / "sub").resolve()
    )
    failed = await expect_failure(context, command="pwd", cwd="no/such")
    assert "no folder" in failed.message
    assert "`cwd`" in failed.hint
    assert "unknown user" in (await expect_failure(context, command="pwd", cwd="~no-such-user/x")).message


async def test_a_failing_command_is_reported_with_its_exit_code_and_the_end_of_its_stderr(context: NodeContext) -> None:
    failed = await expect_failure(context, command="echo some; seq 1000 >&2; echo 'it broke' >&2; exit 3")
    assert failed.message.startswith("The command ended with exit code 3. Its stderr ends: 997\n998")
    assert failed.message.endswith("1000\nit broke")
    assert failed.ids["exit_code"] == 3
    assert {"stdout", "stderr", "exit_code", "command"} <= set(failed.outputs)
    assert (failed.outputs["stdout"], failed.outputs["exit_code"]) == ("some", 3)
    assert "ignore_errors" in failed.hint


async def test_an_error_message_on_stdout_is_shown_if_stderr_is_empty(context: NodeContext) -> None:
    assert "Its stdout ends: no good" in (await expect_failure(context, command="echo no good; false")).message
    assert (await expect_failure(context, command="false")).message.endswith("exit code 1 and printed nothing.")


@pytest.mark.parametrize("command", ["grep x /dev/null", "which no-such-program", "ls *.none 2>/dev/null"])
async def test_no_exit_code_but_zero_is_guessed_to_be_a_success(context: NodeContext, command: str) -> None:
    assert (await expect_failure(context, command=command)).outputs["exit_code"] != 0


async def test_no_command_is_refused_because_of_its_text(context: NodeContext) -> None:
    outputs = await run_shell({"command": "echo 'rm -rf /; mkfs.ext4; :(){ :|:& };:'"}, context)
    assert outputs["stdout"].startswith("rm -rf /")


async def test_ignored_errors_are_a_success_with_their_exit_code(context: NodeContext) -> None:
    outputs = await run_shell({"command": "echo some; exit 3", "ignore_errors": True}, context)
    assert (outputs["stdout"], outputs["exit_code"]) == ("some", 3)


@pytest.mark.parametrize(("command", "code", "hint"), [("no-such-thing", 127, "install"), ("/etc", 126, "chmod")])
async def test_commands_that_the_shell_cannot_run_fail_with_a_hint(
    context: NodeContext, command: str, code: int, hint: str
) -> None:
    failed = await expect_failure(context, command=command)
    assert failed.outputs["exit_code"] == code
    assert hint in failed.hint


async def test_an_end_by_a_signal_is_reported(context: NodeContext) -> None:
    failed = await expect_failure(context, command="kill -9 $$")
    assert "was ended by SIGKILL" in failed.message
    assert (failed.outputs["signal"], failed.outputs["exit_code"]) == ("SIGKILL", 137)


async def test_a_timeout_fails_with_the_output_so_far_even_if_errors_are_ignored(context: NodeContext) -> None:
    with pytest.raises(NodeTimedOut) as caught:
        await run_shell({"command": "echo some; sleep 600", "timeout": 1, "ignore_errors": True}, context)
    assert caught.value.code == "node_timed_out"
    assert caught.value.outputs["stdout"] == "some\n"


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), "soon"])
async def test_an_invalid_timeout_is_refused(context: NodeContext, seconds: Any) -> None:
    assert "`timeout`" in (await expect_failure(context, command="true", timeout=seconds)).message


async def test_output_that_is_not_utf8_is_returned_in_base64(context: NodeContext) -> None:
    outputs = await run_shell({"command": r"printf '\377\376'; printf '\200' >&2"}, context)
    assert (outputs["stdout"], outputs["stdout_is_binary"]) == ("//4=", True)
    assert (outputs["stderr"], outputs["stderr_is_binary"]) == ("gA==", True)


async def test_much_output_is_in_a_file(context: NodeContext) -> None:
    outputs = await run_shell({"command": "seq 3000000"}, context)
    whole = Path(outputs["stdout_file"]).read_text()
    assert (whole.splitlines()[-1], len(whole)) == ("3000000", outputs["stdout_size"])
    assert whole.startswith(outputs["stdout"])
    assert len(outputs["stdout"]) == 1 << 24


async def test_a_command_that_is_too_long_for_the_system_is_reported(context: NodeContext) -> None:
    failed = await expect_failure(context, command="echo " + "x" * 1_000_000)
    assert "too long" in failed.message
    assert "`stdin`" in failed.hint


async def test_the_interface_declares_every_output(context: NodeContext) -> None:
    declared = set(load_interface().outputs)
    assert set(await run_shell({"command": "seq 500000; seq 500000 >&2"}, context)) <= declared
    assert set((await expect_failure(context, command="kill -9 $$")).outputs) <= declared
    assert load_interface().effect == "effectful"


@pytest.mark.parametrize("secret", [TOKEN, KEY_FILE], ids=["long", "of many lines"])
@pytest.mark.parametrize("stream", [1, 2])
async def test_no_part_of_a_secret_is_in_an_error(context: NodeContext, secret: str, stream: int) -> None:
    command = f"printf 'refused: %s' \"$SECRET\" >&{stream}; exit 3"
    failed = await expect_failure(add_secrets(context), command=command, env={"SECRET": secret})
    assert "refused: ***" in failed.message
    assert PIECE not in failed.message


async def test_no_part_of_a_secret_in_a_spooled_output_is_shown(context: NodeContext) -> None:
    command = "head -c 17000000 /dev/zero | tr '\\0' x; printf '\\n\\nrefused: %s' \"$SECRET\"; exit 3"
    failed = await expect_failure(add_secrets(context), command=command, env={"SECRET": TOKEN * 12})
    assert "stdout_file" in failed.outputs
    assert "refused: ***" in failed.message
    assert PIECE not in failed.message


@pytest.mark.parametrize(
    "command",
    [
        "echo $MY_SERVICE_TOKEN",
        'echo "${MY_SERVICE_TOKEN}"',
        "echo ${MY_SERVICE_TOKEN:-none}",
        "echo ${#MY_SERVICE_TOKEN}",
    ],
)
async def test_a_variable_that_the_command_uses_and_does_not_inherit_is_a_warning(
    context: NodeContext, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setenv("MY_SERVICE_TOKEN", "not-inherited-here")
    outcome = await run_shell({"command": command}, context)
    assert isinstance(outcome, Outcome)
    assert outcome.warnings == (
        "The command uses $MY_SERVICE_TOKEN, which it does not inherit from pflow's environment. "
        'Pass it: "pass_env": ["MY_SERVICE_TOKEN"].',
    )
    failed = await expect_failure(context, command=f"{command}; false")
    assert failed.hint == outcome.warnings[0]


@pytest.mark.parametrize(
    ("command", "params"),
    [
        ("echo $MY_SERVICE_TOKEN", {"env": {"MY_SERVICE_TOKEN": "x"}}),
        ("echo $MY_SERVICE_TOKEN", {"__environment__": {"MY_SERVICE_TOKEN": "x"}}),
        ("MY_SERVICE_TOKEN=1; echo $MY_SERVICE_TOKEN", {}),
        ("for MY_SERVICE_TOKEN in 1; do echo $MY_SERVICE_TOKEN; done", {}),
        ("echo 1 | while read MY_SERVICE_TOKEN; do echo $MY_SERVICE_TOKEN; done", {}),
        ("echo $PWD $HOME $NOT_SET_ANYWHERE MY_SERVICE_TOKEN \\$MY_SERVICE_TOKEN", {}),
    ],
)
async def test_a_variable_that_the_command_has_or_sets_gives_no_warning(
    context: NodeContext, monkeypatch: pytest.MonkeyPatch, command: str, params: dict[str, Any]
) -> None:
    monkeypatch.setenv("MY_SERVICE_TOKEN", "not-inherited-here")
    monkeypatch.setenv("PWD", "/")
    assert not isinstance(await run_shell({"command": command, **params}, context), Outcome)
