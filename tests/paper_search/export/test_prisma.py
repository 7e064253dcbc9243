"""Tests of the search log: queries, records and the outcome of each record."""

import json
from datetime import UTC, datetime
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from paper_search.domain.review_models import Exclusion, ExclusionReason, ReviewDecision, ReviewStatus
from paper_search.export import export_prisma, export_prisma_json, export_prisma_svg
from paper_search.models import (
    PaperCollection,
    PartOrigin,
    QueryReport,
    RoundLog,
    SearchConstraints,
    SearchMetadata,
    SearchQuery,
    SearchStrategy,
    SourceReport,
    SourceStatus,
    StopReason,
)
from tests.paper_search.export.samples import collection, hostile_text, paper, untimed
from tests.uraniborg.console.browser.payloads import PAYLOADS

SVG = "{http://www.w3.org/2000/svg}"


def make_strategy(query: str, origin: str) -> SearchStrategy:
    return SearchStrategy(
        queries=[SearchQuery(keywords=["cells"], boolean_query=query)],
        sources=["arxiv", "crossref", "openalex"],
        filters=SearchConstraints(year_from=2019, year_to=2024, language="en", max_results=50),
        origins=[
            PartOrigin(part="queries[0]", value=query, inherited=False, reason=origin),
            PartOrigin(part="sources", value="arxiv, crossref, openalex", inherited=True, reason="set by a person"),
        ],
    )


def make_first_round() -> RoundLog:
    return RoundLog(
        round=0,
        strategy=make_strategy('"solar cells" AND (perovskite OR halide)', "read from the question"),
        sources=[
            SourceReport(
                name="arxiv", status=SourceStatus.OK, returned=8, removed={"year": 2}, found=1200, calls=2,
                requests=["https://export.arxiv.org/api/query?search_query=cells"],
            ),
            SourceReport(
                name="crossref", status=SourceStatus.OK, returned=4, calls=1, partial=True, reason="timed out",
            ),
            SourceReport(
                name="openalex", status=SourceStatus.RATE_LIMITED, calls=1, reason="no credits left",
                retry_at=datetime(2024, 5, 2, tzinfo=UTC),
            ),
        ],
        identified=14,
        removed_before_screening={"year": 2},
        duplicates_within_round=3,
        screened=9,
        excluded={"below_threshold": 6, "by_person": 1},
        included=2,
    )  # fmt: skip


def make_second_round() -> RoundLog:
    return RoundLog(
        round=1,
        strategy=make_strategy("tandem AND cells", "the reviewer asked for tandem cells"),
        sources=[
            SourceReport(name="arxiv", status=SourceStatus.OK, returned=5, calls=1, requests=["https://x.example/2"])
        ],
        identified=5,
        duplicates_of_earlier_rounds=3,
        screened=2,
        excluded={"by_person": 1},
        included=1,
    )


def make_reviewed_collection() -> PaperCollection:
    included = ReviewDecision(status=ReviewStatus.INCLUDE)
    below = [
        Exclusion(
            paper_id=f"p_{n}", title=f"Weak {n}", reason=ExclusionReason.BELOW_THRESHOLD, score=0.1 + n / 100,
            threshold=0.3,
        )
        for n in range(6)
    ]  # fmt: skip
    by_person = [
        Exclusion(
            paper_id=f"p_9{n}", title=f"Silicon | {n}", doi="10.1/x", round=n, reason=ExclusionReason.BY_PERSON,
            reviewer="terminal", detail="only silicon",
        )
        for n in range(2)
    ]  # fmt: skip
    metadata = SearchMetadata(
        query="perovskite | solar cells",
        search_strategy=make_second_round().strategy,
        total_found=12,
        timestamp="2024-05-01T12:00:00+00:00",
        software="uraniborg 0.1.0",
        rounds=2,
        sources=make_second_round().sources,
        round_logs=[make_first_round(), make_second_round()],
        exclusions=[*below, *by_person],
        partial=True,
        reason="max_rounds",
        notes=["Results were capped."],
    )
    papers = [paper("One", decisions=[included]), paper("Two"), paper("Three", decisions=[included])]
    return PaperCollection(metadata=metadata, papers=papers)


