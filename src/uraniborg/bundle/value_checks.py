"""The check of a table of values: computed again from the state of its universe."""

import csv
import io
from collections.abc import Mapping
from itertools import islice
from typing import Any

from uraniborg.bundle.checks import Check, make_statement
from uraniborg.bundle.file_checks import MOST_MORE
from uraniborg.bundle.pieces import Plain
from uraniborg.bundle.reader import Bundle, Unreadable
from uraniborg.bundle.value_table import list_value_rows, write_value_table
from uraniborg.kernel.csv_cells import restore_cell
from uraniborg.kernel.text import plural


def check_values(bundle: Bundle, path: str, state: Plain) -> tuple[list[Check], list[Plain]]:
    """Compare the table with one computed from the state, and return the computed rows.

    The texts of papers are not in the bundle, so that a value which a text refuted keeps the status that is stored.
    """
    computed = list_value_rows(state, None)
    try:
        content = bundle.read(path, most=2 * len(write_value_table(computed).encode()) + MOST_MORE)
        rows = csv.DictReader(io.StringIO(content.decode(), newline=""))
        stored = [
            {name: restore_cell(cell) if isinstance(cell, str) else cell for name, cell in row.items()}
            for row in islice(rows, len(computed) + 1)
        ]
    except (Unreadable, UnicodeDecodeError, csv.Error) as exc:
        return [Check(path, "differs", f"cannot be read: {exc}")], computed
    if len(stored) != len(computed):
        found = f"more than {len(computed)}" if len(stored) > len(computed) else str(len(stored))
        problem = f"has {found} rows, and the universe {len(computed)}"
        return [Check(path, "differs", problem)], computed
    expected = {_make_key(row): row for row in computed}
    refutable = {key: row for row in list_value_rows(state, lambda _: " ") if (key := _make_key(row)) in expected}
    refuted = 0
    for row in stored:
        key = _make_key(row)
        found = expected.get(key)
        where = f"{row.get('field')} of {row.get('body')}"
        if found is None:
            problem = f"{where} is {str(row.get('value'))[:80]}, which the universe does not have"
            return [Check(path, "differs", problem)], computed
        if row == refutable.get(key) != found:
            refuted += 1
            found |= row
        elif changed := [name for name in {**found, **row} if row.get(name) != found.get(name)]:
            names = ", ".join(str(name)[:40] for name in changed)
            return [Check(path, "differs", f"{where}: not as in the universe: {names}")], computed
    supported = sum(row.get("status") == "supported" for row in stored)
    checks = [
        Check(
            path, "matched", f"{plural(len(stored), 'value')} as in the universe, {supported} supported by their rows"
        )
    ]
    if refuted:
        reason = f"the status “unverified claim” of {plural(refuted, 'value')}: it follows from a text that is not here"
        checks.append(make_statement(path, reason))
    return checks, computed


def _make_key(row: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    return row.get("body"), row.get("field"), row.get("value")
