"""The routes of searches: lists, strategies, papers, marks, the flow, exports and shelves, on a real server."""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from tests.installed_programs import find_program
from tests.paper_search.service.sessions.processes import GatedSource
from tests.uraniborg.console.processes import ServerProcess, kill_agent_during_search, run_server
from tests.uraniborg.console.streams import open_stream, wait_for_event
from uraniborg.kernel.mcp.testing import connect_stdio_client, get_json
from uraniborg.recordings import QUERY

pytestmark = pytest.mark.timeout(120)


@pytest.fixture
async def api(server: ServerProcess) -> AsyncIterator[httpx.AsyncClient]:
    """Sign in as a person: what programs decide with the token counts apart."""
    async with server.make_async_client("Tycho") as opened:
        yield opened


@pytest.fixture(scope="module")
def gated_source(tmp_path_factory: pytest.TempPathFactory) -> GatedSource:
    """Return a source that searches of the server do not use, because they are offline trials."""
    return GatedSource(tmp_path_factory.mktemp("site") / "packages")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, gated_source: GatedSource) -> Generator[ServerProcess]:
    with run_server(tmp_path_factory.mktemp("home"), PYTHONPATH=gated_source.env["PYTHONPATH"]) as running:
        yield running


@asynccontextmanager
async def sign_in(server: ServerProcess, name: str) -> AsyncGenerator[httpx.AsyncClient]:
    """Yield a client that is signed in under this name."""
    async with httpx.AsyncClient(base_url=server.url, headers={"X-Uraniborg": "1"}, timeout=60) as client:
        signed = await client.post("/api/sign-in", json={"token": server.token, "name": name})
        assert signed.status_code == 200, signed.text
        client.headers["Authorization"] = f"Bearer {signed.json()['key']}"
        yield client


async def get(api: httpx.AsyncClient, path: str, **params: Any) -> Any:
    reply = await api.get(path, params=params)
    assert reply.status_code == 200, reply.text
    return reply.json()


async def start_search(api: httpx.AsyncClient, **options: Any) -> str:
    reply = await api.post("/api/searches", json={"query": QUERY, **options})
    assert reply.status_code == 201, reply.text
    return reply.json()["session_id"]


async def start_review(api: httpx.AsyncClient, **options: Any) -> str:
    session_id = await start_search(api, **options)
    decided = await api.post(f"/api/searches/{session_id}/decide", json={"action": "approve"})
    assert decided.json()["checkpoint_kind"] == "result_review", decided.text
    return session_id


@pytest.fixture(scope="module")
def review_id(server: ServerProcess) -> str:
    """Return a session at its review, which tests only read."""
    with server.make_client() as client:
        session_id = client.post("/api/searches", json={"query": QUERY}).json()["session_id"]
        client.post(f"/api/searches/{session_id}/decide", json={"action": "approve"})
    return session_id


async def test_every_search_operation_has_a_typed_reply(api: httpx.AsyncClient) -> None:
    document = await get(api, "/api/openapi.json")
    for path, methods in document["paths"].items():
        if not path.startswith("/api/search"):
            continue
        for operation in methods.values():
            replies = [body for status, body in operation["responses"].items() if status.startswith("2")]
            if operation["operationId"] in ("delete_search", "export_search"):
                continue
            assert "$ref" in replies[0]["content"]["application/json"]["schema"], operation["operationId"]


async def test_a_list_of_searches_has_rounds_counts_and_the_health_of_sources(
    api: httpx.AsyncClient, review_id: str
) -> None:
    listed = await get(api, "/api/searches", phase="waiting", q="trappist-1")
    (entry,) = [one for one in listed["sessions"] if one["session_id"] == review_id]
    assert (entry["round"], entry["checkpoint_kind"], entry["offline"]) == (1, "result_review", True)
    assert entry["paper_count"] > 5
    assert {source["status"] for source in entry["sources"]} <= {"ok", "empty"}
    assert (await get(api, "/api/searches", q="nothing like this"))["total"] == 0


async def test_lists_of_searches_are_paged(api: httpx.AsyncClient) -> None:
    for _ in range(2):
        await start_search(api)
    first = await get(api, "/api/searches", limit=1)
    second = await get(api, "/api/searches", limit=1, offset=first["next_offset"])
    assert first["sessions"][0]["session_id"] != second["sessions"][0]["session_id"]
    assert first["total"] >= 2


async def test_a_search_whose_agent_was_killed_is_resumed_and_any_other_stays_as_it_is(
    server: ServerProcess, api: httpx.AsyncClient, gated_source: GatedSource, review_id: str
) -> None:
    session_id = await asyncio.to_thread(kill_agent_during_search, server, gated_source, "tidal heating of moons")

    async def find_entry() -> Any:  # the state of the session would resume it
        listed = (await get(api, "/api/searches", q=session_id))["sessions"]
        return next(one for one in listed if one["session_id"] == session_id)

    left = await find_entry()
    assert (left["phase"], left["round"], left["paper_count"], left["sources"]) == ("working", 1, None, [])
    async with open_stream(server) as events:
        resuming = asyncio.create_task(api.post(f"/api/searches/{session_id}/resume"))
        await asyncio.to_thread(gated_source.wait_for_search, 2)
        assert (await get(api, "/api/running"))["searches"] == 1
        gated_source.open()
        resumed = await resuming
        assert (resumed.status_code, resumed.json()["error"]) == (200, None), resumed.text
        await wait_for_event(events, "session", subject=session_id, checkpoint_kind="result_review")
    assert (await get(api, "/api/running"))["searches"] == 0
    found = await find_entry()
    assert (found["checkpoint_kind"], found["paper_count"]) == ("result_review", 3)
    assert [(source["name"], source["status"]) for source in found["sources"]] == [("shelf", "ok")]
    before = await get(api, f"/api/searches/{review_id}")
    waiting = (await api.post(f"/api/searches/{review_id}/resume")).json()
    assert (waiting["checkpoint_id"], waiting["phase"]) == (before["checkpoint_id"], before["phase"])
    unknown = await api.post("/api/searches/none/resume")
    assert (unknown.status_code, unknown.json()["error"]["code"]) == (404, "session_not_found")


