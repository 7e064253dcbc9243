"""Remember who set each part of a strategy; derive from it what is scored, and the notes on the plan.

Once a person has set queries or limits, the sentences about them are derived from the strategy alone.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from paper_search.domain.intent.reading import describe_author, describe_exclusion, describe_preference, describe_venue
from paper_search.domain.intent.typed_queries import split_exclusions
from paper_search.domain.query.filters import has_year_limit, is_text_excluded, parse_language, to_english_name
from paper_search.domain.query.identifier_queries import read_identifiers
from paper_search.domain.query.ladder import align_blocks_and_queries
from paper_search.domain.query.query_texts import normalise_query
from paper_search.domain.strategies.lint import check_query_text
from paper_search.domain.strategies.plain_words import parse_query
from paper_search.domain.strategies.strategy_parser import is_strategy
from paper_search.models import ParsedIntent, PartOrigin, SearchConstraints, SearchQuery, SearchStrategy
from paper_search.workflow.checkpoints import QueryFinding
from uraniborg.kernel.language.boolean_query import Node, Term, iterate_wanted_terms
from uraniborg.kernel.language.publication_years import describe_years
from uraniborg.kernel.language.words import extract_terms, fold_text, split_words

REMOVED: Final = "removed_query"
"""The name of the part that lists a query which a person removed."""
_MAX_VALUE_CHARS: Final = 80
_REASONS: Final = {
    "sources": "chosen by the query builder",
    "max_results": "the limit of the search",
    "min_relevance": "a setting",
}
_MISSING: Final = object()
_OTHER_REASON: Final = "follows from the question"


def get_query_text(query: SearchQuery) -> str:
    """Return the text of a query: its Boolean form or, for a query of ranking sources, its words."""
    return query.boolean_query or query.words


def select_person_queries(strategy: SearchStrategy | None) -> list[SearchQuery]:
    origins = _map_part_keys_to_origins(strategy) if strategy else {}
    set_by_person = {key for key, origin in origins.items() if origin.by_person}
    return [query for query in (strategy.queries if strategy else ()) if get_query_text(query) in set_by_person]


def inherit_parts(last: SearchStrategy | None, proposed: SearchStrategy) -> SearchStrategy:
    """Return the proposed strategy with all parts that a person has set, and the origin of each part.

    A proposal changes such a part only where its origins say that a person asked for the change.
    """
    if last is None:
        return add_origins(None, proposed)
    asked_for = {origin.part for origin in proposed.origins if origin.by_person}
    fixed = {origin.part for origin in last.origins if origin.by_person} - asked_for
    queries, amended = _merge_queries(last, proposed)
    filters = proposed.filters.model_copy(
        update={name: value for name, value in last.filters if name in fixed},
    )
    if filters.year_from and filters.year_to and filters.year_from > filters.year_to:
        filters = filters.model_copy(update=dict.fromkeys({"year_from", "year_to"} - fixed))
    claims = {key: origin for key, origin in _map_part_keys_to_origins(proposed).items() if key not in fixed}
    if "blocks" in fixed:  # the builder keeps a person's blocks, and adds those that feedback and papers ask for
        reason = next((origin.reason for origin in proposed.origins if origin.part == "blocks"), _OTHER_REASON)
        claims["blocks"] = PartOrigin(part="blocks", value="", inherited=False, reason=reason, by_person=True)
    claims |= {key: origin.model_copy(update={"by_person": True}) for key, origin in claims.items() if key in amended}
    sources = last.sources if "sources" in fixed else proposed.sources
    merged = proposed.model_copy(update={"queries": queries, "sources": sources, "filters": filters})
    return add_origins(last, merged, claims)


def add_origins(
    last: SearchStrategy | None, strategy: SearchStrategy, claims: Mapping[str, PartOrigin] | None = None
) -> SearchStrategy:
    """Return the strategy with its origins: unchanged parts are inherited, other parts are as claimed, or new."""
    claimed = _map_part_keys_to_origins(strategy) if claims is None else claims
    inherited: dict[str, PartOrigin] = {}
    removed: list[PartOrigin] = []
    if last is not None:
        values = {key: value for _, key, value in _iterate_parts(strategy)}
        same = {key for _, key, value in _iterate_parts(last) if key in values and values[key] == value}
        earlier = {
            key: origin.model_copy(update={"inherited": True})
            for key, origin in _map_part_keys_to_origins(last).items()
        }
        asked_for = {key for key, origin in claimed.items() if origin.by_person}
        inherited = {key: origin for key, origin in earlier.items() if key in same - asked_for}
        removed = [origin.model_copy(update={"inherited": True}) for origin in last.origins if origin.part == REMOVED]
    return strategy.model_copy(update={"origins": [*_list_origins(strategy, {**claimed, **inherited}), *removed]})


def mark_edited_parts(
    proposed: SearchStrategy, edited: SearchStrategy, round_number: int, *, by_agent: bool = False
) -> SearchStrategy:
    """Return the edited strategy, with the parts that were changed in this round marked as set by a person.

    A list of queries that was changed is the person's as a whole: its other queries are marked as kept by a person.
    An agent decides in place of a person, and the reasons name it.
    """
    who = "an agent" if by_agent else "a person"
    known = _map_part_keys_to_origins(proposed)
    before = {key: value for _, key, value in _iterate_parts(proposed)}
    texts = [get_query_text(query) for query in edited.queries]
    proposals = [get_query_text(query) for query in proposed.queries]
    is_derived = _are_queries_derived(proposed, edited)
    mark_set, mark_kept = (
        PartOrigin(
            part="", value="", inherited=False, reason=f"{verb} by {who} in round {round_number + 1}", by_person=True
        )
        for verb in ("set", "kept")
    )
    derived = set(texts) if is_derived else set[str]()
    changed = {key for _, key, value in _iterate_parts(edited) if before.get(key, _MISSING) != value} - derived
    kept = {text for text in texts if texts != proposals and not (text in known and known[text].by_person)} - derived
    marks = {**dict.fromkeys(kept, mark_kept), **dict.fromkeys(changed, mark_set)}
    origins = _list_origins(edited, {**known, **marks})
    earlier = {origin.value: origin for origin in proposed.origins if origin.part == REMOVED}
    reason = f"removed by {who} in round {round_number + 1}"
    proposals = [] if is_derived else proposals
    now = {text: PartOrigin(part=REMOVED, value=text, inherited=False, reason=reason) for text in proposals}
    removed = [origin for text, origin in {**now, **earlier}.items() if text not in texts]
    notes = edited.notes
    if changed - {"sources"} or texts != proposals:  # the notes describe the proposal
        notes = [note for note in edited.notes if note not in proposed.notes]
    return edited.model_copy(update={"origins": [*origins, *removed], "notes": notes})


def _are_queries_derived(proposed: SearchStrategy, edited: SearchStrategy) -> bool:
    """Return True if a person edited the blocks, and the queries are those that follow from the edited blocks."""
    if edited.blocks == proposed.blocks or not edited.blocks:
        return False
    unedited = edited.model_copy(update={"queries": proposed.queries})
    return align_blocks_and_queries(proposed, unedited).queries == edited.queries


def _merge_queries(last: SearchStrategy, proposed: SearchStrategy) -> tuple[list[SearchQuery], set[str]]:
    """Return the person's queries and then the new ones, and the texts of those that exclude more than before."""
    inherited: list[SearchQuery] = []
    amended: set[str] = set()
    parsed = [(query, _split_query(query)) for query in proposed.queries]
    for query in select_person_queries(last):
        earlier = _split_query(query)
        successor = next((other for other, parts in parsed if _has_more_exclusions(parts, earlier)), None)
        inherited.append(successor or query)
        amended |= {successor.boolean_query} if successor else set()
    known = {normalise_query(get_query_text(query)) for query in inherited}
    known |= {normalise_query(origin.value) for origin in last.origins if origin.part == REMOVED}
    fresh = [query for query in proposed.queries if normalise_query(get_query_text(query)) not in known]
    return [*inherited, *fresh] or list(proposed.queries), amended


