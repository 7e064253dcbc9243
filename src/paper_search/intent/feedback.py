"""Read feedback for the next round: terms to add and to exclude, limits to change, and notes on them.

The fields of `UserFeedback` are exact. A text is read clause by clause: a clause counts if a phrase matches it
completely and its terms can be nothing else than terms. Every other clause changes nothing and is listed as not used.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final, cast

from paper_search.intent.feedback_requests import (
    LIMIT_NAMES,
    PATTERNS,
    compile_phrases,
    is_filler,
    list_added,
    list_excluded,
    read_request,
    split_sentence,
    strip_courtesies,
)
from paper_search.intent.reading import Direction, Limits, Reading
from paper_search.intent.text_cleanup import normalise_text, replace_quoted_phrases, restore_phrases
from paper_search.intent.vocabulary import Vocabulary, make_term_key
from paper_search.intent.wishes import read_amount, read_authors, read_language
from paper_search.models import MAX_RESULTS_CAP, SearchConstraints, TermSuggestion
from paper_search.review_models import YEARS, UserFeedback
from uraniborg.kernel.years.numbers import get_number_pattern
from uraniborg.kernel.years.reading import RECENT_YEARS

NOT_USED: Final = "Not used: "
"""The beginning of the note on clauses of feedback that were not understood."""
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
            for clauses in split_sentence(sentence):
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
    has_list: bool  # dashes may mark the items of a list

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


def select_accepted(suggestions: Iterable[TermSuggestion], accepted: bool | Sequence[str]) -> list[TermSuggestion]:
    """Return the suggestions that feedback accepts: all of them, those that it names, or none."""
    keys = set(map(make_term_key, [] if isinstance(accepted, bool) else accepted))
    return [entry for entry in suggestions if accepted is True or make_term_key(entry.term) in keys]


def describe_changes(
    latest: Reading, before: SearchConstraints, after: SearchConstraints, other_notes: Sequence[str]
) -> Iterator[str]:
    """Yield a note for each change that the feedback asks for and no other note describes."""
    for text in latest.wanted:
        if not any(note.startswith(f"Added: “{text}”") for note in other_notes):
            yield f"“{text}” is in the plan already."
    for text in latest.unwanted:
        if not any(note.startswith(f"“{text}” is part of") for note in other_notes):
            yield f"Excluded: “{text}” (asked for in the feedback)."
    is_any_set = any(value is None and getattr(before, name) is not None for name, value in latest.limits.items())
    for limit, value in latest.limits.items():
        old, new, name = getattr(before, limit), getattr(after, limit), LIMIT_NAMES[limit]
        if old != new:
            yield f"Dropped: {name} {old}." if new is None else f"Changed: {name} is {new}, before {old or 'not set'}."
        elif old is None and (value is not None or not is_any_set):  # of two dropped years one may not have been set
            yield f"The plan had no limit “{name}”."
    if latest.unused:
        yield (
            f"{NOT_USED}{', '.join(f'“{clause}”' for clause in latest.unused)}. Write “add …”, “exclude …”, “remove "
            "the year limit” or “since 2020”, or send add_terms, exclude_terms, drop_limits, set_years or "
            "use_suggestions."
        )


def list_exact_changes(notes: Iterable[str]) -> list[str]:
    """Return the notes on changes of terms and limits: a language model reads the clauses that are not used."""
    return [note for note in notes if note.startswith(("Added: ", "Excluded: ", "Dropped: ", "Changed: "))]