def read_rows(text: str) -> list[list[str]]:
    """Return every table row of the log as a Markdown reader displays it."""
    shown: list[list[str]] = []
    for token in MarkdownIt().enable("table").parse(text):
        if token.type == "tr_open":
            shown.append([])
        elif token.type == "inline" and shown and token.level > 3:
            shown[-1].append("".join(child.content for child in token.children or []))
    return shown


def test_the_flow_sums_all_rounds_and_every_box_is_the_sum_of_its_parts() -> None:
    flow = json.loads(export_prisma_json(make_reviewed_collection()))
    assert flow["identified"] == {"arxiv": 15, "crossref": 4, "openalex": 0}
    assert flow["removed"] == {"duplicate_within_round": 3, "duplicate_of_earlier_round": 3, "year": 2}
    assert (flow["screened"], flow["included"]) == (11, 3)
    assert flow["excluded"] == {"below_threshold": 6, "by_person": 2}
    for part in (flow, *flow["rounds"]):
        assert sum(part["identified"].values()) == sum(part["removed"].values()) + part["screened"]
        assert part["screened"] == sum(part["excluded"].values()) + part["included"]
    assert flow["included_by_status"] == {"include": 2, "undecided": 1}
    assert flow["judged_by_person"] == 4
    assert [part["round"] for part in flow["rounds"]] == [1, 2]
    assert len(flow["exclusions"]) == 8


def test_the_markdown_log_has_the_flow_with_reasons() -> None:
    table = read_rows(export_prisma(make_reviewed_collection()))
    assert ["Records identified", "19", "arXiv (n = 15); Crossref (n = 4); OpenAlex (n = 0)"] in table
    removed = (
        "Duplicates within a round (n = 3); Duplicates of papers from earlier rounds (n = 3); "
        "Year outside the limits (n = 2)"
    )
    assert ["Records removed before screening", "8", removed] in table
    assert ["Records screened", "11", "judged by a person (n = 4); by the software alone (n = 7)"] in table
    excluded = "Relevance below the threshold of 0.3 (n = 6); Excluded by a person: only silicon (n = 2)"
    assert ["Records excluded", "8", excluded] in table
    assert ["Papers kept, not all included", "3", "marked include (n = 2); not judged by a person (n = 1)"] in table


def test_every_round_has_its_queries_requests_counts_and_source_reports() -> None:
    text = export_prisma(make_reviewed_collection())
    first, second = text.split("## Round 2")
    assert '- Query 1: "solar cells" AND (perovskite OR halide)' in first
    assert "- Query 1: tandem AND cells" in second
    assert "- Query 1: tandem AND cells (the reviewer asked for tandem cells)" in second
    assert "- arXiv: https://export.arxiv.org/api/query?search_query=cells" in first.replace("\\", "")
    assert "- arXiv: https://x.example/2" in second
    assert "- Sources: arXiv, Crossref, OpenAlex (set by a person)" in second
    assert "year_from 2019, year_to 2024, language en, max_results 50" in first.replace("\\", "")
    table = read_rows(text)
    assert ["arXiv", "ok", "1200", "10", "2", "-"] in table
    assert ["Crossref", "ok (partial)", "-", "4", "1", "timed out"] in table
    remark = "no credits left; answers again at 2024-05-02T00:00:00+00:00"
    assert ["OpenAlex", "rate_limited", "-", "0", "1", remark] in table
    assert ["Total", "", "", "14", "4", ""] in table


def make_ladder_collection() -> PaperCollection:
    queries = [
        QueryReport(
            text='"solar cells" AND perovskite', found=4_312, fetched=200, added=200, stopped=StopReason.SOURCE_LIMIT
        ),
        QueryReport(
            text="solar AND cells", rung=1, stopped=StopReason.NOT_RUN, reason="The source had already sent enough."
        ),
    ]
    report = SourceReport(
        name="arxiv", status=SourceStatus.OK, returned=200, found=4_312, partial=True, queries=queries
    )
    log = make_first_round().model_copy(update={"sources": [report], "identified": 200})
    found = collection(paper("One"))
    found.metadata.round_logs, found.metadata.partial = [log], True
    return found


