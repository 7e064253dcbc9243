"""The checks of universes: the log leads to the state, and the values and citations are those of the state."""

import csv
import io
from collections.abc import Iterator
from typing import Any

from universe.domain.citations import get_set_by_records, replace_set_by_records
from universe.domain.command_parser import parse_command
from universe.domain.provenance_tracking import Origin
from universe.domain.reducer import reduce
from universe.domain.state import EMPTY, State, check_and_copy_plain_state, make_state_from_plain
from universe.provenance.bibliography import collect_cited_sources, format_bibtex
from uraniborg.bundle.checks import Check
from uraniborg.bundle.pieces import Plain
from uraniborg.bundle.reader import Bundle, Unreadable, parse_json
from uraniborg.bundle.search_checks import read_bibtex_keys
from uraniborg.bundle.value_table import list_value_rows
from uraniborg.kernel.csv_cells import restore_cell
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.logging import make_printable
from uraniborg.kernel.text import plural

_SHOWN = 5


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


def check_universe(bundle: Bundle, folder: str) -> Iterator[Check]:
    """Replay the log of a universe, and compute the table of values and the citations again."""
    try:
        version, state = read_document(bundle, f"{folder}/universe.json")
    except Unreadable as exc:
        yield Check(f"{folder}/universe.json", "differs", str(exc))
        return
    yield _check_log(bundle, f"{folder}/log.jsonl", version, state)
    yield _check_values(bundle, f"{folder}/values.csv", state)
    yield _check_sources(bundle, f"{folder}/sources.bib", state)


def _check_log(bundle: Bundle, path: str, version: int, state: Plain) -> Check:
    replayed, last = EMPTY, 0
    try:
        for line in bundle.read(path).splitlines():
            last += 1
            replayed = _apply_entry(replayed, parse_json(line), last)
    except Unreadable as exc:
        return Check(path, "differs", f"{exc}, at version {last}")
    if last != version:
        return Check(path, "differs", f"the log ends at version {last}, and the universe is at version {version}")
    one, other = (_remove_universe_names(plain) for plain in (replayed.to_plain(), state))
    if one == other:
        return Check(path, "matched", f"{plural(last, 'entry', 'entries')} replayed to the state of version {version}")
    return Check(path, "differs", f"the replayed state differs from universe.json: {_describe_difference(one, other)}")


def _apply_entry(state: State, entry: Any, version: int) -> State:
    """Return the state after an entry of the log. Raise Unreadable."""
    if not isinstance(entry, dict) or entry.get("version") != version:  # pyright: ignore[reportUnknownMemberType]
        raise Unreadable("an entry is missing")
    fields: Plain = entry  # pyright: ignore[reportUnknownVariableType]
    try:
        if fields.get("kind") == "restore":
            return make_state_from_plain(check_and_copy_plain_state(fields.get("state")))
        author: Any = fields.get("author")
        outcome = reduce(
            state, parse_command(fields.get("command")), None if author is None else Origin(version, author)
        )
    except UraniborgError as exc:
        raise Unreadable(f"an entry cannot be replayed: {exc.message}") from None
    if outcome.is_refused:
        raise Unreadable("a command cannot follow the entry before it")
    return outcome.state


def _remove_universe_names(plain: Plain) -> Plain:
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


def _check_values(bundle: Bundle, path: str, state: Plain) -> Check:
    """Compare the table with one computed from the state. The texts of papers are not in the bundle."""
    try:
        rows = csv.DictReader(io.StringIO(bundle.read(path).decode(), newline=""))
        stored = [
            {name: restore_cell(cell) if isinstance(cell, str) else cell for name, cell in row.items()} for row in rows
        ]
    except (Unreadable, UnicodeDecodeError, csv.Error) as exc:
        return Check(path, "differs", f"cannot be read: {exc}")
    computed = {(row["body"], row["field"], row["value"]): row for row in list_value_rows(state, None)}
    if len(stored) != len(computed):
        return Check(path, "differs", f"has {plural(len(stored), 'row')}, and the universe {len(computed)}")
    for row in stored:
        expected = computed.get((row.get("body"), row.get("field"), row.get("value")))
        where = make_printable(f"{row.get('field')} of {row.get('body')}")
        if expected is None:
            return Check(path, "differs", f"{where} is {_shorten(row.get('value'))}, which the universe does not have")
        changed = [name for name in expected if row.get(name) != expected[name] and not _is_text_verdict(name, row)]
        if changed:
            return Check(path, "differs", f"{where}: not as in the universe: {', '.join(changed)}")
    supported = sum(row.get("status") == "supported" for row in stored)
    return Check(
        path, "matched", f"{plural(len(stored), 'value')} as in the universe, {supported} supported by their rows"
    )


def _is_text_verdict(name: str, row: Plain) -> bool:
    """Return True for a value that a text on the shelf refuted: the bundle does not have the text."""
    return name == "status" and row.get("status") == "unverified claim"


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
