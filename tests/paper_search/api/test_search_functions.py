"""Tests of the Python interface."""

import asyncio
import inspect
import json
from pathlib import Path
from typing import Any

import pytest
from blockbuster import blockbuster_ctx

import paper_search
from paper_search import AppConfig, SearchWorkflow
from paper_search.errors import (
    InvalidQuery,
    LLMError,
    LLMResponseError,
    NonRetryableError,
    UnknownDomain,
    UnknownSource,
)
from paper_search.models import MAX_RESULTS_CAP, SourceStatus
from paper_search.service.search_arguments import DEFAULT_DOMAIN, DEFAULT_MAX_RESULTS, apply_given_arguments
from paper_search.sources.interfaces import Response
from paper_search.testing import FakeTransport
from paper_search.workflow import Checkpoint, CheckpointKind, Decision, DecisionAction
from tests.requirements import requirement
from uraniborg.kernel.errors import InvalidInput
from uraniborg.recordings import QUERY, RECORDING

REPLAY = AppConfig(replay_dir=RECORDING)
MOONS = [
    "Io",
    "Europa",
    "Ganymede",
    "Callisto",
    "Titan",
    "Rhea",
    "Dione",
    "Tethys",
    "Mimas",
    "Ariel",
    "Miranda",
    "Triton",
]
ISSUED = {"date-parts": [[2020]]}


class ScriptedModel:
    """A model that scores every paper 0.8 and cannot read a query."""

    def __init__(self) -> None:
        self.questions: list[str] = []

    async def complete(self, system: str, user: str) -> str:
        raise LLMError("it only writes JSON")

    async def complete_json(self, system: str, user: str, schema: dict[str, Any] | None = None) -> dict[str, Any]:
        self.questions.append(user)
        papers = json.loads(user).get("papers")
        if papers is None:
            raise LLMResponseError("it does not know")
        verdict = {"relevance_score": 0.8, "relevance_reason": "by the scripted model"}
        return {"results": [{"paper_id": paper["paper_id"], **verdict} for paper in papers]}


@requirement("PS-X6")
async def test_a_replayed_search_gives_ranked_papers_without_duplicates() -> None:
    result = await paper_search.search(QUERY, REPLAY)
    assert len(result.papers) > 10
    assert len({paper.id for paper in result.papers}) == len(result.papers)
    dois = [paper.doi for paper in result.papers if paper.doi]
    assert len(set(dois)) == len(dois)
    scores = [paper.relevance_score for paper in result.papers]
    assert scores == sorted(scores, reverse=True)


async def test_a_replay_gives_the_same_bytes_every_time() -> None:
    first = await paper_search.search(QUERY, REPLAY)
    second = await paper_search.search(QUERY, REPLAY)
    assert first.model_dump_json() == second.model_dump_json()


async def test_a_replay_uses_the_recorded_options_and_not_the_settings() -> None:
    settings = {"default_max_results": 7, "min_relevance": 0.9, "domain": "materials_science", "source_deadline_s": 1.0}
    usual = await paper_search.search(QUERY, REPLAY)
    other = await paper_search.search(QUERY, REPLAY.model_copy(update=settings))
    assert [paper.model_dump() for paper in other.papers] == [paper.model_dump() for paper in usual.papers]
    assert "This is a replay, so max_results is 100 as recorded, not 7." in other.metadata.notes
    assert len(other.metadata.notes) == len(usual.metadata.notes) + 4


async def test_a_recording_broken_off_is_refused_as_unfinished(tmp_path: Path) -> None:
    config = AppConfig(replay_dir=RECORDING, record_dir=tmp_path / "broken")

    class Impatient:
        async def handle(self, checkpoint: Checkpoint) -> Decision:
            if checkpoint.kind is CheckpointKind.RESULT_REVIEW:
                raise KeyboardInterrupt
            return Decision(action=DecisionAction.APPROVE)

    with pytest.raises(KeyboardInterrupt):
        await SearchWorkflow.from_config(config, Impatient(), query=QUERY).run(QUERY)
    with pytest.raises(InvalidInput, match="unfinished recording"):
        await paper_search.search(QUERY, AppConfig(replay_dir=tmp_path / "broken"))


