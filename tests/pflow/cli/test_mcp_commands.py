"""`pflow mcp`: adding, listing, syncing and removing servers, and serving."""

import json
import stat
import sys
from typing import Any

import pytest

from tests.pflow.cli.commands import RunPflow, Workplace
from tests.requirements import requirement


def _read_server_file(workplace: Workplace) -> dict[str, Any]:
    return json.loads((workplace.home / "mcp-servers.json").read_text())["mcpServers"]


def test_a_server_is_added_with_its_command_and_all_arguments(run_pflow: RunPflow, workplace: Workplace) -> None:
    done = run_pflow("mcp", "add", "files", "--env", "TOKEN=${FILES_TOKEN}", "--", "npx", "-y", "server", "--root", ".")
    assert done.code == 0
    assert "pflow mcp sync files" in done.out
    assert _read_server_file(workplace) == {
        "files": {"command": "npx", "args": ["-y", "server", "--root", "."], "env": {"TOKEN": "${FILES_TOKEN}"}}
    }
    assert stat.S_IMODE((workplace.home / "mcp-servers.json").stat().st_mode) == 0o600


def test_a_server_is_added_by_its_address(run_pflow: RunPflow, workplace: Workplace) -> None:
    given = ("--url", "https://example.org/mcp", "--header", "Authorization=Bearer ${T}")
    assert run_pflow("mcp", "add", "web", *given, "--json").json["name"] == "web"
    assert _read_server_file(workplace)["web"]["url"] == "https://example.org/mcp"
    assert _read_server_file(workplace)["web"]["headers"] == {"Authorization": "Bearer ${T}"}


@pytest.mark.parametrize(
    ("given", "url"),
    [
        ("https://example.org/mcp", "https://example.org/mcp"),
        ("http://127.0.0.1:8765/mcp", "http://127.0.0.1:8765/mcp"),
        ("HTTPS://Example.org/Mcp", "https://Example.org/Mcp"),
        (" https://[::1]:8/mcp ", "https://[::1]:8/mcp"),
        ("https://example.org/mcp?token=${TOKEN}", "https://example.org/mcp?token=${TOKEN}"),
    ],
)
@pytest.mark.parametrize("sign", [(), ("--",)])
def test_an_address_given_instead_of_a_command_is_stored_as_address(
    run_pflow: RunPflow, workplace: Workplace, given: str, url: str, sign: tuple[str, ...]
) -> None:
    done = run_pflow("mcp", "add", "--header", "A=${B}", "--json", "web", *sign, given)
    assert (done.code, done.json["warnings"]) == (0, [])
    assert _read_server_file(workplace) == {"web": {"type": "http", "url": url, "headers": {"A": "${B}"}}}


@pytest.mark.parametrize("given", ["localhost:8080/mcp", "127.0.0.1:8421", "example.org:443/mcp", "[::1]:8/mcp"])
def test_an_address_without_a_scheme_is_refused_with_the_whole_address(
    run_pflow: RunPflow, workplace: Workplace, given: str
) -> None:
    done = run_pflow("mcp", "add", "web", given)
    assert done.code == 2
    assert f"pflow mcp add web http://{given}" in done.err
    assert not (workplace.home / "mcp-servers.json").exists()


@pytest.mark.parametrize("command", ["mcp-server", "./https:server", "httpsomething", "C:/server", "server@https://x"])
def test_any_other_first_word_is_stored_as_command(run_pflow: RunPflow, workplace: Workplace, command: str) -> None:
    assert run_pflow("mcp", "add", "one", "--", command, "https://example.org/").code == 0
    assert _read_server_file(workplace) == {"one": {"command": command, "args": ["https://example.org/"]}}


