"""Cells of CSV files: a spreadsheet shows text that it would otherwise run as a formula."""

import re
from collections.abc import Iterable
from typing import Any, Final

_FORMULA: Final = re.compile(r"'*(?:[\t\r]|\s*[=+\-@＝＋－＠])")


def neutralize_formula(cell: Any) -> Any:
    """Return the cell, with an apostrophe before text that a spreadsheet would run. Numbers stay as they are."""
    return f"'{cell}" if isinstance(cell, str) and _is_formula(cell) else cell


def neutralize_formulas(cells: Iterable[Any]) -> list[Any]:
    """Return a row with every formula as text."""
    return list(map(neutralize_formula, cells))


def restore_cell(cell: str) -> str:
    """Return the text that `neutralize_formula` wrote."""
    return cell[1:] if cell.startswith("'") and _is_formula(cell[1:]) else cell


def _is_formula(text: str) -> bool:
    if not _FORMULA.match(text):
        return False
    try:
        float(text)
    except ValueError:
        return True
    return False
