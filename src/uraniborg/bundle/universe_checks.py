"""Check universes: their log leads to their state, and origins, values and citations are those of the state."""

import csv
import hashlib
import io
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from itertools import islice, zip_longest
from typing import Any, Final, cast, get_args

import orjson

from universe.domain.command_parser import parse_command
from universe.domain.field_types import SetBy
from universe.domain.provenance.citations import get_set_by_records, replace_set_by_records
from universe.domain.provenance.provenance_tracking import ChangeOrigin
from universe.domain.reducer import reduce
from universe.domain.state import EMPTY, Plain, State, check_and_copy_plain_state, make_state_from_plain
from universe.domain.systems import list_system_names
from universe.service.batch import RestoreReason
from universe.service.initial_states import load_or_generate_state
from universe.store.log_encoding import is_author
from uraniborg.bundle.file_checks import MOST_MORE, check_files
from uraniborg.bundle.inspection import Check, Inspection, Replay, ReplayedHistory, Verified, make_statement
from uraniborg.bundle.reader import Bundle, UnreadableBundle
from uraniborg.bundle.records import RecordedLogEntry, UniverseDocument, ValueRow
from uraniborg.bundle.universe_pieces import list_value_rows, make_document, make_universe_piece, write_value_table
from uraniborg.kernel.actors import read_actor
from uraniborg.kernel.boundary import restore_cell
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.json_values import JsonObject
from uraniborg.kernel.language.messages import plural

_SHOWN: Final = 5
_ENTRY_FIELDS: Final = frozenset({"version", "kind", "at", "author", "actor", "command", "events", "state", "together"})


def read_document(bundle: Bundle, path: str) -> tuple[int, Plain]:
    """Return the version and the checked state of an exported universe. Raise Unreadable."""
    document = bundle.read_object(path)
    version = document.get("version")
    try:
        state = check_and_copy_plain_state(document.get("state"))
    except UraniborgError as exc:
        raise UnreadableBundle(f"has no valid state: {exc.message}", path) from None
    if not isinstance(version, int):
        raise UnreadableBundle("has no version", path)
    return version, state


def apply_entry(states: Sequence[State], entry: Any, version: int) -> State:
    """Return the state after an entry of the log. Raise Unreadable."""
    if not isinstance(entry, dict) or entry.get("version") != version:  # pyright: ignore[reportUnknownMemberType]
        raise UnreadableBundle("an entry is missing")
    fields = cast("JsonObject", entry)
    if unknown := set(fields) - _ENTRY_FIELDS:
        raise UnreadableBundle(f"an entry has unknown fields ({', '.join(sorted(unknown)[:_SHOWN])})")
    if fields.get("kind") not in ("restore", "command") or fields.get("together", True) is not True:
        raise UnreadableBundle("an entry is of an unknown kind")
    actor = read_actor(fields.get("actor"))
    if fields.get("actor") is not None and (actor is None or not is_author(fields.get("author"), actor)):
        raise UnreadableBundle("an entry has another author than its actor")
    try:
        if fields.get("kind") == "restore":
            restored = make_state_from_plain(check_and_copy_plain_state(fields.get("state")))
            _check_restore_event(states, restored, fields.get("events"))
            return restored
        author: Any = fields.get("author")
        outcome = reduce(
            states[-1], parse_command(fields.get("command")), None if author is None else ChangeOrigin(version, author)
        )
    except UraniborgError as exc:
        raise UnreadableBundle(f"an entry cannot be replayed: {exc.message}") from None
    if outcome.is_refused:
        raise UnreadableBundle("a command cannot follow the entry before it")
    if fields.get("events") != outcome.events:
        raise UnreadableBundle("an entry has other events than its command")
    return outcome.state


def _check_restore_event(states: Sequence[State], restored: State, events: Any) -> None:
    """Raise Unreadable unless an entry that restores a state says so, and the state is that of the version it names."""
    listed = cast("list[Any]", events) if isinstance(events, list) else []
    event = cast("JsonObject", listed[0]) if len(listed) == 1 and isinstance(listed[0], dict) else {}
    is_known = set(event) <= {"type", "reason", "toVersion"} and event.get("reason") in get_args(RestoreReason)
    if event.get("type") != "stateRestored" or not is_known:
        raise UnreadableBundle("an entry that restores a state has other events")
    to = event.get("toVersion")
    if to is None:
        return
    if not isinstance(to, int) or not 0 <= to < len(states) or states[to].to_plain() != restored.to_plain():
        raise UnreadableBundle("an entry restores another state than that of the version it names")


