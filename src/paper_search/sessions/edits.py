"""Edits of a strategy as people and agents write them, completed to what the engine takes."""

import re
from typing import Any, cast

from paper_search.errors import InvalidDecision
from paper_search.models import SearchConstraints, SearchQuery, SearchStrategy

EXAMPLE = (
    '{"queries": [{"boolean_query": "perovskite AND stability"}], "sources": ["arxiv"], "filters": {"year_from": 2018}}'
)
_TERM = re.compile(r'"([^"]+)"|([^\s()"]+)')
_OPERATORS = {"AND", "OR", "NOT"}


def completed_edit(data: Any, proposed: SearchStrategy) -> Any:
    """The data with what was left out of its filters and queries filled in; other data than an object as it is.

    A filter that is not named keeps what was proposed. A query may be text, and need not name its keywords. Raises
    InvalidDecision for filters and parts of a query that do not exist.
    """
    if not isinstance(data, dict):
        return data
    edit = dict(cast("dict[str, Any]", data))
    if edit.keys() == {"strategy"}:
        return completed_edit(edit["strategy"], proposed)
    if isinstance(edit.get("sources"), str):
        edit["sources"] = [edit["sources"]]
    if isinstance(edit.get("filters"), dict):
        filters = cast("dict[str, Any]", edit["filters"])
        _refuse_unknown(filters, set(SearchConstraints.model_fields), "filter")
        edit["filters"] = {**proposed.filters.model_dump(), **filters}
    if isinstance(edit.get("queries"), list):
        edit["queries"] = [_completed_query(query) for query in cast("list[Any]", edit["queries"])]
    return edit


def _completed_query(query: Any) -> Any:
    if isinstance(query, str):
        query = {"boolean_query": query}
    if not isinstance(query, dict):
        return query
    fields = cast("dict[str, Any]", query)
    _refuse_unknown(fields, set(SearchQuery.model_fields), "query")
    if isinstance(text := fields.get("boolean_query"), str) and "keywords" not in fields:
        terms = (phrase or word for phrase, word in _TERM.findall(text))
        return {**fields, "keywords": [term for term in terms if term not in _OPERATORS]}
    return fields


def _refuse_unknown(fields: dict[str, Any], known: set[str], what: str) -> None:
    if unknown := sorted(set(map(str, fields)) - known):
        raise InvalidDecision(
            f"Unknown {what} fields: {', '.join(unknown[:5])}.",
            hint=f"Allowed: {', '.join(sorted(known))}. For example: {EXAMPLE}",
            unknown=unknown[:20],
            allowed=sorted(known),
        )
