"""Check states that no command made: they come from shipped systems or other universes of the bundle."""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from typing import cast

import orjson

from universe.domain.citations import get_set_by_records
from universe.domain.state import State, check_and_copy_plain_state, make_state_from_plain
from universe.initial_states import load_or_generate_state
from universe.systems import list_system_names
from uraniborg.bundle.checks import Check, make_statement
from uraniborg.bundle.inspection import Inspection
from uraniborg.bundle.reader import Unreadable
from uraniborg.bundle.records import RecordedLogEntry, UniverseDocument
from uraniborg.bundle.universe_log import find_universe_id, remove_universe_names, replay


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
        with suppress(Unreadable):
            stored = cast("UniverseDocument", inspection.bundle.read_object(f"{other}/universe.json"))["state"]
            if find_universe_id(states[-1].to_plain(), stored) in named - {None}:
                return other
    return ""