async def test_a_search_can_be_limited_to_sources(api: httpx.AsyncClient) -> None:
    options = await get(api, "/api/search-options")
    name = next(source["name"] for source in options["sources"] if source["used"])
    session_id = await start_search(api, sources=[name], max_results=7, offline=True)
    strategy = await get(api, f"/api/searches/{session_id}/strategy")
    assert [source["name"] for source in strategy["sources"] if source["is_available"]] == [name]
    assert strategy["strategy"]["filters"]["max_results"] == 7
    unknown = await api.post("/api/searches", json={"query": QUERY, "sources": ["nowhere"]})
    assert unknown.status_code == 422
    assert "arxiv" in unknown.json()["error"]["hint"]


async def test_a_strategy_shows_each_query_in_the_syntax_of_each_source(api: httpx.AsyncClient) -> None:
    session_id = await start_search(api)
    strategy = await get(api, f"/api/searches/{session_id}/strategy")
    assert (strategy["is_pending"], strategy["round"], strategy["has_last_round"]) == (True, 0, False)
    texts = {one["source"]: one["text"] for one in strategy["queries"][0]["translations"]}
    assert "submittedDate:[2016" in texts["arxiv"]
    assert "PUB_YEAR:[2016" in texts["europepmc"]
    assert "[dp]" in texts["pubmed"]
    keys = {source["name"]: source for source in strategy["sources"]}
    assert (keys["openalex"]["needs_key"], keys["openalex"]["has_key"]) == (True, False)
    assert keys["openalex"]["key_variable"] == "OPENALEX_API_KEY"


async def test_a_plan_has_a_copy_for_each_database(api: httpx.AsyncClient) -> None:
    session_id = await start_search(api, query='"Planets"[Mesh] or atmospher*[tiab]')
    copies = (await get(api, f"/api/searches/{session_id}/strategy/copies"))["copies"]
    texts = {copy["platform"]: copy["text"] for copy in copies}
    assert texts["pubmed"] == '"Planets"[Mesh] OR atmospher*[tiab]'
    assert texts["ovid"] == "exp Planets/ or atmospher*.ti,ab,kf."
    assert [copy["label"] for copy in copies][-1] == "Cochrane Library (CENTRAL)"
    assert any("Emtree" in change for change in copies[4]["changes"])


async def test_a_pasted_strategy_says_what_is_wrong_and_what_each_source_changes(api: httpx.AsyncClient) -> None:
    session_id = await start_search(api, query='"Planets"[Mesh] or atmospher*[tiab]')
    (query,) = (await get(api, f"/api/searches/{session_id}/strategy"))["queries"]
    (problem,) = query["problems"]
    assert problem["correction"] == {"start": 16, "end": 18, "text": "OR"}
    notes = {one["source"]: " ".join(one["notes"]) for one in query["translations"]}
    assert "MeSH headings are searched as keywords" in notes["europepmc"]
    assert "MeSH headings are searched as words" in notes["openalex"]
    assert "MeSH" not in notes["pubmed"]


async def test_an_edited_query_is_checked_with_positions_and_nothing_is_stored(api: httpx.AsyncClient) -> None:
    session_id = await start_search(api)
    path = f"/api/searches/{session_id}/strategy"
    before = await get(api, path)

    async def check(*queries: str, **data: Any) -> Any:
        reply = await api.post(f"{path}/check", json={"data": {"queries": list(queries), **data}})
        assert reply.status_code == 200, reply.text
        return reply.json()

    open_bracket = await check('("exomoon" AND stability')
    (problem,) = open_bracket["queries"][0]["problems"]
    assert (problem["severity"], problem["start"], problem["end"]) == ("error", 0, 1)
    assert (open_bracket["is_valid"], open_bracket["problems"]) == (False, [])
    lower = await check("exomoon and (stability OR capture)")
    assert lower["is_valid"]
    assert "AND" in lower["queries"][0]["problems"][0]["hint"]
    removed = [change["before"] for change in lower["edits"] if change["part"] == "query"]
    assert removed[0] == before["queries"][0]["boolean_query"]
    assert await get(api, path) == before


