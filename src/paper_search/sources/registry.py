"""Know all sources by name, with policies and definitions, and choose those that a search uses."""

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Final, Literal

from pydantic import SecretStr

from paper_search.errors import UnknownSource
from paper_search.sources.http_source import HttpSource
from paper_search.sources.in_process_sources import (
    SCHEME,
    InstalledTransport,
    list_installed_entry_points,
    list_ready_source_names,
    load_installed_definition,
)
from paper_search.sources.interfaces import (
    Request,
    Response,
    SearchSource,
    SourceDefinition,
    SourceUse,
    Transport,
    forget_answer,
)
from paper_search.sources.transport.answer_cache import CachingTransport
from paper_search.sources.transport.recording import ReplayTransport
from paper_search.sources.transport.request_policies import Auth, SourcePolicy
from uraniborg.kernel.language.messages import plural
from uraniborg.kernel.settings import secure_own_folder

if TYPE_CHECKING:
    from paper_search.config import AppConfig
    from paper_search.sources.transport.http_transport import Network
    from uraniborg.kernel.clock import Clock


@dataclass(frozen=True, slots=True)
class KnownSource:
    """A source that ships with the package. Rates are requests per second."""

    name: str
    rate_per_s: float
    key: tuple[Literal["header", "param"], str] | None = None
    """Where the source expects a key, if it accepts one."""
    key_variable: str = ""
    needs_key: bool = False
    rate_with_key: float | None = None
    rate_with_contact: float | None = None
    contact: str | None = None
    """The parameter for the contact address."""


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


def list_source_names() -> list[str]:
    """Return the names of all sources: first those of this package, then those installed by other packages."""
    return [*KNOWN, *(name for name in list_installed_entry_points() if name not in KNOWN)]


def list_default_source_names(config: "AppConfig") -> list[str]:
    """Return the sources that a search uses by default: all that are enabled, ready and have the key they need.

    Raise UnknownSource if the config names an unknown source.
    """
    check_source_names(config.sources, list_source_names())
    names = [*KNOWN, *(name for name in list_ready_source_names() if name not in KNOWN)]
    return [name for name in names if is_enabled(name, config) and not _is_key_missing(name, config)]


def build_sources(
    config: "AppConfig",
    *,
    transport: Transport | None = None,
    only: Sequence[str] | None = None,
    clock: "Clock | None" = None,
) -> list[SearchSource]:
    """Return the sources named by `only`, or the default sources, over one transport.

    A named source without its key is reported as skipped. The caller closes a `transport` that it passes in; otherwise
    closing any of the sources closes their transport. Raise UnknownSource for an unknown name.
    """
    # A recording may hold sources that are not installed here.
    recorded = transport.sources if isinstance(transport, ReplayTransport) else ()
    check_source_names({*config.sources, *(only or ())}, list(dict.fromkeys([*list_source_names(), *recorded])))
    names = list_default_source_names(config) if only is None else list(dict.fromkeys(only))
    transport = transport or build_transport(config, clock=clock)
    reader = ThreadPoolExecutor(1, thread_name_prefix="paper-reader")
    deadline_s = config.source_deadline_s
    return [
        HttpSource(load_known_or_installed_definition(name), transport, deadline_s=deadline_s, reader=reader)
        for name in names
    ]


def build_transport(
    config: "AppConfig", *, clock: "Clock | None" = None, network: "Network | None" = None
) -> Transport:
    """Return the transport to all sources: the network with rate limits, keys and cache, and the installed sources.

    `clock` must give the real time, even if the search runs on a frozen clock. Concurrent searches share a `network`.
    """
    from paper_search.sources.transport.http_transport import HttpTransport  # httpx is slow to import

    policies = {name: build_policy(source, config) for name, source in KNOWN.items()}
    transport: Transport = HttpTransport(policies, clock=clock, network=network, contact_email=config.contact_email)
    if config.cache_ttl_s > 0:
        folder = config.cache_dir or secure_own_folder("cache", "paper_search")
        transport = CachingTransport(transport, folder, ttl_s=config.cache_ttl_s, clock=clock)
    return _RoutingTransport(transport, InstalledTransport(list_installed_entry_points()))


def load_known_or_installed_definition(name: str) -> SourceDefinition:
    """Return the definition of a known or installed source, imported when first needed."""
    if name in KNOWN:
        return import_module(f"paper_search.sources.{name}").definition
    return load_installed_definition(name)


def build_policy(source: KnownSource, config: "AppConfig") -> SourcePolicy:
    """Return the policy of a source, from its own rules and from the settings."""
    set_up = config.sources.get(source.name)
    key = set_up.api_key if set_up else SecretStr("")
    email = config.contact_email
    better = (source.rate_with_key if key else None) or (source.rate_with_contact if email else None)
    return SourcePolicy(
        rate_per_s=(set_up.rate_limit if set_up else None) or better or source.rate_per_s,
        timeout_s=config.timeout_s,
        max_calls=set_up.max_calls if set_up else None,
        auth=Auth(*source.key, key) if source.key and key else None,
        missing_key=_explain_missing_key(source) if _is_key_missing(source.name, config) else None,
        params=((source.contact, email),) if source.contact and email else (),
        read_failure=lambda response: load_known_or_installed_definition(source.name).read_failure(response),
    )


class _RoutingTransport:
    """A transport that routes each request to the network or to an installed source."""

    def __init__(self, network: Transport, installed: Transport) -> None:
        self._network = network
        self._installed = installed

    async def send(self, request: Request) -> Response:
        return await (self._installed if request.url.startswith(SCHEME) else self._network).send(request)

    async def forget_answer(self, request: Request) -> None:
        await forget_answer(self._network, request)

    async def aclose(self) -> None:
        await self._network.aclose()
        await self._installed.aclose()


def _explain_missing_key(source: KnownSource) -> str:
    return f"{source.name} needs a key: set {source.key_variable}, or sources.{source.name}.api_key in the settings."


def _is_key_missing(name: str, config: "AppConfig") -> bool:
    set_up = config.sources.get(name)
    return name in KNOWN and KNOWN[name].needs_key and not (set_up and set_up.api_key)


def is_enabled(name: str, config: "AppConfig") -> bool:
    """Return True unless the settings switch the source off."""
    return name not in config.sources or config.sources[name].enabled


def describe_sources(config: "AppConfig") -> list[SourceUse]:
    """Return one entry per source: its name, whether a search uses it by default, and why not or its rate."""
    used = set(list_default_source_names(config))
    return [{"name": name, "used": name in used, "remark": _describe_use(name, config)} for name in list_source_names()]


def _describe_use(name: str, config: "AppConfig") -> str:
    if not is_enabled(name, config):
        return "switched off in the settings"
    if _is_key_missing(name, config):
        return f"needs a key: set {KNOWN[name].key_variable}"
    if name not in KNOWN:
        return "installed" if name in list_ready_source_names() else "installed, but has nothing to search"
    policy = build_policy(KNOWN[name], config)
    rate = f"{plural(round(policy.rate_per_s, 2), 'request')} a second"
    return f"{rate}, with your key" if policy.auth else rate


def check_source_names(named: Iterable[str], known: Sequence[str]) -> None:
    """Raise UnknownSource, with a hint that lists the known sources, for an unknown name."""
    if unknown := sorted(set(named) - set(known)):
        raise UnknownSource(
            f"Unknown source{'s' if len(unknown) > 1 else ''}: {', '.join(unknown)}.",
            hint=f"Use one of: {', '.join(known)}.",
            unknown=unknown,
            allowed=list(known),
        )
