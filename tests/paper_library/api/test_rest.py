"""REST over a real port: every address, its limits and its ETags."""

import json
import re
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import TypeAdapter

from paper_library.domain.replies import StoredMetadata
from tests.paper_library.operations.command_runs import start_server, wait_until
from tests.paper_library.operations.rest_shelf import MARKDOWN, find_paper
from tests.paper_library.operations.shelves import build_titled_shelf
from tests.requirements import requirement
from uraniborg.kernel.bibliography.identifiers import make_record_id


def get_error(answer: httpx.Response, status: int) -> dict[str, Any]:
    """Return the error of a reply, which must have the common shape."""
    assert answer.status_code == status, answer.text
    assert answer.headers["Content-Type"] == "application/json"
    body = answer.json()
    assert body.keys() == {"error"}
    assert {"code", "message", "hint"} <= body["error"].keys()
    assert "ETag" not in answer.headers
    return body["error"]


def test_search_returns_rows_total_and_the_interpreted_query(rest: httpx.Client) -> None:
    found = rest.get("search", params={"q": "star", "limit": 1}).json()
    assert found["total"] == 2
    assert (found["limit"], found["offset"], found["next_offset"]) == (1, 0, 1)
    assert found["interpreted_query"]["terms"] == ["star"]
    (row,) = found["results"]
    assert row["title"] == "The new star"
    shown = {"paper_id", "title", "year", "venue", "snippet_markdown", "authors", "score"}
    assert shown | {"matched_fields", "section", "offset"} == row.keys()
    assert rest.get("search", params={"q": "star", "page_size": 1}).json()["results"] == [row]


def test_the_metadata_of_a_paper_fit_their_published_type(rest: httpx.Client) -> None:
    replies = rest.get("openapi.json").json()["paths"]["/papers/{paper_id}"]["get"]["responses"]
    schema = replies["200"]["content"]["application/json"]["schema"]
    assert schema == {"$ref": "#/components/schemas/StoredMetadata"}
    reply, kind = rest.get("papers/brahe1573").json(), TypeAdapter(StoredMetadata)
    assert kind.dump_python(kind.validate_python(reply), mode="json") == reply


def test_a_paper_is_found_by_id_key_and_lookup(rest: httpx.Client) -> None:
    reply = rest.get("papers/brahe1573").json()
    assert reply["authors"] == ["Tycho Brahe", "Sophie Brahe"]
    assert reply["identifiers"]["doi"] == "10.1000/star"
    assert rest.get(f"papers/{reply['paper_id']}").json() == reply
    for known in ("10.1000/STAR", "https://doi.org/10.1000/star", "brahe1573", reply["paper_id"]):
        assert rest.get("lookup", params={"id": known}).json() == {"paper_ids": [reply["paper_id"]]}
    assert find_paper(rest, "the NEW stár") == reply["paper_id"]


def test_summaries_texts_translations_and_bibtex_have_their_own_addresses(rest: httpx.Client) -> None:
    comets = find_paper(rest, "On comets")
    assert rest.get("papers/brahe1573/summary").json() == {"summary": "It shone."}
    assert rest.get("papers/brahe1573/summary/deep_read").json() == {"summary": "It shone."}
    assert rest.get("papers/brahe1573/summary/default").json()["paper_title"] == "The new star"
    source = rest.get(f"papers/{comets}/source")
    assert source.text == MARKDOWN.strip()
    assert source.headers["Content-Type"] == "text/markdown; charset=utf-8"
    assert rest.get(f"papers/{comets}/translation/de").text.startswith("# Kometen")
    assert rest.get(f"papers/{comets}/translation/DE").status_code == 200
    bibtex = rest.get("papers/brahe1573/bibtex")
    assert bibtex.text.startswith("@article{brahe1573")
    assert bibtex.headers["Content-Type"].startswith("application/x-bibtex")
    similar = rest.get("papers/brahe1573/similar").json()
    assert [hit["title"] for hit in similar["results"]] == ["A new astronomy"]


