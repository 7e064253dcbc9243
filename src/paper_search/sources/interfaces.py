"""What a source is: pure functions from a strategy to requests and from answers to papers, and the edge between.

A `SourceDefinition` is pure. It never sees keys, clocks or sockets: the transport adds keys by source name, waits its
turn, retries and caches. An answer may ask for further requests (the next page, or the records behind a list of ids).
"""

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable
from urllib.parse import urlencode

from paper_search.lookups import Identifier
from paper_search.models import RawPaper, SearchConstraints, SearchQuery, SearchStrategy, SourceReport


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
        """The request as an address that a person can read; what a POST carries is written the same way."""
        return f"{self.url}?{urlencode([*self.params, *self.form], safe=':,/()')}"

    @property
    def fingerprint(self) -> str:
        """Names this request in caches and recordings; keys are not part of it."""
        parts = [self.source, self.method, self.url, self.params, self.headers, self.form]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Response:
    """What came back. Header names are lower case."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    seconds: float = 0.0
    """How long the answer took when it was fetched; a replay repeats the recorded figure."""
    calls: int = 1
    """How many calls it took, retries and redirects included; none when it was not fetched anew."""


@dataclass(frozen=True, slots=True)
class Page:
    """What one answer held: papers, further requests to make, and how many matches the source says it has."""

    papers: list[RawPaper]
    follow: tuple[Request, ...] = ()
    found: int | None = None


class SourceDefinition(Protocol):
    """One source as pure functions."""

    @property
    def name(self) -> str: ...

    @property
    def capabilities(self) -> frozenset[str]:
        """Which of "year", "language" and "not" the source applies itself; we apply the rest."""
        ...

    def requests(self, query: SearchQuery, filters: SearchConstraints, limit: int) -> list[Request]:
        """The first requests for up to `limit` papers of one query."""
        ...

    def read(self, request: Request, response: Response, limit: int) -> Page:
        """The papers of a 200 answer, at most `limit` further ones wanted.

        Raises NonRetryableError when the body is not what the source documents, RetryableError when it carries a
        passing failure inside a 200.
        """
        ...

    def failure(self, response: Response) -> Exception | None:
        """The error that a non-200 answer stands for, when this source knows better than the transport; else None."""
        ...


@runtime_checkable
class LookupDefinition(Protocol):
    """A source that can fetch works by their identifiers."""

    def lookups(self, identifiers: Sequence[Identifier]) -> list[Request]:
        """Return the requests for these works; none for identifiers of schemes that the source does not know."""
        ...


class Transport(Protocol):
    """The edge: request in, response out. Raises SearchSourceError when no usable answer can be had."""

    async def send(self, request: Request) -> Response: ...

    async def aclose(self) -> None: ...


@runtime_checkable
class Forgetting(Protocol):
    """A transport that keeps answers and can drop one that turned out to be unusable."""

    async def forget(self, request: Request) -> None: ...


async def forget(transport: object, request: Request) -> None:
    """Has the transport drop its answer to the request, if it keeps any."""
    if isinstance(transport, Forgetting):
        await transport.forget(request)


@dataclass(frozen=True, slots=True)
class SourceResult:
    """What one source gave for one strategy."""

    papers: list[RawPaper]
    report: SourceReport


class SearchSource(ABC):
    """Anything that can be searched. Our HTTP sources, the fakes for tests and installed entry points are all one."""

    @property
    @abstractmethod
    def source_name(self) -> str: ...

    @abstractmethod
    async def search_advanced(self, strategy: SearchStrategy) -> list[RawPaper]:
        """Papers for the strategy. Raises SearchSourceError when the source fails before it has given any."""

    async def search(self, query: str, **filters: Any) -> list[RawPaper]:
        """Papers for one plain query; `filters` are the fields of SearchConstraints."""
        strategy = SearchStrategy(
            queries=[SearchQuery(keywords=query.split(), boolean_query=query)],
            sources=[self.source_name],
            filters=SearchConstraints(**filters),
        )
        return await self.search_advanced(strategy)


@runtime_checkable
class ReportingSource(Protocol):
    """A source that can also say how its search went. Sources that cannot are reported on by the searcher."""

    async def search_reported(self, strategy: SearchStrategy) -> SourceResult: ...
