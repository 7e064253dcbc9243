"""Tests of replies: they have the documented keys, fit the size limit and link to the rest."""

import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter
from pydantic_core import to_json

from paper_search.domain.facets import count_facets
from paper_search.editorial_notices import EditorialNotice, NoticeStatus
from paper_search.models import (
    Author,
    ConceptBlock,
    Facets,
    IntentType,
    Paper,
    PaperCollection,
    ParsedIntent,
    PartOrigin,
    QueryReport,
    SearchConstraints,
    SearchMetadata,
    SearchQuery,
    SearchStrategy,
    SourceReport,
    SourceStatus,
    StageCount,
    StopReason,
    SynonymMap,
    TermSuggestion,
)
from paper_search.service.checkpoint_replies import PapersPage
from paper_search.service.reply_parts import REPLY_BYTES
from paper_search.service.review.paper_pages import build_papers_page, build_query_page
from paper_search.service.session_replies import SessionReply
from paper_search.service.sessions import reply_builder
from paper_search.service.sessions.checkpoint_payloads import build_checkpoint_payload, format_payload
from paper_search.store.session_state import COMPLETED, FAILED, WAITING, PendingCheckpoint, SessionEnd, SessionState
from paper_search.workflow import Checkpoint, CheckpointKind, ResultPayload, StrategyPayload
from tests.paper_search.service.sessions.helpers import REVIEW, STRATEGY
from tests.requirements import requirement
from uraniborg.kernel.store.inbox import InboxDecision, InboxEntry

MOST_BYTES = 25_000
MOST_PAPERS = 20
ID = "0123456789abcdef" * 2
ASKED_AT = datetime(2026, 1, 1, 12, tzinfo=UTC)
NOW = ASKED_AT + timedelta(seconds=90)
ALWAYS = {
    "rounds_left",
    "session_id",
    "query",
    "is_complete",
    "has_pending_checkpoint",
    "iteration",
    "round",
    "phase",
    "elapsed_s",
    "summary",
    "sources",
}
PENDING = {
    "current_checkpoint_kind",
    "checkpoint",
    "checkpoint_id",
    "checkpoint_kind",
    "user_action_required",
}
OF_A_PAPER = {
    "id",
    "title",
    "authors",
    "more_authors",
    "year",
    "venue",
    "doi",
    "relevance_score",
    "relevance_reason",
    "sources",
    "status",
    "found_in_round",
}
OF_A_SOURCE = {
    *("name", "status", "returned", "matched", "fetched", "stopped", "short", "partial", "calls", "seconds", "reason"),
}
CJK = "潮汐加热冰卫星"


def make_paper(number: int, **fields: Any) -> Paper:
    values: dict[str, Any] = {
        "id": f"p_{number:016x}",
        "title": f"Paper {number}",
        "authors": [Author(name="Tycho Brahe")],
        "source": "alpha",
        "sources": ["alpha"],
        **fields,
    }
    return Paper(**values)


def make_huge_paper(number: int) -> Paper:
    """Return a paper with very long fields."""
    long = CJK * 60
    return make_paper(
        number,
        title=f"{number} {long}",
        authors=[Author(name=f"{long} {part}") for part in range(8)],
        year=2000 + number % 40,
        venue=f"{number} {long}",
        doi=f"10.1000/{number}{long}",
        abstract=long * 3,
        full_text_url=f"https://example.org/{long}",
        relevance_score=0.123456,
        relevance_reason=long,
        sources=[f"source-{part}" for part in range(12)],
    )


def make_strategy(**fields: Any) -> SearchStrategy:
    queries = [SearchQuery(keywords=["icy moons"], boolean_query='"icy moons"')]
    return SearchStrategy.model_validate({"queries": queries, "sources": ["alpha"], **fields})


def make_collection(papers: list[Paper], reports: list[SourceReport] | None = None) -> PaperCollection:
    counts = [StageCount(round=number, stage="search", count_in=9, count_out=8) for number in range(3)]
    metadata = SearchMetadata(
        query="moons",
        search_strategy=make_strategy(),
        total_found=len(papers),
        sources=reports or [],
        stage_counts=counts,
    )
    return PaperCollection(metadata=metadata, papers=papers, facets=count_facets(papers))