async def test_concepts_and_queries_of_an_edit_stay_in_step(api: httpx.AsyncClient) -> None:
    session_id = await start_search(api)
    path = f"/api/searches/{session_id}/strategy"
    proposed = (await get(api, path))["strategy"]
    blocks, queries = proposed["blocks"], proposed["queries"]

    async def check(changed_part: str, **data: Any) -> Any:
        reply = await api.post(f"{path}/check", json={"data": data, "changed_part": changed_part})
        assert reply.status_code == 200, reply.text
        return reply.json()

    longer = [{**blocks[0], "variants": [*blocks[0]["variants"], "gas envelope"]}, *blocks[1:]]
    composed = await check("blocks", blocks=longer)
    assert composed["strategy"]["blocks"] == longer
    texts = [query["boolean_query"] for query in composed["strategy"]["queries"]]
    assert any('"gas envelope"' in text for text in texts)
    assert [view["boolean_query"] for view in composed["queries"]] == texts
    name = blocks[0]["name"]
    assert {"part": "concept", "before": None, "after": f"{name}: gas envelope"} in composed["edits"]
    undone = await check("blocks", blocks=blocks, queries=composed["strategy"]["queries"])
    assert undone["strategy"]["queries"] == queries
    off = [{**blocks[0], "active": False}, *blocks[1:]]
    typed = [{"boolean_query": "(planets OR moons) AND flares"}]
    read = await check("queries", queries=typed, blocks=off)
    assert [query["boolean_query"] for query in read["strategy"]["queries"]] == ["(planets OR moons) AND flares"]
    active = [block["variants"] for block in read["strategy"]["blocks"] if block["active"]]
    assert ["planets", "moons"] in active
    assert ["flares"] in active
    half = await check("queries", queries=[{"boolean_query": "(planets OR"}], blocks=off)
    assert half["strategy"]["blocks"] == off  # read once it can be read
    assert not half["is_valid"]
    assert (await get(api, path))["strategy"] == proposed


async def test_a_query_of_words_alone_is_valid(api: httpx.AsyncClient) -> None:
    session_id = await start_search(api)
    data = {"queries": [{"boolean_query": "", "words": "atmospheres of rocky planets"}]}
    reply = await api.post(f"/api/searches/{session_id}/strategy/check", json={"data": data})
    assert reply.json()["queries"][0]["problems"] == []
    assert reply.json()["queries"][0]["words"] == "atmospheres of rocky planets"


async def test_sources_have_the_names_that_people_know(api: httpx.AsyncClient, review_id: str) -> None:
    strategy = await get(api, f"/api/searches/{review_id}/strategy")
    labels = {source["name"]: source["label"] for source in strategy["sources"]}
    assert (labels["semantic_scholar"], labels["europepmc"]) == ("Semantic Scholar", "Europe PMC")
    options = await get(api, "/api/search-options")
    assert {source["label"] for source in options["sources"]} <= set(labels.values())
    papers = await get(api, f"/api/searches/{review_id}/papers")
    assert papers["facets"]["source_labels"]["arxiv"] == "arXiv"
    (entry,) = [one for one in (await get(api, "/api/inbox"))["entries"] if one["subject"] == review_id][-1:]
    question = await get(api, f"/api/inbox/{entry['id']}")
    assert question["payload"]["source_labels"]["semantic_scholar"] == "Semantic Scholar"
    connections = await get(api, "/api/connections")
    assert {"OpenAlex", "PubMed"} <= {source["label"] for source in connections["sources"]}


async def test_papers_are_marked_only_while_their_review_waits(api: httpx.AsyncClient) -> None:
    session_id = await start_review(api)
    assert (await get(api, f"/api/searches/{session_id}/papers"))["can_mark"]
    await api.post(f"/api/searches/{session_id}/decide", json={"action": "reject", "note": "more about flares"})
    while_the_plan_waits = await get(api, f"/api/searches/{session_id}/papers")
    assert while_the_plan_waits["papers"]
    assert not while_the_plan_waits["can_mark"]


async def test_a_typed_question_with_an_error_opens_no_search_and_names_its_position(api: httpx.AsyncClient) -> None:
    reply = await api.post("/api/searches", json={"query": "exomoon AND (stability OR capture"})
    assert reply.status_code == 422
    error = reply.json()["error"]
    assert (error["code"], error["start"], error["end"]) == ("invalid_query", 12, 13)
    assert "character 13" in error["message"]


async def test_all_problems_of_an_edited_plan_have_the_path_and_the_label_of_their_field(
    api: httpx.AsyncClient,
) -> None:
    session_id = await start_search(api)

    async def check(**data: Any) -> Any:
        reply = await api.post(f"/api/searches/{session_id}/strategy/check", json={"data": data})
        assert reply.status_code == 200, reply.text
        return reply.json()

    filters = {"year_from": "soon", "year_to": "12x", "language": "klingon", "max_results": "abc"}
    wrong = await check(queries=["(exomoon"], sources=["nowhere"], filters=filters)
    assert {problem["path"]: problem["message"] for problem in wrong["problems"]} == {
        "sources": "Choose sources from the list.",
        "filters.year_from": "From year must be a year such as 2018, or empty.",
        "filters.year_to": "To year must be a year such as 2018, or empty.",
        "filters.language": "Language must be a code or an English name such as en or English, or empty.",
        "filters.max_results": "Papers at most must be a number from 1 to 20,000.",
    }
    assert wrong["queries"][0]["problems"][0]["severity"] == "error"
    years = {"year_from": 2020, "year_to": 2010}
    for most in (0, 20_001, None):
        backwards = await check(queries=[" "], filters={**years, "max_results": most})
        assert not backwards["is_valid"]
        assert {problem["path"]: problem["message"] for problem in backwards["problems"]} == {
            "queries": "Give at least one query.",
            "filters.max_results": "Papers at most must be a number from 1 to 20,000.",
            "filters.year_from": "From year must not be after To year.",
        }
    (unread,) = (await check(filters={"year_from": "soon", "year_to": 1990}))["problems"]
    assert unread["path"] == "filters.year_from"
    for data in ({"strategy": "all"}, {"moons": 2}, {"filters": {"moons": 2}}):
        (problem,) = (await check(**data))["problems"]
        assert problem["path"] is None
    named = await check(filters={"language": "English"})
    assert (named["is_valid"], named["language_read_as"]) == (True, "en")


