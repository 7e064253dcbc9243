"""Queries that a person typed as a query: how a text is recognised as one, and what plain words beside it mean.

A text is a query if it has the tag of a known field, an operator in capitals, or quotation marks without a sentence
around them, or if it is a row of groups in brackets. A question, a sentence or a headline in capitals stays plain
words, unless an operator joins brackets or quotation marks. Beside a query only limits of years, requests ("find"),
numbers of papers and preferences are read; every other character stays as it was typed. A strategy in the syntax of
PubMed can have limits of years behind it, a long query nothing.

What is read is cut out of a text that stays equally long, so that errors in the query have their positions in it.
"""

import re
from dataclasses import dataclass
from datetime import date
from typing import Final

from paper_search.intent.concepts import is_function_word
from paper_search.intent.courtesy_phrases import remove_courtesies, remove_openings_and_closings
from paper_search.intent.preferences import read_preferences
from paper_search.intent.reading import Reading
from paper_search.intent.vocabulary import Vocabulary
from paper_search.intent.wishes import read_amount
from paper_search.intent.word_lists import (
    FOREIGN_FUNCTION_WORDS,
    FOREIGN_IN_TERMS,
    HEADLINE_WORDS,
    NO_REQUEST,
    SENTENCE_WORDS,
)
from paper_search.query.boolean_query import OPERATORS, QUERY_SIGNS
from paper_search.strategies.reader import is_strategy
from paper_search.strategies.tokens import MAX_STRATEGY_CHARS
from uraniborg.kernel.field_tags import blank_tags, find_field_tags
from uraniborg.kernel.phrase_files import BREAK

MAX_QUERY_CHARS: Final = 2_000
"""The most characters of a question; a query with operators or field tags may have more."""
_LONGEST_ACRONYM: Final = 5
_FOREIGN: Final = frozenset(word for words in FOREIGN_FUNCTION_WORDS for word in words if len(word) > 1)
_MASK: Final = "\ue000"
"""Stands for each character of a quoted phrase or a field tag, so that no rule reads inside it."""
_UNSEARCHABLE: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ue000-\uf8ff]")
_QUOTED: Final = re.compile(r'"[^"]*"')
_OPEN_QUOTE: Final = re.compile(r'(?:^|(?<=[\s(-]))"(?=\w)')
_OPERATOR: Final = re.compile(
    r"(?<!\S)(?!(?<=,\s)OR\s*$)\(*(?:AND|OR|NOT)\b(?=[\s()\"\ue000]|$)|(?<=[)\"\ue000])(?:AND|OR|NOT)(?!\w)"
    r"|(?<!\S)(?:NEAR|ADJ|WITHIN|PRE)/?\d+(?=[\s(\"\ue000]|$)"
)
"""An operator in capitals, also one of distance; OR after a comma at the end of a text is the state of Oregon."""
_JOINED: Final = re.compile(rf"[)\"{_MASK}]\s*(?:AND|OR|NOT)\b|(?<!\w)(?:AND|OR|NOT)\s*[(\"{_MASK}]")
_QUESTION: Final = re.compile(
    r"\s*(?:what|which|who|whose|when|where|why|how|is|are|was|were|do|does|did|can|could|should|will|would|has|have)\s"
    r"(?!(?:AND|OR|NOT)\b)",
    re.IGNORECASE,
)
_ARTICLE: Final = re.compile(r"(?<!\S)an?\s+[a-z]")
_GROUPS: Final = re.compile(r"\s*(?:\([^()]+\)\s*){2,}")
_WORD: Final = re.compile(r"[^\W\d_]+")
_NEGATED_LIMIT: Final = re.compile(r"\bNOT(?=\s+(?:published|before|after|since|older|newer|earlier|later|in)\b)")
_TAIL: Final = re.compile(r"[,;.]\s+(?P<tail>[^(),;]*)$")
_DETERMINERS: Final = re.compile(r"(?:\b(?:all|an?|any|more|some|the)\s+)+$", re.IGNORECASE)
_SEPARATORS: Final = r"[\s,;:.]*"
_JOINING_SIGNS: Final = (
    re.compile(r"\(\s*\n\s*\)"),
    re.compile(rf"\b(?:AND\s+NOT|AND|OR|NOT)\b{_SEPARATORS}(?=\n+{_SEPARATORS}(?:(?:AND|OR|NOT)\b|\)|$))"),
    re.compile(rf"(?:^|(?<=\()){_SEPARATORS}\n{_SEPARATORS}(?:AND|OR)\b"),
    re.compile(rf"{_SEPARATORS}\n{_SEPARATORS}"),
)
"""The signs and operators that joined a cut to the query."""