def make_review(papers: list[Paper], reports: list[SourceReport] | None = None, **fields: Any) -> Checkpoint:
    payload = ResultPayload(collection=make_collection(papers, reports), accumulated_papers=papers[:1])
    return Checkpoint(kind=CheckpointKind.RESULT_REVIEW, payload=payload, run_id=ID, iteration=1, **fields)


def make_proposal(given: SearchStrategy | None = None, **intent: Any) -> Checkpoint:
    values: dict[str, Any] = {"topic": "moons", "concepts": ["moons"], "intent_type": IntentType.SURVEY, **intent}
    payload = StrategyPayload(intent=ParsedIntent(**values), strategy=given or make_strategy())
    return Checkpoint(kind=CheckpointKind.STRATEGY_CONFIRMATION, payload=payload, run_id=ID)


def make_waiting_state(checkpoint: Checkpoint, query: str = "icy moons") -> SessionState:
    payload = checkpoint.payload
    return SessionState(
        ID,
        query,
        ASKED_AT,
        phase=WAITING,
        iteration=checkpoint.iteration,
        round=checkpoint.round,
        pending=PendingCheckpoint(checkpoint=checkpoint, sources=["alpha"]),
        sources=payload.collection.metadata.sources if isinstance(payload, ResultPayload) else [],
    )


def make_ended_state(**fields: Any) -> SessionState:
    end = SessionEnd.model_validate({"at": NOW, "paper_count": 12, "rounds": 2, **fields})
    phase = FAILED if end.error else COMPLETED
    return SessionState(ID, "icy moons", ASKED_AT, phase=phase, iteration=2, round=end.rounds, ended=end)


def build_fields(state: SessionState) -> dict[str, Any]:
    """Return the reply as encoded JSON."""
    return json.loads(encode_reply(reply_builder.build_reply(state, NOW)))


def encode_reply(reply: Any) -> bytes:
    return to_json(reply)


def make_failed_reports(count: int, reason: str = "It did not answer.") -> list[SourceReport]:
    return [SourceReport(name=f"source-{n}", status=SourceStatus.FAILED, calls=3, reason=reason) for n in range(count)]


@requirement("PS-REQ-8", "PS-REQ-11")
@pytest.mark.parametrize(("checkpoint", "kind"), [(make_proposal(), STRATEGY), (make_review([make_paper(1)]), REVIEW)])
def test_a_reply_at_a_checkpoint_has_every_key_and_the_payload_once(checkpoint: Checkpoint, kind: str) -> None:
    reply = build_fields(make_waiting_state(checkpoint))
    assert reply.keys() >= ALWAYS | PENDING
    assert not {"result", "paper_count", "error"} & reply.keys()
    nested = reply["checkpoint"]
    assert nested.keys() >= {"id", "kind", "iteration", "payload", "actions"}
    assert nested["actions"] == ["approve", "edit", "reject"]
    assert nested["id"] == reply["checkpoint_id"] == checkpoint.checkpoint_id
    assert nested["kind"] == reply["checkpoint_kind"] == reply["current_checkpoint_kind"] == kind
    assert reply.keys() == ALWAYS | PENDING, "the payload and the question are in the reply once"
    assert nested["iteration"] == reply["iteration"] == checkpoint.iteration
    assert reply["has_pending_checkpoint"] is reply["user_action_required"] is True
    assert reply["is_complete"] is False
    assert reply["phase"] == "waiting_checkpoint"
    assert reply["summary"].strip()
    assert (reply["session_id"], reply["query"], reply["elapsed_s"]) == (ID, "icy moons", 90.0)


@requirement("PS-REQ-11")
@pytest.mark.parametrize(
    "phase", ["working", "intent_parsing", "searching", "deduplicating", "scoring", "something new"]
)
def test_a_reply_of_a_working_session_has_no_checkpoint(phase: str) -> None:
    reply = build_fields(SessionState(ID, "icy moons", ASKED_AT, phase=phase, iteration=1, sources_asked=3))
    assert reply.keys() == ALWAYS
    assert (reply["is_complete"], reply["has_pending_checkpoint"], reply["phase"]) == (False, False, phase)
    assert "get_session" in reply["summary"]


