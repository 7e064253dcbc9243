"""Plan the strategy of one round by rule: concept blocks, and the ladder of queries that earlier counts suggest.

Queries that a person typed or edited run exactly as they are, and feedback adds queries to them.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import date
from statistics import mean
from typing import Final, NamedTuple

from paper_search.domain.intent.concept_blocks import (
    ASKED_FOR,
    accept_suggestions,
    add_missing_blocks,
    build_blocks,
    describe_block_changes,
    drop_least_specific,
    drop_refused_terms,
    exclude_terms,
    extract_family_name,
    list_keys,
    make_author_block,
    make_block,
    replace_taught_blocks,
    require_more,
)
from paper_search.domain.intent.feedback import describe_changes, read_feedback, select_accepted
from paper_search.domain.intent.reading import Direction, Reading, apply_limit_changes, correct_limits
from paper_search.domain.intent.typed_queries import compose_written_queries, list_typed_queries, read_written_blocks
from paper_search.domain.intent.vocabulary import Key, Vocabulary, list_question_words, make_term_key
from paper_search.domain.query.filters import is_text_excluded
from paper_search.domain.query.identifier_queries import Identifier, make_lookup_query, read_identifiers
from paper_search.domain.query.ladder import MOST_LEARNED, compose_ladder
from paper_search.domain.query.query_texts import select_queries
from paper_search.domain.strategies.plain_words import describe_kept_limits, parse_query
from paper_search.models import (
    MAX_RESULTS_CAP,
    ConceptBlock,
    ParsedIntent,
    PartOrigin,
    QueryBuilderInput,
    RoundLog,
    SearchConstraints,
    SearchQuery,
    SearchStrategy,
    SourceReport,
    TermSuggestion,
)
from uraniborg.kernel.language.messages import plural
from uraniborg.kernel.language.publication_years import RECENT_YEARS
from uraniborg.kernel.language.words import split_words

_WIDER: Final = frozenset({Direction.WIDER, Direction.MORE})
_NARROWER: Final = frozenset({Direction.NARROWER, Direction.FEWER})
_BEST_TAUGHT: Final = 4  # the number of taught terms that stay in every plan
_OFTEN: Final = 2  # other taught terms leave the plan after as many rounds
_MOST_TITLES: Final = 8  # the number of titles of included papers in a plan; those of later rounds have the others


class _Draft(NamedTuple):
    """The queries of a plan with their blocks, notes on them, and their reason."""

    queries: list[SearchQuery]
    blocks: list[ConceptBlock]
    notes: list[str]
    reason: str


def plan_strategy(
    given: QueryBuilderInput, vocabulary: Vocabulary, sources: Sequence[str], today: date
) -> SearchStrategy:
    """Return the strategy of the next round, built on the last one. Never raises.

    An intent without words gives a strategy without queries.
    """
    if not given.person_queries and (identifiers := read_identifiers(given.intent.topic)):
        return _plan_lookup(identifiers, given, sources, today)
    last = given.previous_strategies[-1] if given.previous_strategies else None
    limits = last.filters if last else given.intent.constraints
    latest = read_feedback([given.user_feedback] if given.user_feedback else [], vocabulary, today, limits)
    feedback = read_feedback(given.earlier_feedback, vocabulary, today)
    feedback.merge_later(latest)
    filters, notes = correct_limits(apply_limit_changes(limits, latest.limits), today)
    draft = _plan_blocks(given, last, feedback, latest, vocabulary)
    texts, before = (
        [query.boolean_query for query in one if query.boolean_query]
        for one in (draft.queries, last.queries if last else [])
    )
    if last and texts == before and (changes := _change_limits(latest.directions, filters)):
        filters = filters.model_copy(update=changes)
        notes += [f"The query cannot be changed further, so {name} is now {value}." for name, value in changes.items()]
    if not draft.queries:
        notes.append("The query has no words to search for.")
    if not sources:
        notes.append("No source is available, so nothing can be searched.")
    notes += [*draft.notes, *latest.notes, *(f"“{name}” was read as an author." for name in latest.authors)]
    notes += describe_changes(latest, limits, filters, draft.notes)
    notes += describe_kept_limits((query.boolean_query for query in draft.queries), latest.limits)
    texts = [query.boolean_query or query.words for query in draft.queries]
    parts = [(f"queries[{index}]", text) for index, text in enumerate(texts)] + [("blocks", "")] * bool(draft.blocks)
    known = list_keys(draft.blocks)
    changed = [(name, value) for name, value in filters if latest.has_content and value != getattr(limits, name)]
    asked_for = _make_origins(changed, "the feedback asks for it", by_person=True)
    return SearchStrategy(
        queries=draft.queries,
        sources=list(sources),
        filters=filters,
        notes=notes,
        origins=[*_make_origins(parts, draft.reason), *asked_for],
        blocks=draft.blocks,
        suggestions=[one for one in given.suggestions if draft.blocks and make_term_key(one.term) not in known],
    )


def _plan_blocks(
    given: QueryBuilderInput,
    last: SearchStrategy | None,
    feedback: Reading,
    latest: Reading,
    vocabulary: Vocabulary,
) -> _Draft:
    """Return the blocks of the last plan, changed as feedback and marks ask, and their queries."""
    written = _list_written_queries(given, last)
    before = last.blocks if last and not given.person_queries else []
    named = read_written_blocks(one.boolean_query for one in written) or build_blocks(given.intent, vocabulary)
    estimated = before or named
    earlier = observe_shares(estimated, given.searched) if given.searched else estimated
    excluded_before = [] if written else _list_kept_exclusions(given.intent, last)
    wanted = set(map(make_term_key, feedback.wanted))
    refused = [text for text in [*excluded_before, *feedback.unwanted] if make_term_key(text) not in wanted]
    blocks = earlier if written else drop_refused_terms(earlier, refused)
    asked = [text for block in blocks if block.active or written for text in block.variants]
    excluded, notes = exclude_terms(refused, asked)
    notes += describe_new_order(estimated, earlier)
    added = [make_block(text, vocabulary, reason=ASKED_FOR, learned=True) for text in feedback.wanted]
    added += [make_author_block([name]) for name in dict.fromkeys(map(extract_family_name, feedback.authors))]
    taught = _select_taught(given, set(map(make_term_key, feedback.unwanted)))
    blocks = replace_taught_blocks(blocks, added, taught, vocabulary)
    blocks = accept_suggestions(blocks, select_accepted(given.suggestions, latest.suggestions), vocabulary)
    if taught and given.taught == given.suggestions:  # only a search without a person uses suggestions unasked
        words = ", ".join(f"“{entry.term}”" for entry in taught)
        notes.append(f"Second pass: the best papers of the first pass taught the terms {words}.")
    reason = "typed by a person" if written else "follows from the question"
    if given.taught or latest.wanted:
        reason = "adds what the feedback and the papers ask for"
    if not _WIDER.isdisjoint(latest.directions):
        blocks, reason = drop_least_specific(blocks), "asks for less than the last query"
    if is_narrower := not _NARROWER.isdisjoint(latest.directions):
        blocks, reason = require_more(blocks) if written else blocks, "asks for more than the last query"
    titles = [] if is_narrower or written else _select_titles(given)
    if written:
        queries = compose_written_queries(written, blocks, excluded)
    else:
        queries = compose_ladder(blocks, excluded, list_question_words(given.intent.topic), titles, named)
    if is_narrower and not written:
        queries = _keep_strict_queries(queries, last)
        notes.append("Only the strict queries are searched.")
    if last:
        noted = add_missing_blocks(earlier, (one for one in added if written and one.name not in latest.wanted))
        notes += describe_block_changes(noted, blocks)
        if titles:
            notes.append(f"Ranking sources also receive {plural(len(titles), 'title')} of included papers.")
        if queries == last.queries:
            notes.append("The queries are those of the last round; sources continue with papers that are new.")
    return _Draft(queries, blocks if before or latest.directions or not written else [], notes, reason)


def _list_written_queries(given: QueryBuilderInput, last: SearchStrategy | None) -> list[SearchQuery]:
    """Return the queries that a person edited, or the typed question unless a person edited its blocks."""
    has_own_blocks = last and any(origin.part == "blocks" and origin.by_person for origin in last.origins)
    return given.person_queries or ([] if has_own_blocks else list_typed_queries(given.intent.typed_query))


def _list_kept_exclusions(intent: ParsedIntent, last: SearchStrategy | None) -> list[str]:
    """Return the terms that the question excludes, without those that a person took out of the last plan."""
    queries = last.queries if last else []
    nodes = [node for query in queries if (node := parse_query(query.boolean_query or query.words))]
    return [term for term in intent.excluded if all(is_text_excluded(node, term) for node in nodes)]


def _select_titles(given: QueryBuilderInput) -> list[str]:
    """Return the words of the last titles of included papers that no earlier plan searched for."""
    searched = {tuple(query.keywords) for strategy in given.previous_strategies for query in strategy.queries}
    titles = dict.fromkeys(map(list_question_words, given.relevant_titles))
    return [words for words in titles if words and tuple(split_words(words)) not in searched][-_MOST_TITLES:]


def _select_taught(given: QueryBuilderInput, refused: set[Key]) -> list[TermSuggestion]:
    """Return the best terms and then those that earlier plans have not searched for often: they find other papers."""
    taught = [entry for entry in given.taught if make_term_key(entry.term) not in refused]
    plans = given.previous_strategies
    searched = Counter(block.name for strategy in plans for block in strategy.blocks if block.learned)
    fresh = [entry for entry in taught[_BEST_TAUGHT:] if searched[entry.term] < _OFTEN]
    return [*taught[:_BEST_TAUGHT], *fresh][:MOST_LEARNED]


def _keep_strict_queries(queries: Sequence[SearchQuery], last: SearchStrategy | None) -> list[SearchQuery]:
    """Return the queries of the lower half of the rungs, and of fewer rungs than the last plan had."""
    rungs = sorted({query.rung for query in queries})
    before = {query.rung for query in last.queries} if last else set[int]()
    count = max(1, min(len(rungs) // 2, len(before) - 1))
    return [query for query in queries if query.rung in rungs[:count]]


def _change_limits(directions: Sequence[Direction], filters: SearchConstraints) -> dict[str, int]:
    """Return limits to change where a direction was asked for and no query can follow it."""
    if Direction.NARROWER in directions:
        return {"max_results": max(1, filters.max_results // 2)}
    if Direction.WIDER not in directions:
        return {}
    years = (("year_from", filters.year_from, -RECENT_YEARS), ("year_to", filters.year_to, RECENT_YEARS))
    wider = {name: year + step for name, year, step in years if year is not None}
    return wider or {"max_results": min(2 * filters.max_results, MAX_RESULTS_CAP)}


def _make_origins(parts: Iterable[tuple[str, object]], reason: str, *, by_person: bool = False) -> list[PartOrigin]:
    return [
        PartOrigin(part=part, value=str(value), inherited=False, reason=reason, by_person=by_person)
        for part, value in parts
    ]


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


def observe_shares(blocks: Sequence[ConceptBlock], searched: RoundLog) -> list[ConceptBlock]:
    """Return the blocks with estimates moved towards what the sources counted in a round."""
    shares = {block.name: block.share for block in blocks if block.share and not block.learned}
    beyond: defaultdict[str, list[float]] = defaultdict(list)  # how much pairs with a block match beyond the estimates
    for report in searched.sources:
        counts = {pair: n for pair, n in _count_pairs(searched.strategy, report).items() if pair <= shares.keys()}
        logs = {pair: math.log((n + 1) / math.prod(shares[name] for name in pair)) for pair, n in counts.items()}
        for pair, log in logs.items():
            for name in pair:
                beyond[name].append(log - mean(logs.values()))
    for name, own in beyond.items():
        shares[name] = round(min(1.0, max(0.0001, shares[name] * math.exp(mean(own) / 2))), 6)
    return [block.model_copy(update={"share": shares.get(block.name, block.share)}) for block in blocks]


def describe_new_order(before: Sequence[ConceptBlock], after: Sequence[ConceptBlock]) -> list[str]:
    """Return a sentence if the counts of the sources changed which blocks are more specific."""
    old, new = (
        sorted((one for one in blocks if one.active and not one.learned and one.share), key=lambda one: one.share or 0)
        for blocks in (before, after)
    )
    names = ", ".join(f"“{block.name}”" for block in new)
    note = f"By the counts of the sources, the concepts from the most specific one on are: {names}."
    return [] if [one.name for one in old] == [one.name for one in new] else [note]


def _count_pairs(strategy: SearchStrategy, report: SourceReport) -> dict[frozenset[str], int]:
    """Return the matches of the first query for each pair of blocks: later ones require only words of the blocks."""
    queries = select_queries("boolean", strategy.queries)
    if [query.rung for query in queries] != [one.rung for one in report.queries]:
        return {}  # a ranking source received other queries
    counts: dict[frozenset[str], int] = {}
    for query, one in zip(queries, report.queries, strict=True):
        if len(set(query.blocks)) == 2 and one.found is not None:
            counts.setdefault(frozenset(query.blocks), one.found)
    return counts
