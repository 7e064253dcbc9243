"""Reads a remark on the papers of one round: words to add, words to leave out, limits, preferences and directions.

One remark is one text: a negation in it never reaches the words of another.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date

from paper_search.intent.amounts import read_amount
from paper_search.intent.authors import read_authors
from paper_search.intent.cleaning import BREAK, normalised, restored, set_phrases_aside, without_politeness
from paper_search.intent.concepts import concepts_in
from paper_search.intent.languages import read_language
from paper_search.intent.markup import close_brackets, fold_markup
from paper_search.intent.preferences import read_preferences
from paper_search.intent.vocabulary import Vocabulary, key_of
from paper_search.intent.wordlists import CHATTER
from paper_search.intent.years import read_years

_RESULTS = r"(?:papers?|articles?|results?|hits|works?|stud(?:y|ies)|ones)"
_SEARCH = rf"(?:search|quer(?:y|ies)|scope|range|net|focus|terms?|coverage|set|view|topic|selection|{_RESULTS})"
_ALONE = r"(?=\s*(?:$|[\n.,;!?]|please\b|and\b|but\b))"
DIRECTIONS = {
    "broader": (
        rf"(?:(?:much|a\s+bit|a\s+little|even)\s+)?(?:wider|broader|looser|more\s+general)(?:\s+{_SEARCH})?{_ALONE}",
        rf"(?:widen|broaden|loosen|relax|extend|expand)(?:\s+(?:it|the|this|my|our)(?:\s+{_SEARCH})?)?{_ALONE}",
    ),
    "narrower": (
        r"(?:(?:much|a\s+bit|a\s+little|even)\s+)?(?:narrower|stricter|tighter|more\s+specific|more\s+focused)"
        rf"(?:\s+{_SEARCH})?{_ALONE}",
        rf"(?:narrow|tighten|restrict)(?:\s+(?:it|the|this)(?:\s+{_SEARCH})?)?(?:\s+down)?{_ALONE}",
        r"too\s+(?:broad|general|generic|wide)\b",
    ),
    "more": (
        r"(?:(?:show|give|get|find|i\s+(?:want|need))\s+(?:me\s+|us\s+)?)?(?:(?:many|some|a\s+few|even)\s+)?more"
        rf"(?:\s+of\s+(?:the\s+same|these|those|this|them))?(?:\s+{_RESULTS})?{_ALONE}",
        rf"(?:too\s+few|not\s+enough)(?:\s+{_RESULTS})?{_ALONE}",
    ),
    "fewer": (rf"(?:(?:many|much)\s+)?(?:fewer|less|too\s+(?:many|much))(?:\s+{_RESULTS})?{_ALONE}",),
}
"""Ways to change the next search as a whole, each with the phrases that ask for it."""
_SMALL = (
    r"(?:(?:papers?|articles?|results?|work|works|stud(?:y|ies)|research|coverage|mention)\s+)?"
    r"(?:(?:on|about|of|for|regarding|to)\s+)?"
)
# Complaints of absence ask for the thing; they are tried before the words of refusal that they contain.
_MORE = (
    r"(?:not|hardly|barely)\s+(?:\w+\s+)?(?:enough|much|many|any(?:thing)?)|too\s+(?:few|little)|nothing|missing|lack(?:s|ing)?"
    r"|no\s+(?:papers?|articles?|results?|work|mention|coverage|stud(?:y|ies))(?=\s+(?:on|about|of|for|regarding)\b)"
    r"|without\s+(?:any\s+)?mention|more|focus(?:ing|ed)?|also|include|including|add|with|prefer|rather(?!\s+than)"
)
_LESS = (
    r"no(?:\s+more)?|less|fewer|not(?:\s+interested\s+in)?|without|exclud(?:e|es|ing)|remove|drop|avoid|skip|ignore|stop|omit"
    r"|leave\s+out|except(?:\s+for)?|too(?:\s+(?:many|much))?|enough|instead\s+of|rather\s+than"
    r"|do\s+not\s+(?:want|need|include|show|like|care\s+(?:about|for))(?:\s+me)?"
)
_CUE = re.compile(rf"\b(?:(?P<more>{_MORE})|(?P<less>{_LESS}))(?:\s*:)?\s+{_SMALL}", re.IGNORECASE)
_OFF_TOPIC = re.compile(
    r"\s+(?:is|are|was|were|seems?|looks?)\s+(?:not\s+(?:relevant|interesting|useful|of\s+interest|needed|what\b.*)"
    r"|irrelevant|off[-\s]topic|useless|uninteresting|unrelated)\b",
    re.IGNORECASE,
)
_CONTRACTED = re.compile(r"n['’]t\b", re.IGNORECASE)
_CLAUSES = re.compile(r"[.;!?\n,]+|\bbut\b|\bhowever\b", re.IGNORECASE)
_DIRECTION_PATTERNS = {
    name: re.compile(rf"(?:^|(?<=[\s,;.!?\n]))(?:{'|'.join(phrases)})", re.IGNORECASE)
    for name, phrases in DIRECTIONS.items()
}


@dataclass(slots=True)
class Remark:
    """What a remark asks for. `limits` hold year_from, year_to, language and max_results where it names them."""

    terms: list[str] = field(default_factory=list)
    excluded: list[str] = field(default_factory=list)
    preferences: list[str] = field(default_factory=list)
    authors: list[str] = field(default_factory=list)
    directions: list[str] = field(default_factory=list)
    """Some of `DIRECTIONS`: broader, narrower, more, fewer."""
    limits: dict[str, int | str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def read_remark(text: str, vocabulary: Vocabulary, today: date) -> Remark:
    """Return what one text asks for. "Not enough on evaluation" adds evaluation; "wider" is a direction, not a term."""
    folded = _CONTRACTED.sub(" not", close_brackets(normalised(fold_markup(text))))
    bare, phrases = set_phrases_aside(folded)
    directions, bare = _read_directions(bare)
    wishes = read_preferences(bare, vocabulary, today)
    amount = read_amount(wishes.rest)
    years = read_years(amount.rest, today)
    language = read_language(years.rest)
    authors = read_authors(language.rest)
    limits = {
        "year_from": years.year_from,
        "year_to": years.year_to,
        "language": language.language,
        "max_results": amount.max_results,
    }
    terms: list[str] = []
    excluded: list[str] = []
    for clause in _CLAUSES.split(authors.rest):
        for wanted, piece in _wishes(clause):
            (terms if wanted else excluded).extend(_telling(piece, vocabulary))
    refused = {key_of(term) for term in excluded}
    return Remark(
        terms=_distinct(restored(term, phrases) for term in terms if key_of(term) not in refused),
        excluded=_distinct(restored(term, phrases) for term in excluded),
        preferences=[restored(wish, phrases) for wish in wishes.preferences],
        authors=[restored(name, phrases) for name in authors.authors],
        directions=directions,
        limits={name: value for name, value in limits.items() if value is not None},
        notes=[*years.notes, *language.notes, *amount.notes],
    )


def _read_directions(text: str) -> tuple[list[str], str]:
    """Return the directions a text names, and the text without them."""
    found: list[str] = []
    for name, pattern in _DIRECTION_PATTERNS.items():
        text, times = pattern.subn(BREAK, text)
        found += [name] if times else []
    return found, text


def _wishes(clause: str) -> Iterator[tuple[bool, str]]:
    """Yield the pieces of a clause, each with whether more or less of it is asked for."""
    if off_topic := _OFF_TOPIC.search(clause):
        yield False, clause[: off_topic.start()]
        return
    cues = list(_CUE.finditer(clause))
    yield True, clause[: cues[0].start()] if cues else clause
    ends = [cue.start() for cue in cues[1:]] + [len(clause)]
    for cue, end in zip(cues, ends, strict=False):
        yield cue["more"] is not None, clause[cue.end() : end]


def _telling(piece: str, vocabulary: Vocabulary) -> list[str]:
    found = concepts_in(without_politeness(piece), vocabulary)
    return [concept for concept in found if not all(word in CHATTER for word in concept.casefold().split())]


def _distinct(texts: Iterable[str]) -> list[str]:
    return list({key_of(text): text for text in texts}.values())
