"""A typer app that gives all command lines the same help and the same names of options."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from typer.core import TyperCommand, TyperGroup

from uraniborg.kernel.boundary import make_all_encodable
from uraniborg.kernel.errors import InvalidInput

HELP_OPTIONS: Final = {"help_option_names": ["-h", "--help"]}

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else on stdout.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print no progress on stderr.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]
OutputFile = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write to this file. Default: stdout.")
]
Limit = Annotated[int, typer.Option("--limit", "-n", metavar="N", min=1, max=100_000, help="List at most this many.")]
Host = Annotated[
    str | None, typer.Option("--host", metavar="HOST", help="The address to listen on. Default: 127.0.0.1.")
]
Token = Annotated[
    str | None,
    typer.Option(
        "--token",
        metavar="TOKEN",
        help="The token that clients must send. Prefer the setting: other users can see arguments.",
    ),
]
AllowedOrigins = Annotated[
    list[str] | None,
    typer.Option("--allow-origin", metavar="ORIGIN", help="A web origin that may send requests; repeatable."),
]
AllowedHosts = Annotated[
    list[str] | None,
    typer.Option("--allow-host", metavar="HOST", help="A further host name of the server; repeatable."),
]


class NameOrPath(str):
    """The `parser` of an argument that can be a path, which keeps the bytes of its name."""


class _Command(TyperCommand):
    """A command whose help is plain text, and whose texts can be encoded; a path keeps the bytes of its name."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        for name, value in ctx.params.items():
            if not isinstance(value, NameOrPath):
                ctx.params[name] = make_all_encodable(value)
        return super().invoke(ctx)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        from uraniborg.kernel.terminal.help_text import render_help

        formatter.write(render_help(self, ctx))


class _Group(TyperGroup):
    """A group of commands whose help is plain text; without a command it prints the help and exits with 2."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        from uraniborg.kernel.terminal.help_text import render_help

        formatter.write(render_help(self, ctx))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the options before the name of a command."""
        if not args and not ctx.resilient_parsing:
            sys.stdout.write(ctx.get_help() + "\n")
            ctx.exit(InvalidInput.exit_code)
        return super().parse_args(ctx, args)


class CommandLine(typer.Typer):
    """A typer app in the dialect of Uraniborg. `run_typer_app` runs it."""

    def __init__(self, help_text: str | None = None) -> None:
        super().__init__(
            help=help_text,
            cls=_Group,
            add_completion=False,
            rich_markup_mode=None,
            pretty_exceptions_enable=False,
            context_settings=HELP_OPTIONS,
        )

    def command(  # pyright: ignore[reportIncompatibleMethodOverride] - all other arguments are passed on
        self, name: str | None = None, **settings: Any
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        return super().command(name, cls=_Command, **settings)
