"""Sources that other packages offer under the entry point `paper_search.sources`.

Each loads to a callable without arguments that returns an object with a `source_name` and a coroutine method
`search_advanced(strategy)`. It is given the strategy as a plain dictionary and returns a list of plain dictionaries
with the fields of a RawPaper. It need know none of our classes, and nothing it does wrong leaves the search. It may
have a method `is_ready()`: while that says False, only searches that name the source use it.

Here such a source is a definition and a transport like any other, so that its answers are recorded and replayed too.
"""

import asyncio
import inspect
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final, cast

from pydantic import ValidationError

from paper_search.errors import NonRetryableError
from paper_search.lookups import Identifier, lookup_query
from paper_search.models import RawPaper, SearchConstraints, SearchQuery, SearchStrategy
from paper_search.sources.interfaces import Page, Request, Response
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.logging import get_logger

GROUP: Final = "paper_search.sources"
SCHEME: Final = "entry-point:"
_log = get_logger(__name__)
_Search = Callable[[dict[str, Any]], Awaitable[Any]]


def installed_sources() -> dict[str, EntryPoint]:
    """The entry points by name. Imports none of them."""
    return {entry.name: entry for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name)}


def ready_sources() -> list[str]:
    """The names of the entry points that have something to search, and of those that fail to say so."""
    return [name for name, entry in installed_sources().items() if _is_ready(entry)]


def _is_ready(entry: EntryPoint) -> bool:
    try:
        ready = getattr(entry.load()(), "is_ready", None)
        return ready is None or bool(ready())
    except Exception as error:
        _log.warning("an installed source cannot say whether it is ready", source=entry.name, problem=str(type(error)))
        return True


class InstalledDefinition:
    """How to ask an installed source, and how to read what it says. What it leaves undone is applied afterwards."""

    capabilities = frozenset[str]()

    def __init__(self, name: str) -> None:
        self.name = name

    def requests(self, query: SearchQuery, filters: SearchConstraints, limit: int) -> list[Request]:
        wanted = filters.model_copy(update={"max_results": limit})
        strategy = SearchStrategy(queries=[query], sources=[self.name], filters=wanted)
        return [Request(self.name, f"{SCHEME}{self.name}", (("strategy", strategy.model_dump_json()),))]

    def lookups(self, identifiers: Sequence[Identifier]) -> list[Request]:
        """Return a search for the identifiers as words; what comes beside these works is dropped afterwards."""
        return self.requests(lookup_query(identifiers), SearchConstraints(), SearchConstraints().max_results)

    def read(self, request: Request, response: Response, limit: int) -> Page:
        said: object = json.loads(response.body)
        if not isinstance(said, list):
            raise NonRetryableError(f"{self.name} returned {type(said).__name__} where a list was expected.")
        records = cast(list[Any], said)
        read = [self._paper(record) for record in records]
        papers = [paper for paper in read if paper is not None]
        if records and not papers:
            raise NonRetryableError(f"None of the {len(records)} records of {self.name} is a paper.")
        return Page(papers, found=len(records))

    def failure(self, response: Response) -> Exception | None:
        return None

    def _paper(self, record: Any) -> RawPaper | None:
        try:
            return RawPaper.model_validate({**record, "source": self.name})
        except (TypeError, ValidationError) as error:
            _log.warning("a record is not a paper and is left out", source=self.name, problem=type(error).__name__)
            return None


class InstalledTransport:
    """Reaches installed sources, loading each when it is first asked. Any failure is raised as NonRetryableError."""

    def __init__(self, entries: Mapping[str, EntryPoint]) -> None:
        self._entries = entries
        self._loaded: dict[str, _Search] = {}

    async def send(self, request: Request) -> Response:
        name = request.source
        started = asyncio.get_running_loop().time()
        try:
            if name not in self._loaded:
                self._loaded[name] = await asyncio.to_thread(_load, self._entries[name])
            records = await self._loaded[name](json.loads(dict(request.params)["strategy"]))
            body = json.dumps(records, ensure_ascii=False, separators=(",", ":")).encode()
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


def _load(entry: EntryPoint) -> _Search:
    made = entry.load()()
    search = getattr(made, "search_advanced", None)
    if not isinstance(getattr(made, "source_name", None), str) or not inspect.iscoroutinefunction(search):
        raise NonRetryableError(
            f"The entry point '{entry.name}' gives no source.",
            hint="It must return an object with a source_name and a coroutine method search_advanced(strategy).",
        )
    return search