_QueryParts = tuple[Node | None, frozenset[Node]]
"""What a query wants and what it excludes."""


def _split_query(query: SearchQuery) -> _QueryParts:
    parsed = parse_query(query.boolean_query)
    if parsed is None:
        return None, frozenset()
    wanted, excluded = split_exclusions(parsed)
    return wanted, frozenset(excluded)


def _has_more_exclusions(query: _QueryParts, earlier: _QueryParts) -> bool:
    (wanted, excluded), (other_wanted, other_excluded) = query, earlier
    return wanted is not None and wanted == other_wanted and other_excluded < excluded


def _iterate_parts(strategy: SearchStrategy) -> Iterator[tuple[str, str, Any]]:
    """Yield the name, the key and the value of each part. The key of a query is its text, at any index."""
    for index, query in enumerate(strategy.queries):
        yield f"queries[{index}]", get_query_text(query), get_query_text(query)
    if strategy.blocks:
        shown = [block.name if block.active else f"{block.name} (off)" for block in strategy.blocks]
        yield "blocks", "blocks", ", ".join(shown)
    yield "sources", "sources", ", ".join(strategy.sources) or "all"
    for name in SearchConstraints.model_fields:
        yield name, name, getattr(strategy.filters, name)


def _map_part_keys_to_origins(strategy: SearchStrategy) -> dict[str, PartOrigin]:
    by_part = {origin.part: origin for origin in strategy.origins}
    return {key: by_part[part] for part, key, _ in _iterate_parts(strategy) if part in by_part}


