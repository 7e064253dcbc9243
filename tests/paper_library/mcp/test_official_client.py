"""The scenarios of the specification with the official client."""

import json
from typing import Any

import pytest
from pydantic import AnyUrl

from paper_library.domain import limits
from tests.paper_library.mcp import inputs
from tests.paper_library.mcp.http_client import Caller
from tests.paper_library.mcp.test_output_schemas import FAILURES, STRUCTURED, TEXTS
from tests.requirements import requirement
from uraniborg.kernel.mcp.testing import ClientSession, McpError, connect_http_client, get_json, get_text

ATTENTION = {"paper_id": inputs.ATTENTION_DOI}


async def read_resource_text(client: ClientSession, uri: str) -> tuple[str, str | None]:
    (content,) = (await client.read_resource(AnyUrl(uri))).contents
    return getattr(content, "text", ""), content.mimeType


@requirement("PL-1", "PL-4", "PL-5")
async def test_initialize_mcp_capabilities(library: Caller) -> None:
    async with connect_http_client(f"{library.url}/mcp") as client:
        capabilities = client.get_server_capabilities()
        assert capabilities is not None
        offered = capabilities.model_dump(exclude_none=True)
    assert offered.keys() == {"tools", "resources"}


@requirement("PL-6")
async def test_tool_descriptions_guide_a_model(library: Caller) -> None:
    async with connect_http_client(f"{library.url}/mcp") as client:
        tools = (await client.list_tools()).tools
    assert len(tools) == 8
    assert all(tool.title and tool.description for tool in tools)


@requirement("PL-8")
async def test_full_text_search(library: Caller) -> None:
    async with connect_http_client(f"{library.url}/mcp") as client:
        result = await client.call_tool("search_papers", {"query": "rain radar"})
    assert result.structuredContent == get_json(result)
    rows = get_json(result)["results"]
    assert [row["score"] for row in rows] == sorted((row["score"] for row in rows), reverse=True)
    assert all("**" in row["snippet_markdown"] for row in rows)


@requirement("PL-9")
async def test_keyword_search(library: Caller) -> None:
    async with connect_http_client(f"{library.url}/mcp") as client:
        result = await client.call_tool("search_papers_by_keyword", {"keyword": "transformer"})
        (row,) = get_json(result)["results"]
        metadata = get_json(await client.call_tool("get_paper_metadata", {"paper_id": row["paper_id"]}))
    assert "transformer" in metadata["keywords"]


@requirement("PL-10")
async def test_metadata_includes_templates(library: Caller) -> None:
    async with connect_http_client(f"{library.url}/mcp") as client:
        metadata = get_json(await client.call_tool("get_paper_metadata", ATTENTION))
    assert metadata["preferred_summary_template"] in metadata["available_summary_templates"]


@requirement("PL-11")
async def test_summary_proxy_fetch(library: Caller) -> None:
    async with connect_http_client(f"{library.url}/mcp") as client:
        result = await client.call_tool("get_paper_summary", {**ATTENTION, "template": "deep_read"})
    assert json.loads(get_text(result)) == inputs.DEEP_READ


@requirement("PL-12")
async def test_missing_source_content(library: Caller) -> None:
    async with connect_http_client(f"{library.url}/mcp") as client:
        result = await client.call_tool("get_paper_source", {"paper_id": inputs.SOURCELESS})
    assert result.isError
    assert "not available" in get_json(result)["error"]["message"]


@requirement("PL-13")
async def test_top_authors(library: Caller) -> None:
    async with connect_http_client(f"{library.url}/mcp") as client:
        reply = get_json(await client.call_tool("list_top_facets", {"category": "author", "limit": 20}))
    counts = [row["paper_count"] for row in reply["result"]]
    assert 0 < len(counts) <= 20
    assert counts == sorted(counts, reverse=True)


@requirement("PL-14")
async def test_read_summary_resource_with_template_and_translation_resource(library: Caller) -> None:
    paper_id = library.find_paper_id(inputs.ATTENTION_DOI)
    async with connect_http_client(f"{library.url}/mcp") as client:
        summary, summary_type = await read_resource_text(client, f"paper://{paper_id}/summary/deep_read")
        translation, translation_type = await read_resource_text(client, f"paper://{paper_id}/translation/zh")
        templates = (await client.list_resource_templates()).resourceTemplates
    assert (json.loads(summary), summary_type) == (inputs.DEEP_READ, "application/json")
    assert (translation, translation_type) == (inputs.ATTENTION_ZH.strip(), "text/markdown")
    assert len(templates) == 5


