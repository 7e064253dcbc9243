"""The stated deviations agree with the code: a row whose fact has changed fails here."""

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

import paper_search
from paper_library import Library, sample_shelf
from paper_library.domain.limits import READ_CHARS
from paper_library.mcp_server import make_mcp_server as make_library_server
from paper_library.service.build import paper_assembly
from paper_library.service.worker_threads import WorkerThreads
from paper_search import mcp_server
from paper_search.config import SessionsConfig
from paper_search.export import FORMATS
from paper_search.models import MAX_RESULTS_CAP
from paper_search.service.sessions.reply_builder import MOST_PAPERS
from pflow.config import Settings
from pflow.mcp_server import build_server
from pflow.service.engine.results import MAX_OUTPUT_BYTES
from pflow.service.operations import BROWSE_BYTES
from tests.requirements.ledger import ROOT, deviations, list_deviations, list_quoted_names, requirements
from universe.api.mcp_contents import STATE_BYTES
from universe.config import UniverseConfig
from universe.mcp_server import make_mcp_server
from universe.service.universes import UniverseService
from universe.store.memory import MemoryStore
from uraniborg.kernel.mcp import Server

SPECIFIED_FORMATS = {"json", "bibtex", "markdown"}
SPECIFIED_NAMES = {
    *("Paper", "PaperCollection", "ParsedIntent", "SearchStrategy"),
    *("search", "export_json", "export_bibtex", "export_markdown"),
}

LIBRARY_TOOLS: Final = {
    *("search_papers", "search_papers_by_keyword", "list_top_facets"),
    *("get_paper_metadata", "get_paper_summary", "get_paper_source"),
}


def make_search_server() -> Server:
    return mcp_server.mcp


def make_universe_server() -> Server:
    return make_mcp_server(UniverseService(MemoryStore()))


def test_rows_are_in_the_order_of_the_requirements_and_none_is_stated_twice() -> None:
    order = [requirement.id for requirement in requirements()]
    stated = deviations()
    assert [row.id for row in stated] == sorted((row.id for row in stated), key=order.index)
    assert len({row.deviation for row in stated}) == len(stated)


@pytest.mark.parametrize(
    ("requirement_id", "names"),
    [
        ("PS-REQ-10", FORMATS.keys() - SPECIFIED_FORMATS),
        ("PS-X6", {"__all__", *paper_search.__all__} - SPECIFIED_NAMES),
    ],
)
def test_added_formats_and_public_names_are_listed_exactly(requirement_id: str, names: set[str]) -> None:
    assert names in list_quoted_names(requirement_id)


@pytest.mark.parametrize(
    ("requirement_id", "make_server", "resources"),
    [
        ("PS-REQ-7", make_search_server, {"paper-search://sessions"}),
        ("UN-1", make_universe_server, set[str]()),
        ("PF-R1", build_server, {"pflow://guide"}),
    ],
)
async def test_added_prompts_and_resources_are_listed_exactly(
    requirement_id: str, make_server: Callable[[], Server], resources: set[str]
) -> None:
    server = make_server()
    prompts = {prompt.name for prompt in await server.list_prompts()}
    assert prompts | resources in list_quoted_names(requirement_id)
    assert resources <= {str(resource.uri) for resource in await server.list_resources()}


@pytest.mark.parametrize(
    ("requirement_id", "make_server"), [("PS-REQ-8", make_search_server), ("UN-10", make_universe_server)]
)
async def test_tools_with_structured_content_are_listed_exactly(
    requirement_id: str, make_server: Callable[[], Server]
) -> None:
    structured = {tool.name for tool in await make_server().list_tools() if tool.outputSchema}
    assert structured in list_quoted_names(requirement_id)


async def test_the_tools_that_the_library_adds_are_listed_exactly(tmp_path: Path) -> None:
    library, threads = Library.open(sample_shelf(tmp_path / "shelf")), WorkerThreads(1, query_s=1, fetch_s=1)
    tools = {tool.name for tool in await make_library_server(library, threads).list_tools()}
    assert tools - LIBRARY_TOOLS in list_quoted_names("PL-6")
    threads.close()
    library.close()


@pytest.mark.parametrize("requirement_id", ["PS-C2", "PF-R19"])
def test_the_stated_requirement_of_the_sdk_is_that_of_the_extra(requirement_id: str) -> None:
    extra = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]["mcp"]
    (needed,) = [text for text in extra if text.startswith("mcp")]
    assert {needed} in list_quoted_names(requirement_id)


@pytest.mark.parametrize("requirement_id", ["PS-C6", "PF-M1"])
def test_the_stated_files_and_folders_exist(requirement_id: str) -> None:
    paths = [name for names in list_quoted_names(requirement_id) for name in names]
    assert paths
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_the_files_that_are_elsewhere_are_not_at_the_specified_paths_as_well() -> None:
    specified = ["src/paper_search/export.py", "src/pflow/main_wrapper.py", "src/pflow/cli/main_wrapper.py"]
    specified += [f"tests/{name}" for name in ("test_export.py", "test_mcp_server.py", "test_main.py")]
    assert [path for path in (*specified, "tests/test_mcp_server") if (ROOT / path).exists()] == []


def test_private_names_that_are_stated_as_missing_are_missing() -> None:
    (names,) = [names for names in list_quoted_names("PS-X6") if "__all__" not in names and names]
    sources = "".join(path.read_text(encoding="utf-8") for path in Path(ROOT / "src").rglob("*.py"))
    assert [name for name in names if name in sources] == []


def test_descriptions_of_search_tools_have_no_section_of_arguments() -> None:
    tools = (mcp_server.search_papers, mcp_server.decide, mcp_server.export_results, mcp_server.get_session)
    assert [tool.__name__ for tool in tools if "Args:" in (tool.__doc__ or "Args:")] == []


@pytest.mark.parametrize(
    ("requirement_id", "fact"),
    [
        ("PS-REQ-8", f"{SessionsConfig().reply_within_s:.0f} s by default"),
        ("PS-REQ-8", f"at most {MAX_RESULTS_CAP:,} papers"),
        ("PS-REQ-10", f"more than {MOST_PAPERS} papers"),
        ("PS-E6", f"idle for {SessionsConfig().idle_s / 60:.0f} minutes"),
        ("PS-E6", f"after {SessionsConfig().retention_days:.0f} days"),
        ("PL-11", f"more than {paper_assembly._MANY_PAPERS:,} papers"),  # pyright: ignore[reportPrivateUsage]
        ("PL-12", f"first {READ_CHARS:,} characters"),
        ("UN-9", f"up to {STATE_BYTES // 1024} KB"),
        ("UN-19", f"for {UniverseConfig().session_idle_s / 60:.0f} minutes"),
        ("UN-19", f"Beyond {UniverseConfig().max_sessions:,} sessions"),
        ("PF-R2", f"about {BROWSE_BYTES:,} bytes"),
        ("PF-E10", f"for {Settings().checkpoint_hours:.0f} hours"),
        ("PF-N6", f"beyond {MAX_OUTPUT_BYTES:,} bytes"),
    ],
)
def test_a_stated_number_is_that_of_the_code(requirement_id: str, fact: str) -> None:
    assert any(fact in deviation for deviation in list_deviations(requirement_id)), fact
