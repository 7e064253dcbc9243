"""`uraniborg connect`: list clients, show the change, ask, write it."""

import json
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

from uraniborg.connect.client_file import ClientFileChange, plan_addition, plan_removal, read_server_names
from uraniborg.connect.clients import DEFAULT_KEY, KnownClient, find_client, list_clients, make_typed_entry
from uraniborg.connect.server_entries import (
    HttpServerEntry,
    Server,
    add_credentials,
    format_program,
    list_servers,
    replace_ports_by_sockets,
)
from uraniborg.kernel.actors import Actor, get_terminal_actor
from uraniborg.kernel.errors import InvalidInput, MissingExtra
from uraniborg.kernel.language.messages import find_nearest_name
from uraniborg.kernel.store.files import display_path
from uraniborg.kernel.terminal.command_runner import UsageError
from uraniborg.kernel.terminal.output_streams import print_json, write_text
from uraniborg.kernel.terminal.page import Page
from uraniborg.kernel.terminal.questions import confirm
from uraniborg.kernel.terminal.styled_text import CYAN, DIM, GREEN, RED, StyledText
from uraniborg.servers.credentials import OTHER_CLIENT, AgentCredentials

if TYPE_CHECKING:
    from uraniborg.installation.replies import ClientChange, ClientFacts


def print_clients(*, as_json: bool) -> None:
    """Print the known clients, which are installed, and which of our servers each has."""
    rows = [describe_client(client) for client in list_clients()]
    if as_json:
        print_json(rows)
        return
    page = Page()
    cells = [
        (
            row["client"],
            "yes" if row["installed"] else "no",
            row["problem"] or ", ".join(row["connected"]) or "none",
            row["file"],
        )
        for row in rows
    ]
    page.write_table(
        cells,
        headings=("client", "installed", "connected", "file"),
        indent=0,
        last_cell="wrapped",
        inner_cells="wrapped",
    )
    found = [row["client"] for row in rows if row["installed"] and not row["connected"]]
    page.write_line()
    page.write_line(f"Connect one: uraniborg connect {found[0] if found else 'claude-code'}")


def print_entries(client: KnownClient | None, servers: list[Server], *, as_json: bool) -> None:
    """Print the entries that the client's file would get; without a client, those that most clients read."""
    write_text(sys.stdout, format_entries(client, servers, as_json=as_json, actor=get_terminal_actor()))


def format_entries(
    client: KnownClient | None, servers: list[Server], *, as_json: bool = False, actor: Actor | None = None
) -> str:
    """Return the entries that the client's file would get; without a client, those that most clients read."""
    servers = add_credentials(servers, client.name if client else OTHER_CLIENT, actor)
    key, make_entry = (client.key, client.make_entry) if client else (DEFAULT_KEY, make_typed_entry)
    content = {key: {server.name: make_entry(server) for server in servers}}
    if client and client.format == "toml" and not as_json:
        import tomlkit

        return tomlkit.dumps(content)
    return json.dumps(content, indent=None if as_json else 2) + "\n"


def confirm_and_change_client_file(
    client: KnownClient, servers: list[Server], *, remove: bool, skip_confirmation: bool, as_json: bool
) -> None:
    """Show the change of the client's file, ask, and write it with a backup. Raise InvalidInput or Unwritable."""
    if remove:
        change = plan_removal(client, [server.name for server in servers])
    else:
        servers = add_credentials(servers, client.name, get_terminal_actor())
        change = plan_addition(client, {server.name: client.make_entry(server) for server in servers})
    page = Page(sys.stderr if as_json else sys.stdout)
    if not change.is_needed:
        outcome = "unchanged"
        page.write_line(f"{client.title} is already up to date: {display_path(client.file)}")
    else:
        if not as_json:
            _print_diff(page, change)
        if not skip_confirmation and not _ask_for_confirmation(client):
            outcome, backup = "cancelled", None
            page.write_line("Nothing was changed.")
        else:
            actor = get_terminal_actor()
            backup = change.write_with_backup(actor)
            outcome = "changed"
            page.write_line(f"Wrote {display_path(client.file)}.")
            if backup:
                page.write_line(f"The file before is {display_path(backup)}.")
            page.write_line(client.reload_hint)
    if remove and outcome != "cancelled":
        _end_credentials_without_entries(client)
    to_start = [] if remove else [server for server in servers if isinstance(server, HttpServerEntry)]
    if to_start and outcome != "cancelled":
        _print_start_commands(page, to_start)
    if as_json:
        reply: ClientChange = {
            "client": client.name,
            "file": str(client.file),
            "outcome": outcome,
            "servers": [server.name for server in servers],
        }
        print_json(reply)


