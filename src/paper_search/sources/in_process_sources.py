"""Search objects of this process, also those that packages provide as entry points `paper_search.sources`.

Each entry point loads to a callable without arguments that returns an object with a `source_name` and a coroutine
method `search_advanced(strategy)`. The method gets a strategy with one query as a plain dictionary, and returns a list
of plain dictionaries with the fields of a RawPaper, or `{"papers": [...], "total": 4312, "stopped": "source_limit"}`.
It needs none of the classes of this package, and its errors do not end the search.

The object may have an attribute `kind`: "boolean" sources receive Boolean queries, "ranked" ones plain words without
exclusions, each in the field `boolean_query`. It may have a method `is_ready()`: while that returns False, only
searches that name the source use it. It may have `capabilities`, a set of the filters ("year", "language", "not") that
it applies, which are then not checked afterwards, and a `remark`, a sentence for the plan.

An installed source has a definition and a transport like other sources, so its answers are recorded and replayed too.
"""

import asyncio
import inspect
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from importlib.metadata import EntryPoint, entry_points
from typing import Annotated, Any, Final, Protocol, cast, runtime_checkable

from pydantic import BaseModel, Field, ValidationError, model_validator

from paper_search.domain.large_work import call_in_thread_if_large
from paper_search.domain.query.identifier_queries import Identifier, make_lookup_query
from paper_search.domain.query.query_texts import render_plain_words, select_queries, simplify_query
from paper_search.errors import NonRetryableError, SearchSourceError
from paper_search.models import (
    QueryReport,
    RawPaper,
    SearchConstraints,
    SearchQuery,
    SearchStrategy,
    SourceKind,
    StopReason,
)
from paper_search.sources.interfaces import Request, Response, SearchSource, SourcePage, SourceResult
from paper_search.sources.ladder_run import FetchedPage, LadderRun, PreparedQuery, RunCost, build_run_report
from paper_search.sources.response_bodies import replace_params
from uraniborg.kernel.boundary import make_encodable, parse_lenient_json
from uraniborg.kernel.errors import UraniborgError, make_invalid_input
from uraniborg.kernel.json_values import JsonObject
from uraniborg.kernel.logging import get_logger


class CalledSourceReply(BaseModel):
    """A reply to one query. A bare list of papers is a reply without a total."""

    papers: list[Any]
    total: Annotated[int, Field(ge=0, strict=True)] | None = None
    """The number of all matches."""
    stopped: StopReason | None = None
    """Why the source sends no more, such as "source_limit" or "too_broad"."""

    @model_validator(mode="after")
    def _check_total(self) -> "CalledSourceReply":
        if self.total is not None and self.total < len(self.papers):
            raise ValueError(f"total is {self.total}, but there are {len(self.papers)} papers.")
        return self

    def has_more(self, wanted: int) -> bool:
        """Return True if a request for more than the `wanted` papers may return more."""
        cut = len(self.papers) >= wanted and (self.total is None or self.total > len(self.papers))
        return cut and self.stopped is None


def read_source_reply(name: str, answer: object) -> CalledSourceReply:
    """Return the reply of a source. Raise NonRetryableError, with the invalid fields, for any other answer."""
    if not isinstance(answer, list | dict):
        raise NonRetryableError(
            f"{name} must return a list of papers or an object with papers, got {type(answer).__name__}.", source=name
        )
    try:
        return CalledSourceReply.model_validate(
            {"papers": answer} if isinstance(answer, list) else cast("object", answer)
        )
    except ValidationError as error:
        invalid = make_invalid_input(error, label=f"reply of {name}")
        hint = "A reply has papers (a list), and may have total (0 or more, or None) and stopped (or None)."
        raise NonRetryableError(f"{invalid.message.rstrip('.')}.", hint=hint, source=name) from error


_MOST_CALLS_PER_QUERY: Final = 8


@runtime_checkable
class KindSource(Protocol):
    """A source that declares its kind, and therefore gets one query in each call."""

    kind: SourceKind


async def search_called_source(source: SearchSource, strategy: SearchStrategy, known: frozenset[str]) -> SourceResult:
    """Return the papers of a source, and a report that contains every failure of a query.

    A source without a kind gets all Boolean queries in one call; a failure of this call is raised.
    """
    called, limit = _CalledSource(source, strategy), max(0, strategy.filters.max_results)
    run = LadderRun(called, strategy, limit, known)
    if called.kind is not None:
        await run.climb()
    else:
        run.keeps_repetitions = True
        queries = select_queries(None, strategy.queries)
        texts, report = [query.boolean_query for query in queries], QueryReport(text="", stopped=StopReason.UNKNOWN)
        received = await source.search_advanced(strategy.model_copy(update={"queries": queries}))
        called.cost.add_request()
        await call_in_thread_if_large(len(received), run.add_received, received, texts, report, limit)
    return SourceResult(run.papers, build_run_report(source.source_name, run, called.cost))


