"""Reports of `universe` commands on stdout: lists, trees, histories, changes and verdicts."""

from collections.abc import Iterable
from typing import Final, cast

from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from universe.claims import PaperTextReader
from universe.domain.command_replies import CommandCategory
from universe.domain.entities import Entity
from universe.domain.events_and_refusals import Event
from universe.domain.state import Plain
from universe.domain.units import get_field_unit, has_astronomical_body
from universe.provenance.value_status import compute_value_status
from universe.replies import ChangeSummary, DeletionFacts, Facts, HistoryWithActors, LogEntry, NewUniverse
from universe.store.log_verification import Verdict
from universe.terminal.actors import format_actor, format_author
from universe.terminal.console import escape_text, make_console
from uraniborg.kernel.logging import make_printable
from uraniborg.kernel.paragraphs import print_paragraph
from uraniborg.kernel.text import plural

_MAX_CHILDREN: Final = 40
_MAX_LINES: Final = 400
_MAX_EVENTS: Final = 20
_TREE_WIDTH: Final = 400
"""The width in files and pipes: one body on each line, never cut."""
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
    console = make_console()
    name, bodies = escape_text(created["name"]), _format_body_count(created["bodies"])
    print_paragraph(console, "", f"Created [bold]{name}[/bold] with {bodies}: {escape_text(created['id'])}")


def print_universe_list(found: list[Facts]) -> None:
    """Print a table of universes."""
    console = make_console()
    if not found:
        console.print("There are no universes yet. Create one: universe new --from solar-system")
        return
    table = Table(box=None, pad_edge=False)
    for column in ("id", "version", "changed (UTC)", "name"):
        table.add_column(column, justify="right" if column == "version" else "left", no_wrap=column != "name")
    for one in found:
        table.add_row(
            escape_text(one["id"]), f"{one['version']:,}", _format_to_minute(one["updatedAt"]), escape_text(one["name"])
        )
    console.print(table)


def print_deletions(found: list[DeletionFacts]) -> None:
    """Print deleted universes and who deleted them."""
    console = make_console()
    if not found:
        console.print("No universe was deleted.")
    for one in found:
        name = f"[bold]{escape_text(one['id'])}[/bold] ({escape_text(one['name'])})"
        by = f"[dim]deleted by {format_actor(one['deletedBy'])}[/dim]"
        label = f"{_format_to_minute(one['deletedAt'])}  "
        print_paragraph(console, label, f"{name} at version {one['version']:,}, {by}")


def print_change(done: ChangeSummary) -> None:
    """Print the version, events and warnings of a change."""
    console = make_console()
    passed = [_describe_passed_time(done["timePassed"], done.get("timeUnit", ""))] if "timePassed" in done else []
    events = [_describe_event(event) for event in done["events"]]
    more = [f"and {len(events) - _MAX_EVENTS:,} more"] if len(events) > _MAX_EVENTS else []
    happened = ", ".join([*events[:_MAX_EVENTS], *more, *passed]) or "nothing changed"
    console.print(f"Version {done['version']:,}: {happened}.")
    for warning in done.get("warnings", ()):
        print_paragraph(console, "  ", escape_text(warning))


def format_amount_with_unit(amount: float, unit: str) -> str:
    """Return an amount with its unit: `30 days`, `1 day`."""
    return f"{amount:,.10g} {unit.removesuffix('s') if amount == 1 else unit}"


def _describe_passed_time(time: float, unit: str) -> str:
    """Return the time that passed: `30 days passed`, `1 day passed`, `time went back by 2 days`."""
    amount = format_amount_with_unit(abs(time), unit)
    return f"{amount} passed" if time > 0 else f"time went back by {amount}"


def print_history(found: HistoryWithActors, after: int) -> None:
    """Print who created and renamed a universe, and the entries of its log with their authors and reasons."""
    console = make_console()
    entries = found["entries"]
    if not entries:
        console.print(f"There are no changes after version {after:,}." if after else "There are no changes.")
    for entry in entries:
        text = f"{_describe_entry(entry)}  [dim]{format_author(entry)}[/dim]{_format_reason(entry)}"
        print_paragraph(console, f"[bold]{entry['version']:>6,}[/bold]  {_format_to_minute(entry['at'])}  ", text)
    if not after:
        print_creator(found)


def print_creator(described: Facts | HistoryWithActors) -> None:
    """Print who created a universe, and who gave it its name if it was renamed."""
    renamed = f", renamed by {format_actor(described['renamedBy'])}" if described["renamedBy"] else ""
    print_paragraph(make_console(), "", f"[dim]Created by {format_actor(described['createdBy'])}{renamed}.[/dim]")


def _format_reason(entry: LogEntry) -> str:
    reason = entry.get("command", {}).get("reason")
    return f": {escape_text(reason)}" if isinstance(reason, str) and reason else ""


def _format_body_count(count: int) -> str:
    return plural(count, "body", "bodies")


def _format_to_minute(at: str) -> str:
    return at[:16].replace("T", " ")


