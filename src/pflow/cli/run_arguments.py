"""Read the arguments of `pflow run` by hand: a run starts sooner without a library for it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from pflow.errors import PflowError
from uraniborg.kernel.language.messages import find_nearest_name
from uraniborg.kernel.terminal.command_runner import UsageError

HELP: Final = """\
Usage: pflow run [OPTIONS] NAME|FILE [KEY=VALUE]...

  Run a workflow. If its last run failed, the run is resumed: nodes whose
  type, parameters and values are unchanged are not run again.

Arguments:
  NAME|FILE          A saved workflow or a draft; or a file: a path with a
                     slash, or one ending in .json.
  KEY=VALUE          An input, read as the type that the workflow declares.
                     Without a declared type, true, 3, 2.5, {"a": 1} and
                     [1, 2] are parsed, and other values are text.
  KEY=@FILE          An input whose value is the text of a file. KEY=@@text is
                     the text "@text".
  KEY=-              An input whose value is read from stdin. Piped text also
                     goes to the input with "stdin": true.

Options:
  --only NODE        Run this node and the nodes it needs.
  --dry-run          Print the nodes that would run, with their parameters;
                     run nothing.
  --fresh            Discard the results of earlier runs, and start over.
  --cluster ADDRESS  Run nodes on the Dask cluster of this scheduler.
  -q, --quiet        No progress on stderr.
  --json             Print one JSON object on stdout and nothing else: the
                     reply of the tool `execute`, with outputs of any length.
                     Text that nodes print always goes to stderr.
  -h, --help         Show this message and exit.

Exit codes:
  0    success
  2    the workflow, its inputs or these arguments are not valid
  3    the workflow or the file does not exist
  4    refused, or a person has to decide first
  5    a node failed
  130  interrupted; run the workflow again to resume

Examples:
  pflow run greet who=Ada
  pflow run ./report.json data=@data.csv --json
  git log -5 | pflow run summarise
"""
_FLAGS: Final = {
    "--dry-run": "dry_run",
    "--fresh": "fresh",
    "--quiet": "quiet",
    "-q": "quiet",
    "--json": "json",
    "--help": "help",
    "-h": "help",
}
_VALUE_OPTIONS: Final = {"--only": "only", "--cluster": "cluster"}
_METAVARS: Final = {"--only": "NODE", "--cluster": "ADDRESS"}
_INPUT: Final = re.compile(r"([^\W\d][\w.-]*)=(.*)", re.DOTALL)
_LONGEST_QUOTED: Final = 60
_SEE_HELP: Final = "See `pflow run --help`."


class InvalidRunArguments(PflowError, UsageError):
    """A usage error whose body has the `type` that every error of pflow has."""

    type = "validation_error"


@dataclass
class RunArguments:
    """The arguments of `pflow run`. `inputs` are unparsed texts."""

    workflow: str = ""
    inputs: dict[str, str] = field(default_factory=dict[str, str])
    only: str | None = None
    cluster: str | None = None
    dry_run: bool = False
    fresh: bool = False
    quiet: bool = False
    json: bool = False
    help: bool = False


def parse_run_arguments(arguments: Sequence[str]) -> RunArguments:
    """Return the parsed arguments. Raise InvalidRunArguments."""
    parsed = RunArguments()
    rest = list(arguments)
    takes_options = True
    while rest:
        given = rest.pop(0)
        if takes_options and given == "--":
            takes_options = False
        elif takes_options and given.startswith("-") and given != "-":
            _apply_option(parsed, given, rest)
        else:
            _apply_positional(parsed, given)
    if not parsed.workflow and not parsed.help:
        raise InvalidRunArguments(
            "Missing argument 'NAME|FILE'.", hint=f"`pflow list` lists the workflows. {_SEE_HELP}"
        )
    return parsed


def _apply_option(parsed: RunArguments, argument: str, remaining_arguments: list[str]) -> None:
    name, has_value, value = argument.partition("=")
    if name in _FLAGS:
        if has_value:
            raise InvalidRunArguments(f"Option '{name}' does not take a value.", hint=_SEE_HELP)
        setattr(parsed, _FLAGS[name], True)
    elif name in _VALUE_OPTIONS:
        if not has_value:
            if not remaining_arguments or remaining_arguments[0].startswith("-"):
                raise InvalidRunArguments(
                    f"Option '{name}' requires an argument.", hint=f"Write {name} {_METAVARS[name]}."
                )
            value = remaining_arguments.pop(0)
        if not value:
            raise InvalidRunArguments(f"Option '{name}' requires an argument.", hint=f"Write {name} {_METAVARS[name]}.")
        setattr(parsed, _VALUE_OPTIONS[name], value)
    else:
        raise InvalidRunArguments(f"No such option: {name[:_LONGEST_QUOTED]}.", hint=_suggest_option(name))


def _apply_positional(parsed: RunArguments, argument: str) -> None:
    as_input = _INPUT.fullmatch(argument)
    if as_input:
        key, value = as_input.groups()
        if key in parsed.inputs:
            raise InvalidRunArguments(f"The input '{key[:_LONGEST_QUOTED]}' is given twice.", hint="Give it once.")
        parsed.inputs[key] = value
    elif not parsed.workflow and argument:
        parsed.workflow = argument
    else:
        quoted = argument[:_LONGEST_QUOTED]
        raise InvalidRunArguments(
            f"'{quoted}' is not an input: '=' is missing after the name.", hint="Write inputs as KEY=VALUE."
        )


def _suggest_option(name: str) -> str:
    near = find_nearest_name(name, [*_FLAGS, *_VALUE_OPTIONS])
    return f"Did you mean {near}?" if near else _SEE_HELP