@requirement("PS-REQ-8", "PS-REQ-11")
@pytest.mark.parametrize("reason", [None, "max_rounds"])
def test_a_result_has_its_count_and_a_reason_if_it_was_not_approved(reason: str | None) -> None:
    reply = build_fields(make_ended_state(reason=reason))
    assert reply.keys() == ALWAYS | {"result", "paper_count"}
    assert reply["is_complete"] is True
    assert reply["has_pending_checkpoint"] is False
    assert reply["result"]["paper_count"] == reply["paper_count"] == 12
    assert "12 papers" in reply["result"]["summary"]
    assert reply["result"].get("reason", "absent") == (reason or "absent")
    assert reply["round"] == 2


@requirement("PS-REQ-11", "PS-E7")
def test_a_failure_is_a_string_in_an_otherwise_normal_reply() -> None:
    reply = build_fields(make_ended_state(error="The model could not be reached.", paper_count=0))
    assert reply.keys() == ALWAYS | {"error"}
    assert reply["error"] == "The model could not be reached."
    assert reply["is_complete"] is True


def test_the_elapsed_time_stops_once_a_session_has_ended() -> None:
    state = make_ended_state()
    assert reply_builder.build_reply(state, NOW + timedelta(days=3))["elapsed_s"] == 90.0
    assert (
        reply_builder.build_reply(make_waiting_state(make_proposal()), NOW + timedelta(seconds=10.04))["elapsed_s"]
        == 100.0
    )
    assert (
        reply_builder.build_reply(make_waiting_state(make_proposal()), ASKED_AT - timedelta(hours=1))["elapsed_s"]
        == 0.0
    )


def test_a_review_lists_its_papers_with_short_fields_facets_and_counts() -> None:
    report = SourceReport(name="alpha", status=SourceStatus.OK, returned=2, calls=1, seconds=0.5)
    papers = [make_paper(1, year=2021, venue="Icarus", doi="10.1/x", relevance_score=0.987654), make_paper(2)]
    reply = build_fields(make_waiting_state(make_review(papers, [report], round=2)))
    payload = reply["checkpoint"]["payload"]
    assert {"papers", "total_papers", "shown", "facets", "accumulated_count", "stage_counts"} <= payload.keys()
    assert "more" not in payload, "all of them are shown"
    assert [shown["id"] for shown in payload["papers"]] == [papers[0].id, papers[1].id]
    assert all(shown.keys() == OF_A_PAPER for shown in payload["papers"])
    assert payload["papers"][0]["authors"] == ["Tycho Brahe"]
    assert payload["papers"][0]["relevance_score"] == pytest.approx(0.99)
    assert (payload["total_papers"], payload["shown"], payload["accumulated_count"]) == (2, 2, 1)
    assert payload["status_counts"] == {"include": 0, "exclude": 0, "maybe": 0, "undecided": 2}
    assert payload["facets"]["by_year"] == {"2021": 1}
    assert payload["stage_counts"] == {"search": {"in": 9, "out": 8}}
    assert [source.keys() for source in reply["sources"]] == [OF_A_SOURCE]
    assert reply["sources"][0] == {
        "name": "alpha",
        "status": "ok",
        "returned": 2,
        "matched": None,
        "fetched": 2,
        "stopped": None,
        "short": None,
        "partial": False,
        "calls": 1,
        "seconds": 0.5,
        "reason": None,
    }


def test_a_source_that_sent_fewer_papers_than_match_is_partial() -> None:
    query = QueryReport(text="moons", found=915, fetched=60, stopped=StopReason.ENOUGH)
    report = SourceReport(
        name="alpha",
        status=SourceStatus.OK,
        returned=60,
        found=915,
        partial=True,
        queries=[query],
        calls=1,
        seconds=0.5,
    )
    (source,) = build_fields(make_waiting_state(make_review([make_paper(1)], [report])))["sources"]
    assert (source["partial"], source["matched"], source["fetched"]) == (True, 915, 60)
    assert source["short"] == "fetched 60 of 915 matches"


