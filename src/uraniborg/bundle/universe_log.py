"""Replay the log of a bundled universe to the states of all versions."""

from collections.abc import Sequence
from typing import Any, Final, cast, get_args

from universe.domain.citations import get_set_by_records, replace_set_by_records
from universe.domain.command_parser import parse_command
from universe.domain.field_types import SetBy
from universe.domain.provenance_tracking import Origin
from universe.domain.reducer import reduce
from universe.domain.state import EMPTY, Plain, State, check_and_copy_plain_state, make_state_from_plain
from universe.service.change_requests import RestoreReason
from universe.store.authors import is_author
from uraniborg.bundle.inspection import Inspection, Replay
from uraniborg.bundle.reader import Bundle, Unreadable
from uraniborg.kernel.actors import read_actor
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.json_values import JsonObject

_SHOWN: Final = 5
_ENTRY_FIELDS: Final = frozenset({"version", "kind", "at", "author", "actor", "command", "events", "state", "together"})


def read_document(bundle: Bundle, path: str) -> tuple[int, Plain]:
    """Return the version and the checked state of an exported universe. Raise Unreadable."""
    document = bundle.read_object(path)
    version = document.get("version")
    try:
        state = check_and_copy_plain_state(document.get("state"))
    except UraniborgError as exc:
        raise Unreadable(f"has no valid state: {exc.message}", path) from None
    if not isinstance(version, int):
        raise Unreadable("has no version", path)
    return version, state


def apply_entry(states: Sequence[State], entry: Any, version: int) -> State:
    """Return the state after an entry of the log. Raise Unreadable."""
    if not isinstance(entry, dict) or entry.get("version") != version:  # pyright: ignore[reportUnknownMemberType]
        raise Unreadable("an entry is missing")
    fields = cast("JsonObject", entry)
    if unknown := set(fields) - _ENTRY_FIELDS:
        raise Unreadable(f"an entry has unknown fields ({', '.join(sorted(unknown)[:_SHOWN])})")
    if fields.get("kind") not in ("restore", "command") or fields.get("together", True) is not True:
        raise Unreadable("an entry is of an unknown kind")
    actor = read_actor(fields.get("actor"))
    if fields.get("actor") is not None and (actor is None or not is_author(fields.get("author"), actor)):
        raise Unreadable("an entry has another author than its actor")
    try:
        if fields.get("kind") == "restore":
            restored = make_state_from_plain(check_and_copy_plain_state(fields.get("state")))
            _check_restore_event(states, restored, fields.get("events"))
            return restored
        author: Any = fields.get("author")
        outcome = reduce(
            states[-1], parse_command(fields.get("command")), None if author is None else Origin(version, author)
        )
    except UraniborgError as exc:
        raise Unreadable(f"an entry cannot be replayed: {exc.message}") from None
    if outcome.is_refused:
        raise Unreadable("a command cannot follow the entry before it")
    if fields.get("events") != outcome.events:
        raise Unreadable("an entry has other events than its command")
    return outcome.state


def _check_restore_event(states: Sequence[State], restored: State, events: Any) -> None:
    """Raise Unreadable unless an entry that restores a state says so, and the state is that of the version it names."""
    listed = cast("list[Any]", events) if isinstance(events, list) else []
    event = cast("JsonObject", listed[0]) if len(listed) == 1 and isinstance(listed[0], dict) else {}
    is_known = set(event) <= {"type", "reason", "toVersion"} and event.get("reason") in get_args(RestoreReason)
    if event.get("type") != "stateRestored" or not is_known:
        raise Unreadable("an entry that restores a state has other events")
    to = event.get("toVersion")
    if to is None:
        return
    if not isinstance(to, int) or not 0 <= to < len(states) or states[to].to_plain() != restored.to_plain():
        raise Unreadable("an entry restores another state than that of the version it names")


def replay(inspection: Inspection, folder: str) -> Replay:
    """Return the replayed log of a universe. Raise TimeOver."""
    if folder not in inspection.replays:
        states, problem, entries = [EMPTY], "", list[Any]()
        try:
            entries = inspection.bundle.read_json_lines(f"{folder}/log.jsonl")
            for entry in entries:
                inspection.limit.check()
                states.append(apply_entry(states, entry, len(states)))
        except Unreadable as exc:
            problem = f"{exc}, at version {len(states)}"
        inspection.replays[folder] = Replay(entries, states, problem)
    return inspection.replays[folder]


def find_universe_id(replayed: Plain, stored: Plain) -> str:
    """Return the universe that the records of a stored state name; an empty text if none does.

    Raise Unreadable if records of this universe name several.
    """
    named: set[str] = set()
    for key, body in replayed["stars"].items():
        records = get_set_by_records(stored["stars"][key])
        for field, record in get_set_by_records(body).items():
            if "universe" not in record and "imported" not in record:
                named.add(str(records[field].get("universe") or ""))
    if len(named) > 1:
        raise Unreadable("the records of its values name several universes")
    return next(iter(named), "")


def remove_universe_names(plain: Plain) -> Plain:
    """Return a state whose records do not name the universe that their versions belong to."""
    stars = {
        key: replace_set_by_records(
            body,
            {
                field: cast("SetBy", {name: value for name, value in record.items() if name != "universe"})
                for field, record in get_set_by_records(body).items()
            },
        )
        for key, body in plain["stars"].items()
    }
    return {**plain, "stars": stars}
