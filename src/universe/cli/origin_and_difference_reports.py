"""Print where values come from, what differs between versions or universes, and the report of an import."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

from uraniborg.kernel.actors import describe_actor, read_actor
from uraniborg.kernel.language.messages import format_first_authors, plural
from uraniborg.kernel.terminal.page import Page
from uraniborg.kernel.terminal.styled_text import BOLD, DIM, Piece, StyledText

_ORIGINS: Final = {
    "create": "when the universe was created",
    "branch": "when the universe was branched",
    "put": "by a new state",
}
_MAX_MASSES: Final = 10


def print_value_origin(chain: Mapping[str, Any]) -> None:
    """Print the chain behind a value: value, status, publications with locations, conversion, command."""
    page = Page()
    page.write_line(StyledText(BOLD, chain["name"]), f"  {chain['field']} = {_format_value_with_unit(chain)}")
    for label, text in _list_paragraphs(chain, "  "):
        page.write_paragraph(label, text)


def print_body_sources(statuses: Mapping[str, Any]) -> None:
    """Print the values of a body that have, or had, a source."""
    page = Page()
    if not statuses["fields"]:
        page.write_line(f"No value of {statuses['name']} has a source. --field NAME shows who set it.")
        return
    rows: list[tuple[Piece, ...]] = []
    for field, one in statuses["fields"].items():
        origin = ", ".join([one["mark"] or one["status"], *one["sources"]])
        rows.append((field, _format_value_with_unit(one), StyledText(DIM, origin)))
    page.write_line(StyledText(BOLD, statuses["name"]))
    page.write_table(rows, headings=("field", "value", "status, sources"), indent=0, last_cell="below")


def _list_paragraphs(chain: Mapping[str, Any], indent: str) -> Iterator[tuple[str, Piece]]:
    """Yield the label and text of each paragraph about a value."""
    yield indent, StyledText(BOLD, chain["mark"] or chain["status"])
    for source in chain["sources"] if "computed" not in chain else ():
        yield from ((f"{indent}{label:<12}", text) for label, text in _list_source_paragraphs(source))
    if "withdrawn" in chain:
        yield indent, f"The value is as before; its source was withdrawn because {chain['withdrawn']} changed."
    if command := chain["command"]:
        yield f"{indent}{'command':<12}", _describe_command(command)
    if computed := chain.get("computed"):
        for number, one in enumerate(computed["from"]):
            label, start = ("and from", "") if number else ("computed", "from ")
            how = "" if number else f": {computed['how']}"
            yield f"{indent}{label:<12}", f"{start}{one['field']} = {_format_value_with_unit(one)}{how}"
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
        yield f"the mass{'' if len(keys) == 1 else 'es'} of {listed}: {status}"


def _list_source_paragraphs(source: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    authors = [one for one in source.get("authors") or () if isinstance(one, str)]
    named = format_first_authors(authors)
    year = f" ({source['year']:g})" if isinstance(source.get("year"), (int, float)) else ""
    title = source.get("title") or source["id"]
    kind = "computation" if source.get("computed") is True else "paper"
    yield kind, f"{named}{year}{': ' if named else ''}{title}"
    identifiers = [str(source["venue"])] if source.get("venue") else []
    identifiers += [f"{name}:{source[name]}" for name in ("doi", "arxiv") if source.get(name)]
    if not source.get("doi") and source.get("url"):
        identifiers.append(str(source["url"]))
    if identifiers:
        yield "", ", ".join(identifiers)
    yield from _list_location_paragraphs(source.get("location"))
    if source.get("dataFile") and not source.get("computed"):
        yield "location", "not recorded: the data file names the publication, not the table or page"
    if source.get("conversion"):
        yield "conversion", source["conversion"]
    if source.get("dataFile"):
        yield "data file", source["dataFile"]
    if source.get("note"):
        yield "note", source["note"]
    if source.get("reason"):
        yield "check", source["reason"]


def _list_location_paragraphs(location: Any) -> Iterator[tuple[str, str]]:
    if not isinstance(location, Mapping):
        return
    parts = [f"{name} {location[name]}" for name in ("table", "section", "page") if location.get(name)]  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
    if parts:
        yield "location", ", ".join(parts)
    for name in ("header", "row"):
        cells: Any = location.get(name)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        if isinstance(cells, list):
            yield "", f"| {' | '.join(str(cell) for cell in cells)} |"  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    if location.get("passage"):  # pyright: ignore[reportUnknownMemberType]
        yield "passage", str(location["passage"])  # pyright: ignore[reportUnknownArgumentType]


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
    return f"{version}{where}{how} ({author}{at}{doubt}){reason}"


def _format_value_with_unit(one: Mapping[str, Any]) -> str:
    value = one["value"]
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    shown = f"{value:.10g}" if is_number else str(value)[:200]
    return f"{shown} {one['unit']}".rstrip()


_MAX_DIFFERENCE_LINES: Final = 40
_SHOWN: Final = 60


def print_differences(reply: Mapping[str, Any]) -> None:
    """Print added, removed and changed entities, with the old and new values of changed fields."""
    page = Page()
    before, after = reply["from"], reply["to"]
    page.write_line(f"{before['id']} version {before['version']:,} → {after['id']} version {after['version']:,}")
    if reply["equal"]:
        page.write_line("They are equal.")
        return
    lines = [*_list_lines(reply)]
    for line in lines[:_MAX_DIFFERENCE_LINES]:
        page.write_line(line)
    if len(lines) > _MAX_DIFFERENCE_LINES:
        page.write_line(f"… and {len(lines) - _MAX_DIFFERENCE_LINES:,} more lines; --json has them.")


def _list_lines(reply: Mapping[str, Any]) -> list[str]:
    first, last = reply["time"]
    lines = [f"time: {first} → {last}"] if first != last else []
    for kind, found in reply["differences"].items():
        lines += [f"+ {kind} {key}" for key in found["added"]]
        lines += [f"- {kind} {key}" for key in found["removed"]]
        lines += [
            f"~ {key} {field}: {_shorten(old)} → {_shorten(new)}"
            for key, fields in found["changed"].items()
            for field, (old, new) in fields.items()
        ]
    return lines


def _shorten(value: Any) -> str:
    text = "none" if value is None else str(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


_MAX_IMPORT_LINES: Final = 10


def print_import(reply: Mapping[str, Any]) -> None:
    """Print the universes that were created, the skipped rows by reason, and the notes."""
    page = Page()
    report, created = reply["import"], reply["universes"]
    for one in created[:_MAX_IMPORT_LINES]:
        bodies = plural(one["bodies"], "body", "bodies")
        page.write_line(f"Created {one['id']}: {one['name']}, {bodies}.")
    if len(created) > _MAX_IMPORT_LINES:
        page.write_line(f"… and {len(created) - _MAX_IMPORT_LINES:,} more universes; --json lists all.")
    systems, rows = len(report["systems"]), report["skippedCount"]
    verb = "Imported" if created else "Would import"
    skipped = f"; {plural(rows, 'row')} skipped:" if rows else "."
    page.write_line(f"{verb} {plural(systems, 'system')} from {report['format']}{skipped}")
    for reason, count in Counter(one["reason"] for one in report["skipped"]).most_common(_MAX_IMPORT_LINES):
        names = [one["name"] or f"row {one['row']}" for one in report["skipped"] if one["reason"] == reason]
        more = f" and {count - 3} more" if count > 3 else ""
        page.write_paragraph("- ", f"{', '.join(names[:3])}{more}: {reason}")
    if rows > len(report["skipped"]):
        page.write_line(f"- {plural(rows - len(report['skipped']), 'more row')}, not listed")
    for note in report["notes"]:
        page.write_paragraph("Note: ", note)
