"""Each client's own file format: existing files keep everything, entries are added, renewed and removed."""

import dataclasses
import json
import os
import re
import stat
import tomllib
from pathlib import Path
from typing import Any

import pytest

from uraniborg.connect.client_file import (
    ClientFileChange,
    plan_addition,
    plan_removal,
    read_address_and_token,
    read_server_names,
)
from uraniborg.connect.clients import KnownClient, list_clients
from uraniborg.connect.jsonc import parse_jsonc, set_member
from uraniborg.connect.server_entries import HttpServerEntry, Server, StdioServerEntry
from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.store.files import Unwritable

SERVERS: list[Server] = [
    StdioServerEntry("paper-search", "/opt/u/bin/paper-search-mcp"),
    StdioServerEntry("pflow", "/opt/u/bin/pflow", ("mcp", "serve")),
    HttpServerEntry("paper-library", "http://127.0.0.1:8421/mcp", ("paper-library", "serve"), "papers"),
    HttpServerEntry("universe", "http://127.0.0.1:3001/mcp", ("universe", "serve"), "universes", "agent.of-universe"),
]
EXISTING = {
    "claude-code": """{
  "numStartups": 41,
  "mcpServers": {
    "github": {"type": "stdio", "command": "npx", "args": ["-y", "server-github"], "env": {"TOKEN": "x"}}
  },
  "projects": {"/src/app": {"allowedTools": [], "history": [{"display": "fix // this"}]}}
}
""",
    "claude-desktop": '{\n  "mcpServers": {},\n  "globalShortcut": "Ctrl+Space"\n}\n',
    "cursor": '{"mcpServers":{"linear":{"url":"https://mcp.linear.app/mcp"}}}',
    "vscode": """{
\t// Shared servers
\t"servers": {
\t\t"playwright": { "type": "stdio", "command": "npx", "args": ["@playwright/mcp@latest"] }, // browser
\t},
\t"inputs": [ { "id": "key", "type": "promptString", "password": true } ],
}
""",
    "codex": """model = "gpt-5.3-codex"  # the large one
approval_policy = "on-request"

[mcp_servers.context7]
command = "npx"
args = ["-y", "@upstash/context7-mcp"]

[mcp_servers.context7.env]
KEY = "x"

[profiles.fast]
model = "small"
""",
    "gemini": """{
    "theme": "GitHub",
    "mcpServers": {"docs": {"httpUrl": "https://example.org/mcp", "trust": true}}
}
""",
    "zed": """// Zed settings
{
  "theme": "One Dark",
  "context_servers": {
    // disabled for now
    "old": { "command": "x", "args": [], "enabled": false }
  },
  "vim_mode": true,
}
""",
    "windsurf": '{\r\n  "mcpServers": {\r\n    "a": { "serverUrl": "https://a.example/sse" }\r\n  }\r\n}\r\n',
    "opencode": """{
  "$schema": "https://opencode.ai/config.json",
  "mcp": { "x": { "type": "remote", "url": "https://x.example/mcp" } }
}
""",
}


@pytest.fixture(params=sorted(EXISTING))
def client(request: pytest.FixtureRequest, tmp_path: Path) -> KnownClient:
    """Return a client whose settings file exists already, with realistic content."""
    clients = {one.name: one for one in list_clients(env={}, home=tmp_path, platform="linux")}
    client = clients[request.param]
    client.file.parent.mkdir(parents=True, exist_ok=True)
    client.file.write_bytes(EXISTING[client.name].encode())
    return client


def test_every_client_has_an_existing_file_in_these_tests(tmp_path: Path) -> None:
    assert sorted(EXISTING) == sorted(one.name for one in list_clients(env={}, home=tmp_path, platform="linux"))


def test_servers_are_added_and_everything_else_is_kept(client: KnownClient) -> None:
    before = parse(client, client.file.read_text())
    names = read_server_names(client)
    change = plan_addition(client, {server.name: client.make_entry(server) for server in SERVERS})
    change.write_with_backup()
    after = parse(client, client.file.read_text())
    added = {name: after[client.key].pop(name) for name in [server.name for server in SERVERS]}
    assert after == before
    assert read_server_names(client) == [*names, *added]
    for server in SERVERS:
        text = json.dumps(added[server.name])
        assert (server.url if isinstance(server, HttpServerEntry) else server.command) in text
    assert ('"Bearer agent.of-universe"' in json.dumps(added)) == (client.name != "claude-desktop")
    for comment in ("// Shared servers", "// browser", "# the large one", "// disabled for now", "// Zed settings"):
        assert (comment in change.before) == (comment in change.after)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no modes")
def test_a_file_with_a_credential_is_for_this_account_alone(client: KnownClient) -> None:
    client.file.chmod(0o644)
    plan_addition(client, {"universe": client.make_entry(SERVERS[3])}).write_with_backup()
    has_credential = "agent.of-universe" in client.file.read_text()
    assert stat.S_IMODE(client.file.stat().st_mode) == (0o600 if has_credential else 0o644)


