"""Printing where values come from: the chain behind one value, and the values of a body with their sources."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from universe.paragraphs import print_paragraph
from uraniborg.kernel.logging import printable

_VERBS: Final = {
    "create": "when the universe was made",
    "branch": "when the universe was branched off",
    "put": "by a new state",
}
_MOST_AUTHORS: Final = 3
_WIDTH: Final = 250
"""Of the table, so that no name is cut."""
_MOST_MASSES: Final = 10


def tell_origin(chain: Mapping[str, Any]) -> None:
    """Print the chain behind a value: value, status, publications with locations, conversion, command."""
    out = Console(highlight=False, soft_wrap=True)
    out.print(f"[bold]{_safe(chain['name'])}[/bold]  {_safe(chain['field'])} = {_value(chain)}")
    for label, text in _lines(chain, "  "):
        print_paragraph(out, label, text)


def tell_body(statuses: Mapping[str, Any]) -> None:
    """Print the values of a body that have, or had, a source."""
    out = Console(highlight=False, soft_wrap=True, width=_WIDTH)
    if not statuses["fields"]:
        out.print(f"No value of {_safe(statuses['name'])} names a source. --field NAME finds who set it.")
        return
    table = Table(box=None, pad_edge=False)
    for column in ("field", "value", "status", "sources"):
        table.add_column(column, no_wrap=column != "status")
    for field, one in statuses["fields"].items():
        table.add_row(_safe(field), _value(one), _safe(one["mark"] or one["status"]), _safe(", ".join(one["sources"])))
    out.print(f"[bold]{_safe(statuses['name'])}[/bold]")
    out.print(table)


def _lines(chain: Mapping[str, Any], indent: str) -> Iterator[tuple[str, str]]:
    """Yield paragraphs, each with its label."""
    yield indent, f"[bold]{_safe(chain['mark'] or chain['status'])}[/bold]"
    for source in chain["sources"] if "computed" not in chain else ():
        yield from ((f"{indent}{label:<12}", text) for label, text in _source_lines(source))
    if "withdrawn" in chain:
        changed = _safe(chain["withdrawn"])
        yield indent, f"The value is as before; its source was withdrawn because {changed} changed."
    if command := chain["command"]:
        yield f"{indent}{'command':<12}", _command(command)
    if computed := chain.get("computed"):
        for number, one in enumerate(computed["from"]):
            label, start = ("and from", "") if number else ("computed", "from ")
            how = "" if number else f": {_safe(computed['how'])}"
            yield f"{indent}{label:<12}", f"{start}{_safe(one['field'])} = {_value(one)}{how}"
            yield from _lines(one, indent + "  ")
        yield from ((f"{indent}{'and from':<12}", text) for text in _mass_texts(computed["masses"]))


def _mass_texts(masses: Mapping[str, Any]) -> Iterator[str]:
    """Yield the masses that Kepler's third law takes, those of one status together."""
    alike: dict[str, list[str]] = {}
    for key, one in masses.items():
        named = f" ({', '.join(one['sources'])})" if one["sources"] else ""
        alike.setdefault(f"{one['mark'] or one['status']}{named}", []).append(key)
    for status, keys in alike.items():
        listed = ", ".join(keys[:_MOST_MASSES]) + (
            f" and {len(keys) - _MOST_MASSES} more" if keys[_MOST_MASSES:] else ""
        )
        yield f"the mass{'' if len(keys) == 1 else 'es'} of {_safe(f'{listed}: {status}')}"


def _source_lines(source: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    authors = [one for one in source.get("authors") or () if isinstance(one, str)]
    named = "; ".join(authors[:_MOST_AUTHORS]) + (" et al." if len(authors) > _MOST_AUTHORS else "")
    year = f" ({source['year']:g})" if isinstance(source.get("year"), (int, float)) else ""
    title = _safe(source.get("title") or source["id"])
    kind = "computation" if source.get("computed") is True else "paper"
    yield kind, f"{_safe(named)}{year}{': ' if named else ''}{title}"
    places = [_safe(str(source["venue"]))] if source.get("venue") else []
    places += [f"{name}:{_safe(str(source[name]))}" for name in ("doi", "arxiv") if source.get(name)]
    if not source.get("doi") and source.get("url"):
        places.append(_safe(str(source["url"])))
    if places:
        yield "", ", ".join(places)
    yield from _location_lines(source.get("location"))
    if source.get("dataFile") and not source.get("computed"):
        yield "location", "not recorded: the data file names the publication, not the table or page"
    if source.get("conversion"):
        yield "conversion", _safe(source["conversion"])
    if source.get("dataFile"):
        yield "data file", _safe(source["dataFile"])
    if source.get("note"):
        yield "note", _safe(source["note"])
    if source.get("reason"):
        yield "check", _safe(source["reason"])


def _location_lines(location: Any) -> Iterator[tuple[str, str]]:
    if not isinstance(location, Mapping):
        return
    parts = [f"{name} {location[name]}" for name in ("table", "section", "page") if location.get(name)]  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
    if parts:
        yield "location", _safe(", ".join(parts))
    for name in ("header", "row"):
        cells: Any = location.get(name)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        if isinstance(cells, list):
            yield "", f"| {_safe(' | '.join(str(cell) for cell in cells))} |"  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    if location.get("passage"):  # pyright: ignore[reportUnknownMemberType]
        yield "passage", f"{_safe(str(location['passage']))}"  # pyright: ignore[reportUnknownArgumentType]


def _command(command: Mapping[str, Any]) -> str:
    kind = command.get("type")
    how = f", {_VERBS.get(kind, f'by {kind}')}" if kind else ""
    version = f"version {command['version']:,g}" if "version" in command else "a version that is not recorded"
    where = f" of universe {command['universe']}" if command.get("universe") else ""
    at = f", {command['at'][:16].replace('T', ' ')} UTC" if command.get("at") else ""
    author = command.get("author") or "an author who is not recorded"
    reason = f": {command['reason']}" if command.get("reason") else ""
    doubt = ", imported and not verified" if command.get("imported") else ""
    return _safe(f"{version}{where}{how} ({author}{at}{doubt}){reason}")


def _value(one: Mapping[str, Any]) -> str:
    value = one["value"]
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    shown = f"{value:.10g}" if is_number else str(value)[:200]
    return _safe(f"{shown} {one['unit']}".rstrip())


def _safe(text: str) -> str:
    return escape(printable(text, keep=""))
