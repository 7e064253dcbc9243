"""A minimal source with pages of JSON, for tests of the code around sources."""

import json
from typing import Any

from paper_search.errors import RetryableError
from paper_search.models import RawPaper, SearchConstraints, SearchQuery, SearchStrategy, SourceKind
from paper_search.sources.interfaces import Request, Response, SourcePage

URL = "https://tiny.example/works"


class TinyDefinition:
    def __init__(
        self, name: str = "tiny", capabilities: frozenset[str] = frozenset(), kind: SourceKind | None = "boolean"
    ) -> None:
        self.name = name
        self.kind: SourceKind | None = kind
        self.capabilities = capabilities

    def build_requests(self, query: SearchQuery, filters: SearchConstraints, limit: int) -> list[Request]:
        if not query.boolean_query:
            return []
        return [Request(self.name, f"{URL}/{query.boolean_query.split()[0]}", (("rows", str(limit)),))]

    def read_response(self, request: Request, response: Response) -> SourcePage:
        body = json.loads(response.body)
        if "busy" in body:
            raise RetryableError("tiny is busy", rate_limited=body["busy"] == "limit")
        papers = [RawPaper(source=self.name, **item) for item in body["items"]]
        follow = tuple(Request(self.name, url) for url in body.get("follow", ()))
        return SourcePage(papers, follow, body.get("total"))

    def read_failure(self, response: Response) -> Exception | None:
        return None


def make_page(*items: dict[str, Any] | str, seconds: float = 0.0, **rest: Any) -> Response:
    """Return an answer of the tiny source; a string is a title."""
    listed = [{"title": item, "doi": f"10.1/{item}"} if isinstance(item, str) else item for item in items]
    return Response(200, json.dumps({"items": listed, **rest}).encode(), seconds=seconds)


def make_strategy(*queries: str, sources: tuple[str, ...] = (), **filters: Any) -> SearchStrategy:
    return SearchStrategy(
        queries=[SearchQuery(keywords=query.split(), boolean_query=query) for query in queries],
        sources=list(sources),
        filters=SearchConstraints(**filters),
    )
