"""Origins of the parts of a strategy, and inheritance: parts that a person set stay in later rounds."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from paper_search.intent.written_queries import split_exclusions
from paper_search.models import PartOrigin, SearchConstraints, SearchQuery, SearchStrategy
from paper_search.query.boolean_query import parse_query
from paper_search.query.rendering import normalise_query

REMOVED: Final = "removed_query"
"""The name of the part that lists a query which a person removed."""
_MAX_VALUE_CHARS: Final = 80
_REASONS: Final = {"sources": "chosen by the query builder", "max_results": "the limit of the search"}
_OTHER_REASON: Final = "follows from the question"


def select_person_queries(strategy: SearchStrategy | None) -> list[SearchQuery]:
    """Return the queries of a strategy that a person set."""
    origins = _index_origins(strategy) if strategy else {}
    set_by_person = {key for key, origin in origins.items() if origin.by_person}
    return [query for query in (strategy.queries if strategy else ()) if query.boolean_query in set_by_person]


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
    claims = {key: origin for key, origin in _index_origins(proposed).items() if key not in fixed}
    claims |= {key: origin.model_copy(update={"by_person": True}) for key, origin in claims.items() if key in amended}
    sources = last.sources if "sources" in fixed else proposed.sources
    merged = proposed.model_copy(update={"queries": queries, "sources": sources, "filters": filters})
    return add_origins(last, merged, claims)


def add_origins(
    last: SearchStrategy | None, strategy: SearchStrategy, claims: Mapping[str, PartOrigin] | None = None
) -> SearchStrategy:
    """Return the strategy with its origins: unchanged parts are inherited, other parts are as claimed, or new."""
    claimed = _index_origins(strategy) if claims is None else claims
    inherited: dict[str, PartOrigin] = {}
    removed: list[PartOrigin] = []
    if last is not None:
        values = {key: value for _, key, value in _iterate_parts(strategy)}
        same = {key for _, key, value in _iterate_parts(last) if key in values and values[key] == value}
        earlier = {key: origin.model_copy(update={"inherited": True}) for key, origin in _index_origins(last).items()}
        asked_for = {key for key, origin in claimed.items() if origin.by_person}
        inherited = {key: origin for key, origin in earlier.items() if key in same - asked_for}
        removed = [origin.model_copy(update={"inherited": True}) for origin in last.origins if origin.part == REMOVED]
    return strategy.model_copy(update={"origins": [*_list_origins(strategy, {**claimed, **inherited}), *removed]})


def mark_edited_parts(proposed: SearchStrategy, edited: SearchStrategy, round_number: int) -> SearchStrategy:
    """Return the edited strategy, with the parts that the person changed in this round marked as set by a person.

    A list of queries that was changed is the person's as a whole: its other queries are marked as kept by a person.
    """
    known = _index_origins(proposed)
    before = {key: value for _, key, value in _iterate_parts(proposed)}
    texts = [query.boolean_query for query in edited.queries]
    proposals = [query.boolean_query for query in proposed.queries]
    mark_set, mark_kept = (
        PartOrigin(
            part="", value="", inherited=False, reason=f"{verb} by a person in round {round_number + 1}", by_person=True
        )
        for verb in ("set", "kept")
    )
    changed = {key for _, key, value in _iterate_parts(edited) if key not in before or before[key] != value}
    kept = {text for text in texts if texts != proposals and not (text in known and known[text].by_person)}
    marks = {**dict.fromkeys(kept, mark_kept), **dict.fromkeys(changed, mark_set)}
    origins = _list_origins(edited, {**known, **marks})
    earlier = {origin.value: origin for origin in proposed.origins if origin.part == REMOVED}
    reason = f"removed by a person in round {round_number + 1}"
    now = {text: PartOrigin(part=REMOVED, value=text, inherited=False, reason=reason) for text in proposals}
    removed = [origin for text, origin in {**now, **earlier}.items() if text not in texts]
    return edited.model_copy(update={"origins": [*origins, *removed]})


def _merge_queries(last: SearchStrategy, proposed: SearchStrategy) -> tuple[list[SearchQuery], set[str]]:
    """Return the person's queries and then the new ones, and the texts of those that exclude more than before."""
    inherited: list[SearchQuery] = []
    amended: set[str] = set()
    for query in select_person_queries(last):
        successor = next((other for other in proposed.queries if _has_more_exclusions(other, query)), None)
        inherited.append(successor or query)
        amended |= {successor.boolean_query} if successor else set()
    known = {normalise_query(query.boolean_query) for query in inherited}
    known |= {normalise_query(origin.value) for origin in last.origins if origin.part == REMOVED}
    fresh = [query for query in proposed.queries if normalise_query(query.boolean_query) not in known]
    return [*inherited, *fresh] or list(proposed.queries), amended


def _has_more_exclusions(query: SearchQuery, earlier: SearchQuery) -> bool:
    parsed, other = parse_query(query.boolean_query), parse_query(earlier.boolean_query)
    if parsed is None or other is None:
        return False
    (wanted, excluded), (other_wanted, other_excluded) = split_exclusions(parsed), split_exclusions(other)
    return wanted == other_wanted and set(other_excluded) < set(excluded)


def _iterate_parts(strategy: SearchStrategy) -> Iterator[tuple[str, str, Any]]:
    """Yield the name, the key and the value of each part. The key of a query is its text, at any index."""
    for index, query in enumerate(strategy.queries):
        yield f"queries[{index}]", query.boolean_query, query.boolean_query
    yield "sources", "sources", ", ".join(strategy.sources) or "all"
    for name in SearchConstraints.model_fields:
        yield name, name, getattr(strategy.filters, name)


def _index_origins(strategy: SearchStrategy) -> dict[str, PartOrigin]:
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
