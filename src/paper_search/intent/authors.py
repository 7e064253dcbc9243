"""Authors that a query names.

Names are recognised by their capitals. In a query written In Title Case only plain cues count: `author:`, "papers by",
"et al.".
"""

import re
from dataclasses import dataclass, field
from typing import Final

from paper_search.intent.text_cleanup import cut_span
from paper_search.intent.wishes import WISHES
from paper_search.text import STOP_WORDS

_CUES: Final = ("author_field", "works_by", "by", "inverted", "name_et_al", "possessive")


@dataclass(slots=True)
class AuthorReading:
    """The authors that a text names, and the rest of the text."""

    rest: str
    authors: list[str] = field(default_factory=list)


def read_authors(text: str) -> AuthorReading:
    """Read the authors a text names. Quoted names stay placeholders."""
    reading = AuthorReading(rest=text)
    for cue in _CUES:
        position = 0
        while match := WISHES.patterns[cue].search(reading.rest, position):
            position = match.end()
            if cue != "by" or _can_introduce_author(match, reading.rest):
                names = _split_names(match["names"])
                reading.authors += [name for name in names if name not in reading.authors]
                position = match.start() + len(match.groupdict().get("before") or "")
                reading.rest = cut_span(reading.rest, position, match.end())
    return reading


def is_title_case(text: str) -> bool:
    """Return True if most words have a capital, so that capitals do not mark names."""
    long_words = [word for word in re.findall(r"[^\W\d_]{4,}", text) if word.casefold() not in STOP_WORDS]
    return len(long_words) > 3 and sum(word[0].isupper() for word in long_words) > 0.6 * len(long_words)


def _can_introduce_author(match: re.Match[str], text: str) -> bool:
    before = (match["before"] or "").casefold()
    passive = before.endswith(("ed", "en", "wn")) and before not in {"proposed", "introduced", "written", "authored"}
    return not passive and not before.endswith("ly") and not is_title_case(text)


def _split_names(text: str) -> list[str]:
    """Return the names of a list, "Doe, J." as "Doe J.", without the full stop of a sentence behind them."""
    names = [found[0].replace(",", "") for found in WISHES.patterns["author"].finditer(text)] or [text]
    return [name if re.search(r"(?:^|[\s.-])\w\.$", name) else name.rstrip(".") for name in names]
