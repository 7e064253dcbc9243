"""`paper-search`: search, review at the terminal, export, and list sources."""

import asyncio
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from paper_search import session_commands
from paper_search.command_options import (
    Domain,
    Format,
    JsonOrReport,
    MaxResults,
    Offline,
    Query,
    Record,
    Replay,
    Reviewer,
    Session,
    Source,
)
from paper_search.query_input import join_query_words
from paper_search.session_commands import (
    export_session,
    open_manager,
    print_json,
    print_line,
    review_new_session,
)
from paper_search.translate_command import translate
from uraniborg.kernel.cli import run_typer_app
from uraniborg.kernel.command_line import CommandLine, JsonOption, OutputFile, Quiet
from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.files import check_output

if TYPE_CHECKING:
    from paper_search.config import AppConfig

app = CommandLine(
    """Search for papers, review them at the terminal, and export them.

    Examples:
    - `paper-search run perovskite solar cells since 2020`
    - `paper-search sessions list`
    """
)


@app.command()
def run(
    query: Query,
    review: Annotated[bool, typer.Option("--review", help="Ask about the strategy and the papers.")] = False,
    reviewer: Reviewer = None,
    format_name: Format = None,
    json: JsonOrReport = False,
    output: OutputFile = None,
    source: Source = None,
    max_results: MaxResults = None,
    domain: Domain = None,
    record: Record = None,
    replay: Replay = None,
    offline: Offline = False,
    quiet: Quiet = False,
) -> None:
    """Search for papers and print them, the most relevant first.

    Without --review everything is approved. With --review you confirm the strategy and mark the papers with single
    keys; you can quit at any time and resume later.

    Examples:
    - `paper-search run atmospheres of the TRAPPIST-1 planets since 2017`
    - `paper-search run --review --format bibtex -o papers.bib perovskite solar cells`
    - `paper-search run --review --offline atmospheres of the TRAPPIST-1 planets`
    - `paper-search run - < strategy.txt`
    """
    from paper_search.cli import build_config, choose_format, search_and_print
    from paper_search.input_checks import check_query

    chosen = choose_format(format_name, output, as_json=json)
    check_output(output)
    if review and record:
        raise InvalidInput("--record cannot be used with --review.", hint="The session itself stores every answer.")
    config = build_config(max_results, domain, record, replay, offline=offline)
    text = check_query(join_query_words(query))
    if review:
        asyncio.run(
            review_new_session(text, _enable_only_sources(config, source), reviewer, chosen, output, as_json=json)
        )
    else:
        search_and_print(text, config, source, chosen, output, quiet=quiet, as_json=json)


@app.command()
def export(
    session: Session,
    format_name: Format = None,
    json: JsonOrReport = False,
    output: OutputFile = None,
) -> None:
    """Export the papers or the search log of a complete session.

    Examples:
    - `paper-search export 4f1c2a --format bibtex -o papers.bib`
    - `paper-search export 4f1c2a --format prisma-svg -o flow.svg`
    """
    from paper_search.cli import choose_format

    chosen = choose_format(format_name, output, as_json=json)
    check_output(output)

    async def export_found() -> None:
        async with open_manager() as manager:
            await export_session(manager, await manager.resolve_id_prefix(session), chosen, output, as_json=json)

    asyncio.run(export_found())


@app.command()
def sources(json: JsonOption = False) -> None:
    """List the sources, and mark those that every search uses.

    Examples:
    - `paper-search sources --json`
    """
    from paper_search.config import load_config
    from paper_search.sources.offline_source import describe_offline_sources
    from paper_search.sources.registry import describe_sources

    config = load_config()
    listed = describe_offline_sources(config) if config.offline else describe_sources(config)
    if json:
        print_json(listed)
        return
    for entry in listed:
        mark = "*" if entry["used"] else " "
        print_line(f"{mark} {entry['name']:<18} {entry['remark']}")
    print_line("\n* used by every search that names no sources.")


app.command()(translate)
app.add_typer(session_commands.app, name="sessions")


def main() -> None:
    """Run the command."""
    run_typer_app(app, sys.argv[1:], name="paper-search")


def _enable_only_sources(config: "AppConfig", names: list[str] | None) -> "AppConfig":
    """Return the config with only these sources enabled; unchanged if there are none."""
    if not names:
        return config
    from paper_search.config import SearchSourceConfig
    from paper_search.sources.registry import check_source_names, list_source_names

    check_source_names(names, list_source_names())
    settings = {name: config.sources.get(name, SearchSourceConfig(name=name)) for name in list_source_names()}
    chosen = {name: given.model_copy(update={"enabled": name in names}) for name, given in settings.items()}
    return config.model_copy(update={"sources": chosen})


if __name__ == "__main__":
    main()
