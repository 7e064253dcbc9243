"""Tests of lookups of works by identifier."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from paper_search.domain.query.identifier_queries import (
    Identifier,
    find_matching_identifiers,
    make_lookup_query,
    read_identifiers,
)
from paper_search.errors import NonRetryableError
from paper_search.models import SearchStrategy, SourceStatus
from paper_search.sources.http_source import HttpSource
from paper_search.sources.interfaces import LookupDefinition, Request, Response, SourceResult
from paper_search.sources.transport.request_policies import SourcePolicy, make_response_error
from paper_search.testing import FakeTransport
from tests.paper_search.sources.sample_answers import ARXIV, CROSSREF, DEFINITIONS, OPENALEX, S2_ID, make_response

LIST = "10.5555/kiln.1, arXiv:2101.00001, PMID 123, PMC9"
NOT_FOUND = NonRetryableError("not there", status=404)


def build_lookup_requests(source: str, text: str = LIST) -> list[Request]:
    definition = DEFINITIONS[source]
    assert isinstance(definition, LookupDefinition)
    return definition.build_lookup_requests(read_identifiers(text))


def list_fields(request: Request) -> dict[str, str]:
    return dict((*request.params, *request.form))


async def fetch_works(source: str, text: str, answers: dict[str, Any]) -> SourceResult:
    strategy = SearchStrategy(queries=[make_lookup_query(read_identifiers(text))], sources=[source])
    return await HttpSource(DEFINITIONS[source], FakeTransport(answers)).search_with_report(strategy)


def test_each_source_is_searched_for_the_identifiers_it_supports() -> None:
    (arxiv,) = build_lookup_requests("arxiv")
    assert list_fields(arxiv)["id_list"] == "2101.00001"
    (crossref,) = build_lookup_requests("crossref")
    assert (list_fields(crossref)["filter"], list_fields(crossref)["rows"]) == ("doi:10.5555/kiln.1", "1")
    efetch, esearch = build_lookup_requests("pubmed")
    assert (efetch.method, list_fields(efetch)["id"]) == ("POST", "123")
    assert list_fields(esearch)["term"] == '"10.5555/kiln.1"[doi] OR "PMC9"[pmcid]'
    (europepmc,) = build_lookup_requests("europepmc")
    assert list_fields(europepmc)["query"] == 'DOI:"10.5555/kiln.1" OR (EXT_ID:123 AND SRC:MED) OR PMCID:PMC9'
    assert [list_fields(request)["filter"] for request in build_lookup_requests("openalex")] == [
        "doi:10.5555/kiln.1|10.48550/arxiv.2101.00001",
        "pmid:123",
    ]
    assert [request.url.rpartition("/paper/")[2] for request in build_lookup_requests("semantic_scholar")] == [
        "DOI:10.5555/kiln.1",
        "ARXIV:2101.00001",
        "PMID:123",
        "PMCID:9",
    ]


@pytest.mark.parametrize("source", ["arxiv", "crossref", "openalex", "europepmc", "pubmed", "semantic_scholar"])
def test_a_source_is_not_searched_for_identifiers_it_does_not_support(source: str) -> None:
    definition = DEFINITIONS[source]
    assert isinstance(definition, LookupDefinition)
    assert definition.build_lookup_requests([Identifier("isbn", "1")]) == []


def test_many_identifiers_are_sent_in_batches() -> None:
    many = ", ".join(f"10.5555/{n}" for n in range(60))
    assert [list_fields(request)["rows"] for request in build_lookup_requests("crossref", many)] == ["25", "25", "10"]


def test_a_doi_with_a_comma_is_requested_by_its_own_address() -> None:
    (request,) = build_lookup_requests("crossref", '"10.5555/a,b"')
    assert request.url.endswith("/works/10.5555%2Fa%2Cb")


async def test_only_the_requested_works_are_returned() -> None:
    other = {**CROSSREF["message"]["items"][0], "DOI": "10.5555/other"}
    body = {**CROSSREF, "message": {"total-results": 2, "items": [other, *CROSSREF["message"]["items"]]}}
    result = await fetch_works("crossref", "10.5555/KILN.1", {"https://api.crossref.org": make_response(body)})
    assert [paper.doi for paper in result.papers] == ["10.5555/kiln.1"]
    assert (result.report.status, result.report.calls) == (SourceStatus.OK, 1)


async def test_openalex_and_arxiv_return_papers_by_identifier() -> None:
    for source, body, host in (("openalex", OPENALEX, "https://api.openalex.org"), ("arxiv", ARXIV, "https://export")):
        result = await fetch_works(source, "arXiv:2101.00001", {host: make_response(body)})
        assert [paper.identifiers["arxiv"] for paper in result.papers] == ["2101.00001"]


async def test_a_work_that_a_source_does_not_have_is_not_a_failure() -> None:
    found = {"paperId": S2_ID, "title": "Glazes and kilns", "externalIds": {"DOI": "10.5555/KILN.1"}}
    address = "https://api.semanticscholar.org/graph/v1/paper"
    answers = {f"{address}/DOI:10.5555/kiln.1": make_response(found), f"{address}/PMID:123": NOT_FOUND}
    result = await fetch_works("semantic_scholar", "PMID 123, 10.5555/kiln.1", answers)
    assert [paper.doi for paper in result.papers] == ["10.5555/kiln.1"]
    assert (result.report.status, result.report.reason, result.report.partial) == (SourceStatus.OK, None, False)
    nothing = await fetch_works("semantic_scholar", "PMID 123", answers)
    assert (nothing.report.status, nothing.report.reason) == (SourceStatus.EMPTY, None)


async def test_a_404_is_still_a_failure_of_a_search() -> None:
    strategy = SearchStrategy(queries=[make_lookup_query([])], sources=[])
    strategy.queries[0].boolean_query = "glaze"
    transport = FakeTransport({"https://api.semanticscholar.org": NOT_FOUND})
    result = await HttpSource(DEFINITIONS["semantic_scholar"], transport).search_with_report(strategy)
    assert result.report.status is SourceStatus.FAILED


def test_the_error_of_a_refused_request_names_its_status() -> None:
    error = make_response_error(
        "crossref", Response(404, b"Resource not found."), SourcePolicy(), datetime(2026, 4, 1, tzinfo=UTC)
    )
    assert error.ids["status"] == 404


async def test_a_source_without_lookups_is_skipped_with_a_reason() -> None:
    result = await fetch_works("dblp", "10.5555/kiln.1", {})
    assert result.report.status is SourceStatus.SKIPPED
    assert result.report.reason == "This source cannot look up these identifiers."


@pytest.mark.parametrize(
    ("source", "file"),
    [
        ("arxiv", "arxiv/id_1707.08567_s0_m100_6a1afebfc6a3.xml"),
        ("arxiv", "arxiv/id_astro-ph_0601001_s0_m100_3150dca9dc76.xml"),
        ("crossref", "crossref/work_retracted_updated_by.json"),
        ("europepmc", "europepmc/search_doi_retracted_core.json"),
        ("openalex", "openalex/test_book_chapter.json"),
        ("pubmed", "pubmed/efetch_retraction_notice.xml"),
        ("semantic_scholar", "semanticscholar/test_doi_search_paper_attributes4__0.json"),
    ],
)
def test_a_recorded_answer_holds_the_work_that_its_address_names(shared_data: Path, source: str, file: str) -> None:
    index = json.loads((shared_data / "api/index.json").read_text())
    url = unquote(next(entry["url"] for entry in index if entry["file"] == file))
    body = Response(200, (shared_data / "api" / file).read_bytes())
    papers = DEFINITIONS[source].read_response(Request(source, url), body).papers
    held = [Identifier(scheme, value) for paper in papers for scheme, value in paper.identifiers.items()]
    named = [identifier for identifier in held if identifier.value in url.casefold()]
    assert named
    assert all(find_matching_identifiers(paper, named) for paper in papers)
