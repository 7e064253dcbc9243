"""A typer app that gives all command lines the same names of options, and the same help as plain text."""

import inspect
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from typer.core import TyperCommand, TyperGroup

from uraniborg.kernel.boundary import make_all_encodable
from uraniborg.kernel.errors import EXIT_CODES, InvalidInput
from uraniborg.kernel.terminal.output_streams import get_terminal_columns
from uraniborg.kernel.terminal.styled_text import wrap_text

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
        formatter.write(render_help(self, ctx))


class _Group(TyperGroup):
    """A group of commands whose help is plain text; without a command it prints the help and exits with 2."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
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


EARLIER_NAMES: Final = frozenset({"--max-results", "--svg"})
"""Names that options had in earlier versions. They are accepted, but are not in the help."""
_MAX_WIDTH: Final = 80
_MIN_WIDTH: Final = 40
_MAX_LEFT: Final = 26
"""The longest name that has its text beside it; the text of a longer name is on the next line."""
_INDENT: Final = "  "
_EXAMPLES: Final = re.compile(r"Examples?:\s*")
_SENTENCE_END: Final = re.compile(r"(?<=[.!?]) ")
_PROGRAM_OPTIONS: Final = (
    ("-V, --version", "Print the version and exit."),
    ("--install-completion", "Complete this program with Tab in your shell."),
)

Row = tuple[str, str]


def render_help(command: Any, context: Any) -> str:
    """Return the help of a typer command, at most 80 columns wide."""
    width = max(_MIN_WIDTH, min(_MAX_WIDTH, get_terminal_columns(sys.stdout) or _MAX_WIDTH))
    description, examples = _split_examples(command.help or "")
    params = [param for param in command.get_params(context) if not getattr(param, "hidden", False)]
    arguments = [param for param in params if param.param_type_name == "argument"]
    options = [_make_option_row(param, context) for param in params if param.param_type_name == "option"]
    if context.parent is None:
        options[-1:-1] = _PROGRAM_OPTIONS if hasattr(command, "commands") else _PROGRAM_OPTIONS[:1]
    sections = [
        _wrap(f"{context.command_path} {_format_usage(command, arguments)}", width, indent="Usage: ", hanging=" " * 9),
        *(_wrap(paragraph, width, indent=_INDENT, hanging=_INDENT) for paragraph in description),
        _format_rows("Arguments", [_make_argument_row(param, context) for param in arguments], width),
        *(_format_rows(title, rows, width) for title, rows in _list_commands(command).items()),
        _format_rows("Options", options, width),
        _format_exit_codes(width) if context.parent is None and hasattr(command, "commands") else "",
        "\n".join(["Examples:", *(_INDENT + example for example in examples)]) if examples else "",
    ]
    return "\n\n".join(section for section in sections if section) + "\n"


def _split_examples(text: str) -> tuple[list[str], list[str]]:
    """Return the paragraphs of a docstring, and the commands of its examples."""
    paragraphs: list[str] = []
    examples: list[str] = []
    for block in re.split(r"\n\s*\n", inspect.cleandoc(text)):
        if heading := _EXAMPLES.match(block):
            lines = block[heading.end() :].splitlines()
            examples += [line.strip().removeprefix("- ").strip("`") for line in lines]
        elif block.strip():
            paragraphs.append(" ".join(block.split()))
    return paragraphs, examples


def _format_usage(command: Any, arguments: Sequence[Any]) -> str:
    names = [_get_argument_name(param) for param in arguments]
    pieces = [name if param.required else f"[{name}]" for name, param in zip(names, arguments, strict=True)]
    pieces = [piece + ("..." if param.nargs == -1 else "") for piece, param in zip(pieces, arguments, strict=True)]
    return " ".join(["[OPTIONS]", *pieces, *(["COMMAND ..."] if hasattr(command, "commands") else [])])


def _get_argument_name(param: Any) -> str:
    return param.metavar or param.name.upper()


def _make_argument_row(param: Any, context: Any) -> Row:
    return _get_argument_name(param), _describe_param(param, context)


def _make_option_row(param: Any, context: Any) -> Row:
    names = [name for name in (*param.opts, *param.secondary_opts) if name not in EARLIER_NAMES]
    listed = ", ".join(sorted(names, key=lambda name: name.startswith("--")))
    metavar = "" if param.is_flag else f" {param.metavar or param.name.upper()}"
    return listed + metavar, _describe_param(param, context)


def _describe_param(param: Any, context: Any) -> str:
    """Return the help of an argument or option, with its default value as the last sentence."""
    shown = param.show_default
    default = shown if isinstance(shown, str) else param.get_default(context, call=False) if shown else None
    is_option = param.param_type_name == "option"
    is_listed = default not in (None, False, "") and not (is_option and param.is_flag)
    end = f" Default: {default}." if is_listed else " Required." if is_option and param.required else ""
    return (param.help or "") + end


def _list_commands(command: Any) -> dict[str, list[Row]]:
    """Return the name and the first sentence of each command, by the title of its section."""
    sections: dict[str, list[Row]] = {}
    for name, one in getattr(command, "commands", {}).items():
        if not one.hidden:
            description, _ = _split_examples(one.help or "")
            summary = _SENTENCE_END.split(description[0], maxsplit=1)[0] if description else ""
            sections.setdefault(one.rich_help_panel or "Commands", []).append((name, summary))
    return sections


def _format_exit_codes(width: int) -> str:
    listed = ", ".join(f"{code} {meaning}" for code, meaning in EXIT_CODES.items() if code != 1)
    return "Exit codes:\n" + _wrap(listed, width, indent=_INDENT, hanging=_INDENT)


def _format_rows(title: str, rows: Iterable[Row], width: int) -> str:
    """Return rows of a name and a text in two columns below a title, or "" if there are none."""
    rows = list(rows)
    if not rows:
        return ""
    column = min(_MAX_LEFT, max(len(name) for name, _ in rows)) + 2 * len(_INDENT)
    lines = [f"{title}:"]
    for name, text in rows:
        start = f"{_INDENT}{name}"
        if len(start) > column - len(_INDENT):
            lines.append(start)
            start = ""
        lines.append(_wrap(text, width, indent=f"{start:<{column}}", hanging=" " * column))
    return "\n".join(lines)


def _wrap(text: str, width: int, *, indent: str, hanging: str) -> str:
    return "\n".join(wrap_text(text, width, indent=indent, hanging=hanging))