async def test_the_next_strategy_shows_the_difference_to_the_last_round(api: httpx.AsyncClient) -> None:
    session_id = await start_search(api)
    decide = f"/api/searches/{session_id}/decide"
    first = '"TRAPPIST-1" AND atmosphere'
    edit = {"queries": [{"boolean_query": first}], "filters": {"year_from": 2017}}
    await api.post(decide, json={"action": "edit", "data": edit})
    rejected = await api.post(decide, json={"action": "reject", "note": "also papers about stellar flares"})
    assert rejected.json()["checkpoint_kind"] == "strategy_confirmation"
    strategy = await get(api, f"/api/searches/{session_id}/strategy")
    assert strategy["has_last_round"]
    assert any(change["part"] == "query" and change["before"] is None for change in strategy["changes"])
    assert {origin["part"] for origin in strategy["inherited"]} >= {"queries[0]", "year_from"}
    await api.post(decide, json={"action": "reject", "note": "also papers about stellar flares"})
    second = {"queries": [{"boolean_query": "TRAPPIST-1 AND flares"}], "filters": {"year_from": 2017}}
    removed = {"part": "query", "before": first, "after": None}
    added = {"part": "query", "before": None, "after": "TRAPPIST-1 AND flares"}
    rejected = [query["boolean_query"] for query in strategy["queries"]]
    check = await api.post(f"/api/searches/{session_id}/strategy/check", json={"data": second})
    assert check.json()["changes"] == [{"part": "query", "before": query, "after": None} for query in rejected] + [
        added
    ]
    await api.post(decide, json={"action": "edit", "data": second})
    reviewed = await get(api, f"/api/searches/{session_id}/strategy")
    done = await api.post(decide, json={"action": "approve"})
    assert done.json()["is_complete"], done.text
    ended = await get(api, f"/api/searches/{session_id}/strategy")
    assert reviewed["changes"] == ended["changes"] == [removed, added]
    renewed = (await api.post(f"/api/searches/{session_id}/update", json={"note": "more"})).json()
    proposed = await get(api, f"/api/searches/{renewed['session_id']}/strategy")
    assert proposed["has_last_round"]
    assert removed not in proposed["changes"]


async def test_exact_feedback_changes_the_next_plan_also_of_a_complete_search(api: httpx.AsyncClient) -> None:
    session_id = await start_search(api)
    decide = f"/api/searches/{session_id}/decide"
    offered = (await get(api, f"/api/searches/{session_id}/strategy"))["feedback"]
    assert offered == {"limits": ["years", "year_from"], "suggestions": []}
    data = {"exclude_terms": ["mice"], "drop_limits": ["years"]}
    plan = (await api.post(decide, json={"action": "reject", "data": data})).json()
    assert {"Excluded: “mice” (asked for in the feedback).", "Dropped: first year 2016."} <= set(
        plan["checkpoint"]["payload"]["strategy"]["notes"]
    )
    refused = await api.post(decide, json={"action": "reject", "data": {"drop_limits": ["years"]}})
    assert refused.json()["error"]["hint"] == "It has no limit that can be dropped."
    await api.post(decide, json={"action": "approve"})
    note = {"action": "approve", "note": "only keep the first two"}
    assert (await api.post(decide, json=note)).json()["error"]["code"] == "note_asks_for_change"
    assert (await api.post(decide, json=note)).json()["is_complete"]
    update = f"/api/searches/{session_id}/update"
    refused = await api.post(update, json={"data": {"set_years": {}}})
    assert refused.status_code == 422, refused.text
    renewed = (await api.post(update, json={"data": {"add_terms": ["flares"]}})).json()
    assert "Added: “flares” (asked for in the feedback)." in renewed["checkpoint"]["payload"]["strategy"]["notes"]


async def test_papers_are_filtered_sorted_and_paged(api: httpx.AsyncClient, review_id: str) -> None:
    path = f"/api/searches/{review_id}/papers"
    everything = await get(api, path, limit=500)
    assert {paper["short_authors"][-7:] for paper in everything["papers"] if paper["author_count"] > 2} == {" et al."}
    years = [paper["year"] for paper in everything["papers"] if paper["year"]]
    recent = await get(api, path, year_from=max(years), limit=500)
    assert {paper["year"] for paper in recent["papers"]} == {max(years)}
    scores = sorted(paper["relevance_score"] for paper in everything["papers"])
    low = await get(api, path, score_to=scores[1], limit=500)
    assert 1 <= low["total"] < everything["total"]
    limit = max(scores) - 0.0505  # no score, as the API rounds scores
    high = await get(api, path, score_from=limit, limit=500)
    expected = [paper["rank"] for paper in everything["papers"] if paper["relevance_score"] >= limit]
    assert [paper["rank"] for paper in high["papers"]] == expected
    assert 1 <= len(expected) < everything["total"]
    source = next(iter(everything["facets"]["sources"]))
    assert (await get(api, path, source=source))["total"] == everything["facets"]["sources"][source]
    assert (await get(api, path, round=2))["total"] == 0
    titles = [paper["title"].lower() for paper in (await get(api, path, sort="title", limit=500))["papers"]]
    assert titles[0] < titles[-1]
    orders: dict[str, Callable[[Any], Any]] = {
        "title": lambda paper: paper["title"].lower(),
        "year": lambda paper: (-paper["year"], paper["rank"]),
        "score": lambda paper: (-paper["relevance_score"], paper["rank"]),
        "source": lambda paper: (paper["sources"], paper["rank"]),
    }
    for sort, key in orders.items():
        listed = (await get(api, path, sort=sort, limit=500))["papers"]
        assert [paper["id"] for paper in listed] == [paper["id"] for paper in sorted(everything["papers"], key=key)]
    page = await get(api, path, limit=2, offset=2)
    assert [paper["rank"] for paper in page["papers"]] == [3, 4]
    words = await get(api, path, q="TRAPPIST-1 atmosphere")
    assert 0 < words["total"] < everything["total"] + 1


