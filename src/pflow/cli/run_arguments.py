"""The arguments of `pflow run`, read by hand: a run starts sooner without a library for it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from pflow.errors import PflowError
from uraniborg.kernel.errors import InvalidInput

HELP: Final = """\
Usage: pflow run [OPTIONS] NAME|FILE [KEY=VALUE]...

  Run a workflow. One that failed before is resumed: nodes whose type,
  parameters and values are unchanged are not run again.

Arguments:
  NAME|FILE          A workflow of the library or a draft; or a file: a path
                     with a slash, or one ending in .json.
  KEY=VALUE          An input. It is read as the type that the workflow
                     declares; where it declares none, true, 3, 2.5, {"a": 1}
                     and [1, 2] are what they look like, and all else is text.
  KEY=@FILE          An input whose value is the text of a file. KEY=@@text is
                     the text "@text".
  KEY=-              An input whose value is read from stdin. What is piped in
                     goes by itself to the input that says "stdin": true.

Options:
  --only NODE        Run this node alone, with what it needs.
  --dry-run          Tell what would be run and with which parameters; run
                     nothing.
  --fresh            Discard the results of earlier runs, and start over.
  --cluster ADDRESS  Run nodes on the Dask cluster of this scheduler.
  -q, --quiet        No progress on stderr.
  --json             Print one JSON object on stdout and nothing else: what the
                     tool `execute` answers, with outputs of any length. What
                     nodes themselves print goes to stderr, with or without it.
  -h, --help         Show this message and exit.

Exit codes:
  0    it ran well
  2    the workflow, its inputs or these arguments are not valid
  3    there is no such workflow or file
  4    refused, or a person has to decide first
  5    a node failed
  130  interrupted; running it again goes on from there

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
_VALUED: Final = {"--only": "only", "--cluster": "cluster"}
_METAVARS: Final = {"--only": "NODE", "--cluster": "ADDRESS"}
_INPUT: Final = re.compile(r"([^\W\d][\w.-]*)=(.*)", re.DOTALL)
_LONGEST: Final = 60
_SEE: Final = "See `pflow run --help`."


class UsageError(PflowError, InvalidInput):
    code = "usage"
    type = "validation_error"


@dataclass
class RunArguments:
    """What was asked for. `inputs` are as they were typed."""

    workflow: str = ""
    inputs: dict[str, str] = field(default_factory=dict[str, str])
    only: str | None = None
    cluster: str | None = None
    dry_run: bool = False
    fresh: bool = False
    quiet: bool = False
    json: bool = False
    help: bool = False


def parsed(arguments: Sequence[str]) -> RunArguments:
    """Raises UsageError."""
    asked = RunArguments()
    rest = list(arguments)
    takes_options = True
    while rest:
        given = rest.pop(0)
        if takes_options and given == "--":
            takes_options = False
        elif takes_options and given.startswith("-") and given != "-":
            _option(asked, given, rest)
        else:
            _positional(asked, given)
    if not asked.workflow and not asked.help:
        raise UsageError("Missing argument 'NAME|FILE'.", hint=f"`pflow list` lists what there is. {_SEE}")
    return asked


def _option(asked: RunArguments, given: str, rest: list[str]) -> None:
    name, has_value, value = given.partition("=")
    if name in _FLAGS:
        if has_value:
            raise UsageError(f"Option '{name}' does not take a value.", hint=_SEE)
        setattr(asked, _FLAGS[name], True)
    elif name in _VALUED:
        if not has_value:
            if not rest or rest[0].startswith("-"):
                raise UsageError(f"Option '{name}' requires an argument.", hint=f"Write {name} {_METAVARS[name]}.")
            value = rest.pop(0)
        if not value:
            raise UsageError(f"Option '{name}' requires an argument.", hint=f"Write {name} {_METAVARS[name]}.")
        setattr(asked, _VALUED[name], value)
    else:
        raise UsageError(f"No such option: {name[:_LONGEST]}.", hint=_meant(name))


def _positional(asked: RunArguments, given: str) -> None:
    as_input = _INPUT.fullmatch(given)
    if as_input:
        key, value = as_input.groups()
        if key in asked.inputs:
            raise UsageError(f"The input '{key[:_LONGEST]}' is given twice.", hint="Give it once.")
        asked.inputs[key] = value
    elif not asked.workflow and given:
        asked.workflow = given
    else:
        shown = given[:_LONGEST]
        raise UsageError(f"'{shown}' is no input: there is no '=' after a name.", hint="Write inputs as KEY=VALUE.")


def _meant(name: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, [*_FLAGS, *_VALUED], n=1)
    return f"Did you mean {near[0]}?" if near else _SEE
