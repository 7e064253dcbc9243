"""Authors that a query names.

Names are recognised by their capitals. In a query written In Title Case only plain cues count: `author:`, "papers by",
"et al.".
"""

import re
from dataclasses import dataclass, field

from paper_search.intent.text_cleanup import BREAK, PLACEHOLDER, cut_span
from paper_search.intent.wishes import WISHES
from paper_search.intent.word_lists import NAME_PARTICLES, NOT_NAMES
from paper_search.text import STOP_WORDS

_TOKEN = re.compile(rf"{PLACEHOLDER}|[^\W\d_][\w.'’\-]*|\S")
# LeCun and McKay are people, DeepMind and LaserTagger are not.
_CAMEL = re.compile(r"(?:(?:Mc|Mac|De|Le|La|Di|Du|Van|Von|Fitz|St|O['’])?[^\W\d_](?:(?![A-Z])[\w.'’])*(?:-|$))+")


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
    patterns = WISHES.patterns
    for cue in ("author_field", "works_by", "by"):
        pattern, is_field, is_plain = patterns[cue], cue == "author_field", cue != "by"
        position = 0
        while match := pattern.search(reading.rest, position):
            position = match.end()
            names, end = _read_names(reading.rest, match.end(), allow_lower_case=is_field)
            if not names or not (is_plain or _can_introduce_author(match, reading.rest)):
                continue
            if not is_field and not _is_phrase_end(reading.rest, end):
                continue
            start = match.start() if is_plain else match.start() + len(match["before"] or "")
            reading.add_authors(names, start, end)
            position = start + 1
    while (match := patterns["inverted"].search(reading.rest)) and _is_name(match["name"]):
        reading.add_authors([f"{match['name']} {match['initials'].strip()}"], match.start(), match.end())
    for pattern in (patterns["name_et_al"], patterns["possessive"]):
        position = 0
        while match := pattern.search(reading.rest, position):
            position = match.end()
            if name := [word for word in match["name"].split() if _is_name(word)]:
                start = reading.rest.index(name[0], match.start())
                after = patterns["et_al"].match(reading.rest, match.end())
                reading.add_authors([" ".join(name)], start, after.end() if after else match.end())
                position = start + 1
    return reading


def is_title_case(text: str) -> bool:
    """Return True if most words have a capital, so that capitals do not mark names."""
    long_words = [word for word in re.findall(r"[^\W\d_]{4,}", text) if word.casefold() not in STOP_WORDS]
    return len(long_words) > 3 and sum(word[0].isupper() for word in long_words) > 0.6 * len(long_words)


def _can_introduce_author(match: re.Match[str], text: str) -> bool:
    before = (match["before"] or "").casefold()
    passive = before.endswith(("ed", "en", "wn")) and before not in {"proposed", "introduced", "written", "authored"}
    return not passive and not before.endswith("ly") and not is_title_case(text)


def _read_names(text: str, start: int, *, allow_lower_case: bool) -> tuple[list[str], int]:
    """Return the names that begin at `start`, and the position where they end."""
    names: list[list[str]] = [[]]
    inverted = False
    end = start
    for token in _TOKEN.finditer(text, start):
        word = token[0]
        gap = text[end : token.start()]
        if BREAK in gap:
            break
        if re.fullmatch(PLACEHOLDER, word) and not names[-1]:
            return [" ".join(words) for words in names[:-1]] + [word], token.end()
        if word.casefold() in {"and", "or", "&", ",", ";"} and names[-1]:
            names.append([])
            inverted = word == ","
            continue
        if _is_name(word) or (allow_lower_case and not names[0] and word[0].isalnum()):
            if inverted and not names[-1] and _is_initials(word):
                names.pop()
            names[-1].append(word)
            end = token.end()
        elif word.casefold() in NAME_PARTICLES and word.islower():
            names[-1].append(word)
        else:
            break
    if after := WISHES.patterns["et_al"].match(text, end):
        end = after.end()
    found = [" ".join(words) if _is_initials(words[-1]) else " ".join(words).rstrip(".") for words in names if words]
    return [name for name in found if not name.islower() or allow_lower_case], end


def _is_initials(word: str) -> bool:
    return re.fullmatch(r"(?:[^\W\d_]\.-?)+", word) is not None and word.isupper()


def _is_name(word: str) -> bool:
    if word[0].islower() or not word[0].isalpha() or word.casefold() in NOT_NAMES | STOP_WORDS:
        return False
    if not _CAMEL.fullmatch(word) and not _is_initials(word):
        return False
    letters = word.replace(".", "")
    return _is_initials(word) or len(letters) == 1 or not (letters.isupper() and letters.isascii())


def _is_phrase_end(text: str, end: int) -> bool:
    after = text[end:].lstrip(" ")
    word = re.match(r"[\w-]+", after)
    return (
        word is None or word[0].casefold() in STOP_WORDS or re.match(rf"{WISHES.names['works']}\b", after) is not None
    )
