"""What sources are: requests and responses, definitions, transports and searchable sources.

A `SourceDefinition` is pure: it turns queries into requests and responses into papers. It never sees keys, clocks or
sockets: the transport adds keys by source name, waits for the source's rate limit, retries and caches. A response may
lead to further requests (the next page, or the records behind a list of ids).
"""

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable
from urllib.parse import urlencode

from typing_extensions import TypedDict

from paper_search.domain.query.identifier_queries import Identifier
from paper_search.models import (
    RawPaper,
    SearchConstraints,
    SearchQuery,
    SearchStrategy,
    SourceKind,
    SourceReport,
    StopReason,
)


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request of one source, without secrets."""

    source: str
    url: str
    params: tuple[tuple[str, str], ...] = ()
    headers: tuple[tuple[str, str], ...] = ()
    form: tuple[tuple[str, str], ...] = ()
    """Body fields; a request with a form is a POST."""

    @property
    def method(self) -> str:
        return "POST" if self.form else "GET"

    @property
    def address(self) -> str:
        """The request as a readable address; the fields of a POST are written the same way."""
        return f"{self.url}?{urlencode([*self.params, *self.form], safe=':,/()')}"

    @property
    def fingerprint(self) -> str:
        """The name of this request in caches and recordings, without keys."""
        parts = [self.source, self.method, self.url, self.params, self.headers, self.form]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Response:
    """A response. Header names are lower case."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    seconds: float = 0.0
    """The duration of the fetch in seconds; a replay repeats the recorded figure."""
    calls: int = 1
    """The number of calls, retries and redirects included; 0 for a cached answer."""


@dataclass(frozen=True, slots=True)
class SourcePage:
    """The content of one response."""

    papers: list[RawPaper]
    follow: tuple[Request, ...] = ()
    """The requests of the next page, and of the records behind ids."""
    found: int | None = None
    """The number of all matches, if the source states it."""
    sent: int | None = None
    """The number of records, unreadable ones included; None if it is that of the papers."""
    stopped: StopReason | None = None
    """Why the source sends no more, if it says so."""


class SourceDefinition(Protocol):
    """One source as pure functions."""

    @property
    def name(self) -> str: ...

    @property
    def kind(self) -> SourceKind | None:
        """Whether the source reads queries as conditions or as words; None for a package that does not say so."""
        ...

    @property
    def capabilities(self) -> frozenset[str]:
        """The filters ("year", "language", "not") that the source applies; others are applied afterwards."""
        ...

    def build_requests(self, query: SearchQuery, filters: SearchConstraints, limit: int) -> list[Request]:
        """Return the first requests for up to `limit` papers of one query."""
        ...

    def read_response(self, request: Request, response: Response) -> SourcePage:
        """Return the papers of a 200 response, and the requests of the next page.

        Raise NonRetryableError if the body has an undocumented form, RetryableError if it reports a temporary failure.
        """
        ...

    def read_failure(self, response: Response) -> Exception | None:
        """Return the error that a non-200 response means, or None if its status is enough."""
        ...


@runtime_checkable
class LookupDefinition(Protocol):
    """A source that can fetch works by their identifiers."""

    def build_lookup_requests(self, identifiers: Sequence[Identifier]) -> list[Request]:
        """Return the requests for these works; [] for identifiers of schemes that the source does not support."""
        ...


class Transport(Protocol):
    """Something that sends requests. Raises SearchSourceError if there is no usable response."""

    async def send(self, request: Request) -> Response: ...

    async def aclose(self) -> None: ...


@runtime_checkable
class ForgettingTransport(Protocol):
    """A transport that stores answers and can drop an unusable one."""

    async def forget_answer(self, request: Request) -> None: ...


async def forget_answer(transport: object, request: Request) -> None:
    """Drop the stored answer to the request, if the transport stores answers."""
    if isinstance(transport, ForgettingTransport):
        await transport.forget_answer(request)


class SourceUse(TypedDict):
    """Whether a search uses a source, and why not or its rate."""

    name: str
    used: bool
    remark: str


@dataclass(frozen=True, slots=True)
class SourceResult:
    """The papers of one source for one strategy, and the report on the search."""

    papers: list[RawPaper]
    report: SourceReport


class SearchSource(ABC):
    """A searchable source: an HTTP source, a fake for tests or an installed entry point.

    A subclass with an attribute `kind`, "boolean" or "ranked", gets one query in each call, and its reply may state the
    number of all matches: `{"papers": [...], "total": 4312, "stopped": "source_limit"}`.
    """

    @property
    @abstractmethod
    def source_name(self) -> str: ...

    @abstractmethod
    async def search_advanced(self, strategy: SearchStrategy) -> list[RawPaper]:
        """Return the papers for the strategy. Raise SearchSourceError if the source fails before it returns any."""

    async def search(self, query: str, **filters: Any) -> list[RawPaper]:
        """Return the papers for one plain query; `filters` are the fields of SearchConstraints."""
        strategy = SearchStrategy(
            queries=[SearchQuery(keywords=query.split(), boolean_query=query)],
            sources=[self.source_name],
            filters=SearchConstraints(**filters),
        )
        return await self.search_advanced(strategy)


@runtime_checkable
class ReportingSource(Protocol):
    """A source that also reports on its search. The searcher reports on the other sources.

    A parameter `known` receives the ids of papers that earlier rounds found: they do not count as results.
    """

    async def search_with_report(self, strategy: SearchStrategy) -> SourceResult: ...
