"""`paper-library`: build, search, show, export, verify, compare and serve shelves."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.terminal.command_runner import run_typer_app
from uraniborg.kernel.terminal.output_streams import print_json, write_text
from uraniborg.kernel.terminal.typer_app import (
    AllowedHosts,
    AllowedOrigins,
    CommandLine,
    Host,
    JsonOption,
    OutputFile,
    Quiet,
    Token,
)

app = CommandLine(
    """Build a shelf of papers from your files, search it, and serve it to people and agents.

    Examples:
    - `paper-library build refs.bib papers/ -o shelf`
    - `paper-library search shelf exoplanet atmospheres`
    - `paper-library serve shelf`
    """
)
ShelfArgument = Annotated[Path, typer.Argument(metavar="SHELF", help="The folder of the shelf.")]


@app.command()
def build(
    inputs: Annotated[
        list[Path], typer.Argument(metavar="INPUT", help=".bib, .ris, .json, .jsonl, .md, .xml, .pdf, or folders.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="SHELF", help="The folder of the new shelf.")],
    summaries: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Summaries to add: FOLDER/TEMPLATE/NAME.json.")
    ] = None,
    update: Annotated[
        Path | None,
        typer.Option(metavar="SHELF", help="Add the papers of this shelf; entries of the inputs replace its entries."),
    ] = None,
    prune: Annotated[
        bool, typer.Option("--prune", help="With --update: remove papers that none of the inputs has.")
    ] = False,
    json: JsonOption = False,
    quiet: Quiet = False,
) -> int | None:
    """Build a shelf from files and folders. Entries of the same paper are merged.

    Examples:
    - `paper-library build refs.bib papers/ -o shelf`
    """
    from paper_library.cli.terminal_output import BuildProgress, print_build_report
    from paper_library.service.build.builder import build_shelf
    from paper_library.service.shelf_catalog import remember_shelf
    from uraniborg.kernel.actors import get_terminal_actor

    actor = get_terminal_actor()
    remember_shelf(output, actor)  # before the build announces it
    with BuildProgress(is_quiet=quiet, as_json=json) as progress:
        report = build_shelf(
            inputs, output, summaries=summaries, update=update, prune=prune, progress=progress.report_phase, actor=actor
        )
    if json:
        _print_json(report.as_dict())
    else:
        print_build_report(report)
    return None


@app.command(context_settings={"ignore_unknown_options": True})  # -word is for the query
def search(
    shelf: ShelfArgument,
    query: Annotated[
        list[str], typer.Argument(metavar="QUERY", help='Words, "a phrase", -word, author:NAME, year:2019..2023, …')
    ],
    limit: Annotated[int, typer.Option("--limit", "-n", metavar="N", help="List at most this many.")] = 10,
    offset: Annotated[int, typer.Option(metavar="N", help="Skip this many papers.")] = 0,
    sort: Annotated[
        str, typer.Option(metavar="NAME", help="relevance, year_desc, year_asc, title_asc or title_desc.")
    ] = "relevance",
    json: JsonOption = False,
) -> None:
    """Search a shelf.

    Examples:
    - `paper-library search shelf exoplanet atmospheres year:2019..`
    """
    from paper_library.cli.terminal_output import print_results
    from paper_library.service.library import Library

    found = Library.open(shelf).search(" ".join(query), limit=limit, offset=offset, sort=sort)
    _print_json(found) if json else print_results(found)


@app.command()
def show(
    shelf: ShelfArgument,
    paper: Annotated[
        str,
        typer.Argument(
            metavar="PAPER", help="A DOI, arXiv id or PMID; a paper id or BibTeX key, or its first characters."
        ),
    ],
    source: Annotated[bool, typer.Option("--source", help="Print the text of the paper.")] = False,
    summary: Annotated[str | None, typer.Option(metavar="TEMPLATE", help="Print the summary of this template.")] = None,
    bibtex: Annotated[bool, typer.Option("--bibtex", help="Print the BibTeX entry.")] = False,
    json: JsonOption = False,
) -> None:
    """Show one paper of a shelf.

    Examples:
    - `paper-library show shelf 10.1038/nature21360 --bibtex`
    """
    from paper_library.cli.terminal_output import print_paper
    from paper_library.service.library import Library

    library = Library.open(shelf)
    wanted = [name for name, value in (("--source", source), ("--summary", summary), ("--bibtex", bibtex)) if value]
    if len(wanted) > 1:
        raise InvalidInput(f"{' and '.join(wanted)} cannot be combined.", hint="Use one of these options.")
    paper = library.find_paper_id_by_prefix(paper)
    if source:
        text = library.source(paper)
        _print_json({"source": text}) if json else _print_text(text)
    elif summary:
        _print_text(library.summary(paper, summary))
    elif bibtex:
        text = library.bibtex(paper)
        _print_json({"bibtex": text}) if json else _print_text(text)
    else:
        metadata = library.metadata(paper)
        _print_json(metadata) if json else print_paper(metadata)


@app.command()
def export(
    shelf: ShelfArgument,
    query: Annotated[
        list[str] | None,
        typer.Argument(metavar="QUERY", help="Export the papers that match. Default: all. Put -- before -word."),
    ] = None,
    format_name: Annotated[
        str | None,
        typer.Option("--format", "-f", metavar="NAME", help="bibtex, ris, csl-json or json.", show_default="bibtex"),
    ] = None,
    output: OutputFile = None,
    json: Annotated[
        bool, typer.Option("--json", help="The same as --format json; with --output, print a JSON report.")
    ] = False,
) -> None:
    """Export papers as BibTeX, RIS, CSL-JSON or JSON, in shelf order.

    A shelf built from the BibTeX or JSON export has the same papers, ids and BibTeX keys.

    Examples:
    - `paper-library export shelf -o refs.bib`
    """
    from paper_library.service.library import Library
    from uraniborg.kernel.store.files import check_output, write_output

    if json and output is None and format_name not in (None, "json"):
        raise InvalidInput(f"--json and --format {format_name} cannot be combined.", hint="Use one of these options.")
    check_output(output)
    wanted = format_name or ("json" if json and output is None else "bibtex")
    pieces = Library.open(shelf).export(" ".join(query or []), wanted)
    if output is None:
        sys.stdout.writelines(pieces)
        return
    write_output(output, pieces)
    _print_json({"path": str(output), "format": wanted, "file": str(output)}) if json else _print_text(
        f"Wrote {output}."
    )


@app.command()
def stats(shelf: ShelfArgument, json: JsonOption = False) -> None:
    """Show the number of papers, texts and summaries of a shelf, and its missing fields.

    Examples:
    - `paper-library stats shelf`
    """
    from paper_library.cli.terminal_output import print_stats
    from paper_library.service.library import Library

    counts = Library.open(shelf).stats()
    _print_json(counts) if json else print_stats(counts)


@app.command()
def verify(shelf: ShelfArgument, json: JsonOption = False, quiet: Quiet = False) -> int | None:
    """Verify every file of a shelf. Exit with 4 if a file is damaged or missing.

    Examples:
    - `paper-library verify shelf`
    """
    from paper_library.cli.terminal_output import BuildProgress, print_verdict
    from paper_library.errors import ShelfDamaged
    from paper_library.store.verification import verify_shelf

    with BuildProgress(is_quiet=quiet, as_json=json) as progress:
        verdict = verify_shelf(shelf, lambda done: progress.report_phase("verify", done, 0))
    _print_json(verdict.as_dict()) if json else print_verdict(verdict)
    return None if verdict.is_intact else ShelfDamaged.exit_code


@app.command()
def diff(
    old: Annotated[Path, typer.Argument(metavar="OLD", help="The old shelf.")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="The new shelf.")],
    json: JsonOption = False,
) -> None:
    """Compare two shelves: added, removed and changed papers.

    Examples:
    - `paper-library diff old-shelf new-shelf`
    """
    from paper_library.cli.terminal_output import print_difference
    from paper_library.store.verification import compare_shelves

    difference = compare_shelves(old, new)
    _print_json(difference.as_dict()) if json else print_difference(difference)


@app.command()
def sample(
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="SHELF", help="The folder of the sample shelf. Default: in the data folder."
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Build the sample shelf if it does not exist, and print its folder.

    Examples:
    - `paper-library sample -o shelf`
    """
    from paper_library.service.shelf_catalog import sample_shelf
    from uraniborg.kernel.actors import get_terminal_actor

    path = sample_shelf(output, get_terminal_actor())
    _print_json({"shelf": str(path)}) if json else _print_text(str(path))


