"""Shelves and universes: the same results through the API, the MCP tools and the commands."""

import json
from pathlib import Path
from typing import Any, Final

from paper_library.service.library import Library
from tests.uraniborg.console.surfaces import Surfaces, assert_contains, pick

SHELF: Final = "/api/shelves/sample-shelf"
PAPER: Final = f"{SHELF}/papers/agol2021"
SHARED: Final = {"paper_id", "title", "authors", "year", "venue"}


def get_shelf_path(on: Surfaces) -> str:
    return str(Path(on.server.env["URANIBORG_HOME"]) / "data" / "library" / "sample-shelf")


async def check_shelf(on: Surfaces) -> None:
    assert_contains(await on.get(SHELF), await on.run("library", "stats", get_shelf_path(on)))


async def check_shelf_search(on: Surfaces) -> None:
    ours = await on.get(f"{SHELF}/search", q="mass", limit=5)
    assert_contains(ours, await on.call(on.library, "search_papers", query="mass", limit=5))
    assert_contains(ours, await on.run("library", "search", get_shelf_path(on), "mass", "--limit", "5"))
    assert len(ours["results"]) == 5


async def check_facets(on: Surfaces) -> None:
    ours = await on.get(f"{SHELF}/facets/venue", limit=10)
    assert_contains(ours, await on.call(on.library, "list_top_facets", category="venue", limit=10))


async def check_paper(on: Surfaces) -> None:
    ours = await on.get(PAPER)
    tool = await on.call(on.library, "get_paper_metadata", paper_id="agol2021")
    command = await on.run("library", "show", get_shelf_path(on), "agol2021")
    for theirs in (tool, command):
        assert {name: ours[name] for name in SHARED} == {name: theirs[name] for name in SHARED}


def list_words(nodes: list[Any]) -> list[str]:
    """Return the longest words of the plain texts in a tree."""
    found: list[str] = []
    for node in nodes:
        found += [word for word in str(node.get("text", "")).split() if len(word) > 7 and word.isalpha()]
        found += list_words(node.get("children", []))
    return found


async def check_paper_text(on: Surfaces) -> None:
    ours = await on.get(f"{PAPER}/text")
    tool = await on.library.call_tool("get_paper_source", {"paper_id": "agol2021"})
    text = tool.content[0].text
    assert ours["total_chars"] == len(text)
    assert all(words in text for words in list_words(ours["nodes"]))


async def check_paper_summary(on: Surfaces) -> None:
    ours = await on.get(f"{PAPER}/summary")
    theirs = await on.call(on.library, "get_paper_summary", paper_id="agol2021")
    assert ours["template"] == theirs["template"]


async def check_similar_papers(on: Surfaces) -> None:
    ours = [one["paper_id"] for one in (await on.get(f"{PAPER}/similar"))["results"]]
    opened = Library.open(Path(get_shelf_path(on)))
    assert ours == [one["paper_id"] for one in opened.find_similar("agol2021")["results"]] != []


async def create_universe(on: Surfaces, universe_id: str) -> dict[str, Any]:
    return await on.post("/api/universes", {"name": "Chain", "from": "trappist-1", "id": universe_id})


def make_rename(name: str) -> dict[str, Any]:
    return {"type": "updateStar", "id": "trappist-1-h", "payload": {"name": name}}


async def check_new_universe(on: Surfaces) -> None:
    await create_universe(on, "by-api")
    await on.run("universe", "new", "--name", "Chain", "--from", "trappist-1", "--id", "by-command")
    ours, theirs = [await on.get(f"/api/universes/{one}") for one in ("by-api", "by-command")]
    assert ours["state"] == theirs["state"]


async def check_list_of_universes(on: Surfaces) -> None:
    await create_universe(on, "listed")
    ours = (await on.get("/api/universes"))["universes"]
    theirs = (await on.run("universe", "list"))["universes"]
    assert pick(ours, theirs) == theirs
    assert "listed" in {one["id"] for one in ours}


async def check_universe(on: Surfaces) -> None:
    await create_universe(on, "shown")
    assert (await on.get("/api/universes/shown"))["state"] == await on.run("universe", "show", "shown")


async def check_command(on: Surfaces) -> None:
    for name in ("sent-api", "sent-tool", "sent-command"):
        await create_universe(on, name)
    await on.post("/api/universes/sent-api/commands", make_rename("Seventh"))
    await on.call(on.universe, "send_universe_command", universeId="sent-tool", command=make_rename("Seventh"))
    await on.run("universe", "send", "sent-command", json.dumps(make_rename("Seventh")))
    states = [(await on.get(f"/api/universes/{one}"))["state"] for one in ("sent-api", "sent-tool", "sent-command")]
    assert states[0]["stars"]["trappist-1-h"]["name"] == "Seventh"
    assert states[0] == states[1] == states[2]


async def check_undo(on: Surfaces) -> None:
    for name in ("undone-api", "undone-command"):
        await create_universe(on, name)
        await on.post(f"/api/universes/{name}/commands", make_rename("Seventh"))
    await on.post("/api/universes/undone-api/undo")
    await on.run("universe", "undo", "undone-command")
    ours, theirs = [await on.get(f"/api/universes/{one}") for one in ("undone-api", "undone-command")]
    assert (ours["version"], ours["state"]) == (theirs["version"], theirs["state"])


async def check_branch(on: Surfaces) -> None:
    await create_universe(on, "trunk")
    ours = await on.post("/api/universes/trunk/branch", {"name": "Twig"})
    theirs = await on.run("universe", "branch", "trunk", "--name", "Twig")
    assert (await on.get(f"/api/universes/{ours['id']}"))["state"] == (await on.get(f"/api/universes/{theirs['id']}"))[
        "state"
    ]


async def check_history(on: Surfaces) -> None:
    await create_universe(on, "recorded")
    await on.post("/api/universes/recorded/commands", make_rename("Seventh"))
    ours = (await on.get("/api/universes/recorded/history"))["entries"]
    theirs = (await on.run("universe", "history", "recorded"))["entries"]
    assert pick(ours, theirs) == theirs
    assert len(ours) == 2


async def check_sources(on: Surfaces) -> None:
    await create_universe(on, "cited")
    assert_contains(await on.get("/api/universes/cited/cite"), await on.run("universe", "cite", "cited"))


async def check_export(on: Surfaces) -> None:
    await create_universe(on, "exported")
    file = Path(on.server.env["HOME"]) / "exported.csv"
    await on.run("universe", "export", "exported", "-o", str(file))
    ours = await on.api.get("/api/universes/exported/export", params={"format": "csv"})
    assert ours.text == file.read_text()


async def check_differences(on: Surfaces) -> None:
    await create_universe(on, "changed")
    await on.post("/api/universes/changed/commands", make_rename("Seventh"))
    ours = await on.get("/api/universes/changed/differences", **{"from": 1, "to": 2})
    assert_contains(ours, await on.run("universe", "diff", "changed", "--from", "1", "--to", "2"))


async def check_jobs(on: Surfaces) -> None:
    await create_universe(on, "measured")
    await on.post("/api/universes/measured/jobs", {"kind": "transits", "days": 2})
    ours = (await on.get("/api/jobs"))["jobs"]
    theirs = (await on.run("universe", "jobs"))["jobs"]
    assert [one["id"] for one in ours] == [one["id"] for one in theirs] != []
