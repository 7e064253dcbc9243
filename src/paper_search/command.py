"""`paper-search`: search, review at the terminal, export, and list sources."""

import asyncio
import sys

from paper_search import search_command, session_commands
from paper_search.result_output import Format, JsonOrReport, choose_format
from paper_search.session_commands import Session, export_session, open_manager
from paper_search.translate_command import translate
from uraniborg.kernel.cli import run_typer_app
from uraniborg.kernel.command_line import CommandLine, JsonOption, OutputFile
from uraniborg.kernel.terminal.page import Page
from uraniborg.kernel.terminal.streams import print_json

app = CommandLine(
    """Search for papers, review them at the terminal, and export them.

    Examples:
    - `paper-search run perovskite solar cells since 2020`
    - `paper-search sessions list`
    """
)
app.command()(search_command.run)


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
    chosen = choose_format(format_name, output, as_json=json)

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
    page = Page()
    rows = [(f"{'*' if entry['used'] else ' '} {entry['name']}", entry["remark"]) for entry in listed]
    page.write_table(rows, indent=0, last_cell="wrapped")
    page.write_line()
    page.write_line("* used by every search that names no sources.")


app.command()(translate)
app.add_typer(session_commands.app, name="sessions")


def main() -> None:
    """Run the command."""
    run_typer_app(app, sys.argv[1:], name="paper-search")


if __name__ == "__main__":
    main()