@app.command()
def serve(
    shelf: Annotated[
        Path | None, typer.Argument(metavar="SHELF", help="The folder of the shelf. Default: the sample shelf.")
    ] = None,
    host: Host = None,
    port: Annotated[
        int | None, typer.Option(metavar="N", help="The port; 0 chooses a free one. Default: 8421.")
    ] = None,
    allow_origin: AllowedOrigins = None,
    allow_host: AllowedHosts = None,
    static_base_url: Annotated[
        str | None, typer.Option(metavar="URL", help="The server of assets that are not in the shelf folder.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(metavar="N", help="The number of server processes. Default: 1.")
    ] = None,
    token: Token = None,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Allow access from other machines without a token.")
    ] = False,
    extra_tools: Annotated[
        bool | None,
        typer.Option(
            "--extra-tools/--no-extra-tools",
            help="Offer read_paper_section and export_citations to agents. Default: yes.",
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Serve a shelf: MCP at /mcp, REST at /api/v1, pages at /.

    Examples:
    - `paper-library serve shelf --port 8421`
    """
    from paper_library.cli.serve_command import serve_shelf

    options: dict[str, object] = {
        "shelf": shelf,
        "host": host,
        "port": port,
        "allow_origins": allow_origin,
        "allow_hosts": allow_host,
        "static_base_url": static_base_url,
        "workers": workers,
        "token": token,
        "insecure": insecure or None,
        "extra_tools": extra_tools,
    }
    serve_shelf({name: value for name, value in options.items() if value is not None}, as_json=json)


def run_command(arguments: Sequence[str]) -> NoReturn:
    """Run the command with these arguments and exit."""
    run_typer_app(app, arguments, name="paper-library")


def _print_text(text: str) -> None:
    write_text(sys.stdout, text if text.endswith("\n") else f"{text}\n")


def _print_json(value: Any) -> None:
    print_json(value, indented=True)
