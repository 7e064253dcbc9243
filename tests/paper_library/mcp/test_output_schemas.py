"""Every structured reply fits the schema that its tool publishes."""

from pathlib import Path
from typing import Any

import jsonschema
import pytest

from paper_library.config import LibraryConfig
from paper_library.service.hits import ResultPage
from tests.paper_library.mcp import inputs
from tests.paper_library.mcp.http_client import Caller, serve_library
from tests.paper_library.retractions import RETRACTION, write_retraction

STRUCTURED: dict[str, list[dict[str, Any]]] = {
    "search_papers": [
        {"query": ""},
        {"query": "rain radar"},
        {"query": "photobleeching"},
        {"query": '"tidally silent" year:1990.. -gravel', "limit": 1},
        {"query": "gravel", "sort": "year_desc", "offset": 20},
    ],
    "search_papers_by_keyword": [{"keyword": "gravel"}, {"keyword": "no such keyword"}],
    "list_top_facets": [{"category": kind} for kind in ("author", "venue", "keyword", "institution", "tag")],
    "get_paper_metadata": [{"paper_id": paper} for paper in (inputs.ATTENTION_DOI, inputs.SOURCELESS, "filler00")],
}
TEXTS = {
    "get_paper_summary": {"paper_id": inputs.ATTENTION_DOI},
    "get_paper_source": {"paper_id": inputs.ATTENTION_DOI},
    "read_paper_section": {"paper_id": inputs.ATTENTION_DOI, "section": "Data"},
    "export_citations": {"paper_ids": ["silent1999"]},
}
FAILURES: list[tuple[str, dict[str, Any]]] = [
    ("search_papers", {"query": "q" * 501}),
    ("search_papers", {}),
    ("search_papers_by_keyword", {"keyword": ""}),
    ("list_top_facets", {"category": "colour"}),
    ("get_paper_metadata", {"paper_id": "nobody"}),
]


def read_schemas(caller: Caller) -> dict[str, dict[str, Any]]:
    return {tool["name"]: tool.get("outputSchema", {}) for tool in caller.request("tools/list")["tools"]}


def check_value(schema: dict[str, Any], value: Any) -> None:
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(value)  # pyright: ignore[reportUnknownMemberType]


def test_every_structured_reply_fits_its_schema(library: Caller) -> None:
    published = read_schemas(library)
    assert {name for name, schema in published.items() if schema} == STRUCTURED.keys()
    for name, calls in STRUCTURED.items():
        assert published[name]["type"] == "object"
        for arguments in calls:
            check_value(published[name], library.call_structured(name, **arguments))


def test_a_schema_is_strict_enough_to_refuse_another_reply(library: Caller) -> None:
    published = read_schemas(library)
    page = library.call_structured("search_papers", query="rain radar")
    for name in STRUCTURED:
        with pytest.raises(jsonschema.ValidationError):
            check_value(published[name], {})
    wrong_results: list[Any] = [[{}], None, [{**page["results"][0], "year": "MMXX"}]]
    for wrong in wrong_results:
        with pytest.raises(jsonschema.ValidationError):
            check_value(published["search_papers"], {**page, "results": wrong})


@pytest.mark.parametrize("name", TEXTS)
def test_a_tool_that_returns_text_has_no_schema_and_no_structured_content(library: Caller, name: str) -> None:
    assert read_schemas(library)[name] == {}
    assert "structuredContent" not in library.call(name, **TEXTS[name])


@pytest.mark.parametrize(("name", "arguments"), FAILURES)
def test_a_failure_has_the_error_shape_and_no_structured_content(
    library: Caller, name: str, arguments: dict[str, Any]
) -> None:
    library.call_error(name, **arguments)
    assert "structuredContent" not in library.call(name, **arguments)


def test_the_details_of_a_match_reach_the_client(library: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = ResultPage.as_dict
    match = {"matched_fields": ["title", "text"], "section": "Results", "offset": 17}

    def with_match(page: ResultPage) -> dict[str, Any]:
        reply = plain(page)
        return {**reply, "results": [{**hit, **match} for hit in reply["results"]]}

    monkeypatch.setattr(ResultPage, "as_dict", with_match)
    page = library.call_structured("search_papers", query="rain radar")
    assert match.items() <= page["results"][0].items()
    check_value(read_schemas(library)["search_papers"], page)


def test_a_retracted_paper_is_marked_in_results_and_metadata(shelf_copy: Path, library: Caller) -> None:
    paper_id = library.find_paper_id(inputs.ATTENTION_DOI)
    with serve_library(LibraryConfig(shelf=write_retraction(shelf_copy, paper_id))) as caller:
        metadata = caller.call_structured("get_paper_metadata", paper_id=paper_id)
        assert metadata["retraction"] == RETRACTION
        check_value(read_schemas(caller)["get_paper_metadata"], metadata)
        page = caller.call_structured("search_papers", query="rain radar")
        assert [hit.get("retracted") for hit in page["results"]] == [True, None]
        check_value(read_schemas(caller)["search_papers"], page)
        (hit,) = caller.call_structured("search_papers_by_keyword", keyword="transformer")["results"]
        assert hit["retracted"] is True
        (content,) = caller.request("resources/read", {"uri": f"paper://{paper_id}/metadata"})["contents"]
        assert '"retraction":{"status":"retracted"' in content["text"]
        listed = {one["uri"]: one for one in caller.request("resources/list")["resources"]}
        assert listed[f"paper://{paper_id}/metadata"]["description"].startswith("Retracted · ")


def test_a_paper_that_is_not_retracted_has_no_mark(shelf_copy: Path, library: Caller) -> None:
    paper_id = library.find_paper_id(inputs.ATTENTION_DOI)
    with serve_library(LibraryConfig(shelf=write_retraction(shelf_copy, paper_id, None))) as caller:
        assert caller.call_structured("get_paper_metadata", paper_id=paper_id)["retraction"] is None
        assert "retracted" not in caller.call_structured("search_papers", query="rain radar")["results"][0]
