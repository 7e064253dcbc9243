"""The front door: the `uraniborg` command."""

import sys
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer

from uraniborg.kernel.commands import run_app

app = typer.Typer(
    help="A research station you share with your agent.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)


@app.callback()
def house() -> None:
    """A research station you share with your agent."""


@app.command()
def demo(
    output: Annotated[Path, typer.Option(help="Where the exported files go.")] = Path("demo-output"),
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON and nothing else.")] = False,
) -> None:
    """Replay a paper search through both checkpoints: no network, no key."""
    from uraniborg.demo import run_demo  # a command pays only for what it uses

    run_demo(output, as_json=json)


@app.command("version")
def show_version(
    json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Print the version."""
    number = version("uraniborg")
    sys.stdout.write(f'{{"version": "{number}"}}\n' if json else f"uraniborg {number}\n")


def main() -> None:
    run_app(app, sys.argv[1:], name="uraniborg")
