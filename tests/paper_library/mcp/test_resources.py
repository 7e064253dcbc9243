"""Resources: `paper://` URIs, their types, limits and errors."""

import json
from pathlib import Path

import pytest

from paper_library.config import LibraryConfig
from tests.paper_library.mcp import inputs
from tests.paper_library.mcp.http_client import Caller, make_request, serve_library
from tests.paper_library.operations.shelves import build_titled_shelf
from tests.requirements import requirement

TEMPLATES = {
    "paper://{paper_id}/metadata{?offset}": "application/json",
    "paper://{paper_id}/summary{?offset}": "application/json",
    "paper://{paper_id}/summary/{template}{?offset}": "application/json",
    "paper://{paper_id}/source{?offset}": "text/markdown",
    "paper://{paper_id}/translation/{lang}{?offset}": "text/markdown",
}
DEFAULT_LIMIT = 50_000


@pytest.fixture
def attention(library: Caller) -> str:
    return library.find_paper_id(inputs.ATTENTION_DOI)


@requirement("PL-14")
def test_the_templates_are_listed_with_their_types_titles_and_descriptions(library: Caller) -> None:
    listed = library.request("resources/templates/list")["resourceTemplates"]
    assert {one["uriTemplate"]: one["mimeType"] for one in listed} == TEMPLATES
    assert all(one["title"] and one["description"] and one["name"] for one in listed)


@requirement("PL-14")
def test_papers_are_listed_in_the_order_of_their_titles(library: Caller) -> None:
    listed = library.request("resources/list")
    papers = library.call_structured("search_papers", query="", limit=100)["results"]
    assert "nextCursor" not in listed
    assert [one["uri"] for one in listed["resources"]] == [f"paper://{hit['paper_id']}/metadata" for hit in papers]
    (attention,) = [one for one in listed["resources"] if one["name"].startswith("Attention for Weather")]
    assert attention["mimeType"] == "application/json"
    assert attention["description"] == (
        "Ada Öztürk, Thị Minh Nguyễn, John Smith · Conference on Learned Weather · 2021"
    )


def test_many_papers_are_listed_in_pages_with_cursors(tmp_path: Path) -> None:
    build_titled_shelf(tmp_path / "shelf", *(f"Paper number {n:03}" for n in range(120)))
    with serve_library(LibraryConfig(shelf=tmp_path / "shelf")) as caller:
        pages = [caller.request("resources/list")]
        while cursor := pages[-1].get("nextCursor"):
            pages.append(caller.request("resources/list", {"cursor": cursor}))
    names = [one["name"] for page in pages for one in page["resources"]]
    assert [len(page["resources"]) for page in pages] == [50, 50, 20]
    assert names == [f"Paper number {n:03}" for n in range(120)]


@pytest.mark.parametrize("cursor", ["x", "-1", "1.5", "", "٣", "10001", "9" * 400, "50 "])
def test_an_invalid_cursor_is_refused(library: Caller, cursor: str) -> None:
    error = library.post(make_request("resources/list", {"cursor": cursor})).json()["error"]
    assert error["code"] == -32602
    assert error["data"]["error"]["argument"] == "cursor"


def test_a_cursor_after_the_last_paper_lists_nothing(library: Caller) -> None:
    assert library.request("resources/list", {"cursor": "9000"}) == {"resources": []}


@requirement("PL-14")
def test_the_metadata_resource_equals_the_tool_reply(library: Caller, attention: str) -> None:
    uri = f"paper://{attention}/metadata"
    content = library.read_resource(uri)
    assert (content["uri"], content["mimeType"]) == (uri, "application/json")
    assert json.loads(content["text"]) == library.call_structured("get_paper_metadata", paper_id=attention)


@requirement("PL-14")
def test_summary_is_the_preferred_one(library: Caller, attention: str) -> None:
    content = library.read_resource(f"paper://{attention}/summary")
    assert content["mimeType"] == "application/json"
    assert content["text"] == library.call_text("get_paper_summary", paper_id=attention)


@requirement("PL-14")
@pytest.mark.parametrize(("template", "value"), [("deep_read", inputs.DEEP_READ), ("brief", inputs.BRIEF)])
def test_a_summary_can_be_read_by_template(library: Caller, attention: str, template: str, value: object) -> None:
    content = library.read_resource(f"paper://{attention}/summary/{template}")
    assert content["mimeType"] == "application/json"
    assert json.loads(content["text"]) == value


@requirement("PL-14")
def test_source_is_the_markdown(library: Caller, attention: str) -> None:
    content = library.read_resource(f"paper://{attention}/source")
    assert content["mimeType"] == "text/markdown"
    assert content["text"] == inputs.strip_front_matter(inputs.ATTENTION)


@requirement("PL-14")
@pytest.mark.parametrize("lang", ["zh", "ZH"])
def test_a_translation_is_its_markdown(library: Caller, attention: str, lang: str) -> None:
    content = library.read_resource(f"paper://{attention}/translation/{lang}")
    assert content["mimeType"] == "text/markdown"
    assert content["text"] == inputs.ATTENTION_ZH.strip()


