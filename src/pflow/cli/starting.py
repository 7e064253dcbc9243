"""`pflow` itself, and `pflow run` for the help: whoever runs it does not come here, for it must start fast."""

from typing import Annotated

import typer

from pflow.cli.shared import app


@app.callback()
def pflow(
    version: Annotated[bool, typer.Option("--version", "-V", help="Print the version and exit.")] = False,
) -> None:
    if version:
        from pflow.cli.version import print_version

        print_version(as_json=False)
        raise typer.Exit


@app.command(add_help_option=False, context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
def run(context: typer.Context) -> None:
    """Run a workflow, or go on with one that failed."""
    from pflow.cli.running import main

    main(context.args)
