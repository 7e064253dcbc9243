"""The documents cannot rot: every example in them runs, and every setting, error and option is in them."""

import ast
import dataclasses
import inspect
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from paper_library.config import LibraryConfig
from paper_search.config import AppConfig
from pflow.config import Settings
from tests.installed_programs import find_program, find_programs
from tests.requirements import requirement
from universe.config import UniverseConfig
from uraniborg.kernel.deciders import DeciderSettings
from uraniborg.recordings import RECORDING

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted([*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"])


RUN = re.compile(
    r"(?:[A-Z_]+=\S+ )*(?:python -m paper_search|paper-search(?!-)|uraniborg|paper-library|universe|pflow)\b"
)
FENCED = re.compile(r'^```(console|text|(\w+) title="([^"]+)")\n(.*?)^```', re.MULTILINE | re.DOTALL)
CHANGING = re.compile(r"run_[0-9a-f]{32}|<?\d[\d.]* m?s\b")


class Step(NamedTuple):
    """Something that a reader does, or sees: a command, what it prints, or a file to save or to change."""

    kind: str
    text: str
    file: str = ""


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def steps(page: Path) -> Iterator[Step]:
    """Yield the examples of the page in order; plain text counts only after a command."""
    has_run = False
    for kind, language, file, text in FENCED.findall(page.read_text(encoding="utf-8")):
        lines = [line[2:] for line in text.splitlines() if line.startswith("$ ")] if kind == "console" else []
        runnable = [line for line in lines if RUN.match(line)]
        yield from (Step("run", line) for line in runnable)
        if kind == "text" and has_run:
            yield Step("print", text)
        if file:
            yield Step("change" if language == "diff" else "save", text, file)
        has_run = bool(runnable)


def commands(page: Path) -> list[str]:
    return [step.text for step in steps(page) if step.kind == "run"]


def named(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> Generator[Path]:
    """Return a working folder and home in which every search is the recorded one.

    Its path is short, since a line of cron has it several times and may not be long.
    """
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        monkeypatch.chdir(folder)
        monkeypatch.setenv("HOME", name)
        monkeypatch.setenv("PFLOW_HOME", str(folder / ".pflow"))
        monkeypatch.setenv("URANIBORG_HOME", str(folder / "home"))
        monkeypatch.setenv("URANIBORG_PAPER_SEARCH__REPLAY_DIR", str(RECORDING))
        monkeypatch.setenv(
            "PATH", os.pathsep.join([str(find_programs()), str(Path(sys.executable).parent), os.environ["PATH"]])
        )
        yield folder


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "python")], ids=named)
async def test_the_python_examples_of_a_page_run_from_top_to_bottom(page: Path, offline: Path) -> None:
    namespace: dict[str, Any] = {"__name__": "docs"}
    for number, block in enumerate(blocks(page, "python"), 1):
        code = compile(block, f"{named(page)}, example {number}", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        running = eval(code, namespace)
        if inspect.iscoroutine(running):
            await running


@pytest.mark.timeout(300)  # a page has up to 20 commands, and each is bounded below
@pytest.mark.parametrize("page", [page for page in PAGES if commands(page)], ids=named)
def test_the_commands_of_a_page_run_one_after_the_other(page: Path, offline: Path) -> None:
    printed = ""
    for step in steps(page):
        if step.kind == "print":
            for line in _lasting(step.text).splitlines():
                assert line in printed
        elif step.kind == "run":
            expected = re.search(r"# exits with (\d+)$", step.text)
            done = subprocess.run(step.text, shell=True, capture_output=True, text=True, timeout=50, check=False)
            assert done.returncode == (int(expected[1]) if expected else 0), f"{step.text}\n{done.stderr}"
            printed = _lasting(done.stdout + done.stderr)
        else:
            _save(Path(step.file).expanduser(), step)


def _lasting(text: str) -> str:
    """Without what differs from run to run."""
    return CHANGING.sub("…", text)


def _save(path: Path, step: Step) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if step.kind == "save":
        path.write_text(step.text, encoding="utf-8")
        return
    old, new = ("".join(line[1:] + "\n" for line in step.text.splitlines() if line[0] == sign) for sign in "-+")
    before = path.read_text(encoding="utf-8")
    assert before.count(old) == 1
    path.write_text(before.replace(old, new), encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{named(page)} links to {target}"


def test_every_page_is_reachable_from_the_readme_or_another_page() -> None:
    linked = {
        (page.parent / target).resolve()
        for page in PAGES
        for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
        if "://" not in target
    }
    assert [named(page) for page in PAGES if page.parent != ROOT and page.resolve() not in linked] == []


def _settings(model: Any, prefix: str = "") -> list[str]:
    found: list[str] = []
    for name, field in model.model_fields.items():
        nested = field.annotation if inspect.isclass(field.annotation) else None
        if nested is not None and hasattr(nested, "model_fields"):
            found += _settings(nested, f"{prefix}{name}.")
        else:
            found.append(prefix + name)
    return found


def test_every_setting_is_documented() -> None:
    page = (ROOT / "docs" / "reference" / "settings.md").read_text(encoding="utf-8")
    assert [name for name in _settings(AppConfig) if f"`{name}`" not in page] == []
    library = (ROOT / "docs" / "reference" / "library.md").read_text(encoding="utf-8")
    assert [name for name in _settings(LibraryConfig) if f"`{name}`" not in library] == []
    universe = (ROOT / "docs" / "reference" / "universe.md").read_text(encoding="utf-8")
    assert [name for name in _settings(UniverseConfig) if f"`{name}`" not in universe] == []
    _, _, workflows = page.partition("## Workflows")
    assert [field.name for field in dataclasses.fields(Settings) if f"`{field.name}`" not in workflows] == []
    _, _, decisions = page.partition("## Decisions")
    assert [field.name for field in dataclasses.fields(DeciderSettings) if f"`{field.name}`" not in decisions] == []


def test_every_error_code_is_documented() -> None:
    import paper_library.cli.serve_command
    import paper_library.errors
    import paper_search.errors
    import pflow.cli.run_arguments
    import pflow.domain.ir.diagrams
    import pflow.errors
    import pflow.service.engine.cluster_executor
    import pflow.store.mcp_server_entries
    import pflow.store.node_registry
    import pflow.store.resume_point
    import pflow.store.run_log
    import pflow.store.workflow_library
    import universe.domain.command_catalogue
    import universe.domain.systems.catalogue
    import universe.errors
    import universe.service.universe_files
    import uraniborg.kernel.deciders
    import uraniborg.kernel.errors
    import uraniborg.kernel.http.connection_limits
    import uraniborg.kernel.http.header_checks
    import uraniborg.kernel.http.secure_app
    import uraniborg.kernel.http.serve_command
    import uraniborg.kernel.mcp.envelope
    import uraniborg.kernel.mcp.http_guard
    import uraniborg.kernel.mcp.prompts_and_resources
    import uraniborg.kernel.mcp.remote_server
    import uraniborg.kernel.store.files
    import uraniborg.kernel.terminal.questions

    page = (ROOT / "docs" / "reference" / "errors.md").read_text(encoding="utf-8")
    codes = {
        value.code
        for module in (
            paper_search.errors,
            paper_library.errors,
            paper_library.cli.serve_command,
            universe.errors,
            universe.errors,
            universe.errors,
            universe.service.universe_files,
            universe.domain.command_catalogue,
            universe.domain.systems.catalogue,
            pflow.errors,
            pflow.cli.run_arguments,
            pflow.store.resume_point,
            pflow.service.engine.cluster_executor,
            pflow.store.run_log,
            pflow.domain.ir.diagrams,
            pflow.store.workflow_library,
            pflow.store.mcp_server_entries,
            pflow.store.node_registry,
            uraniborg.kernel.terminal.questions,
            uraniborg.kernel.deciders,
            uraniborg.kernel.errors,
            uraniborg.kernel.http.connection_limits,
            uraniborg.kernel.store.files,
            uraniborg.kernel.http.header_checks,
            uraniborg.kernel.http.serve_command,
            uraniborg.kernel.mcp.remote_server,
            uraniborg.kernel.mcp.envelope,
            uraniborg.kernel.mcp.prompts_and_resources,
            uraniborg.kernel.mcp.http_guard,
            uraniborg.kernel.http.secure_app,
        )
        for value in vars(module).values()
        if inspect.isclass(value) and issubclass(value, uraniborg.kernel.errors.UraniborgError)
    }
    assert sorted(code for code in codes if f"`{code}`" not in page) == []


def test_every_limit_of_http_connections_is_documented_with_its_value() -> None:
    from uraniborg.kernel.http.connection_limits import Limits

    page = (ROOT / "docs" / "reference" / "servers.md").read_text(encoding="utf-8")
    table = page.partition("| limit | value |")[2].partition("\n\n")[0]
    limits = Limits()
    for shown in (
        f"| {limits.headers}, in {limits.header_bytes:,} bytes",
        f"headers | {limits.header_s:g} s |",
        f"body | {limits.body_s:g} s, and 1 s more for every {limits.body_bytes_per_s:,} bytes",
        f"connection | {limits.idle_s:g} s |",
        f"for it | {limits.stall_s:g} s |",
        f"connections | {limits.connections:,},",
    ):
        assert shown in table


def test_the_page_about_servers_states_what_the_conformance_suite_checks() -> None:
    from tests.paper_library.conformance.suite import NEXT_VERSIONS, STDIO_RUNS, read_expected_failures

    page = (ROOT / "docs" / "reference" / "servers.md").read_text(encoding="utf-8")
    stdio = sorted({version for _, version in STDIO_RUNS})
    for part, versions in {
        "library": NEXT_VERSIONS,
        "universe": NEXT_VERSIONS,
        "search": stdio,
        "pflow": stdio,
    }.items():
        named = {scenario for entry in read_expected_failures(part) for scenario in entry["scenarios"]}
        all_of = [
            f", and all of {one}"
            for e in read_expected_failures(part)
            if "*" in e["scenarios"]
            for one in e["versions"]
        ]
        assert f"| {', '.join(versions)} | `{part}`: {len(named - {'*'})}{''.join(all_of)} |" in page


def test_every_source_is_documented() -> None:
    from paper_search.sources.registry import KNOWN

    page = (ROOT / "docs" / "reference" / "sources.md").read_text(encoding="utf-8")
    assert [name for name in KNOWN if f"`{name}`" not in page] == []


UNIVERSE = (
    "serve",
    "new",
    "list",
    "send",
    "undo",
    "restore",
    "branch",
    "history",
    "show",
    "plot",
    "export",
    "import",
    "diff",
    "cite",
    "nbody",
    "jobs",
    "job",
    "verify",
    "commands",
    "delete",
)
LIBRARY = ("build", "search", "show", "stats", "verify", "diff", "sample", "serve")
WORKFLOWS = (
    "run",
    "check",
    "graph",
    "list",
    "describe",
    "browse",
    "guide",
    "history",
    "show",
    "new",
    "save",
    "examples",
    "schedule",
    "mcp add",
    "mcp list",
    "mcp sync",
    "mcp remove",
)


@pytest.mark.parametrize(
    ("command", "page_name"),
    [
        *((name, "guides/command-line.md") for name in ("paper_search", "uraniborg demo", "uraniborg inbox")),
        *((name, "guides/command-line.md") for name in ("uraniborg decide", "uraniborg version")),
        *((f"paper_library {name}", "reference/library.md") for name in LIBRARY),
        *((f"universe {name}", "reference/universe.md") for name in UNIVERSE),
        *((f"pflow {name}", "reference/workflows.md") for name in WORKFLOWS),
    ],
)
def test_every_option_of_a_command_is_documented(command: str, page_name: str) -> None:
    done = subprocess.run(
        [find_program("python"), "-m", *command.split(), "--help"],
        capture_output=True,
        text=True,
        timeout=50,
        check=True,
        env={**os.environ, "COLUMNS": "200", "NO_COLOR": "1", "TERM": "dumb"},
    )
    page = (ROOT / "docs" / page_name).read_text(encoding="utf-8")
    options = set(re.findall(r"--[a-z][a-z-]+", done.stdout)) - {"--help"}
    assert options
    assert sorted(option for option in options if f"`{option}" not in page) == []


def test_the_pages_about_universes_agree_with_the_code() -> None:
    from universe.api.html_pages import read_concepts_markdown
    from universe.domain.command_catalogue import render_markdown_reference

    pages = {
        "reference/universe-commands.md": render_markdown_reference(),
        "concepts/universes.md": read_concepts_markdown(),
    }
    for name, text in pages.items():
        assert (ROOT / "docs" / name).read_text(encoding="utf-8") == text.rstrip() + "\n", "run `make docs`"


def test_every_command_for_workflows_is_documented() -> None:
    import typer.main

    from pflow.cli.commands import app

    page = (ROOT / "docs" / "reference" / "workflows.md").read_text(encoding="utf-8")
    root = typer.main.get_group(app)
    names = {*root.commands} - {"mcp"} | {f"mcp {name}" for name in getattr(root.commands["mcp"], "commands")}  # noqa: B009
    assert sorted(names - {"serve", "mcp serve"}) == sorted(WORKFLOWS)
    assert sorted(name for name in names if f"| `pflow {name}" not in page) == []


def test_every_diagnostic_of_the_checker_is_documented() -> None:
    page = (ROOT / "docs" / "reference" / "workflows.md").read_text(encoding="utf-8")
    source = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "src" / "pflow").rglob("*.py"))
    codes = set(re.findall(r'\b(?:make_error|make_warning|make_error\))\(\s*"([a-z0-9_]+)",\s', source))
    codes |= set(re.findall(r'\bmake_\w+_error\(\s*\w+, "([a-z0-9_]+)"', source))
    assert len(codes) >= 60
    assert sorted(code for code in codes if f"`{code}`" not in page) == []


