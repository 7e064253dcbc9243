"""Select the queries of a strategy that a source receives: Boolean text or plain words, by its kind."""

from collections.abc import Sequence

from paper_search.models import SearchQuery, SourceKind


def select_queries(kind: SourceKind | None, queries: Sequence[SearchQuery]) -> list[SearchQuery]:
    """Return the queries that a source of this kind receives; for a ranking source `boolean_query` holds the words."""
    selected = [query for query in queries if is_query_received(kind, query, queries)]
    texts = [(kind == "ranked" and query.words.strip()) or query.boolean_query for query in selected]
    return [query.model_copy(update={"boolean_query": text}) for query, text in zip(selected, texts, strict=True)]


def is_query_received(kind: SourceKind | None, query: SearchQuery, queries: Sequence[SearchQuery]) -> bool:
    """Return True if a source of this kind receives the query of a strategy with these queries."""
    if kind == "ranked" and any(one.words.strip() for one in queries):
        return bool(query.words.strip())
    # A query with neither text is searched for its keywords.
    return bool(query.boolean_query.strip()) or not query.words.strip()
