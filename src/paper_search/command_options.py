"""Arguments and options that the search commands share."""

from pathlib import Path
from typing import Annotated

import typer

_QUERY = typer.Argument(metavar="WORDS", help="What to look for, in your own words; - reads a query from stdin.")
Query = Annotated[list[str], _QUERY]
OptionalQuery = Annotated[list[str] | None, _QUERY]
Source = Annotated[
    list[str] | None, typer.Option("--source", metavar="NAME", help="Search only this source; repeatable.")
]
MaxResults = Annotated[
    int | None,
    typer.Option(
        "--limit",
        "-n",
        "--max-results",
        metavar="N",
        help="Return at most this many papers.",
        show_default="100, or the setting",
    ),
]
Domain = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="general or materials_science.", show_default="general, or the setting"),
]
Record = Annotated[Path | None, typer.Option(metavar="FOLDER", help="Store every answer in this folder.")]
Replay = Annotated[
    Path | None, typer.Option(metavar="FOLDER", help="Use the answers stored in this folder, and no network.")
]
Offline = Annotated[bool, typer.Option("--offline", help="A trial: filter the shipped recording. No network, no key.")]
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
Session = Annotated[str, typer.Argument(metavar="SESSION", help="A session id, or its first characters.")]
Reviewer = Annotated[
    str | None, typer.Option(metavar="NAME", help="Your name, stored with each mark.", show_default="terminal")
]