def test_every_key_of_a_workflow_is_documented() -> None:
    from pflow.domain.ir import declarations
    from pflow.domain.ir import declarations as node_keys
    from pflow.domain.ir import parser as reading

    page = (ROOT / "docs" / "reference" / "workflows.md").read_text(encoding="utf-8")
    keys = {
        key
        for module, names in (
            (reading, ("_KEYS", "_NODE_KEYS", "_WRAPPER_KEYS")),
            (declarations, ("_INPUT_KEYS", "_OUTPUT_KEYS")),
            (node_keys, ("_BATCH_KEYS", "_RETRY_KEYS")),
        )
        for name in names
        for key in getattr(module, name)
    }
    assert sorted(key for key in keys if not re.search(rf'[`"]{key}[`"]', page)) == []


def test_the_page_about_nodes_agrees_with_their_interfaces() -> None:
    from tools.write_pflow_pages import PAGE, nodes_page

    assert PAGE.read_text(encoding="utf-8") == nodes_page().rstrip() + "\n", "run `make docs`"


@requirement("PF-M1")
@pytest.mark.parametrize("page_name", ["connect-an-agent.md", "an-agents-loop.md"])
def test_the_guides_for_agents_say_how_to_connect_the_server_for_workflows(page_name: str) -> None:
    page = (ROOT / "docs" / "guides" / page_name).read_text(encoding="utf-8")
    assert "claude mcp add pflow -- pflow mcp serve" in page
    assert '{"command": "pflow", "args": ["mcp", "serve"]}' in page
