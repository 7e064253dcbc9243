"""Which sources there are, how each wants to be treated, and which of them a search uses."""

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Literal

from pydantic import SecretStr

from paper_search.errors import UnknownSource
from paper_search.sources.answer_cache import CachingTransport
from paper_search.sources.http_source import HttpSource
from paper_search.sources.installed_sources import (
    SCHEME,
    InstalledDefinition,
    InstalledTransport,
    installed_sources,
    ready_sources,
)
from paper_search.sources.interfaces import Request, Response, SearchSource, SourceDefinition, Transport, forget
from paper_search.sources.policies import Auth, SourcePolicy
from paper_search.sources.recording import ReplayTransport
from uraniborg.kernel.settings import own_folder
from uraniborg.kernel.text import plural

if TYPE_CHECKING:
    from paper_search.config import AppConfig
    from paper_search.sources.transport import Network
    from uraniborg.kernel.clock import Clock


@dataclass(frozen=True, slots=True)
class KnownSource:
    """A source that ships with the package. Rates are requests per second."""

    name: str
    rate_per_s: float
    key: tuple[Literal["header", "param"], str] | None = None
    """Where a key goes, for the sources that take one."""
    key_variable: str = ""
    needs_key: bool = False
    rate_with_key: float | None = None
    rate_with_contact: float | None = None
    contact: str | None = None
    """The parameter that tells the source whom to write to."""


KNOWN: Final[Mapping[str, KnownSource]] = {
    source.name: source
    for source in (
        KnownSource("openalex", 5.0, ("param", "api_key"), "OPENALEX_API_KEY", needs_key=True, contact="mailto"),
        KnownSource("crossref", 1.0, rate_with_contact=3.0, contact="mailto"),
        KnownSource("arxiv", 1 / 3),
        KnownSource("semantic_scholar", 1.0, ("header", "x-api-key"), "SEMANTIC_SCHOLAR_API_KEY"),
        KnownSource("europepmc", 5.0),
        KnownSource("pubmed", 3.0, ("param", "api_key"), "NCBI_API_KEY", rate_with_key=10.0, contact="email"),
        KnownSource("dblp", 1.0),
        KnownSource("serpapi_scholar", 1.0, ("param", "api_key"), "SERPAPI_API_KEY", needs_key=True),
    )
}


def known_names() -> list[str]:
    """The names of all sources: those that ship, then those installed by other packages."""
    return [*KNOWN, *(name for name in installed_sources() if name not in KNOWN)]


def default_names(config: "AppConfig") -> list[str]:
    """The sources a search uses unless told otherwise: all that are enabled, and lack neither a key nor contents.

    Raises UnknownSource when the config names one that does not exist.
    """
    refuse_unknown(config.sources, known_names())
    names = [*KNOWN, *(name for name in ready_sources() if name not in KNOWN)]
    return [name for name in names if _is_enabled(name, config) and not _lacks_key(name, config)]


def build_sources(
    config: "AppConfig",
    *,
    transport: Transport | None = None,
    only: Sequence[str] | None = None,
    clock: "Clock | None" = None,
) -> list[SearchSource]:
    """The sources named by `only`, or the default ones, over one transport.

    A source that is named but lacks its key reports itself as skipped. Who hands in a transport closes it; otherwise
    closing any of the sources closes theirs. Raises UnknownSource, which names all there are.
    """
    # A recording may hold sources that are not installed here.
    recorded = transport.sources if isinstance(transport, ReplayTransport) else ()
    refuse_unknown({*config.sources, *(only or ())}, list(dict.fromkeys([*known_names(), *recorded])))
    names = default_names(config) if only is None else list(dict.fromkeys(only))
    transport = transport or build_transport(config, clock=clock)
    reader = ThreadPoolExecutor(1, thread_name_prefix="paper-reader")
    deadline_s = config.source_deadline_s
    return [HttpSource(definition(name), transport, deadline_s=deadline_s, reader=reader) for name in names]


