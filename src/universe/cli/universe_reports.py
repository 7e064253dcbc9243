"""Print universes: lists, trees, histories, changes and verdicts."""

from collections.abc import Iterable
from typing import Final, cast

from universe.claims import PaperTextReader
from universe.cli.measurement_tables import format_actor, format_author
from universe.domain.command_catalogue import CommandCategory
from universe.domain.command_results import Event
from universe.domain.entities import Entity
from universe.domain.provenance.value_status import compute_value_status
from universe.domain.state import Plain
from universe.domain.units_and_dates import get_field_unit, has_astronomical_body
from universe.service.replies import ChangeSummary, DeletionFacts, Facts, HistoryWithActors, LogEntry, NewUniverse
from universe.service.verification import LogVerification
from uraniborg.kernel.language.messages import format_to_minute, plural
from uraniborg.kernel.terminal.page import Branch, Page
from uraniborg.kernel.terminal.styled_text import BOLD, DIM, GREEN, RED, YELLOW, Piece, StyledText, make_color_style

_MAX_CHILDREN: Final = 40
_MAX_LINES: Final = 400
_MAX_EVENTS: Final = 20
_NAME_CHARS: Final = 60
_RESTORE_VERBS: Final = {
    "create": "created",
    "branch": "branched",
    "put": "state replaced",
    "undo": "undone",
    "restore": "restored",
}
_SIGNS: Final = {
    "star": "★",
    "planet": "●",
    "moon": "○",
    "asteroid": "·",
    "comet": "☄",
    "lagrangePoint": "+",
    "blackHole": "◉",
}


def print_new_universe(created: NewUniverse) -> None:
    """Print the name, size and id of a new universe."""
    bodies = _format_body_count(created["bodies"])
    Page().write_paragraph("", "Created ", StyledText(BOLD, created["name"]), f" with {bodies}: {created['id']}")


def print_universe_list(found: list[Facts]) -> None:
    """Print a table of universes."""
    page = Page()
    if not found:
        page.write_line("There are no universes yet. Create one: universe new --from solar-system")
        return
    rows = [(one["id"], f"{one['version']:,}", format_to_minute(one["updatedAt"]), one["name"]) for one in found]
    headings = ("id", "version", "changed (UTC)", "name")
    page.write_table(rows, headings=headings, right_aligned=[1], indent=0, last_cell="wrapped")


def print_deletions(found: list[DeletionFacts]) -> None:
    """Print deleted universes and who deleted them."""
    page = Page()
    if not found:
        page.write_line("No universe was deleted.")
    for one in found:
        page.write_paragraph(
            f"{format_to_minute(one['deletedAt'])}  ",
            StyledText(BOLD, one["id"]),
            f" ({one['name']}) at version {one['version']:,}, ",
            StyledText(DIM, f"deleted by {format_actor(one['deletedBy'])}"),
        )


def print_change(done: ChangeSummary) -> None:
    """Print the version, events and warnings of a change."""
    page = Page()
    passed = [_describe_passed_time(done["timePassed"], done.get("timeUnit", ""))] if "timePassed" in done else []
    events = [_describe_event(event) for event in done["events"]]
    more = [f"and {len(events) - _MAX_EVENTS:,} more"] if len(events) > _MAX_EVENTS else []
    happened = ", ".join([*events[:_MAX_EVENTS], *more, *passed]) or "nothing changed"
    page.write_line(f"Version {done['version']:,}: {happened}.")
    for warning in done.get("warnings", ()):
        page.write_paragraph("  ", warning)


def format_amount_with_unit(amount: float, unit: str) -> str:
    """Return an amount with its unit: `30 days`, `1 day`."""
    return f"{amount:,.10g} {unit.removesuffix('s') if amount == 1 else unit}"


def _describe_passed_time(time: float, unit: str) -> str:
    """Return the time that passed: `30 days passed`, `1 day passed`, `time went back by 2 days`."""
    amount = format_amount_with_unit(abs(time), unit)
    return f"{amount} passed" if time > 0 else f"time went back by {amount}"


def print_history(found: HistoryWithActors, after: int) -> None:
    """Print who created and renamed a universe, and the entries of its log with their authors and reasons."""
    page = Page()
    entries = found["entries"]
    if not entries:
        page.write_line(f"There are no changes after version {after:,}." if after else "There are no changes.")
    for entry in entries:
        page.write_paragraph(
            f"{entry['version']:>6,}  {format_to_minute(entry['at'])}  ",
            _describe_entry(entry),
            "  ",
            StyledText(DIM, format_author(entry)),
            _format_reason(entry),
        )
    if not after:
        print_creator(found)


def print_creator(described: Facts | HistoryWithActors) -> None:
    """Print who created a universe, and who gave it its name if it was renamed."""
    renamed = f", renamed by {format_actor(described['renamedBy'])}" if described["renamedBy"] else ""
    Page().write_paragraph(StyledText(DIM, f"Created by {format_actor(described['createdBy'])}{renamed}."))


def _format_reason(entry: LogEntry) -> str:
    reason = entry.get("command", {}).get("reason")
    return f": {reason}" if isinstance(reason, str) and reason else ""


def _format_body_count(count: int) -> str:
    return plural(count, "body", "bodies")


