"""The checks of universes: the log leads to the state, and the values and citations are those of the state."""

from collections.abc import Sequence
from typing import Any, Final

from universe.domain.state import EMPTY, State
from universe.provenance.bibliography import collect_cited_sources, format_bibtex
from uraniborg.bundle.checks import Check
from uraniborg.bundle.inspection import History, Inspection, Verified
from uraniborg.bundle.origin_checks import check_origins
from uraniborg.bundle.pieces import Plain
from uraniborg.bundle.reader import Bundle, Unreadable
from uraniborg.bundle.search_checks import read_bibtex_keys
from uraniborg.bundle.universe_log import apply_entry, find_universe_id, read_document, remove_universe_names
from uraniborg.bundle.universe_pieces import make_document, make_universe_piece
from uraniborg.bundle.value_checks import check_values
from uraniborg.kernel.logging import make_printable
from uraniborg.kernel.text import plural

_SHOWN: Final = 5


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
    values, rows = check_values(bundle, f"{folder}/values.csv", state)
    checks = [checked, *values, _check_sources(bundle, f"{folder}/sources.bib", state)]
    if states is None:
        return Verified(checks, None)
    record = "who sent the commands and when, and the name and id of the universe: only this record states them"
    checks += [*check_origins(inspection, folder, log, states), Check(f"{folder}/log.jsonl", "not checked", record)]
    replayed = states[-1].to_plain()
    try:
        universe_id = find_universe_id(replayed, state)
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
            states.append(apply_entry(states, entry, number))
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
