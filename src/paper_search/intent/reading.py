"""Reads a whole query by rule: limits, hints and wishes first, and what is left is what it is about."""

import re
from collections.abc import Sequence
from datetime import date

from paper_search.intent.amounts import read_amount
from paper_search.intent.authors import read_authors
from paper_search.intent.cleaning import (
    BREAK,
    STAND_IN,
    joined,
    normalised,
    restored,
    set_phrases_aside,
    stand_in,
    without_politeness,
)
from paper_search.intent.concepts import MAX_CONCEPTS, acronyms, alternatives, concepts_in
from paper_search.intent.expression import render, term, tidied
from paper_search.intent.languages import read_language
from paper_search.intent.markup import close_brackets, fold_markup
from paper_search.intent.negatives import read_negatives
from paper_search.intent.preferences import PreferenceReading, read_preferences
from paper_search.intent.purpose import read_purpose
from paper_search.intent.typed import is_boolean, typed_query
from paper_search.intent.venues import read_venues
from paper_search.intent.vocabulary import Vocabulary, key_of
from paper_search.intent.wordlists import FILLER
from paper_search.intent.years import described, is_publication_year, read_years
from paper_search.lookups import Identifier, read_identifiers
from paper_search.models import IntentType, ParsedIntent, SearchConstraints
from paper_search.sources.boolean import Node, all_of, parse
from paper_search.text import STOP_WORDS
from uraniborg.kernel.bibliography.identifiers import normalise_arxiv, normalise_doi

_IDENTIFIER = re.compile(
    r"(?<![\w\"“/.])(?:(?P<doi>(?:doi:\s*|https?://(?:dx\.)?doi\.org/)?10\.[0-9]{4,9}/[^\s\"“”]+)"
    r"|(?:arxiv:\s*|https?://arxiv\.org/(?:abs|pdf)/)[\w./-]+)",
    re.IGNORECASE,
)
_DANGLING = re.compile(r"(?:\s*\b(?:AND|OR|NOT))+\s*$|\b(?:AND|OR)\s+(?=(?:AND|OR)\b)")
_CUT = re.compile(f"{BREAK}|{STAND_IN}")


def read_query(query: str, vocabulary: Vocabulary, today: date) -> ParsedIntent:
    """Return what a person asks for, and in `notes` how it was read. Never raises, whatever the text."""
    if identifiers := read_identifiers(query):
        return _read_lookup(identifiers)
    text, phrases, identifier_notes = _prepare(query)
    wishes = _read_wishes(text, vocabulary, today)
    typed = without_politeness(read_years(wishes.rest, today).rest)
    read = _read_boolean if is_boolean(typed) else _read_sentence
    intent = read(wishes.rest, phrases, vocabulary, today)
    preferences = [restored(wish, phrases) for wish in wishes.preferences]
    notes = [f"“{wish}” was read as a preference: such papers rank higher, the others stay." for wish in preferences]
    return intent.model_copy(update={"preferences": preferences, "notes": [*identifier_notes, *intent.notes, *notes]})


def _read_lookup(identifiers: Sequence[Identifier]) -> ParsedIntent:
    """Return the intent to fetch exactly these works."""
    names = [str(identifier) for identifier in identifiers]
    if len(names) == 1:
        note = f"“{names[0]}” identifies one paper, which is fetched by it."
    else:
        note = f"The query is a list of {len(names)} identifiers; exactly these papers are fetched."
    return ParsedIntent(
        topic=", ".join(names), concepts=names, intent_type=IntentType.METHOD, phrases=names, notes=[note]
    )


def _prepare(query: str) -> tuple[str, list[str], list[str]]:
    """Return the text in one spelling with its phrases set aside, the phrases, and notes on identifiers in it."""
    quoted, notes = _with_identifiers_quoted(close_brackets(normalised(fold_markup(query))))
    text, phrases = set_phrases_aside(quoted)
    return text, phrases, notes


def _read_wishes(text: str, vocabulary: Vocabulary, today: date) -> PreferenceReading:
    """Return the preferences of a text. Where only exclusions stand beside a wish, the wish is the subject."""
    reading = read_preferences(text, vocabulary, today)
    wanted = read_negatives(read_years(reading.rest, today).rest).rest
    if reading.wishes and not concepts_in(without_politeness(wanted), vocabulary):
        return PreferenceReading(rest=BREAK.join([reading.rest, *reading.wishes]))
    return reading