def build_transport(
    config: "AppConfig", *, clock: "Clock | None" = None, network: "Network | None" = None
) -> Transport:
    """The way to every source: the network with its rate limits, keys and cache, and the installed sources.

    Give it the true time as `clock`, also when the search itself runs on a frozen one. Searches side by side share a
    `network`.
    """
    from paper_search.sources.transport import HttpTransport  # httpx is slow to import

    policies = {name: policy_of(source, config) for name, source in KNOWN.items()}
    way: Transport = HttpTransport(policies, clock=clock, network=network, contact_email=config.contact_email)
    if config.cache_ttl_s > 0:
        folder = config.cache_dir or own_folder("cache", "paper_search")
        way = CachingTransport(way, folder, ttl_s=config.cache_ttl_s, clock=clock)
    return _Routing(way, InstalledTransport(installed_sources()))


def definition(name: str) -> SourceDefinition:
    """The definition of a known or installed source, imported when it is first needed."""
    if name in KNOWN:
        return import_module(f"paper_search.sources.{name}").definition
    return InstalledDefinition(name)


def policy_of(source: KnownSource, config: "AppConfig") -> SourcePolicy:
    """How the transport is to treat a source, by its own rules and by the settings."""
    set_up = config.sources.get(source.name)
    key = set_up.api_key if set_up else SecretStr("")
    email = config.contact_email
    better = (source.rate_with_key if key else None) or (source.rate_with_contact if email else None)
    return SourcePolicy(
        rate_per_s=(set_up.rate_limit if set_up else None) or better or source.rate_per_s,
        timeout_s=config.timeout_s,
        max_calls=set_up.max_calls if set_up else None,
        auth=Auth(*source.key, key) if source.key and key else None,
        missing_key=_how_to_set_key(source) if _lacks_key(source.name, config) else None,
        params=((source.contact, email),) if source.contact and email else (),
        failure=lambda response: definition(source.name).failure(response),
    )


class _Routing:
    """Sends each request to the network or to an installed source."""

    def __init__(self, network: Transport, installed: Transport) -> None:
        self._network = network
        self._installed = installed

    async def send(self, request: Request) -> Response:
        return await (self._installed if request.url.startswith(SCHEME) else self._network).send(request)

    async def forget(self, request: Request) -> None:
        await forget(self._network, request)

    async def aclose(self) -> None:
        await self._network.aclose()
        await self._installed.aclose()


def _how_to_set_key(source: KnownSource) -> str:
    return f"{source.name} needs a key: set {source.key_variable}, or sources.{source.name}.api_key in the settings."


def _lacks_key(name: str, config: "AppConfig") -> bool:
    set_up = config.sources.get(name)
    return name in KNOWN and KNOWN[name].needs_key and not (set_up and set_up.api_key)


def _is_enabled(name: str, config: "AppConfig") -> bool:
    return name not in config.sources or config.sources[name].enabled


def describe_sources(config: "AppConfig") -> list[dict[str, Any]]:
    """Return one entry for each source: its name, whether a search uses it, and why not or how fast."""
    used = set(default_names(config))
    return [{"name": name, "used": name in used, "remark": _remark(name, config)} for name in known_names()]


def _remark(name: str, config: "AppConfig") -> str:
    if not _is_enabled(name, config):
        return "switched off in the settings"
    if _lacks_key(name, config):
        return f"needs a key: set {KNOWN[name].key_variable}"
    if name not in KNOWN:
        return "installed" if name in ready_sources() else "installed, but has nothing to search"
    policy = policy_of(KNOWN[name], config)
    rate = f"{plural(round(policy.rate_per_s, 2), 'request')} a second"
    return f"{rate}, with your key" if policy.auth else rate


def refuse_unknown(named: Iterable[str], known: Sequence[str]) -> None:
    """Raise UnknownSource, which names the known sources, for a name that is not known."""
    if unknown := sorted(set(named) - set(known)):
        raise UnknownSource(
            f"Unknown source{'s' if len(unknown) > 1 else ''}: {', '.join(unknown)}.",
            hint=f"There are: {', '.join(known)}.",
            unknown=unknown,
            allowed=list(known),
        )