def replay(inspection: Inspection, folder: str) -> Replay:
    """Return the replayed log of a universe. Raise TimeOver."""
    if folder not in inspection.replays:
        states, problem, entries = [EMPTY], "", list[Any]()
        try:
            entries = inspection.bundle.read_json_lines(f"{folder}/log.jsonl")
            for entry in entries:
                inspection.limit.check()
                states.append(apply_entry(states, entry, len(states)))
        except UnreadableBundle as exc:
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
        raise UnreadableBundle("the records of its values name several universes")
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


def check_origins(
    inspection: Inspection, folder: str, log: Sequence[RecordedLogEntry], states: Sequence[State]
) -> Iterator[Check]:
    """Yield what is known about states that no command made: shipped ones, and those of other universes."""
    path, unknown = f"{folder}/log.jsonl", list[str]()
    for entry, state in zip(log, states[1:], strict=True):
        if entry["kind"] != "restore":
            continue
        assert "events" in entry  # the replay has compared them
        event = entry["events"][0]
        if "toVersion" in event:
            continue
        if origin := _find_origin(inspection, folder, state):
            yield Check(path, "matched", f"version {entry['version']} is {origin}")
        elif event["reason"] == "branch" and (parent := _find_parent(inspection, folder, state)):
            yield Check(path, "differs", f"version {entry['version']} is a branch, and not a version of {parent}")
        else:
            unknown.append(str(entry["version"]))
    if unknown:
        listed = ", ".join(unknown)
        yield make_statement(path, f"the state that was put in at version {listed}: only this record states it")


def _find_origin(inspection: Inspection, folder: str, state: State) -> str:
    """Return where a state is from; an empty text if that is not known."""
    digest = _compute_digest(state)
    if name := _find_shipped_systems().get(digest):
        return f"the system {name} as this program ships it"
    for other in inspection.bundle.find_folders("universes"):
        if other not in inspection.origins:
            states = replay(inspection, other).states
            inspection.origins[other] = {_compute_digest(one): number for number, one in reversed([*enumerate(states)])}
        if other != folder and (version := inspection.origins[other].get(digest)) is not None:
            return f"version {version} of {other}"
    return ""


@cache
def _find_shipped_systems() -> dict[bytes, str]:
    """Return the names of the systems that this program ships, by the digests of their states."""
    loaded = {name: check_and_copy_plain_state(load_or_generate_state(name)) for name in list_system_names()}
    return {_compute_digest(make_state_from_plain(plain)): name for name, plain in loaded.items()}


def _compute_digest(state: State) -> bytes:
    """Return a digest that two states with the same values share, whatever universe their records name."""
    plain = remove_universe_names(state.to_plain())
    return hashlib.sha256(orjson.dumps(plain, option=orjson.OPT_SORT_KEYS)).digest()


def _find_parent(inspection: Inspection, folder: str, state: State) -> str:
    """Return the universe of the bundle that the records of a branch name; an empty text if there is none."""
    plain = state.to_plain()
    named = {record.get("universe") for body in plain["stars"].values() for record in get_set_by_records(body).values()}
    for other in inspection.bundle.find_folders("universes"):
        if other == folder or not (states := replay(inspection, other).states)[1:]:
            continue
        with suppress(UnreadableBundle):
            stored = cast("UniverseDocument", inspection.bundle.read_object(f"{other}/universe.json"))["state"]
            if find_universe_id(states[-1].to_plain(), stored) in named - {None}:
                return other
    return ""


