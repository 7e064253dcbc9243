"""The `uraniborg` command."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from uraniborg.kernel.cli import run_typer_app
from uraniborg.kernel.version import version

app = typer.Typer(
    help="A research station you share with your agent.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)


@app.callback(help="A research station you share with your agent.")
def take_no_options() -> None:
    """Make the program a group of commands."""


@app.command()
def demo(
    output: Annotated[Path, typer.Option(help="Where the exported files go.")] = Path("demo-output"),
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON and nothing else.")] = False,
) -> None:
    """Replay a paper search through both checkpoints: no network, no key."""
    from uraniborg.demo import run_demo  # a command pays only for what it uses

    run_demo(output, as_json=json)


@app.command()
def inbox(
    decision_id: Annotated[
        str | None,
        typer.Argument(metavar="[ID]", help="Show this question in full: an id as listed, or its beginning."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """List the questions that wait for your decision."""
    from uraniborg.decisions import show_entry, show_inbox

    if decision_id is None:
        show_inbox(as_json=json)
    else:
        show_entry(decision_id, as_json=json)


@app.command()
def decide(
    decision_id: Annotated[str, typer.Argument(metavar="ID", help="The id, as `uraniborg inbox` lists it.")],
    action: Annotated[str, typer.Argument(help="approve, edit or reject.")],
    data: Annotated[
        Path | None, typer.Option(help="A JSON file with the data of an edit or reject; - for stdin.")
    ] = None,
    note: Annotated[str | None, typer.Option(help="A note in your own words; it guides the next round.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the decision as JSON.")] = False,
) -> None:
    """Decide a question of any process."""
    from uraniborg.decisions import take_decision

    take_decision(decision_id, action, data, note, as_json=json)


@app.command("version")
def show_version(
    json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Print the version."""
    number = version()
    sys.stdout.write(f'{{"version": "{number}"}}\n' if json else f"uraniborg {number}\n")


def main() -> None:
    run_typer_app(app, sys.argv[1:], name="uraniborg")
