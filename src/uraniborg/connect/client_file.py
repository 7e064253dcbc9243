"""Edit the configuration file of a client: add or remove entries, keep everything else, write a backup."""

import difflib
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, cast

from uraniborg.connect import jsonc
from uraniborg.connect.clients import AUTHORIZATION, HEADER_KEYS, Entry, KnownClient
from uraniborg.connect.server_entries import list_http_servers
from uraniborg.kernel.actors import Actor
from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.json_values import Json, JsonObject
from uraniborg.kernel.store.audit_log import record_change
from uraniborg.kernel.store.files import Unwritable, display_path, write_output
from uraniborg.servers.credentials import AgentCredentials


@dataclass(frozen=True)
class ClientFileChange:
    """The text of a client's file before and after."""

    file: Path
    before: str
    after: str

    @property
    def is_needed(self) -> bool:
        return self.before != self.after

    def format_diff(self) -> str:
        """Return the difference as a unified diff."""
        name = display_path(self.file)
        lines = difflib.unified_diff(
            self.before.splitlines(), self.after.splitlines(), f"{name} (now)", f"{name} (new)", lineterm=""
        )
        return "\n".join(lines)

    def write_with_backup(self, actor: Actor | None = None) -> Path | None:
        """Write the file and return the path of the backup, or None if there was no file. Raise Unwritable.

        The file belongs to the client and does not state who changed it: the log of changes does.
        """
        backup = None
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            if self.file.exists():
                backup = _copy_to_new_file(self.file, self.file.with_name(f"{self.file.name}.before-uraniborg"))
                if AUTHORIZATION in self.after and os.name != "nt":  # a credential is never readable by others
                    self.file.chmod(self.file.stat().st_mode & ~0o077)
        except OSError as exc:
            raise Unwritable(
                f"'{display_path(self.file)}' was not changed: {exc.strerror} ({exc.filename}).",
                hint="Correct the permissions, or add the entries yourself: uraniborg connect --print",
            ) from exc
        write_output(self.file, self.after)
        record_change("client file changed", str(self.file), actor, backup=backup)
        return backup


def _copy_to_new_file(file: Path, wanted: Path) -> Path:
    """Copy the file to `wanted`, or with a number behind the name if that exists. Follow no link. Return the copy."""
    for number in count(1):
        copy = wanted if number == 1 else wanted.with_name(f"{wanted.name}-{number}")
        try:
            with file.open("rb") as source, copy.open("xb") as target:
                shutil.copyfileobj(source, target)
        except FileExistsError:
            continue
        shutil.copystat(file, copy)
        return copy
    raise AssertionError


def plan_addition(client: KnownClient, entries: Mapping[str, Entry]) -> ClientFileChange:
    """Return the change that gives the client these servers. Raise InvalidInput if its file cannot be read."""
    before = read_client_file(client)
    after = before
    if client.format == "toml":
        after = _edit_toml(client, before, entries)
    else:
        for name, entry in entries.items():
            after = jsonc.set_member(
                after, (client.key, name), _merge_members_of_existing_entry(client, after, name, entry)
            )
    return ClientFileChange(client.file, before, after)


def plan_removal(client: KnownClient, names: list[str]) -> ClientFileChange:
    """Return the change that takes these servers from the client. Raise InvalidInput if its file cannot be read."""
    before = read_client_file(client)
    after = before
    if client.format == "toml":
        after = _edit_toml(client, before, dict.fromkeys(names))
    else:
        for name in names:
            after = jsonc.remove_member(after, (client.key, name))
    return ClientFileChange(client.file, before, after)


def read_client_file(client: KnownClient) -> str:
    """Return the text of the client's file; an empty text if there is none. Raise InvalidInput."""
    try:
        return client.file.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as exc:
        reason = exc.strerror if isinstance(exc, OSError) else "it is not UTF-8 text"
        raise InvalidInput(
            f"'{display_path(client.file)}' cannot be read: {reason}.", hint="Correct the file or its permissions."
        ) from None


def read_server_names(client: KnownClient) -> list[str]:
    """Return the names of all servers in the client's file. Raise InvalidInput if it cannot be read."""
    return list(read_entries(client))