def print_tree(name: str, version: int, plain: Plain, depth: int, time: str, text_of: PaperTextReader) -> None:
    """Print the bodies as a tree from the roots, and the number of other entities.

    `time` is the time with its unit; `text_of` returns the texts of a shelf, to check claims.
    """
    console = make_console()
    tree = Tree(f"[bold]{escape_text(name)}[/bold]  version {version:,}, time {escape_text(time)}")
    _add_bodies_to_tree(tree, plain, depth, text_of)
    if console.is_terminal:
        console.print(tree, soft_wrap=False)
    else:
        make_console(_TREE_WIDTH).print(tree)
    others = {
        kind: len(plain[kind]) for kind in ("groups", "belts", "smallBodyFields", "protoplanetaryDisks", "nebulae")
    }
    counted = [f"{count:,} {kind}" for kind, count in others.items() if count]
    console.print(_format_body_count(len(plain["stars"])) + "".join(f", {one}" for one in counted))
    stray = [key for key, body in plain["stars"].items() if body["parentId"] and body["parentId"] not in plain["stars"]]
    if stray:
        named = ", ".join(escape_text(key) for key in stray[:5])
        console.print(
            f"[yellow]{_format_body_count(len(stray))} whose parent does not exist[/yellow], not in the tree: {named}"
        )


def _add_bodies_to_tree(tree: Tree, plain: Plain, depth: int, text_of: PaperTextReader) -> None:
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
                tree.add(Text(f"… and more; only {_MAX_LINES} are displayed", style="dim"))
                return
            lines += 1
            seen.add(key)
            body = stars[key]
            twig = branch.add(_format_body_line(key, body, astronomical=astronomical, text_of=text_of))
            children = cast("list[str]", body["children"])
            if children and level < depth:
                waiting.append((twig, children, level + 1))
            elif children:
                twig.add(Text(f"… {len(children):,} below; --depth {level + 1} shows more", style="dim"))
        if len(known) > _MAX_CHILDREN:
            branch.add(Text(f"… {len(known) - _MAX_CHILDREN:,} more", style="dim"))


def print_verdicts(verdicts: Iterable[Verdict]) -> None:
    """Print the result of the verification of each universe."""
    console = make_console()
    for one in verdicts:
        if one.is_intact:
            console.print(
                f"[green]intact[/green]   {escape_text(one.universe_id)}: {plural(one.entries, 'entry', 'entries')}, "
                f"{plural(one.snapshots, 'snapshot')}"
            )
            continue
        console.print(f"[red]damaged[/red]  {escape_text(one.universe_id)}")
        for problem in one.problems[:20]:
            console.print(f"           {problem['sequence']}: {escape_text(problem['problem'])}")


def print_commands(categories: list[CommandCategory]) -> None:
    """Print the commands of these categories with their fields."""
    console = make_console()
    for category in categories:
        console.print(f"\n[bold]{category['name']}[/bold]  [dim]{category['slug']}[/dim]")
        for command in category["commands"]:
            fields = ", ".join(name if field["required"] else f"{name}?" for name, field in command["fields"].items())
            print_paragraph(console, "  ", f"[bold]{command['type']}[/bold] {{{fields}}}")
            print_paragraph(console, "    ", command["description"])


def _format_body_line(key: str, body: Entity, *, astronomical: bool, text_of: PaperTextReader) -> Text:
    sign = _SIGNS.get(str(body.get("bodyType") or "star"), "●")
    name, given = str(body["name"]), body.get("color")
    color = given if isinstance(given, str) and _is_hex_color(given) else "default"
    text = Text.assemble((sign, color), " ", (make_printable(name, keep="")[:60], "bold"))
    if key != name:
        text.append(f"  {make_printable(key, keep='')[:60]}", "dim")
    shown = {"mass": "  mass ", "orbitalDistance": ", at "}
    for field, label in shown.items():
        unit = get_field_unit(field, astronomical=astronomical)
        unit = "solar mass" if unit == "solar masses" and body[field] == 1 else unit
        text.append(f"{label}{body[field]:.4g} {unit}".rstrip(), "dim")
        if mark := compute_value_status(body, field, text_of).display_note:
            text.append(f" ({make_printable(mark, keep='')})", "yellow")
    return text


def _is_hex_color(color: str) -> bool:
    return len(color) == 7 and color[0] == "#" and all(digit in "0123456789abcdefABCDEF" for digit in color[1:])


def _describe_entry(entry: LogEntry) -> str:
    if entry.get("damaged"):
        return "[red]damaged[/red]"
    happened = ", ".join(_describe_event(event) for event in entry.get("events", [])[:3])
    if command := entry.get("command"):
        passed = f" {command['dt']:g}" if command["type"] == "tick" else ""
        return "  ".join(filter(None, (f"{escape_text(str(command['type']))}{passed}", happened)))
    return happened


def _describe_event(event: Event) -> str:
    if event["type"] == "stateRestored":
        return _describe_restore(event)
    about = [str(value) for name, value in event.items() if name != "type" and isinstance(value, (str, int))]
    return escape_text(f"{event['type']} {' '.join(about)}".strip()[:120])


def _describe_restore(event: Event) -> str:
    back = f": back to version {event['toVersion']:,}" if "toVersion" in event else ""
    return _RESTORE_VERBS[str(event["reason"])] + back
