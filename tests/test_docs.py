"""The documents cannot rot: every example in them runs, and every setting, error and option is in them."""

import ast
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from paper_library.config import LibraryConfig
from paper_search.config import AppConfig
from universe.config import UniverseConfig
from uraniborg.recordings import RECORDING

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted([*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"])


RUN = re.compile(r"(?:[A-Z_]+=\S+ )*(?:python -m paper_search|uraniborg|paper-library|universe)\b")


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def commands(page: Path) -> list[str]:
    lines = [line[2:] for block in blocks(page, "console") for line in block.splitlines() if line.startswith("$ ")]
    return [line for line in lines if RUN.match(line)]


def named(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.fixture
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder where every search is the recorded one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("URANIBORG_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("URANIBORG_PAPER_SEARCH__REPLAY_DIR", str(RECORDING))
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    return tmp_path


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "python")], ids=named)
async def test_the_python_examples_of_a_page_run_from_top_to_bottom(page: Path, offline: Path) -> None:
    namespace: dict[str, Any] = {"__name__": "docs"}
    for number, block in enumerate(blocks(page, "python"), 1):
        code = compile(block, f"{named(page)}, example {number}", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        running = eval(code, namespace)
        if inspect.iscoroutine(running):
            await running


@pytest.mark.parametrize("page", [page for page in PAGES if commands(page)], ids=named)
def test_the_commands_of_a_page_run_one_after_the_other(page: Path, offline: Path) -> None:
    for command in commands(page):
        done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=50, check=False)
        assert done.returncode == 0, f"{command}\n{done.stderr}"


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


def test_every_error_code_is_documented() -> None:
    import paper_library.errors
    import paper_library.serving
    import paper_search.errors
    import universe.domain.catalogue
    import universe.errors
    import universe.exchange
    import universe.systems.catalogue
    import uraniborg.kernel.errors
    import uraniborg.kernel.files
    import uraniborg.kernel.hosts
    import uraniborg.kernel.mcp.rules
    import uraniborg.kernel.web

    page = (ROOT / "docs" / "reference" / "errors.md").read_text(encoding="utf-8")
    codes = {
        value.code
        for module in (
            paper_search.errors,
            paper_library.errors,
            paper_library.serving,
            universe.errors,
            universe.exchange,
            universe.domain.catalogue,
            universe.systems.catalogue,
            uraniborg.kernel.errors,
            uraniborg.kernel.files,
            uraniborg.kernel.hosts,
            uraniborg.kernel.mcp.rules,
            uraniborg.kernel.web,
        )
        for value in vars(module).values()
        if inspect.isclass(value) and issubclass(value, uraniborg.kernel.errors.UraniborgError)
    }
    assert sorted(code for code in codes if f"`{code}`" not in page) == []


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
    "cite",
    "nbody",
    "verify",
    "commands",
    "delete",
)
LIBRARY = ("build", "search", "show", "stats", "verify", "diff", "sample", "serve")


@pytest.mark.parametrize(
    ("command", "page_name"),
    [
        *((name, "guides/command-line.md") for name in ("paper_search", "uraniborg demo", "uraniborg inbox")),
        *((name, "guides/command-line.md") for name in ("uraniborg decide", "uraniborg version")),
        *((f"paper_library {name}", "reference/library.md") for name in LIBRARY),
        *((f"universe {name}", "reference/universe.md") for name in UNIVERSE),
    ],
)
def test_every_option_of_a_command_is_documented(command: str, page_name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *command.split(), "--help"],
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


def test_the_pages_about_universes_say_what_the_code_says() -> None:
    from universe.domain.catalogue import as_markdown
    from universe.pages import concepts_text

    pages = {"reference/universe-commands.md": as_markdown(), "concepts/universes.md": concepts_text()}
    for name, text in pages.items():
        assert (ROOT / "docs" / name).read_text(encoding="utf-8") == text.rstrip() + "\n", "run `make docs`"
