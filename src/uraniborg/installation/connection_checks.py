"""Check what this installation is connected to: ports, sockets, clients, keys and sources."""

import asyncio
import socket
from collections.abc import Mapping
from contextlib import closing
from typing import Any, Final, cast

from uraniborg.connect.client_file import read_address_and_token
from uraniborg.connect.clients import KnownClient
from uraniborg.connect.server_entries import list_http_servers
from uraniborg.installation.replies import Checks, InstallationCheck, Status
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.json_values import JsonObject
from uraniborg.kernel.language.messages import plural
from uraniborg.kernel.store.files import display_path
from uraniborg.servers.unix_sockets import SCHEME, SocketUnusable, find_socket, format_socket_url, is_listening

_SERVERS: Final = ("paper-search", "paper-library", "universe")


def check_sockets() -> Checks:
    """Check whether a server listens at each socket."""
    for name in _SERVERS:
        try:
            path = find_socket(name)
        except SocketUnusable as exc:
            yield InstallationCheck("sockets", name, "note", exc.message, exc.hint)
            continue
        state = "a server listens" if is_listening(path) else "no server listens"
        yield InstallationCheck("sockets", name, "ok", f"{state} at {display_path(path)}")


def uses_sockets(entries: Mapping[str, Any]) -> bool:
    """Return True if an entry of ours in a client's file has the address of a socket."""
    return any(_read_address(entries, server.name).startswith(SCHEME) for server in list_http_servers())


def check_entries_with_sockets(client: KnownClient, entries: Mapping[str, Any]) -> Checks:
    """Yield a check for each entry whose socket this installation does not have."""
    ports = f"uraniborg connect {client.name}"
    for server in list_http_servers():
        address = _read_address(entries, server.name)
        if not address.startswith(SCHEME):
            continue
        try:
            path = find_socket(server.name)
        except SocketUnusable as exc:
            detail = f"{server.name} cannot have the socket of its entry: {exc.message}"
            yield InstallationCheck("clients", client.name, "warning", detail, ports)
            continue
        if address != format_socket_url(path):
            detail = f"the entry of {server.name} has another socket than this installation: {address}"
            yield InstallationCheck("clients", client.name, "warning", detail, f"{ports} --socket")
        elif not is_listening(path):
            detail = f"no server listens at the socket of {server.name}"
            remedy = f"Start it: uraniborg serve. Or write the entry for its port: {ports}"
            yield InstallationCheck("clients", client.name, "note", detail, remedy)


def _read_address(entries: Mapping[str, Any], name: str) -> str:
    return read_address_and_token(entries.get(name))[0]


_QUERY: Final = "exoplanet atmospheres"
_ADDRESSES: Final = {"paper-library": "/api/v1/", "universe": "/health"}
"""An address of each server that only this server has."""
_MEMBERS: Final = {"paper-library": "build_id", "universe": "uptime"}
"""A member of the reply from there."""


def check_ports() -> Checks:
    """Check whether the ports of the servers are free, or which server answers there."""
    from paper_library.config import load_config as load_library_config
    from universe.config import load_config as load_universe_config

    for name, section, config in (
        ("paper-library", "library", load_library_config()),
        ("universe", "universe", load_universe_config()),
    ):
        host = "127.0.0.1" if config.host in ("0.0.0.0", "::", "") else config.host  # noqa: S104 - not listened on
        if not _is_taken(host, config.port):
            yield InstallationCheck("ports", name, "ok", f"port {config.port} is free")
        elif _is_ours(name, f"http://{f'[{host}]' if ':' in host else host}:{config.port}", config.token):
            yield InstallationCheck("ports", name, "ok", f"port {config.port} is used by a running {name} server")
        else:
            remedy = f"Stop that program, or set {section}.port to another port."
            yield InstallationCheck("ports", name, "warning", f"port {config.port} is used by another program", remedy)


def _is_taken(host: str, port: int) -> bool:
    try:
        with closing(socket.create_connection((host, port), timeout=1)):
            return True
    except OSError:
        return False


def _is_ours(name: str, url: str, token: Any) -> bool:
    """Return True if the server at this address replies as ours does, also if it refuses the token."""
    import httpx

    headers = {"Authorization": f"Bearer {token.get_secret_value()}"} if token else {}
    try:
        response = httpx.get(url + _ADDRESSES[name], headers=headers, timeout=2, trust_env=False)
        reply: Any = response.json()
    except (httpx.HTTPError, httpx.InvalidURL, ValueError):
        return False
    if not isinstance(reply, dict):
        return False
    members = cast("JsonObject", reply)
    error = members.get("error")
    is_refusal = response.status_code in (401, 403, 503) and isinstance(error, dict) and "code" in error
    return _MEMBERS[name] in members or (is_refusal and not _is_console(url))


