"""Read explicit years in a search box: `since 2015`, `not before 2017`, `vor 2010`.

Only phrases with a word of time and four-digit years are bounds. Relative phrases (`last five years`), decades and bare
years stay search words.
"""

import re
from datetime import date
from typing import Final

from uraniborg.kernel.phrase_files import BREAK
from uraniborg.kernel.years.reading import YearLimit, read_years

_QUOTED: Final = re.compile('"[^"]*"')
_MASK: Final = "\ue000"
_ANY_DAY: Final = date(2098, 12, 31)
"""Explicit years do not depend on the day; years from 1600 to 2099 can be bounds."""


def extract_year_bounds(text: str) -> tuple[str, list[YearLimit]]:
    """Return `text` without its year bounds, and the bounds. Quoted text stays as it is."""
    if not any(map(str.isdigit, text)):
        return text, []
    quoted = _QUOTED.findall(text)
    reading = read_years(_QUOTED.sub(_MASK, text), _ANY_DAY, strict=True)
    if not reading.limits:
        return text, []
    rest = reading.rest.replace(BREAK, " ")
    return re.sub(_MASK, lambda _: quoted.pop(0), rest), reading.limits
