"""The descriptions and schemas of the tools."""

from pathlib import Path
from typing import Any

import pytest

from paper_library.config import LibraryConfig
from tests.paper_library.mcp.http_client import Caller, make_initialize_request, serve_library
from tests.requirements import requirement
from tests.requirements.ledger import list_quoted_names

TOOLS = {
    "search_papers",
    "search_papers_by_keyword",
    "get_paper_metadata",
    "get_paper_summary",
    "get_paper_source",
    "list_top_facets",
}
EXTRA_TOOLS = {"read_paper_section", "export_citations"}
ARGUMENTS = {
    "search_papers": {"query", "limit", "page_size", "offset"},
    "search_papers_by_keyword": {"keyword", "limit", "page_size", "offset"},
    "get_paper_metadata": {"paper_id"},
    "get_paper_summary": {"paper_id", "template", "max_chars", "offset"},
    "get_paper_source": {"paper_id", "max_chars", "offset", "lang"},
    "read_paper_section": {"paper_id", "section", "max_chars", "offset", "lang"},
    "export_citations": {"paper_ids", "format"},
    "list_top_facets": {"category", "limit"},
}


@pytest.fixture
def tools(library: Caller) -> dict[str, dict[str, Any]]:
    return {tool["name"]: tool for tool in library.request("tools/list")["tools"]}


def find_bounds(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the bounds of an argument; an optional argument has them in its non-null alternative."""
    (bounded,) = [one for one in schema.get("anyOf", [schema]) if one.get("type") != "null"]
    return bounded


@requirement("PL-5", "PL-6")
def test_a_client_sees_the_six_specified_tools_and_two_more(tools: dict[str, dict[str, Any]]) -> None:
    assert tools.keys() == TOOLS | EXTRA_TOOLS
    assert EXTRA_TOOLS in list_quoted_names("PL-6")


@requirement("PL-6")
def test_every_tool_has_a_title_of_its_own_and_states_when_to_use_it(tools: dict[str, dict[str, Any]]) -> None:
    assert len({tool["title"].strip() for tool in tools.values()} - {""}) == len(tools)
    for name, tool in tools.items():
        description = tool["description"]
        assert len(description) > 80, name
        assert any(word in description for word in ("Use it", "Call ", "read on")), name
        assert "shelf" in description.split(".")[0], "the first sentence names the scope"


@requirement("PL-11")
def test_the_summary_tool_sends_its_reader_to_the_metadata_first(tools: dict[str, dict[str, Any]]) -> None:
    assert "get_paper_metadata first" in tools["get_paper_summary"]["description"]


@requirement("PL-12", "PL-15")
def test_the_source_tool_warns_of_size_and_names_max_chars(tools: dict[str, dict[str, Any]]) -> None:
    description = tools["get_paper_source"]["description"]
    assert "large" in description
    assert "max_chars" in description


@requirement("PL-6")
def test_every_argument_is_described_and_unknown_ones_are_refused(tools: dict[str, dict[str, Any]]) -> None:
    for name, tool in tools.items():
        schema = tool["inputSchema"]
        assert schema["type"] == "object"
        assert schema["additionalProperties"] is False
        assert ARGUMENTS[name] <= schema["properties"].keys()
        assert name == "search_papers" or ARGUMENTS[name] == schema["properties"].keys()
        for argument, described in schema["properties"].items():
            assert described.get("description") or "enum" in described, (name, argument)


def test_every_tool_declares_that_it_only_reads(tools: dict[str, dict[str, Any]]) -> None:
    for tool in tools.values():
        assert tool["annotations"]["readOnlyHint"] is True
        assert tool["annotations"]["idempotentHint"] is True
        assert tool["annotations"]["destructiveHint"] is False
        assert tool["annotations"]["openWorldHint"] is False


@requirement("PL-18")
@pytest.mark.parametrize("tool", ["search_papers", "search_papers_by_keyword"])
def test_the_schema_has_the_limits_of_paging(tools: dict[str, dict[str, Any]], tool: str) -> None:
    properties = tools[tool]["inputSchema"]["properties"]
    for name in ("limit", "page_size"):
        assert (find_bounds(properties[name])["minimum"], find_bounds(properties[name])["maximum"]) == (1, 100)
    assert (find_bounds(properties["offset"])["minimum"], find_bounds(properties["offset"])["maximum"]) == (0, 10_000)


@requirement("PL-18")
def test_the_schema_has_the_limit_of_a_query(tools: dict[str, dict[str, Any]]) -> None:
    assert tools["search_papers"]["inputSchema"]["properties"]["query"]["maxLength"] == 500


@requirement("PL-13")
def test_the_schema_has_the_categories(tools: dict[str, dict[str, Any]]) -> None:
    category = tools["list_top_facets"]["inputSchema"]["properties"]["category"]
    assert set(category["enum"]) == {"author", "venue", "keyword", "institution", "tag"}


@requirement("PL-15")
@pytest.mark.parametrize(
    ("tool", "default"), [("get_paper_summary", None), ("get_paper_source", 20_000), ("read_paper_section", 20_000)]
)
def test_texts_can_be_limited_and_a_summary_is_complete_by_default(
    tools: dict[str, dict[str, Any]], tool: str, default: int | None
) -> None:
    schema = tools[tool]["inputSchema"]
    assert find_bounds(schema["properties"]["max_chars"])["minimum"] >= 1
    assert schema["properties"]["max_chars"]["default"] == default
    assert "max_chars" not in schema.get("required", [])


@pytest.mark.parametrize(
    ("tool", "required"),
    [
        ("search_papers", ["query"]),
        ("search_papers_by_keyword", ["keyword"]),
        ("get_paper_summary", ["paper_id"]),
        ("list_top_facets", ["category"]),
    ],
)
def test_only_arguments_without_a_default_are_required(
    tools: dict[str, dict[str, Any]], tool: str, required: list[str]
) -> None:
    assert tools[tool]["inputSchema"]["required"] == required


def test_the_two_extra_tools_can_be_disabled_and_the_instructions_follow(rich_shelf: Path, library: Caller) -> None:
    with serve_library(LibraryConfig(shelf=rich_shelf, extra_tools=False)) as caller:
        tools = {tool["name"]: tool for tool in caller.request("tools/list")["tools"]}
        instructions = caller.post(make_initialize_request()).json()["result"]["instructions"]
    assert tools.keys() == TOOLS
    assert all(name not in instructions for name in EXTRA_TOOLS)
    assert all(
        name in library.post(make_initialize_request()).json()["result"]["instructions"] for name in TOOLS | EXTRA_TOOLS
    )


@pytest.mark.parametrize(
    "word", ["matched_fields", "section", "offset", "lang", "20,000", "resources/list", "retract", "RIS", "max_chars"]
)
def test_the_instructions_mention_every_tool_and_resource(library: Caller, word: str) -> None:
    instructions = library.post(make_initialize_request()).json()["result"]["instructions"]
    assert word in instructions
    assert len(instructions) < 1_500