def test_a_strategy_is_complete_if_it_fits() -> None:
    filters = SearchConstraints(year_from=2010, year_to=2020, max_results=7)
    given = make_strategy(filters=filters, notes=["a note"])
    payload = build_fields(make_waiting_state(make_proposal(given, excluded=["reviews"])))["checkpoint"]["payload"]
    assert SearchStrategy.model_validate(payload["strategy"]) == given
    assert payload["intent"]["excluded"] == ["reviews"]
    assert "shortened" not in payload


def test_the_question_names_queries_sources_years_and_failures() -> None:
    filters = SearchConstraints(year_from=2010, year_to=2020)
    asked = build_fields(make_waiting_state(make_proposal(make_strategy(filters=filters))))["summary"]
    assert all(part in asked for part in ('"icy moons"', "alpha", "2010", "2020"))
    asked = build_fields(make_waiting_state(make_review([make_paper(1), make_paper(2)], make_failed_reports(2))))[
        "summary"
    ]
    assert all(part in asked for part in ("2 papers", "source-0", "source-1", "failed"))


def test_a_review_without_papers_states_that_no_source_answered_and_lists_the_failures() -> None:
    reply = build_fields(make_waiting_state(make_review([], make_failed_reports(3, "No network."))))
    assert reply["checkpoint"]["payload"]["papers"] == []
    assert reply["checkpoint"]["payload"]["total_papers"] == 0
    assert "No source answered" in reply["summary"]
    assert "No papers" not in reply["summary"]
    assert [(source["name"], source["status"], source["reason"]) for source in reply["sources"]] == [
        (f"source-{number}", "failed", "No network.") for number in range(3)
    ]


@pytest.mark.parametrize("count", [0, 1, 19, 20, 21, 40, 1_000])
def test_at_most_twenty_papers_are_listed_and_the_reply_names_the_address_of_the_rest(count: int) -> None:
    papers = [make_paper(number) for number in range(count)]
    payload = build_fields(make_waiting_state(make_review(papers)))["checkpoint"]["payload"]
    assert payload["total_papers"] == count
    assert payload["shown"] == len(payload["papers"]) == min(MOST_PAPERS, count)
    assert [shown["id"] for shown in payload["papers"]] == [shown.id for shown in papers[:MOST_PAPERS]]
    if count <= MOST_PAPERS:
        assert "more" not in payload
        return
    assert str(count - MOST_PAPERS) in payload["more"]
    address = re.search(r"paper-search://sessions/(\w+)/papers/(\d+)", payload["more"])
    assert address is not None
    assert address.groups() == (ID, str(MOST_PAPERS))
    assert "export_results" in payload["more"]


def test_the_address_of_the_next_page_follows_the_listed_papers() -> None:
    payload = build_fields(make_waiting_state(make_review([make_huge_paper(number) for number in range(100)])))[
        "checkpoint"
    ]["payload"]
    assert 0 < payload["shown"] <= MOST_PAPERS
    assert payload["more"].startswith(f"{100 - payload['shown']} more")
    assert f"/papers/{payload['shown']}" in payload["more"]


LONG_QUERY = CJK * 285 + "潮汐加热冰"
CONTROLS = "a" + "\x01" * 1_999
ASTRAL = "𝔪" * 2_000
BIG_STRATEGY = make_strategy(
    queries=[
        SearchQuery(
            keywords=[f"{CJK}{number}" for number in range(40)],
            synonym_map=[SynonymMap(keyword=f"{CJK}{number}", synonyms=[CJK] * 10) for number in range(10)],
            boolean_query=(CJK + " AND ") * 60,
        )
        for _ in range(30)
    ],
    sources=[f"source-{number}" for number in range(30)],
    notes=[CJK * 50] * 30,
)
LONG_LIST = make_strategy(queries=[SearchQuery(keywords=["a"], boolean_query="a")] * 1_200)
LONG_TEXT = make_strategy(queries=[SearchQuery(keywords=[], boolean_query="潮" * 20_000)])
LONG_REASON = CJK * 1_000
MANY = make_review([make_huge_paper(number) for number in range(1_000)])
MANY_AND_FAILURES = make_review(
    [make_huge_paper(number) for number in range(100)], make_failed_reports(30, LONG_REASON)
)


