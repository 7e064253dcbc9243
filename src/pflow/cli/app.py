"""The typer application, and the options and the service that all commands share."""

from typing import Annotated, Any, Final

import typer

from pflow.service import Service

HELP_OPTIONS: Final[dict[str, Any]] = {"help_option_names": ["-h", "--help"]}
app = typer.Typer(
    help="Workflows as small JSON files: written by you or your agent, checked, run, resumed and saved.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings=HELP_OPTIONS,
)
Json = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else on stdout.")]
Workflow = Annotated[
    str,
    typer.Argument(metavar="NAME|FILE", help="A saved workflow or a draft; or a path with a slash or ending in .json."),
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


@app.callback()
def handle_global_options(
    version: Annotated[bool, typer.Option("--version", "-V", help="Print the version and exit.")] = False,
) -> None:
    if version:
        from pflow.cli.version import print_version

        print_version(as_json=False)
        raise typer.Exit


@app.command(
    name="run", add_help_option=False, context_settings={"ignore_unknown_options": True, "allow_extra_args": True}
)
def run_workflow(context: typer.Context) -> None:
    """Run a workflow, or resume one that failed."""
    from pflow.cli.run_command import main

    main(context.args)
