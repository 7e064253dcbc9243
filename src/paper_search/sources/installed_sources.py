"""Installed sources, which other packages provide under the entry point `paper_search.sources`.

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
from collections.abc import Awaitable, Callable, Mapping, Sequence
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final

from pydantic import ValidationError

from paper_search.errors import NonRetryableError
from paper_search.identifier_queries import Identifier, make_lookup_query
from paper_search.models import RawPaper, SearchConstraints, SearchQuery, SearchStrategy, SourceKind
from paper_search.sources.interfaces import Page, Request, Response
from paper_search.sources.response_bodies import replace_params
from paper_search.sources.source_replies import read_source_reply
from paper_search.strategies.source_queries import render_plain_words, simplify_query
from uraniborg.kernel.boundary import make_encodable, parse_lenient_json
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.json_values import JsonObject
from uraniborg.kernel.logging import get_logger

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

    def read_response(self, request: Request, response: Response) -> Page:
        reply = read_source_reply(self.name, parse_lenient_json(response.body))
        params = dict(request.params)
        records = reply.papers[int(params.get("skip", 0)) :]
        papers = [paper for record in records if (paper := self._read_paper(record)) is not None]
        if records and not papers:
            raise NonRetryableError(f"None of the {len(records)} records of {self.name} is a paper.")
        strategy = SearchStrategy.model_validate_json(params["strategy"])
        wanted = strategy.filters.max_results
        if self.kind is None or not reply.has_more(wanted):
            return Page(papers, (), reply.total, len(records), reply.stopped)
        # The next page is the rest of the reply to a call for twice as many papers.
        strategy.filters.max_results = 2 * wanted
        follow = replace_params(request, strategy=strategy.model_dump_json(), skip=len(reply.papers))
        return Page(papers, (follow,), reply.total, len(records))

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