def _list_origins(strategy: SearchStrategy, known: Mapping[str, PartOrigin]) -> list[PartOrigin]:
    """Return the origin of each part; a filter that is not set has one only if a person removed it."""
    origins: list[PartOrigin] = []
    for part, key, value in _iterate_parts(strategy):
        origin = known.get(key) or PartOrigin(
            part=part, value="", inherited=False, reason=_REASONS.get(part, _OTHER_REASON)
        )
        if value is not None or origin.by_person:
            origins.append(origin.model_copy(update={"part": part, "value": _clip_value(value)}))
    return origins


def _clip_value(value: Any) -> str:
    text = "none" if value is None else str(value)
    return text if len(text) <= _MAX_VALUE_CHARS else text[: _MAX_VALUE_CHARS - 1] + "…"


def derive_scoring_intent(intent: ParsedIntent, strategy: SearchStrategy) -> ParsedIntent:
    """Return the intent of the strategy that runs.

    If a person set queries, the wanted terms of all queries are its topic; if a person set blocks, their names are.
    Then only the authors and venues of the question that the topic still names are in it.
    """
    asked = _list_terms_set_by_person(strategy)
    authors, venues = (_select_named(names, asked) for names in (intent.authors, intent.venues))
    names = {word for name in (*authors, *venues) for word in extract_terms(name)}
    terms = [term for term in asked if not names.issuperset(extract_terms(term))] or asked
    if not terms:
        return intent
    return intent.model_copy(
        update={
            "topic": ", ".join(terms),
            "concepts": terms,
            "phrases": [term for term in terms if " " in term],
            "authors": authors,
            "venues": venues,
        }
    )


def _list_terms_set_by_person(strategy: SearchStrategy) -> list[str]:
    """Return the terms of the plan if a person set its queries or blocks, or pasted a strategy, otherwise []."""
    if select_person_queries(strategy) or any(is_strategy(query.boolean_query) for query in strategy.queries):
        nodes = [parse_query(get_query_text(query)) for query in strategy.queries]
        return list(dict.fromkeys(term.text for node in nodes if node for term in iterate_wanted_terms(node)))
    if any(origin.part == "blocks" and origin.by_person for origin in strategy.origins):
        # Terms that papers taught count apart from the question.
        return [block.name for block in strategy.blocks if block.active and not block.learned]
    return []


