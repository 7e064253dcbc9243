"""Tests of the parameters of `search`, each alone and against the settings."""

import inspect
import json
from pathlib import Path
from typing import Any

import pytest

import paper_search
from paper_search import AppConfig, config, export, models
from paper_search.api import search_functions
from paper_search.sources.interfaces import Request, Response
from paper_search.testing import FakeTransport
from tests.requirements import requirement

MOONS = ["Io", "Europa", "Ganymede", "Callisto", "Titan", "Rhea", "Dione", "Tethys"]
QUERY = "tidal heating of icy moons"


@pytest.fixture
def network(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> FakeTransport:
    """Return a network with eight papers of Crossref and no other source, with empty settings."""
    monkeypatch.setenv("URANIBORG_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    works: list[dict[str, Any]] = [
        {"DOI": f"10.1000/{n}", "title": [f"Tidal heating of icy moons: the case of {name}"], "issued": {}}
        for n, name in enumerate(MOONS)
    ]
    body = json.dumps({"status": "ok", "message-type": "work-list", "message": {"total-results": 8, "items": works}})
    made = FakeTransport({"https://api.crossref.org/": Response(200, body.encode())})

    def build(*_: object, **__: object) -> FakeTransport:
        return made

    monkeypatch.setattr("paper_search.service.workflow_assembly.build_transport", build)
    return made


def list_requests(network: FakeTransport, source: str = "crossref") -> list[Request]:
    return [request for request in network.requests if request.source == source]


@requirement("PS-X6")
async def test_the_sources_are_searched_for_the_query(network: FakeTransport) -> None:
    result = await paper_search.search("volcanoes on Io", AppConfig())
    assert result.metadata.query == "volcanoes on Io"
    for source in ("crossref", "arxiv"):
        sent = [" ".join(value for _, value in request.params).lower() for request in list_requests(network, source)]
        (report,) = [report for report in result.metadata.sources if report.name == source]
        assert "volcano" in sent[0]
        assert "tidal" not in sent[0]
        assert all(any(query.text.lower() in text for query in report.queries) for text in sent)


@requirement("PS-X6")
async def test_the_config_sets_the_sources_and_the_relevance_threshold(network: FakeTransport) -> None:
    settings: dict[str, Any] = {"sources": {"arxiv": {"enabled": False}, "dblp": {"enabled": False}}}
    result = await paper_search.search(QUERY, AppConfig.model_validate({**settings, "min_relevance": 1.0}))
    assert result.papers == []
    assert {"crossref", "pubmed"} <= {request.source for request in network.requests}
    assert not {"arxiv", "dblp"} & {request.source for request in network.requests}


@requirement("PS-X6")
async def test_without_a_config_the_environment_applies_and_arguments_override_it(
    network: FakeTransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("URANIBORG_PAPER_SEARCH__DEFAULT_MAX_RESULTS", "3")
    monkeypatch.setenv("URANIBORG_PAPER_SEARCH__DOMAIN", "materials_science")
    left = await paper_search.search(QUERY)
    assert (len(left.papers), left.metadata.domain) == (3, "materials_science")
    given = await paper_search.search(QUERY, None, 5)
    assert len(given.papers) == 5


@requirement("PS-X6")
async def test_an_explicit_config_ignores_the_environment(
    network: FakeTransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("URANIBORG_PAPER_SEARCH__DEFAULT_MAX_RESULTS", "3")
    assert len((await paper_search.search(QUERY, AppConfig())).papers) == 8


@requirement("PS-X6")
async def test_max_results_and_domain_reach_the_strategy_and_the_result(network: FakeTransport) -> None:
    result = await paper_search.search(QUERY, AppConfig(), max_results=2, domain="materials_science")
    assert len(result.papers) == 2
    assert result.metadata.search_strategy.filters.max_results == 2
    assert result.metadata.domain == "materials_science"


@requirement("PS-X6")
def test_the_synchronous_search_takes_and_honours_the_same_parameters(network: FakeTransport) -> None:
    assert inspect.signature(paper_search.search_sync).parameters == inspect.signature(paper_search.search).parameters
    result = paper_search.search_sync(QUERY, AppConfig(), 2, "materials_science")
    assert (len(result.papers), result.metadata.domain) == (2, "materials_science")


@requirement("PS-X6")
def test_all_lists_exactly_the_names_of_a_star_import() -> None:
    given: dict[str, Any] = {}
    exec("from paper_search import *", given)
    del given["__builtins__"]
    assert sorted(given) == list(paper_search.__all__)
    for home, names in {
        search_functions: ["search", "search_sync"],
        config: ["AppConfig", "load_config"],
        models: ["Paper", "PaperCollection", "ParsedIntent", "SearchStrategy"],
        export: ["export_json", "export_bibtex", "export_markdown"],
    }.items():
        for name in names:
            assert given[name] is getattr(home, name), name
