"""Plans the queries of one round by rule: strict first, then broader, and never the same again."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date

from paper_search.intent.composing import Composer
from paper_search.intent.directions import Direction
from paper_search.intent.expression import term, tidied
from paper_search.intent.ideas import Idea, ideas_of, most_specific
from paper_search.intent.lessons import Lessons, learned_terms, read_texts, terms_to_avoid
from paper_search.intent.limits import sane_limits, with_changes
from paper_search.intent.purpose import MARKERS
from paper_search.intent.refining import Refiner, describe_loosening, describe_tightening, terms_of
from paper_search.intent.typed import typed_query
from paper_search.intent.vocabulary import Key, Vocabulary, key_of, singular
from paper_search.intent.years import RECENT_YEARS
from paper_search.lookups import Identifier, lookup_query, read_identifiers
from paper_search.models import (
    MAX_RESULTS_CAP,
    ParsedIntent,
    PartOrigin,
    QueryBuilderInput,
    SearchConstraints,
    SearchQuery,
    SearchStrategy,
)
from paper_search.sources.boolean import Node, parse

MAX_IDEAS = 6
MAX_QUERIES = 3
MAX_BROADER_QUERIES = 1
LOOSENED = "asks for less than the last query"
TIGHTENED = "asks for more than the last query"


def plan(given: QueryBuilderInput, vocabulary: Vocabulary, sources: Sequence[str], today: date) -> SearchStrategy:
    """Return the strategy of the next round, built on the last one. Never raises.

    An intent without words gives a strategy without queries.
    """
    intent = given.intent
    if not given.person_queries and (identifiers := read_identifiers(intent.topic)):
        return _plan_lookup(identifiers, intent, sources, today)
    last = given.previous_strategies[-1] if given.previous_strategies else None
    limits = last.filters if last else intent.constraints
    written = [node for query in given.person_queries if (node := parse(query.boolean_query))]
    ideas = [Idea(found.text) for node in written for found in terms_of(node)] or ideas_of(intent, vocabulary)
    news = read_texts(given.user_feedback.texts if given.user_feedback else (), vocabulary, today, limits)
    lessons, learned = _lessons_of(given, news, ideas, vocabulary, today)
    filters, notes = sane_limits(with_changes(limits, news.limits), today)
    composer, contradictions = _composer(intent, ideas, written, lessons, vocabulary)
    tried = _tried(given.previous_strategies, filters)
    markers = MARKERS.get(intent.intent_type, ())
    queries, reason = _chosen(composer, lessons, learned, news, tried, markers)
    if isinstance(composer, Refiner) and composer.excluded:
        queries = _fresh([*composer.opening(()), *queries], set(), len(written) + MAX_QUERIES)
    if not queries and last and (changes := _instead(news.directions, filters)):
        filters = filters.model_copy(update=changes)
        queries = last.queries[:1] if Direction.NARROWER in news.directions else list(last.queries)
        notes += [f"No query is left to change, so {name} is now {value}." for name, value in changes.items()]
    if not queries:
        queries = _fresh(composer.opening(()), set(), MAX_QUERIES)
        notes.append(
            "Every variation of this query was tried before." if queries else "There are no words to search for."
        )
    elif tried and not (news.said_something or learned):
        marked = given.relevant_titles or given.irrelevant_titles
        silence = "the papers marked teach no new words" if marked else "nothing was said about the last one"
        notes.append(f"The query was broadened, since {silence}.")
    if not sources:
        notes.append("No source is available, so nothing can be searched.")
    notes += [
        *_changes(last, queries, reason),
        *news.notes,
        *lessons.notes,
        *contradictions,
        *(f"“{name}” was read as an author." for name in news.authors),
        *(f"“{text}” was added, as asked." for text in lessons.wanted if _is_in(text, queries)),
        *(f"“{text}” was learned from the titles marked relevant." for text in learned if _is_in(text, queries)),
    ]
    origins = [_new(f"queries[{index}]", query.boolean_query, reason) for index, query in enumerate(queries)]
    origins += [
        _new(name, str(value), "the feedback asks for it", by_person=True)
        for name, value in filters
        if news.said_something and value != getattr(limits, name)
    ]
    return SearchStrategy(queries=queries, sources=list(sources), filters=filters, notes=notes, origins=origins)


def _is_in(text: str, queries: Sequence[SearchQuery]) -> bool:
    """Return True if a query has the words of the text, in whatever case."""
    return any(text.casefold() in query.boolean_query.casefold() for query in queries)


def _composer(
    intent: ParsedIntent, ideas: Sequence[Idea], written: Sequence[Node], lessons: Lessons, vocabulary: Vocabulary
) -> tuple[Composer | Refiner, list[str]]:
    """Return what composes queries: out of those that a person wrote, or else out of ideas; and contradictions."""
    if written:
        own = intent.model_copy(update={"excluded": []})
        _, excluded, contradictions = _sorted_out(ideas, own, lessons, as_typed=False)
        return Refiner(written, excluded), contradictions
    typed = typed_query(intent.topic, vocabulary)
    asked, excluded, contradictions = _sorted_out(ideas, intent, lessons, as_typed=typed is not None)
    refused = {key_of(text) for text in lessons.unwanted}
    composer = Composer(
        asked,
        excluded,
        authors=_unnamed(map(_family_name, [*intent.authors, *lessons.authors]), asked),
        venues=_unnamed(intent.venues, asked),
        typed=typed if refused.isdisjoint(key_of(idea.text) for idea in ideas) else None,
    )
    return composer, contradictions


def _chosen(
    composer: Composer | Refiner,
    lessons: Lessons,
    learned: Sequence[str],
    news: Lessons,
    tried: set[str],
    markers: Sequence[str],
) -> tuple[list[SearchQuery], str]:
    """Return the queries that were not tried yet, and why these."""
    directions = set(news.directions)
    if directions & {Direction.NARROWER, Direction.FEWER}:
        return _fresh(composer.narrower(), tried, MAX_BROADER_QUERIES), TIGHTENED
    if directions & {Direction.WIDER, Direction.MORE}:
        asked = _fresh(composer.taught(news.wanted, ()), tried, MAX_QUERIES - MAX_BROADER_QUERIES)
        return [*asked, *_fresh(composer.broader(), tried, MAX_BROADER_QUERIES)], LOOSENED
    if lessons.wanted or learned:
        candidates, reason = composer.taught(lessons.wanted, learned), "adds what the feedback and the marks ask for"
    elif tried and not lessons.unwanted and not lessons.authors:
        candidates, reason = iter(()), LOOSENED
    else:
        candidates, reason = composer.opening(markers), "follows from the question and the feedback"
    if queries := _fresh(candidates, tried, MAX_QUERIES):
        return queries, reason
    return _fresh(composer.broader(), tried, MAX_BROADER_QUERIES), LOOSENED


def _instead(directions: Sequence[Direction], filters: SearchConstraints) -> dict[str, int]:
    """Return limits to loosen or tighten when no query is left for that; none when they have changed already."""
    if Direction.NARROWER in directions:
        return {"max_results": max(1, filters.max_results // 2)}
    if Direction.WIDER not in directions:
        return {}
    years = {"year_from": filters.year_from, "year_to": filters.year_to}
    steps = {"year_from": -RECENT_YEARS, "year_to": RECENT_YEARS}
    wider = {name: year + steps[name] for name, year in years.items() if year is not None}
    return wider or {"max_results": min(2 * filters.max_results, MAX_RESULTS_CAP)}


def _changes(last: SearchStrategy | None, queries: Sequence[SearchQuery], reason: str) -> list[str]:
    if last is None or not last.queries or not queries:
        return []
    before, after = last.queries[0].boolean_query, queries[-1].boolean_query
    if reason == LOOSENED:
        return describe_loosening(before, after)
    return describe_tightening(last.queries[-1].boolean_query, after) if reason == TIGHTENED else []


def _new(part: str, value: str, reason: str, *, by_person: bool = False) -> PartOrigin:
    return PartOrigin(part=part, value=value, inherited=False, reason=reason, by_person=by_person)


def _tried(previous: Sequence[SearchStrategy], filters: SearchConstraints) -> set[str]:
    """Return the queries that were searched with the same years and language."""
    bounds = filters.year_from, filters.year_to, filters.language
    return {
        tidied(query.boolean_query)
        for strategy in previous
        if (strategy.filters.year_from, strategy.filters.year_to, strategy.filters.language) == bounds
        for query in strategy.queries
    }


def _plan_lookup(
    identifiers: Sequence[Identifier], intent: ParsedIntent, sources: Sequence[str], today: date
) -> SearchStrategy:
    """Return the strategy that fetches exactly these works, in every round."""
    filters, notes = sane_limits(intent.constraints, today)
    wanted = identifiers[: filters.max_results]
    if len(wanted) < len(identifiers):
        notes.append(
            f"Only the first {len(wanted)} of {len(identifiers)} identifiers are fetched, as max_results asks."
        )
    return SearchStrategy(queries=[lookup_query(wanted)], sources=list(sources), filters=filters, notes=notes)


def _lessons_of(
    given: QueryBuilderInput, news: Lessons, ideas: Sequence[Idea], vocabulary: Vocabulary, today: date
) -> tuple[Lessons, list[str]]:
    """Return the words that all feedback asks for or refuses, and those that the marked titles teach."""
    lessons = read_texts(given.earlier_texts, vocabulary, today)
    lessons.add(news)
    lessons.notes = []
    known = [spelling for idea in ideas for spelling in (idea.text, *idea.synonyms)] + lessons.wanted
    relevant, irrelevant = given.relevant_titles, given.irrelevant_titles
    learned = learned_terms(relevant, irrelevant, known, vocabulary)
    refused = {key_of(term) for term in lessons.unwanted}
    # Words are left out of a person's own queries only where the person refuses them in words.
    marking = terms_to_avoid(relevant, irrelevant, known) if not given.person_queries else []
    avoided = [word for word in marking if key_of(word) not in refused]
    lessons.unwanted += avoided
    lessons.notes += [f"“{word}” marks papers found irrelevant and is left out." for word in avoided]
    return lessons, [word for word in learned if key_of(word) not in refused]


def _sorted_out(
    ideas: Sequence[Idea], intent: ParsedIntent, lessons: Lessons, *, as_typed: bool
) -> tuple[list[Idea], list[Node], list[str]]:
    """What to ask for and what to leave out, so that nothing is both, and a note on each contradiction."""
    wanted = {key_of(text) for text in lessons.wanted}
    unwanted = {key_of(text): text for text in (*intent.excluded, *lessons.unwanted) if key_of(text) not in wanted}
    kept = [_without_synonyms(idea, unwanted) for idea in ideas if key_of(idea.text) not in unwanted]
    if not kept:
        kept = list(ideas) or [Idea(text) for text in lessons.wanted if term(text)]
    asked = [key_of(spelling) for idea in kept for spelling in (idea.text, *idea.synonyms)] + list(wanted)
    notes: list[str] = []
    excluded: list[Node] = []
    for key, text in unwanted.items():
        if any(_holds(other, key) for other in asked) and not (as_typed and text in intent.excluded):
            notes.append(f"“{text}” is part of what is searched for and cannot be left out.")
        else:
            excluded += [node for spelling in ([text] if as_typed else _spellings(text)) if (node := term(spelling))]
    return most_specific(kept, MAX_IDEAS), excluded, notes


def _without_synonyms(idea: Idea, unwanted: Iterable[Key]) -> Idea:
    refused = list(unwanted)
    kept = tuple(text for text in idea.synonyms if not any(_holds(key_of(text), key) for key in refused))
    return replace(idea, synonyms=kept)


def _spellings(text: str) -> list[str]:
    """A term and, for a plain plural, its singular: not every source knows they are one."""
    *before, last = text.split(" ")
    return list(dict.fromkeys([text, " ".join([*before, singular(last)])]))


def _holds(whole: Key, part: Key) -> bool:
    return bool(part) and any(whole[start : start + len(part)] == part for start in range(len(whole)))


def _family_name(author: str) -> str:
    """The part of a name that sources agree on; they write given names in many ways."""
    names = [word for word in author.partition(",")[0].split() if not re.fullmatch(r"(?:\w\.-?)+", word)]
    return names[-1] if names else author


def _unnamed(names: Iterable[str], ideas: Sequence[Idea]) -> list[str]:
    """The names that no idea holds already."""
    asked = [key_of(idea.text) for idea in ideas]
    return list(dict.fromkeys(name for name in names if not any(_holds(key, key_of(name)) for key in asked)))


def _fresh(candidates: Iterable[SearchQuery], tried: set[str], limit: int) -> list[SearchQuery]:
    fresh: dict[str, SearchQuery] = {}
    for query in candidates:
        if len(fresh) < limit and query.boolean_query not in tried:
            fresh.setdefault(query.boolean_query, query)
    return list(fresh.values())