def _read_sentence(text: str, phrases: list[str], vocabulary: Vocabulary, today: date) -> ParsedIntent:
    amount = read_amount(text)
    years = read_years(amount.rest, today)
    language = read_language(years.rest)
    venues = read_venues(language.rest)
    negatives = read_negatives(venues.rest)
    authors = read_authors(negatives.rest)
    intent_type, rest, purpose_notes = read_purpose(authors.rest)
    subject = without_politeness(rest)
    if _is_title_of_function_words(subject):
        phrases.append(joined(restored(subject, phrases)))
        subject = stand_in(len(phrases) - 1)

    if venues.year and is_publication_year(venues.year, today) and years.year_from is years.year_to is None:
        years.year_from = years.year_to = venues.year
        years.notes.append(f"“{venues.year}” was read as {described(venues.year, venues.year)}.")
    limits = SearchConstraints(year_from=years.year_from, year_to=years.year_to, language=language.language)
    if amount.max_results is not None:
        limits.max_results = amount.max_results

    by, at, without = (
        [restored(name, phrases) for name in names] for names in (authors.authors, venues.venues, negatives.excluded)
    )
    topic, concepts, subject_notes = _subject(subject, phrases, vocabulary, otherwise=[*by, *at] or [text])
    return ParsedIntent(
        topic=topic,
        concepts=concepts,
        intent_type=intent_type,
        constraints=limits,
        phrases=[phrase for index, phrase in enumerate(phrases) if stand_in(index) in subject],
        authors=by,
        venues=at,
        excluded=without,
        notes=[
            *amount.notes,
            *years.notes,
            *language.notes,
            *(f"“{name}” was read as an author." for name in by),
            *(f"“{name}” was read as a journal or conference." for name in at),
            *(f"Papers about “{term}” are to be left out." for term in without),
            *purpose_notes,
            *subject_notes,
        ],
    )


def _read_boolean(text: str, phrases: list[str], vocabulary: Vocabulary, today: date) -> ParsedIntent:
    """A boolean query is kept as it was typed; only the years beside it and what it excludes are read."""
    years = read_years(text, today)
    negatives = read_negatives(without_politeness(years.rest))
    _, concepts, notes = _subject(negatives.rest, phrases, vocabulary, otherwise=[text])
    excluded = [restored(name, phrases) for name in negatives.excluded]
    whole, topic = (
        _DANGLING.sub("", joined(restored(part, [f'"{phrase}"' for phrase in phrases])))
        for part in (without_politeness(years.rest), negatives.rest)
    )
    rebuilt = all_of([typed_query(topic, vocabulary) or parse(topic)], map(term, excluded))
    # An exclusion from one alternative is none from all of them, and stays where it is.
    if _written(rebuilt) != _written(typed_query(whole, vocabulary)):
        topic, excluded = whole, []
    return ParsedIntent(
        topic=topic,
        concepts=concepts,
        intent_type=IntentType.METHOD,
        constraints=SearchConstraints(year_from=years.year_from, year_to=years.year_to),
        phrases=[phrase for index, phrase in enumerate(phrases) if stand_in(index) in negatives.rest],
        excluded=excluded,
        notes=["The query was read as a boolean one and is asked as it is.", *years.notes, *notes],
    )


def _written(query: Node | None) -> str:
    return tidied(render(query)) if query else ""


def _with_identifiers_quoted(text: str) -> tuple[str, list[str]]:
    """The text with each DOI and arXiv number as a quoted phrase, so that nothing takes it apart."""
    notes: list[str] = []

    def quoted(match: re.Match[str]) -> str:
        known = normalise_doi(match[0]) if match["doi"] else normalise_arxiv(match[0])
        if known is None:
            return match[0]
        notes.append(f"“{known}” identifies one paper and was kept as one term.")
        return f' "{known}" '

    return _IDENTIFIER.sub(quoted, text), notes


def _is_title_of_function_words(subject: str) -> bool:
    """Whether a subject says so little in its single words that it can only be a title: "attention is all you need"."""
    words = re.findall(r"[\w'’-]+", subject)
    function = sum(word.casefold() in STOP_WORDS for word in words)
    telling = sum(word.casefold() not in STOP_WORDS | FILLER for word in words)
    return len(words) > 3 and function > 2 and telling < 2 and not _CUT.search(subject.strip())


def _subject(
    subject: str, phrases: list[str], vocabulary: Vocabulary, otherwise: list[str]
) -> tuple[str, list[str], list[str]]:
    """The topic and its concepts; when nothing is left of the query, what was cut out of it or its raw words."""
    topic = joined(restored(subject, phrases))
    concepts = [restored(concept, phrases) for concept in concepts_in(subject, vocabulary)]
    if not concepts:
        raw = [joined(restored(text, phrases)) for text in otherwise]
        topic = ", ".join(raw)
        concepts = concepts_in(topic, vocabulary) or [word for word in topic.split() if any(map(str.isalnum, word))]
        return topic, concepts[:MAX_CONCEPTS], ["The query names no subject, so its words were taken as they are."]
    second_names = {key_of(acronym) for acronym in acronyms(topic).values()}
    second_names |= {key_of(other) for group in alternatives(topic, vocabulary) for other in group[1:]}
    concepts = [concept for concept in concepts if key_of(concept) not in second_names] or concepts
    if len(concepts) <= MAX_CONCEPTS:
        return topic, concepts, []
    return topic, concepts[:MAX_CONCEPTS], [f"Only the first {MAX_CONCEPTS} of {len(concepts)} concepts are used."]
