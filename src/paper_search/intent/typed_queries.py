"""Queries that a person typed as a query: how a text is recognised as one, and what plain words beside it mean.

A text is a query if it has the tag of a known field, an operator in capitals, or quotation marks without a sentence
around them, or if it is a row of groups in brackets. A question, a sentence or a headline in capitals stays plain
words, unless an operator joins brackets or quotation marks. Beside a query only limits of years, requests ("find")
and preferences are read; every other character stays as it was typed. A strategy in the syntax of PubMed can have
limits of years behind it, a long query nothing.
"""

import re
from dataclasses import dataclass, field
from datetime import date
from typing import Final

from paper_search.intent.concepts import is_function_word
from paper_search.intent.result_limits import AmountReading, read_amount
from paper_search.intent.text_cleanup import BREAK
from paper_search.intent.vocabulary import Vocabulary
from paper_search.intent.word_lists import FOREIGN_FUNCTION_WORDS
from paper_search.intent.words_beside_queries import (
    MASK,
    OPERATOR,
    blank_cuts,
    cut_amount,
    cut_preferences,
    cut_requests,
    read_and_cut_years,
    tidy_cuts,
)
from paper_search.intent.years import YearReading
from paper_search.strategies.reader import is_strategy
from paper_search.strategies.tokens import MAX_STRATEGY_CHARS
from uraniborg.kernel.boolean_query import OPERATORS, QUERY_SIGNS
from uraniborg.kernel.field_tags import blank_tags, find_field_tags

MAX_QUERY_CHARS: Final = 2_000
"""The most characters of a question; a query with operators or field tags may have more."""
_UNSEARCHABLE: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ue000-\uf8ff]")
_QUOTED: Final = re.compile(r'"[^"]*"')
_OPEN_QUOTE: Final = re.compile(r'(?:^|(?<=[\s(-]))"(?=\w)')
_JOINED: Final = re.compile(rf"[)\"{MASK}]\s*(?:AND|OR|NOT)\b|(?<!\w)(?:AND|OR|NOT)\s*[(\"{MASK}]")
_QUESTION: Final = re.compile(
    r"\s*(?:what|which|who|whose|when|where|why|how|is|are|was|were|do|does|did|can|could|should|will|would|has|have)\s"
    r"(?!(?:AND|OR|NOT)\b)",
    re.IGNORECASE,
)
_SENTENCE_WORDS: Final = """
the this that these those we you he she it they me us my our your his her its their who whom whose what which when
where why how whether if because although though while whereas but is are was were am be been being do does did
doing has have had having can cannot could may might must shall should will would and or nor not than
"""
_SENTENCE: Final = frozenset(_SENTENCE_WORDS.split())
_FOREIGN: Final = frozenset(word for words in FOREIGN_FUNCTION_WORDS for word in words if len(word) > 1) - {
    *(
        "am",
        "as",
        "con",
        "de",
        "die",
        "do",
        "en",
        "et",
        "no",
        "par",
        "pour",
        "sin",
        "son",
    ),  # also words of English terms
}
_ARTICLE: Final = re.compile(r"(?<!\S)an?\s+[a-z]")
_HEADLINE_WORDS: Final = frozenset({"AT", "BE", "BY", "FOR", "FROM", "IN", "IS", "OF", "ON", "THE", "TO", "WITH"})
_LONGEST_ACRONYM: Final = 5
_GROUPS: Final = re.compile(r"\s*(?:\([^()]+\)\s*){2,}")
_WORD: Final = re.compile(r"[^\W\d_]+")


@dataclass(slots=True)
class TypedQuery:
    """A typed query, and what plain words beside it ask for."""

    text: str
    """The query as typed, without the words that were read."""
    kept: str
    """The whole text, equally long, with spaces in place of the words that were read."""
    years: YearReading
    amount: AmountReading = field(default_factory=lambda: AmountReading(rest=""))
    requests: list[str] = field(default_factory=list[str])
    preferences: list[str] = field(default_factory=list[str])