@pytest.mark.parametrize(
    ("name", "kind", "beginning"),
    [
        ("bibtex", "application/x-bibtex", "@article{brahe1573,"),
        ("ris", "application/x-research-info-systems", "TY  - JOUR\n"),
        ("csl-json", "application/vnd.citationstyles.csl+json", '[\n  {\n    "id": "brahe1573",'),
    ],
)
def test_a_citation_has_an_address_in_every_format(rest: httpx.Client, name: str, kind: str, beginning: str) -> None:
    answer = rest.get(f"papers/brahe1573/citation/{name}")
    assert answer.headers["Content-Type"].startswith(kind)
    assert answer.text.startswith(beginning)
    assert get_error(rest.get(f"papers/nobody/citation/{name}"), 404)["code"] == "paper_not_found"
    assert get_error(rest.get("papers/brahe1573/citation/apa"), 422)["argument"] == "format"


def test_a_paper_is_read_by_the_id_that_a_search_gives_to_it(rest: httpx.Client) -> None:
    known = rest.get("papers/brahe1573").json()
    name = make_record_id({}, known["identifiers"].get("doi"), known["title"], known["authors"][0], known["year"])
    assert rest.get(f"papers/{name}").json() == known
    missing = get_error(rest.get("papers/p_0123456789abcdef"), 404)
    assert "paper-search server" in missing["hint"]


def test_facets_and_stats_count_the_papers_of_the_shelf(rest: httpx.Client) -> None:
    assert rest.get("facets/author").json()["result"][0] == {"value": "Sophie Brahe", "paper_count": 2}
    assert rest.get("facets/venue").json() == {
        "category": "venue",
        "result": [{"value": "Annals", "paper_count": 2}],
        "total": 1,
    }
    assert rest.get("facets/keyword", params={"limit": 1}).json()["result"][0]["paper_count"] == 2
    assert rest.get("facets/author", params={"offset": 10_000}).json()["result"] == []
    assert rest.get("stats").json()["papers"] == 4


@requirement("PL-15")
def test_texts_are_cut_at_max_chars_and_name_the_next_offset(rest: httpx.Client) -> None:
    address = f"papers/{find_paper(rest, 'On comets')}/source"
    text = MARKDOWN.strip()
    cut = rest.get(address, params={"max_chars": 100}).text
    assert (
        cut
        == f"{text[:100]}\n\n[truncated: {len(text) - 100} of {len(text)} characters left; continue with offset=100]"
    )
    assert rest.get(address, params={"offset": 100}).text == text[100:]
    assert rest.get(address, params={"offset": len(text)}).text == ""
    assert get_error(rest.get(address, params={"offset": len(text) + 1}), 422)["argument"] == "offset"
    assert get_error(rest.get(address, params={"max_chars": 0}), 422)["argument"] == "max_chars"


@requirement("PL-18")
@pytest.mark.parametrize(
    ("path", "params", "argument"),
    [
        ("search", {"q": "x" * 501}, "q"),
        ("search", {"limit": 0}, "limit"),
        ("search", {"limit": 101}, "limit"),
        ("search", {"page_size": 101}, "page_size"),
        ("search", {"limit": "ten"}, "limit"),
        ("search", {"offset": 10_001}, "offset"),
        ("search", {"offset": -1}, "offset"),
        ("search", {"sort": "colour"}, "sort"),
        ("search", {"year": "soon"}, "year"),
        ("search", {"year": "99999"}, "year"),
        ("search", {"author": "x" * 501}, "author"),
        ("search", {"facets": "colour"}, None),
        ("search", {"facet_limit": 101}, "facet_limit"),
        ("facets/author", {"limit": 0}, "limit"),
        ("facets/author", {"limit": 101}, "limit"),
        ("facets/colour", {}, "kind"),
        ("papers/brahe1573/similar", {"limit": 101}, "limit"),
        ("lookup", {}, "id"),
        ("lookup", {"id": "a", "title": "b"}, "id"),
        ("papers/" + "x" * 10_000, {}, "paper_id"),
    ],
)
def test_an_argument_beyond_its_limit_is_named_with_the_allowed_range(
    rest: httpx.Client, path: str, params: dict[str, Any], argument: str | None
) -> None:
    output = get_error(rest.get(path, params=params), 422)
    assert output["code"] == "invalid_argument"
    assert argument is None or output["argument"] == argument
    assert "x" * 200 not in output["message"]


