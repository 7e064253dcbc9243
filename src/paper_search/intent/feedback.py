"""Feedback on a round, read for the next round: terms to add and to exclude, and limits to change.

The fields of `UserFeedback` are exact. A text is read clause by clause: a clause counts if a phrase matches it
completely and its terms can be nothing else than terms. Every other clause changes nothing and is listed as not used.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum

from paper_search.intent.feedback_requests import (
    are_kinds,
    compile_phrases,
    has_phrase,
    is_filler,
    list_added,
    list_excluded,
    read_request,
    split_at,
    strip_courtesies,
)
from paper_search.intent.reading import Limits, Reading
from paper_search.intent.text_cleanup import normalise_text, replace_quoted_phrases, restore_phrases
from paper_search.intent.vocabulary import Vocabulary, make_term_key
from paper_search.intent.wishes import read_amount, read_authors, read_language
from paper_search.models import MAX_RESULTS_CAP, SearchConstraints
from paper_search.review_models import YEARS, UserFeedback
from uraniborg.kernel.phrase_files import PLACEHOLDER
from uraniborg.kernel.years.numbers import get_number_pattern
from uraniborg.kernel.years.reading import RECENT_YEARS

_CONTRACTIONS = (("n['’]t", " not"), ("['’]d", " would"), (r"(?<=\bi)['’]m", " am"))
_BULLET = re.compile(r"\s*(?:[-*•+]|[0-9]{1,2}[.)])\s+")
_SENTENCE = re.compile(r"([^.;!?。]*(?:\.(?=\S)[^.;!?。]*)*)([.;!?。]|$)")
_COMMA = re.compile(r",(?![0-9])|(?<=[\u3040-\u30ff\u3400-\u9fff])[,、]")
_MINUS = re.compile(rf"-({PLACEHOLDER}|[^\W\d_][\w-]*)")


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
        self.wanted = _merge_terms(self.wanted, later.wanted, without=later.unwanted)
        self.unwanted = _merge_terms(self.unwanted, later.unwanted, without=later.wanted)
        self.authors = list(dict.fromkeys([*self.authors, *later.authors]))
        self.limits |= later.limits
        self.directions = list(dict.fromkeys([*self.directions, *later.directions]))
        self.suggestions = later.suggestions or self.suggestions
        self.unused += later.unused
        self.notes += later.notes


def extract_wanted_words(remark: str) -> str:
    """Return the terms that a text asks for; "" if it asks for none."""
    return " ".join(read_text(remark, Vocabulary({}), date.max).wanted)


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
        exact = FeedbackReading(feedback.add_terms, feedback.exclude_terms, limits=dropped | years)
        exact.suggestions = feedback.use_suggestions
        reading.merge_later(exact)
    return reading


def read_text(
    remark: str, vocabulary: Vocabulary, today: date, current: SearchConstraints | None = None
) -> FeedbackReading:
    """Read one text. "More" and "fewer" are relative to the `current` limits."""
    reading = FeedbackReading()
    has_list = re.search(r":\s*$", remark, re.MULTILINE) is not None
    reader = _ClauseReader(vocabulary, today, (current or SearchConstraints()).max_results, has_list)
    for line in remark.splitlines():
        text = normalise_text(_BULLET.sub("", line, count=1))
        for short, full in _CONTRACTIONS:
            text = re.sub(rf"{short}\b", full, text, flags=re.IGNORECASE)
        text, phrases = replace_quoted_phrases(text)
        for sentence, end in _SENTENCE.findall(text):
            for clauses in _split_sentence(sentence):
                for one in reader.read_clauses(clauses, is_question=end == "?"):
                    for texts in (one.wanted, one.unwanted, one.authors, one.unused):
                        texts[:] = [restore_phrases(text, phrases) for text in texts]
                    reading.merge_later(one)
    return reading


@dataclass(frozen=True, slots=True)
class _ClauseReader:
    vocabulary: Vocabulary
    today: date
    current_amount: int
    has_list: bool
    """Whether dashes may mark the items of a list."""

    def read_clauses(self, clauses: Sequence[str], *, is_question: bool) -> Iterator[FeedbackReading]:
        """Yield the readings of clauses between two words such as "but"; a condition or an open denial stops all."""
        asked = {clause: self._read_clause(clause) for clause in clauses if strip_courtesies(clause)}
        unclear = [clause for clause, one in asked.items() if one is None]
        ends_in_request = clauses[-1] in asked and not any(has_phrase("ask", clause) for clause in clauses)
        is_doubted = (is_question and ends_in_request) or any(has_phrase("if", clause) for clause in unclear)
        for clause, one in asked.items():
            is_doubted = is_doubted or (one is None and has_phrase("not", clause))
            yield FeedbackReading(unused=[clause]) if one is None or is_doubted else one

    def _read_clause(self, clause: str) -> FeedbackReading | None:
        """Return what a clause asks for, or None if it is not understood."""
        if not self.has_list and all(map(_MINUS.fullmatch, clause.split())):
            return FeedbackReading(unwanted=_MINUS.findall(clause))
        return self._read_limits(clause) or self._read_request(clause)

    def _read_limits(self, clause: str) -> FeedbackReading | None:
        """Read a clause about years, a language, an amount or an author, and at most terms to add."""
        reading = read_amount(Reading(clause))
        dated = reading.rest
        reading.read_years(self.today)
        read_authors(read_language(reading))
        if not (reading.limits or reading.authors) or self._are_years_vague(reading, dated):
            return None
        found = FeedbackReading(limits=reading.limits, authors=reading.authors, notes=reading.notes)
        rest = reading.rest.strip()
        if is_filler(rest):
            return found
        request = None if "\n" in rest else read_request(rest)
        found.wanted = list_added(request.named, self.vocabulary) if request and request.kind == "add" else []
        return found if found.wanted else None

    def _are_years_vague(self, reading: Reading, text: str) -> bool:
        """Return True if a text names no number for its years: "recent", "not too old"."""
        recent = self.today.year - RECENT_YEARS
        is_vague = (reading.year_from, reading.year_to) in ((recent, None), (None, recent - 1))
        return is_vague and not re.search(rf"[0-9]|\b{get_number_pattern(exact=True)}\b", text)

    def _read_request(self, clause: str) -> FeedbackReading | None:
        request = read_request(clause)
        if request is None:
            return None
        found = FeedbackReading(suggestions=request.kind == "suggestions")
        match request.kind:
            case "suggestions":
                pass
            case "drop":
                found.limits = dict.fromkeys(YEARS.get(request.named, (request.named,)))
            case "wider" | "narrower" | "more" | "fewer" as kind:
                found.directions = [Direction(kind)]
                wanted = {
                    "more": min(2 * self.current_amount, MAX_RESULTS_CAP),
                    "fewer": max(1, self.current_amount // 2),
                }
                found.limits = {"max_results": wanted[kind]} if kind in wanted else {}
            case "add":
                found.wanted = list_added(request.named, self.vocabulary)
            case _:
                found.unwanted = list_excluded(request, clause)
        return found if found.has_content else None


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
    for join in compile_phrases("and").finditer(clause):
        if read_request(rest := clause[join.end() :].strip()):
            return [clause[: join.start()].strip(), *_split_requests(rest)]
    return [clause]


def _merge_terms(earlier: Iterable[str], later: Iterable[str], *, without: Iterable[str]) -> list[str]:
    """Return the terms of both, each once, and of the earlier ones only those that are not left out."""
    left_out = set(map(make_term_key, without))
    kept = [text for text in earlier if make_term_key(text) not in left_out]
    return list({make_term_key(text): text for text in (*kept, *later)}.values())