@pytest.mark.parametrize("query", ["moons", LONG_QUERY, CONTROLS, ASTRAL, '"\\' * 1_000], ids=lambda text: text[:3])
@pytest.mark.parametrize(
    "checkpoint",
    [
        make_proposal(BIG_STRATEGY),
        make_proposal(LONG_LIST),
        make_proposal(LONG_TEXT, topic=LONG_QUERY, concepts=[CJK * 20] * 100, notes=[LONG_QUERY] * 10),
        MANY,
        MANY_AND_FAILURES,
        make_review([], make_failed_reports(30, LONG_REASON)),
        make_review([], make_failed_reports(40, "\x02" * 500)),
    ],
    ids=["big", "list", "text", "papers", "papers and failures", "failures", "control characters"],
)
def test_no_reply_exceeds_the_maximum_size(query: str, checkpoint: Checkpoint) -> None:
    reply: Any = reply_builder.build_reply(make_waiting_state(checkpoint, query), NOW)
    assert len(encode_reply(reply)) <= MOST_BYTES
    assert reply.keys() >= ALWAYS | PENDING
    assert reply["query"] == query
    payload = reply["checkpoint"]["payload"]
    assert ("more" in payload) is (payload.get("shown", 0) < payload.get("total_papers", 0))


def test_papers_are_listed_even_if_many_sources_failed() -> None:
    built: Any = reply_builder.build_reply(make_waiting_state(MANY_AND_FAILURES), NOW)
    payload = built["checkpoint"]["payload"]
    assert payload["papers"]


def test_all_thirty_failing_sources_are_named() -> None:
    reply = build_fields(make_waiting_state(make_review([], make_failed_reports(30, LONG_REASON))))
    assert [source["name"] for source in reply["sources"]] == [f"source-{number}" for number in range(30)]
    assert all(source["reason"] for source in reply["sources"])


def test_a_very_long_error_is_shortened() -> None:
    state = make_ended_state(error=CJK * 10_000)
    assert len(encode_reply(reply_builder.build_reply(state, NOW))) <= MOST_BYTES
    assert build_fields(state)["error"].startswith(CJK)


@pytest.mark.parametrize("count", [0, 1, 7, 20, 250])
@pytest.mark.parametrize("make", [make_paper, make_huge_paper])
def test_the_pages_contain_every_paper_once_in_order_within_the_size_limit(count: int, make: Any) -> None:
    given = make_collection([make(number) for number in range(count)])
    seen: list[str] = []
    offset: int | None = 0
    while offset is not None:
        page = build_papers_page(ID, given, offset)
        assert len(encode_reply(page)) <= MOST_BYTES
        assert (page["session_id"], page["total_papers"], page["offset"]) == (ID, count, offset)
        assert page["papers"] or not count
        seen += [entry["id"] for entry in page["papers"]]
        offset = None
        if page["next"] is not None:
            head, _, last = page["next"].rpartition("/")
            assert head == f"paper-search://sessions/{ID}/papers"
            offset = int(last)
            assert offset == len(seen)
    assert seen == [made.id for made in given.papers]


def test_a_page_includes_abstracts_and_links() -> None:
    made = make_paper(1, abstract="Tides heat moons.", full_text_url="https://example.org/1")
    (entry,) = build_papers_page(ID, make_collection([made]), 0)["papers"]
    assert entry.keys() == OF_A_PAPER | {"abstract", "url"}
    assert (entry["abstract"], entry["url"]) == ("Tides heat moons.", "https://example.org/1")


def test_a_paper_of_a_shelf_has_the_id_that_the_library_server_reads_and_the_name_of_the_shelf() -> None:
    made = make_paper(1, identifiers={"shelf": "0" * 32, "shelf_paper": f"nightly/{'0' * 32}", "bibkey": "brahe1573"})
    (entry,) = build_papers_page(ID, make_collection([made]), 0)["papers"]
    assert entry.get("shelf_id") == "0" * 32
    assert entry.get("shelf") == "nightly"


def test_a_paper_that_is_on_no_shelf_names_none() -> None:
    (entry,) = build_papers_page(ID, make_collection([make_paper(1)]), 0)["papers"]
    assert not {"shelf", "shelf_id"} & entry.keys()