async def test_a_paper_has_matched_words_and_the_origin_of_each_field(api: httpx.AsyncClient, review_id: str) -> None:
    path = f"/api/searches/{review_id}/papers"
    rows = (await get(api, path, limit=500))["papers"]
    merged = next(row for row in rows if len(row["sources"]) > 1)
    paper = await get(api, f"{path}/{merged['id']}")
    assert "".join(node["text"] for node in paper["title_tree"]) == paper["title"]
    marked = {node["text"].lower() for node in paper["title_tree"] + paper["abstract_tree"] if node.get("matched")}
    assert marked
    assert {record["source"] for record in paper["provenance"]["records"]} == set(merged["sources"])
    fields = {field["field"]: field for field in paper["provenance"]["fields"]}
    assert fields["title"]["source"] in merged["sources"]
    others = [other for field in fields.values() for other in field["alternatives"]]
    assert {other["source"] for other in others} <= set(merged["sources"])
    (differing,) = [row for row in rows if row["title"].startswith("Modeling climate diversity")]
    provenance = (await get(api, f"{path}/{differing['id']}"))["provenance"]
    (year,) = [field for field in provenance["fields"] if field["field"] == "year"]
    assert (year["value"], year["source"], year["agreeing"]) == ("2018", "openalex", ["crossref"])
    assert [(other["source"], other["value"]) for other in year["alternatives"]] == [("arxiv", "2017")]
    missing = await api.get(f"{path}/p_none")
    assert (missing.status_code, missing.json()["error"]["code"]) == (404, "paper_not_found")
    on_a_shelf = await api.get(f"{path}/{'0' * 32}")
    assert "paper-library server" in on_a_shelf.json()["error"]["hint"]


async def test_marks_are_blind_until_the_second_reviewer_has_decided(
    server: ServerProcess, api: httpx.AsyncClient
) -> None:
    session_id = await start_review(api)
    papers, marks = f"/api/searches/{session_id}/papers", f"/api/searches/{session_id}/marks"
    first, second, *_ = (paper["id"] for paper in (await get(api, papers))["papers"])
    async with sign_in(server, "Ada") as ada, sign_in(server, "Grace") as grace:
        decisions = {first: {"status": "exclude", "reason": "Not an exoplanet"}, second: "include"}
        await ada.put(marks, json={"decisions": decisions})
        seen = (await get(grace, papers))["papers"][0]
        assert (seen["status"], seen["others"], seen["others_hidden"]) == ("undecided", [], 1)
        assert "Not an exoplanet" not in (await grace.get(f"{papers}/{first}")).text
        assert (await get(grace, f"/api/searches/{session_id}/flow"))["counts"]["exclude"] == 0
        await check_marks_are_hidden(grace, session_id, first)
        by_status = (await get(ada, papers, sort="status", limit=500))["papers"]
        assert [paper["status"] for paper in by_status] == ["include", "exclude"] + ["undecided"] * (len(by_status) - 2)
        assert [paper["rank"] for paper in by_status] == [2, 1, *range(3, len(by_status) + 1)]
        await grace.put(marks, json={"decisions": {first: "include"}})
        seen = (await get(grace, papers))["papers"][0]
        assert (seen["status"], seen["differs"], seen["others_hidden"]) == ("include", True, 0)
        assert [(other["reviewer"], other["status"]) for other in seen["others"]] == [("Ada", "exclude")]
        assert (await get(ada, papers, status="exclude"))["total"] == 1
        done = await ada.post(f"/api/searches/{session_id}/decide", json={"action": "approve"})
        assert done.json()["is_complete"], done.text
        result = {paper["id"]: paper for paper in (await get(grace, papers))["papers"]}
        assert result[first]["status"] == "maybe"
        assert [other["reviewer"] for other in result[first]["others"]] == ["Ada"]
        assert result[second]["status"] == "include"


async def check_marks_are_hidden(other: httpx.AsyncClient, session_id: str, excluded: str) -> None:
    """Check that no reply to another reviewer shows the exclusion of a paper as not an exoplanet."""
    base = f"/api/searches/{session_id}"
    assert (await get(other, f"{base}/flow"))["reasons"] == {}
    assert {one["count"] for one in (await get(other, f"{base}/reasons"))["reasons"]} == {0}
    assert excluded not in {one["paper_id"] for one in (await get(other, f"{base}/exclusions"))["exclusions"]}
    exported = (await get(other, f"{base}/export", format="json"))["papers"]
    assert {paper["status"] for paper in exported} == {"undecided"}
    assert excluded in {paper["id"] for paper in exported}
    assert (await get(other, f"{base}/export", format="json", status="include"))["papers"] == []
    formats = ("bibtex", "ris", "csl-json", "markdown", "json", "prisma", "prisma-json", "prisma-svg")
    paths = [f"{base}/export?format={name}" for name in formats]
    for path in (base, f"{base}/papers", f"{base}/reasons", f"{base}/exclusions", f"{base}/flow", *paths):
        assert "Not an exoplanet" not in (await other.get(path)).raise_for_status().text, path