def read_typed_query(text: str, today: date, vocabulary: Vocabulary | None = None) -> TypedQuery | None:
    """Return the query that a text is, or None for plain words. Never raises."""
    if len(text) > MAX_STRATEGY_CHARS:
        return None
    text = _UNSEARCHABLE.sub(" ", text)
    marked = text.translate(QUERY_SIGNS).replace(BREAK, " ")
    if is_strategy(text):
        return _read_years_behind_strategy(text, marked, today)
    if len(text) > MAX_QUERY_CHARS and _is_query(marked, marked, marked):
        return TypedQuery(text.strip(), text, YearReading(rest=text))
    if len(text) > MAX_QUERY_CHARS or not _has_syntax(marked):
        return None
    masked = _mask_phrases_and_tags(marked)
    years, kept = read_and_cut_years(masked, today)
    kept, preferences = cut_preferences(marked, kept, today, vocabulary or Vocabulary({}))
    kept, tail_amount = cut_amount(kept)
    with_request = tidy_cuts(kept)
    kept, requests = cut_requests(with_request)
    if not _is_query(marked, kept, with_request):
        return None
    amounts = [tail_amount, *map(read_amount, requests)]
    amount = next((found for found in amounts if found.max_results is not None), tail_amount)
    return TypedQuery(_join_kept(text, kept), blank_cuts(text, kept), years, amount, requests, preferences)


def _read_years_behind_strategy(text: str, marked: str, today: date) -> TypedQuery:
    """Return a strategy of PubMed; behind its last tag, bracket or quotation mark words may limit the years."""
    end = max(marked.rfind(sign) for sign in ("]", ")", '"')) + 1
    if "\n" in text.strip() or not marked[end:].strip():
        return TypedQuery(text.strip(), text, YearReading(rest=text))
    years, kept = read_and_cut_years(MASK * end + marked[end:], today)
    kept = tidy_cuts(kept)
    return TypedQuery(_join_kept(text, kept), blank_cuts(text, kept), years)


def _join_kept(text: str, kept: str) -> str:
    """Return the text without the words that were read; without any it is verbatim."""
    if BREAK not in kept:
        return text.strip()
    pieces = [text[part.start() : part.end()].strip() for part in re.finditer(r"[^\n]+", kept)]
    return re.sub(r"(?<=\()\n|\n(?=\))", "", "\n".join(filter(None, pieces))).replace("\n", " ")


def _has_syntax(marked: str) -> bool:
    has_tag = any(tag.makes_a_query for tag in find_field_tags(marked))
    return has_tag or '"' in marked or OPERATOR.search(marked) is not None or _GROUPS.fullmatch(marked) is not None


def _mask_phrases_and_tags(marked: str) -> str:
    masked = _QUOTED.sub(lambda quoted: MASK * len(quoted[0]), marked)
    return blank_tags(masked, [tag for tag in find_field_tags(marked) if tag.makes_a_query], MASK)


def _is_query(marked: str, kept: str, with_request: str) -> bool:
    """Return True if the text without the limits, requests and preferences beside it is a query."""
    visible = blank_cuts(marked, kept)
    tags = find_field_tags(visible)
    if any(tag.makes_a_query for tag in tags):
        return True
    if OPERATOR.search(kept):
        is_joined = _JOINED.search(kept) is not None
        return not _QUESTION.match(kept) and (is_joined or not (_is_sentence(kept) or _is_headline(visible)))
    if _GROUPS.fullmatch(kept):
        return True
    has_quotes = _QUOTED.search(visible) or _OPEN_QUOTE.search(visible)
    # Plain words have limits and hints, too: top 20 papers, author:Doe.
    is_plain = any(is_function_word(word) or word in _FOREIGN for word in _split_words(with_request))
    has_hint = any(tag.is_dropped for tag in tags) or read_amount(with_request).max_results is not None
    return bool(has_quotes) and not is_plain and not has_hint


def _split_words(kept: str) -> list[str]:
    return re.findall(r"[^\s(),;:.!?\"\[\]\ue000]+", kept)


def _is_sentence(kept: str) -> bool:
    """Return True if a text has words that only sentences have; "of" and "in" occur in terms, too."""
    words = _split_words(kept)
    first = [word if word.isupper() else word.casefold() for word in words[:1]]
    return not _SENTENCE.isdisjoint([*first, *words[1:]]) or _ARTICLE.search(kept) is not None


def _is_headline(visible: str) -> bool:
    """Return True for a text all in capitals, in which capitals do not tell an operator from a word."""
    words = [word for word in _WORD.findall(visible) if word not in OPERATORS]
    is_spelled = any(word in _HEADLINE_WORDS or len(word) > _LONGEST_ACRONYM for word in words)
    return bool(words) and is_spelled and visible.upper() == visible and visible.lower() != visible
