"""For any answer of a source, the search ends with a result and a report."""

import json
from typing import Any

import pytest

import paper_search
from paper_search import AppConfig
from paper_search.errors import RetryableError
from paper_search.models import PaperCollection, SourceReport, SourceStatus
from paper_search.sources.interfaces import Response
from paper_search.testing import FakeTransport

QUERY = "tidal heating of icy moons"
GOOD = {"DOI": "10.1000/good", "title": ["Tidal heating of icy moons"], "author": [{"given": "T.", "family": "Brahe"}]}


def make_listing(*works: Any) -> bytes:
    message = {"total-results": len(works), "items": works}
    return json.dumps({"status": "ok", "message-type": "work-list", "message": message}).encode()


async def search(monkeypatch: pytest.MonkeyPatch, answer: Response | Exception) -> PaperCollection:
    def build(*_: object, **__: object) -> FakeTransport:
        return FakeTransport({"https://api.crossref.org/": answer})

    monkeypatch.setattr("paper_search.service.workflow_assembly.build_transport", build)
    others = ("arxiv", "semantic_scholar", "europepmc", "pubmed", "dblp")
    config = AppConfig.model_validate({"sources": {name: {"enabled": False} for name in others}})
    return await paper_search.search(QUERY, config)


def get_only_report(result: PaperCollection) -> SourceReport:
    assert len(result.metadata.sources) == 1
    return result.metadata.sources[0]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<!DOCTYPE html><html><body>We are down for maintenance</body></html>",
        make_listing(GOOD)[:60],
        b'{"status": "failed", "message": [{"message": "bad filter"}]}',
        b'{"status": "ok", "message-type": "work-list", "message": {"items": "none"}}',
        b"[" * 100_000,
        b"\xff\xfe\x00",
        b"x" * 5_000_000,
        b"null",
    ],
    ids=["empty", "html", "half", "error-inside-200", "wrong-types", "deep", "binary", "5MB", "null"],
)
async def test_an_invalid_answer_gives_a_failed_source(monkeypatch: pytest.MonkeyPatch, body: bytes) -> None:
    result = await search(monkeypatch, Response(200, body))
    report = get_only_report(result)
    assert (report.status, result.papers, result.metadata.partial) == (SourceStatus.FAILED, [], True)
    assert report.reason


async def test_a_source_that_does_not_answer_in_time_is_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    result = await search(monkeypatch, RetryableError("crossref did not answer within 20 s.", calls=3))
    report = get_only_report(result)
    assert report.status is SourceStatus.FAILED
    assert report.calls >= 3
    assert "did not answer" in (report.reason or "")


async def test_an_unexpected_exception_inside_a_source_is_a_failed_source(monkeypatch: pytest.MonkeyPatch) -> None:
    result = await search(monkeypatch, ZeroDivisionError("oops"))
    assert get_only_report(result).status is SourceStatus.FAILED


@pytest.mark.parametrize(
    "odd",
    [{}, {"title": []}, {"title": [""]}, {"title": None, "DOI": 7}, "text", None, 3, ["list"], {"title": ["   "]}],
)
async def test_one_invalid_record_does_not_affect_the_valid_ones(monkeypatch: pytest.MonkeyPatch, odd: Any) -> None:
    result = await search(monkeypatch, Response(200, make_listing(odd, GOOD)))
    assert [paper.doi for paper in result.papers] == ["10.1000/good"]
    assert get_only_report(result).status is SourceStatus.OK


async def test_unusual_papers_pass_every_stage_and_every_export(monkeypatch: pytest.MonkeyPatch) -> None:
    crowd = [{"given": f"G{n}", "family": f"Family{n}"} for n in range(300)]
    works = [
        {"DOI": "10.1000/1", "title": ["Tidal heating\x00 of icy moons"], "author": crowd},
        {"DOI": "10.1000/2", "title": ["Tidal heating of icy moons: חימום גאות"], "author": [{"name": "כוכב"}]},
        {"DOI": "10.1000/3", "title": ["Tidal | heating {of} icy\nmoons & 100% _more_ #1"], "author": []},
        {"DOI": "10.1000/4", "title": ["Tidal heating of icy moons \u202e\u0007\x1b[31m"], "author": [{"family": ""}]},
        {"title": ["Tidal heating of icy moons " * 400]},
    ]
    result = await search(monkeypatch, Response(200, make_listing(*works)))
    assert len(result.papers) == 5
    assert max(len(paper.authors) for paper in result.papers) == 300
    exports = [
        paper_search.export_json(result),
        paper_search.export_bibtex(result),
        paper_search.export_markdown(result),
        paper_search.export_ris(result),
        paper_search.export_csl_json(result),
        paper_search.export_prisma(result),
    ]
    for text in exports:
        assert "\x00" not in text
        assert "\x1b" not in text
    assert len(exports[2].splitlines()) == 2 + 5