@pytest.mark.parametrize("offset", [3, 4, 10**18])
def test_a_page_beyond_the_end_is_empty_and_the_last(offset: int) -> None:
    page = build_papers_page(ID, make_collection([make_paper(n) for n in range(3)]), offset)
    assert (page["papers"], page["next"], page["total_papers"]) == ([], None, 3)


def test_an_earlier_decision_is_reported_with_its_interface_and_a_short_note() -> None:
    entry = InboxEntry(
        id=f"{ID}:0:{STRATEGY}",
        part="paper_search",
        kind=STRATEGY,
        subject=ID,
        payload={},
        created_at=ASKED_AT,
        state="decided",
        decision=InboxDecision(action="reject", note=CJK * 500),
        door="console",
        decided_at=NOW,
    )
    reply: Any = reply_builder.build_reply(SessionState(ID, "icy moons", ASKED_AT), NOW, decided_entry=entry)
    earlier = reply["already_decided"]
    assert (earlier["checkpoint_id"], earlier["action"], earlier["door"]) == (entry.id, "reject", "console")
    assert earlier["decided_at"] == NOW.isoformat()
    assert len(encode_reply(earlier)) < 3_000


WILD = st.text(st.characters(exclude_categories=["Cs"]), max_size=60).flatmap(
    lambda text: st.integers(1, 60).map(lambda times: text * times)
)
PAPERS = st.lists(
    st.builds(
        Paper,
        id=st.uuids().map(lambda made: f"p_{made.hex[:16]}"),
        title=WILD,
        authors=st.lists(st.builds(Author, name=WILD), max_size=6),
        year=st.none() | st.integers(-5_000, 5_000),
        venue=st.none() | WILD,
        doi=st.none() | WILD,
        abstract=st.none() | WILD,
        full_text_url=st.none() | WILD,
        relevance_score=st.floats(0, 1),
        relevance_reason=WILD,
        sources=st.lists(st.sampled_from(["crossref", "arxiv", "semantic_scholar"]), max_size=9),
        source=st.just("alpha"),
    ),
    max_size=4,
).flatmap(lambda some: st.integers(1, 12).map(lambda times: some * times))
REPORTS = st.lists(
    st.builds(
        SourceReport,
        name=st.sampled_from(["crossref", "arxiv", "europepmc"]),
        status=st.sampled_from(SourceStatus),
        returned=st.integers(0, 1_000),
        reason=st.none() | WILD,
        retry_at=st.none() | st.just(NOW),
        partial=st.booleans(),
    ),
    max_size=40,
)


SCHEMA = TypeAdapter(SessionReply).json_schema(mode="serialization")
PAGE_SCHEMA = TypeAdapter(PapersPage).json_schema(mode="serialization")


@settings(max_examples=60)
@given(papers=PAPERS, reports=REPORTS, query=WILD.map(lambda text: f"a{text}"[:2_000]))
def test_replies_and_pages_stay_within_bounds_for_any_source_data(
    papers: list[Paper], reports: list[SourceReport], query: str
) -> None:
    checkpoint = make_review(papers, reports)
    reply: Any = reply_builder.build_reply(make_waiting_state(checkpoint, query), NOW)
    assert len(encode_reply(reply)) <= MOST_BYTES
    jsonschema.validate(json.loads(encode_reply(reply)), SCHEMA)
    payload: Any = reply["checkpoint"]["payload"]
    assert reply["checkpoint"]["payload"] == payload
    assert payload["shown"] == len(payload["papers"]) <= MOST_PAPERS
    assert ("more" in payload) is (payload["shown"] < len(papers))
    assert isinstance(payload["facets"], dict)
    page = build_papers_page(ID, make_collection(papers), 0)
    assert len(encode_reply(page)) <= MOST_BYTES
    jsonschema.validate(json.loads(encode_reply(page)), PAGE_SCHEMA)
    assert bool(page["papers"]) is bool(papers)


