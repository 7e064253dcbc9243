"""Read a query by rule: limits, hints and wishes are cut out, and the rest is the subject."""

import re
from collections.abc import Iterable, Sequence
from datetime import date

from paper_search.domain.intent.concepts import MAX_CONCEPTS, find_concepts
from paper_search.domain.intent.preferences import read_preferences
from paper_search.domain.intent.reading import (
    Reading,
    describe_author,
    describe_exclusion,
    describe_preference,
    describe_venue,
    read_wishes,
)
from paper_search.domain.intent.text_cleanup import (
    cut_and_normalise_characters,
    make_placeholder,
    quote_identifiers,
    remove_courtesies,
    remove_markdown,
    repair_brackets,
    replace_quoted_phrases,
    restore_phrases,
    tidy_punctuation,
)
from paper_search.domain.intent.typed_queries import TypedQuery, read_typed_query, read_written_blocks, split_exclusions
from paper_search.domain.intent.vocabulary import FILLER, Vocabulary
from paper_search.domain.query.filters import parse_language
from paper_search.domain.query.identifier_queries import Identifier, read_identifiers
from paper_search.domain.query.ladder import list_words
from paper_search.domain.query.query_texts import format_query
from paper_search.domain.strategies.lint import check_query_text
from paper_search.domain.strategies.plain_words import find_limits, list_main_terms, parse_query
from paper_search.domain.strategies.strategy_parser import is_strategy, read_strategy
from paper_search.models import ParsedIntent, SearchConstraints
from uraniborg.kernel.language.boolean_query import QUERY_SIGNS, find_field_tags, iterate_wanted_terms
from uraniborg.kernel.language.phrase_files import BREAK, PLACEHOLDER
from uraniborg.kernel.language.words import STOP_WORDS


def read_intent(query: str, vocabulary: Vocabulary, today: date) -> ParsedIntent:
    """Return the intent of a query, with `notes` on how it was read. Never raises."""
    if identifiers := read_identifiers(query):
        return _make_lookup_intent(identifiers)
    if typed := read_typed_query(query, today, vocabulary):
        return _read_typed_query(typed)
    plain, notes = quote_identifiers(repair_brackets(cut_and_normalise_characters(remove_markdown(query))))
    text, phrases = replace_quoted_phrases(plain)
    reading = read_preferences(Reading(text), vocabulary, today)
    asked = reading.rest
    subject = remove_courtesies(read_wishes(reading, today).rest)
    if reading.wishes and not find_concepts(subject, vocabulary):  # without another subject the wishes are the subject
        asked = BREAK.join([asked, *reading.wishes])
        reading = Reading(asked)
        subject = remove_courtesies(read_wishes(reading, today).rest)
    if _is_title_of_function_words(subject):
        phrases.append(tidy_punctuation(restore_phrases(subject, phrases)))
        subject = make_placeholder(len(phrases) - 1)
    for names in (reading.authors, reading.venues, reading.unwanted, reading.preferences):
        names[:] = [restore_phrases(name, phrases) for name in names]
    authors, venues = reading.authors, reading.venues
    topic, concepts, subject_notes = _read_subject(subject, phrases, vocabulary, [*authors, *venues] or [asked])
    used = [phrase for index, phrase in enumerate(phrases) if make_placeholder(index) in subject]
    notes += [*reading.notes, *map(describe_author, authors), *map(describe_venue, venues)]
    notes += [*map(describe_exclusion, reading.unwanted), *subject_notes]
    return _make_intent(reading, topic, concepts, used, notes)


def _make_intent(
    reading: Reading, topic: str, concepts: list[str], phrases: list[str], notes: list[str], typed_query: str = ""
) -> ParsedIntent:
    return ParsedIntent(
        topic=topic,
        concepts=concepts,
        intent_type=reading.purpose,
        constraints=SearchConstraints.model_validate(reading.limits),
        phrases=phrases,
        authors=reading.authors,
        venues=reading.venues,
        excluded=reading.unwanted,
        preferences=reading.preferences,
        typed_query=typed_query,
        notes=[*notes, *map(describe_preference, reading.preferences)],
    )


