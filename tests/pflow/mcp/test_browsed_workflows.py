"""`include_workflows` decides whether `browse_components` lists workflows."""

from pathlib import Path
from typing import Any

from tests.pflow.mcp.agents import agent, call_tool
from tests.pflow.store.homes import write_draft, write_raw_draft, write_saved
from tests.requirements import requirement

SOURCES = {"pr-analyzer": "library", "pr-notes": "draft", "pr-raw": "draft"}


@requirement("PF-R3")
async def test_workflows_come_if_and_only_if_they_are_included(home: Path) -> None:
    async with agent(home) as client:

        async def browse(**arguments: Any) -> dict[str, Any]:
            return await call_tool(client, "browse_components", **arguments)

        for query in ("", "pr", "xqzxqz"):
            assert (await browse(query=query, include_workflows=True))["workflows"] == []
            assert "workflows" not in await browse(query=query, include_workflows=False)
        write_saved(home, "pr-analyzer", "Analyzes PRs")
        write_draft(home, "pr-notes")
        write_raw_draft(home, "pr-raw")
        write_saved(home, "unrelated", "Weighs stars.")
        everything = SOURCES | {"unrelated": "library"}
        for query, sources in (("", everything), ("pr", SOURCES), ("xqzxqz", {})):
            included = await browse(query=query, include_workflows=True)
            assert {one["name"]: one["source"] for one in included["workflows"]} == sources
            left_out = await browse(query=query, include_workflows=False)
            assert "workflows" not in left_out
            assert left_out["nodes"] == included["nodes"]
            assert included["total"] - left_out["total"] == len(sources)
            assert await browse(query=query) == included, "they are included by default"
        (analyzer,) = [one for one in (await browse(query="pr"))["workflows"] if one["name"] == "pr-analyzer"]
        assert analyzer["description"] == "Analyzes PRs"
