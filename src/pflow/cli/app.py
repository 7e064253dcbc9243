"""What all `pflow` commands share: the typer application, options, and the service."""

import sys
from typing import Annotated

import typer

from pflow.service.operations import Service
from uraniborg.kernel.terminal.typer_app import CommandLine, NameOrPath

app = CommandLine(
    """Workflows as small JSON files: written by you or your agent, checked, run, resumed and saved.

    Examples:
    - `pflow examples hello --as greet`
    - `pflow run greet who=Ada`
    - `pflow show`
    """
)
Workflow = Annotated[
    str,
    typer.Argument(
        metavar="NAME|FILE",
        parser=NameOrPath,
        help="A saved workflow or a draft; or a path with a slash or ending in .json.",
    ),
]


def open_service_with_usable_home(name_or_path: str | None = None) -> Service:
    """Return the service. Check the pflow home unless `name_or_path` is the path of a file, which does not need it.

    Raise InvalidConfig, or Unavailable if the pflow home cannot be used.
    """
    from pflow.cli.workflow_sources import is_file_path, require_usable_home
    from pflow.config import load_settings

    found = Service(load_settings())
    if name_or_path is None or not is_file_path(name_or_path):
        require_usable_home(found.home)
    return found


@app.command("run", add_help_option=False, context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
def run_workflow(
    only: Annotated[str | None, typer.Option("--only")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run")] = False,
    fresh: Annotated[bool, typer.Option("--fresh")] = False,
    cluster: Annotated[str | None, typer.Option("--cluster")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q")] = False,
    json: Annotated[bool, typer.Option("--json")] = False,
    wants_help: Annotated[bool, typer.Option("--help", "-h")] = False,
) -> None:
    """Run a workflow, or resume one that failed."""
    from pflow.cli.run_command import main

    # The options above are declared for completion; `run` reads its arguments by itself, which is faster.
    main(sys.argv[sys.argv.index("run") + 1 :])