def test_facets_are_few_and_the_newest_years_come_first() -> None:
    papers = [make_paper(number, year=1900 + number, venue=f"Venue {number}") for number in range(60)]
    given = make_collection(papers)
    given = given.model_copy(update={"facets": Facets(by_year={1900 + n: 1 for n in range(60)}, by_venue={"V": 3})})
    checkpoint = Checkpoint(kind=CheckpointKind.RESULT_REVIEW, payload=ResultPayload(collection=given), run_id=ID)
    payload: Any = build_checkpoint_payload(checkpoint)
    facets = payload["facets"]
    assert next(iter(facets["by_year"])) == "1959"
    assert len(facets["by_year"]) <= 20
    assert facets["by_venue"] == {"V": 3}


RETRACTION = EditorialNotice(
    status=NoticeStatus.RETRACTED, source="crossref", date="2010-02-06", notice_doi="10.1000/r", label="Retraction"
)
CALLED_A_CORRECTION = EditorialNotice(
    status=NoticeStatus.CORRECTED, source="pubmed", date="2010-02-06", notice_doi="10.1000/r"
)


def test_a_review_lists_retractions_and_concerns_with_their_sources() -> None:
    concern = EditorialNotice(status=NoticeStatus.CONCERN, source="pubmed", date="2009")
    papers = [
        make_paper(1, notices=[RETRACTION, CALLED_A_CORRECTION]),
        make_paper(2, notices=[concern]),
        make_paper(3, notices=[CALLED_A_CORRECTION]),
    ]
    retracted, doubted, corrected = build_fields(make_waiting_state(make_review(papers)))["checkpoint"]["payload"][
        "papers"
    ]
    assert retracted["retraction"] == {
        "status": "retracted", "source": "crossref", "date": "2010-02-06", "notice_doi": "10.1000/r",
    }  # fmt: skip
    assert retracted["editorial_note"] == (
        "Retracted 2010-02-06 (notice doi:10.1000/r, source crossref); "
        "corrected 2010-02-06 (notice doi:10.1000/r, source pubmed)"
    )
    assert doubted.keys() - corrected.keys() == {"editorial_note"}
    assert doubted["editorial_note"] == "Expression of concern 2009 (source pubmed)"
    assert not {"retraction", "editorial_note"} & corrected.keys()


def test_a_terminal_lists_a_retracted_paper_with_a_mark_and_its_notices() -> None:
    payload = json.loads(
        encode_reply(build_checkpoint_payload(make_review([make_paper(1, notices=[RETRACTION]), make_paper(2)])))
    )
    lines = format_payload(payload)
    assert lines[0] == "RETRACTED: Paper 1 (-)"
    assert lines[2] == "  Retracted 2010-02-06 (notice doi:10.1000/r, source crossref)"
    assert lines[4] == "Paper 2 (-)"
    assert "Retracted" not in "".join(lines[4:])


def test_retracted_papers_of_any_length_fit_into_a_reply() -> None:
    long = [RETRACTION.model_copy(update={"notice_doi": f"10.1000/{n}{CJK * 80}"}) for n in range(30)]
    papers = [make_huge_paper(number).model_copy(update={"notices": long}) for number in range(40)]
    reply: Any = reply_builder.build_reply(make_waiting_state(make_review(papers)), NOW)
    assert len(encode_reply(reply)) <= MOST_BYTES
    assert reply["checkpoint"]["payload"]["shown"] > 0


def make_large_plan() -> SearchStrategy:
    """Return a plan as large as the planner makes them."""
    blocks = [
        ConceptBlock(
            name=f"concept {number} of the question",
            variants=[f"concept {number} of the question", *(f"spelling {n} of concept {number}" for n in range(11))],
            share=0.001,
            word_shares={"concept": 0.01, "question": 0.02},
            reason="from the question",
        )
        for number in range(8)
    ]
    texts = ["(" + " OR ".join(f'"{variant}"' for variant in block.variants) + ")" for block in blocks]
    suggestions = [
        TermSuggestion(term=f"suggested term {n}", reason="in 14 of the 20 best papers", block=blocks[n % 8].name)
        for n in range(12)
    ]
    queries = [
        SearchQuery(
            keywords=[blocks[n % 8].name, blocks[n % 7].name],
            synonym_map=[SynonymMap(keyword=block.name, synonyms=block.variants) for block in blocks],
            boolean_query=f"{texts[n % 8]} AND {texts[n % 7]} NOT number{n}",
            rung=n // 8,
            blocks=[blocks[n % 8].name, blocks[n % 7].name],
        )
        for n in range(40)
    ]
    origins = [
        PartOrigin(part=f"queries[{n}]", value=query.boolean_query, inherited=False, reason="follows from the question")
        for n, query in enumerate(queries)
    ]
    return make_strategy(queries=queries, blocks=blocks, suggestions=suggestions, origins=origins)


