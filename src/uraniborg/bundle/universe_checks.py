"""The checks of universes: the log leads to the state, and the values and citations are those of the state."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, cast

from universe.domain.citations import get_set_by_records, replace_set_by_records
from universe.domain.command_parser import parse_command
from universe.domain.provenance_tracking import Origin
from universe.domain.reducer import reduce
from universe.domain.state import EMPTY, State, check_and_copy_plain_state, make_state_from_plain
from universe.initial_states import load_or_generate_state
from universe.provenance.bibliography import collect_cited_sources, format_bibtex
from universe.systems import list_system_names
from uraniborg.bundle.checks import Check
from uraniborg.bundle.inspection import History, Inspection, Verified
from uraniborg.bundle.pieces import Plain
from uraniborg.bundle.reader import Bundle, Unreadable
from uraniborg.bundle.search_checks import read_bibtex_keys
from uraniborg.bundle.universe_pieces import make_document, make_universe_piece
from uraniborg.bundle.value_table import list_value_rows
from uraniborg.kernel.csv_cells import restore_cell
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.logging import make_printable
from uraniborg.kernel.text import plural

_SHOWN = 5
_ENTRY_FIELDS = frozenset({"version", "kind", "at", "author", "command", "events", "state", "together"})


def read_document(bundle: Bundle, path: str) -> tuple[int, Plain]:
    """Return the version and the checked state of an exported universe. Raise Unreadable."""
    document = bundle.read_object(path)
    version = document.get("version")
    try:
        state = check_and_copy_plain_state(document.get("state"))
    except UraniborgError as exc:
        raise Unreadable(f"has no valid state: {exc.message}") from None
    if not isinstance(version, int):
        raise Unreadable("has no version")
    return version, state


def verify_universe(inspection: Inspection, folder: str) -> Verified:
    """Replay the log of a universe, and make its state, its table of values and its citations again."""
    bundle = inspection.bundle
    try:
        version, state = read_document(bundle, f"{folder}/universe.json")
        document = bundle.read_object(f"{folder}/universe.json")
    except Unreadable as exc:
        return Verified([Check(f"{folder}/universe.json", "differs", str(exc))], None)
    log = bundle.read_json_lines(f"{folder}/log.jsonl")
    checked, states = _replay_log(f"{folder}/log.jsonl", log, version, state)
    values, rows = _check_values(bundle, f"{folder}/values.csv", state)
    checks = [checked, *values, _check_sources(bundle, f"{folder}/sources.bib", state)]
    if states is None:
        return Verified(checks, None)
    record = "who sent the commands and when, and the name and id of the universe: only this record states them"
    checks += [*_check_origins(inspection, folder, log, states), Check(f"{folder}/log.jsonl", "not checked", record)]
    replayed = states[-1].to_plain()
    try:
        universe_id = _find_universe_id(replayed, state)
    except Unreadable as exc:
        return Verified([*checks, Check(f"{folder}/universe.json", "differs", str(exc))], None)
    # Files that list bodies have them in the order of the document.
    ordered = {**replayed, "stars": {key: replayed["stars"][key] for key in state["stars"]}}
    made = make_document(ordered, universe_id, str(document.get("name")), version)
    inspection.histories[folder] = History(
        folder, made["name"], universe_id, states, [entry["command"] for entry in log if "command" in entry]
    )
    return Verified(checks, make_universe_piece(made, log, rows, folder))


def _replay_log(path: str, log: Sequence[Any], version: int, state: Plain) -> tuple[Check, list[State] | None]:
    """Return the check of the log, and the state at each version if the log leads to the stored state."""
    states = [EMPTY]
    try:
        for number, entry in enumerate(log, 1):
            states.append(_apply_entry(states, entry, number))
    except Unreadable as exc:
        return Check(path, "differs", f"{exc}, at version {len(states)}"), None
    last = len(log)
    if last != version:
        problem = f"the log ends at version {last}, and the universe is at version {version}"
        return Check(path, "differs", problem), None
    one, other = (remove_universe_names(plain) for plain in (states[-1].to_plain(), state))
    if one == other:
        found = f"{plural(last, 'entry', 'entries')} replayed to the state of version {version}"
        return Check(path, "matched", found), states
    return Check(
        path, "differs", f"the replayed state differs from universe.json: {_describe_difference(one, other)}"
    ), None


def _apply_entry(states: Sequence[State], entry: Any, version: int) -> State:
    """Return the state after an entry of the log. Raise Unreadable."""
    if not isinstance(entry, dict) or entry.get("version") != version:  # pyright: ignore[reportUnknownMemberType]
        raise Unreadable("an entry is missing")
    fields: Plain = entry  # pyright: ignore[reportUnknownVariableType]
    if unknown := set(fields) - _ENTRY_FIELDS:
        raise Unreadable(f"an entry has unknown fields ({', '.join(map(make_printable, sorted(unknown)[:_SHOWN]))})")
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
    event = cast("Plain", listed[0]) if len(listed) == 1 and isinstance(listed[0], dict) else {}
    if event.get("type") != "stateRestored" or not set(event) <= {"type", "reason", "toVersion"}:
        raise Unreadable("an entry that restores a state has other events")
    to = event.get("toVersion")
    if to is None:
        return
    if not isinstance(to, int) or not 0 <= to < len(states) or states[to].to_plain() != restored.to_plain():
        raise Unreadable("an entry restores another state than that of the version it names")


def _check_origins(
    inspection: Inspection, folder: str, log: Sequence[Plain], states: Sequence[State]
) -> Iterator[Check]:
    """Yield what is known about states that no command made: shipped ones, and those of other universes."""
    path, unknown = f"{folder}/log.jsonl", list[str]()
    for entry, state in zip(log, states[1:], strict=True):
        if entry["kind"] != "restore" or "toVersion" in entry["events"][0]:
            continue
        if origin := _find_origin(inspection, folder, state):
            yield Check(path, "matched", f"version {entry['version']} is {origin}")
        elif entry["events"][0].get("reason") == "branch" and (parent := _find_parent(inspection, folder, state)):
            yield Check(path, "differs", f"version {entry['version']} is a branch, and not a version of {parent}")
        else:
            unknown.append(str(entry["version"]))
    if unknown:
        listed = ", ".join(unknown)
        yield Check(path, "not checked", f"the state that was put in at version {listed}: only this record states it")


def _find_origin(inspection: Inspection, folder: str, state: State) -> str:
    """Return where a state is from; an empty text if that is not known."""
    plain = remove_universe_names(state.to_plain())
    for name in list_system_names():
        shipped = make_state_from_plain(check_and_copy_plain_state(load_or_generate_state(name)))
        if shipped.to_plain() == plain:
            return f"the system {name} as this program ships it"
    for other in inspection.bundle.find_folders("universes"):
        if other != folder:
            for version, known in enumerate(_replay_other(inspection, other)):
                if remove_universe_names(known.to_plain()) == plain:
                    return f"version {version} of {other}"
    return ""


def _find_parent(inspection: Inspection, folder: str, state: State) -> str:
    """Return the universe of the bundle that the records of a branch name; an empty text if there is none."""
    plain = state.to_plain()
    named = {record.get("universe") for body in plain["stars"].values() for record in get_set_by_records(body).values()}
    for other in inspection.bundle.find_folders("universes"):
        if other == folder or not (states := _replay_other(inspection, other))[1:]:
            continue
        with suppress(Unreadable):
            stored = inspection.bundle.read_object(f"{other}/universe.json")["state"]
            if _find_universe_id(states[-1].to_plain(), stored) in named - {None}:
                return other
    return ""


def _replay_other(inspection: Inspection, folder: str) -> list[State]:
    """Return the states of another universe, as far as its log can be replayed."""
    states = [EMPTY]
    with suppress(Unreadable):
        for entry in inspection.bundle.read_json_lines(f"{folder}/log.jsonl"):
            states.append(_apply_entry(states, entry, len(states)))
    return states


def _find_universe_id(replayed: Plain, stored: Plain) -> str:
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
                field: {name: value for name, value in record.items() if name != "universe"}
                for field, record in get_set_by_records(body).items()
            },
        )
        for key, body in plain["stars"].items()
    }
    return {**plain, "stars": stars}


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
    return "; ".join(map(make_printable, texts[:_SHOWN])) or "in something else than its bodies"


def _shorten(value: Any) -> str:
    return str(value)[:80]


def _check_values(bundle: Bundle, path: str, state: Plain) -> tuple[list[Check], list[Plain]]:
    """Compare the table with one computed from the state, and return the computed rows.

    The texts of papers are not in the bundle, so that a value which a text refuted keeps the status that is stored.
    """
    computed = list_value_rows(state, None)
    try:
        rows = csv.DictReader(io.StringIO(bundle.read(path).decode(), newline=""))
        stored = [
            {name: restore_cell(cell) if isinstance(cell, str) else cell for name, cell in row.items()} for row in rows
        ]
    except (Unreadable, UnicodeDecodeError, csv.Error) as exc:
        return [Check(path, "differs", f"cannot be read: {exc}")], computed
    if len(stored) != len(computed):
        problem = f"has {plural(len(stored), 'row')}, and the universe {len(computed)}"
        return [Check(path, "differs", problem)], computed
    expected = {_make_key(row): row for row in computed}
    refutable = {key: row for row in list_value_rows(state, lambda _: " ") if (key := _make_key(row)) in expected}
    refuted = 0
    for row in stored:
        key = _make_key(row)
        found = expected.get(key)
        where = make_printable(f"{row.get('field')} of {row.get('body')}")
        if found is None:
            problem = f"{where} is {_shorten(row.get('value'))}, which the universe does not have"
            return [Check(path, "differs", problem)], computed
        if row == refutable.get(key) != found:
            refuted += 1
            found |= row
        elif changed := [name for name in {**found, **row} if row.get(name) != found.get(name)]:
            names = ", ".join(make_printable(str(name))[:40] for name in changed)
            return [Check(path, "differs", f"{where}: not as in the universe: {names}")], computed
    supported = sum(row.get("status") == "supported" for row in stored)
    checks = [
        Check(
            path, "matched", f"{plural(len(stored), 'value')} as in the universe, {supported} supported by their rows"
        )
    ]
    if refuted:
        reason = f"the status “unverified claim” of {plural(refuted, 'value')}: it follows from a text that is not here"
        checks.append(Check(path, "not checked", reason))
    return checks, computed


def _make_key(row: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    return row.get("body"), row.get("field"), row.get("value")


def _check_sources(bundle: Bundle, path: str, state: Plain) -> Check:
    try:
        keys = set(read_bibtex_keys(bundle, path))
    except (Unreadable, UnicodeDecodeError) as exc:
        return Check(path, "differs", f"cannot be read: {exc}")
    cited = collect_cited_sources(state["stars"])
    written = format_bibtex(cited)
    expected = {line.partition("{")[2].rstrip(", ") for line in written.splitlines() if line.startswith("@")}
    if missing := sorted(expected - keys):
        return Check(path, "differs", f"cited and not in the bibliography: {', '.join(missing[:_SHOWN])}")
    return Check(path, "matched", f"{plural(len(cited), 'cited source is', 'cited sources are')} in the bibliography")