async def test_changes_of_marks_can_be_undone_one_by_one(api: httpx.AsyncClient) -> None:
    session_id = await start_review(api)
    papers, marks = f"/api/searches/{session_id}/papers", f"/api/searches/{session_id}/marks"
    ids = [paper["id"] for paper in (await get(api, papers, limit=500))["papers"]]
    await api.put(marks, json={"decisions": dict.fromkeys(ids, "maybe")})
    await api.put(marks, json={"decisions": {ids[0]: {"status": "exclude", "reason": "Duplicate"}}})
    undone = (await api.post(f"{marks}/undo")).json()["undone"]
    assert undone == {ids[0]: {"status": "maybe", "reason": None}}
    undone = (await api.post(f"{marks}/undo")).json()["undone"]
    assert undone == dict.fromkeys(ids)
    assert (await api.post(f"{marks}/undo")).json()["undone"] == {}
    listed = await get(api, papers)
    assert listed["counts"]["undecided"] == len(ids)
    assert listed["query"] == (await get(api, f"/api/searches/{session_id}"))["query"]


async def test_the_flow_and_exports_follow_the_marks_before_the_end(api: httpx.AsyncClient) -> None:
    session_id = await start_review(api)
    base = f"/api/searches/{session_id}"
    before = await get(api, f"{base}/flow")
    first, second, *_ = (paper["id"] for paper in (await get(api, f"{base}/papers"))["papers"])
    decisions = {first: {"status": "exclude", "reason": "Wrong object"}, second: "include"}
    await api.put(f"{base}/marks", json={"decisions": decisions})
    after = await get(api, f"{base}/flow")
    assert after["included"] == before["included"] - 1
    assert after["screened"] == sum(after["excluded"].values()) + after["included"]
    assert after["reasons"] == {"Wrong object": 1}
    assert not after["is_complete"]
    reasons = {one["reason"]: one["count"] for one in (await get(api, f"{base}/reasons"))["reasons"]}
    assert (reasons["Wrong object"], reasons["Wrong question"]) == (1, 0)
    excluded = await get(api, f"{base}/exclusions", limit=500)
    assert first in {exclusion["paper_id"] for exclusion in excluded["exclusions"]}
    text = (await api.get(f"{base}/export", params={"format": "bibtex", "status": "include"})).text
    assert text.count("\n@") + text.startswith("@") == 1
    svg = await api.get(f"{base}/export", params={"format": "prisma-svg"})
    assert svg.headers["content-type"] == "image/svg+xml"
    log = (await api.get(f"{base}/export", params={"format": "prisma-json"})).json()
    assert log["included"] == after["included"]
    refused = await api.get(f"{base}/export", params={"format": "prisma", "status": "include"})
    assert refused.status_code == 422


async def test_a_complete_session_is_continued_with_another_round(api: httpx.AsyncClient) -> None:
    session_id = await start_review(api)
    base = f"/api/searches/{session_id}"
    early = await api.post(f"{base}/update", json={"note": "more"})
    assert early.status_code == 409, early.text
    first = (await get(api, f"{base}/papers"))["papers"][0]["id"]
    await api.put(f"{base}/marks", json={"decisions": {first: {"status": "exclude", "reason": "Duplicate"}}})
    done = (await api.post(f"{base}/decide", json={"action": "approve"})).json()
    await check_that_an_exclusion_is_listed_and_counted(api, base, first)
    renewed = await api.post(f"{base}/update", json={"note": "also papers about stellar flares"})
    assert renewed.status_code == 201, renewed.text
    state = renewed.json()
    assert (state["checkpoint_kind"], state["round"]) == ("strategy_confirmation", 1)
    assert state["session_id"] != session_id
    again = (await api.post(f"/api/searches/{state['session_id']}/decide", json={"action": "approve"})).json()
    assert again["checkpoint_kind"] == "result_review", again
    excluded = await get(api, f"/api/searches/{state['session_id']}/exclusions", limit=500)
    (mine,) = [one for one in excluded["exclusions"] if one["paper_id"] == first]
    assert (mine["detail"], mine["reviewer"]) == ("Duplicate", "Tycho")
    assert (await get(api, base))["paper_count"] == done["paper_count"]
    base = f"/api/searches/{state['session_id']}"
    await check_that_an_exclusion_is_listed_and_counted(api, base, first)
    await api.put(f"{base}/marks", json={"decisions": {first: "include"}})
    flow = await get(api, f"{base}/flow")
    assert (flow["counts"]["exclude"], flow["excluded"].get("by_person", 0), flow["reasons"]) == (0, 0, {})
    assert flow["screened"] == sum(flow["excluded"].values()) + sum(flow["counts"].values())


