"""The arguments and options that the search commands share."""

from pathlib import Path
from typing import Annotated

import typer

_QUERY = typer.Argument(metavar="WORDS…", help="What to look for, in your own words.")
Query = Annotated[list[str], _QUERY]
OptionalQuery = Annotated[list[str] | None, _QUERY]
Source = Annotated[
    list[str] | None, typer.Option("--source", help="Search only this source; may be given several times.")
]
MaxResults = Annotated[
    int | None, typer.Option(help="The maximum number of papers to return.", show_default="100, or the setting")
]
Domain = Annotated[
    str | None, typer.Option(help="general or materials_science.", show_default="general, or the setting")
]
Record = Annotated[Path | None, typer.Option(metavar="DIR", help="Store every answer in this folder.")]
Replay = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Use the answers stored in this folder, and no network.")
]
Offline = Annotated[bool, typer.Option("--offline", help="A trial: filter the shipped recording. No network, no key.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress on stderr.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else on stdout.")]
Format = Annotated[
    str,
    typer.Option(
        "--format", "-f", help="One of: markdown, bibtex, json, ris, csl-json, prisma, prisma-json, prisma-svg."
    ),
]
Output = Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write to a file, not to stdout.")]
Session = Annotated[str, typer.Argument(metavar="SESSION", help="A session id, or the beginning of one.")]
Reviewer = Annotated[str | None, typer.Option(help="Your name, stored with each mark.", show_default="terminal")]
