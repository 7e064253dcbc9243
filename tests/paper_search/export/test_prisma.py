"""The search log tells a reviewer what was asked, what came, and what was kept."""

from datetime import UTC, datetime

from markdown_it import MarkdownIt

from paper_search.export import export_prisma
from paper_search.models import (
    PaperCollection,
    SearchConstraints,
    SearchMetadata,
    SearchQuery,
    SearchStrategy,
    SourceReport,
    SourceStatus,
    StageCount,
)
from tests.paper_search.export.samples import collection, paper


def searched() -> PaperCollection:
    strategy = SearchStrategy(
        queries=[SearchQuery(keywords=["cells"], boolean_query='"solar cells" AND (perovskite OR halide)')],
        sources=["arxiv", "crossref", "openalex"],
        filters=SearchConstraints(year_from=2019, year_to=2024, language="en", max_results=50),
    )
    metadata = SearchMetadata(
        query="perovskite | solar cells",
        search_strategy=strategy,
        total_found=12,
        timestamp="2024-05-01T12:00:00+00:00",
        rounds=2,
        sources=[
            SourceReport(name="arxiv", status=SourceStatus.OK, returned=30, found=1200, calls=2),
            SourceReport(
                name="crossref", status=SourceStatus.OK, returned=10, calls=1, partial=True, reason="timed out"
            ),
            SourceReport(
                name="openalex",
                status=SourceStatus.RATE_LIMITED,
                calls=1,
                reason="no credits left",
                retry_at=datetime(2024, 5, 2, tzinfo=UTC),
            ),
            SourceReport(name="dblp", status=SourceStatus.FAILED, calls=3, reason="answered HTML | not JSON"),
        ],
        stage_counts=[
            StageCount(
                round=0, stage="deduplicate", count_in=40, count_out=34, detail={"same DOI": 5, "same title": 1}
            ),
            StageCount(round=0, stage="score", count_in=34, count_out=12),
            StageCount(round=1, stage="accumulate", count_in=9, count_out=12),
        ],
        partial=True,
        reason="max_rounds",
        notes=["Results were capped."],
    )
    return PaperCollection(metadata=metadata, papers=[paper("One"), paper("Two")])


def rows(text: str) -> list[list[str]]:
    """Every table row of the log as a Markdown reader shows it."""
    shown: list[list[str]] = []
    for token in MarkdownIt().enable("table").parse(text):
        if token.type == "tr_open":
            shown.append([])
        elif token.type == "inline" and shown and token.level > 3:
            shown[-1].append("".join(child.content for child in token.children or []))
    return shown


def test_each_source_has_a_row_with_its_status_and_the_reason_it_failed() -> None:
    table = rows(export_prisma(searched()))
    assert ["arxiv", "ok", "1200", "30", "2", "-"] in table
    assert ["crossref", "ok (partial)", "-", "10", "1", "timed out"] in table
    assert [
        "openalex",
        "rate_limited",
        "-",
        "0",
        "1",
        "no credits left; answers again at 2024-05-02T00:00:00+00:00",
    ] in table
    assert ["dblp", "failed", "-", "0", "3", "answered HTML | not JSON"] in table
    assert ["Total", "", "", "40", "7", ""] in table


def test_each_round_has_a_table_of_what_went_in_and_out_of_every_stage() -> None:
    text = export_prisma(searched())
    assert text.index("## Screening, round 1") < text.index("## Screening, round 2")
    table = rows(text)
    assert ["deduplicate", "40", "34", "6", "same DOI: 5, same title: 1"] in table
    assert ["score", "34", "12", "22", "-"] in table
    assert ["accumulate", "9", "12", "-", "-"] in table


def test_the_strategy_can_be_repeated_from_the_log() -> None:
    text = export_prisma(searched())
    assert '- Query 1: "solar cells" AND (perovskite OR halide)' in text
    assert "- Limits: at most 50 results, from 2019, to 2024, language en" in text
    assert "- Date: 2024-05-01T12:00:00+00:00" in text


def test_the_log_says_that_it_is_incomplete_why_it_ended_and_how_many_papers_remain() -> None:
    text = export_prisma(searched())
    assert "Incomplete: at least one source" in text
    assert "Ended by: max" in text
    assert "Papers included: 2" in text
    assert "- Results were capped." in text


def test_a_collection_without_a_log_gives_a_short_report() -> None:
    text = export_prisma(collection())
    assert "No source was asked." in text
    assert "Papers included: 0" in text
    assert "Screening" not in text
    assert "Incomplete" not in text


def test_a_hostile_query_stays_on_its_line() -> None:
    made = collection()
    made.metadata.query = "x\n# Heading\n<script>\ud800"
    text = export_prisma(made)
    assert "- Question: x # Heading &lt;script>\ufffd" in text.encode("utf-8").decode("utf-8")
