"""Years and months out of the many ways in which people write dates."""

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


def year_and_month(text: str) -> tuple[int | None, int | None]:
    """The year and the month that a date names, each `None` where it names none."""
    text = text.strip()
    if len(text) == 4 and text.isascii() and text.isdigit():
        return year_number(text), None
    text = text[:200]
    if match := _NUMERIC.search(text) or _COMPACT.search(text):
        return int(match[1]), _valid_month(int(match[2]))
    if match := _BACKWARDS.search(text):
        # 03/14/2019 is American and 14/03/2019 is not; where both could be meant, the day comes first.
        first, second = int(match[1] or 0), int(match[2])
        return int(match[3]), _valid_month(second) or _valid_month(first)
    year = _YEAR.search(text)
    return (int(year[1]) if year else None), _named_month(text)


def year_number(value: object) -> int | None:
    """A year given as one: a number, or a text that holds nothing else or names one; else `None`."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return int(value) if 0 < value <= _LAST_YEAR else None
    if not isinstance(value, str):
        return None
    text = value.strip()
    if text.isascii() and text.isdigit() and len(text) <= 4:
        return int(text) or None
    return year_and_month(text)[0]


def month_number(value: object) -> int | None:
    """A month given as a number (`3`, `"03"`) or by name (`mar`, `March`, `15 mars`); else `None`."""
    if isinstance(value, int) and not isinstance(value, bool):
        return _valid_month(value)
    if not isinstance(value, str):
        return None
    text = value.strip()
    if text.isascii() and text.isdigit():
        return _valid_month(int(text)) if len(text) <= 2 else None
    return _named_month(text[:200]) or year_and_month(text)[1]


def _named_month(text: str) -> int | None:
    for word in _WORD.findall(text):
        if month := _MONTHS.get(word.lower()[:3]) or _MONTHS.get(word.lower()[:4]):
            return month
    return None


def _valid_month(number: int) -> int | None:
    return number if 1 <= number <= 12 else None