def test_the_log_has_each_query_as_the_source_received_it_with_its_matches() -> None:
    text = export_prisma(make_ladder_collection())
    table = read_rows(text)
    assert ["Records identified", "200", "arXiv (n = 200), of 4,312 matches"] in table
    assert ["Source", "Rung", "Query", "Matches", "Fetched", "New", "Why it stopped"] in table
    first = ["arXiv", "1", '"solar cells" AND perovskite', "4312", "200", "200", "the source does not give out more"]
    assert first in table
    assert ["arXiv", "2", "solar AND cells", "-", "0", "0", "not run: The source had already sent enough"] in table
    assert ["arXiv", "ok (partial)", "4312", "200", "0", "fetched 200 of 4,312 matches"] in table
    assert "- Incomplete: fewer papers were fetched than match." in text


def test_the_json_log_and_the_diagram_state_the_matches_of_a_single_round() -> None:
    found = make_ladder_collection()
    flow = json.loads(export_prisma_json(found))
    assert flow["matches"] == flow["rounds"][0]["matches"] == {"arxiv": 4312}
    assert [query["text"] for query in flow["rounds"][0]["sources"][0]["queries"]][1] == "solar AND cells"
    lines = read_svg_lines(export_prisma_svg(found))
    assert "arXiv (n = 200), of 4,312 matches" in lines
    assert "Incomplete: fewer papers were fetched than match." in lines
    assert json.loads(export_prisma_json(make_reviewed_collection()))["matches"] == {}, "two rounds overlap"


def test_every_exclusion_is_listed_with_its_score_or_the_reviewers_reason() -> None:
    table = read_rows(export_prisma(make_reviewed_collection()))
    assert ["Weak 3", "-", "1", "Relevance below the threshold", "score 0.13 below 0.3"] in table
    assert ["Silicon | 1", "10.1/x", "2", "Excluded by a person", "only silicon; by terminal"] in table


def test_the_log_states_that_it_is_incomplete_and_why_it_ended() -> None:
    text = export_prisma(make_reviewed_collection())
    assert "Incomplete: at least one source" in text
    assert "Ended by: max" in text
    assert "- Results were capped." in text
    assert "- Rounds that searched: 2" in text


def test_a_collection_without_a_log_gives_a_short_report() -> None:
    text = export_prisma(collection())
    assert "No source was searched." in text
    assert ["Papers included", "0", ""] in read_rows(text)
    assert "screen" not in text.lower()
    assert "Incomplete" not in text
    assert "Rounds that searched: not logged" in text


def test_a_result_of_an_earlier_version_reports_its_sources_and_claims_no_screening() -> None:
    old = collection(paper("One"))
    old.metadata.sources = [SourceReport(name="arxiv", status=SourceStatus.OK, returned=30, calls=2)]
    table = read_rows(export_prisma(old))
    assert ["Records identified", "30", "arXiv (n = 30)"] in table
    assert ["arXiv", "ok", "-", "30", "2", "-"] in table
    assert not any(row[0] == "Records screened" for row in table)
    assert "Records screened" not in export_prisma_svg(old)


def read_svg_lines(text: str) -> list[str]:
    return [element.text or "" for element in ET.fromstring(text).iter(f"{SVG}text")]


def test_the_diagram_has_every_box_of_the_flow() -> None:
    lines = read_svg_lines(export_prisma_svg(make_reviewed_collection()))
    assert lines[0] == "perovskite | solar cells"
    for expected in (
        "Records identified (n = 19)",
        "arXiv (n = 15)",
        "Removed before screening (n = 8)",
        "Duplicates within a round (n = 3)",
        "Records screened (n = 11)",
        "Records excluded (n = 8)",
        "Relevance below the threshold of 0.3 (n = 6)",
        "Excluded by a person: only silicon (n = 2)",
        "Papers kept, not all included (n = 3)",
        "marked include (n = 2)",
        "judged by a person (n = 4)",
        "not judged by a person (n = 1)",
    ):
        assert expected in lines
    assert {"Identification", "Screening", "Included"} <= set(lines)
    reviewed = make_reviewed_collection()
    decided = reviewed.model_copy(update={"papers": [one for one in reviewed.papers if one.decisions]})
    assert "Papers included (n = 2)" in read_svg_lines(export_prisma_svg(decided))


