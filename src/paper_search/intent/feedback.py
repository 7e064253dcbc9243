"""Feedback on a round, read for the next round: terms to add and to exclude, and limits to change.

The fields of `UserFeedback` are exact. A text is read clause by clause: a clause counts if a phrase matches it
completely and `plain_terms` finds its terms plain. Every other clause changes nothing and is listed as not used.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum

from paper_search.intent.authors import read_authors
from paper_search.intent.feedback_phrases import (
    Request,
    find_phrases,
    has_phrase,
    is_filler,
    read_request,
    split_at,
    strip_courtesies,
)
from paper_search.intent.languages import read_language
from paper_search.intent.plain_terms import are_kinds, list_added, list_excluded
from paper_search.intent.result_limits import read_amount
from paper_search.intent.text_cleanup import PLACEHOLDER, normalise_text, replace_quoted_phrases, restore_phrases
from paper_search.intent.vocabulary import Vocabulary, make_term_key
from paper_search.intent.years import RECENT_YEARS, YearReading, read_years
from paper_search.models import MAX_RESULTS_CAP, SearchConstraints
from paper_search.review_models import YEARS, UserFeedback
from uraniborg.kernel.years.numbers import get_number_pattern

Limits = dict[str, int | str | None]

_CONTRACTIONS = (("n['’]t", " not"), ("['’]d", " would"), (r"(?<=\bi)['’]m", " am"))
_BULLET = re.compile(r"\s*(?:[-*•+]|[0-9]{1,2}[.)])\s+")
_SENTENCE = re.compile(r"([^.;!?。]*(?:\.(?=\S)[^.;!?。]*)*)([.;!?。]|$)")
_COMMA = re.compile(r",(?![0-9])|(?<=[\u3040-\u30ff\u3400-\u9fff])[,、]")
_MINUS = re.compile(rf"-({PLACEHOLDER}|[^\W\d_][\w-]*)")
_NO_TERMS = Vocabulary({})
_ANY_DAY = date.max  # the date changes the limits, never the words


class Direction(StrEnum):
    """How the next round should differ from the last."""

    WIDER = "wider"
    NARROWER = "narrower"
    MORE = "more"
    FEWER = "fewer"


@dataclass(slots=True)
class FeedbackReading:
    """Terms to add, terms to exclude, authors, new limits (None: dropped), directions, and clauses not used."""

    wanted: list[str] = field(default_factory=list)
    unwanted: list[str] = field(default_factory=list)
    authors: list[str] = field(default_factory=list)
    limits: Limits = field(default_factory=Limits)
    directions: list[Direction] = field(default_factory=list[Direction])
    suggestions: bool | list[str] = False
    unused: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def has_content(self) -> bool:
        """True if the feedback asks for any change."""
        asked = (self.wanted, self.unwanted, self.authors, self.limits, self.directions, self.suggestions)
        return any(map(bool, asked))

    def merge_later(self, later: "FeedbackReading") -> None:
        """Merge the reading of later feedback, which wins where the two disagree."""
        self.wanted = _drop_duplicates([*_remove_texts(self.wanted, later.unwanted), *later.wanted])
        self.unwanted = _drop_duplicates([*_remove_texts(self.unwanted, later.wanted), *later.unwanted])
        self.authors = list(dict.fromkeys([*self.authors, *later.authors]))
        self.limits |= later.limits
        self.directions = list(dict.fromkeys([*self.directions, *later.directions]))
        self.suggestions = later.suggestions or self.suggestions
        self.unused += later.unused
        self.notes += later.notes


def extract_wanted_words(remark: str) -> str:
    """Return the terms that a text asks for; "" if it asks for none."""
    return " ".join(read_text(remark, _NO_TERMS, _ANY_DAY).wanted)


def read_feedback(
    given: Iterable[UserFeedback], vocabulary: Vocabulary, today: date, current: SearchConstraints | None = None
) -> FeedbackReading:
    """Read the feedback of several rounds, the oldest first. The fields of each win over its texts."""
    reading = FeedbackReading()
    for feedback in given:
        for text in feedback.texts:
            reading.merge_later(read_text(text, vocabulary, today, current))
        dropped: Limits = {name: None for limit in feedback.drop_limits for name in YEARS.get(limit, (limit,))}
        years = feedback.set_years.model_dump(exclude_unset=True) if feedback.set_years else {}
        reading.merge_later(
            FeedbackReading(
                wanted=feedback.add_terms,
                unwanted=feedback.exclude_terms,
                limits=dropped | years,
                suggestions=feedback.use_suggestions,
            )
        )
    return reading


def read_text(
    remark: str, vocabulary: Vocabulary, today: date, current: SearchConstraints | None = None
) -> FeedbackReading:
    """Read one text. "More" and "fewer" are relative to the `current` limits."""
    reading = FeedbackReading()
    has_list = any(line.rstrip().endswith(":") for line in remark.splitlines())
    reader = _ClauseReader(vocabulary, today, current or SearchConstraints(), has_list)
    for line in remark.splitlines():
        text = normalise_text(_BULLET.sub("", line, count=1))
        for short, full in _CONTRACTIONS:
            text = re.sub(rf"{short}\b", full, text, flags=re.IGNORECASE)
        text, phrases = replace_quoted_phrases(text)
        for sentence, end in _SENTENCE.findall(text):
            for clauses in _split_sentence(sentence):
                _read_clauses(clauses, end, reading, reader, phrases)
    return reading


@dataclass(frozen=True, slots=True)
class _ClauseReader:
    """Reads single clauses; None stands for a clause that is not understood."""

    vocabulary: Vocabulary
    today: date
    current: SearchConstraints
    has_list: bool
    """Whether dashes may mark the items of a list."""

    def read_clause(self, clause: str) -> FeedbackReading | None:
        if not self.has_list and all(map(_MINUS.fullmatch, clause.split())):
            return FeedbackReading(unwanted=_MINUS.findall(clause))
        return self._read_limits(clause) or self._read_request(clause, read_request(clause))

    def _read_limits(self, clause: str) -> FeedbackReading | None:
        """Read a clause about years, a language, an amount or an author, and at most terms to add."""
        amount = read_amount(clause)
        years = read_years(amount.rest, self.today)
        language = read_language(years.rest)
        authors = read_authors(language.rest)
        values = (years.year_from, years.year_to, language.language, amount.max_results)
        named = zip(("year_from", "year_to", "language", "max_results"), values, strict=True)
        limits: Limits = {name: value for name, value in named if value is not None}
        if not (limits or authors.authors) or self._are_years_vague(years, clause):
            return None
        notes = [*years.notes, *language.notes, *amount.notes]
        reading = FeedbackReading(limits=limits, authors=authors.authors, notes=notes)
        rest = authors.rest.strip()
        if is_filler(rest):
            return reading
        request = None if "\n" in rest else read_request(rest)
        reading.wanted = list_added(request.named, self.vocabulary) if request and request.kind == "add" else []
        return reading if reading.wanted else None

    def _are_years_vague(self, years: YearReading, clause: str) -> bool:
        """Return True if the text names no number for its years: "recent", "not too old"."""
        vague = (self.today.year - RECENT_YEARS, None), (None, self.today.year - RECENT_YEARS - 1)
        return (years.year_from, years.year_to) in vague and not re.search(
            rf"[0-9]|\b{get_number_pattern(exact=True)}\b", clause
        )

    def _read_request(self, clause: str, request: Request | None) -> FeedbackReading | None:
        match request:
            case None:
                return None
            case ("drop", limit, _):
                return FeedbackReading(limits=dict.fromkeys(YEARS.get(limit, (limit,))))
            case ("suggestions", _, _):
                return FeedbackReading(suggestions=True)
            case ("wider" | "narrower" | "more" | "fewer" as kind, _, _):
                return self._read_direction(Direction(kind))
            case ("add", named, _):
                added = list_added(named, self.vocabulary)
                return FeedbackReading(wanted=added) if added else None
            case (kind, named, _):
                excluded = list_excluded(kind, named, clause)
                return FeedbackReading(unwanted=excluded) if excluded else None

    def _read_direction(self, direction: Direction) -> FeedbackReading:
        most = self.current.max_results
        wanted = {Direction.MORE: min(2 * most, MAX_RESULTS_CAP), Direction.FEWER: max(1, most // 2)}
        limits: Limits = {"max_results": wanted[direction]} if direction in wanted else {}
        return FeedbackReading(directions=[direction], limits=limits)


def _read_clauses(
    clauses: Sequence[str], end: str, reading: FeedbackReading, reader: _ClauseReader, phrases: Sequence[str]
) -> None:
    """Read the clauses of a sentence between two words such as "but"; a condition or an open denial stops all."""
    said = [clause for clause in clauses if strip_courtesies(clause)[0]]
    found = [reader.read_clause(clause) for clause in said]
    is_question = end == "?" and said[-1:] == clauses[-1:] and not any(strip_courtesies(one)[1] for one in clauses)
    is_doubted = is_question or any(
        one is None and has_phrase("if", clause) for clause, one in zip(said, found, strict=True)
    )
    for clause, one in zip(said, found, strict=True):
        is_doubted = is_doubted or (one is None and has_phrase("not", clause))
        if one is None or is_doubted:
            reading.unused.append(restore_phrases(clause, phrases))
            continue
        for texts in (one.wanted, one.unwanted, one.authors):
            texts[:] = [restore_phrases(text, phrases) for text in texts]
        reading.merge_later(one)


def _split_sentence(sentence: str) -> Iterator[list[str]]:
    """Yield the clauses between two words such as "but"; each item of a list that is named as one is a clause."""
    for part in split_at("but", sentence):
        clauses: list[str] = []
        before = ""
        for piece in filter(None, map(str.strip, _COMMA.split(part))):
            request, clause = read_request(piece), piece
            if request is None and before and (before.endswith(": ") or are_kinds(piece)):
                clause = f"{before}{piece}"
            elif request and request.named and request.kind != "drop":
                head, colon, _ = piece.partition(": ")
                before = f"{head}: " if colon else "exclude " if are_kinds(request.named) else ""
            clauses += _split_requests(clause)
        if clauses:
            yield clauses


def _split_requests(clause: str) -> list[str]:
    """Return the requests that "and" joins: "exclude mice and add rats" is two, "add mice and rats" one."""
    for join in find_phrases("and", clause):
        if read_request(rest := clause[join.end() :].strip()):
            return [clause[: join.start()].strip(), *_split_requests(rest)]
    return [clause]


def _drop_duplicates(texts: Iterable[str]) -> list[str]:
    return list({make_term_key(text): text for text in texts}.values())


def _remove_texts(texts: Iterable[str], others: Iterable[str]) -> list[str]:
    keys = {make_term_key(other) for other in others}
    return [text for text in texts if make_term_key(text) not in keys]
