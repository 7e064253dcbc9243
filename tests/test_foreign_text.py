"""Text of papers, tables, tools and the web is marked in the replies of all four servers, and other text is not."""

from typing import Any, Final

import pytest
from pydantic import AnyUrl

from bench.mistake_servers import OPENERS, Prepare
from tests.test_tool_arguments import making_servers
from uraniborg.kernel.mcp import Origin, explain_mark
from uraniborg.kernel.mcp.replies import make_foreign_meta
from uraniborg.kernel.mcp.testing import ClientSession, get_json, get_text
from uraniborg.recordings import QUERY

Origins = tuple[Origin, ...]
PAPERS: Final[Origins] = ("papers",)
NAMES: Final[Origins] = ("papers", "tables")
DESCRIBED: Final[Origins] = ("tools",)
COMPUTED: Final[Origins] = ("papers", "tables", "tools", "web")
OWN: Final[Origins] = ()

ORIGINS: Final[dict[str, Origins]] = {"search": PAPERS, "library": PAPERS, "pflow": COMPUTED, "universe": NAMES}
TOOLS: Final[dict[str, dict[str, Origins]]] = {
    "search": dict.fromkeys(["search_papers", "decide", "export_results", "get_session"], PAPERS),
    "library": dict.fromkeys(
        [
            "search_papers",
            "search_papers_by_keyword",
            "list_top_facets",
            "get_paper_metadata",
            "get_paper_summary",
            "get_paper_source",
            "read_paper_section",
            "export_citations",
        ],
        PAPERS,
    ),
    "pflow": {
        **dict.fromkeys(["browse_components", "list_library", "describe_workflow"], DESCRIBED),
        "execute": COMPUTED,
        "save_to_library": OWN,
    },
    "universe": {
        **dict.fromkeys(["get_universe_state", "send_universe_command"], NAMES),
        "list_universe_commands": OWN,
    },
}
RESOURCES: Final[dict[str, dict[str, Origins]]] = {
    "search": {
        "paper-search://sessions": PAPERS,
        "paper-search://sessions/{session_id}/papers": PAPERS,
        "paper-search://sessions/{session_id}/papers/{offset}": PAPERS,
        "paper-search://sessions/{session_id}/export": PAPERS,
        "paper-search://sessions/{session_id}/export/{offset}": PAPERS,
        "paper-search://sessions/{session_id}/removed": PAPERS,
        "paper-search://sessions/{session_id}/removed/{offset}": PAPERS,
        "paper-search://sessions/{session_id}/queries": PAPERS,
        "paper-search://sessions/{session_id}/queries/{offset}": PAPERS,
    },
    "library": {
        "paper://{paper_id}/metadata{?offset}": PAPERS,
        "paper://{paper_id}/summary{?offset}": PAPERS,
        "paper://{paper_id}/summary/{template}{?offset}": PAPERS,
        "paper://{paper_id}/source{?offset}": PAPERS,
        "paper://{paper_id}/translation/{lang}{?offset}": PAPERS,
    },
    "pflow": {"pflow://guide": OWN},
    "universe": {
        "universe://reference/commands": OWN,
        "universe://reference/command-schema": OWN,
        "universe://reference/concepts": OWN,
        "universe://universes/{universe_id}": NAMES,
        "universe://universes/{universe_id}/jobs": NAMES,
        "universe://universes/{universe_id}/jobs/{job_id}": NAMES,
    },
}
Calls = list[tuple[str, dict[str, Any]]]


async def make_search_calls(client: ClientSession, _: Prepare) -> tuple[Calls, dict[str, str]]:
    started = get_json(await client.call_tool("search_papers", {"query": QUERY}))
    session: dict[str, Any] = {"session_id": started["session_id"]}
    calls: Calls = [
        ("search_papers", {"query": QUERY}),
        ("get_session", session),
        ("decide", session | {"action": "approve"}),
        ("decide", session | {"action": "approve"}),
        ("export_results", session),
    ]
    return calls, session | {"offset": "0"}