def _make_lookup_intent(identifiers: Sequence[Identifier]) -> ParsedIntent:
    names = [str(identifier) for identifier in identifiers]
    note = f"The query is a list of {len(names)} identifiers. Only these papers are fetched."
    if len(names) == 1:
        note = f"“{names[0]}” identifies one paper, which is fetched by this identifier."
    return _make_intent(Reading(), ", ".join(names), names, names, [note])


def _read_typed_query(typed: TypedQuery) -> ParsedIntent:
    """Return the intent of a query that a person typed; concepts and phrases serve the ranking of its papers."""
    node = parse_query(typed.text)
    asked, refused = split_exclusions(node) if node else (None, ())
    reading = typed.reading
    reading.unwanted = [term.text for part in refused for term in iterate_wanted_terms(part)]
    problems = check_query_text(typed.text)
    warnings = dict.fromkeys(problem.message for problem in problems if problem.severity == "warning")
    notes = ["The query was typed and is searched unchanged.", *list(warnings)[:5], *reading.notes]
    if is_strategy(typed.text) and (strategy := read_strategy(typed.text).tree):
        notes[0] = "The query is a strategy: PubMed and Europe PMC search its fields, other sources its words."
        stated = find_limits(strategy)
        language = parse_language(stated.language)
        reading.add_limits({"year_from": stated.year_from, "year_to": stated.year_to, "language": language})
        notes += [f"{term} limits all sources." for term in stated.terms]
        concepts = list_main_terms(strategy) or [typed.text[:100]]
        topic = ", ".join(concepts)
    else:
        has_tags = any(tag.is_dropped for tag in find_field_tags(typed.text.translate(QUERY_SIGNS)))
        topic = format_query(asked) if asked and (refused or has_tags) else cut_and_normalise_characters(typed.text)
        concepts = [one.name for one in read_written_blocks([typed.text]) if list_words(one.name)][:MAX_CONCEPTS]
    wanted = iterate_wanted_terms(asked) if asked else ()
    phrases = list(dict.fromkeys(term.text for term in wanted if len(term.words) > 1))
    return _make_intent(reading, topic, concepts, phrases, notes, typed.text)


def _is_title_of_function_words(subject: str) -> bool:
    """Return True if a subject is mostly function words and so must be a title: "attention is all you need"."""
    words = re.findall(r"[\w'’-]+", subject.casefold())
    function = sum(word in STOP_WORDS for word in words)
    informative = sum(word not in STOP_WORDS | FILLER for word in words)
    is_cut = re.search(f"{BREAK}|{PLACEHOLDER}", subject.strip()) is not None
    return len(words) > 3 and function > 2 and informative < 2 and not is_cut


def _read_subject(
    subject: str, phrases: Sequence[str], vocabulary: Vocabulary, others: Iterable[str]
) -> tuple[str, list[str], list[str]]:
    """Return the topic, its concepts and notes; without a subject, the other texts are the topic."""
    topic = tidy_punctuation(restore_phrases(subject, phrases))
    found = find_concepts(subject, vocabulary)
    concepts = [restore_phrases(name, phrases) for term, listed in found.items() for name in (term, *listed)]
    if not concepts:
        topic = ", ".join(tidy_punctuation(restore_phrases(text, phrases)) for text in others)
        concepts = list(find_concepts(topic, vocabulary))
        concepts = concepts or [word for word in topic.split() if any(map(str.isalnum, word))]
        return topic, concepts[:MAX_CONCEPTS], ["The query names no subject, so all its words are searched for."]
    note = f"Only the first {MAX_CONCEPTS} of {len(concepts)} concepts are used."
    return topic, concepts[:MAX_CONCEPTS], [note] if len(concepts) > MAX_CONCEPTS else []
