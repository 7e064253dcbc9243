"""Feedback on a round, read for the next round: words to add, words to avoid, limits to change."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date

from paper_search.intent.authors import read_authors
from paper_search.intent.concepts import LONGEST_CHUNK, find_concepts
from paper_search.intent.courtesy_phrases import remove_courtesies
from paper_search.intent.feedback_directions import Direction, compute_limit_changes, read_directions
from paper_search.intent.languages import read_language
from paper_search.intent.result_limits import read_amount
from paper_search.intent.text_cleanup import normalise_text, replace_quoted_phrases, restore_phrases
from paper_search.intent.vocabulary import Vocabulary, make_term_key
from paper_search.intent.word_lists import CHATTER, FILLER
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


def learn_terms(
    relevant: Sequence[str], irrelevant: Sequence[str], known: Iterable[str], vocabulary: Vocabulary
) -> list[str]:
    """Return terms of relevant titles that the query does not have: shared terms first, else longer concepts."""
    taken = {stem for text in (*known, *irrelevant) for stem in extract_terms(text)}
    seen: Counter[tuple[str, ...]] = Counter()
    spelled: dict[tuple[str, ...], str] = {}
    for title in relevant:
        here: set[tuple[str, ...]] = set()
        for concept in find_concepts(normalise_text(title), vocabulary):
            for candidate in _list_subphrases(concept.split()):
                key = make_term_key(candidate)
                if _is_informative(candidate) and not taken.issuperset(extract_terms(candidate)):
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


def find_terms_to_avoid(relevant: Sequence[str], irrelevant: Sequence[str], known: Iterable[str]) -> list[str]:
    """Return words that occur in most irrelevant titles, in no relevant title and not in the query."""
    safe = {stem for text in (*known, *relevant) for stem in extract_terms(text)}
    spelled: dict[str, str] = {}
    seen: Counter[str] = Counter()
    for title in irrelevant:
        here = {
            extract_terms(word)[0]: word for word in split_words(title) if _is_informative(word) and extract_terms(word)
        }
        spelled = here | spelled
        seen.update(here.keys())
    marking = [stem for stem, count in seen.items() if count > 1 and count * 2 > len(irrelevant) and stem not in safe]
    return [spelled[stem] for stem in sorted(marking, key=lambda stem: (-seen[stem], stem))][:MAX_AVOIDED]


def _list_subphrases(concept: list[str]) -> list[str]:
    sizes = range(1, min(len(concept), LONGEST_CHUNK) + 1)
    return [" ".join(concept[at : at + size]) for size in sizes for at in range(len(concept) - size + 1)]


def _is_informative(text: str) -> bool:
    folded = text.casefold()
    return len(folded) > 2 and folded not in FILLER and folded not in STOP_WORDS and not folded.isdigit()


def _drop_duplicates(texts: Iterable[str]) -> list[str]:
    return list({make_term_key(text): text for text in texts}.values())


def _remove_texts(texts: Iterable[str], others: Iterable[str]) -> list[str]:
    keys = {make_term_key(other) for other in others}
    return [text for text in texts if make_term_key(text) not in keys]
