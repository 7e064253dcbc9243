"""The command line: build a shelf, look at it, check it, serve it."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from uraniborg.kernel.cli import run_typer_app
from uraniborg.kernel.errors import InvalidInput

app = typer.Typer(
    help="A shelf of papers: built from what you have, searched, and served to people and agents.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)

Json = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else on stdout.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress on stderr.")]
ShelfArgument = Annotated[Path, typer.Argument(metavar="SHELF", help="The shelf's folder.")]


@app.command()
def build(
    inputs: Annotated[
        list[Path], typer.Argument(metavar="INPUT…", help=".bib, .ris, .json, .jsonl, .md, .xml, .pdf, or folders.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="SHELF", help="The folder to make.")],
    summaries: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Summaries to add: DIR/TEMPLATE/NAME.json.")
    ] = None,
    update: Annotated[
        Path | None,
        typer.Option(metavar="OLD", help="A shelf whose papers go in too; what the inputs say now replaces the old."),
    ] = None,
    prune: Annotated[
        bool, typer.Option("--prune", help="With --update: leave out papers that none of the inputs has any more.")
    ] = False,
    json: Json = False,
    quiet: Quiet = False,
) -> int | None:
    """Make a shelf of everything in the inputs. What belongs together becomes one paper."""
    from paper_library.build.builder import build_shelf
    from paper_library.terminal_output import progress_bar, tell_build

    with progress_bar(quiet=quiet) as progress:
        report = build_shelf(inputs, output, summaries=summaries, update=update, prune=prune, progress=progress)
    if json:
        _print_json(report.as_dict())
    else:
        tell_build(report)
    return None


@app.command(context_settings={"ignore_unknown_options": True})  # -word is for the query
def search(
    shelf: ShelfArgument,
    query: Annotated[list[str], typer.Argument(help='Words, "a phrase", -without, author:, year:2019..2023, …')],
    limit: Annotated[int, typer.Option(help="How many papers to show.")] = 10,
    offset: Annotated[int, typer.Option(help="How many to skip.")] = 0,
    sort: Annotated[str, typer.Option(help="relevance, year_desc, year_asc, title_asc or title_desc.")] = "relevance",
    json: Json = False,
) -> None:
    """Search a shelf."""
    from paper_library.library import Library
    from paper_library.terminal_output import tell_results

    found = Library.open(shelf).search(" ".join(query), limit=limit, offset=offset, sort=sort)
    _print_json(found) if json else tell_results(found)


@app.command()
def show(
    shelf: ShelfArgument,
    paper: Annotated[
        str,
        typer.Argument(metavar="PAPER", help="A DOI, arXiv id or PMID; a paper_id or BibTeX key, or how it begins."),
    ],
    source: Annotated[bool, typer.Option("--source", help="Print the paper's text.")] = False,
    summary: Annotated[str | None, typer.Option(metavar="TEMPLATE", help="Print this summary.")] = None,
    bibtex: Annotated[bool, typer.Option("--bibtex", help="Print its BibTeX entry.")] = False,
    json: Json = False,
) -> None:
    """Show what a shelf has of one paper."""
    from paper_library.library import Library
    from paper_library.terminal_output import tell_paper

    library = Library.open(shelf)
    wanted = [name for name, asked in (("--source", source), ("--summary", summary), ("--bibtex", bibtex)) if asked]
    if len(wanted) > 1:
        raise InvalidInput(f"Choose one of {' and '.join(wanted)}.", hint="Each prints one thing.")
    paper = library.complete(paper)
    if source:
        text = library.source(paper)
        _print_json({"source": text}) if json else _print(text)
    elif summary:
        _print(library.summary(paper, summary))
    elif bibtex:
        text = library.bibtex(paper)
        _print_json({"bibtex": text}) if json else _print(text)
    else:
        said = library.metadata(paper)
        _print_json(said) if json else tell_paper(said)


@app.command()
def export(
    shelf: ShelfArgument,
    query: Annotated[
        list[str] | None, typer.Argument(help="Export what this finds; all if left out. Put -- before -word.")
    ] = None,
    format_name: Annotated[
        str | None, typer.Option("--format", "-f", metavar="FORMAT", help="bibtex, ris, csl-json or json. [bibtex]")
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write into this file.")] = None,
    json: Annotated[
        bool, typer.Option("--json", help="The same as --format json; with --output, print a JSON report.")
    ] = False,
) -> None:
    """Write the papers of a shelf as BibTeX, RIS, CSL-JSON or JSON, in the order of the shelf.

    A shelf built from its BibTeX or JSON has the same papers, ids and BibTeX keys.
    """
    from paper_library.library import Library
    from uraniborg.kernel.files import check_output, write_output

    if json and output is None and format_name not in (None, "json"):
        raise InvalidInput("--json prints JSON, and --format another format.", hint="Leave one of them out.")
    check_output(output)
    wanted = format_name or ("json" if json and output is None else "bibtex")
    pieces = Library.open(shelf).export(" ".join(query or []), wanted)
    if output is None:
        sys.stdout.writelines(pieces)
        return
    write_output(output, pieces)
    _print_json({"file": str(output), "format": wanted}) if json else _print(f"Written to {output}.")


@app.command()
def stats(shelf: ShelfArgument, json: Json = False) -> None:
    """Tell what a shelf holds, and what is missing where."""
    from paper_library.library import Library
    from paper_library.terminal_output import tell_stats

    said = Library.open(shelf).stats()
    _print_json(said) if json else tell_stats(said)


@app.command()
def verify(shelf: ShelfArgument, json: Json = False, quiet: Quiet = False) -> int | None:
    """Read every file of a shelf and tell whether it is as it was built. Exits with 4 if not."""
    from paper_library.errors import ShelfDamaged
    from paper_library.store.verification import verify as check
    from paper_library.terminal_output import progress_bar, tell_verdict

    with progress_bar(quiet=quiet) as progress:
        verdict = check(shelf, lambda done: progress("verify", done, 0))
    _print_json(verdict.as_dict()) if json else tell_verdict(verdict)
    return None if verdict.is_whole else ShelfDamaged.exit_code


@app.command()
def diff(
    old: Annotated[Path, typer.Argument(metavar="OLD", help="A shelf.")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="Another.")],
    json: Json = False,
) -> None:
    """Tell which papers one shelf has that another has not, and which have changed."""
    from paper_library.store.difference import compare
    from paper_library.terminal_output import tell_difference

    difference = compare(old, new)
    _print_json(difference.as_dict()) if json else tell_difference(difference)


@app.command()
def sample(
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="SHELF", help="Where to build it."),
    ] = None,
    json: Json = False,
) -> None:
    """Build the sample shelf, if it is not there yet, and print where it is."""
    from paper_library.sample import sample_shelf

    path = sample_shelf(output)
    _print_json({"shelf": str(path)}) if json else _print(str(path))


@app.command()
def serve(
    shelf: Annotated[
        Path | None, typer.Argument(metavar="[SHELF]", help="The shelf's folder; the sample shelf if left out.")
    ] = None,
    host: Annotated[str | None, typer.Option(help="The address to listen at. [127.0.0.1]")] = None,
    port: Annotated[int | None, typer.Option(help="The port to listen at; 0 takes a free one. [8421]")] = None,
    allow_origin: Annotated[
        list[str] | None, typer.Option(metavar="ORIGIN", help="A web origin that may call /mcp; may be repeated.")
    ] = None,
    allow_host: Annotated[
        list[str] | None, typer.Option(metavar="HOST", help="A name the server goes by, with port; may be repeated.")
    ] = None,
    static_base_url: Annotated[
        str | None, typer.Option(metavar="URL", help="Where assets are fetched that the shelf's folder lacks.")
    ] = None,
    workers: Annotated[int | None, typer.Option(help="Processes to serve with. [1]")] = None,
    token: Annotated[
        str | None, typer.Option(help="What callers must send; better set URANIBORG_LIBRARY__TOKEN.")
    ] = None,
    insecure: Annotated[bool, typer.Option("--insecure", help="Let others reach it without a token.")] = False,
    extra_tools: Annotated[
        bool | None,
        typer.Option(
            "--extra-tools/--no-extra-tools", help="Offer read_paper_section and export_citations to agents. [yes]"
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Serve a shelf: MCP at /mcp, REST at /api/v1, pages at /."""
    from paper_library.serving import serve_shelf

    options: dict[str, Any] = {
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


def run(arguments: Sequence[str]) -> NoReturn:
    run_typer_app(app, arguments, name="paper-library")


def _print(text: str) -> None:
    sys.stdout.write(text if text.endswith("\n") else text + "\n")


def _print_json(value: Any) -> None:
    import orjson

    sys.stdout.write(orjson.dumps(value, option=orjson.OPT_INDENT_2).decode() + "\n")