@dataclass(slots=True)
class TypedQuery:
    """A typed query, and what plain words beside it ask for."""

    text: str
    """The query as typed, without the words that were read."""
    kept: str
    """The whole text, equally long, with spaces in place of the words that were read."""
    reading: Reading


def read_typed_query(text: str, today: date, vocabulary: Vocabulary | None = None) -> TypedQuery | None:
    """Return the query that a text is, or None for plain words. Never raises."""
    if len(text) > MAX_STRATEGY_CHARS:
        return None
    text = _UNSEARCHABLE.sub(" ", text)
    kept = marked = text.translate(QUERY_SIGNS).replace(BREAK, " ")
    reading = Reading("")
    if is_strategy(text):
        end = len(text) if "\n" in text.strip() else max(map(marked.rfind, '])"')) + 1
        kept = _tidy_cuts(_cut_years(_MASK * end + marked[end:], reading, today))
    elif len(text) > MAX_QUERY_CHARS:
        if not _is_query(marked, marked, marked):
            return None
    else:
        masked = _QUOTED.sub(lambda quoted: _MASK * len(quoted[0]), marked)
        masked = blank_tags(masked, [tag for tag in find_field_tags(marked) if tag.makes_a_query], _MASK)
        kept = _cut_years(masked, reading, today)
        with_request = _tidy_cuts(_cut_tail(marked, kept, reading, vocabulary or Vocabulary({}), today))
        kept = _cut_requests(with_request, reading)
        if not _is_query(marked, kept, with_request):
            return None
    return TypedQuery(_join_kept(text, kept), _blank_cuts(text, kept), reading)


def _blank_cuts(text: str, kept: str) -> str:
    """Return the text, equally long, with spaces in place of the breaks."""
    return "".join(" " if cut == BREAK else own for own, cut in zip(text, kept, strict=True))


def _join_kept(text: str, kept: str) -> str:
    """Return the text without the words that were read; without any it is verbatim."""
    if BREAK not in kept:
        return text.strip()
    pieces = [text[part.start() : part.end()].strip() for part in re.finditer(r"[^\n]+", kept)]
    return re.sub(r"(?<=\()\n|\n(?=\))", "", "\n".join(filter(None, pieces))).replace("\n", " ")


def _cut_years(masked: str, reading: Reading, today: date) -> str:
    """Return the text with breaks in place of the words that limit the years."""
    reading.rest = text = _NEGATED_LIMIT.sub("not", masked)
    reading.read_years(today)
    *pieces, last = reading.rest.split(BREAK)
    kept = ""
    for piece in pieces:
        start = text.index(piece, len(kept))
        kept += BREAK * (start - len(kept)) + masked[start : start + len(piece)]
    return kept + BREAK * (len(text) - len(kept) - len(last)) + masked[len(text) - len(last) :]