def test_boxes_do_not_overlap_and_lie_inside_the_diagram() -> None:
    drawing = ET.fromstring(export_prisma_svg(make_reviewed_collection()))
    boxes = [
        tuple(float(rect.get(name, "")) for name in ("x", "y", "width", "height"))
        for rect in drawing.iter(f"{SVG}rect")
        if rect.get("class") == "box"
    ]
    assert len(boxes) == 5
    width, height = float(drawing.get("width", "")), float(drawing.get("height", ""))
    for n, (x, y, w, h) in enumerate(boxes):
        assert 0 <= x < x + w <= width
        assert 0 <= y < y + h <= height
        for ox, oy, ow, oh in boxes[n + 1 :]:
            assert x + w <= ox or ox + ow <= x or y + h <= oy or oy + oh <= y


def test_more_reasons_than_fit_are_summed_up() -> None:
    made = make_reviewed_collection()
    made.metadata.exclusions = [
        Exclusion(paper_id=f"p{n}", title="t", reason=ExclusionReason.BY_PERSON, detail=f"reason {n:02} " + "x" * 200)
        for n in range(30)
    ]
    lines = read_svg_lines(export_prisma_svg(made))
    assert "19 others (n = 19)" in lines
    assert max(map(len, lines)) < 120


@untimed
@given(query=hostile_text, detail=hostile_text, title=hostile_text)
def test_hostile_text_breaks_neither_the_table_nor_the_diagram(query: str, detail: str, title: str) -> None:
    made = make_reviewed_collection()
    made.metadata.query = query
    made.metadata.exclusions = [
        Exclusion(paper_id="p", title=title, reason=ExclusionReason.BY_PERSON, detail=detail, reviewer=detail)
    ]
    assert all(len(row) in (3, 5, 6) for row in read_rows(export_prisma(made)))
    ET.fromstring(export_prisma_svg(made))


def test_hostile_text_adds_no_element_and_no_attribute_to_the_diagram() -> None:
    def draw(text: str) -> ET.Element:
        made = make_reviewed_collection()
        made.metadata.query = text
        made.metadata.round_logs = [make_first_round()]
        made.metadata.round_logs[0].sources = [SourceReport(name=text, status=SourceStatus.OK, returned=3)]
        made.metadata.exclusions = [
            Exclusion(paper_id="p", title=text, reason=ExclusionReason.BY_PERSON, detail=text, reviewer=text)
        ]
        return ET.fromstring(export_prisma_svg(made))

    def list_structure(drawing: ET.Element) -> list[tuple[str, dict[str, str]]]:
        return [(element.tag, element.attrib) for element in drawing.iter()]

    expected = list_structure(draw("text"))
    for payload in PAYLOADS:
        drawing = draw(payload)
        assert list_structure(drawing) == expected, payload
        start = " ".join(payload.split())[:10]
        lines = [element.text or "" for element in drawing.iter(f"{SVG}text")]
        assert sum(line.startswith((start, f"Excluded by a person: {start}")) for line in lines) == 3, payload


@pytest.mark.parametrize("query", ["x\n# Heading\n<script>", "a\x00b\x1b[31m"])
def test_a_hostile_query_stays_on_its_line(query: str) -> None:
    made = collection()
    made.metadata.query = query
    first = next(line for line in export_prisma(made).splitlines() if line.startswith("- Question: "))
    first.encode("utf-8")
    assert "<script>" not in first
    ET.fromstring(export_prisma_svg(made).encode("utf-8"))


@untimed
@given(st.integers(0, 40))
def test_a_diagram_of_any_number_of_sources_is_well_formed(count: int) -> None:
    made = make_reviewed_collection()
    log = make_first_round()
    log.sources = [SourceReport(name=f"source-{n}", status=SourceStatus.OK, returned=n) for n in range(count)]
    made.metadata.round_logs = [log]
    total = sum(range(count))
    assert f"Records identified (n = {total:,})" in read_svg_lines(export_prisma_svg(made))
