"""The shell node: a command for /bin/sh, its input, its outputs and how it ended."""

import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NotRequired, cast

from pflow.domain.node import NodeContext, Outcome
from pflow.errors import NodeFailed
from pflow.nodes.child_output import PrintedOutputs, join_outputs
from pflow.nodes.param_values import format_param_as_text, get_added_environment, get_path, get_seconds
from pflow.nodes.process_runner import FinishedProcess, run_process
from uraniborg.kernel.processes.child_processes import build_child_environment

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import Json, JsonObject

ENVIRONMENT: Final = "__environment__"
"""The parameter in which the engine passes the values of the command's templates, as variables for the child."""

_HINTS: Final = {
    126: "The file cannot be executed: `chmod +x` it, or name its interpreter.",
    127: "The shell did not find the command: install it, or give its full path.",
}
_USED: Final = re.compile(r"(?<!\\)\$(?:\{[#!]?)?([A-Za-z_]\w*)")
_SET: Final = re.compile(r"\b([A-Za-z_]\w*)\+?=|\b(?:for|read(?:\s+-\w+)*)\s+([A-Za-z_]\w*)")
_OF_THE_SHELL: Final = frozenset({"PWD", "OLDPWD", "SHLVL", "PPID", "IFS", "OPTIND", "OPTARG", "HOSTNAME", "UID", "_"})


class ShellOutputs(PrintedOutputs):
    exit_code: int
    signal: NotRequired[str]
    command: str


async def run_shell(params: "JsonObject", context: NodeContext) -> ShellOutputs | Outcome:
    """Run the command and return its outputs, in an Outcome if there is a warning.

    Raise NodeFailed if the command cannot be run, or its exit code is not 0.
    """
    command, given, cwd = str(params["command"]), params.get("stdin"), params.get("cwd")
    environment = get_added_environment(params) | cast("dict[str, str]", params.get(ENVIRONMENT) or {})
    finished = await run_process(
        ["/bin/sh", "-c", command],
        context,
        stdin=None if given is None else _encode_stdin(given),
        cwd=get_path(params, "cwd", context) if cwd else None,
        environment=environment,
        timeout_s=get_seconds(params),
    )
    strip_newline = bool(params.get("strip_newline", True))
    outputs: Any = {
        **join_outputs(finished.stdout, finished.stderr, strip_newline=strip_newline),
        "exit_code": finished.exit_code,
        **({"signal": finished.signal} if finished.signal else {}),
        "command": command,
    }
    withheld = _make_withheld_variables_warning(command, environment, context)
    if finished.exit_code and not params.get("ignore_errors"):
        raise _make_exit_error(finished, outputs, context, withheld)
    return Outcome(outputs, warnings=(withheld,)) if withheld else outputs


def _make_withheld_variables_warning(command: str, environment: Mapping[str, str], context: NodeContext) -> str:
    """Return a warning of variables that the command uses and that only pflow's own environment has, or no text."""
    has = {*_OF_THE_SHELL, *environment, *build_child_environment(context.pass_env)}
    has.update(name for names in _SET.findall(command) for name in names)
    names = [name for name in dict.fromkeys(_USED.findall(command)) if name in os.environ and name not in has]
    if not names:
        return ""
    listed, quoted = ", ".join(f"${name}" for name in names), ", ".join(f'"{name}"' for name in names)
    return (
        f"The command uses {listed}, which it does not inherit from pflow's environment. "
        f'Pass it: "pass_env": [{quoted}].'
    )


def _make_exit_error(
    finished: FinishedProcess, outputs: ShellOutputs, context: NodeContext, withheld: str
) -> NodeFailed:
    name, excerpt = "stderr", finished.stderr.cut_masked_end(context)
    if not excerpt:  # many programs complain there
        name, excerpt = "stdout", finished.stdout.cut_masked_end(context)
    ending = f"The command {finished.describe_ending()}"
    return NodeFailed(
        f"{ending}. Its {name} ends: {excerpt}" if excerpt else f"{ending} and printed nothing.",
        hint=_HINTS.get(finished.exit_code)
        or withheld
        or "Fix the command, or set `ignore_errors` to accept every exit code.",
        outputs=outputs,
        exit_code=finished.exit_code,
    )


def _encode_stdin(value: "Json | bytes") -> bytes:
    return value if isinstance(value, bytes) else format_param_as_text(value, "stdin").encode()
