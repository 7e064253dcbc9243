"""The strategy of one round, planned by rule: concept blocks, and the ladder of queries composed of them.

Queries that a person typed or edited run exactly as they are: they have no ladder, and feedback adds queries to them.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Final

from paper_search.identifier_queries import Identifier, make_lookup_query, read_identifiers
from paper_search.intent.block_changes import (
    ASKED_FOR,
    accept_suggestions,
    add_blocks,
    describe_block_changes,
    drop_least_specific,
    list_numbers,
    replace_learned_blocks,
    resolve_contradictions,
)
from paper_search.intent.concept_blocks import build_blocks, extract_family_name, make_block
from paper_search.intent.feedback import describe_changes, read_feedback, select_accepted
from paper_search.intent.reading import Direction, Reading, apply_limit_changes, correct_limits
from paper_search.intent.topic_words import list_question_words
from paper_search.intent.vocabulary import Vocabulary, make_term_key
from paper_search.intent.written_queries import Refiner, describe_loosening, describe_tightening
from paper_search.models import (
    MAX_RESULTS_CAP,
    ConceptBlock,
    ParsedIntent,
    PartOrigin,
    QueryBuilderInput,
    SearchConstraints,
    SearchQuery,
    SearchStrategy,
    TermSuggestion,
)
from paper_search.query.boolean_query import parse_query
from paper_search.query.filters import is_text_excluded
from paper_search.query.ladder import MOST_LEARNED, compose_ladder
from paper_search.query.observed_shares import describe_new_order, observe_shares
from paper_search.query.rendering import normalise_query, parse_phrase
from paper_search.strategies.translation import parse_any_query
from paper_search.text import split_words
from uraniborg.kernel.boolean_query import Node, iterate_wanted_terms
from uraniborg.kernel.text import plural
from uraniborg.kernel.years.reading import RECENT_YEARS

MAX_QUERIES: Final = 3
LOOSENED: Final = "asks for less than the last query"
TIGHTENED: Final = "asks for more than the last query"
_BEST_TAUGHT: Final = 4
"""The number of taught terms that stay in every plan."""
_MOST_TITLES: Final = 8
"""The number of titles of included papers in a plan; those of later rounds have the others."""
_OFTEN: Final = 2
"""Other taught terms leave the plan after as many rounds."""
_WIDER: Final = frozenset({Direction.WIDER, Direction.MORE})
_NARROWER: Final = frozenset({Direction.NARROWER, Direction.FEWER})


@dataclass(slots=True)
class _Draft:
    """The queries of a plan with their blocks, and notes on them."""

    queries: list[SearchQuery] = field(default_factory=list[SearchQuery])
    reason: str = "follows from the question"
    blocks: list[ConceptBlock] = field(default_factory=list[ConceptBlock])
    notes: list[str] = field(default_factory=list[str])


def plan_strategy(
    given: QueryBuilderInput, vocabulary: Vocabulary, sources: Sequence[str], today: date
) -> SearchStrategy:
    """Return the strategy of the next round, built on the last one. Never raises.

    An intent without words gives a strategy without queries.
    """
    intent = given.intent
    if not given.person_queries and (identifiers := read_identifiers(intent.topic)):
        return _plan_lookup(identifiers, given, sources, today)
    last = given.previous_strategies[-1] if given.previous_strategies else None
    limits = last.filters if last else intent.constraints
    latest = read_feedback([given.user_feedback] if given.user_feedback else [], vocabulary, today, limits)
    feedback = read_feedback(given.earlier_feedback, vocabulary, today)
    feedback.merge_later(latest)
    filters, notes = correct_limits(apply_limit_changes(limits, latest.limits), today)
    written = given.person_queries or _list_typed_queries(intent)
    if written:
        draft = _plan_written_queries(written, given, feedback, latest)
    else:
        draft = _plan_ladder(given, last, feedback, latest, vocabulary)
    if last and _is_unchanged(draft.queries, last) and (changes := _change_limits(latest.directions, filters)):
        filters = filters.model_copy(update=changes)
        notes += [f"The query cannot be changed further, so {name} is now {value}." for name, value in changes.items()]
    if not draft.queries:
        notes.append("The query has no words to search for.")
    if not sources:
        notes.append("No source is available, so nothing can be searched.")
    notes += [*draft.notes, *latest.notes, *(f"“{name}” was read as an author." for name in latest.authors)]
    notes += describe_changes(latest, limits, filters, draft.notes)
    origins = [
        _make_origin(f"queries[{index}]", query.boolean_query or query.words, draft.reason)
        for index, query in enumerate(draft.queries)
    ]
    origins += [_make_origin("blocks", "", draft.reason)] if draft.blocks else []
    origins += [
        _make_origin(name, str(value), "the feedback asks for it", by_person=True)
        for name, value in filters
        if latest.has_content and value != getattr(limits, name)
    ]
    return SearchStrategy(
        queries=draft.queries,
        sources=list(sources),
        filters=filters,
        notes=notes,
        origins=origins,
        blocks=draft.blocks,
        suggestions=_select_suggestions(given.suggestions, draft.blocks) if draft.blocks else [],
    )


def _plan_ladder(
    given: QueryBuilderInput,
    last: SearchStrategy | None,
    feedback: Reading,
    latest: Reading,
    vocabulary: Vocabulary,
) -> _Draft:
    """Return the blocks of the last plan, changed as feedback and marks ask, and their ladder."""
    intent = given.intent
    estimated = last.blocks if last and last.blocks else build_blocks(intent, vocabulary)
    before = observe_shares(estimated, given.searched) if given.searched else estimated
    unwanted = [*_list_kept_exclusions(intent, last), *feedback.unwanted]
    blocks, excluded, notes = resolve_contradictions(before, unwanted, feedback.wanted)
    notes += describe_new_order(estimated, before)
    blocks = add_blocks(
        blocks,
        [
            *(make_block(text, vocabulary, reason=ASKED_FOR, learned=True) for text in feedback.wanted),
            *(
                ConceptBlock(name=name, variants=[name], exact=True, share=0.001, reason="named as an author")
                for name in dict.fromkeys(map(extract_family_name, feedback.authors))
            ),
        ],
    )
    refused = {make_term_key(text) for text in feedback.unwanted}
    taught = _select_taught(
        [entry for entry in given.taught if make_term_key(entry.term) not in refused], given.previous_strategies
    )
    blocks = replace_learned_blocks(blocks, taught, vocabulary)
    blocks = accept_suggestions(blocks, select_accepted(given.suggestions, latest.suggestions), vocabulary)
    if taught and given.taught == given.suggestions:  # only a search without a person uses suggestions unasked
        words = ", ".join(f"“{entry.term}”" for entry in taught)
        notes.append(f"Second pass: the best papers of the first pass taught the terms {words}.")
    draft = _Draft(blocks=blocks, notes=notes)
    directions = set(latest.directions)
    if directions & _WIDER:
        draft.blocks, draft.reason = drop_least_specific(blocks), LOOSENED
    elif given.taught or latest.wanted:
        draft.reason = "adds what the feedback and the papers ask for"
    titles = [] if directions & _NARROWER else _select_titles(given)
    named = build_blocks(intent, vocabulary) if last else estimated
    draft.queries = compose_ladder(draft.blocks, excluded, list_question_words(intent.topic), titles, named)
    if directions & _NARROWER:
        draft.queries, draft.reason = _keep_strict_queries(draft.queries, last), TIGHTENED
        draft.notes.append("Only the strict queries are searched.")
    if last and last.blocks:
        draft.notes += describe_block_changes(last.blocks, draft.blocks)
        if titles:
            draft.notes.append(f"Ranking sources also receive {plural(len(titles), 'title')} of included papers.")
        if draft.queries == last.queries:
            draft.notes.append("The queries are those of the last round; sources continue with papers that are new.")
    return draft


def _list_kept_exclusions(intent: ParsedIntent, last: SearchStrategy | None) -> list[str]:
    """Return the terms that the question excludes, without those that a person took out of the last plan."""
    if last is None:
        return intent.excluded
    nodes = [node for query in last.queries if (node := parse_query(query.boolean_query or query.words))]
    return [term for term in intent.excluded if all(is_text_excluded(node, term) for node in nodes)]


def _select_titles(given: QueryBuilderInput) -> list[str]:
    """Return the words of the last titles of included papers that no earlier plan searched for."""
    searched = {tuple(query.keywords) for strategy in given.previous_strategies for query in strategy.queries}
    titles = dict.fromkeys(map(list_question_words, given.relevant_titles))
    return [words for words in titles if words and tuple(split_words(words)) not in searched][-_MOST_TITLES:]


def _select_taught(taught: Sequence[TermSuggestion], previous: Sequence[SearchStrategy]) -> list[TermSuggestion]:
    """Return the best terms and then those that earlier plans have not searched for often: they find other papers."""
    searched = Counter(block.name for strategy in previous for block in strategy.blocks if block.learned)
    best = list(taught[:_BEST_TAUGHT])
    fresh = [entry for entry in taught[_BEST_TAUGHT:] if searched[entry.term] < _OFTEN]
    return [*best, *fresh][:MOST_LEARNED]


def _keep_strict_queries(queries: Sequence[SearchQuery], last: SearchStrategy | None) -> list[SearchQuery]:
    """Return the queries of the lower half of the rungs, and of fewer rungs than the last plan had."""
    rungs = sorted({query.rung for query in queries})
    before = {query.rung for query in last.queries} if last else set[int]()
    count = max(1, min(len(rungs) // 2, len(before) - 1))
    return [query for query in queries if query.rung in rungs[:count]]


def _plan_written_queries(
    written: Sequence[SearchQuery], given: QueryBuilderInput, feedback: Reading, latest: Reading
) -> _Draft:
    """Return the queries of a person, and new ones built on them as the feedback asks."""
    nodes = [node for query in written if (node := parse_any_query(query.boolean_query))]
    wanted = {make_term_key(text) for text in feedback.wanted}
    own = {make_term_key(term.text) for node in nodes for term in iterate_wanted_terms(node)}
    excluded: list[Node] = []
    notes: list[str] = []
    for text in feedback.unwanted:
        if make_term_key(text) in own:
            notes.append(f"“{text}” is part of the search terms and cannot be excluded.")
        elif make_term_key(text) not in wanted:
            excluded += [node for spelling in list_numbers(text) if (node := parse_phrase(spelling))]
    refiner = Refiner(nodes, excluded)
    tried = {normalise_query(query.boolean_query) for plan in given.previous_strategies for query in plan.queries}
    directions = set(latest.directions)
    fresh: Iterable[SearchQuery] = ()
    reason = "typed by a person"
    if directions & _NARROWER:
        fresh, reason = refiner.compose_narrower(), TIGHTENED
    elif directions & _WIDER:
        fresh, reason = refiner.compose_broader(), LOOSENED
    turned = _select_untried(fresh, tried, 1)
    joined: list[SearchQuery] = []
    taught = [] if directions else given.taught[:MOST_LEARNED]
    words = [*feedback.wanted, *map(extract_family_name, feedback.authors)]
    if taught or (words if not directions else latest.wanted):
        joined = _select_untried(
            refiner.compose_with_terms(words, [entry.term for entry in taught]), tried, MAX_QUERIES
        )
        notes += [f"Added: “{entry.term}” ({entry.reason})." for entry in taught]
        notes += [f"Added: “{text}” ({ASKED_FOR})." for text in latest.wanted if make_term_key(text) not in own]
        reason = reason if turned else "adds what the feedback and the papers ask for"
    kept = list(refiner.compose_first_queries(())) if excluded else list(written)
    if turned:
        before, after = written[0].boolean_query, turned[-1].boolean_query
        notes += describe_loosening(before, after) if reason == LOOSENED else describe_tightening(before, after)
    queries = [*(turned or kept), *joined]
    return _Draft(queries, reason, [], notes)


def _list_typed_queries(intent: ParsedIntent) -> list[SearchQuery]:
    if not parse_any_query(intent.typed_query):
        return []
    tree = parse_query(intent.typed_query)
    keywords = list(dict.fromkeys(term.text for term in iterate_wanted_terms(tree))) if tree else []
    return [SearchQuery(keywords=keywords, boolean_query=intent.typed_query)]


def _select_suggestions(suggestions: Sequence[TermSuggestion], blocks: Sequence[ConceptBlock]) -> list[TermSuggestion]:
    """Return the suggestions that no block of the plan contains, switched off or not."""
    known = {make_term_key(text) for block in blocks for text in (block.name, *block.variants)}
    return [entry for entry in suggestions if make_term_key(entry.term) not in known]


def _is_unchanged(queries: Sequence[SearchQuery], last: SearchStrategy) -> bool:
    texts, before = ([(query.boolean_query, query.words) for query in one] for one in (queries, last.queries))
    return texts == before


def _change_limits(directions: Sequence[Direction], filters: SearchConstraints) -> dict[str, int]:
    """Return limits to change where a direction was asked for and no query can follow it."""
    if Direction.NARROWER in directions:
        return {"max_results": max(1, filters.max_results // 2)}
    if Direction.WIDER not in directions:
        return {}
    years = {"year_from": filters.year_from, "year_to": filters.year_to}
    steps = {"year_from": -RECENT_YEARS, "year_to": RECENT_YEARS}
    wider = {name: year + steps[name] for name, year in years.items() if year is not None}
    return wider or {"max_results": min(2 * filters.max_results, MAX_RESULTS_CAP)}


def _make_origin(part: str, value: str, reason: str, *, by_person: bool = False) -> PartOrigin:
    return PartOrigin(part=part, value=value, inherited=False, reason=reason, by_person=by_person)


def _plan_lookup(
    identifiers: Sequence[Identifier], given: QueryBuilderInput, sources: Sequence[str], today: date
) -> SearchStrategy:
    """Return the strategy that fetches exactly these works, in every round."""
    filters, notes = correct_limits(given.intent.constraints, today)
    if (feedback := given.user_feedback) and (feedback.texts or feedback.has_changes):
        notes.append("The feedback was not used: the query names works, which are fetched as they are.")
    wanted = identifiers[: filters.max_results]
    if len(wanted) < len(identifiers):
        notes.append(
            f"Only the first {len(wanted)} of {len(identifiers)} identifiers are fetched, as max_results asks."
        )
    return SearchStrategy(queries=[make_lookup_query(wanted)], sources=list(sources), filters=filters, notes=notes)


def _select_untried(candidates: Iterable[SearchQuery], tried: set[str], limit: int) -> list[SearchQuery]:
    fresh: dict[str, SearchQuery] = {}
    for query in candidates:
        if len(fresh) < limit and query.boolean_query not in tried:
            fresh.setdefault(query.boolean_query, query)
    return list(fresh.values())