def test_a_new_credential_replaces_the_old_one_beside_headers_of_the_person(client: KnownClient) -> None:
    plan_addition(client, {"universe": client.make_entry(SERVERS[3])}).write_with_backup()
    renewed = client.make_entry(dataclasses.replace(SERVERS[3], token="agent.new"))  # type: ignore[arg-type]
    if client.name == "claude-desktop":
        return
    key = "http_headers" if client.format == "toml" else "headers"
    text = client.file.read_text()
    if client.format == "json":
        text = set_member(text, (client.key, "universe", key), {"X-Own": "1", "authorization": "Bearer old"})
    else:
        text = text.replace("Authorization = ", 'X-Own = "1"\nAuthorization = ')
    client.file.write_text(text)
    entry = parse(client, plan_addition(client, {"universe": renewed}).after)[client.key]["universe"]
    assert entry[key] == {"X-Own": "1", "Authorization": "Bearer agent.new"}
    assert read_address_and_token(entry) == ("http://127.0.0.1:3001/mcp", "agent.new")


def test_adding_again_changes_nothing(client: KnownClient) -> None:
    entries = {server.name: client.make_entry(server) for server in SERVERS}
    plan_addition(client, entries).write_with_backup()
    assert not plan_addition(client, entries).is_needed


def test_removing_restores_the_values_without_our_servers(client: KnownClient) -> None:
    before = client.file.read_text()
    plan_addition(client, {server.name: client.make_entry(server) for server in SERVERS}).write_with_backup()
    change = plan_removal(client, [server.name for server in SERVERS])
    assert parse(client, change.after) == parse(client, before)


def test_a_moved_installation_renews_the_path_and_keeps_what_the_person_added(client: KnownClient) -> None:
    plan_addition(client, {"paper-search": client.make_entry(SERVERS[0])}).write_with_backup()
    key = "env" if client.format == "json" else "startup_timeout_sec"
    if client.format == "json":
        text = set_member(client.file.read_text(), (client.key, "paper-search", key), {"KEY": "1"})
    else:
        text = client.file.read_text().replace(
            "[mcp_servers.paper-search]\n", f"[mcp_servers.paper-search]\n{key} = 9\n"
        )
    client.file.write_text(text)
    moved = StdioServerEntry("paper-search", "/new/bin/paper-search-mcp")
    change = plan_addition(client, {"paper-search": client.make_entry(moved)})
    entry = parse(client, change.after)[client.key]["paper-search"]
    assert "/new/bin/paper-search-mcp" in json.dumps(entry)
    assert "/opt/u" not in json.dumps(entry)
    assert entry[key] == ({"KEY": "1"} if client.format == "json" else 9)


def test_a_second_change_keeps_the_first_backup_and_writes_through_no_link(tmp_path: Path) -> None:
    file, other = tmp_path / "mcp.json", tmp_path / "other"
    other.write_text("of somebody else")
    file.write_text("first")
    first = ClientFileChange(file, "first", "second").write_with_backup()
    (tmp_path / "mcp.json.before-uraniborg-2").symlink_to(other)
    second = ClientFileChange(file, "second", "third").write_with_backup()
    (tmp_path / "mcp.json.before-uraniborg-2").unlink()
    third = ClientFileChange(file, "third", "fourth").write_with_backup()
    assert first is not None
    assert second is not None
    assert third is not None
    assert (third.name, third.read_text()) == ("mcp.json.before-uraniborg-2", "third")
    assert (first.name, first.read_text()) == ("mcp.json.before-uraniborg", "first")
    assert (second.name, second.read_text()) == ("mcp.json.before-uraniborg-3", "second")
    assert other.read_text() == "of somebody else"


def test_a_credential_is_at_no_moment_in_a_file_that_others_can_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, modes = tmp_path / "mcp.json", list[int]()
    file.write_text("{}")
    file.chmod(0o644)
    replace = os.replace

    def replace_and_note_mode(source: Path, target: Path) -> None:
        replace(source, target)
        modes.append(file.stat().st_mode & 0o777)

    monkeypatch.setattr(os, "replace", replace_and_note_mode)
    ClientFileChange(file, "{}", '{"Authorization": "Bearer t"}').write_with_backup()
    assert modes == [0o600]


def test_the_file_before_a_change_is_kept_as_a_backup(client: KnownClient) -> None:
    backup = plan_addition(client, {"paper-search": client.make_entry(SERVERS[0])}).write_with_backup()
    assert backup is not None
    assert backup.read_bytes() == EXISTING[client.name].encode()


def test_a_missing_file_is_created(client: KnownClient) -> None:
    client.file.unlink()
    assert plan_addition(client, {"pflow": client.make_entry(SERVERS[1])}).write_with_backup() is None
    assert read_server_names(client) == ["pflow"]