@requirement("PL-14")
@pytest.mark.parametrize("name", ["oztuerk2021attention", "10.5555%2Fweather.2021.17", "10.5555%2FWEATHER.2021.17"])
def test_other_identifiers_of_a_paper_are_accepted(library: Caller, attention: str, name: str) -> None:
    content = library.read_resource(f"paper://{name}/metadata")
    assert json.loads(content["text"])["paper_id"] == attention


@requirement("PL-15")
def test_a_long_text_is_cut_at_the_default_limit_with_a_marker(library: Caller) -> None:
    whole = inputs.make_long_text()
    assert len(whole) > DEFAULT_LIMIT
    text = library.read_resource(f"paper://{inputs.LONG}/source")["text"]
    assert text[:DEFAULT_LIMIT] == whole[:DEFAULT_LIMIT]
    left = len(whole) - DEFAULT_LIMIT
    marker = f"\n\n[truncated: {left} of {len(whole)} characters left; continue with offset={DEFAULT_LIMIT}]"
    assert text[DEFAULT_LIMIT:] == marker
    rest = library.read_resource(f"paper://{inputs.LONG}/source?offset={DEFAULT_LIMIT}")
    assert (rest["uri"], rest["mimeType"]) == (
        f"paper://{inputs.LONG}/source?offset={DEFAULT_LIMIT}",
        "text/markdown",
    )
    assert text[:DEFAULT_LIMIT] + rest["text"] == whole


@requirement("PL-14", "PL-15")
@pytest.mark.parametrize("kind", ["metadata", "summary", "summary/deep_read", "source", "translation/zh"])
def test_every_kind_of_resource_can_be_continued(library: Caller, attention: str, kind: str) -> None:
    whole = library.read_resource(f"paper://{attention}/{kind}")["text"]
    assert library.read_resource(f"paper://{attention}/{kind}?offset=5")["text"] == whole[5:]
    assert library.read_resource(f"paper://{attention}/{kind}?offset={len(whole)}")["text"] == ""


@pytest.mark.parametrize(
    "query",
    ["offset=-1", "offset=x", "offset=", "offset=999999999", "offset=1&offset=2", "max_chars=3", "paper_id=clang"],
)
def test_an_invalid_offset_is_refused(library: Caller, attention: str, query: str) -> None:
    error = library.read_resource_error(f"paper://{attention}/source?{query}")
    assert error["code"] == "invalid_argument"


@requirement("PL-14", "PL-16")
@pytest.mark.parametrize(
    ("uri", "code", "ids"),
    [
        ("paper://nobody/metadata", "paper_not_found", {"paper_id": "nobody"}),
        ("paper://nobody/source", "paper_not_found", {"paper_id": "nobody"}),
        ("paper://nobody/summary/deep_read", "paper_not_found", {"paper_id": "nobody", "template": "deep_read"}),
        ("paper://silent1999/source", "source_not_available", {}),
        ("paper://silent1999/summary/deep_read", "template_not_available", {"template": "deep_read"}),
        ("paper://oztuerk2021attention/translation/tlh", "translation_not_available", {"lang": "tlh"}),
    ],
)
def test_a_failed_read_reports_the_reason_and_the_ids(
    library: Caller, uri: str, code: str, ids: dict[str, str]
) -> None:
    error = library.read_resource_error(uri)
    named = uri.split("/")[2]
    paper_id = named if named == "nobody" else library.find_paper_id(named)
    assert (error["code"], error["paper_id"]) == (code, paper_id)
    assert ids.items() <= error.items()


@requirement("PL-16")
def test_a_missing_template_is_reported_with_the_available_ones(library: Caller) -> None:
    error = library.read_resource_error("paper://oztuerk2021attention/summary/haiku")
    assert set(error["available_summary_templates"]) == {"default", "deep_read", "brief"}


@pytest.mark.parametrize(
    "uri",
    [
        "paper://silent1999",
        "paper://silent1999/",
        "paper://silent1999/pdf",
        "paper://silent1999/summary/default/more",
        "paper:///metadata",
        "paper://../../etc/passwd/source",
        "paper://%2e%2e%2f%2e%2e/source",
        "paper://silent1999/summary/..%2f..%2fmanifest",
        "paper://silent1999/translation/..%2f..%2f..%2fetc%2fpasswd",
        "paper://%00/metadata",
        "file:///etc/passwd",
        "http://127.0.0.1/",
        "nonsense",
        "",
        f"paper://{'x' * 10_000}/metadata",
    ],
)
def test_an_unknown_uri_is_an_error_and_never_a_file(library: Caller, uri: str) -> None:
    response = library.post(make_request("resources/read", {"uri": uri}))
    assert response.status_code == 200
    error = response.json()["error"]
    assert error["code"] < 0
    assert error["data"]["error"]["code"]
    assert "root:" not in response.text
    assert len(response.content) < 3_000