def _cut_tail(marked: str, kept: str, reading: Reading, vocabulary: Vocabulary, today: date) -> str:
    """Return the text without a preference or a number of papers in plain words at its end."""
    tail = _TAIL.search(kept.rstrip())
    if tail is None or _OPERATOR.search(tail["tail"]):
        return kept
    start = tail.start("tail")
    words = Reading(" ".join(_blank_cuts(marked, kept)[start:].replace('"', " ").split()))
    read_amount(read_preferences(words, vocabulary, today))
    if not (words.limits or words.preferences) or remove_courtesies(words.rest).strip(" \n,;."):
        return kept
    reading.max_results, reading.preferences = words.max_results, words.preferences
    reading.notes += words.notes
    return kept[:start] + BREAK * (len(kept) - start)


def _tidy_cuts(kept: str) -> str:
    """Return the text with breaks also for the signs that joined a cut to the query."""
    if BREAK in kept:
        for pattern in _JOINING_SIGNS:
            kept = pattern.sub(lambda found: BREAK * len(found[0]), kept)
    return kept


def _cut_requests(kept: str, reading: Reading) -> str:
    """Return the text without a request before the query ("find") or after it ("please")."""
    bare = remove_openings_and_closings(kept).strip()
    start = kept.rfind(bare)
    if not bare or start < 0:
        return kept
    opening, closing = _DETERMINERS.sub("", kept[:start]), kept[start + len(bare) :]
    opening = "" if re.match(r"(?:AND|OR|NOT)\b", bare) or not _is_request(opening) else opening
    closing = "" if re.search(r"\b(?:AND|OR|NOT)$", bare) or not _is_request(closing) else closing
    for words in filter(None, (opening, closing)):
        request = " ".join(words.split()).strip(" ,;:.")
        reading.notes.append(f"“{request}” was read as a request.")
        if reading.max_results is None:
            reading.rest = request
            read_amount(reading)
    return BREAK * len(opening) + kept[len(opening) : len(kept) - len(closing)] + BREAK * len(closing)


def _is_request(words: str) -> bool:
    """Return True for removed words that can be a request: with more than prepositions, and no syntax."""
    names = {name.casefold() for name in re.findall(r"\w+", words)}
    return not names <= NO_REQUEST and not re.search(rf"[()\"{_MASK}]|\b(?:AND|OR|NOT)\b", words)


def _is_query(marked: str, kept: str, with_request: str) -> bool:
    """Return True if the text without the limits, requests and preferences beside it is a query."""
    visible = _blank_cuts(marked, kept)
    tags = find_field_tags(visible)
    if any(tag.makes_a_query for tag in tags):
        return True
    if _OPERATOR.search(kept):
        is_joined = _JOINED.search(kept) is not None
        return not _QUESTION.match(kept) and (is_joined or not (_is_sentence(kept) or _is_headline(visible)))
    if _GROUPS.fullmatch(kept):
        return True
    if not (_QUOTED.search(visible) or _OPEN_QUOTE.search(visible)):
        return False
    # Plain words have limits and hints, too: top 20 papers, author:Doe.
    is_plain = any(
        is_function_word(word) or (word in _FOREIGN and word not in FOREIGN_IN_TERMS)
        for word in _split_words(with_request)
    )
    return not (is_plain or any(tag.is_dropped for tag in tags) or read_amount(Reading(with_request)).limits)


def _split_words(kept: str) -> list[str]:
    return re.findall(r"[^\s(),;:.!?\"\[\]\ue000]+", kept)


def _is_sentence(kept: str) -> bool:
    """Return True if a text has words that only sentences have; "of" and "in" occur in terms, too."""
    first, *others = _split_words(kept) or [""]
    words = [first if first.isupper() else first.casefold(), *others]
    return not SENTENCE_WORDS.isdisjoint(words) or _ARTICLE.search(kept) is not None


def _is_headline(visible: str) -> bool:
    """Return True for a text all in capitals, in which capitals do not tell an operator from a word."""
    words = [word for word in _WORD.findall(visible) if word not in OPERATORS]
    is_spelled = any(word in HEADLINE_WORDS or len(word) > _LONGEST_ACRONYM for word in words)
    return is_spelled and visible.upper() == visible and visible.lower() != visible