def _select_named(names: list[str], terms: list[str]) -> list[str]:
    """Return the names whose last word is in the terms."""
    asked = {word for term in terms for word in extract_terms(term)}
    return [name for name in names if asked & {*extract_terms(name)[-1:]}]


UNKNOWN_YEARS_KEPT = (
    "Papers without a year are kept and marked. A source that limits the years itself may leave them out."
)


def list_true_notes(intent: ParsedIntent, strategy: SearchStrategy) -> list[str]:
    """Return the notes on the question that are true of the strategy, and its limits and exclusions in sentences."""
    nodes = [parse_query(get_query_text(query)) for query in strategy.queries]
    is_set = any(origin.by_person and origin.part != "sources" for origin in strategy.origins)
    notes = list(_iterate_derived_notes(intent, strategy.filters, nodes)) if is_set else list(intent.notes)
    untrue = {describe_exclusion(term) for term in intent.excluded if not _is_excluded_everywhere(nodes, term)}
    notes = [note for note in notes if note not in untrue]
    return list(dict.fromkeys([*notes, *_describe_unseen_limits(strategy.filters)]))


def _iterate_derived_notes(
    intent: ParsedIntent, filters: SearchConstraints, nodes: Sequence[Node | None]
) -> Iterator[str]:
    if has_year_limit(filters):
        yield f"Limited to papers {describe_years(filters.year_from, filters.year_to)}."
    if filters.language:
        language = parse_language(filters.language)
        yield f"Limited to papers in {to_english_name(language).capitalize() if language else filters.language}."
    yield from (describe_author(name) for name in intent.authors if _is_asked_for(nodes, name))
    yield from (describe_venue(name) for name in intent.venues if _is_asked_for(nodes, name))
    yield from map(describe_exclusion, _list_exclusions(intent, nodes))
    yield from map(describe_preference, intent.preferences)


def _describe_unseen_limits(filters: SearchConstraints) -> Iterator[str]:
    """Yield what the limits do that a person cannot see from the papers in the result."""
    if has_year_limit(filters):
        yield UNKNOWN_YEARS_KEPT
    if filters.min_relevance:
        yield (
            f"Papers that score below {filters.min_relevance:g} (min_relevance) are removed by automation. They stay "
            "listed, and come back without this limit."
        )


def _list_exclusions(intent: ParsedIntent, nodes: Sequence[Node | None]) -> list[str]:
    """Return the terms that all queries exclude: as the question names them, then the others."""
    first = nodes[0] if nodes else None
    terms = [node.text for node in (split_exclusions(first)[1] if first else ()) if isinstance(node, Term)]
    named = [extract_terms(term) for term in intent.excluded]
    listed = [*intent.excluded, *(term for term in terms if extract_terms(term) not in named)]
    return [term for term in listed if _is_excluded_everywhere(nodes, term)]


def _is_excluded_everywhere(nodes: Sequence[Node | None], term: str) -> bool:
    """Return True if every query excludes papers with the term: a paper that one query admits is not excluded."""
    return bool(nodes) and all(node is not None and is_text_excluded(node, term) for node in nodes)


def _is_asked_for(nodes: Iterable[Node | None], name: str) -> bool:
    asked = {fold_text(word) for node in nodes if node for term in iterate_wanted_terms(node) for word in term.words}
    return any(fold_text(word) in asked for word in split_words(name) if len(word) > 1)


_MOST_FINDINGS: Final = 100


def list_query_findings(strategy: SearchStrategy) -> list[QueryFinding]:
    """Return the problems of the queries that no block composed, the first of each query first."""
    found = [
        QueryFinding.model_validate({"query": index, **problem.to_fields()})
        for index, query in enumerate(strategy.queries)
        if query.boolean_query.strip() and not query.blocks and not read_identifiers(query.boolean_query)
        for problem in check_query_text(query.boolean_query)
    ]
    return found[:_MOST_FINDINGS]
