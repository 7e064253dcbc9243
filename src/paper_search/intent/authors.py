"""Authors that a query names.

Names are recognised by their capitals. In a query written In Title Case only plain cues count: `author:`, "papers by",
"et al.".
"""

import re
from dataclasses import dataclass, field

from paper_search.intent.text_cleanup import cut_span
from paper_search.intent.wishes import WISHES
from paper_search.text import STOP_WORDS


@dataclass(slots=True)
class AuthorReading:
    """The authors that a text names, and the rest of the text."""

    rest: str
    authors: list[str] = field(default_factory=list)

    def add_authors(self, names: list[str], start: int, end: int) -> None:
        self.authors += [name for name in names if name not in self.authors]
        self.rest = cut_span(self.rest, start, end)


def read_authors(text: str) -> AuthorReading:
    """Read the authors a text names. Quoted names stay placeholders."""
    reading = AuthorReading(rest=text)
    for cue in ("author_cue", "works_by", "by"):
        position = 0
        while match := WISHES.patterns[cue].search(reading.rest, position):
            position = match.end()
            names, end = _read_names(reading.rest, match.end(), is_field=cue == "author_cue")
            if names and (cue != "by" or _can_introduce_author(match, reading.rest)):
                position = match.start() + len(match.groupdict().get("before") or "")
                reading.add_authors(names, position, end)
    for cue in ("inverted", "name_et_al", "possessive"):
        while match := WISHES.patterns[cue].search(reading.rest):
            reading.add_authors([_tidy_name(match["name"])], match.start(), match.end())
    return reading


def is_title_case(text: str) -> bool:
    """Return True if most words have a capital, so that capitals do not mark names."""
    long_words = [word for word in re.findall(r"[^\W\d_]{4,}", text) if word.casefold() not in STOP_WORDS]
    return len(long_words) > 3 and sum(word[0].isupper() for word in long_words) > 0.6 * len(long_words)


def _can_introduce_author(match: re.Match[str], text: str) -> bool:
    before = (match["before"] or "").casefold()
    passive = before.endswith(("ed", "en", "wn")) and before not in {"proposed", "introduced", "written", "authored"}
    return not passive and not before.endswith("ly") and not is_title_case(text)


def _read_names(text: str, start: int, *, is_field: bool) -> tuple[list[str], int]:
    """Return the names that begin at `start`, and their end; [] if no field names them and their phrase goes on."""
    patterns = WISHES.patterns
    names: list[str] = []
    end, position = start, start
    while name := patterns["author"].match(text, position) or (
        patterns["single_author"].match(text, position) if is_field and not names else None
    ):
        names.append(_tidy_name(name[0]))
        end = name.end()
        separator = patterns["and"].match(text, end)
        if not separator:
            break
        position = separator.end()
    if after := patterns["et_al"].match(text, end):
        end = after.end()
    return (names, end) if is_field or patterns["name_end"].match(text, end) else ([], end)


def _tidy_name(name: str) -> str:
    """Return "Doe, J." as "Doe J.", and a name without the full stop of its sentence."""
    plain = name.replace(",", "").strip()
    return plain if re.search(r"(?:^|[\s.-])\w\.$", plain) else plain.rstrip(".")
