"""The intent of a query, read by rule: limits, hints and wishes are cut out, and the rest is the subject."""

import re
from collections.abc import Sequence
from datetime import date

from paper_search.identifier_queries import Identifier, read_identifiers
from paper_search.intent.authors import read_authors
from paper_search.intent.concepts import MAX_CONCEPTS, find_concepts
from paper_search.intent.courtesy_phrases import remove_courtesies
from paper_search.intent.exclusions import read_exclusions
from paper_search.intent.languages import read_language
from paper_search.intent.preferences import PreferenceReading, read_preferences
from paper_search.intent.purpose import read_intent_type
from paper_search.intent.reading_notes import describe_author, describe_exclusion, describe_preference, describe_venue
from paper_search.intent.result_limits import AmountReading, read_amount
from paper_search.intent.text_cleanup import (
    BREAK,
    PLACEHOLDER,
    make_placeholder,
    normalise_text,
    remove_markdown,
    repair_brackets,
    replace_quoted_phrases,
    restore_phrases,
    tidy_punctuation,
)
from paper_search.intent.typed_queries import TypedQuery, read_typed_query
from paper_search.intent.venues import read_venues
from paper_search.intent.vocabulary import Vocabulary
from paper_search.intent.word_lists import FILLER
from paper_search.intent.written_queries import read_written_blocks, split_exclusions
from paper_search.intent.years import YearReading, describe_years, is_publication_year, read_years
from paper_search.models import IntentType, ParsedIntent, SearchConstraints
from paper_search.query.boolean_query import QUERY_SIGNS, iterate_wanted_terms, parse_query
from paper_search.query.languages import parse_language
from paper_search.query.rendering import format_query
from paper_search.strategies.lint import check_query_text
from paper_search.strategies.reader import is_strategy, read_strategy
from paper_search.strategies.summary import StrategyLimits, find_limits, list_main_terms
from paper_search.text import STOP_WORDS
from uraniborg.kernel.bibliography.identifiers import normalise_arxiv, normalise_doi
from uraniborg.kernel.field_tags import find_field_tags

_IDENTIFIER = re.compile(
    r"(?<![\w\"“/.])(?:(?P<doi>(?:doi:\s*|https?://(?:dx\.)?doi\.org/)?10\.[0-9]{4,9}/[^\s\"“”]+)"
    r"|(?:arxiv:\s*|https?://arxiv\.org/(?:abs|pdf)/)[\w./-]+)",
    re.IGNORECASE,
)
_MAX_WARNINGS = 5
_LONGEST_TERM = 100
_STRATEGY_NOTE = "The query is a strategy: PubMed and Europe PMC search its fields, other sources its words."
_CUT = re.compile(f"{BREAK}|{PLACEHOLDER}")


def read_intent(query: str, vocabulary: Vocabulary, today: date) -> ParsedIntent:
    """Return the intent of a query, with `notes` on how it was read. Never raises."""
    if identifiers := read_identifiers(query):
        return _make_lookup_intent(identifiers)
    if typed := read_typed_query(query, today, vocabulary):
        return _read_typed_query(typed)
    plain, identifier_notes = _quote_identifiers(repair_brackets(normalise_text(remove_markdown(query))))
    text, phrases = replace_quoted_phrases(plain)
    wishes = _read_wishes(text, vocabulary, today)
    intent = _read_sentence(wishes.rest, phrases, vocabulary, today)
    preferences = [restore_phrases(wish, phrases) for wish in wishes.preferences]
    intent = intent.model_copy(update={"preferences": preferences})
    return intent.model_copy(
        update={"notes": [*identifier_notes, *intent.notes, *map(describe_preference, intent.preferences)]}
    )


def _make_lookup_intent(identifiers: Sequence[Identifier]) -> ParsedIntent:
    """Return the intent to fetch exactly these works."""
    names = [str(identifier) for identifier in identifiers]
    note = f"The query is a list of {len(names)} identifiers. Only these papers are fetched."
    if len(names) == 1:
        note = f"“{names[0]}” identifies one paper, which is fetched by this identifier."
    return ParsedIntent(
        topic=", ".join(names), concepts=names, intent_type=IntentType.METHOD, phrases=names, notes=[note]
    )


def _read_wishes(text: str, vocabulary: Vocabulary, today: date) -> PreferenceReading:
    """Return the preferences of a text; without any other subject the wishes are the subject."""
    reading = read_preferences(text, vocabulary, today)
    wanted = read_exclusions(read_years(reading.rest, today).rest).rest
    if reading.wishes and not find_concepts(remove_courtesies(wanted), vocabulary):
        return PreferenceReading(rest=BREAK.join([reading.rest, *reading.wishes]))
    return reading