class _CalledSource:
    """A source as the ladder sees it. The next page is the rest of a reply to a call for twice as many papers."""

    capabilities = frozenset[str]()

    def __init__(self, source: SearchSource, strategy: SearchStrategy) -> None:
        self._source = source
        self._filters = strategy.filters
        self.name = source.source_name
        self.kind: SourceKind | None = source.kind if isinstance(source, KindSource) else None
        self.cost = RunCost()

    def prepare_query(self, query: SearchQuery) -> PreparedQuery:
        """Return the query with its text: words for a ranking source, Boolean text in plain terms for others."""
        query = simplify_query(query)
        text = render_plain_words(query) if self.kind == "ranked" else query.boolean_query
        return PreparedQuery(query, text, text or tuple(query.keywords))

    async def fetch_pages(self, prepared: PreparedQuery) -> AsyncGenerator[FetchedPage, None]:
        """Yield the replies of the source. Raise SearchSourceError if the source fails or its reply is invalid."""
        wanted, received = max(1, self._filters.max_results), 0
        for call in range(1, _MOST_CALLS_PER_QUERY + 1):
            reply = await self._call_source(prepared, wanted)
            has_next = reply.has_more(wanted) and call < _MOST_CALLS_PER_QUERY
            papers = _read_papers(self.name, reply.papers[received:])
            yield FetchedPage(SourcePage(papers, found=reply.total, stopped=reply.stopped), has_next)
            if not has_next:
                return
            received, wanted = len(reply.papers), 2 * wanted

    async def _call_source(self, prepared: PreparedQuery, wanted: int) -> CalledSourceReply:
        self.cost.add_request()
        filters = self._filters.model_copy(update={"max_results": wanted})
        query = prepared.query.model_copy(update={"boolean_query": prepared.text}, deep=True)
        strategy = SearchStrategy(queries=[query], sources=[self.name], filters=filters)
        try:
            return read_source_reply(self.name, await self._source.search_advanced(strategy))
        except SearchSourceError:
            raise
        except UraniborgError as error:
            raise NonRetryableError(error.message, hint=error.hint, source=self.name) from error


def _read_papers(name: str, papers: list[object]) -> list[RawPaper]:
    try:
        return [RawPaper.model_validate(paper) for paper in papers]
    except ValidationError as error:
        raise NonRetryableError(f"{name} returned something that is not a RawPaper.", source=name) from error


GROUP: Final = "paper_search.sources"
SCHEME: Final = "entry-point:"
_FILTERS: Final = frozenset({"year", "language", "not"})
_log = get_logger(__name__)
_Search = Callable[[JsonObject], Awaitable[object]]


def list_installed_entry_points() -> dict[str, EntryPoint]:
    """Return the entry points by name, without importing them."""
    return {entry.name: entry for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name)}


def list_ready_source_names() -> list[str]:
    """Return the names of the entry points that are ready, and of those that fail to answer."""
    return [name for name, entry in list_installed_entry_points().items() if _is_ready(entry)]


def load_installed_definition(name: str) -> "InstalledDefinition":
    """Return the definition with the kind, the capabilities and the remark that the object declares."""
    source = _load_object_or_none(name)
    return InstalledDefinition(
        name,
        load_source_kind(name),
        capabilities=_FILTERS.intersection(getattr(source, "capabilities", ())),
        remark=str(getattr(source, "remark", "")),
    )


def _load_object_or_none(name: str) -> object:
    try:
        return list_installed_entry_points()[name].load()()
    except Exception:  # the failure is reported when the source is searched
        return None


def load_source_kind(name: str) -> SourceKind | None:
    """Return the kind that the object of an entry point declares, or None."""
    kind = getattr(_load_object_or_none(name), "kind", None)
    if kind not in (None, "boolean", "ranked"):
        _log.warning("the kind of an installed source must be boolean or ranked", source=name, kind=str(kind)[:80])
    return kind if kind in ("boolean", "ranked") else None


def _is_ready(entry: EntryPoint) -> bool:
    try:
        ready = getattr(entry.load()(), "is_ready", None)
        return ready is None or bool(ready())
    except Exception as error:
        _log.warning("is_ready of an installed source failed", source=entry.name, problem=str(type(error)))
        return True


