"""Feedback on a round, read for the next round: terms to add and to exclude, and limits to change.

The fields of `UserFeedback` are exact. A text is read clause by clause: a clause counts if a phrase matches it
completely and its terms can be nothing else than terms. Every other clause changes nothing and is listed as not used.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import cast

from paper_search.intent.feedback_requests import (
    PATTERNS,
    are_kinds,
    compile_phrases,
    is_filler,
    list_added,
    list_excluded,
    read_request,
    split_at,
    strip_courtesies,
)
from paper_search.intent.reading import Direction, Limits, Reading
from paper_search.intent.text_cleanup import normalise_text, replace_quoted_phrases, restore_phrases
from paper_search.intent.vocabulary import Vocabulary
from paper_search.intent.wishes import read_amount, read_authors, read_language
from paper_search.models import MAX_RESULTS_CAP, SearchConstraints
from paper_search.review_models import YEARS, UserFeedback
from uraniborg.kernel.years.numbers import get_number_pattern
from uraniborg.kernel.years.reading import RECENT_YEARS

_CONTRACTIONS = (("n['’]t", " not"), ("['’]d", " would"), (r"(?<=\bi)['’]m", " am"))


def extract_wanted_words(remark: str) -> str:
    """Return the terms that a text asks for; "" if it asks for none."""
    return " ".join(read_text(remark, Vocabulary({}), date.max).wanted)


def read_feedback(
    given: Iterable[UserFeedback], vocabulary: Vocabulary, today: date, current: SearchConstraints | None = None
) -> Reading:
    """Read the feedback of several rounds, the oldest first. The fields of each win over its texts."""
    reading = Reading()
    for feedback in given:
        for text in feedback.texts:
            reading.merge_later(read_text(text, vocabulary, today, current))
        limits = {name: None for limit in feedback.drop_limits for name in YEARS.get(limit, (limit,))}
        years = feedback.set_years.model_dump(exclude_unset=True) if feedback.set_years else {}
        exact = Reading(limits=cast("Limits", limits | years), suggestions=feedback.use_suggestions)
        exact.wanted, exact.unwanted = feedback.add_terms, feedback.exclude_terms
        reading.merge_later(exact)
    return reading


def read_text(remark: str, vocabulary: Vocabulary, today: date, current: SearchConstraints | None = None) -> Reading:
    """Read one text. "More" and "fewer" are relative to the `current` limits."""
    reading = Reading()
    has_list = re.search(r":\s*$", remark, re.MULTILINE) is not None
    reader = _ClauseReader(vocabulary, today, (current or SearchConstraints()).max_results, has_list)
    for line in remark.splitlines():
        text = normalise_text(PATTERNS["bullet"].sub("", line, count=1))
        for short, full in _CONTRACTIONS:
            text = re.sub(rf"{short}\b", full, text, flags=re.IGNORECASE)
        text, phrases = replace_quoted_phrases(text)
        for sentence, end in (match.group("text", "end") for match in PATTERNS["sentence"].finditer(text)):
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
    amount: int
    has_list: bool
    """Whether dashes may mark the items of a list."""

    def read_clauses(self, clauses: Sequence[str], *, is_question: bool) -> Iterator[Reading]:
        """Yield the readings of clauses between two words such as "but"; a condition or an open denial stops all."""
        asked = {clause: self._read_clause(clause) for clause in clauses if strip_courtesies(clause)}
        unclear = [clause for clause, one in asked.items() if not one.has_content]
        is_polite = any(map(compile_phrases("ask").search, clauses))
        is_doubted = is_question and clauses[-1] in asked and not is_polite
        is_doubted = is_doubted or any(map(compile_phrases("if").search, unclear))
        for clause, one in asked.items():
            is_doubted = is_doubted or (clause in unclear and compile_phrases("not").search(clause) is not None)
            yield Reading(unused=[clause]) if is_doubted or clause in unclear else one

    def _read_clause(self, clause: str) -> Reading:
        """Return what a clause asks for, without content if it is not understood."""
        if not self.has_list and all(map(PATTERNS["minus"].fullmatch, clause.split())):
            return Reading(unwanted=[word[1:] for word in clause.split()])
        reading = read_amount(Reading(clause))
        dated = reading.rest
        reading.read_years(self.today)
        read_authors(read_language(reading))
        if not reading.has_content or self._are_years_vague(reading.limits, dated):
            return self._read_request(clause)
        rest = reading.rest.strip()
        if not is_filler(rest):
            others = Reading() if "\n" in rest else self._read_request(rest)
            reading.wanted = others.wanted
            return reading if others.wanted else self._read_request(clause)
        return reading

    def _are_years_vague(self, limits: Limits, text: str) -> bool:
        """Return True if a text names no number for its years: "recent", "not too old"."""
        recent = self.today.year - RECENT_YEARS
        is_vague = (limits.get("year_from"), limits.get("year_to")) in ((recent, None), (None, recent - 1))
        return is_vague and not re.search(rf"[0-9]|\b{get_number_pattern(exact=True)}\b", text)

    def _read_request(self, clause: str) -> Reading:
        match read_request(clause):
            case None:
                return Reading()
            case ("suggestions", _):
                return Reading(suggestions=True)
            case ("drop", limit):
                return Reading(limits=cast("Limits", dict.fromkeys(YEARS.get(limit, (limit,)))))
            case (direction, ""):
                amounts = {"more": min(2 * self.amount, MAX_RESULTS_CAP), "fewer": max(1, self.amount // 2)}
                limits: Limits = {"max_results": amounts[direction]} if direction in amounts else {}
                return Reading(directions=[Direction(direction)], limits=limits)
            case ("add", named):
                return Reading(wanted=list_added(named, self.vocabulary))
            case (kind, named):
                return Reading(unwanted=list_excluded(kind, named, clause))


def _split_sentence(sentence: str) -> Iterator[list[str]]:
    """Yield the clauses between two words such as "but"; each item of a list that is named as one is a clause."""
    for part in split_at("but", sentence):
        clauses: list[str] = []
        before = ""
        for piece in filter(None, map(str.strip, PATTERNS["comma"].split(part))):
            kind, named = read_request(piece) or ("", "")
            if named and kind != "drop":
                head, colon, _ = piece.partition(": ")
                before = f"{head}: " if colon else "exclude " if are_kinds(named) else ""
            continues = not kind and (before.endswith(": ") or (before and are_kinds(piece)))
            clauses += _split_requests(f"{before}{piece}" if continues else piece)
        if clauses:
            yield clauses


def _split_requests(clause: str) -> list[str]:
    """Return the requests that "and" joins: "exclude mice and add rats" is two, "add mice and rats" one."""
    for join in compile_phrases("and").finditer(clause):
        if read_request(rest := clause[join.end() :].strip()):
            return [clause[: join.start()].strip(), *_split_requests(rest)]
    return [clause]