def compute_rows(bundle: Bundle, path: str, state: Plain) -> tuple[list[ValueRow], list[Check]]:
    """Return the rows that the table must have, and what only the table states.

    The texts of papers are not in the bundle, so that a value which a text refuted keeps the status that is stored.
    """
    computed, refuted = list_value_rows(state, None), list_value_rows(state, lambda _: " ")
    stored: list[dict[str, str]] = []
    with suppress(UnreadableBundle, UnicodeDecodeError, csv.Error):  # the check of the file says why
        content = bundle.read(path, most=2 * len(write_value_table(computed).encode()) + MOST_MORE)
        table = islice(csv.DictReader(io.StringIO(content.decode(), newline="")), len(computed))
        stored = [
            {name: restore_cell(cell) if isinstance(cell, str) else cell for name, cell in row.items()} for row in table
        ]
    pairs = zip_longest(zip(computed, refuted, strict=True), stored)
    rows = [other if row == other else one for (one, other), row in pairs]
    if not (count := sum(one != row for one, row in zip(computed, rows, strict=True))):
        return rows, []
    reason = f"the status “unverified claim” of {plural(count, 'value')}: it follows from a text that is not here"
    return rows, [make_statement(path, reason)]


def verify_universe(inspection: Inspection, folder: str) -> Verified:
    """Replay the log of a universe, and make its state, its table of values and its citations again."""
    bundle, path = inspection.bundle, f"{folder}/universe.json"
    version, state = read_document(bundle, path)
    document = bundle.read_object(path)
    replayed = replay(inspection, folder)
    problem = replayed.problem or _compare_states(replayed, version, state)
    rows, stated_rows = compute_rows(bundle, f"{folder}/values.csv", state)
    if problem:
        tables = make_universe_piece(make_document(state, "", "", version), [], rows, folder).files[2:]
        checks = [Check(f"{folder}/log.jsonl", "differs", problem), *stated_rows]
        return Verified([*checks, *check_files(bundle, folder, tables)], None)
    log, states = replayed.entries, replayed.states
    found = f"{plural(len(log), 'entry', 'entries')} replayed to the state of version {version}"
    stated = "who sent the commands and when, and the name and id of the universe: only this record states them"
    checks = [
        Check(f"{folder}/log.jsonl", "matched", found),
        *stated_rows,
        *check_origins(inspection, folder, log, states),
        make_statement(f"{folder}/log.jsonl", stated),
    ]
    plain = states[-1].to_plain()
    try:
        universe_id = find_universe_id(plain, state)
    except UnreadableBundle as exc:
        return Verified([*checks, Check(path, "differs", str(exc))], None)
    # Files that list bodies have them in the order of the document.
    ordered: Plain = {**plain, "stars": {key: plain["stars"][key] for key in state["stars"]}}
    made = make_document(ordered, universe_id, str(document.get("name")), version)
    commands = [entry["command"] for entry in log if "command" in entry]
    inspection.histories[folder] = ReplayedHistory(folder, made["name"], universe_id, states, commands)
    return Verified(checks, make_universe_piece(made, log, rows, folder))


def _compare_states(replayed: Replay, version: int, state: Plain) -> str:
    """Return how the end of a log differs from the stored state; an empty text if it does not."""
    last = len(replayed.entries)
    if last != version:
        return f"the log ends at version {last}, and the universe is at version {version}"
    one, other = (remove_universe_names(plain) for plain in (replayed.states[-1].to_plain(), state))
    if one == other:
        return ""
    return f"the replayed state differs from universe.json: {_describe_difference(one, other)}"


def _describe_difference(one: Plain, other: Plain) -> str:
    """Return the first values that differ, by body and field, plain values before blocks."""
    found: list[tuple[bool, str]] = []
    for key in {**one["stars"], **other["stars"]}:
        replayed, stored = one["stars"].get(key, {}), other["stars"].get(key, {})
        found += [
            (
                isinstance(stored.get(field), dict),
                f"{key}.{field} is {_shorten(stored.get(field))}, replayed {_shorten(replayed.get(field))}",
            )
            for field in {**replayed, **stored}
            if replayed.get(field) != stored.get(field)
        ]
    texts = [text for _, text in sorted(found, key=lambda pair: pair[0])]
    return "; ".join(texts[:_SHOWN]) or "in something else than its bodies"


def _shorten(value: Any) -> str:
    return str(value)[:80]
