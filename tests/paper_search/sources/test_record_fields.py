import json
from copy import deepcopy
from typing import Any, cast
from xml.etree.ElementTree import fromstring

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paper_search.domain.query.filters import parse_language, to_bibliographic_code, to_english_name
from paper_search.errors import NonRetryableError, SearchSourceError
from paper_search.models import SearchConstraints, SearchQuery
from paper_search.sources.interfaces import Request
from paper_search.sources.record_fields import (
    build_paper,
    clean_text,
    ensure_list,
    find_year,
    format_page_range,
    get_element_text,
    get_first_link,
    get_object_or_empty,
    list_json_objects,
    parse_count,
    strip_markup,
)
from paper_search.sources.response_bodies import (
    make_permanent_refusal_error,
    parse_json_object,
    parse_xml,
    replace_params,
)
from tests.paper_search.sources.sample_answers import DEFINITIONS, SAMPLES, build_params, build_request, make_response

JUNK: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
ENTITY_BOMB = b"""<?xml version="1.0"?><!DOCTYPE feed [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>
<feed xmlns="http://www.w3.org/2005/Atom"><entry><title>&b;</title></entry></feed>"""


NO_ANSWERS = {
    "nothing": b"",
    "blanks": b"   \n",
    "a web page": b"<html><body>Sign in</body></html>",
    "half a web page": b"<!doctype html><html><head><meta><title>x</title>",
    "an XHTML page": b"<html xmlns='http://www.w3.org/1999/xhtml'><body>Sign in</body></html>",
    "half a JSON": b'{"results": [',
    "null": b"null",
    "JSON and more": b"[]x",
    "a JSON text": b'"text"',
    "an empty object": b"{}",
    "deep JSON": b"[" * 100_000,
    "deep XML": b"<a>" * 100_000,
    "deep whole XML": b"<a>" * 100_000 + b"</a>" * 100_000,
    "a huge number": b'{"results": ' + b"9" * 5_000 + b"}",
    "an entity bomb": ENTITY_BOMB,
    "an entity bomb in UTF-16": ENTITY_BOMB.decode().replace("?>", " encoding='UTF-16'?>", 1).encode("utf-16"),
    "bytes": b"\xff\xfe\x00",
    "an error": b'{"error": "Something broke"}',
}


@pytest.mark.parametrize("source", DEFINITIONS)
@pytest.mark.parametrize("kind", NO_ANSWERS)
def test_an_unusable_body_is_an_error_of_the_source(source: str, kind: str) -> None:
    with pytest.raises(SearchSourceError) as caught:
        DEFINITIONS[source].read_response(build_request(source), make_response(NO_ANSWERS[kind]))
    assert source in caught.value.message


@pytest.mark.parametrize("source", DEFINITIONS)
@given(body=st.binary())
def test_any_body_is_read_or_refused(source: str, body: bytes) -> None:
    _read_or_refuse(source, body)


@pytest.mark.parametrize("source", DEFINITIONS)
@given(data=st.data())
def test_a_wrong_type_anywhere_in_an_answer_is_read_or_refused(source: str, data: st.DataObject) -> None:
    body = deepcopy(data.draw(st.sampled_from(SAMPLES[source])))
    if isinstance(body, str):
        cut = data.draw(st.integers(0, len(body)))
        width = data.draw(st.integers(0, 60))
        _read_or_refuse(source, (body[:cut] + body[cut + width :]).encode())
        return
    *position, last = data.draw(st.sampled_from(_list_positions(body)))
    holder: Any = body
    for step in position:
        holder = holder[step]
    holder[last] = data.draw(JUNK)
    _read_or_refuse(source, json.dumps(body).encode())


@pytest.mark.parametrize("source", DEFINITIONS)
@given(status=st.integers(300, 599), body=st.binary() | JUNK.map(lambda value: json.dumps(value).encode()))
def test_any_refusal_is_an_error_of_the_source_or_left_to_the_transport(source: str, status: int, body: bytes) -> None:
    error = DEFINITIONS[source].read_failure(make_response(body, status))
    assert error is None or isinstance(error, SearchSourceError)


@pytest.mark.parametrize("source", DEFINITIONS)
@given(query=st.text(), limit=st.integers(1, 2_000), years=st.tuples(*[st.none() | st.integers(1500, 2100)] * 2))
def test_any_query_gives_at_most_one_request_of_bounded_length(
    source: str, query: str, limit: int, years: tuple[int | None, int | None]
) -> None:
    filters = SearchConstraints(year_from=years[0], year_to=years[1], language="en")
    requests = DEFINITIONS[source].build_requests(SearchQuery(keywords=[], boolean_query=query), filters, limit)
    assert len(requests) <= 1
    for request in requests:
        assert request.source == source == DEFINITIONS[source].name
        assert request.fingerprint
        assert sum(len(name) + len(value.encode()) for name, value in request.params) < 4_000
        assert not any("key" in name.lower() or "mail" in name.lower() for name, _ in request.params)