def _read_sentence(text: str, phrases: list[str], vocabulary: Vocabulary, today: date) -> ParsedIntent:
    amount = read_amount(text)
    years = read_years(amount.rest, today)
    language = read_language(years.rest)
    venues = read_venues(language.rest)
    negatives = read_exclusions(venues.rest)
    authors = read_authors(negatives.rest)
    intent_type, rest, purpose_notes = read_intent_type(authors.rest)
    subject = remove_courtesies(rest)
    if _is_title_of_function_words(subject):
        phrases.append(tidy_punctuation(restore_phrases(subject, phrases)))
        subject = make_placeholder(len(phrases) - 1)

    if venues.year and is_publication_year(venues.year, today) and years.year_from is years.year_to is None:
        years.year_from = years.year_to = venues.year
        years.notes.append(f"“{venues.year}” was read as {describe_years(venues.year, venues.year)}.")
    by, at, without = (
        [restore_phrases(name, phrases) for name in names]
        for names in (authors.authors, venues.venues, negatives.excluded)
    )
    topic, concepts, subject_notes = _read_subject(subject, phrases, vocabulary, fallback_texts=[*by, *at] or [text])
    return ParsedIntent(
        topic=topic,
        concepts=concepts,
        intent_type=intent_type,
        constraints=_make_limits(years, amount, language.language),
        phrases=[phrase for index, phrase in enumerate(phrases) if make_placeholder(index) in subject],
        authors=by,
        venues=at,
        excluded=without,
        notes=[
            *amount.notes,
            *years.notes,
            *language.notes,
            *map(describe_author, by),
            *map(describe_venue, at),
            *map(describe_exclusion, without),
            *purpose_notes,
            *subject_notes,
        ],
    )


def _read_typed_query(typed: TypedQuery) -> ParsedIntent:
    """Return the intent of a query that a person typed; concepts and phrases serve the ranking of its papers."""
    node = parse_query(typed.text)
    asked, refused = split_exclusions(node) if node else (None, ())
    wanted = list(iterate_wanted_terms(asked)) if asked else []
    tags = [tag.text for tag in find_field_tags(typed.text.translate(QUERY_SIGNS)) if tag.is_dropped]
    strategy = read_strategy(typed.text).tree if is_strategy(typed.text) else None
    stated = find_limits(strategy) if strategy else StrategyLimits()
    if strategy:
        concepts = list_main_terms(strategy) or [typed.text[:_LONGEST_TERM]]
        topic = ", ".join(concepts)
        typed.years.year_from = stated.year_from or typed.years.year_from
        typed.years.year_to = stated.year_to or typed.years.year_to
    else:
        topic = format_query(asked) if asked and (refused or tags) else normalise_text(typed.text)
        concepts = [block.name for block in read_written_blocks([typed.text])][:MAX_CONCEPTS]
    return ParsedIntent(
        topic=topic,
        concepts=concepts,
        intent_type=IntentType.METHOD,
        constraints=_make_limits(typed.years, typed.amount, parse_language(stated.language)),
        phrases=list(dict.fromkeys(term.text for term in wanted if len(term.words) > 1)),
        excluded=[term.text for part in refused for term in iterate_wanted_terms(part)],
        preferences=typed.preferences,
        typed_query=typed.text,
        notes=[
            _STRATEGY_NOTE if strategy else "The query was typed and is searched unchanged.",
            *_list_warnings(typed.text),
            *(f"“{request}” was read as a request." for request in typed.requests),
            *typed.amount.notes,
            *typed.years.notes,
            *map(describe_preference, typed.preferences),
            *(f"{term} limits all sources." for term in stated.terms),
        ],
    )


def _make_limits(years: YearReading, amount: AmountReading, language: str | None = None) -> SearchConstraints:
    limits = SearchConstraints(year_from=years.year_from, year_to=years.year_to, language=language)
    # A number that was not asked for stays unset: the limit of a model may replace it.
    return limits if amount.max_results is None else limits.model_copy(update={"max_results": amount.max_results})


def _list_warnings(query: str) -> list[str]:
    """Return how parts of a typed query are read otherwise than written."""
    warnings = [problem.message for problem in check_query_text(query) if problem.severity == "warning"]
    return list(dict.fromkeys(warnings))[:_MAX_WARNINGS]


def _quote_identifiers(text: str) -> tuple[str, list[str]]:
    """Return the text with each DOI and arXiv id as a quoted phrase, and a note on each."""
    notes: list[str] = []

    def quote_identifier(match: re.Match[str]) -> str:
        known = normalise_doi(match[0]) if match["doi"] else normalise_arxiv(match[0])
        if known is None:
            return match[0]
        notes.append(f"“{known}” identifies one paper and is searched as one term.")
        return f' "{known}" '

    return _IDENTIFIER.sub(quote_identifier, text), notes


def _is_title_of_function_words(subject: str) -> bool:
    """Return True if a subject is mostly function words and so must be a title: "attention is all you need"."""
    words = re.findall(r"[\w'’-]+", subject)
    function = sum(word.casefold() in STOP_WORDS for word in words)
    informative = sum(word.casefold() not in STOP_WORDS | FILLER for word in words)
    return len(words) > 3 and function > 2 and informative < 2 and not _CUT.search(subject.strip())


def _read_subject(
    subject: str, phrases: list[str], vocabulary: Vocabulary, fallback_texts: list[str]
) -> tuple[str, list[str], list[str]]:
    """Return the topic, its concepts and notes; without a subject, the texts `fallback_texts` are the topic."""
    topic = tidy_punctuation(restore_phrases(subject, phrases))
    found = find_concepts(subject, vocabulary)
    concepts = [restore_phrases(name, phrases) for term, others in found.items() for name in (term, *others)]
    if not concepts:
        raw = [tidy_punctuation(restore_phrases(text, phrases)) for text in fallback_texts]
        topic = ", ".join(raw)
        concepts = list(find_concepts(topic, vocabulary)) or [
            word for word in topic.split() if any(map(str.isalnum, word))
        ]
        return topic, concepts[:MAX_CONCEPTS], ["The query names no subject, so all its words are searched for."]
    if len(concepts) <= MAX_CONCEPTS:
        return topic, concepts, []
    return topic, concepts[:MAX_CONCEPTS], [f"Only the first {MAX_CONCEPTS} of {len(concepts)} concepts are used."]