def read_entries(client: KnownClient) -> JsonObject:
    """Return the entries of all servers in the client's file by name. Raise InvalidInput if it cannot be read."""
    text = read_client_file(client)
    if not text.strip("\ufeff \t\r\n"):
        return {}
    content = _parse_toml(client, text) if client.format == "toml" else jsonc.parse_jsonc(text)
    servers = cast("JsonObject", content).get(client.key) if isinstance(content, dict) else None
    return dict(cast("JsonObject", servers)) if isinstance(servers, dict) else {}


def read_address_and_token(entry: Any) -> tuple[str, str]:
    """Return the address and the bearer token of an entry; empty texts without them."""
    fields = cast("JsonObject", entry) if isinstance(entry, dict) else {}
    address = next((str(fields[key]) for key in ("url", "httpUrl", "serverUrl") if key in fields), "")
    for key in HEADER_KEYS:
        given: Any = fields.get(key)
        for name, value in cast("JsonObject", given).items() if isinstance(given, dict) else ():
            if name.lower() == AUTHORIZATION.lower():
                return address, str(value).partition(" ")[2]
    return address, ""


def find_entries_without_credential(entries: Mapping[str, Any]) -> list[str]:
    """Return the names of our servers at addresses whose entry in a client's file has no valid credential."""
    credentials, found = AgentCredentials(), list[str]()
    for server in list_http_servers():
        address, token = read_address_and_token(entries.get(server.name))
        is_valid = bool(token) and (token == server.token or credentials.find_client(token, server.name) is not None)
        if address and not server.is_open and not is_valid:
            found.append(server.name)
    return found


def _merge_members_of_existing_entry(client: KnownClient, text: str, name: str, entry: Entry) -> Entry:
    """Return the entry with members such as `env` that the person added to it earlier."""
    content: Any = jsonc.parse_jsonc(text) if text.strip("\ufeff \t\r\n") else {}
    for key in (client.key, name):
        content = cast("JsonObject", content).get(key) if isinstance(content, dict) else None
    if not isinstance(content, dict):
        return entry
    addresses = ("command", "args", "url", "httpUrl", "serverUrl", "type")
    own = {key: value for key, value in cast("JsonObject", content).items() if key not in addresses}
    return {**own, **entry, **{key: _merge_headers(own.get(key), entry[key]) for key in HEADER_KEYS if key in entry}}


def _merge_headers(own: Json, ours: Json) -> JsonObject:
    """Return the headers that the person added, with our token."""
    kept = {name: value for name, value in _get_object(own).items() if name.lower() != AUTHORIZATION.lower()}
    return {**kept, **_get_object(ours)}


def _get_object(value: Json) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _edit_toml(client: KnownClient, text: str, entries: Mapping[str, Entry | None]) -> str:
    """Return the text with these tables below the client's key; None removes one. Raise InvalidInput."""
    import tomlkit
    from tomlkit.items import Table

    document = _parse_toml(client, text)
    servers: Any = document.get(client.key)
    if servers is None:
        if not any(entries.values()):
            return text
        servers = tomlkit.table(is_super_table=True)
        document[client.key] = servers
    for name, entry in entries.items():
        if entry is None:
            servers.pop(name, None)
            continue
        table: Any = servers.get(name)
        table = table if isinstance(table, Table) else tomlkit.table()
        for key in ("command", "args", "url", "http_headers"):
            if key in entry:
                wanted = _merge_headers(table.get(key), entry[key]) if key in HEADER_KEYS else entry[key]
                if table.get(key) != wanted:
                    table[key] = wanted
            elif key not in HEADER_KEYS or "url" not in entry:
                table.pop(key, None)
        if name not in servers:
            servers[name] = table
    if not servers:
        document.pop(client.key)
    return document.as_string()


def _parse_toml(client: KnownClient, text: str) -> Any:
    import tomlkit
    from tomlkit.exceptions import ParseError

    try:
        return tomlkit.parse(text)
    except ParseError as exc:
        raise InvalidInput(
            f"'{display_path(client.file)}' is not valid TOML: {str(exc).rstrip('.')}.", hint="Correct that line."
        ) from None