PAGE_SIZES = {
    "openalex": ("per-page", 100),
    "crossref": ("rows", 200),
    "arxiv": ("max_results", 100),
    "europepmc": ("pageSize", 100),
    "pubmed": ("retmax", 9_999),
    "dblp": ("h", 1_000),
    "serpapi_scholar": ("num", 20),
}


@pytest.mark.parametrize("source", PAGE_SIZES)
@given(limit=st.integers(1, 20_000))
def test_a_request_asks_for_at_most_the_limit_or_one_page(source: str, limit: int) -> None:
    name, most = PAGE_SIZES[source]
    plain = SearchQuery(keywords=[], boolean_query="kiln")
    assert build_params(source, limit, plain)[name] == str(min(limit, most))


def _read_or_refuse(source: str, body: bytes) -> None:
    try:
        page = DEFINITIONS[source].read_response(build_request(source), make_response(body))
    except SearchSourceError:
        return
    for found in page.papers:
        assert found.title
        assert found.records[0].record_id
        assert found.citation_count >= 0
        assert found.model_dump_json()
    for request in page.follow:
        assert request.source == source


def _list_positions(value: Any, position: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    inner: list[tuple[str | int, Any]] = []
    if isinstance(value, dict):
        inner = list(cast("dict[str | int, Any]", value).items())
    elif isinstance(value, list):
        inner = list(enumerate(cast("list[Any]", value)))
    return [place for key, item in inner for place in ((*position, key), *_list_positions(item, (*position, key)))]


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("  two\n\twords\u00a0here ", "two words here"),
        ("nul\x00 bell\x07", "nul bell"),
        (2021, "2021"),
        (True, ""),
        (None, ""),
        (["x"], ""),
    ],
)
def test_text_is_one_clean_line(raw: object, clean: str) -> None:
    assert clean_text(raw) == clean


def test_a_number_too_long_to_write_is_not_text() -> None:
    assert clean_text(10**5000) == ""


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("H<sub>2</sub>O &amp; <i>E. coli</i>", "H2O & E. coli"),
        ("&lt;i&gt;E. coli&lt;/i&gt;", "E. coli"),
        ("AT&amp;amp;T", "AT&T"),
        ("p < 0.05 and x<y, z > 3", "p < 0.05 and x<y, z > 3"),
        ("Vec<T> and a<b and c>d", "Vec<T> and a<b and c>d"),
        ("<jats:title>Abstract</jats:title><jats:p>One.</jats:p><jats:p>Two.</jats:p>", "One. Two."),
        ("<h4>Aim</h4>We look.", "Aim We look."),
        ('<mml:math xmlns:mml="http://x"><mml:mi>k</mml:mi></mml:math>-means', "k-means"),
        ('<span class="a">x</span><br/>y', "x y"),
        ("a <!-- hidden --> b -->", "a b -->"),
    ],
)
def test_markup_is_removed_and_comparison_signs_stay(raw: str, clean: str) -> None:
    assert strip_markup(raw) == clean


@given(st.text())
def test_stripping_markup_never_raises_and_leaves_one_line(raw: str) -> None:
    clean = strip_markup(raw)
    assert clean == " ".join(clean.split())
    clean.encode()


def test_the_text_of_an_element_includes_the_text_of_nested_elements() -> None:
    assert get_element_text(fromstring("<t>a <i>b <sub>2</sub></i> c</t>")) == "a b 2 c"
    assert get_element_text(None) == ""


@pytest.mark.parametrize(
    ("raw", "year"),
    [
        (2021, 2021),
        ("2021", 2021),
        ("2021 Jan-Feb", 2021),
        ("Spring 1998", 1998),
        ("2021-05-01T00:00:00Z", 2021),
        (2021.0, 2021),
        (0, None),
        ("", None),
        (20210501, None),
        (99999, None),
        (None, None),
        (True, None),
        ([2021], None),
    ],
)
def test_a_year_is_found_in_numbers_and_dates(raw: object, year: int | None) -> None:
    assert find_year(raw) == year


def test_the_first_plausible_year_counts() -> None:
    assert find_year(None, 0, "2019", 2020) == 2019


@pytest.mark.parametrize(
    ("raw", "count"), [(7, 7), ("7", 7), (7.0, 7), (-1, None), (7.5, None), (True, None), ("x", None)]
)
def test_numbers_are_whole_and_not_negative(raw: object, count: int | None) -> None:
    assert parse_count(raw) == count
    assert parse_count(float("nan")) is parse_count(float("inf")) is parse_count("²") is None