@pytest.mark.parametrize(
    ("path", "name", "nearest"),
    [
        ("search", "limt", ["limit"]),
        ("search", "pagesize", ["page_size"]),
        ("search", "query", None),
        ("search", "Limit", ["limit"]),
        ("search", "paper_id", None),
        ("facets/author", "ofset", ["offset"]),
        ("facets/author", "kind", None),
        ("stats", "x", None),
        ("", "x", None),
        ("lookup", "titel", ["title"]),
        ("papers/brahe1573", "fields", None),
        ("papers/brahe1573/summary", "templat", ["template"]),
        ("papers/brahe1573/summary/default", "template", None),
        ("papers/brahe1573/source", "max_char", ["max_chars"]),
        ("papers/brahe1573/bibtex", "format", None),
        ("papers/brahe1573/similar", "q", None),
    ],
)
def test_an_unknown_parameter_is_refused_with_the_nearest_and_the_allowed_ones(
    rest: httpx.Client, path: str, name: str, nearest: list[str] | None
) -> None:
    message = get_error(rest.get(path, params={name: "1" * 300}), 422)
    assert (message["code"], message["argument"]) == ("invalid_argument", name)
    document = rest.get("openapi.json").json()
    address = next(route for route in document["paths"] if _fits(route, f"/{path}"))
    known = document["paths"][address]["get"].get("parameters", [])
    assert message["allowed"] == [one["name"] for one in known if one["in"] == "query"]
    assert all(allowed in message["hint"] for allowed in message["allowed"])
    assert nearest is None or (message["nearest"][0] == nearest[0] and f"Did you mean {nearest[0]}" in message["hint"])
    assert "1" * 100 not in json.dumps(message)


def _fits(route: str, path: str) -> bool:
    return re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", route), path) is not None


def test_every_parameter_of_the_openapi_document_is_accepted(rest: httpx.Client) -> None:
    values = {"format": "markdown", "facets": "author", "sort": "relevance", "year": "1573", "template": "default"}
    values |= dict.fromkeys(("limit", "page_size", "offset", "max_chars", "facet_limit"), "1")
    for path, operations in rest.get("openapi.json").json()["paths"].items():
        for parameter in operations["get"].get("parameters", []):
            if parameter["in"] == "query":
                address = path.format(kind="author", paper_id="brahe1573", template="default", lang="de", format="ris")
                answer = rest.get(address[1:], params={parameter["name"]: values.get(parameter["name"], "x")})
                assert "no parameter" not in answer.text, (path, parameter["name"])


def test_limit_and_page_size_that_differ_are_refused(rest: httpx.Client) -> None:
    get_error(rest.get("search", params={"limit": 1, "page_size": 2}), 422)


@pytest.mark.parametrize("params", [{"q": "x" * 500}, {"limit": 100}, {"offset": 10_000}, {"year": "1573.."}])
def test_the_limits_themselves_are_accepted(rest: httpx.Client, params: dict[str, Any]) -> None:
    assert rest.get("search", params=params).status_code == 200


STRANGE = ["nothing", "%2e%2e", "%00", "a%00b", "%ff", "%0d%0aX-Evil:1", "x" * 500, "é", "' OR 1=1 --", "%", "\\"]


@pytest.mark.parametrize("name", STRANGE)
@pytest.mark.parametrize("rest_of_it", ["", "/summary", "/source", "/bibtex", "/translation/de", "/similar"])
def test_a_paper_with_an_odd_name_is_not_found(rest: httpx.Client, name: str, rest_of_it: str) -> None:
    answer = rest.get(httpx.URL(f"{rest.base_url}papers/{name}{rest_of_it}"))
    message = get_error(answer, 404)
    assert message["code"] in {"paper_not_found", "no_such_address"}
    assert "X-Evil" not in answer.headers


def test_an_id_with_a_slash_is_not_found_and_the_hint_names_lookup(rest: httpx.Client) -> None:
    for given in ("10.1000/star", "10.1000%2Fstar", "../../etc/passwd"):
        get_error(rest.get(f"papers/{given}"), 404)


