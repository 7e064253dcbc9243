"""How the commands tell people what they did: trees, tables and sentences on stdout."""

from collections.abc import Iterable
from typing import Any, Final

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from universe.claims import TextOf
from universe.domain.units import is_astronomical, unit_of
from universe.paragraphs import print_paragraph
from universe.store.checking import Verdict
from universe.value_status import value_status
from uraniborg.kernel.logging import printable
from uraniborg.kernel.text import plural

_MOST_CHILDREN: Final = 40
_MOST_LINES: Final = 400
_MOST_EVENTS: Final = 20
_TREE_WIDTH: Final = 400
"""Of files and pipes: one body in a line, never cut, which would lose who set a value."""
_RESTORED: Final = {
    "create": "made",
    "branch": "branched off",
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


def tell_made(made: dict[str, Any]) -> None:
    out = _console()
    out.print(f"Made [bold]{_safe(made['name'])}[/bold] with {_bodies(made['bodies'])}: {_safe(made['id'])}")


def tell_list(found: list[dict[str, Any]]) -> None:
    out = _console()
    if not found:
        out.print("No universes yet. `universe new --from solar-system` makes one.")
        return
    table = Table(box=None, pad_edge=False)
    for column in ("id", "version", "changed (UTC)", "name"):
        table.add_column(column, justify="right" if column == "version" else "left", no_wrap=column != "name")
    for one in found:
        table.add_row(_safe(one["id"]), f"{one['version']:,}", _minute(one["updatedAt"]), _safe(one["name"]))
    out.print(table)


def tell_result(done: dict[str, Any]) -> None:
    out = _console()
    passed = [_passed(done["timePassed"], done["timeUnit"])] if "timePassed" in done else []
    events = [_event(event) for event in done["events"]]
    more = [f"and {len(events) - _MOST_EVENTS:,} more"] if len(events) > _MOST_EVENTS else []
    happened = ", ".join([*events[:_MOST_EVENTS], *more, *passed]) or "nothing changed"
    out.print(f"Version {done['version']:,}: {happened}.")
    for warning in done.get("warnings", ()):
        print_paragraph(out, "  ", _safe(warning))


def with_unit(amount: float, unit: str) -> str:
    """Return an amount for a person: `30 days`, `1 day`."""
    return f"{amount:,.10g} {unit.removesuffix('s') if amount == 1 else unit}"


def _passed(time: float, unit: str) -> str:
    """Return how much time passed: `30 days passed`, `1 day passed`, `went back by 2 days`."""
    amount = with_unit(abs(time), unit)
    return f"{amount} passed" if time > 0 else f"time went back by {amount}"


def tell_history(entries: list[dict[str, Any]], after: int) -> None:
    out = _console()
    if not entries:
        out.print(f"Nothing has been done to it after version {after:,}." if after else "Nothing has been done to it.")
    for entry in entries:
        author = _safe(entry.get("author") or "not recorded")
        text = f"{_entry(entry)}  [dim]{author}[/dim]{_reason(entry)}"
        print_paragraph(out, f"[bold]{entry['version']:>6,}[/bold]  {_minute(entry['at'])}  ", text)


def _reason(entry: dict[str, Any]) -> str:
    command: dict[str, Any] = entry.get("command") or {}
    reason = command.get("reason")
    return f": {_safe(reason)}" if isinstance(reason, str) and reason else ""


def _bodies(count: int) -> str:
    return plural(count, "body", "bodies")


def _minute(at: str) -> str:
    return at[:16].replace("T", " ")


def tell_tree(name: str, version: int, plain: dict[str, Any], depth: int, time: str, text_of: TextOf) -> None:
    """Print the bodies as a tree from the roots, and the number of other entities.

    `time` is the time with its unit; `text_of` lends the texts of a shelf, to check claims.
    """
    out = _console()
    tree = Tree(f"[bold]{_safe(name)}[/bold]  version {version:,}, time {_safe(time)}")
    _grow(tree, plain, depth, text_of)
    if out.is_terminal:
        out.print(tree, soft_wrap=False)
    else:
        _console(_TREE_WIDTH).print(tree)
    others = {
        kind: len(plain[kind]) for kind in ("groups", "belts", "smallBodyFields", "protoplanetaryDisks", "nebulae")
    }
    counted = [f"{count:,} {kind}" for kind, count in others.items() if count]
    out.print(_bodies(len(plain["stars"])) + "".join(f", {one}" for one in counted))
    stray = [key for key, body in plain["stars"].items() if body["parentId"] and body["parentId"] not in plain["stars"]]
    if stray:
        named = ", ".join(_safe(key) for key in stray[:5])
        out.print(f"[yellow]{_bodies(len(stray))} without a parent that exists[/yellow], not in the tree: {named}")


def _grow(tree: Tree, plain: dict[str, Any], depth: int, text_of: TextOf) -> None:
    """Add the bodies level by level and each once: trees from elsewhere may be deep, wide or circular."""
    stars = plain["stars"]
    astronomical = is_astronomical(stars.values())
    seen: set[str] = set()
    lines = 0
    waiting = [(tree, list(dict.fromkeys(plain["rootIds"])), 1)]
    while waiting:
        branch, keys, level = waiting.pop(0)
        known = [key for key in keys if key in stars and key not in seen]
        for key in known[:_MOST_CHILDREN]:
            if lines >= _MOST_LINES:
                tree.add(Text(f"… and more; only {_MOST_LINES} are shown", style="dim"))
                return
            lines += 1
            seen.add(key)
            body = stars[key]
            twig = branch.add(_body(key, body, astronomical=astronomical, text_of=text_of))
            if body["children"] and level < depth:
                waiting.append((twig, body["children"], level + 1))
            elif body["children"]:
                twig.add(Text(f"… {len(body['children']):,} below; --depth {level + 1} shows more", style="dim"))
        if len(known) > _MOST_CHILDREN:
            branch.add(Text(f"… {len(known) - _MOST_CHILDREN:,} more", style="dim"))


def tell_verdicts(verdicts: Iterable[Verdict]) -> None:
    out = _console()
    for one in verdicts:
        if one.is_whole:
            out.print(
                f"[green]whole[/green]    {_safe(one.universe_id)}: {plural(one.entries, 'entry', 'entries')}, "
                f"{plural(one.snapshots, 'snapshot')}"
            )
            continue
        out.print(f"[red]damaged[/red]  {_safe(one.universe_id)}")
        for problem in one.problems[:20]:
            out.print(f"           {problem['sequence']}: {_safe(problem['problem'])}")


def tell_commands(categories: list[dict[str, Any]]) -> None:
    out = _console()
    for category in categories:
        out.print(f"\n[bold]{category['name']}[/bold]  [dim]{category['slug']}[/dim]")
        for command in category["commands"]:
            fields = ", ".join(name if field["required"] else f"{name}?" for name, field in command["fields"].items())
            out.print(f"  [bold]{command['type']}[/bold] {_safe('{')}{fields}{_safe('}')}  {command['description']}")


def _body(key: str, body: dict[str, Any], *, astronomical: bool, text_of: TextOf) -> Text:
    sign = _SIGNS.get(body.get("bodyType") or "star", "●")
    color = body["color"] if isinstance(body.get("color"), str) and _is_hex(body["color"]) else "default"
    text = Text.assemble((sign, color), " ", (printable(body["name"], keep="")[:60], "bold"))
    if key != body["name"]:
        text.append(f"  {printable(key, keep='')[:60]}", "dim")
    shown = {"mass": "  mass ", "orbitalDistance": ", at "}
    for field, label in shown.items():
        unit = unit_of(field, astronomical=astronomical)
        unit = "solar mass" if unit == "solar masses" and body[field] == 1 else unit
        text.append(f"{label}{body[field]:.4g} {unit}".rstrip(), "dim")
        if mark := value_status(body, field, text_of).mark:
            text.append(f" ({printable(mark, keep='')})", "yellow")
    return text


def _is_hex(color: str) -> bool:
    return len(color) == 7 and color[0] == "#" and all(digit in "0123456789abcdefABCDEF" for digit in color[1:])


def _entry(entry: dict[str, Any]) -> str:
    if entry.get("damaged"):
        return "[red]damaged[/red]"
    happened = ", ".join(_event(event) for event in entry["events"][:3])
    if entry["kind"] == "command":
        passed = f" {entry['command']['dt']:g}" if entry["command"]["type"] == "tick" else ""
        return "  ".join(filter(None, (f"{_safe(entry['command']['type'])}{passed}", happened)))
    return happened


def _event(event: dict[str, Any]) -> str:
    if event["type"] == "stateRestored":
        return _restored(event)
    about = [str(value) for name, value in event.items() if name != "type" and isinstance(value, (str, int))]
    return _safe(f"{event['type']} {' '.join(about)}".strip()[:120])


def _restored(event: dict[str, Any]) -> str:
    back = f": back to version {event['toVersion']:,}" if "toVersion" in event else ""
    return _RESTORED[event["reason"]] + back


def _safe(text: str) -> str:
    return escape(printable(text, keep=""))


def _console(width: int | None = None) -> Console:
    return Console(highlight=False, soft_wrap=True, width=width)
