"""Reads what a person's feedback on one round teaches the next: words to add, words to avoid, limits to change."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date

from paper_search.intent.amounts import read_amount
from paper_search.intent.authors import read_authors
from paper_search.intent.cleaning import normalised, restored, set_phrases_aside, without_politeness
from paper_search.intent.concepts import LONGEST_CHUNK, concepts_in
from paper_search.intent.directions import Direction, change_limits, read_directions
from paper_search.intent.languages import read_language
from paper_search.intent.vocabulary import Vocabulary, key_of
from paper_search.intent.wordlists import CHATTER, FILLER
from paper_search.intent.years import read_years
from paper_search.models import SearchConstraints
from paper_search.text import STOP_WORDS, extract_terms, split_words

MAX_LEARNED = 4
MAX_AVOIDED = 3

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
    r"no(?:\s+more)?|less|fewer|not(?:\s+interested\s+in)?|without|exclud(?:e|es|ing)|remove|drop|avoid|skip|ignore|stop"
    r"|except(?:\s+for)?|too(?:\s+(?:many|much))?|do\s+not\s+(?:want|need|include|show|like|care\s+(?:about|for))(?:\s+me)?"
    r"|enough|instead\s+of|rather\s+than"
)
_CUE = re.compile(rf"\b(?:(?P<more>{_MORE})|(?P<less>{_LESS}))(?:\s*:)?\s+{_SMALL}", re.IGNORECASE)
_OFF_TOPIC = re.compile(
    r"\s+(?:is|are|was|were|seems?|looks?)\s+(?:not\s+(?:relevant|interesting|useful|of\s+interest|needed|what\b.*)"
    r"|irrelevant|off[-\s]topic|useless|uninteresting|unrelated)\b",
    re.IGNORECASE,
)
_CONTRACTED = re.compile(r"n['’]t\b", re.IGNORECASE)
_NO_TERMS = Vocabulary({})
_ANY_DAY = date.max  # which day it is changes the limits, never the words
_CHATTER = CHATTER | {"query", "queries", "strategy", "scope", "selection"}
_CLAUSES = re.compile(r"[.;!?\n,]+|\bbut\b|\bhowever\b", re.IGNORECASE)


@dataclass(slots=True)
class Lessons:
    """What to add, what to leave out and which limits to put in place of the old ones."""

    wanted: list[str] = field(default_factory=list)
    unwanted: list[str] = field(default_factory=list)
    authors: list[str] = field(default_factory=list)
    limits: dict[str, int | str | None] = field(default_factory=dict)
    directions: list[Direction] = field(default_factory=list[Direction])
    notes: list[str] = field(default_factory=list)

    @property
    def said_something(self) -> bool:
        return bool(self.wanted or self.unwanted or self.authors or self.limits or self.directions)

    def add(self, later: "Lessons") -> None:
        """Add the lessons of a later text, which win over these where the two disagree."""
        self.wanted = _distinct([*_without(self.wanted, later.unwanted), *later.wanted])
        self.unwanted = _distinct([*_without(self.unwanted, later.wanted), *later.unwanted])
        self.authors = list(dict.fromkeys([*self.authors, *later.authors]))
        self.limits |= later.limits
        self.directions = list(dict.fromkeys([*self.directions, *later.directions]))
        self.notes += later.notes


def wanted_words(feedback: str) -> str:
    """What free text asks for, without what it refuses, its limits and its small talk; "" when it asks for nothing."""
    return " ".join(read_feedback(feedback, _NO_TERMS, _ANY_DAY).wanted)


def read_texts(
    texts: Iterable[str], vocabulary: Vocabulary, today: date, current: SearchConstraints | None = None
) -> Lessons:
    """Read several texts one by one, the oldest first: a negation in one never reaches the words of another."""
    lessons = Lessons()
    for text in texts:
        lessons.add(read_feedback(text, vocabulary, today, current))
    return lessons


def read_feedback(
    feedback: str, vocabulary: Vocabulary, today: date, current: SearchConstraints | None = None
) -> Lessons:
    """Read one text. "Not enough on evaluation" adds evaluation; "less theory" leaves theory out; "newer" is relative
    to the `current` limits.
    """
    text, phrases = set_phrases_aside(_CONTRACTED.sub(" not", normalised(feedback)))
    directions, text = read_directions(text)
    changes, change_notes = change_limits(directions, current or SearchConstraints(), today)
    amount = read_amount(text)
    years = read_years(amount.rest, today)
    language = read_language(years.rest)
    limits = {
        "year_from": years.year_from,
        "year_to": years.year_to,
        "language": language.language,
        "max_results": amount.max_results,
    }
    authors = read_authors(language.rest)
    lessons = Lessons(
        authors=[restored(name, phrases) for name in authors.authors],
        limits=changes | {name: value for name, value in limits.items() if value is not None},
        directions=directions,
        notes=[*change_notes, *years.notes, *language.notes, *amount.notes],
    )
    for clause in _CLAUSES.split(authors.rest):
        for liked, piece in _wishes(clause):
            into = lessons.wanted if liked else lessons.unwanted
            into += [restored(concept, phrases) for concept in _telling(piece, vocabulary)]
    lessons.wanted = _distinct(_without(lessons.wanted, lessons.unwanted))
    lessons.unwanted = _distinct(lessons.unwanted)
    return lessons


def _wishes(clause: str) -> list[tuple[bool, str]]:
    """The pieces of a clause, each with whether more or less of it is asked for."""
    if off_topic := _OFF_TOPIC.search(clause):
        return [(False, clause[: off_topic.start()])]
    cues = list(_CUE.finditer(clause))
    pieces = [(True, clause[: cues[0].start()] if cues else clause)]
    ends = [cue.start() for cue in cues[1:]] + [len(clause)]
    return pieces + [(cue["more"] is not None, clause[cue.end() : end]) for cue, end in zip(cues, ends, strict=False)]


def _telling(piece: str, vocabulary: Vocabulary) -> list[str]:
    found = concepts_in(without_politeness(piece), vocabulary)
    return [concept for concept in found if not _CHATTER.issuperset(concept.casefold().split())]


def learned_terms(
    relevant: Sequence[str], irrelevant: Sequence[str], known: Iterable[str], vocabulary: Vocabulary
) -> list[str]:
    """What relevant titles speak of and the query does not: shared terms first, else their longer concepts."""
    taken = {stem for text in (*known, *irrelevant) for stem in extract_terms(text)}
    seen: Counter[tuple[str, ...]] = Counter()
    spelled: dict[tuple[str, ...], str] = {}
    for title in relevant:
        here: set[tuple[str, ...]] = set()
        for concept in concepts_in(normalised(title), vocabulary):
            for candidate in _parts(concept.split()):
                key = key_of(candidate)
                if _informative(candidate) and not taken.issuperset(extract_terms(candidate)):
                    spelled.setdefault(key, candidate)
                    here.add(key)
        seen.update(here)
    shared = [key for key, count in seen.items() if count > 1] or [key for key in seen if len(key) > 1] or list(seen)
    best = sorted(shared, key=lambda key: (-seen[key], -len(key), spelled[key].casefold()))
    chosen: list[tuple[str, ...]] = []
    for key in best:
        if len(chosen) < MAX_LEARNED and not any(set(key) <= set(other) for other in chosen):
            chosen.append(key)
    return [spelled[key] for key in chosen]


def terms_to_avoid(relevant: Sequence[str], irrelevant: Sequence[str], known: Iterable[str]) -> list[str]:
    """Words that mark irrelevant titles and nothing wanted: in most of them, in no relevant one, not in the query."""
    safe = {stem for text in (*known, *relevant) for stem in extract_terms(text)}
    spelled: dict[str, str] = {}
    seen: Counter[str] = Counter()
    for title in irrelevant:
        here = {
            extract_terms(word)[0]: word for word in split_words(title) if _informative(word) and extract_terms(word)
        }
        spelled = here | spelled
        seen.update(here.keys())
    marking = [stem for stem, count in seen.items() if count > 1 and count * 2 > len(irrelevant) and stem not in safe]
    return [spelled[stem] for stem in sorted(marking, key=lambda stem: (-seen[stem], stem))][:MAX_AVOIDED]


def _parts(concept: list[str]) -> list[str]:
    sizes = range(1, min(len(concept), LONGEST_CHUNK) + 1)
    return [" ".join(concept[at : at + size]) for size in sizes for at in range(len(concept) - size + 1)]


def _informative(text: str) -> bool:
    folded = text.casefold()
    return len(folded) > 2 and folded not in FILLER and folded not in STOP_WORDS and not folded.isdigit()


def _distinct(texts: Iterable[str]) -> list[str]:
    return list({key_of(text): text for text in texts}.values())


def _without(texts: Iterable[str], others: Iterable[str]) -> list[str]:
    keys = {key_of(other) for other in others}
    return [text for text in texts if key_of(text) not in keys]
