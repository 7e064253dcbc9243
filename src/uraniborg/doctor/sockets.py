"""Check the unix sockets of `uraniborg serve`, and the entries of clients that name them."""

from collections.abc import Mapping
from typing import Any, Final

from uraniborg.connect.client_file import read_address_and_token
from uraniborg.connect.clients import Client
from uraniborg.connect.servers import list_http_servers
from uraniborg.doctor.check import Check, Checks
from uraniborg.kernel.files import display_path
from uraniborg.unix_sockets import SCHEME, SocketUnusable, find_socket, format_socket_url, is_listening

_SERVERS: Final = ("paper-search", "paper-library", "universe")


def check_sockets() -> Checks:
    """Check whether a server listens at each socket."""
    for name in _SERVERS:
        try:
            path = find_socket(name)
        except SocketUnusable as exc:
            yield Check("sockets", name, "note", exc.message, exc.hint)
            continue
        state = "a server listens" if is_listening(path) else "no server listens"
        yield Check("sockets", name, "ok", f"{state} at {display_path(path)}")


def uses_sockets(entries: Mapping[str, Any]) -> bool:
    """Return True if an entry of ours in a client's file has the address of a socket."""
    return any(_read_address(entries, server.name).startswith(SCHEME) for server in list_http_servers())


def check_entries_with_sockets(client: Client, entries: Mapping[str, Any]) -> Checks:
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
            yield Check("clients", client.name, "warning", detail, ports)
            continue
        if address != format_socket_url(path):
            detail = f"the entry of {server.name} has another socket than this installation: {address}"
            yield Check("clients", client.name, "warning", detail, f"{ports} --socket")
        elif not is_listening(path):
            detail = f"no server listens at the socket of {server.name}"
            remedy = f"Start it: uraniborg serve. Or write the entry for its port: {ports}"
            yield Check("clients", client.name, "note", detail, remedy)


def _read_address(entries: Mapping[str, Any], name: str) -> str:
    return read_address_and_token(entries.get(name))[0]
