"""Feedback on a round, read for the next round: words to add, words to avoid, limits to change."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date

from paper_search.intent.authors import read_authors
from paper_search.intent.concepts import find_concepts
from paper_search.intent.courtesy_phrases import remove_courtesies
from paper_search.intent.feedback_directions import Direction, compute_limit_changes, read_directions
from paper_search.intent.languages import read_language
from paper_search.intent.result_limits import read_amount
from paper_search.intent.text_cleanup import normalise_text, replace_quoted_phrases, restore_phrases
from paper_search.intent.vocabulary import Vocabulary, make_term_key
from paper_search.intent.word_lists import CHATTER
from paper_search.intent.years import read_years
from paper_search.models import SearchConstraints

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
_ANY_DAY = date.max  # the date changes the limits, never the words
_CHATTER = CHATTER | {"query", "queries", "strategy", "scope", "selection"}
_CLAUSES = re.compile(r"[.;!?\n,]+|\bbut\b|\bhowever\b", re.IGNORECASE)


@dataclass(slots=True)
class FeedbackReading:
    """Words to add, words to exclude, authors, new limits and directions."""

    wanted: list[str] = field(default_factory=list)
    unwanted: list[str] = field(default_factory=list)
    authors: list[str] = field(default_factory=list)
    limits: dict[str, int | str | None] = field(default_factory=dict)
    directions: list[Direction] = field(default_factory=list[Direction])
    notes: list[str] = field(default_factory=list)

    @property
    def has_content(self) -> bool:
        """True if the feedback asks for any change."""
        return bool(self.wanted or self.unwanted or self.authors or self.limits or self.directions)

    def merge_later(self, later: "FeedbackReading") -> None:
        """Merge the reading of a later text, which wins where the two disagree."""
        self.wanted = _drop_duplicates([*_remove_texts(self.wanted, later.unwanted), *later.wanted])
        self.unwanted = _drop_duplicates([*_remove_texts(self.unwanted, later.wanted), *later.unwanted])
        self.authors = list(dict.fromkeys([*self.authors, *later.authors]))
        self.limits |= later.limits
        self.directions = list(dict.fromkeys([*self.directions, *later.directions]))
        self.notes += later.notes


def extract_wanted_words(remark: str) -> str:
    """Return the words a text asks for, without refused words, limits and courtesies; "" if it asks for nothing."""
    return " ".join(read_feedback(remark, _NO_TERMS, _ANY_DAY).wanted)


def read_feedback_texts(
    texts: Iterable[str], vocabulary: Vocabulary, today: date, current: SearchConstraints | None = None
) -> FeedbackReading:
    """Read several texts, the oldest first, each separately, so that a negation never reaches another text."""
    feedback = FeedbackReading()
    for text in texts:
        feedback.merge_later(read_feedback(text, vocabulary, today, current))
    return feedback


def read_feedback(
    remark: str, vocabulary: Vocabulary, today: date, current: SearchConstraints | None = None
) -> FeedbackReading:
    """Read one text.

    "Not enough on evaluation" adds evaluation, "less theory" excludes theory, "newer" is relative to the `current`
    limits.
    """
    text, phrases = replace_quoted_phrases(_CONTRACTED.sub(" not", normalise_text(remark)))
    directions, text = read_directions(text)
    changes, change_notes = compute_limit_changes(directions, current or SearchConstraints(), today)
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
    feedback = FeedbackReading(
        authors=[restore_phrases(name, phrases) for name in authors.authors],
        limits=changes | {name: value for name, value in limits.items() if value is not None},
        directions=directions,
        notes=[*change_notes, *years.notes, *language.notes, *amount.notes],
    )
    for clause in _CLAUSES.split(authors.rest):
        for liked, piece in _split_wishes(clause):
            into = feedback.wanted if liked else feedback.unwanted
            into += [restore_phrases(concept, phrases) for concept in _find_distinctive_concepts(piece, vocabulary)]
    feedback.wanted = _drop_duplicates(_remove_texts(feedback.wanted, feedback.unwanted))
    feedback.unwanted = _drop_duplicates(feedback.unwanted)
    return feedback


def _split_wishes(clause: str) -> list[tuple[bool, str]]:
    """Return the pieces of a clause, each with True if the clause asks for more of it, else False."""
    if off_topic := _OFF_TOPIC.search(clause):
        return [(False, clause[: off_topic.start()])]
    cues = list(_CUE.finditer(clause))
    pieces = [(True, clause[: cues[0].start()] if cues else clause)]
    ends = [cue.start() for cue in cues[1:]] + [len(clause)]
    return pieces + [(cue["more"] is not None, clause[cue.end() : end]) for cue, end in zip(cues, ends, strict=False)]


def _find_distinctive_concepts(piece: str, vocabulary: Vocabulary) -> list[str]:
    found = find_concepts(remove_courtesies(piece), vocabulary)
    return [concept for concept in found if not _CHATTER.issuperset(concept.casefold().split())]


def _drop_duplicates(texts: Iterable[str]) -> list[str]:
    return list({make_term_key(text): text for text in texts}.values())


def _remove_texts(texts: Iterable[str], others: Iterable[str]) -> list[str]:
    keys = {make_term_key(other) for other in others}
    return [text for text in texts if make_term_key(text) not in keys]
