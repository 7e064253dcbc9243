"""Every option of `uraniborg` reaches the operation of its command, which has tests of its own."""

import shlex
import sys
from importlib import import_module
from pathlib import Path
from typing import Any, Final
from unittest.mock import Mock, call

import pytest
import typer
from typer.core import TyperGroup

from uraniborg import cli
from uraniborg.story.finished_bundle import STORY, read_story_bundle

CHOSEN: Final = {
    "searches": ["s1", "s2"],
    "shelves": ["comets"],
    "workflows": ["masses"],
    "runs": ["run_1"],
    "universes": ["t1"],
    "jobs": ["job_1"],
}
CHOICE: Final = (
    "--session s1 --session s2 --shelf comets --workflow masses --run run_1 --universe t1 --job job_1 --title Comets"
)
NOTHING: Final = dict.fromkeys(CHOSEN)

COMMANDS: Final[list[tuple[str, str, Any]]] = [
    ("serve", "uraniborg.servers.command.run_serve", call(None, open_browser=False, new_token=False, as_json=False)),
    (
        "serve --open",
        "uraniborg.servers.command.run_serve",
        call(None, open_browser=True, new_token=False, as_json=False),
    ),
    (
        "serve --port 9 --new-token --json",
        "uraniborg.servers.command.run_serve",
        call(9, open_browser=False, new_token=True, as_json=True),
    ),
    (
        "demo",
        "uraniborg.story.browser.run_demo",
        call(None, is_script=False, is_restart=False, years=None, open_browser=False, as_json=False),
    ),
    (
        "demo --open --restart",
        "uraniborg.story.browser.run_demo",
        call(None, is_script=False, is_restart=True, years=None, open_browser=True, as_json=False),
    ),
    (
        "demo --script -o out --years 2 --json",
        "uraniborg.story.browser.run_demo",
        call(Path("out"), is_script=True, is_restart=False, years=2.0, open_browser=False, as_json=True),
    ),
    ("inbox --json", "uraniborg.inbox_commands.show_inbox", call(as_json=True)),
    ("inbox --decided --limit 7", "uraniborg.inbox_commands.show_decisions", call(7, as_json=False)),
    ("inbox 3f6c --decided", "uraniborg.inbox_commands.show_question", call("3f6c", as_json=False)),
    (
        "decide 3f6c edit --data plan.json --note more --json",
        "uraniborg.inbox_commands.record_decision",
        call("3f6c", "edit", Path("plan.json"), "more", as_json=True),
    ),
    (
        "connect codex --server pflow --server universe --yes --json",
        "uraniborg.connect.command.run_connect",
        call(
            "codex",
            ["pflow", "universe"],
            remove=False,
            print_only=False,
            use_sockets=False,
            skip_confirmation=True,
            as_json=True,
        ),
    ),
    (
        "connect vscode --remove --print --socket",
        "uraniborg.connect.command.run_connect",
        call("vscode", None, remove=True, print_only=True, use_sockets=True, skip_confirmation=False, as_json=False),
    ),
    (
        "bridge http://127.0.0.1:1/mcp --server pflow",
        "uraniborg.connect.stdio_bridge.run_bridge",
        call("http://127.0.0.1:1/mcp", server="pflow"),
    ),
    (
        "doctor --online",
        "uraniborg.installation.command.run_and_print_checks",
        call(online=True, as_json=False, quiet=False),
    ),
    (
        "doctor --json --quiet",
        "uraniborg.installation.command.run_and_print_checks",
        call(online=False, as_json=True, quiet=True),
    ),
    ("paths --json", "uraniborg.installation.command.print_locations", call(as_json=True)),
    (
        "settings library --all --json",
        "uraniborg.installation.command.print_settings",
        call("library", include_defaults=True, as_json=True),
    ),
    (
        "backup all.tar.gz --replace --quiet --json",
        "uraniborg.installation.command.write_and_print_backup",
        call(Path("all.tar.gz"), replace=True, as_json=True, quiet=True),
    ),
    (
        "restore all.tar.gz --replace --quiet",
        "uraniborg.installation.command.restore_and_print_backup",
        call(Path("all.tar.gz"), replace=True, as_json=False, quiet=True),
    ),
    (
        "restore all.tar.gz --json",
        "uraniborg.installation.command.restore_and_print_backup",
        call(Path("all.tar.gz"), replace=False, as_json=True, quiet=False),
    ),
    ("changes --limit 3 --json", "uraniborg.installation.command.print_changes", call(3, as_json=True)),
    (
        "export -o b.zip",
        "uraniborg.bundle.command.choose_and_export",
        call(
            Path("b.zip"),
            NOTHING,
            read_story_bundle,
            title=None,
            replace=False,
            sign=False,
            as_json=False,
            quiet=False,
        ),
    ),
    (
        f"export -o b.zip {CHOICE} --sign --json",
        "uraniborg.bundle.command.choose_and_export",
        call(
            Path("b.zip"),
            CHOSEN,
            read_story_bundle,
            title="Comets",
            replace=False,
            sign=True,
            as_json=True,
            quiet=False,
        ),
    ),
    (
        "export -o b.zip --replace --quiet",
        "uraniborg.bundle.command.choose_and_export",
        call(
            Path("b.zip"), NOTHING, read_story_bundle, title=None, replace=True, sign=False, as_json=False, quiet=True
        ),
    ),
    (
        "verify b.zip",
        "uraniborg.bundle.command.verify_and_print",
        call(Path("b.zip"), repeat=True, signer=None, more=[STORY], seconds=1_800, as_json=False, quiet=False),
    ),
    (
        "verify b.zip --digests-only --signer ed25519:x --max-seconds 5 --json --quiet",
        "uraniborg.bundle.command.verify_and_print",
        call(Path("b.zip"), repeat=False, signer="ed25519:x", more=[STORY], seconds=5, as_json=True, quiet=True),
    ),
    ("key", "uraniborg.bundle.command.print_key", call(create=False, as_json=False)),
    ("key --create --json", "uraniborg.bundle.command.print_key", call(create=True, as_json=True)),
]


