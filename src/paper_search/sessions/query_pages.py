"""Page through the complete queries of a strategy, of which replies show only the beginnings."""

from typing import Final

from paper_search.models import SearchStrategy
from paper_search.page_replies import ListedQuery, QueryPage
from paper_search.sessions.addresses import build_queries_uri
from paper_search.sessions.reply_sizes import clip_text, count_json_bytes

_PAGE_BYTES: Final = 24_000
_MAX_CHARS: Final = 20_000


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