@pytest.mark.parametrize("url", ["https://h/mcp?api_key=hunter2-one", "https://me:hunter2-one@h/mcp"])
def test_a_secret_in_an_address_is_masked_with_a_warning_to_use_a_variable(run_pflow: RunPflow, url: str) -> None:
    done = run_pflow("mcp", "add", "x", url)
    assert "warning: The address contains a secret" in done.err
    reply = run_pflow("mcp", "add", "x", url, "--replace", "--json")
    assert "${VARIABLE}" in reply.json["warnings"][0]
    assert "hunter2" not in done.out + done.err + reply.out + run_pflow("mcp", "list").out


@pytest.mark.parametrize(
    "given",
    [
        ("x",),
        ("x", "ws://h/mcp"),
        ("x", "https://"),
        ("x", "https://:80/"),
        ("x", "https://h:port/"),
        ("x", "https://[::1/"),
        ("x", "https://h/a b"),
        ("x", "https://h/", "argument"),
        ("x", "https://h/", "--url", "https://h/"),
        ("x", "https://h/", "--env", "A=B"),
        ("x", "--url", "https://h/", "--", "command"),
        ("x", "--url", "ftp://h/"),
        ("x", "--env", "NOVALUE", "--", "command"),
        ("x", "--env", "A=B", "--url", "https://h/"),
        ("x", "--header", "A=B", "--", "command"),
        ("a b", "--", "command"),
    ],
)
def test_an_invalid_server_is_refused_and_nothing_is_written(
    run_pflow: RunPflow, workplace: Workplace, given: tuple[str, ...]
) -> None:
    done = run_pflow("mcp", "add", *given)
    assert done.code == 2
    assert "hint: " in done.err
    assert not (workplace.home / "mcp-servers.json").exists()


def test_an_invalid_name_is_reported_with_a_valid_example(run_pflow: RunPflow) -> None:
    assert "hint: Choose another name, such as my-server.\n" in run_pflow("mcp", "add", "a b", "--", "command").err


def test_a_server_is_replaced_only_when_that_is_asked_for(run_pflow: RunPflow, workplace: Workplace) -> None:
    run_pflow("mcp", "add", "one", "--", "first")
    taken = run_pflow("mcp", "add", "one", "--", "second")
    assert taken.code == 4
    assert "--replace" in taken.err
    assert run_pflow("mcp", "add", "one", "--replace", "--", "second").code == 0
    assert _read_server_file(workplace)["one"]["command"] == "second"


def test_servers_are_listed_and_removed(run_pflow: RunPflow) -> None:
    assert "No MCP servers yet." in run_pflow("mcp", "list").out
    assert "  program --root 'a b'\n" in run_pflow("mcp", "add", "one", "--", "program", "--root", "a b").out
    assert run_pflow("mcp", "list").out == "one  not synced  program --root 'a b'\n"
    (one,) = run_pflow("mcp", "list", "--json").json["servers"]
    assert one == {"name": "one", "where": "program --root 'a b'", "tools": None}
    assert run_pflow("mcp", "remove", "one").code == 0
    assert run_pflow("mcp", "remove", "one").code == 3
    assert run_pflow("mcp", "list", "--json").json == {"servers": [], "problems": []}


def test_an_unreadable_file_of_servers_is_reported(run_pflow: RunPflow, workplace: Workplace) -> None:
    workplace.write_file(".pflow/mcp-servers.json", "{")
    assert "mcp-servers.json is not JSON" in run_pflow("mcp", "list").out
    assert run_pflow("mcp", "sync").code == 2
    assert run_pflow("mcp", "add", "x", "--", "y").code == 2


def test_a_secret_in_an_address_is_masked(run_pflow: RunPflow) -> None:
    given = ("mcp", "add", "x", "--url", "https://me:hunter2-hunter2@example.org/mcp")
    done = run_pflow(*given)
    assert done.code == 0
    reply = [
        run_pflow(*given, "--replace", "--json").out,
        run_pflow("mcp", "list").out,
        run_pflow("mcp", "list", "--json").out,
    ]
    assert "hunter2" not in done.out + "".join(reply)