def _end_credentials_without_entries(client: KnownClient) -> None:
    """End the credentials of the client if its file has none of our servers, also if they were removed by hand."""
    if not set(read_server_names(client)) & {server.name for server in list_servers()}:
        AgentCredentials().revoke(client.name, get_terminal_actor())


def _print_start_commands(page: Page, servers: list[HttpServerEntry]) -> None:
    """Print how a person starts the servers that a client reaches at an address."""
    page.write_line()
    page.write_line(f"{format_program('uraniborg')} serve runs these servers, and the web console.")
    has_ports = all(server.start[0] != "uraniborg" for server in servers)
    page.write_line("Or start each in a terminal that stays open:" if has_ports else "Only it listens at the sockets:")
    for server in servers:
        if has_ports:
            program, *arguments = server.start
            page.write_line(f"  {' '.join([format_program(program), *arguments])}")
        page.write_line(StyledText(DIM, f"    {server.purpose}: {server.url}"))


def find_servers(names: list[str] | None) -> list[Server]:
    """Return the servers with these names, or all. Raise InvalidInput for an unknown name."""
    servers = list_servers()
    known = {server.name: server for server in servers}
    for name in names or []:
        if name not in known:
            nearest = find_nearest_name(name, known)
            raise InvalidInput(
                f"There is no server '{name}'.",
                hint=(f"Did you mean {nearest}? " if nearest else "") + f"Known: {', '.join(known)}.",
            )
    return [known[name] for name in names] if names else servers


def run_connect(
    name: str | None,
    servers: list[str] | None,
    *,
    remove: bool,
    print_only: bool,
    use_sockets: bool,
    skip_confirmation: bool,
    as_json: bool,
) -> None:
    """Run the command with its options. Raise MissingExtra if the servers could not be started."""
    if (name or print_only) and not remove and find_spec("mcp") is None:
        raise MissingExtra("mcp", "Connecting a client")
    chosen = find_servers(servers)
    if use_sockets:
        _check_socket_option(name, remove=remove)
        chosen = replace_ports_by_sockets(chosen)
    if print_only:
        print_entries(find_client(name) if name else None, chosen, as_json=as_json)
    elif name is None:
        if remove:
            raise UsageError("--remove needs the name of a client.", hint="uraniborg connect claude-code --remove")
        print_clients(as_json=as_json)
    else:
        confirm_and_change_client_file(
            find_client(name), chosen, remove=remove, skip_confirmation=skip_confirmation, as_json=as_json
        )


def _check_socket_option(name: str | None, *, remove: bool) -> None:
    """Raise UsageError or InvalidInput unless this client can get the addresses of sockets."""
    example = "uraniborg connect vscode --socket"
    if name is None or remove:
        raise UsageError("--socket needs the name of a client, and no --remove.", hint=example)
    if not (client := find_client(name)).knows_sockets:
        raise InvalidInput(
            f"{client.title} does not document unix sockets.",
            hint=f"Leave out --socket: uraniborg connect {client.name}. Visual Studio Code knows them: {example}",
        )


def describe_client(client: KnownClient) -> "ClientFacts":
    """Return the client, whether it is installed, and which of our servers its file has."""
    ours = [server.name for server in list_servers()]
    row: ClientFacts = {
        "client": client.name,
        "title": client.title,
        "installed": client.is_installed,
        "file": display_path(client.file),
        "connected": [],
        "problem": None,
    }
    try:
        row["connected"] = [name for name in read_server_names(client) if name in ours]
    except InvalidInput as exc:
        row["problem"] = exc.message
    return row


def _print_diff(page: Page, change: ClientFileChange) -> None:
    styles = {"+": GREEN, "-": RED, "@": CYAN}
    for line in change.format_diff().splitlines():
        page.write_line(StyledText(styles.get(line[:1], ""), line.expandtabs(4)))
    page.write_line()


def _ask_for_confirmation(client: KnownClient) -> bool:
    """Ask at the terminal. Raise UsageError without one."""
    if not sys.stdin.isatty():
        raise UsageError(
            f"The change of {client.title}'s file needs your consent, and stdin is not a terminal.",
            hint="Add --yes to write it, or --print to see the entries only.",
        )
    return confirm("Write this change?")