def make_long_reports() -> list[SourceReport]:
    reports = [QueryReport(text="concept AND " * 60, found=10_000, fetched=200, stopped=StopReason.SOURCE_LIMIT)] * 40
    return [
        SourceReport(name=f"source-{n}", status=SourceStatus.OK, returned=200, calls=40, queries=reports)
        for n in range(8)
    ]


@pytest.mark.parametrize("round_number", [0, 1])
def test_an_agent_sees_the_blocks_suggestions_and_rungs_of_a_large_plan(round_number: int) -> None:
    plan = make_large_plan()
    proposal = make_proposal(plan)
    assert isinstance(proposal.payload, StrategyPayload)
    if round_number:
        proposal.payload.collection = make_collection([make_huge_paper(number) for number in range(50)])
    state = replace(make_waiting_state(proposal), sources=make_long_reports())
    reply: Any = reply_builder.build_reply(state, NOW)
    assert len(encode_reply(reply)) <= REPLY_BYTES
    payload: Any = reply["checkpoint"]["payload"]
    shown = payload["strategy"]
    assert list(shown)[:3] == ["blocks", "suggestions", "queries"]
    assert [block["variants"] for block in shown["blocks"]] == [block.variants for block in plan.blocks]
    assert [one["term"] for one in shown["suggestions"]] == [one.term for one in plan.suggestions]
    assert [query["rung"] for query in shown["queries"]] == [query.rung for query in plan.queries]
    assert all(
        query["blocks"] == given.blocks and given.boolean_query.startswith(query["boolean_query"].rstrip("…"))
        for query, given in zip(shown["queries"], plan.queries, strict=True)
    )
    assert payload["shortened"] is True
    assert payload["all_queries"] == f"paper-search://sessions/{ID}/queries"


def test_a_review_after_a_large_plan_still_lists_papers_and_the_address_of_the_queries() -> None:
    checkpoint = make_review([make_huge_paper(number) for number in range(20)], make_long_reports())
    assert isinstance(checkpoint.payload, ResultPayload)
    checkpoint.payload.collection.metadata.search_strategy = make_large_plan()
    reply: Any = reply_builder.build_reply(make_waiting_state(checkpoint), NOW)
    assert len(encode_reply(reply)) <= REPLY_BYTES
    payload: Any = reply["checkpoint"]["payload"]
    assert payload["papers"]
    assert payload["strategy"]["queries"]
    assert payload["all_queries"] == f"paper-search://sessions/{ID}/queries"


def test_the_pages_of_queries_have_every_query_complete_and_once() -> None:
    plan = make_large_plan()
    listed: list[str] = []
    offset: int | None = 0
    while offset is not None:
        page = build_query_page(ID, plan, offset)
        assert len(encode_reply(page.model_dump(mode="json"))) <= REPLY_BYTES
        assert page.total_queries == 40
        listed += [query.boolean_query for query in page.queries]
        offset = int(page.next.rpartition("/")[2]) if page.next else None
    assert listed == [query.boolean_query for query in plan.queries]


def test_the_question_names_the_words_of_queries_for_ranking_sources() -> None:
    queries = [SearchQuery(keywords=["moons"], boolean_query="", words="icy moons")]
    asked = build_fields(make_waiting_state(make_proposal(make_strategy(queries=queries))))["summary"]
    assert "`icy moons`" in asked


@pytest.mark.parametrize(("count", "rest"), [(3, ""), (4, " and 1 more query"), (14, " and 11 more queries")])
def test_the_question_counts_the_queries_that_it_does_not_name(count: int, rest: str) -> None:
    queries = [SearchQuery(keywords=[], boolean_query=f"moons AND number{number}") for number in range(count)]
    asked = build_fields(make_waiting_state(make_proposal(make_strategy(queries=queries))))["summary"]
    assert f"`moons AND number2`{rest} in alpha" in asked
