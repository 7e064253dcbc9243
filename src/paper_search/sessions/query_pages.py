"""Pages of the complete queries of a strategy, of which replies show only the beginnings if they are long."""

from typing import Final

from pydantic import BaseModel

from paper_search.models import SearchStrategy
from paper_search.sessions.replies import build_queries_uri, clip_text, count_json_bytes

_PAGE_BYTES: Final = 24_000
_MAX_CHARS: Final = 20_000


class ListedQuery(BaseModel):
    """A query of a strategy: its text for Boolean sources and that for ranking sources; one of them may be empty."""

    rung: int
    blocks: list[str]
    boolean_query: str
    words: str


class QueryPage(BaseModel):
    """A page of queries in the order of the strategy."""

    session_id: str
    queries: list[ListedQuery]
    total_queries: int
    offset: int
    next: str | None
    """The address of the next page."""


def build_query_page(session_id: str, strategy: SearchStrategy, offset: int) -> QueryPage:
    """Return as many queries as fit into one reply, from `offset` on."""
    page: list[ListedQuery] = []
    length = 0
    for query in strategy.queries[offset:]:
        listed = ListedQuery(
            rung=query.rung,
            blocks=[clip_text(name, 100) for name in query.blocks[:20]],
            boolean_query=clip_text(query.boolean_query, _MAX_CHARS),
            words=clip_text(query.words, _MAX_CHARS),
        )
        length += count_json_bytes(listed)
        if page and length > _PAGE_BYTES:
            break
        page.append(listed)
    end = offset + len(page)
    return QueryPage(
        session_id=session_id,
        queries=page,
        total_queries=len(strategy.queries),
        offset=offset,
        next=build_queries_uri(session_id, end) if end < len(strategy.queries) else None,
    )
