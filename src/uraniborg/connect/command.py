"""`uraniborg connect`: list clients, show the change, ask, write it."""

import json
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from uraniborg.connect.client_file import FileChange, plan_addition, plan_removal, read_server_names
from uraniborg.connect.clients import DEFAULT_KEY, Client, find_client, list_clients, make_typed_entry
from uraniborg.connect.servers import (
    HttpServer,
    Server,
    add_credentials,
    format_program,
    list_servers,
    replace_ports_by_sockets,
)
from uraniborg.credentials import OTHER_CLIENT, AgentCredentials
from uraniborg.kernel.actors import Actor, get_terminal_actor
from uraniborg.kernel.cli import PIPED_TABLE_WIDTH, UsageError, get_terminal_columns
from uraniborg.kernel.errors import InvalidInput, MissingExtra
from uraniborg.kernel.files import display_path
from uraniborg.kernel.suggestions import find_nearest_name

if TYPE_CHECKING:
    from uraniborg.installation_replies import ClientChange, ClientFacts


def print_clients(*, as_json: bool) -> None:
    """Print the known clients, which are installed, and which of our servers each has."""
    rows = [describe_client(client) for client in list_clients()]
    if as_json:
        sys.stdout.write(json.dumps(rows) + "\n")
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("client", "installed", "connected", "file"):
        table.add_column(heading, overflow="fold")
    for row in rows:
        connected = row["problem"] or ", ".join(row["connected"]) or "none"
        table.add_row(row["client"], "yes" if row["installed"] else "no", connected, row["file"])
    console = Console(highlight=False, width=get_terminal_columns(sys.stdout) or PIPED_TABLE_WIDTH)
    console.print(table)
    found = [row["client"] for row in rows if row["installed"] and not row["connected"]]
    console.print(f"\nConnect one: uraniborg connect {found[0] if found else 'claude-code'}")


def print_entries(client: Client | None, servers: list[Server], *, as_json: bool) -> None:
    """Print the entries that the client's file would get; without a client, those that most clients read."""
    sys.stdout.write(format_entries(client, servers, as_json=as_json, actor=get_terminal_actor()))


def format_entries(
    client: Client | None, servers: list[Server], *, as_json: bool = False, actor: Actor | None = None
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
    client: Client, servers: list[Server], *, remove: bool, skip_confirmation: bool, as_json: bool
) -> None:
    """Show the change of the client's file, ask, and write it with a backup. Raise InvalidInput or Unwritable."""
    if remove:
        change = plan_removal(client, [server.name for server in servers])
    else:
        servers = add_credentials(servers, client.name, get_terminal_actor())
        change = plan_addition(client, {server.name: client.make_entry(server) for server in servers})
    console = Console(highlight=False, stderr=as_json)
    if not change.is_needed:
        outcome = "unchanged"
        console.print(f"{client.title} is already up to date: {display_path(client.file)}")
    else:
        if not as_json:
            _print_diff(console, change)
        if not skip_confirmation and not _ask_for_confirmation(client):
            outcome, backup = "cancelled", None
            console.print("Nothing was changed.")
        else:
            actor = get_terminal_actor()
            backup = change.write_with_backup(actor)
            outcome = "changed"
            console.print(f"Wrote {display_path(client.file)}.")
            if backup:
                console.print(f"The file before is {display_path(backup)}.")
            console.print(client.reload_hint)
    if remove and outcome != "cancelled":
        _end_credentials_without_entries(client)
    to_start = [] if remove else [server for server in servers if isinstance(server, HttpServer)]
    if to_start and outcome != "cancelled":
        _print_start_commands(console, to_start)
    if as_json:
        reply: ClientChange = {
            "client": client.name,
            "file": str(client.file),
            "outcome": outcome,
            "servers": [server.name for server in servers],
        }
        sys.stdout.write(json.dumps(reply) + "\n")


def _end_credentials_without_entries(client: Client) -> None:
    """End the credentials of the client if its file has none of our servers, also if they were removed by hand."""
    if not set(read_server_names(client)) & {server.name for server in list_servers()}:
        AgentCredentials().revoke(client.name, get_terminal_actor())


def _print_start_commands(console: Console, servers: list[HttpServer]) -> None:
    """Print how a person starts the servers that a client reaches at an address."""
    console.print(f"\n{format_program('uraniborg')} serve runs these servers, and the web console.", markup=False)
    has_ports = all(server.start[0] != "uraniborg" for server in servers)
    console.print("Or start each in a terminal that stays open:" if has_ports else "Only it listens at the sockets:")
    for server in servers:
        if has_ports:
            program, *arguments = server.start
            console.print(f"  {' '.join([format_program(program), *arguments])}", soft_wrap=True, markup=False)
        console.print(f"    {server.purpose}: {server.url}", style="dim", soft_wrap=True, markup=False)


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


def describe_client(client: Client) -> "ClientFacts":
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


def _print_diff(console: Console, change: FileChange) -> None:
    styles = {"+": "green", "-": "red", "@": "cyan"}
    for line in change.format_diff().splitlines():
        console.print(line, style=styles.get(line[:1], ""), markup=False)
    console.print()


def _ask_for_confirmation(client: Client) -> bool:
    """Ask at the terminal. Raise UsageError without one."""
    if not sys.stdin.isatty():
        raise UsageError(
            f"The change of {client.title}'s file needs your consent, and stdin is not a terminal.",
            hint="Add --yes to write it, or --print to see the entries only.",
        )
    sys.stderr.write("Write this change? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
