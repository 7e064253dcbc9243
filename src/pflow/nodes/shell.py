"""The shell node: a command for /bin/sh, its input, its outputs and how it ended."""

from typing import Any, Final

from pflow.errors import NodeFailed
from pflow.node import Context
from pflow.nodes.given import path_of, seconds_of, text_of, variables_of
from pflow.nodes.processes import Finished, run

ENVIRONMENT: Final = "__environment__"
"""The parameter in which the engine passes the values of the command's templates, as variables for the child."""

_HINTS: Final = {
    126: "The file is there but cannot be executed: `chmod +x` it, or name the program that reads it.",
    127: "The shell found no such command: install it, or name it by its whole path.",
}


async def shell(params: dict[str, Any], context: Context) -> dict[str, Any]:
    """Run the command. Raises NodeFailed when it cannot be run, or ends with another exit code than 0."""
    command = str(params["command"])
    given = params.get("stdin")
    finished = await run(
        ["/bin/sh", "-c", command],
        context,
        stdin=None if given is None else _bytes(given),
        cwd=path_of(params, "cwd", context) if params.get("cwd") else None,
        environment=variables_of(params) | dict(params.get(ENVIRONMENT) or {}),
        timeout_s=seconds_of(params),
    )
    outputs = {
        **finished.stdout.outputs("stdout", strip_newline=bool(params.get("strip_newline", True))),
        **finished.stderr.outputs("stderr"),
        "exit_code": finished.exit_code,
        **({"signal": finished.signal} if finished.signal else {}),
        "command": command,
    }
    if finished.exit_code and not params.get("ignore_errors"):
        raise _failure(finished, outputs, context)
    return outputs


def _failure(finished: Finished, outputs: dict[str, Any], context: Context) -> NodeFailed:
    name, said = "stderr", finished.stderr.last_lines(context)
    if not said:  # many programs complain there
        name, said = "stdout", finished.stdout.last_lines(context)
    ending = f"The command {finished.ending()}"
    return NodeFailed(
        f"{ending}. Its {name} ends: {said}" if said else f"{ending} and printed nothing.",
        hint=_HINTS.get(finished.exit_code)
        or "Fix the command, or set `ignore_errors` to take every exit code for a success.",
        outputs=outputs,
        exit_code=finished.exit_code,
    )


def _bytes(value: Any) -> bytes:
    return value if isinstance(value, bytes) else text_of(value, "stdin").encode()
