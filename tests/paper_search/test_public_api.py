"""Tests of the public names of `paper_search` and of the modules that importing it loads."""

import inspect
import subprocess
import sys
import tomllib
from importlib.metadata import entry_points
from pathlib import Path

import pytest

import paper_search
from tests.requirements import requirement

ROOT = Path(__file__).resolve().parents[2]


def list_loaded_modules(code: str) -> set[str]:
    report = f"{code}\nimport sys\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", report], capture_output=True, text=True, check=True, timeout=50)
    return set(done.stdout.split())


@requirement("PS-C1")
def test_importing_the_library_loads_neither_the_sdk_nor_the_command_line() -> None:
    loaded = list_loaded_modules("import paper_search")
    assert not loaded & {
        "mcp",
        "httpx",
        "typer",
        "pydantic",
        "paper_search.cli.search_command",
        "paper_search.mcp_server",
    }


@requirement("PS-C1", "PS-X7")
def test_searching_and_exporting_never_load_the_sdk() -> None:
    code = (
        "import paper_search\n"
        "from uraniborg.recordings import QUERY, RECORDING\n"
        "papers = paper_search.search_sync(QUERY, paper_search.AppConfig(replay_dir=RECORDING))\n"
        "assert papers.papers\n"
        "paper_search.export_bibtex(papers)"
    )
    assert not list_loaded_modules(code) & {"mcp", "openai"}


@requirement("PS-X6")
def test_every_public_name_can_be_imported_and_is_listed() -> None:
    expected = {"Paper", "PaperCollection", "ParsedIntent", "SearchStrategy", "search"}
    expected |= {"export_json", "export_bibtex", "export_markdown"}
    assert expected <= set(paper_search.__all__)
    assert paper_search.__all__ == sorted(paper_search.__all__)
    for name in paper_search.__all__:
        assert getattr(paper_search, name) is not None
    assert set(paper_search.__all__) <= set(dir(paper_search))


def test_a_name_that_is_not_public_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = paper_search.nothing  # pyright: ignore[reportAttributeAccessIssue] - that is the point


@requirement("PS-X6", "PS-C8")
def test_search_is_a_coroutine_function_with_the_stated_parameters() -> None:
    assert inspect.iscoroutinefunction(paper_search.search)
    parameters = inspect.signature(paper_search.search).parameters
    assert [(name, parameter.default) for name, parameter in parameters.items()] == [
        ("query", inspect.Parameter.empty),
        ("config", None),
        ("max_results", 100),
        ("domain", "general"),
    ]


@requirement("PS-X7")
def test_the_sdk_is_an_optional_dependency_below_its_second_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert not [need for need in project["dependencies"] if need.startswith("mcp")]
    assert "mcp>=1.30,<2" in project["optional-dependencies"]["mcp"]


@requirement("PS-X7")
def test_the_server_script_is_registered_and_loads_without_the_sdk() -> None:
    scripts = {script.name: script.value for script in entry_points(group="console_scripts")}
    assert scripts["paper-search-mcp"] == "paper_search.mcp_server:main"
    assert scripts["uraniborg"] == scripts["ubg"] == "uraniborg.cli:main"
    assert "mcp" not in list_loaded_modules("import paper_search.mcp_server")


@requirement("PS-X7")
def test_using_the_server_without_the_sdk_names_the_extra_to_install() -> None:
    code = (
        "import sys\nsys.modules['mcp'] = None\n"
        "import importlib.util as u\n"
        "real = u.find_spec\n"
        "u.find_spec = lambda name, *a: None if name == 'mcp' else real(name, *a)\n"
        "from paper_search.mcp_server import main\nmain()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=50)
    assert done.returncode == 2
    assert "pip install 'uraniborg[mcp]'" in done.stderr
    assert done.stdout == ""
