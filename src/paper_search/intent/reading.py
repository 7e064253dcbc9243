"""Reads a whole query by rule: limits, hints and wishes first, and what is left is what it is about."""

from datetime import date

from paper_search.intent.amounts import read_amount
from paper_search.intent.authors import read_authors
from paper_search.intent.cleaning import joined, normalised, restored, set_phrases_aside, stand_in, without_politeness
from paper_search.intent.concepts import MAX_CONCEPTS, acronyms, alternatives, concepts_in
from paper_search.intent.languages import read_language
from paper_search.intent.negatives import read_negatives
from paper_search.intent.purpose import read_purpose
from paper_search.intent.venues import read_venues
from paper_search.intent.vocabulary import Vocabulary, key_of
from paper_search.intent.years import described, is_publication_year, read_years
from paper_search.models import ParsedIntent, SearchConstraints


def read_query(query: str, vocabulary: Vocabulary, today: date) -> ParsedIntent:
    """What a person asks for, and in `notes` how it was read. Never raises, whatever the text."""
    text, phrases = set_phrases_aside(normalised(query))
    amount = read_amount(text)
    years = read_years(amount.rest, today)
    language = read_language(years.rest)
    venues = read_venues(language.rest)
    negatives = read_negatives(venues.rest)
    authors = read_authors(negatives.rest)
    intent_type, rest, purpose_notes = read_purpose(authors.rest)
    subject = without_politeness(rest)

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