def test_secrets_among_the_arguments_of_a_command_are_masked(run_pflow: RunPflow, workplace: Workplace) -> None:
    given = ("npx", "server", "--token", "hunter2-one", "--api-key=hunter2-two", "--secret", "${SECRET}", "-v")
    reply = run_pflow("mcp", "add", "x", "--", *given)
    listed = run_pflow("mcp", "list").out
    assert "hunter2" not in reply.out + listed + run_pflow("mcp", "list", "--json").out
    assert "npx server --token *** --api-key=*** --secret '${SECRET}' -v\n" in listed
    assert _read_server_file(workplace)["x"]["args"] == list(given[1:])


def test_a_server_that_exits_at_once_is_reported_with_its_last_output(run_pflow: RunPflow) -> None:
    run_pflow("mcp", "add", "gone", "--", "sh", "-c", "echo no licence >&2; exit 3")
    done = run_pflow("mcp", "sync")
    assert done.code == 5
    assert "MCP server 'gone' ended before it was ready; its last output: no licence.\n" in done.out
    assert "Error" not in done.out
    assert "variables" in done.out


def test_the_help_names_the_inherited_environment_variables(run_pflow: RunPflow, workplace: Workplace) -> None:
    report = " ".join(run_pflow("mcp", "add", "-h").out.split())
    assert "inherits PATH, HOME and similar variables, but no key or token" in report
    run_pflow("mcp", "add", "asks", "--env", "GIVEN=yes", "--", "sh", "-c", 'echo "$GIVEN, and $PYTHONUTF8." >&2')
    assert "its last output: yes, and .." in run_pflow("mcp", "sync").out


def test_an_unknown_server_is_reported_with_the_known_ones(run_pflow: RunPflow) -> None:
    assert "`pflow mcp add` adds one." in run_pflow("mcp", "remove", "zzz").err
    run_pflow("mcp", "add", "files", "--", "program")
    assert "Did you mean 'files'?" in run_pflow("mcp", "sync", "file").err
    assert "There are: files." in run_pflow("mcp", "remove", "zzz").err


def test_a_server_that_does_not_answer_is_reported_with_exit_code_5(run_pflow: RunPflow) -> None:
    run_pflow("mcp", "add", "gone", "--", sys.executable, "-c", "")
    done = run_pflow("mcp", "sync")
    assert done.code == 5
    assert done.out.startswith("✗ gone  ")
    (reply,) = run_pflow("mcp", "sync", "gone", "--json").json["servers"]
    assert (reply["name"], reply["tools"], bool(reply["problem"])) == ("gone", 0, True)
    assert run_pflow("mcp", "sync", "nothing").code == 3


SERVE_COMMANDS = pytest.mark.parametrize("serve", [("mcp", "serve"), ("serve",)], ids=" ".join)


@requirement("PF-M1", "PF-R1")
@SERVE_COMMANDS
def test_our_own_server_is_started_by_the_command_and_its_five_tools_become_nodes(
    run_pflow: RunPflow, workplace: Workplace, serve: tuple[str, ...]
) -> None:
    run_pflow("mcp", "add", "self", "--", sys.executable, "-m", "pflow", *serve)
    done = run_pflow("mcp", "sync")
    assert (done.code, done.out) == (0, "✓ self  5 tools\n")
    assert run_pflow("mcp", "list").out.startswith("self  5 tools  ")
    workplace.write_draft("asks", {"nodes": [{"id": "list", "type": "mcp-self-list_library"}]})
    assert run_pflow("check", "asks").code == 0


@SERVE_COMMANDS
def test_the_server_ends_when_its_agent_leaves(workplace: Workplace, serve: tuple[str, ...]) -> None:
    done = workplace.run_process(*serve, given=b"")
    assert (done.code, done.out) == (0, "")


def test_an_unknown_command_of_the_group_is_reported_with_a_suggestion(run_pflow: RunPflow) -> None:
    done = run_pflow("mcp", "serv")
    assert done.code == 2
    assert "serve" in done.err
