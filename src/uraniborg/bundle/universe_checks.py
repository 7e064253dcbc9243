"""Check universes: their log leads to their state, and values and citations are those of the state."""

from typing import Any, Final

from universe.domain.state import Plain
from uraniborg.bundle.checks import Check, make_statement
from uraniborg.bundle.file_checks import check_files
from uraniborg.bundle.inspection import History, Inspection, Replay, Verified
from uraniborg.bundle.origin_checks import check_origins
from uraniborg.bundle.reader import Unreadable
from uraniborg.bundle.universe_log import find_universe_id, read_document, remove_universe_names, replay
from uraniborg.bundle.universe_pieces import make_document, make_universe_piece
from uraniborg.bundle.value_checks import compute_rows
from uraniborg.kernel.text import plural

_SHOWN: Final = 5


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
    except Unreadable as exc:
        return Verified([*checks, Check(path, "differs", str(exc))], None)
    # Files that list bodies have them in the order of the document.
    ordered: Plain = {**plain, "stars": {key: plain["stars"][key] for key in state["stars"]}}
    made = make_document(ordered, universe_id, str(document.get("name")), version)
    commands = [entry["command"] for entry in log if "command" in entry]
    inspection.histories[folder] = History(folder, made["name"], universe_id, states, commands)
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
