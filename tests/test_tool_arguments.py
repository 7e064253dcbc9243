"""The rules that the arguments of every tool of every server follow."""

# pyright: reportPrivateUsage=false

import json
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import pytest

from paper_library.mcp_server import make_mcp_server as library_server
from paper_library.service.library import Library
from paper_library.service.live_shelf import LiveShelf
from paper_library.service.shelf_catalog import sample_shelf
from paper_library.service.worker_threads import WorkerThreads
from paper_library.store.assets import AssetReader
from paper_search.mcp_server import mcp as paper_search
from pflow.mcp_server import build_server as pflow_server
from universe.mcp_server import make_mcp_server as universe_server
from universe.service.universes import UniverseService
from universe.store.memory import MemoryStore
from uraniborg.kernel.mcp import Server


@contextmanager
def making_servers() -> Generator[dict[str, Server]]:
    threads = WorkerThreads(1, query_s=1, fetch_s=1)
    library = Library(LiveShelf(sample_shelf()), AssetReader(None, timeout_s=1), timeout_s=1)
    yield {
        "paper_search": paper_search,
        "paper_library": library_server(library, threads),
        "pflow": pflow_server(),
        "universe": universe_server(UniverseService(MemoryStore(), snapshot_every=100)),
    }
    threads.close()
    library.close()


def optional_arguments() -> list[tuple[str, str, str]]:
    with making_servers() as all_servers:
        return [
            (server, tool, argument)
            for server, made in all_servers.items()
            for tool, known in made._known_tools.items()
            for argument in known.arguments.schema.get("properties", {})
            if argument not in known.arguments.schema.get("required", [])
        ]


OPTIONAL = optional_arguments()
NULL_IS_LISTED = {
    ("paper_library", "get_paper_source", "max_chars"),
    ("paper_library", "read_paper_section", "max_chars"),
}
"""Arguments whose schema lists null beside another default: the tool itself gives null the meaning of the default."""


@pytest.fixture(scope="module")
def servers() -> Generator[dict[str, Server]]:
    with making_servers() as made:
        yield made


def some_value(schema: dict[str, Any]) -> Any:
    if schema.get("type") == "array":
        return ["x"]
    return schema["enum"][0] if "enum" in schema else "x"


@pytest.mark.parametrize(("server", "tool", "argument"), OPTIONAL, ids=[".".join(one) for one in OPTIONAL])
def test_null_for_an_optional_argument_means_its_default(
    servers: dict[str, Server], server: str, tool: str, argument: str
) -> None:
    arguments = servers[server]._known_tools[tool].arguments
    schema: Any = arguments.schema
    required = {name: some_value(schema["properties"][name]) for name in schema.get("required", [])}
    accepted = arguments.validate({**required, argument: None})
    if (server, tool, argument) in NULL_IS_LISTED:
        assert accepted[argument] is None
    else:
        assert accepted == arguments.validate(required)


@pytest.mark.parametrize(
    ("tool", "more"), [("get_paper_source", {}), ("read_paper_section", {"section": "What was asked"})]
)
async def test_null_for_the_length_of_a_text_means_the_usual_length(
    servers: dict[str, Server], tool: str, more: dict[str, Any]
) -> None:
    server = servers["paper_library"]
    found = await server.reply_to("search_papers", {"query": "", "limit": 50})
    asked = [{"paper_id": paper["paper_id"], **more} for paper in json.loads(found.text)["results"]]
    usual = [await server.reply_to(tool, arguments) for arguments in asked]
    assert usual == [await server.reply_to(tool, {**arguments, "max_chars": None}) for arguments in asked]
    assert any(not reply.is_error for reply in usual)


def test_every_server_has_tools_with_optional_arguments() -> None:
    assert {server for server, _, _ in OPTIONAL} == {"paper_search", "paper_library", "pflow", "universe"}