async def check_that_an_exclusion_is_listed_and_counted(api: httpx.AsyncClient, base: str, paper_id: str) -> None:
    """Assert that the list, the counts, the flow, the log and the exports have the only excluded paper."""
    listed = await get(api, f"{base}/papers", status="exclude")
    assert [(row["id"], row["status"], row["reason"]) for row in listed["papers"]] == [
        (paper_id, "exclude", "Duplicate")
    ]
    assert (await get(api, f"{base}/papers/{paper_id}"))["abstract_chars"] > 0
    flow = await get(api, f"{base}/flow")
    assert flow["counts"] == listed["counts"]
    assert (flow["counts"]["exclude"], flow["excluded"]["by_person"], flow["reasons"]) == (1, 1, {"Duplicate": 1})
    by_software = sum(flow["excluded"].values()) - 1
    assert flow["screened"] == by_software + sum(flow["counts"].values())
    reasons = {one["reason"]: one["count"] for one in (await get(api, f"{base}/reasons"))["reasons"]}
    assert reasons["Duplicate"] == 1
    log = (await api.get(f"{base}/export", params={"format": "prisma-json"})).json()
    assert [one["paper_id"] for one in log["exclusions"] if one["reason"] == "by_person"] == [paper_id]
    exported = (await api.get(f"{base}/export", params={"format": "json", "status": "exclude"})).json()
    assert [paper["id"] for paper in exported["papers"]] == [paper_id]


async def test_kept_papers_are_put_on_a_shelf_and_the_build_is_announced(api: httpx.AsyncClient) -> None:
    session_id = await start_review(api)
    base = f"/api/searches/{session_id}"
    ids = [paper["id"] for paper in (await get(api, f"{base}/papers"))["papers"]]
    none = await api.post(f"{base}/shelf", json={"name": "moons"})
    assert none.status_code == 422
    bad = await api.post(f"{base}/shelf", json={"name": "../moons", "statuses": ["undecided"]})
    assert bad.status_code == 422
    await api.put(f"{base}/marks", json={"decisions": {ids[0]: "include", ids[1]: "include"}})
    async with api.stream("GET", "/api/events") as stream:
        lines = stream.aiter_lines()
        assert await anext(lines) == "retry: 1000"
        built = await api.post(f"{base}/shelf", json={"name": "moons"})
        assert (built.status_code, built.json()["state"]) == (202, "running")
        announced = await read_build(lines)
    assert (announced["subject"], announced["shelf"], announced["papers"]) == (session_id, "moons", 2)
    targets = (await get(api, "/api/search-shelves"))["shelves"]
    assert ("moons", 2) in {(one["name"], one["papers"]) for one in targets}
    await api.put(f"{base}/marks", json={"decisions": {ids[2]: "include"}})
    async with api.stream("GET", "/api/events") as stream:
        lines = stream.aiter_lines()
        await anext(lines)
        await api.post(f"{base}/shelf", json={"name": "moons"})
        await read_build(lines)
    state = await get(api, f"{base}/shelf")
    assert (state["papers"], state["added"]) == (3, 1)


async def read_build(lines: AsyncIterator[str]) -> dict[str, Any]:
    """Return the announcement that a build of a shelf has ended."""
    async with asyncio.timeout(60):
        async for line in lines:
            data: dict[str, Any] = json.loads(line[6:]) if line.startswith("data: ") else {}
            if data.get("kind") == "shelf_build" and data["state"] != "running":
                return data
    raise AssertionError("the stream ended")


async def test_the_papers_of_an_agents_session_are_read_without_taking_it_over(
    server: ServerProcess, api: httpx.AsyncClient
) -> None:
    async with connect_stdio_client(find_program("python"), ["-m", "paper_search.mcp_server"], env=server.env) as agent:
        asked = get_json(await agent.call_tool("search_papers", {"query": QUERY}))
        session_id = asked["session_id"]
        decided = await api.post(
            f"/api/searches/{session_id}/decide",
            json={"action": "approve", "checkpoint_id": asked["checkpoint_id"], "wait_s": 30},
        )
        assert decided.json()["checkpoint_kind"] == "result_review", decided.text
        papers = await get(api, f"/api/searches/{session_id}/papers")
        await api.put(f"/api/searches/{session_id}/marks", json={"decisions": {papers["papers"][0]["id"]: "include"}})
        progress = await get(api, f"/api/searches/{session_id}/sources")
        assert {source["status"] for source in progress["sources"]} <= {"ok", "empty"}
        done = await api.post(f"/api/searches/{session_id}/decide", json={"action": "approve"})
        assert done.json()["is_complete"]
        state = get_json(await agent.call_tool("get_session", {"session_id": session_id}))
        assert state["is_complete"]


async def test_marks_are_part_of_a_decision_through_the_inbox(api: httpx.AsyncClient) -> None:
    session_id = await start_review(api)
    base = f"/api/searches/{session_id}"
    first = (await get(api, f"{base}/papers"))["papers"][0]["id"]
    await api.put(f"{base}/marks", json={"decisions": {first: {"status": "exclude", "reason": "Duplicate"}}})
    checkpoint_id = (await get(api, base))["checkpoint_id"]
    decided = await api.post(f"/api/inbox/{checkpoint_id}/decide", json={"action": "approve"})
    assert decided.status_code == 200, decided.text
    again = {"action": "approve", "checkpoint_id": checkpoint_id}
    assert (await api.post(f"{base}/decide", json=again)).json()["is_complete"]  # waits for the end of the session
    excluded = await get(api, f"{base}/exclusions", limit=500)
    assert first in {one["paper_id"] for one in excluded["exclusions"] if one["reviewer"] == "Tycho"}


