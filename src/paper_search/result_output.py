"""Write the result of a search on the command line: in its format, to a file or to stdout."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.terminal.page import Page
from uraniborg.kernel.terminal.streams import print_json, write_text

if TYPE_CHECKING:
    from paper_search.models import PaperCollection

Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        "-f",
        metavar="NAME",
        help="markdown, bibtex, json, ris, csl-json, prisma, prisma-json or prisma-svg.",
        show_default="markdown",
    ),
]
JsonOrReport = Annotated[
    bool, typer.Option("--json", help="The same as --format json; with --output, also print a JSON report.")
]


def choose_format(format_name: str | None, output: Path | None, *, as_json: bool) -> str:
    """Return the format to write. Raise InvalidInput for an unknown format, or one that --json contradicts.

    Raise OutputUnwritable if the file cannot be written.
    """
    from paper_search.export import check_format
    from uraniborg.kernel.files import check_output

    check_output(output)
    if format_name is None:
        return "json" if as_json else "markdown"
    check_format(format_name)
    if as_json and output is None and "json" not in format_name:
        raise InvalidInput(f"--json prints JSON, but --format {format_name} does not.", hint="Leave one of them out.")
    return format_name


def write_result(result: "PaperCollection", format_name: str, output: Path | None, *, as_json: bool) -> None:
    """Write the result to stdout, or to the file and a report of it to stderr, or to stdout as JSON."""
    from paper_search.export import export  # formats load their libraries late
    from uraniborg.kernel.files import write_output

    text = export(result, format_name)
    text = text if not text or text.endswith("\n") else f"{text}\n"
    if output is None:
        write_text(sys.stdout, text)
        return
    write_output(output, text)
    if as_json:
        print_json({"path": str(output), "format": format_name})
    else:
        Page(sys.stderr).write_message(f"Wrote {output}.")