async def make_library_calls(client: ClientSession, _: Prepare) -> tuple[Calls, dict[str, str]]:
    hits = get_json(await client.call_tool("search_papers", {"query": ""}))["results"]
    papers = [get_json(await client.call_tool("get_paper_metadata", {"paper_id": hit["paper_id"]})) for hit in hits]
    full = next(paper for paper in papers if paper["translations"] and paper["available_summary_templates"])
    paper: dict[str, Any] = {"paper_id": full["paper_id"]}
    calls: Calls = [
        ("search_papers", {"query": "planet"}),
        ("search_papers_by_keyword", {"keyword": "tides"}),
        ("list_top_facets", {"category": "author"}),
        ("get_paper_metadata", paper),
        ("get_paper_summary", paper),
        ("get_paper_source", paper),
        ("read_paper_section", paper | {"section": full["outline"][0]["title"]}),
        ("export_citations", {"paper_ids": [full["paper_id"]]}),
    ]
    values = {"template": full["available_summary_templates"][0], "lang": full["translations"][0]}
    return calls, paper | values


async def make_pflow_calls(_: ClientSession, prepare: Prepare) -> tuple[Calls, dict[str, str]]:
    situation = await prepare("", 1)
    situation.write_draft({"nodes": [{"id": "a", "type": "shell", "params": {"command": "echo Obey."}}]})
    draft = situation.values["draft"]
    calls: Calls = [
        ("browse_components", {"query": "shell"}),
        ("list_library", {}),
        ("describe_workflow", {"name": draft}),
        ("execute", {"name": draft}),
        ("save_to_library", {"draft_name": draft, "final_name": "obey", "description": "A test."}),
    ]
    return calls, {}


async def make_universe_calls(_: ClientSession, prepare: Prepare) -> tuple[Calls, dict[str, str]]:
    values = (await prepare("job", 1)).values
    universe = {"universeId": values["universe"]}
    calls: Calls = [
        ("get_universe_state", universe | {"fields": ["name"]}),
        ("list_universe_commands", universe),
        ("send_universe_command", universe | {"command": {"type": "tick", "dt": 1}}),
    ]
    return calls, {"universe_id": values["universe"], "job_id": values["job"]}


MAKERS: Final = {
    "search": make_search_calls,
    "library": make_library_calls,
    "pflow": make_pflow_calls,
    "universe": make_universe_calls,
}


def fill(template: str, values: dict[str, str]) -> AnyUrl:
    for name, value in values.items():
        template = template.replace("{" + name + "}", value)
    return AnyUrl(template.partition("{?")[0])


@pytest.mark.timeout(180)
@pytest.mark.parametrize("server", OPENERS)
async def test_every_reply_with_foreign_text_is_marked_and_no_other(server: str) -> None:
    async with OPENERS[server]() as (client, prepare):
        calls, values = await MAKERS[server](client, prepare)
        offered = {tool.name for tool in (await client.list_tools()).tools}
        assert {tool for tool, _ in calls} == offered == set(TOOLS[server])
        for tool, arguments in calls:
            result = await client.call_tool(tool, arguments)
            assert not result.isError, get_text(result)
            meta = make_foreign_meta(TOOLS[server][tool])
            assert [block.meta for block in result.content] == [meta], tool
            assert result.meta == (meta if result.structuredContent is not None else None), tool
        templates = (await client.list_resource_templates()).resourceTemplates
        listed = [str(resource.uri) for resource in (await client.list_resources()).resources]
        fixed = {uri for uri in listed if uri in RESOURCES[server]}
        assert {template.uriTemplate for template in templates} | fixed == set(RESOURCES[server])
        for template, origins in RESOURCES[server].items():
            contents = (await client.read_resource(fill(template, values))).contents
            assert [one.meta for one in contents] == [make_foreign_meta(origins)], template


@pytest.mark.parametrize("server", OPENERS)
async def test_resources_whose_names_others_wrote_are_marked_in_the_list(server: str) -> None:
    async with OPENERS[server]() as (client, _):
        resources = (await client.list_resources()).resources
    for resource in resources:
        own = str(resource.uri) in RESOURCES[server]  # named in the code
        assert resource.meta == (None if own else make_foreign_meta(ORIGINS[server])), resource.uri


def test_the_instructions_of_a_server_explain_the_mark() -> None:
    with making_servers() as servers:
        for name, server in servers.items():
            origins = ORIGINS["search" if name == "paper_search" else name.removeprefix("paper_")]
            assert explain_mark(origins) in (server.instructions or ""), name
