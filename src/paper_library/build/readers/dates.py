"""Parse years and months from dates in any usual notation."""

import re

_MONTHS = {
    name: number
    for number, names in enumerate(
        ("jan", "feb", "mar mär maer", "apr", "may mai", "jun", "jul", "aug", "sep", "oct okt", "nov", "dec dez"), 1
    )
    for name in names.split()
}
_YEAR = re.compile(r"(?<!\d)(1[4-9]\d\d|2[01]\d\d)(?!\d)")
_NUMERIC = re.compile(r"(?<!\d)(1[4-9]\d\d|2[01]\d\d)[-/.](\d{1,2})(?!\d)")
_COMPACT = re.compile(r"(?<!\d)(1[4-9]\d\d|2[01]\d\d)(0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?!\d)")
_BACKWARDS = re.compile(r"(?<!\d)(?:(\d{1,2})[-/.])?(\d{1,2})[-/.](1[4-9]\d\d|2[01]\d\d)(?!\d)")
_WORD = re.compile(r"[^\W\d_]{3,}")
_LAST_YEAR = 2999


def parse_year_and_month(text: str) -> tuple[int | None, int | None]:
    """Return the year and the month of a date, each None if the date has none."""
    text = text.strip()
    if len(text) == 4 and text.isascii() and text.isdigit():
        return parse_year(text), None
    text = text[:200]
    if match := _NUMERIC.search(text) or _COMPACT.search(text):
        return int(match[1]), _get_valid_month(int(match[2]))
    if match := _BACKWARDS.search(text):
        # 03/14/2019 is American and 14/03/2019 is not; where both could be meant, the day comes first.
        first, second = int(match[1] or 0), int(match[2])
        return int(match[3]), _get_valid_month(second) or _get_valid_month(first)
    year = _YEAR.search(text)
    return (int(year[1]) if year else None), _find_named_month(text)


def parse_year(value: object) -> int | None:
    """Return a year given as a number or in a text, or None."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return int(value) if 0 < value <= _LAST_YEAR else None
    if not isinstance(value, str):
        return None
    text = value.strip()
    if text.isascii() and text.isdigit() and len(text) <= 4:
        return int(text) or None
    return parse_year_and_month(text)[0]


def parse_month(value: object) -> int | None:
    """Return a month given as a number (`3`, `"03"`) or by name (`mar`, `March`, `15 mars`), or None."""
    if isinstance(value, int) and not isinstance(value, bool):
        return _get_valid_month(value)
    if not isinstance(value, str):
        return None
    text = value.strip()
    if text.isascii() and text.isdigit():
        return _get_valid_month(int(text)) if len(text) <= 2 else None
    return _find_named_month(text[:200]) or parse_year_and_month(text)[1]


def _find_named_month(text: str) -> int | None:
    for word in _WORD.findall(text):
        if month := _MONTHS.get(word.lower()[:3]) or _MONTHS.get(word.lower()[:4]):
            return month
    return None


def _get_valid_month(number: int) -> int | None:
    return number if 1 <= number <= 12 else None