def test_a_broken_file_is_refused_and_not_changed(client: KnownClient) -> None:
    client.file.write_text("{ broken [")
    with pytest.raises(InvalidInput, match="line 1"):
        plan_addition(client, {"pflow": client.make_entry(SERVERS[1])})
    assert client.file.read_text() == "{ broken ["


def test_a_file_that_is_a_folder_or_no_text_is_refused_by_name(client: KnownClient) -> None:
    client.file.write_bytes(b"\xff\xfe{}")
    with pytest.raises(InvalidInput, match=f"{client.file.name}' cannot be read: it is not UTF-8 text"):
        plan_removal(client, ["pflow"])
    client.file.unlink()
    client.file.mkdir()
    with pytest.raises(InvalidInput, match=f"{client.file.name}' cannot be read: Is a directory"):
        read_server_names(client)


def test_only_clients_that_cannot_use_an_address_get_the_bridge(client: KnownClient) -> None:
    text = json.dumps(client.make_entry(SERVERS[2]))
    assert ('"bridge"' in text) == (client.name == "claude-desktop")


def parse(client: KnownClient, text: str) -> Any:
    return tomllib.loads(text) if client.format == "toml" else parse_jsonc(text)


def test_a_file_that_is_a_link_stays_a_link(client: KnownClient, tmp_path: Path) -> None:
    target = tmp_path / "dotfiles" / client.file.name
    target.parent.mkdir()
    client.file.rename(target)
    client.file.symlink_to(target)
    plan_addition(client, {"pflow": client.make_entry(SERVERS[1])}).write_with_backup()
    assert client.file.is_symlink()
    assert "pflow" in target.read_text()


def test_a_file_keeps_its_permissions(client: KnownClient) -> None:
    client.file.chmod(0o640)
    plan_addition(client, {"pflow": client.make_entry(SERVERS[1])}).write_with_backup()
    assert client.file.stat().st_mode & 0o777 == 0o640


def test_a_folder_that_cannot_be_made_is_reported_with_the_way_to_do_it_by_hand(
    client: KnownClient, tmp_path: Path
) -> None:
    (tmp_path / "taken").write_text("a file")
    blocked = dataclasses.replace(client, file=tmp_path / "taken" / "settings.json")
    with pytest.raises(Unwritable) as refused:
        ClientFileChange(blocked.file, "", "{}").write_with_backup()
    assert "uraniborg connect --print" in (refused.value.hint or "")


def test_opencode_with_comments_is_the_file_that_is_changed_if_it_exists(tmp_path: Path) -> None:
    folder = tmp_path / ".config" / "opencode"
    folder.mkdir(parents=True)
    (folder / "opencode.jsonc").write_text("{ // mine\n}\n")
    clients = {one.name: one for one in list_clients(env={}, home=tmp_path, platform="linux")}
    assert clients["opencode"].file == folder / "opencode.jsonc"


@pytest.mark.parametrize(
    ("platform", "folder"), [("linux", "xdg/zed"), ("darwin", ".config/zed"), ("win32", "roaming/Zed")]
)
def test_zed_keeps_its_settings_in_the_folder_of_the_platform(tmp_path: Path, platform: str, folder: str) -> None:
    env = {"XDG_CONFIG_HOME": str(tmp_path / "xdg"), "APPDATA": str(tmp_path / "roaming")}
    clients = {one.name: one for one in list_clients(env=env, home=tmp_path, platform=platform)}
    assert clients["zed"].file == tmp_path / folder / "settings.json"


def test_a_client_whose_program_is_found_counts_as_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clients = {one.name: one for one in list_clients(env={}, home=tmp_path, platform="linux")}
    monkeypatch.setenv("PATH", str(tmp_path))
    assert not clients["codex"].is_installed
    (tmp_path / "codex").write_text("#!/bin/sh\n")
    (tmp_path / "codex").chmod(0o755)
    assert clients["codex"].is_installed


def test_the_guide_has_a_section_for_each_client_with_the_entries_that_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def find_program(name: str) -> str:
        return f"/opt/uraniborg/bin/{name}"

    monkeypatch.setattr("uraniborg.connect.server_entries.find_program", find_program)
    page = (Path(__file__).parents[3] / "docs" / "guides" / "connect-an-agent.md").read_text(encoding="utf-8")
    servers = [
        *(dataclasses.replace(server, command=find_program(Path(server.command).name)) for server in SERVERS[:2]
          if isinstance(server, StdioServerEntry)),
        *(dataclasses.replace(server, token="CREDENTIAL") for server in SERVERS[2:]
          if isinstance(server, HttpServerEntry)),
    ]  # fmt: skip
    for client in list_clients(env={}, home=tmp_path, platform="linux"):
        section = page.partition(f"\n### {client.title}\n")[2].partition("\n### ")[0]
        assert f"```sh\nuraniborg connect {client.name}\n```" in section
        (block,) = re.findall(rf"^```{client.format}\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
        assert parse(client, block) == {client.key: {server.name: client.make_entry(server) for server in servers}}