@requirement("PL-15")
async def test_tool_and_resource_truncate_large_content(library: Caller) -> None:
    whole = inputs.make_long_text()
    async with connect_http_client(f"{library.url}/mcp") as client:
        result = await client.call_tool("get_paper_source", {"paper_id": inputs.LONG, "max_chars": 10_000})
        resource, _ = await read_resource_text(client, f"paper://{inputs.LONG}/source")
    assert get_text(result).startswith(whole[:10_000] + "\n\n[truncated: ")
    assert resource.startswith(whole[:50_000] + "\n\n[truncated: ")


@requirement("PL-15")
async def test_a_long_resource_is_read_on_page_by_page(library: Caller) -> None:
    whole, pieces, offset = inputs.make_long_text(), [""], 0
    async with connect_http_client(f"{library.url}/mcp") as client:
        while "".join(pieces) != whole:
            text, _ = await read_resource_text(client, f"paper://{inputs.LONG}/source?offset={offset}")
            piece, _, marker = text.partition("\n\n[truncated: ")
            pieces.append(piece)
            offset = int(marker.rpartition("offset=")[2].rstrip("]") or 0)
    assert len(pieces) == 1 + -(-len(whole) // 50_000)


async def test_papers_are_listed_as_resources_page_by_page(library: Caller) -> None:
    async with connect_http_client(f"{library.url}/mcp") as client:
        listed = await client.list_resources()
        (content,) = (await client.read_resource(listed.resources[0].uri)).contents
    papers = library.call_structured("search_papers", query="", limit=100)
    assert [one.name for one in listed.resources] == [hit["title"] for hit in papers["results"]]
    assert listed.nextCursor is None
    assert json.loads(getattr(content, "text", ""))["title"] == listed.resources[0].name


async def test_a_paper_is_found_read_by_section_and_cited(library: Caller) -> None:
    async with connect_http_client(f"{library.url}/mcp") as client:  # which checks replies against output schemas
        hit = get_json(await client.call_tool("search_papers", {"query": "drizzle"}))["results"][0]
        paper = {"paper_id": hit["paper_id"]}
        outline = get_json(await client.call_tool("get_paper_metadata", paper))["outline"]
        section = await client.call_tool("read_paper_section", {**paper, "section": outline[-1]["title"]})
        translated = await client.call_tool("get_paper_source", {**paper, "lang": "zh"})
        cited = await client.call_tool("export_citations", {"paper_ids": [hit["paper_id"]], "format": "ris"})
    assert "drizzle" in get_text(section)
    assert get_text(translated) == inputs.ATTENTION_ZH.strip()
    assert get_text(cited).startswith("TY  - CPAPER")


@requirement("PL-16")
async def test_template_not_available(library: Caller) -> None:
    async with connect_http_client(f"{library.url}/mcp") as client:
        result = await client.call_tool("get_paper_summary", {**ATTENTION, "template": "haiku"})
        with pytest.raises(McpError) as caught:
            await client.read_resource(AnyUrl("paper://oztuerk2021attention/summary/haiku"))
    assert result.isError
    error = get_json(result)["error"]
    assert error["code"] == "template_not_available"
    assert set(error["available_summary_templates"]) == {"default", "deep_read", "brief"}
    assert error["template"] == "haiku"
    assert caught.value.error.data is not None
    same: dict[str, Any] = caught.value.error.data["error"]
    assert same.pop("request_id") != error.pop("request_id")
    assert same == error


@requirement("PL-18")
@pytest.mark.parametrize("arguments", [{"query": "q" * 501}, {"query": "q", "page_size": 101}])
async def test_excessive_query_length_and_page_size(library: Caller, arguments: dict[str, Any]) -> None:
    async with connect_http_client(f"{library.url}/mcp") as client:
        result = await client.call_tool("search_papers", arguments)
    assert result.isError
    assert get_json(result)["error"]["code"] == "invalid_argument"


CALLS = [(name, arguments) for name, calls in STRUCTURED.items() for arguments in calls]


async def test_the_client_accepts_every_reply_in_all_its_states(library: Caller) -> None:
    """The client raises for structured content that does not fit the published schema."""
    async with connect_http_client(f"{library.url}/mcp") as client:
        await client.list_tools()
        for name, arguments in CALLS:
            assert (await client.call_tool(name, arguments)).structuredContent is not None
        for name, arguments in TEXTS.items():
            assert (await client.call_tool(name, arguments)).structuredContent is None
        for name, arguments in FAILURES:
            assert (await client.call_tool(name, arguments)).isError


async def test_the_client_accepts_a_page_whose_further_results_no_offset_reaches(
    library: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "OFFSET", 4)
    async with connect_http_client(f"{library.url}/mcp") as client:
        page = await client.call_tool("search_papers", {"query": "gravel", "offset": 4})
        listed = await client.call_tool("search_papers_by_keyword", {"keyword": "gravel", "offset": 4})
    for result in (page, listed):
        assert result.structuredContent == get_json(result)
        assert "cannot be listed" in get_json(result)["more"]
