from typing import Any

import pytest

from paper_search.domain.source_descriptions import (
    SOURCE_LABELS,
    STOP_TEXTS,
    describe_fetched,
    describe_incomplete_search,
    describe_shortfall,
    describe_stop,
    get_source_label,
    get_stop_reason,
)
from paper_search.models import QueryReport, SourceReport, SourceStatus, StopReason
from paper_search.sources.registry import KNOWN


def make_query(stopped: str, **fields: Any) -> QueryReport:
    return QueryReport.model_validate({"text": "graphene", "stopped": stopped, **fields})


def make_report(*queries: QueryReport, **fields: Any) -> SourceReport:
    return SourceReport.model_validate({"name": "arxiv", "status": "ok", "queries": list(queries), **fields})


CUT = make_query("source_limit", found=4_312, fetched=200)
WHOLE = make_query("complete", found=7, fetched=7)


@pytest.mark.parametrize(
    ("report", "shortfall"),
    [
        (make_report(WHOLE, returned=7, found=7), None),
        (make_report(CUT, returned=200, found=4_312, partial=True), "fetched 200 of 4,312 matches"),
        (
            make_report(CUT, WHOLE, make_query("not_run"), returned=207, partial=True),
            "fetched a part of the matches of 1 of 2 queries",
        ),
        (make_report(make_query("enough", fetched=50), partial=True), "fetched 50, perhaps not all matches"),
        (make_report(make_query("failed", fetched=50), partial=True), "stopped before the end"),
        (make_report(partial=True, returned=3), "stopped before the end"),
        (make_report(status="rate_limited"), "rate limited"),
    ],
)
def test_a_shortfall_says_whether_a_source_failed_or_sent_fewer_papers_than_match(
    report: SourceReport, shortfall: str | None
) -> None:
    assert describe_shortfall(report) == shortfall


def test_an_incomplete_search_is_explained_by_failures_and_by_matches_that_were_not_fetched() -> None:
    failed, short = make_report(status="failed"), make_report(CUT, partial=True)
    assert describe_incomplete_search([failed]) == "at least one source could not answer in full"
    assert describe_incomplete_search([short]) == "fewer papers were fetched than match"
    assert describe_incomplete_search([failed, short]) == (
        "at least one source could not answer in full, and fewer papers were fetched than match"
    )
    assert describe_incomplete_search([make_report(status="skipped")]) == ""


def test_every_reason_to_stop_has_a_text() -> None:
    assert set(STOP_TEXTS) == set(StopReason)
    assert describe_stop(make_query("not_run", reason="Enough.")) == "not run: Enough"
    assert describe_stop(WHOLE) == "all matches were fetched"


def test_the_most_serious_reason_to_stop_is_that_of_the_source() -> None:
    assert get_stop_reason(make_report(WHOLE, CUT, make_query("not_run"))) is StopReason.SOURCE_LIMIT
    assert get_stop_reason(make_report(make_query("not_run"))) is None
    assert get_stop_reason(make_report(status=SourceStatus.SKIPPED)) is None


def test_the_number_fetched_is_that_of_the_matches_or_of_all_records() -> None:
    assert describe_fetched(make_report(CUT, found=4_312)) == "200 of 4,312 matches"
    assert describe_fetched(make_report(WHOLE, WHOLE)) == "14 records by 2 queries"
    assert describe_fetched(make_report(returned=1)) == "1 record"


def test_every_known_source_has_a_label_and_others_show_their_name() -> None:
    assert set(KNOWN) < set(SOURCE_LABELS)
    assert (get_source_label("europepmc"), get_source_label("zettel")) == ("Europe PMC", "zettel")