async def test_answers_of_a_model_are_recorded_and_replayed_without_it(
    crossref: FakeTransport, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    model = ScriptedModel()
    monkeypatch.setattr("paper_search.service.workflow_assembly.create_provider", lambda config: model)  # pyright: ignore
    config = AppConfig.model_validate({"record_dir": tmp_path / "r", "llm": {"model": "oracle"}})
    first = await paper_search.search("tidal heating of icy moons", config)
    assert {paper.relevance_reason for paper in first.papers} == {"by the scripted model"}
    asked = len(model.questions)
    again = await paper_search.search("tidal heating of icy moons", AppConfig(replay_dir=tmp_path / "r"))
    assert again.model_dump_json() == first.model_dump_json()
    assert len(model.questions) == asked > 0


async def test_a_recording_of_a_replay_replays_the_same(tmp_path: Path) -> None:
    copied = AppConfig(replay_dir=RECORDING, record_dir=tmp_path / "copy")
    first = await paper_search.search(QUERY, copied)
    second = await paper_search.search(QUERY, AppConfig(replay_dir=tmp_path / "copy"))
    assert first.model_dump_json() == second.model_dump_json()


async def test_concurrent_searches_share_no_state() -> None:
    alone = await paper_search.search(QUERY, REPLAY)
    together = await asyncio.gather(*(paper_search.search(QUERY, REPLAY) for _ in range(5)))
    assert {result.model_dump_json() for result in together} == {alone.model_dump_json()}
    together[0].papers.clear()
    assert together[1].papers


@pytest.fixture
def crossref(monkeypatch: pytest.MonkeyPatch) -> FakeTransport:
    """Return a network with twelve papers of Crossref and no other source."""
    works = [
        {"DOI": f"10.1000/{n}", "title": [f"Tidal heating of icy moons, case study of {name}"], "issued": ISSUED}
        for n, name in enumerate(MOONS)
    ]
    body = json.dumps({"status": "ok", "message-type": "work-list", "message": {"total-results": 12, "items": works}})
    network = FakeTransport({"https://api.crossref.org/": Response(200, body.encode())})

    def build(*_: object, **__: object) -> FakeTransport:
        return network

    monkeypatch.setattr("paper_search.service.workflow_assembly.build_transport", build)
    return network


@requirement("PS-X6")
async def test_max_results_is_honoured(crossref: FakeTransport) -> None:
    everything = await paper_search.search("tidal heating of icy moons", AppConfig())
    three = await paper_search.search("tidal heating of icy moons", AppConfig(), max_results=3)
    assert (len(everything.papers), len(three.papers)) == (12, 3)


@requirement("PS-X6")
async def test_an_omitted_max_results_uses_the_config(crossref: FakeTransport) -> None:
    result = await paper_search.search("tidal heating of icy moons", AppConfig(default_max_results=4))
    assert len(result.papers) == 4


@requirement("PS-X6")
async def test_a_given_max_results_overrides_the_config(crossref: FakeTransport) -> None:
    result = await paper_search.search("tidal heating of icy moons", AppConfig(default_max_results=4), max_results=5)
    assert len(result.papers) == 5


async def test_identifiers_fetch_exactly_these_works_and_the_missing_ones_are_named(
    crossref: FakeTransport,
) -> None:
    result = await paper_search.search("10.1000/3, https://doi.org/10.1000/7 and 10.1000/nowhere, PMID 99", AppConfig())
    assert [paper.doi for paper in result.papers] == ["10.1000/3", "10.1000/7"]
    assert {paper.relevance_score for paper in result.papers} == {1.0}
    assert "asked for by its identifier 10.1000/3" in result.papers[0].relevance_reason
    notes = [note for note in result.metadata.notes if note.startswith("Not found")]
    assert notes == [
        "Not found, since no source returned it: 10.1000/nowhere.",
        "Not found, since no source returned it: PMID:99.",
    ]
    asked = [dict(request.params).get("filter") for request in crossref.requests if request.source == "crossref"]
    assert asked == ["doi:10.1000/3,doi:10.1000/7,doi:10.1000/nowhere"]


async def test_of_more_identifiers_than_max_results_the_first_are_fetched_with_a_note(
    crossref: FakeTransport,
) -> None:
    result = await paper_search.search("10.1000/1 10.1000/2 10.1000/3", AppConfig(), max_results=2)
    assert [paper.doi for paper in result.papers] == ["10.1000/1", "10.1000/2"]
    assert "Only the first 2 of 3 identifiers are fetched, as max_results asks." in result.metadata.notes
    assert not any(note.startswith("Not found") for note in result.metadata.notes)


async def test_identifiers_that_are_not_found_give_no_papers_and_a_note_for_each(crossref: FakeTransport) -> None:
    result = await paper_search.search("10.1000/99", AppConfig())
    assert result.papers == []
    assert "Not found, since no source returned it: 10.1000/99." in result.metadata.notes


async def test_identifiers_that_no_source_could_look_up_are_not_reported_as_missing(crossref: FakeTransport) -> None:
    result = await paper_search.search("arXiv:1706.03762", AppConfig())
    assert result.papers == []
    assert "No source answered in round 1." in result.metadata.notes


async def test_a_model_is_not_asked_about_identifiers(crossref: FakeTransport, monkeypatch: pytest.MonkeyPatch) -> None:
    model = ScriptedModel()
    monkeypatch.setattr("paper_search.service.workflow_assembly.create_provider", lambda config: model)  # pyright: ignore
    result = await paper_search.search("10.1000/3", AppConfig())
    assert ([paper.doi for paper in result.papers], model.questions) == (["10.1000/3"], [])


async def test_a_preference_ranks_papers_and_excludes_none(crossref: FakeTransport) -> None:
    plain = await paper_search.search("tidal heating of icy moons", AppConfig())
    wish = await paper_search.search("tidal heating of icy moons, preferably Titan", AppConfig())
    assert {paper.id for paper in wish.papers} == {paper.id for paper in plain.papers}
    assert "Titan" in wish.papers[0].title
    assert "preferred: Titan" in wish.papers[0].relevance_reason
    assert "Titan" not in plain.papers[0].title


async def test_a_search_closes_its_connections(crossref: FakeTransport) -> None:
    await paper_search.search("tidal heating of icy moons", AppConfig())
    assert crossref.closed


async def test_sources_that_do_not_answer_are_listed_beside_the_one_that_does(crossref: FakeTransport) -> None:
    result = await paper_search.search("tidal heating of icy moons", AppConfig())
    statuses = {report.name: report.status for report in result.metadata.sources}
    assert statuses.pop("crossref") is SourceStatus.OK
    assert set(statuses.values()) == {SourceStatus.FAILED}
    assert {"arxiv", "dblp", "europepmc", "pubmed", "semantic_scholar"} <= set(statuses)
    assert not {"openalex", "serpapi_scholar"} & set(statuses)


@requirement("PS-X6")
def test_given_arguments_override_the_config_and_omitted_ones_do_not() -> None:
    config = AppConfig(default_max_results=7, domain="materials_science")
    assert apply_given_arguments(config, DEFAULT_MAX_RESULTS, DEFAULT_DOMAIN) == config
    given = apply_given_arguments(AppConfig(), 9, "materials_science")
    assert (given.default_max_results, given.domain) == (9, "materials_science")
    given = apply_given_arguments(config, 100, "general")
    assert (given.default_max_results, given.domain) == (100, "general")


@requirement("PS-X6")
async def test_an_explicit_argument_wins_over_the_config_also_when_it_equals_the_default(
    crossref: FakeTransport,
) -> None:
    config = AppConfig(default_max_results=7, domain="materials_science")
    left_out = await paper_search.search("tidal heating of icy moons", config)
    assert (len(left_out.papers), left_out.metadata.domain) == (7, "materials_science")
    given = await paper_search.search("tidal heating of icy moons", config, max_results=100, domain="general")
    assert (len(given.papers), given.metadata.domain) == (len(MOONS), "general")
    signature = inspect.signature(paper_search.search).parameters
    assert (signature["max_results"].default, signature["domain"].default) == (100, "general")


async def test_a_search_that_no_source_answered_logs_a_warning_with_the_reasons(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    silent = FakeTransport({"https://": NonRetryableError("The network is down.")})

    def build(*_: object, **__: object) -> FakeTransport:
        return silent

    monkeypatch.setattr("paper_search.service.workflow_assembly.build_transport", build)
    result = await paper_search.search("tidal heating of icy moons", AppConfig())
    assert result.papers == []
    (record,) = [record for record in caplog.records if record.name == "paper_search.api.search_functions"]
    assert record.levelname == "WARNING"
    assert "No source answered" in record.getMessage()
    assert "The network is down." in record.getMessage()


async def test_an_empty_answer_of_a_source_logs_no_warning(
    caplog: pytest.LogCaptureFixture, crossref: FakeTransport
) -> None:
    await paper_search.search("tidal heating of icy moons", AppConfig())
    assert [record for record in caplog.records if record.name == "paper_search.api.search_functions"] == []


@requirement("PS-X6")
async def test_the_domain_is_honoured(crossref: FakeTransport) -> None:
    query = "tidal heating of icy moons"
    result = await paper_search.search(query, AppConfig(), domain="materials_science")
    assert result.metadata.domain == "materials_science"
    general = await paper_search.search(query, AppConfig())
    assert general.metadata.search_strategy.sources != result.metadata.search_strategy.sources


async def test_an_unknown_domain_is_refused_with_the_known_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_DOMAIN", "hunter2hunter2")
    with pytest.raises(UnknownDomain) as caught:
        await paper_search.search(QUERY, REPLAY, domain="SECRET_DOMAIN")
    body = str(caught.value.body())
    assert "materials_science" in body
    assert "hunter2" not in body


async def test_an_unknown_source_is_refused_with_the_known_ones() -> None:
    config = AppConfig.model_validate({"sources": {"gogle": {}}})
    with pytest.raises(UnknownSource) as caught:
        await paper_search.search(QUERY, config)
    assert "crossref" in str(caught.value.body())


@pytest.mark.parametrize("wanted", [0, -1])
async def test_max_results_below_one_is_refused(wanted: int) -> None:
    with pytest.raises(InvalidInput, match="at least 1"):
        await paper_search.search(QUERY, REPLAY, max_results=wanted)


async def test_a_huge_max_results_is_capped_with_a_note(crossref: FakeTransport) -> None:
    result = await paper_search.search("tidal heating of icy moons", AppConfig(), max_results=10**9)
    assert result.metadata.search_strategy.filters.max_results == MAX_RESULTS_CAP
    assert any("1,000,000,000" in note for note in result.metadata.notes)


@pytest.mark.parametrize("query", ["", "   ", "x" * 10_000, "stem AND OR cancer"])
async def test_a_query_that_cannot_be_searched_leaves_no_recording_behind(query: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidQuery):
        await paper_search.search(query, AppConfig(record_dir=tmp_path / "recording"))
    assert not (tmp_path / "recording").exists()


async def test_a_search_that_no_source_can_answer_is_empty_with_every_failure_listed() -> None:
    result = await paper_search.search("something that was never recorded", REPLAY)
    assert result.papers == []
    assert result.metadata.partial
    assert {report.status for report in result.metadata.sources} == {SourceStatus.FAILED}
    assert all(report.reason for report in result.metadata.sources)


async def test_every_source_of_the_recording_reports() -> None:
    result = await paper_search.search(QUERY, REPLAY)
    statuses = {report.name: report.status for report in result.metadata.sources}
    assert statuses == {
        "crossref": SourceStatus.OK,
        "arxiv": SourceStatus.OK,
        "openalex": SourceStatus.OK,
        "europepmc": SourceStatus.OK,
        "semantic_scholar": SourceStatus.RATE_LIMITED,
        "pubmed": SourceStatus.EMPTY,
        "dblp": SourceStatus.EMPTY,
    }
    assert result.metadata.partial


async def test_a_search_never_reads_or_writes_on_the_event_loop(tmp_path: Path) -> None:
    config = AppConfig(replay_dir=RECORDING, record_dir=tmp_path / "copy")
    await paper_search.search(QUERY, REPLAY)  # load the lazily imported modules first
    with blockbuster_ctx():
        assert (await paper_search.search(QUERY, config)).papers


def test_the_synchronous_search_works_without_a_loop() -> None:
    assert paper_search.search_sync(QUERY, REPLAY).papers


async def test_the_synchronous_search_works_inside_a_running_loop() -> None:
    assert paper_search.search_sync(QUERY, REPLAY).papers


async def test_without_a_config_the_environment_is_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("URANIBORG_HOME", str(tmp_path))
    monkeypatch.setenv("URANIBORG_PAPER_SEARCH__REPLAY_DIR", str(RECORDING))
    assert (await paper_search.search(QUERY)).papers


async def test_preprint_and_journal_version_are_returned_as_one_paper() -> None:
    result = await paper_search.search(QUERY, REPLAY)
    paper = next(paper for paper in result.papers if paper.doi == "10.3847/1538-3881/ab21e0")
    assert paper.identifiers["arxiv"] == "1905.07070"
    assert {"crossref", "arxiv", "openalex"} <= set(paper.sources)
    assert paper.provenance


async def test_a_workflow_names_the_sources_it_can_use() -> None:
    workflow = SearchWorkflow.from_config(REPLAY)
    assert "crossref" in workflow.available_sources