def run(monkeypatch: pytest.MonkeyPatch, line: str) -> object:
    """Run the command in this process, and return its exit code."""
    monkeypatch.setattr(sys, "argv", ["uraniborg", *shlex.split(line)])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    return ended.value.code


@pytest.mark.parametrize(("line", "operation", "given"), COMMANDS, ids=[line for line, _, _ in COMMANDS])
def test_every_option_reaches_the_operation_of_its_command(
    monkeypatch: pytest.MonkeyPatch, line: str, operation: str, given: Any
) -> None:
    module, _, name = operation.rpartition(".")
    replaced = Mock(return_value=None)
    monkeypatch.setattr(import_module(module), name, replaced)
    assert run(monkeypatch, line) == 0
    assert replaced.mock_calls == [given]


def test_every_option_of_every_command_is_given_above() -> None:
    command = typer.main.get_command(cli.app)
    assert isinstance(command, TyperGroup)
    given: dict[str, set[str]] = {}
    for line, _, _ in COMMANDS:
        name, *words = shlex.split(line)
        given.setdefault(name, set()).update(words)
    missing = {
        f"{name} {option.opts[0]}"
        for name, one in command.commands.items()
        if name not in (*cli.PARTS, "version")
        for option in one.params
        if option.opts[0].startswith("-") and given.get(name, set()).isdisjoint(option.opts)
    }
    assert missing == set()


@pytest.mark.parametrize(
    ("line", "operation"),
    [
        ("doctor", "uraniborg.installation.command.run_and_print_checks"),
        ("verify b.zip", "uraniborg.bundle.command.verify_and_print"),
    ],
)
def test_the_outcome_of_checks_is_the_exit_code(monkeypatch: pytest.MonkeyPatch, line: str, operation: str) -> None:
    module, _, name = operation.rpartition(".")
    monkeypatch.setattr(import_module(module), name, Mock(return_value=6))
    assert run(monkeypatch, line) == 6


@pytest.mark.parametrize(
    ("line", "module", "seen"),
    [
        ("search run comets", "paper_search.cli.command", ["paper-search", "run", "comets"]),
        ("library", "paper_library.__main__", ["paper-library"]),
        ("universe list --json", "universe.__main__", ["universe", "list", "--json"]),
        ("flow run x", "pflow.__main__", ["pflow", "run", "x"]),
        ("serve paper-search --port 1", "paper_search.mcp_server", ["paper-search-mcp", "--port", "1"]),
        ("serve pflow --port 1", "pflow.__main__", ["pflow", "mcp", "serve", "--port", "1"]),
        ("serve paper-library shelf", "paper_library.__main__", ["paper-library", "serve", "shelf"]),
        ("serve universe --json", "universe.__main__", ["universe", "serve", "--json"]),
    ],
)
def test_commands_of_parts_and_servers_run_with_all_further_arguments(
    monkeypatch: pytest.MonkeyPatch, line: str, module: str, seen: list[str]
) -> None:
    arguments: list[list[str]] = []
    monkeypatch.setattr(import_module(module), "main", lambda: arguments.append(list(sys.argv)))
    monkeypatch.setattr(sys, "argv", ["uraniborg", *shlex.split(line)])
    cli.main()
    assert arguments == [seen]


def test_an_unknown_server_is_refused_with_the_names_of_the_servers(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "serve paper-shelf") == 2
    assert capsys.readouterr().err == (
        "error: There is no server 'paper-shelf'.\nhint: Servers: paper-search, pflow, paper-library, universe.\n"
    )