class InstalledDefinition:
    """The definition of an installed source. Filters that it does not have as capabilities are applied to its answers.

    A source without a kind receives the Boolean queries, and gets no call for a further page.
    """

    def __init__(
        self,
        name: str,
        kind: SourceKind | None = None,
        *,
        capabilities: frozenset[str] = frozenset(),
        remark: str = "",
    ) -> None:
        self.name = name
        self.kind: SourceKind | None = kind
        # The words that a ranking source receives have no exclusions that it could apply.
        self.capabilities = capabilities - {"not"} if kind == "ranked" else capabilities
        self.remark = remark
        """What readers of a plan should know about the source, such as the fields that it compares."""

    def build_requests(self, query: SearchQuery, filters: SearchConstraints, limit: int) -> list[Request]:
        if self.kind == "ranked":
            query = query.model_copy(update={"boolean_query": render_plain_words(query)})
        return self._build_call(query, filters, limit)

    def _build_call(self, query: SearchQuery, filters: SearchConstraints, limit: int) -> list[Request]:
        wanted = filters.model_copy(update={"max_results": limit})
        strategy = SearchStrategy(queries=[simplify_query(query)], sources=[self.name], filters=wanted)
        return [Request(self.name, f"{SCHEME}{self.name}", (("strategy", strategy.model_dump_json()),))]

    def build_lookup_requests(self, identifiers: Sequence[Identifier]) -> list[Request]:
        """Return a search for the identifiers as words; other works in the answer are dropped afterwards."""
        return self._build_call(make_lookup_query(identifiers), SearchConstraints(), SearchConstraints().max_results)

    def read_response(self, request: Request, response: Response) -> SourcePage:
        reply = read_source_reply(self.name, parse_lenient_json(response.body))
        params = dict(request.params)
        records = reply.papers[int(params.get("skip", 0)) :]
        papers = [paper for record in records if (paper := self._read_paper(record)) is not None]
        if records and not papers:
            raise NonRetryableError(f"None of the {len(records)} records of {self.name} is a paper.")
        strategy = SearchStrategy.model_validate_json(params["strategy"])
        wanted = strategy.filters.max_results
        if self.kind is None or not reply.has_more(wanted):
            return SourcePage(papers, (), reply.total, len(records), reply.stopped)
        # The next page is the rest of the reply to a call for twice as many papers.
        strategy.filters.max_results = 2 * wanted
        follow = replace_params(request, strategy=strategy.model_dump_json(), skip=len(reply.papers))
        return SourcePage(papers, (follow,), reply.total, len(records))

    def read_failure(self, response: Response) -> Exception | None:
        return None

    def _read_paper(self, record: Any) -> RawPaper | None:
        try:
            return RawPaper.model_validate({**record, "source": self.name})
        except (TypeError, ValidationError) as error:
            _log.warning("a record is not a paper and is skipped", source=self.name, problem=type(error).__name__)
            return None


class InstalledTransport:
    """A transport to installed sources, each loaded at its first request. Every failure is a NonRetryableError."""

    def __init__(self, entries: Mapping[str, EntryPoint]) -> None:
        self._entries = entries
        self._loaded: dict[str, _Search] = {}

    async def send(self, request: Request) -> Response:
        name = request.source
        started = asyncio.get_running_loop().time()
        try:
            if name not in self._loaded:
                self._loaded[name] = await asyncio.to_thread(_load_search_method, self._entries[name])
            records = await self._loaded[name](json.loads(dict(request.params)["strategy"]))
            body = make_encodable(json.dumps(records, ensure_ascii=False, separators=(",", ":"))).encode()
        except UraniborgError as error:
            raise NonRetryableError(error.message, hint=error.hint, source=name) from error
        except Exception as error:
            _log.exception("an installed source failed", source=name)
            raise NonRetryableError(
                f"The installed source {name} raised {type(error).__name__}; the log has the details.", source=name
            ) from error
        return Response(200, body, seconds=round(asyncio.get_running_loop().time() - started, 3))

    async def aclose(self) -> None:
        self._loaded.clear()


def _load_search_method(entry: EntryPoint) -> _Search:
    source = entry.load()()
    search = getattr(source, "search_advanced", None)
    if not isinstance(getattr(source, "source_name", None), str) or not inspect.iscoroutinefunction(search):
        raise NonRetryableError(
            f"The entry point '{entry.name}' does not return a source.",
            hint="It must return an object with a source_name and a coroutine method search_advanced(strategy).",
        )
    return search