def test_only_web_addresses_count_as_links() -> None:
    assert get_first_link(
        None, "", "http:///broken", "ftp://x.org/a", "javascript:x", "http://[bad", "https://x.org/a"
    ) == ("https://x.org/a")
    assert get_first_link("https://x.org/a b") is None


def test_pages_have_one_spelling() -> None:
    assert format_page_range("12 – 34") == format_page_range("12--34") == format_page_range("12", "34") == "12-34"
    assert format_page_range("12", "12") == format_page_range(12) == "12"
    assert format_page_range(None) is None


def test_values_of_the_wrong_type_become_empty() -> None:
    assert get_object_or_empty([1]) == get_object_or_empty(None) == {}
    assert ensure_list(None) == []
    assert ensure_list({"a": 1}) == [{"a": 1}]
    assert list_json_objects([{"a": 1}, None, "x", {"b": 2}]) == [{"a": 1}, {"b": 2}]


def test_a_next_page_replaces_only_the_parameters_named() -> None:
    request = Request("crossref", "https://example.org", (("rows", "5"), ("per-page", "5"), ("q", "x")))
    assert dict(replace_params(request, rows=9, per_page=7).params) == {"rows": "9", "per-page": "7", "q": "x"}


def test_a_record_without_title_is_not_a_paper() -> None:
    for title in (None, "", "  ", "<i></i>", ["x"], {"x": 1}):
        assert build_paper("crossref", "1", title, authors=[], identifiers={}, links=()) is None


def test_a_record_without_an_id_is_named_by_an_identifier() -> None:
    found = build_paper("crossref", None, "T", authors=[], identifiers={"doi": "10.5555/x"}, links=())
    assert found is not None
    assert found.records[0].record_id == "10.5555/x"
    unidentified = build_paper("crossref", None, "T", authors=[], identifiers={}, links=())
    assert unidentified is not None
    assert unidentified.records[0].record_id == "T"


def test_text_without_a_name_is_not_an_author() -> None:
    names = [
        "Ada Example",
        ",Clay Institute, 12 Kiln Road, 69003",
        "2020",
        "…",
        "*",
        "",
        None,
        "王磊",
        "23andClay Team",
    ]
    found = build_paper("s", "1", "Glazes", authors=[(name, None) for name in names], identifiers={}, links=())
    assert found is not None
    assert [author.name for author in found.authors] == ["Ada Example", "王磊", "23andClay Team"]


def test_hundreds_of_authors_and_right_to_left_text_are_preserved() -> None:
    names = [(f"Author {i}", None) for i in range(300)] + [("محمد علي", None), ("", None)]
    found = build_paper("crossref", "1", "دراسة \x00 جديدة", authors=names, identifiers={}, links=())
    assert found is not None
    assert found.title == "دراسة جديدة"
    assert [author.name for author in found.authors] == [name for name, _ in names if name]


def test_one_invalid_byte_does_not_prevent_reading_json() -> None:
    assert parse_json_object("x", make_response(b'\xef\xbb\xbf{"title": "caf\xe9"}'))["title"] == "caf\ufffd"


def test_an_entity_bomb_is_refused_before_it_is_read() -> None:
    with pytest.raises(NonRetryableError, match="declares entities"):
        parse_xml("arxiv", make_response(ENTITY_BOMB))
    assert parse_xml("pubmed", make_response('<!DOCTYPE a PUBLIC "x" "https://x.org/x.dtd"><a/>')).tag == "a"


def test_a_permanent_refusal_is_reported_with_the_message_of_the_source() -> None:
    error = make_permanent_refusal_error("crossref", make_response("", 400), "no such filter " + "x" * 999)
    assert error is not None
    assert error.message.startswith("crossref refused the request (400): no such filter xxx")
    assert len(error.message) < 400
    for status in (200, 302, 408, 425, 429, 500, 503):
        assert make_permanent_refusal_error("crossref", make_response("", status), "wait") is None
    assert make_permanent_refusal_error("crossref", make_response("", 404), None) is None


@pytest.mark.parametrize("name", ["en", "EN", "eng", "English", "en-US", "en_GB"])
def test_a_language_is_recognised_by_all_its_names(name: str) -> None:
    assert parse_language(name) == "en"


def test_languages_give_the_bibliographic_codes() -> None:
    assert parse_language("fre") == parse_language("fra") == "fr"
    assert parse_language("und") is parse_language("") is parse_language(None) is parse_language(3) is None
    assert parse_language("tl") == "tl"
    assert to_bibliographic_code("de") == "ger"
    assert to_bibliographic_code("tl") == "tl"
    assert to_english_name("de") == "german"
