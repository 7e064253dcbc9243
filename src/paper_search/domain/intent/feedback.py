"""Read feedback for the next round: requests that it contains, terms to add and to exclude, and limits to change.

The fields of `UserFeedback` are exact. A text is read clause by clause: a clause counts if a phrase of
`data/feedback_phrases.txt` matches it completely and its terms can be nothing else than terms. Every other clause
changes nothing and is listed as not used.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Final, cast

from paper_search.domain.intent.concepts import find_phrases
from paper_search.domain.intent.reading import (
    Direction,
    Reading,
    StatedLimits,
    read_amount,
    read_authors,
    read_language,
)
from paper_search.domain.intent.text_cleanup import (
    cut_and_normalise_characters,
    replace_quoted_phrases,
    restore_phrases,
)
from paper_search.domain.intent.vocabulary import Vocabulary, is_counted, is_generic, make_term_key, to_singular
from paper_search.domain.query.filters import parse_language
from paper_search.domain.review_models import YEARS, UserFeedback
from paper_search.models import MAX_RESULTS_CAP, SearchConstraints, TermSuggestion
from uraniborg.kernel.language.phrase_files import PhraseFile, get_number_pattern, split_entries
from uraniborg.kernel.language.publication_years import RECENT_YEARS
from uraniborg.kernel.language.words import STOP_WORDS

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
        exact = Reading(limits=cast("StatedLimits", limits | years), suggestions=feedback.use_suggestions)
        exact.wanted, exact.unwanted = feedback.add_terms, feedback.exclude_terms
        reading.merge_later(exact)
    return reading


def read_text(remark: str, vocabulary: Vocabulary, today: date, current: SearchConstraints | None = None) -> Reading:
    """Read one text. "More" and "fewer" are relative to the `current` limits."""
    reading = Reading()
    has_list = re.search(r":\s*$", remark, re.MULTILINE) is not None
    reader = _ClauseReader(vocabulary, today, (current or SearchConstraints()).max_results, has_list)
    for line in remark.splitlines():
        text = cut_and_normalise_characters(PATTERNS["bullet"].sub("", line, count=1))
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

    def _are_years_vague(self, limits: StatedLimits, text: str) -> bool:
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
                return Reading(limits=cast("StatedLimits", dict.fromkeys(YEARS.get(limit, (limit,)))))
            case (direction, ""):
                amounts = {"more": min(2 * self.amount, MAX_RESULTS_CAP), "fewer": max(1, self.amount // 2)}
                limits: StatedLimits = {"max_results": amounts[direction]} if direction in amounts else {}
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


_PHRASES: Final = PhraseFile("paper_search.domain.intent", "data/feedback_phrases.txt")
PATTERNS: Final = _PHRASES.patterns
_KINDS: Final = " ".join(_PHRASES.lists["requests"]).split()
LIMIT_NAMES: Final = dict(split_entries(_PHRASES.lists["limit names"], " = "))
_EDGE: Final = r"[\s,:.!?¿¡~…()]"


def read_request(clause: str) -> tuple[str, str] | None:
    """Return the kind of a request and the terms or the limit that it names, or None if no phrase matches all of it."""
    bare = strip_courtesies(clause)
    softened = strip_courtesies(" ".join(compile_phrases("soft").sub(" ", bare).split()))
    for text in dict.fromkeys((softened, bare, _separate_elisions(clause))):
        for kind in _KINDS:
            if found := next(filter(None, (pattern.fullmatch(text) for pattern in _PHRASES.compile_each(kind))), None):
                return kind, (found.groupdict().get("named") or found.lastgroup or "").strip()
    return None


def strip_courtesies(clause: str) -> str:
    """Return a clause without courtesies at both ends."""
    return _strip(_separate_elisions(clause), ("open", "ask"), "end")


def is_filler(text: str) -> bool:
    """Return True if a text without its limits says nothing else: "only papers", "published"."""
    return not compile_phrases("filler", "open", "end", "ask", "soft").sub("", text).strip(" \n\t,:.!?¿¡")


def split_at(kind: str, text: str) -> list[str]:
    """Return the pieces of a text between the phrases of a kind, without empty ones."""
    return [piece.strip() for piece in compile_phrases(kind).split(text) if piece.strip()]


@lru_cache(maxsize=64)
def compile_phrases(*kinds: str, frame: str = "{}") -> re.Pattern[str]:
    phrases = f"{_PHRASES.names['start']}(?:{'|'.join(map(_PHRASES.join, kinds))}){_PHRASES.names['end']}"
    return re.compile(frame.format(phrases), re.IGNORECASE)


def split_sentence(sentence: str) -> Iterator[list[str]]:
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


def list_added(named: str, vocabulary: Vocabulary) -> list[str]:
    """Return the terms to add, or [] if one of them is no plain term."""
    parts = [named] if PATTERNS["cjk"].search(named) else split_at("join", named)
    terms = list(map(_strip_term, parts))
    if not all(_is_plain(term, 6) for term in terms):
        return []
    split = (find_phrases(term, vocabulary) if STOP_WORDS & set(term.casefold().split()) else [term] for term in terms)
    return [text for texts in split for text in texts]


def list_excluded(kind: str, named: str, clause: str) -> list[str]:
    """Return the terms to exclude, or [] if one of them is no plain term: an exclusion is never guessed."""
    bare = _strip_term(named)
    parts = split_at("join", bare)
    if are_kinds(bare):
        return parts
    is_refused = kind == "exclude" or (kind != "kinds" and named == bare and _is_refusal(kind, named, clause))
    is_list = len(parts) < 2 or all(map(_is_plural, parts))
    return parts if is_refused and is_list and all(map(_is_excludable, parts)) else []


def are_kinds(named: str) -> bool:
    """Return True if all terms of a list are kinds of publications, such as reviews and editorials."""
    parts = split_at("join", named)
    return bool(parts) and all(compile_phrases("kind").fullmatch(_strip_term(part)) for part in parts)


def _is_refusal(kind: str, named: str, clause: str) -> bool:
    """Return False for idioms ("without looking"), acronyms ("NO synthase") and words of another language."""
    words, cue = named.split(), clause.split(maxsplit=1)[0]
    if len(words) > 2 or (cue.isupper() and len(cue) > 1 and not clause.isupper()):
        return False
    if kind == "sans":
        return not PATTERNS["infinitive"].fullmatch(words[0])
    return not PATTERNS["gerund"].match(named) and (cue.casefold() != "no" or all(map(is_counted, words)))


def _is_excludable(term: str) -> bool:
    """Return True for a quoted phrase, and for a plain term with a topic that is not a language."""
    if PATTERNS["quoted"].fullmatch(term):
        return True
    words = term.casefold().split()
    inner = [word for word in words if not compile_phrases("of").fullmatch(word)]
    names = re.split(r"[\s-]", term.casefold().removeprefix("non-"))
    # Shorter words are codes of languages: those of two letters may be any word.
    is_language = all(len(name) > 3 and parse_language(name) for name in names)
    has_topic = not all(map(is_generic, inner)) and not compile_phrases("plan").fullmatch(words[-1])
    return _is_plain(term, 3) and has_topic and not is_language and words[0] in inner and not STOP_WORDS & set(inner)


def _is_plural(term: str) -> bool:
    last = term.rsplit(maxsplit=1)[-1]
    return to_singular(last) != last or compile_phrases("plural").fullmatch(last) is not None


def _is_plain(term: str, most_words: int) -> bool:
    """Return True for a quoted phrase, and for words that can be a term and nothing else."""
    words = term.split()
    if PATTERNS["quoted"].fullmatch(term):
        return True
    if not 0 < len(words) <= most_words or not PATTERNS["plain"].fullmatch(term):
        return False
    if PATTERNS["cjk"].search(term):
        return 1 < len(term) <= 12 and not compile_phrases("unsure").search(term)
    tells = [word for word in words if re.search(r"[^\W\d_]", word) and not compile_phrases("vague").fullmatch(word)]
    return not all(map(compile_phrases("plan").fullmatch, tells)) and not compile_phrases("never").search(term)


def _separate_elisions(text: str) -> str:
    """Return the text with a space after elided articles: "l' eau"."""
    return PATTERNS["elision"].sub(r"\g<article>' ", text)


def _strip_term(term: str) -> str:
    """Return a term without articles and "papers about" in front of it, and without such words after it."""
    return re.sub(r"' (?=\w)", "'", _strip(term, ("about", "elided"), "tail")) or term


def _strip(text: str, beginnings: tuple[str, ...], ending: str) -> str:
    """Return the text without the phrases of these kinds at its beginning and its end, however many there are."""
    rest = compile_phrases(*beginnings, frame=f"^(?:{_EDGE}|{{}})+").sub("", text)
    return compile_phrases(ending, frame=f"(?:{_EDGE}|{{}})+$").sub("", rest)