async def test_a_decision_can_return_before_the_search_has_ended(api: httpx.AsyncClient) -> None:
    session_id = await start_search(api)
    started = time.monotonic()
    reply = await api.post(f"/api/searches/{session_id}/decide", json={"action": "approve", "wait_s": 0})
    assert reply.status_code == 200, reply.text
    assert time.monotonic() - started < 30
    second = await api.post(
        f"/api/searches/{session_id}/decide",
        json={"action": "reject", "checkpoint_id": f"{session_id}:0:strategy_confirmation"},
    )
    assert second.json()["already_decided"]["decided_by"] == "Tycho"
    assert "NOT APPLIED" in second.json()["already_decided"]["message"]


async def test_removed_papers_are_listed_with_their_score_and_a_mark_brings_one_back(api: httpx.AsyncClient) -> None:
    session_id = await start_search(api)
    base = f"/api/searches/{session_id}"
    edit = {"action": "edit", "data": {"filters": {"min_relevance": 0.99}}}
    review = (await api.post(f"{base}/decide", json=edit)).json()
    assert review["checkpoint_kind"] == "result_review", review
    page = await get(api, f"{base}/papers")
    removed = await get(api, f"{base}/exclusions", reason="below_threshold", limit=5)
    assert page["min_relevance"] == 0.99
    assert page["removed"]["below_threshold"] == removed["total"] > 5
    scores = [row["score"] for row in removed["exclusions"]]
    assert scores == sorted(scores, reverse=True)
    assert {(row["reason"], row["threshold"]) for row in removed["exclusions"]} == {("below_threshold", 0.99)}
    best = removed["exclusions"][0]
    assert best["short_authors"]
    details = await get(api, f"{base}/papers/{best['paper_id']}")
    assert details["exclusion"] == {"reason": "below_threshold", "score": best["score"], "threshold": 0.99}
    flow = await get(api, f"{base}/flow")
    assert flow["removed_by_automation"] == removed["total"] + flow["excluded"].get("over_limit", 0)
    await api.put(f"{base}/marks", json={"decisions": {best["paper_id"]: "include"}})
    await api.post(f"{base}/decide", json={"action": "approve"})
    assert best["paper_id"] in [row["id"] for row in (await get(api, f"{base}/papers", limit=500))["papers"]]


async def test_papers_of_earlier_rounds_stay_listed_while_the_next_plan_waits(api: httpx.AsyncClient) -> None:
    session_id = await start_review(api)
    base = f"/api/searches/{session_id}"
    before = await get(api, f"{base}/papers", limit=500)
    first = before["papers"][0]["id"]
    await api.put(f"{base}/marks", json={"decisions": {first: {"status": "exclude", "reason": "Duplicate"}}})
    plan = (await api.post(f"{base}/decide", json={"action": "reject", "note": "more on flares"})).json()
    assert plan["checkpoint_kind"] == "strategy_confirmation", plan
    listed = await get(api, f"{base}/papers", limit=500)
    assert {row["id"] for row in listed["papers"]} == {row["id"] for row in before["papers"]}
    assert [(row["id"], row["reason"]) for row in listed["papers"] if row["status"] == "exclude"] == [
        (first, "Duplicate")
    ]
    assert (await get(api, f"{base}/flow"))["judged_by_person"] == 1


async def test_merges_and_splits_wait_for_the_decision_and_can_be_withdrawn(
    api: httpx.AsyncClient, server: ServerProcess
) -> None:
    session_id = await start_review(api)
    path = f"/api/searches/{session_id}/corrections"
    papers = (await get(api, f"/api/searches/{session_id}/papers"))["papers"]
    merged = next(paper for paper in papers if len(paper["sources"]) > 1)
    first, second = [paper for paper in papers if len(paper["sources"]) == 1][:2]
    refused = await api.post(f"{path}/split", json={"paper": first["id"]})
    assert "has one record" in refused.text
    record = (await get(api, f"/api/searches/{session_id}/papers/{merged['id']}"))["provenance"]["records"][0]
    split = {"paper": merged["id"], "records": [{key: record[key] for key in ("source", "record_id")}]}
    merge = {"papers": [first["id"], second["id"]]}
    for kind, change in (("split", split), ("merge", merge), ("merge", merge)):
        reply = await api.post(f"{path}/{kind}", json=change)
    assert reply.status_code == 422, reply.text
    assert "named twice" in reply.json()["error"]["message"]
    assert [one["is_sent"] for one in (await get(api, path))["corrections"]] == [False, False]
    left = (await api.delete(f"{path}/{first['id']}")).json()["corrections"]
    assert [one["kind"] for one in left] == ["split"]
    assert (await api.delete(f"{path}/{first['id']}")).status_code == 404
    assert (await api.post(f"{path}/merge", json=merge)).status_code == 200
    decided = await api.post(f"/api/searches/{session_id}/decide", json={"action": "approve"})
    assert decided.json()["is_complete"], decided.text
    made = (await get(api, path))["corrections"]
    assert [one["kind"] for one in made] == ["merge", "split"]
    assert all(one["is_sent"] and one["at"] for one in made)
    flow = await get(api, f"/api/searches/{session_id}/flow")
    assert flow["removed"]["duplicate_by_person"] == 1
    assert sum(flow["identified"].values()) == sum(flow["removed"].values()) + flow["screened"]
    assert (await get(api, f"/api/searches/{session_id}/papers/{second['id']}"))["id"] == first["id"]