@requirement("PL-16")
@pytest.mark.parametrize(
    ("path", "code", "ids"),
    [
        ("papers/brahe1573/summary/none", "template_not_available", {"available_summary_templates", "template"}),
        ("papers/brahe1573/source", "source_not_available", set[str]()),
        ("papers/brahe1573/translation/xx", "translation_not_available", {"available_translations", "lang"}),
        (f"papers/brahe1573/summary/{'x' * 10_000}", "template_not_available", {"template"}),
        ("papers/nobody/summary/short", "paper_not_found", {"template"}),
        ("papers/nobody/summary?template=short", "paper_not_found", {"template"}),
    ],
)
def test_missing_parts_of_a_paper_are_reported(rest: httpx.Client, path: str, code: str, ids: set[str]) -> None:
    message = get_error(rest.get(path), 404)
    assert message["code"] == code
    assert {"paper_id", *ids} <= message.keys()
    assert len(json.dumps(message)) < 2_000


def test_a_paper_without_bibtex_has_a_generated_entry(rest: httpx.Client) -> None:
    entry = rest.get(f"papers/{find_paper(rest, 'On comets')}/bibtex").text
    assert entry.startswith("@misc{brahe_nd_on,\n")
    assert "title = {{On comets}}" in entry


@pytest.mark.parametrize("path", ["nothing", "papers", "papers/a/b/c", "search/more", "facets"])
def test_an_unknown_address_gives_the_common_error_shape(rest: httpx.Client, path: str) -> None:
    assert get_error(rest.get(path), 404)["code"] == "no_such_address"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_a_wrong_method_gives_the_common_error_shape_with_the_allowed_ones(rest: httpx.Client, method: str) -> None:
    for path in ("search", "papers/brahe1573", "stats"):
        answer = rest.request(method, path)
        assert get_error(answer, 405)["code"] == "method_not_allowed"
        assert "GET" in answer.headers["Allow"]


def test_head_replies_like_get_without_a_body(rest: httpx.Client) -> None:
    head, get = rest.head("search"), rest.get("search")
    assert (head.status_code, head.content, head.headers["ETag"]) == (200, b"", get.headers["ETag"])


def test_every_reply_has_an_etag_and_an_unchanged_shelf_gives_304(rest: httpx.Client) -> None:
    paths = ["search", "stats", "facets/author", "papers/brahe1573", "papers/brahe1573/summary", "openapi.json"]
    for path in paths:
        first = rest.get(path)
        assert re.fullmatch(r'"[^"]+"', first.headers["ETag"])
        for known in (first.headers["ETag"], f"W/{first.headers['ETag']}", f'"other", {first.headers["ETag"]}'):
            again = rest.get(path, headers={"If-None-Match": known})
            assert (again.status_code, again.content) == (304, b"")
            assert again.headers["ETag"] == first.headers["ETag"]
        assert rest.get(path, headers={"If-None-Match": '"other"'}).status_code == 200


@pytest.mark.parametrize(("path", "status"), [("papers/nothing", 404), ("nothing", 404), ("search?limit=0", 422)])
def test_an_error_is_never_304(rest: httpx.Client, path: str, status: int) -> None:
    tag = rest.get("stats").headers["ETag"]
    assert rest.get(path, headers={"If-None-Match": tag}).status_code == status


def test_the_etag_changes_with_the_shelf(tmp_path: Path) -> None:
    build_titled_shelf(tmp_path / "shelf", "Star")
    with start_server(tmp_path, tmp_path / "shelf") as served:
        old = served.client.get("/api/v1/stats").headers["ETag"]
        build_titled_shelf(tmp_path / "shelf", "Comet")
        known = {"If-None-Match": old}
        wait_until(lambda: served.client.get("/api/v1/stats", headers=known).status_code == 200, within=10)
        assert served.client.get("/api/v1/stats").headers["ETag"] != old


def test_no_reply_discloses_the_path_of_the_shelf(rest: httpx.Client, rest_folder: Path) -> None:
    comets = find_paper(rest, "On comets")
    paths = ["search", "stats", f"papers/{comets}", f"papers/{comets}/summary", "papers/x", "openapi.json"]
    for path in paths:
        answer = rest.get(path)
        assert str(rest_folder) not in answer.text
        assert "static/" not in answer.text
        assert "server" not in answer.headers
