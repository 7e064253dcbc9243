"""The routes of shelves, over the sample shelf and one of the data folder."""

import json
import shlex
import shutil
from collections.abc import Generator
from pathlib import Path
from typing import Any, cast

import httpx
import pytest

from paper_library.service.build.builder import build_shelf
from paper_library.service.library import Library
from tests.installed_programs import find_program
from tests.paper_library.service.build.readers.pdfs import write_pdf
from tests.uraniborg.console.processes import ServerProcess, run_server

GILLON = "gillon2017"
HOSTILE = """# <img src=x onerror=alert(1)> Title

[click](javascript:alert(1)) [relative](/api/sign-out) ![picture](http://192.0.2.1/x.png) <script>alert(1)</script>
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[ServerProcess]:
    home = tmp_path_factory.mktemp("home")
    inputs = home / "inputs"
    inputs.mkdir()
    (inputs / "hostile.md").write_text(f"---\ntitle: Hostile\n---\n\n{HOSTILE}", encoding="utf-8")
    (inputs / "long.md").write_text(
        "---\ntitle: Long\n---\n\n" + "".join(f"## Part {number}\n\n{'word ' * 2_000}\n\n" for number in range(20)),
        encoding="utf-8",
    )
    write_pdf(inputs / "printed.pdf", [(20.0, "A Printed Paper"), (10.0, "Its text is here.")], Title="Printed <b>")
    shelves = home / "uraniborg" / "data" / "library" / "shelves"
    shelves.mkdir(parents=True)
    build_shelf([inputs], shelves / "mine")
    with run_server(home) as running:
        yield running


@pytest.fixture
def library(server: ServerProcess) -> Generator[Library]:
    opened = Library.open(Path(server.env["URANIBORG_HOME"]) / "data" / "library" / "sample-shelf")
    yield opened
    opened.close()


def get_sample(client: httpx.Client, address: str, **params: Any) -> dict[str, Any]:
    answer = client.get(f"/api/shelves/sample-shelf/{address}", params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()


def list_nodes(value: Any) -> list[dict[str, Any]]:
    """Return all nodes of a tree."""
    if isinstance(value, dict):
        node = cast("dict[str, Any]", value)
        return [node, *list_nodes(list(node.values()))]
    return [node for item in cast("list[Any]", value) for node in list_nodes(item)] if isinstance(value, list) else []


def test_the_shelves_of_the_data_folder_are_listed(client: httpx.Client) -> None:
    listed = client.get("/api/shelves").json()
    assert listed["build_command"] == f"{shlex.quote(find_program('uraniborg'))} library build FOLDER -o SHELF"
    shelves = {one["name"]: one for one in listed["shelves"]}
    assert shelves.keys() == {"sample-shelf", "mine"}
    assert (shelves["sample-shelf"]["is_served"], shelves["sample-shelf"]["is_sample"]) == (True, True)
    assert (shelves["mine"]["papers"], shelves["mine"]["is_served"]) == (3, False)


def test_the_pdf_of_a_paper_opens_in_the_viewer_of_the_browser_and_can_do_nothing_else(
    client: httpx.Client, server: ServerProcess
) -> None:
    (found,) = client.get("/api/shelves/mine/search", params={"q": "printed"}).json()["results"]
    address = f"/api/shelves/mine/papers/{found['paper_id']}"
    assert client.get(address).json()["has_original"] is True
    answer = client.get(f"{address}/original")
    assert answer.content == Path(server.env["HOME"], "inputs", "printed.pdf").read_bytes()
    assert answer.headers["content-type"] == "application/pdf"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in answer.headers["content-security-policy"]
    assert answer.headers["content-disposition"].startswith('inline; filename="')
    assert not set(answer.headers["content-disposition"][18:-5]) & set('/\\"<>')
    for wrong in ("papers/gillon2017/original", "papers/..%2f..%2fmanifest.json/original"):
        assert client.get(f"/api/shelves/sample-shelf/{wrong}").status_code == 404
    with httpx.Client(base_url=server.url) as stranger:
        assert stranger.get(f"{address}/original").status_code == 401


def test_a_note_is_written_listed_by_collection_and_never_overwritten_unseen(client: httpx.Client) -> None:
    address = "/api/shelves/sample-shelf/papers/gillon2017/note"
    empty = client.get(address).json()
    assert (empty["text"], empty["collections"]) == ("", [])
    body = {"text": "<b>Check</b> planet h.", "collections": ["To read"], "revision": empty["revision"]}
    written = client.put(address, json=body).json()
    assert written["by"]
    refused = client.put(address, json=body)
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "note_changed")
    listed = client.get("/api/shelves/sample-shelf/notes", params={"collection": "To read"}).json()
    assert [(one["text"], one["revision"]) for one in listed["papers"]] == [(body["text"], written["revision"])]
    assert listed["papers"][0]["title"].startswith("Seven temperate")
    assert listed["collections"] == [{"name": "To read", "papers": 1}]
    assert client.get("/api/shelves/sample-shelf/notes", params={"collection": "None"}).json()["papers"] == []
    assert client.get("/api/shelves/sample-shelf/papers/nothing/note").status_code == 404


def test_a_shelf_is_described_in_numbers(client: httpx.Client, library: Library) -> None:
    known = client.get("/api/shelves/sample-shelf").json()
    assert library.stats().items() <= known.items()


def test_the_shelf_of_the_settings_is_listed_first_and_a_missing_one_with_its_problem(tmp_path: Path) -> None:
    with (
        run_server(tmp_path, URANIBORG_LIBRARY__SHELF=str(tmp_path / "none")) as server,
        server.make_client() as client,
    ):
        (only,) = client.get("/api/shelves").json()["shelves"]
        assert (only["name"], only["is_served"], only["papers"]) == ("none", True, 0)
        assert "does not exist" in only["problem"]
        answer = client.get("/api/shelves/none/search")
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "shelf_not_found")


def test_a_search_gives_the_same_results_as_the_library(client: httpx.Client, library: Library) -> None:
    page = get_sample(client, "search", q="planet", limit=3, facets=["venue", "author"], years=True)
    expected = library.search("planet", limit=3, facets=("venue", "author"), count_years=True)
    for hit in page["results"]:
        hit.pop("snippet")
    assert page == expected
    years = [one["year"] for one in page["years"]]
    assert years == sorted(years)
    assert sum(one["paper_count"] for one in page["years"]) == page["total"]


def test_matched_words_of_a_passage_are_marked(client: httpx.Client) -> None:
    hit = get_sample(client, "search", q="near-resonant chain", limit=1)["results"][0]
    marked = [node["children"][0]["text"] for node in hit["snippet"] if node["type"] == "strong"]
    assert "chain" in marked


def test_results_can_be_filtered_and_sorted(client: httpx.Client) -> None:
    years = [hit["year"] for hit in get_sample(client, "search", year="2000..2010", sort="year_asc")["results"]]
    assert years == sorted(years)
    assert 2000 <= years[0] <= years[-1] <= 2010


def test_a_misspelled_query_is_corrected(client: httpx.Client) -> None:
    assert get_sample(client, "search", q="plannet")["did_you_mean"] == "planet"


def test_a_paper_has_its_metadata_outline_and_identifiers(client: httpx.Client, library: Library) -> None:
    paper = get_sample(client, f"papers/{GILLON}")
    links = paper.pop("links")
    assert paper.pop("shelf_path").endswith("sample-shelf")
    assert paper.pop("has_original") is False
    assert paper == library.metadata(GILLON)
    assert links[0]["url"] == "https://doi.org/10.1038/nature21360"
    found = get_sample(client, "lookup", id=paper["identifiers"]["doi"])
    assert found == {"paper_ids": [paper["paper_id"]]}
    assert get_sample(client, "lookup", title=paper["title"]) == found
    assert get_sample(client, "lookup", id="10.1000/unknown") == {"paper_ids": []}


def test_a_text_is_a_tree_whose_blocks_know_their_position(client: httpx.Client, library: Library) -> None:
    text = library.source(GILLON)
    page = get_sample(client, f"papers/{GILLON}/text")
    assert (page["offset"], page["end"], page["next_offset"]) == (0, len(text), None)
    headings = {node["offset"]: node for node in page["nodes"] if node["type"] == "heading"}
    for heading in library.metadata(GILLON)["outline"]:
        assert text[heading["offset"] :].startswith("#")
        assert headings[heading["offset"]]["level"] == heading["level"]
    formulas = [node for node in page["nodes"] if node["type"] == "math_block"]
    assert "\\frac{P_c}{P_b}" in formulas[0]["tex"]


def test_rows_of_a_table_know_their_position(client: httpx.Client, library: Library) -> None:
    text = library.source("agol2021")
    (first, *_) = [node for node in get_sample(client, "papers/agol2021/text")["nodes"] if node["type"] == "table"]
    assert text[first["rows"][0]["offset"] :].startswith("|")
    assert len(first["rows"][0]["cells"]) == len(first["header"]) == len(first["align"])


def test_a_section_is_read_by_its_heading(client: httpx.Client, library: Library) -> None:
    heading = library.metadata(GILLON)["outline"][1]
    page = get_sample(client, f"papers/{GILLON}/text", section=heading["title"])
    assert page["nodes"][0]["offset"] == page["offset"] == heading["offset"]
    assert len([node for node in page["nodes"] if node["type"] == "heading"]) == 1


def test_translations_and_summaries_are_trees(client: httpx.Client) -> None:
    german = get_sample(client, "papers/mayor1995/text", lang="de")
    assert german["nodes"] != get_sample(client, "papers/mayor1995/text")["nodes"]
    summary = get_sample(client, "papers/charbonneau2000/summary")
    assert summary["template"] == "brief"
    assert summary["summary"]["question"]
    names = {section["name"]: section["nodes"] for section in summary["sections"]}
    assert "strong" in {node.get("type") for node in list_nodes(names["summary"])}


def test_similar_papers_and_citations_are_those_of_the_library(client: httpx.Client, library: Library) -> None:
    similar = get_sample(client, f"papers/{GILLON}/similar", limit=3)
    assert [hit["paper_id"] for hit in similar["results"]] == [
        hit["paper_id"] for hit in library.find_similar(GILLON, limit=3)["results"]
    ]
    citations = {one["format"]: one["text"] for one in get_sample(client, f"papers/{GILLON}/citations")["citations"]}
    assert citations == {name: library.citations([GILLON], name) for name in ("bibtex", "ris", "csl-json")}


def test_values_are_counted(client: httpx.Client, library: Library) -> None:
    assert get_sample(client, "facets/venue", limit=5) == library.top_facets("venue", limit=5)


def test_a_hostile_text_contains_no_active_address(client: httpx.Client) -> None:
    (hit,) = client.get("/api/shelves/mine/search", params={"q": "hostile"}).json()["results"]
    page = client.get(f"/api/shelves/mine/papers/{hit['paper_id']}/text").json()
    addresses = [node["href"] for node in list_nodes(page["nodes"]) if node.get("href")]
    assert addresses == ["http://192.0.2.1/x.png"]
    assert {node["type"] for node in list_nodes(page["nodes"]) if "href" in node} == {"figure"}
    assert "<" not in json.dumps(page["nodes"][0])


def test_a_long_text_is_read_page_by_page(client: httpx.Client) -> None:
    (hit,) = client.get("/api/shelves/mine/search", params={"q": "part"}).json()["results"]
    address = f"/api/shelves/mine/papers/{hit['paper_id']}/text"
    pages = [client.get(address).json()]
    while pages[-1]["next_offset"] is not None:
        pages.append(client.get(address, params={"offset": pages[-1]["next_offset"]}).json())
    assert len(pages) > 3
    assert [page["offset"] for page in pages[1:]] == [page["end"] for page in pages[:-1]]
    assert pages[-1]["previous_offset"] == pages[-2]["offset"]
    inside = client.get(address, params={"offset": pages[1]["offset"] + 77}).json()
    assert inside == pages[1]


@pytest.mark.parametrize(
    ("address", "params", "status", "code"),
    [
        ("nothing/search", {}, 404, "shelf_not_found"),
        ("..%2fsample-shelf/search", {}, 404, "no_such_address"),
        ("sample-shelf/papers/none", {}, 404, "paper_not_found"),
        ("sample-shelf/papers/agol2021/text", {"lang": "xx"}, 404, "translation_not_available"),
        ("sample-shelf/papers/agol2021/text", {"offset": 10_000_000}, 422, "invalid_argument"),
        ("sample-shelf/papers/agol2021/text", {"section": "Nowhere"}, 422, "invalid_argument"),
        ("sample-shelf/papers/agol2021/summary", {"template": "x"}, 404, "template_not_available"),
        ("sample-shelf/search", {"q": "x" * 600}, 422, "invalid_argument"),
        ("sample-shelf/search", {"year": "soon"}, 422, "invalid_argument"),
        ("sample-shelf/search", {"offset": 10_001}, 422, "invalid_argument"),
        ("sample-shelf/facets/colour", {}, 422, "invalid_argument"),
        ("sample-shelf/lookup", {}, 422, "invalid_argument"),
    ],
)
def test_a_wrong_request_is_explained(
    client: httpx.Client, address: str, params: dict[str, Any], status: int, code: str
) -> None:
    answer = client.get(f"/api/shelves/{address}", params=params)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)


def test_a_shelf_that_is_replaced_is_read_again(client: httpx.Client, server: ServerProcess, tmp_path: Path) -> None:
    shelves = Path(server.env["URANIBORG_HOME"]) / "data" / "library" / "shelves"
    one = tmp_path / "one.md"
    one.write_text("---\ntitle: First\n---\n\nText.\n", encoding="utf-8")
    build_shelf([one], shelves / "swapped")
    assert client.get("/api/shelves/swapped/search").json()["results"][0]["title"] == "First"
    one.write_text("---\ntitle: Second\n---\n\nText.\n", encoding="utf-8")
    build_shelf([one], shelves / "swapped")
    for _ in range(1_000):
        if client.get("/api/shelves/swapped/search").json()["results"][0]["title"] == "Second":
            break
    else:
        raise AssertionError("the old shelf is still served")
    shutil.rmtree(shelves / "swapped")
    assert client.get("/api/shelves/swapped/search").status_code == 404


def test_bodies_and_workflows_that_use_a_paper_are_listed(client: httpx.Client) -> None:
    assert get_sample(client, "papers/agol2021/uses") == {"bodies": [], "workflows": [], "is_complete": True}
    created = client.post("/api/universes", json={"name": "T1", "from": "trappist-1"}).json()
    document = {"nodes": [{"id": "read", "type": "echo", "params": {"message": "agol2021"}}]}
    client.put("/api/drafts/masses", json={"document": document}).raise_for_status()
    uses = get_sample(client, "papers/agol2021/uses")
    assert {(use["universe_id"], use["universe"]) for use in uses["bodies"]} == {(created["id"], "T1")}
    assert "mass" in next(use["fields"] for use in uses["bodies"] if use["body"] == "TRAPPIST-1 h")
    assert uses["workflows"] == [{"name": "masses", "source": "draft", "nodes": ["read"]}]
    assert get_sample(client, "papers/gillon2017/uses")["workflows"] == []
