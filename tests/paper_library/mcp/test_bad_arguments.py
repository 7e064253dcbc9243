"""Arguments out of range, invalid ids and unknown names are refused with the allowed values."""

from typing import Any

import pytest

from tests.paper_library.mcp import inputs
from tests.paper_library.mcp.http_client import Caller, make_request
from tests.requirements import requirement

SEARCHES = [("search_papers", {"query": "gravel"}), ("search_papers_by_keyword", {"keyword": "gravel"})]
ODD_IDS = [
    "a/b",
    "../../etc/passwd",
    "..",
    ".",
    "static/source",
    "\x00",
    "silent1999\x00",
    "x" * 400,
    "' OR 1=1 --",
    "%",
    "_",
    "😀",
    "\ud7ff\uffff",
    "0" * 32,
    "nobody",
]


@requirement("PL-18")
def test_a_query_of_500_characters_is_accepted_and_one_of_501_is_not(library: Caller) -> None:
    assert "results" in library.call_structured("search_papers", query="é" * 500)
    error = library.call_error("search_papers", query="é" * 501)
    assert (error["code"], error["argument"]) == ("invalid_argument", "query")
    assert "500" in error["allowed"]
    assert "éé" not in error["message"], "what was sent is not sent back"


@requirement("PL-18")
@pytest.mark.parametrize(("tool", "arguments"), SEARCHES)
@pytest.mark.parametrize("name", ["limit", "page_size"])
@pytest.mark.parametrize("size", [101, 0, -1, 10**20])
def test_a_page_has_from_1_to_100_results(
    library: Caller, tool: str, arguments: dict[str, Any], name: str, size: int
) -> None:
    error = library.call_error(tool, **arguments, **{name: size})
    assert (error["code"], error["argument"]) == ("invalid_argument", name)
    assert "100" in error["allowed"]


@requirement("PL-18")
@pytest.mark.parametrize(("tool", "arguments"), SEARCHES)
def test_an_offset_of_10000_is_accepted_and_one_of_10001_is_not(
    library: Caller, tool: str, arguments: dict[str, Any]
) -> None:
    page = library.call_structured(tool, **arguments, offset=10_000)
    assert (page["results"], page["next_offset"]) == ([], None)
    for offset in (10_001, -1):
        error = library.call_error(tool, **arguments, offset=offset)
        assert (error["code"], error["argument"]) == ("invalid_argument", "offset")
        assert "10,000" in error["allowed"] or "10000" in error["allowed"]
    assert "year:2019..2023" in library.call_error(tool, **arguments, offset=10_001)["hint"]


@requirement("PL-18")
@pytest.mark.parametrize(("tool", "arguments"), SEARCHES)
def test_limit_and_page_size_may_both_be_given_if_they_agree(
    library: Caller, tool: str, arguments: dict[str, Any]
) -> None:
    assert library.call_structured(tool, **arguments, limit=4, page_size=4)["limit"] == 4
    error = library.call_error(tool, **arguments, limit=4, page_size=5)
    assert error["code"] == "invalid_argument"
    assert error["argument"] in ("limit", "page_size")


@requirement("PL-13")
@pytest.mark.parametrize("limit", [0, -5, 101, 10**9])
def test_the_number_of_facet_values_is_limited(library: Caller, limit: int) -> None:
    error = library.call_error("list_top_facets", category="author", limit=limit)
    assert (error["code"], error["argument"]) == ("invalid_argument", "limit")


@requirement("PL-15")
@pytest.mark.parametrize("tool", ["get_paper_source", "get_paper_summary"])
@pytest.mark.parametrize("bad", [{"max_chars": 0}, {"max_chars": -1}, {"offset": -1}, {"max_chars": 1.5}])
def test_max_chars_and_offset_are_checked(library: Caller, tool: str, bad: dict[str, Any]) -> None:
    error = library.call_error(tool, paper_id=inputs.ATTENTION_DOI, **bad)
    assert (error["code"], error["argument"]) == ("invalid_argument", next(iter(bad)))


@requirement("PL-16")
@pytest.mark.parametrize("paper_id", ODD_IDS)
@pytest.mark.parametrize("tool", ["get_paper_metadata", "get_paper_summary", "get_paper_source"])
def test_an_id_that_names_no_paper_is_not_found(library: Caller, tool: str, paper_id: str) -> None:
    error = library.call_error(tool, paper_id=paper_id)
    assert error["code"] == "paper_not_found"
    assert paper_id.startswith(error["paper_id"].rstrip("…"))
    assert len(str(error)) < 1_000


@requirement("PL-16")
@pytest.mark.parametrize("paper_id", ["", "x" * 10_240])
def test_an_impossible_id_is_refused_without_repeating_it(library: Caller, paper_id: str) -> None:
    error = library.call_error("get_paper_metadata", paper_id=paper_id)
    assert (error["code"], error["argument"]) == ("invalid_argument", "paper_id")
    assert len(str(error)) < 1_000


@pytest.mark.parametrize("template", [" ", "../default", "default/..", "\x00", "DEEP_READ", "x" * 400])
@requirement("PL-16")
def test_an_unknown_template_is_not_available(library: Caller, template: str) -> None:
    error = library.call_error("get_paper_summary", paper_id=inputs.ATTENTION_DOI, template=template)
    assert error["code"] == "template_not_available"
    assert len(str(error)) < 1_500


@pytest.mark.parametrize(
    ("tool", "arguments", "argument"),
    [
        ("search_papers", {}, "query"),
        ("search_papers", {"query": None}, "query"),
        ("search_papers", {"query": 7}, "query"),
        ("search_papers", {"query": ["rain"]}, "query"),
        ("search_papers", {"query": "rain", "limit": "many"}, "limit"),
        ("search_papers", {"query": "rain", "limit": True}, "limit"),
        ("search_papers", {"query": "rain", "sort": "best"}, "sort"),
        ("search_papers", {"query": "rain", "colour": "blue"}, "colour"),
        ("search_papers_by_keyword", {"keyword": ""}, "keyword"),
        ("search_papers_by_keyword", {"keyword": "x" * 10_240}, "keyword"),
        ("get_paper_metadata", {"id": "silent1999"}, None),
        ("get_paper_summary", {"paper_id": "silent1999", "Template": "default"}, "Template"),
        ("list_top_facets", {}, "category"),
    ],
)
def test_the_invalid_argument_is_named(
    library: Caller, tool: str, arguments: dict[str, Any], argument: str | None
) -> None:
    error = library.call_error(tool, **arguments)
    assert error["code"] == "invalid_argument"
    assert error["hint"]
    if argument is not None:
        assert error["argument"] == argument


@pytest.mark.parametrize("body", [b'"\\ud800"', b'"\\ud800x"'])
@pytest.mark.parametrize(("tool", "argument"), [("search_papers", b"query"), ("get_paper_metadata", b"paper_id")])
def test_a_lone_surrogate_is_refused_and_the_server_keeps_running(
    library: Caller, body: bytes, tool: str, argument: bytes
) -> None:
    call = b'{"name":"%b","arguments":{"%b":%b}}' % (tool.encode(), argument, body)
    response = library.post(b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":%b}' % call)
    answer = response.json()
    assert "error" in answer or answer["result"]["isError"]
    assert library.post(make_request("ping")).status_code == 200
