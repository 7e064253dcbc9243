"""Reports of the origin of values: the chain behind one value, and the sources of all values of a body."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from rich.table import Table

from universe.terminal.console import escape_text, make_console
from uraniborg.kernel.actors import describe_actor, read_actor
from uraniborg.kernel.paragraphs import print_paragraph
from uraniborg.kernel.text import format_first_authors

_ORIGINS: Final = {
    "create": "when the universe was created",
    "branch": "when the universe was branched",
    "put": "by a new state",
}
_TABLE_WIDTH: Final = 250
"""The width of tables in files and pipes; values that need more are a list, so that no name is cut."""
_MOST_MEASURED: Final = 10_000
"""The width up to which a table is measured; rich reports no more than the width of its console."""
_MAX_MASSES: Final = 10


def print_value_origin(chain: Mapping[str, Any]) -> None:
    """Print the chain behind a value: value, status, publications with locations, conversion, command."""
    console = make_console()
    console.print(
        f"[bold]{escape_text(chain['name'])}[/bold]  {escape_text(chain['field'])} = {_format_value_with_unit(chain)}"
    )
    for label, text in _list_paragraphs(chain, "  "):
        print_paragraph(console, label, text)


def print_body_sources(statuses: Mapping[str, Any]) -> None:
    """Print the values of a body that have, or had, a source."""
    console = make_console(_TABLE_WIDTH)
    if not statuses["fields"]:
        console.print(f"No value of {escape_text(statuses['name'])} has a source. --field NAME shows who set it.")
        return
    table = Table(box=None, pad_edge=False)
    for column in ("field", "value", "status", "sources"):
        table.add_column(column, no_wrap=column != "status")
    for field, one in statuses["fields"].items():
        table.add_row(
            escape_text(field),
            _format_value_with_unit(one),
            escape_text(one["mark"] or one["status"]),
            escape_text(", ".join(one["sources"])),
        )
    console.print(f"[bold]{escape_text(statuses['name'])}[/bold]")
    needed = console.measure(table, options=console.options.update_width(_MOST_MEASURED)).maximum
    if needed <= (make_console().width if console.is_terminal else _TABLE_WIDTH):
        console.print(table)
        return
    console = make_console()
    for field, one in statuses["fields"].items():
        origin = ", ".join([one["mark"] or one["status"], *one["sources"]])
        print_paragraph(console, f"  {escape_text(field)}  ", _format_value_with_unit(one))
        print_paragraph(console, "    ", f"[dim]{escape_text(origin)}[/dim]")


def _list_paragraphs(chain: Mapping[str, Any], indent: str) -> Iterator[tuple[str, str]]:
    """Yield the label and text of each paragraph about a value."""
    yield indent, f"[bold]{escape_text(chain['mark'] or chain['status'])}[/bold]"
    for source in chain["sources"] if "computed" not in chain else ():
        yield from ((f"{indent}{label:<12}", text) for label, text in _list_source_paragraphs(source))
    if "withdrawn" in chain:
        changed = escape_text(chain["withdrawn"])
        yield indent, f"The value is as before; its source was withdrawn because {changed} changed."
    if command := chain["command"]:
        yield f"{indent}{'command':<12}", _describe_command(command)
    if computed := chain.get("computed"):
        for number, one in enumerate(computed["from"]):
            label, start = ("and from", "") if number else ("computed", "from ")
            how = "" if number else f": {escape_text(computed['how'])}"
            yield f"{indent}{label:<12}", f"{start}{escape_text(one['field'])} = {_format_value_with_unit(one)}{how}"
            yield from _list_paragraphs(one, indent + "  ")
        yield from ((f"{indent}{'and from':<12}", text) for text in _describe_masses(computed["masses"]))


def _describe_masses(masses: Mapping[str, Any]) -> Iterator[str]:
    """Yield the masses that Kepler's third law uses, grouped by status."""
    alike: dict[str, list[str]] = {}
    for key, one in masses.items():
        named = f" ({', '.join(one['sources'])})" if one["sources"] else ""
        alike.setdefault(f"{one['mark'] or one['status']}{named}", []).append(key)
    for status, keys in alike.items():
        listed = ", ".join(keys[:_MAX_MASSES]) + (f" and {len(keys) - _MAX_MASSES} more" if keys[_MAX_MASSES:] else "")
        yield f"the mass{'' if len(keys) == 1 else 'es'} of {escape_text(f'{listed}: {status}')}"


def _list_source_paragraphs(source: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    authors = [one for one in source.get("authors") or () if isinstance(one, str)]
    named = format_first_authors(authors)
    year = f" ({source['year']:g})" if isinstance(source.get("year"), (int, float)) else ""
    title = escape_text(source.get("title") or source["id"])
    kind = "computation" if source.get("computed") is True else "paper"
    yield kind, f"{escape_text(named)}{year}{': ' if named else ''}{title}"
    identifiers = [escape_text(str(source["venue"]))] if source.get("venue") else []
    identifiers += [f"{name}:{escape_text(str(source[name]))}" for name in ("doi", "arxiv") if source.get(name)]
    if not source.get("doi") and source.get("url"):
        identifiers.append(escape_text(str(source["url"])))
    if identifiers:
        yield "", ", ".join(identifiers)
    yield from _list_location_paragraphs(source.get("location"))
    if source.get("dataFile") and not source.get("computed"):
        yield "location", "not recorded: the data file names the publication, not the table or page"
    if source.get("conversion"):
        yield "conversion", escape_text(source["conversion"])
    if source.get("dataFile"):
        yield "data file", escape_text(source["dataFile"])
    if source.get("note"):
        yield "note", escape_text(source["note"])
    if source.get("reason"):
        yield "check", escape_text(source["reason"])


def _list_location_paragraphs(location: Any) -> Iterator[tuple[str, str]]:
    if not isinstance(location, Mapping):
        return
    parts = [f"{name} {location[name]}" for name in ("table", "section", "page") if location.get(name)]  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
    if parts:
        yield "location", escape_text(", ".join(parts))
    for name in ("header", "row"):
        cells: Any = location.get(name)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        if isinstance(cells, list):
            yield "", f"| {escape_text(' | '.join(str(cell) for cell in cells))} |"  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    if location.get("passage"):  # pyright: ignore[reportUnknownMemberType]
        yield "passage", f"{escape_text(str(location['passage']))}"  # pyright: ignore[reportUnknownArgumentType]


def _describe_command(command: Mapping[str, Any]) -> str:
    kind = command.get("type")
    how = f", {_ORIGINS.get(kind, f'by {kind}')}" if kind else ""
    version = f"version {command['version']:,g}" if "version" in command else "an unrecorded version"
    where = f" of universe {command['universe']}" if command.get("universe") else ""
    at = f", {command['at'][:16].replace('T', ' ')} UTC" if command.get("at") else ""
    actor = read_actor(command.get("actor"))
    author = describe_actor(actor) if actor else command.get("author") or "an unrecorded author"
    reason = f": {command['reason']}" if command.get("reason") else ""
    doubt = ", imported and not verified" if command.get("imported") else ""
    return escape_text(f"{version}{where}{how} ({author}{at}{doubt}){reason}")


def _format_value_with_unit(one: Mapping[str, Any]) -> str:
    value = one["value"]
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    shown = f"{value:.10g}" if is_number else str(value)[:200]
    return escape_text(f"{shown} {one['unit']}".rstrip())