def _is_console(url: str) -> bool:
    """Return True if the server at this address shows pages of the console, whose API refuses in the same words."""
    import httpx

    try:
        page = httpx.get(f"{url}/inbox", timeout=2, trust_env=False)
    except (httpx.HTTPError, httpx.InvalidURL):
        return False
    return page.is_success and page.headers.get("content-type", "").startswith("text/html")


def check_clients() -> Checks:
    """List the installed clients and which of our servers they know."""
    from uraniborg.connect.client_file import find_entries_without_credential, read_entries
    from uraniborg.connect.clients import list_clients
    from uraniborg.connect.server_entries import list_servers

    ours = [server.name for server in list_servers()]
    installed = [client for client in list_clients() if client.is_installed]
    for client in installed:
        connect = f"uraniborg connect {client.name}"
        try:
            entries = read_entries(client)
            known = [name for name in entries if name in ours]
            refused = find_entries_without_credential(entries)
        except UraniborgError as exc:
            detail = f"{display_path(client.file)} cannot be read: {exc.message}"
            yield InstallationCheck("clients", client.name, "failure", detail, exc.hint)
            continue
        if uses_sockets(entries):
            connect += " --socket"
            yield from check_entries_with_sockets(client, entries)
        if refused:
            detail = f"`uraniborg serve` refuses the entries of {', '.join(refused)}: they have no valid credential"
            yield InstallationCheck("clients", client.name, "warning", detail, connect)
        elif known:
            missing = [name for name in ours if name not in known]
            more = f"; not to {', '.join(missing)}" if missing else ""
            yield InstallationCheck(
                "clients", client.name, "ok", f"connected to {', '.join(known)}{more}", connect if more else ""
            )
        else:
            yield InstallationCheck("clients", client.name, "note", "not connected", connect)
    if not installed:
        yield InstallationCheck("clients", "clients", "note", "no MCP client was found", "uraniborg connect --print")
    yield from _check_servers_of_workflows()


def _check_servers_of_workflows() -> Checks:
    """Warn about MCP servers of pflow that are ours and whose requests carry no header."""
    from pflow.config import load_settings
    from pflow.service.remote_mcp_servers import read_servers
    from uraniborg.connect.server_entries import list_http_servers

    addresses = {server.url for server in list_http_servers()}
    for name, config in read_servers(load_settings().home)[0].items():
        if (url := config.plain.get("url")) in addresses and not config.plain.get("headers"):
            remedy = f"pflow mcp add {name} --replace -- uraniborg bridge {url}"
            yield InstallationCheck(
                "clients", "pflow", "warning", f"`uraniborg serve` refuses {name}: it has no credential", remedy
            )


def check_keys() -> Checks:
    """List which keys and tokens are set and where, never their values."""
    from paper_library.config import read_config as read_library_config
    from paper_search.config import read_config as read_search_config
    from paper_search.sources.registry import KNOWN
    from universe.config import read_config as read_universe_config

    search = read_search_config()
    keys: dict[str, tuple[bool, str]] = {"llm.api_key": (bool(search.settings.llm.api_key), "LLM_API_KEY")}
    for source in KNOWN.values():
        if source.key:
            given = search.settings.sources.get(source.name)
            keys[f"sources.{source.name}.api_key"] = (bool(given and given.api_key), source.key_variable)
    for name, (is_set, variable) in keys.items():
        if is_set:
            yield InstallationCheck("keys", name, "ok", f"set by {search.find_origin(name)}")
        else:
            yield InstallationCheck("keys", name, "note", "not set", f"If you have one, set {variable}.")
    for loaded in (read_library_config(), read_universe_config()):
        if loaded.settings.token:
            yield InstallationCheck("keys", f"{loaded.section}.token", "ok", f"set by {loaded.find_origin('token')}")


def check_sources() -> Checks:
    """Send one short query to each source that searches use."""
    import paper_search

    config = paper_search.load_config().model_copy(update={"cache_ttl_s": 0.0})
    collection = asyncio.run(paper_search.search(_QUERY, config, max_results=1))
    statuses: dict[str, Status] = {"ok": "ok", "empty": "ok", "skipped": "note"}
    for found in collection.metadata.sources:
        detail = found.reason or f"{plural(found.returned, 'paper')} in {found.seconds:.1f} s"
        status = statuses.get(found.status, "warning")
        remedy = "Try again later, check your network and proxy, or disable the source in the settings."
        yield InstallationCheck(
            "sources", found.name, status, f"{found.status}: {detail}", remedy if status == "warning" else ""
        )
