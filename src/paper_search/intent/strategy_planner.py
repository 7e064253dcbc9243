"""The strategy of one round, planned by rule: strict queries first, then broader ones, never the same query twice."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date

from paper_search.identifier_queries import Identifier, make_lookup_query, read_identifiers
from paper_search.intent.feedback import FeedbackReading, find_terms_to_avoid, learn_terms, read_feedback_texts
from paper_search.intent.feedback_directions import Direction
from paper_search.intent.purpose import MARKERS
from paper_search.intent.query_composition import Composer, Idea, build_ideas, select_most_specific
from paper_search.intent.result_limits import apply_limit_changes, correct_limits
from paper_search.intent.vocabulary import Key, Vocabulary, make_term_key, to_singular
from paper_search.intent.written_queries import (
    Refiner,
    describe_loosening,
    describe_tightening,
    parse_typed_query,
)
from paper_search.intent.years import RECENT_YEARS
from paper_search.models import (
    MAX_RESULTS_CAP,
    ParsedIntent,
    PartOrigin,
    QueryBuilderInput,
    SearchConstraints,
    SearchQuery,
    SearchStrategy,
)
from paper_search.query.boolean_query import Node, iterate_wanted_terms, parse_query
from paper_search.query.rendering import normalise_query, parse_phrase

MAX_IDEAS = 6
MAX_QUERIES = 3
MAX_BROADER_QUERIES = 1
LOOSENED = "asks for less than the last query"
TIGHTENED = "asks for more than the last query"


def plan_strategy(
    given: QueryBuilderInput, vocabulary: Vocabulary, sources: Sequence[str], today: date
) -> SearchStrategy:
    """Return the strategy of the next round, built on the last one. Never raises.

    An intent without words gives a strategy without queries.
    """
    intent = given.intent
    if not given.person_queries and (identifiers := read_identifiers(intent.topic)):
        return _plan_lookup(identifiers, intent, sources, today)
    last = given.previous_strategies[-1] if given.previous_strategies else None
    limits = last.filters if last else intent.constraints
    written = [node for query in given.person_queries if (node := parse_query(query.boolean_query))]
    ideas = [Idea(found.text) for node in written for found in iterate_wanted_terms(node)] or build_ideas(
        intent, vocabulary
    )
    latest = read_feedback_texts(given.user_feedback.texts if given.user_feedback else (), vocabulary, today, limits)
    feedback, learned = _collect_feedback(given, latest, ideas, vocabulary, today)
    filters, notes = correct_limits(apply_limit_changes(limits, latest.limits), today)
    composer, contradictions = _build_composer(intent, ideas, written, feedback, vocabulary)
    tried = _list_tried_queries(given.previous_strategies, filters)
    markers = MARKERS.get(intent.intent_type, ())
    queries, reason = _choose_queries(composer, feedback, learned, latest, tried, markers)
    if isinstance(composer, Refiner) and composer.excluded:
        queries = _select_untried([*composer.compose_first_queries(()), *queries], set(), len(written) + MAX_QUERIES)
    if not queries and last and (changes := _compute_limits_to_change_instead(latest.directions, filters)):
        filters = filters.model_copy(update=changes)
        queries = last.queries[:1] if Direction.NARROWER in latest.directions else list(last.queries)
        notes += [f"The query cannot be changed further, so {name} is now {value}." for name, value in changes.items()]
    if not queries:
        queries = _select_untried(composer.compose_first_queries(()), set(), MAX_QUERIES)
        notes.append(
            "Every variation of this query was tried before." if queries else "The query has no words to search for."
        )
    elif tried and not (latest.has_content or learned):
        marked = given.relevant_titles or given.irrelevant_titles
        cause = "the marked papers contain no new words" if marked else "the last round got no feedback"
        notes.append(f"The query was broadened, since {cause}.")
    if not sources:
        notes.append("No source is available, so nothing can be searched.")
    notes += [
        *_describe_changes(last, queries, reason),
        *latest.notes,
        *feedback.notes,
        *contradictions,
        *(f"“{name}” was read as an author." for name in latest.authors),
        *(f"“{text}” was added, as asked." for text in feedback.wanted if _is_in_queries(text, queries)),
        *(
            f"“{text}” was learned from the titles marked relevant."
            for text in learned
            if _is_in_queries(text, queries)
        ),
    ]
    origins = [_make_origin(f"queries[{index}]", query.boolean_query, reason) for index, query in enumerate(queries)]
    origins += [
        _make_origin(name, str(value), "the feedback asks for it", by_person=True)
        for name, value in filters
        if latest.has_content and value != getattr(limits, name)
    ]
    return SearchStrategy(queries=queries, sources=list(sources), filters=filters, notes=notes, origins=origins)


def _is_in_queries(text: str, queries: Sequence[SearchQuery]) -> bool:
    """Return True if a query contains the text, ignoring case."""
    return any(text.casefold() in query.boolean_query.casefold() for query in queries)


def _build_composer(
    intent: ParsedIntent,
    ideas: Sequence[Idea],
    written: Sequence[Node],
    feedback: FeedbackReading,
    vocabulary: Vocabulary,
) -> tuple[Composer | Refiner, list[str]]:
    """Return the composer of queries a person wrote, else of ideas, and notes on contradictions."""
    if written:
        own = intent.model_copy(update={"excluded": []})
        _, excluded, contradictions = _resolve_contradictions(ideas, own, feedback, query_was_typed=False)
        return Refiner(written, excluded), contradictions
    typed = parse_typed_query(intent.topic, vocabulary)
    asked, excluded, contradictions = _resolve_contradictions(
        ideas, intent, feedback, query_was_typed=typed is not None
    )
    refused = {make_term_key(text) for text in feedback.unwanted}
    composer = Composer(
        asked,
        excluded,
        authors=_drop_known_names(map(_extract_family_name, [*intent.authors, *feedback.authors]), asked),
        venues=_drop_known_names(intent.venues, asked),
        typed=typed if refused.isdisjoint(make_term_key(idea.text) for idea in ideas) else None,
    )
    return composer, contradictions


def _choose_queries(
    composer: Composer | Refiner,
    feedback: FeedbackReading,
    learned: Sequence[str],
    latest: FeedbackReading,
    tried: set[str],
    markers: Sequence[str],
) -> tuple[list[SearchQuery], str]:
    """Return queries that were not tried yet, and the reason for them."""
    directions = set(latest.directions)
    if directions & {Direction.NARROWER, Direction.FEWER}:
        return _select_untried(composer.compose_narrower(), tried, MAX_BROADER_QUERIES), TIGHTENED
    if directions & {Direction.WIDER, Direction.MORE}:
        asked = _select_untried(
            composer.compose_with_terms(latest.wanted, ()), tried, MAX_QUERIES - MAX_BROADER_QUERIES
        )
        return [*asked, *_select_untried(composer.compose_broader(), tried, MAX_BROADER_QUERIES)], LOOSENED
    if feedback.wanted or learned:
        candidates, reason = (
            composer.compose_with_terms(feedback.wanted, learned),
            "adds what the feedback and the marks ask for",
        )
    elif tried and not feedback.unwanted and not feedback.authors:
        candidates, reason = iter(()), LOOSENED
    else:
        reason = "follows from the question and the feedback" if tried else "follows from the question"
        candidates = composer.compose_first_queries(markers)
    if queries := _select_untried(candidates, tried, MAX_QUERIES):
        return queries, reason
    return _select_untried(composer.compose_broader(), tried, MAX_BROADER_QUERIES), LOOSENED


def _compute_limits_to_change_instead(directions: Sequence[Direction], filters: SearchConstraints) -> dict[str, int]:
    """Return limits to change where a direction was asked for and no query can follow it."""
    if Direction.NARROWER in directions:
        return {"max_results": max(1, filters.max_results // 2)}
    if Direction.WIDER not in directions:
        return {}
    years = {"year_from": filters.year_from, "year_to": filters.year_to}
    steps = {"year_from": -RECENT_YEARS, "year_to": RECENT_YEARS}
    wider = {name: year + steps[name] for name, year in years.items() if year is not None}
    return wider or {"max_results": min(2 * filters.max_results, MAX_RESULTS_CAP)}


def _describe_changes(last: SearchStrategy | None, queries: Sequence[SearchQuery], reason: str) -> list[str]:
    if last is None or not last.queries or not queries:
        return []
    before, after = last.queries[0].boolean_query, queries[-1].boolean_query
    if reason == LOOSENED:
        return describe_loosening(before, after)
    return describe_tightening(last.queries[-1].boolean_query, after) if reason == TIGHTENED else []


def _make_origin(part: str, value: str, reason: str, *, by_person: bool = False) -> PartOrigin:
    return PartOrigin(part=part, value=value, inherited=False, reason=reason, by_person=by_person)


def _list_tried_queries(previous: Sequence[SearchStrategy], filters: SearchConstraints) -> set[str]:
    """Return the queries that were searched with the same years and language."""
    bounds = filters.year_from, filters.year_to, filters.language
    return {
        normalise_query(query.boolean_query)
        for strategy in previous
        if (strategy.filters.year_from, strategy.filters.year_to, strategy.filters.language) == bounds
        for query in strategy.queries
    }


def _plan_lookup(
    identifiers: Sequence[Identifier], intent: ParsedIntent, sources: Sequence[str], today: date
) -> SearchStrategy:
    """Return the strategy that fetches exactly these works, in every round."""
    filters, notes = correct_limits(intent.constraints, today)
    wanted = identifiers[: filters.max_results]
    if len(wanted) < len(identifiers):
        notes.append(
            f"Only the first {len(wanted)} of {len(identifiers)} identifiers are fetched, as max_results asks."
        )
    return SearchStrategy(queries=[make_lookup_query(wanted)], sources=list(sources), filters=filters, notes=notes)


def _collect_feedback(
    given: QueryBuilderInput, latest: FeedbackReading, ideas: Sequence[Idea], vocabulary: Vocabulary, today: date
) -> tuple[FeedbackReading, list[str]]:
    """Return all feedback, earlier and latest, and the terms learned from marked titles."""
    feedback = read_feedback_texts(given.earlier_texts, vocabulary, today)
    feedback.merge_later(latest)
    feedback.notes = []
    known = [spelling for idea in ideas for spelling in (idea.text, *idea.synonyms)] + feedback.wanted
    relevant, irrelevant = given.relevant_titles, given.irrelevant_titles
    learned = learn_terms(relevant, irrelevant, known, vocabulary)
    refused = {make_term_key(text) for text in feedback.unwanted}
    # Queries that a person wrote lose words only if the person refuses these words explicitly.
    marking = find_terms_to_avoid(relevant, irrelevant, known) if not given.person_queries else []
    avoided = [word for word in marking if make_term_key(word) not in refused]
    feedback.unwanted += avoided
    feedback.notes += [f"“{word}” occurs in papers marked irrelevant and is excluded." for word in avoided]
    return feedback, [word for word in learned if make_term_key(word) not in refused]


def _resolve_contradictions(
    ideas: Sequence[Idea], intent: ParsedIntent, feedback: FeedbackReading, *, query_was_typed: bool
) -> tuple[list[Idea], list[Node], list[str]]:
    """Return ideas to search for, nodes to exclude so that nothing is both, and a note on each contradiction."""
    wanted = {make_term_key(text) for text in feedback.wanted}
    unwanted = {
        make_term_key(text): text
        for text in (*intent.excluded, *feedback.unwanted)
        if make_term_key(text) not in wanted
    }
    wanted_ideas = [
        _drop_refused_synonyms(idea, unwanted) for idea in ideas if make_term_key(idea.text) not in unwanted
    ]
    if not wanted_ideas:
        wanted_ideas = list(ideas) or [Idea(text) for text in feedback.wanted if parse_phrase(text)]
    asked = [make_term_key(spelling) for idea in wanted_ideas for spelling in (idea.text, *idea.synonyms)] + list(
        wanted
    )
    notes: list[str] = []
    excluded: list[Node] = []
    for key, text in unwanted.items():
        if any(_contains_key(other, key) for other in asked) and not (query_was_typed and text in intent.excluded):
            notes.append(f"“{text}” is part of the search terms and cannot be excluded.")
        else:
            excluded += [
                node
                for spelling in ([text] if query_was_typed else _list_spellings(text))
                if (node := parse_phrase(spelling))
            ]
    return select_most_specific(wanted_ideas, MAX_IDEAS), excluded, notes


def _drop_refused_synonyms(idea: Idea, unwanted: Iterable[Key]) -> Idea:
    refused = list(unwanted)
    accepted = tuple(
        text for text in idea.synonyms if not any(_contains_key(make_term_key(text), key) for key in refused)
    )
    return replace(idea, synonyms=accepted)


def _list_spellings(text: str) -> list[str]:
    """Return a term and, for a plain plural, its singular: not every source matches both."""
    *before, last = text.split(" ")
    return list(dict.fromkeys([text, " ".join([*before, to_singular(last)])]))


def _contains_key(whole: Key, part: Key) -> bool:
    return bool(part) and any(whole[start : start + len(part)] == part for start in range(len(whole)))


def _extract_family_name(author: str) -> str:
    """Return the family name: sources write given names in many ways."""
    names = [word for word in author.partition(",")[0].split() if not re.fullmatch(r"(?:\w\.-?)+", word)]
    return names[-1] if names else author


def _drop_known_names(names: Iterable[str], ideas: Sequence[Idea]) -> list[str]:
    """Return the names that are not part of an idea."""
    asked = [make_term_key(idea.text) for idea in ideas]
    return list(
        dict.fromkeys(name for name in names if not any(_contains_key(key, make_term_key(name)) for key in asked))
    )


def _select_untried(candidates: Iterable[SearchQuery], tried: set[str], limit: int) -> list[SearchQuery]:
    fresh: dict[str, SearchQuery] = {}
    for query in candidates:
        if len(fresh) < limit and query.boolean_query not in tried:
            fresh.setdefault(query.boolean_query, query)
    return list(fresh.values())