def print_tree(name: str, version: int, plain: Plain, depth: int, time: str, text_of: PaperTextReader) -> None:
    """Print the bodies as a tree from the roots, and the number of other entities.

    `time` is the time with its unit; `text_of` returns the texts of a shelf, to check claims.
    """
    page = Page()
    tree = Branch([StyledText(BOLD, name), f"  version {version:,}, time {time}"])
    _add_bodies_to_tree(tree, plain, depth, text_of)
    page.write_tree(tree)
    others = {
        kind: len(plain[kind]) for kind in ("groups", "belts", "smallBodyFields", "protoplanetaryDisks", "nebulae")
    }
    counted = [f"{count:,} {kind}" for kind, count in others.items() if count]
    page.write_line(_format_body_count(len(plain["stars"])), *(f", {one}" for one in counted))
    stray = [key for key, body in plain["stars"].items() if body["parentId"] and body["parentId"] not in plain["stars"]]
    if stray:
        problem = StyledText(YELLOW, f"{_format_body_count(len(stray))} whose parent does not exist")
        page.write_line(problem, f", not in the tree: {', '.join(stray[:5])}")


def _add_bodies_to_tree(tree: Branch, plain: Plain, depth: int, text_of: PaperTextReader) -> None:
    """Add the bodies to the tree level by level and each once, because imported trees may be deep, wide or cyclic."""
    stars = plain["stars"]
    astronomical = has_astronomical_body(stars.values())
    seen: set[str] = set()
    lines = 0
    waiting = [(tree, list(dict.fromkeys(plain["rootIds"])), 1)]
    while waiting:
        branch, keys, level = waiting.pop(0)
        known = [key for key in keys if key in stars and key not in seen]
        for key in known[:_MAX_CHILDREN]:
            if lines >= _MAX_LINES:
                tree.add(StyledText(DIM, f"… and more; only {_MAX_LINES} are displayed"))
                return
            lines += 1
            seen.add(key)
            body = stars[key]
            twig = branch.add(*_format_body_line(key, body, astronomical=astronomical, text_of=text_of))
            children = cast("list[str]", body["children"])
            if children and level < depth:
                waiting.append((twig, children, level + 1))
            elif children:
                twig.add(StyledText(DIM, f"… {len(children):,} below; --depth {level + 1} shows more"))
        if len(known) > _MAX_CHILDREN:
            branch.add(StyledText(DIM, f"… {len(known) - _MAX_CHILDREN:,} more"))


def print_verdicts(verdicts: Iterable[LogVerification]) -> None:
    """Print the result of the verification of each universe."""
    page = Page()
    for one in verdicts:
        if one.is_intact:
            counts = f"{plural(one.entries, 'entry', 'entries')}, {plural(one.snapshots, 'snapshot')}"
            page.write_line(StyledText(GREEN, "intact"), f"   {one.universe_id}: {counts}")
            continue
        page.write_line(StyledText(RED, "damaged"), f"  {one.universe_id}")
        for problem in one.problems[:20]:
            page.write_line(f"           {problem['sequence']}: {problem['problem']}")


def print_commands(categories: list[CommandCategory]) -> None:
    """Print the commands of these categories with their fields."""
    page = Page()
    for category in categories:
        page.write_line()
        page.write_line(StyledText(BOLD, category["name"]), StyledText(DIM, f"  {category['slug']}"))
        for command in category["commands"]:
            fields = ", ".join(name if field["required"] else f"{name}?" for name, field in command["fields"].items())
            page.write_paragraph("  ", StyledText(BOLD, command["type"]), f" {{{fields}}}")
            page.write_paragraph("    ", command["description"])


def _format_body_line(key: str, body: Entity, *, astronomical: bool, text_of: PaperTextReader) -> list[Piece]:
    name, color = str(body["name"]), body.get("color")
    style = make_color_style(color) if isinstance(color, str) and _is_hex_color(color) else ""
    sign = _SIGNS.get(str(body.get("bodyType") or "star"), "●")
    pieces: list[Piece] = [StyledText(style, sign), " ", StyledText(BOLD, name[:_NAME_CHARS])]
    if key != name:
        pieces.append(StyledText(DIM, f"  {key[:_NAME_CHARS]}"))
    shown = {"mass": "  mass ", "orbitalDistance": ", at "}
    for field, label in shown.items():
        unit = get_field_unit(field, astronomical=astronomical)
        unit = "solar mass" if unit == "solar masses" and body[field] == 1 else unit
        pieces.append(StyledText(DIM, f"{label}{body[field]:.4g} {unit}".rstrip()))
        if mark := compute_value_status(body, field, text_of).display_note:
            pieces.append(StyledText(YELLOW, f" ({mark})"))
    return pieces


def _is_hex_color(color: str) -> bool:
    return len(color) == 7 and color[0] == "#" and all(digit in "0123456789abcdefABCDEF" for digit in color[1:])


def _describe_entry(entry: LogEntry) -> Piece:
    if entry.get("damaged"):
        return StyledText(RED, "damaged")
    happened = ", ".join(_describe_event(event) for event in entry.get("events", [])[:3])
    if command := entry.get("command"):
        passed = f" {command['dt']:g}" if command["type"] == "tick" else ""
        return "  ".join(filter(None, (f"{command['type']!s}{passed}", happened)))
    return happened


def _describe_event(event: Event) -> str:
    if event["type"] == "stateRestored":
        return _describe_restore(event)
    about = [str(value) for name, value in event.items() if name != "type" and isinstance(value, (str, int))]
    return f"{event['type']} {' '.join(about)}".strip()[:120]


def _describe_restore(event: Event) -> str:
    back = f": back to version {event['toVersion']:,}" if "toVersion" in event else ""
    return _RESTORE_VERBS[str(event["reason"])] + back
