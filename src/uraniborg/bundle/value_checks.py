"""Check the table of values of a bundle against the state of its universe."""

import csv
import io
from contextlib import suppress
from itertools import islice, zip_longest

from universe.domain.state import Plain
from uraniborg.bundle.checks import Check, make_statement
from uraniborg.bundle.file_checks import MOST_MORE
from uraniborg.bundle.reader import Bundle, Unreadable
from uraniborg.bundle.records import ValueRow
from uraniborg.bundle.value_table import list_value_rows, write_value_table
from uraniborg.kernel.csv_cells import restore_cell
from uraniborg.kernel.text import plural


def compute_rows(bundle: Bundle, path: str, state: Plain) -> tuple[list[ValueRow], list[Check]]:
    """Return the rows that the table must have, and what only the table states.

    The texts of papers are not in the bundle, so that a value which a text refuted keeps the status that is stored.
    """
    computed, refuted = list_value_rows(state, None), list_value_rows(state, lambda _: " ")
    stored: list[dict[str, str]] = []
    with suppress(Unreadable, UnicodeDecodeError, csv.Error):  # the check of the file says why
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
