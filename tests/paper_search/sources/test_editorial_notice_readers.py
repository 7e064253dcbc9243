"""Tests of retractions, concerns and corrections in the answers of each source."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from paper_search.domain.dedup import merge_duplicates
from paper_search.models import RawPaper
from paper_search.sources.editorial_notice_readers import read_medline_notices
from tests.paper_search.sources.sample_answers import (
    CROSSREF,
    DEFINITIONS,
    EFETCH,
    EUROPEPMC,
    OPENALEX,
    build_params,
    read_sample,
)
from tests.paper_search.sources.test_recorded_answers import iterate_recorded

WORK = CROSSREF["message"]["items"][0]
DATE = {"date-parts": [[2010, 2, 6]], "date-time": "2010-02-06T00:00:00Z", "timestamp": 1265414400000}
NOTICE = "10.5555/notice"


def make_update(kind: str = "retraction", doi: str = "10.5555/NOTICE", **fields: Any) -> dict[str, Any]:
    entry = {"DOI": doi, "type": kind, "label": kind.title(), "source": "publisher", "updated": DATE}
    return {**entry, **fields}


def read_crossref_paper(**fields: Any) -> RawPaper:
    message = {"total-results": 1, "items": [{**WORK, **fields}]}
    return read_sample("crossref", {"status": "ok", "message-type": "work-list", "message": message}).papers[0]


def list_notices(paper: RawPaper) -> list[tuple[str, str, str | None, str | None]]:
    return [(notice.status.value, notice.source, notice.date, notice.notice_doi) for notice in paper.notices]


# Crossref


def test_crossref_requests_include_the_fields_with_notices() -> None:
    fields = build_params("crossref")["select"].split(",")
    assert {"updated-by", "update-to", "subtitle", "editor", "created"} <= set(fields)
    assert len(fields) == len(set(fields))


def test_every_update_of_a_crossref_work_is_read_and_the_retraction_found_behind_a_correction() -> None:
    paper = read_crossref_paper(
        **{
            "updated-by": [
                make_update(
                    "correction", "10.5555/early", updated={"date-parts": [[2004, 3]]}, source="retraction-watch"
                ),
                make_update("retraction", source="retraction-watch", **{"record-id": "4036"}),
            ]
        }
    )
    assert list_notices(paper) == [
        ("corrected", "crossref", "2004-03", "10.5555/early"),
        ("retracted", "crossref", "2010-02-06", NOTICE),
    ]
    assert paper.notices[1].label == "Retraction (Retraction Watch)"
    assert paper.retraction == paper.notices[1]


@pytest.mark.parametrize(
    ("kind", "status", "retracted"),
    [
        ("retraction", "retracted", True),
        ("withdrawal", "withdrawn", True),
        ("removal", "removed", True),
        ("partial_retraction", "partially_retracted", True),
        ("Partial Retraction", "partially_retracted", True),
        ("expression_of_concern", "concern", False),
        ("expression-of-concern", "concern", False),
        ("correction", "corrected", False),
        ("corrigendum", "corrected", False),
        ("erratum", "corrected", False),
        ("addendum", "updated", False),
        ("clarification", "updated", False),
        ("new_version", "updated", False),
        ("new_edition", "updated", False),
        ("something_new", "updated", False),
    ],
)
def test_each_type_of_update_has_a_status(kind: str, status: str, retracted: bool) -> None:
    paper = read_crossref_paper(**{"updated-by": [make_update(kind)]})
    assert list_notices(paper) == [(status, "crossref", "2010-02-06", NOTICE)]
    assert (paper.retraction is not None) is retracted


def test_a_notice_listed_by_publisher_and_retraction_watch_is_one_notice() -> None:
    entries = [
        make_update(updated={"date-parts": [[2010]]}),
        make_update(source="retraction-watch"),
        make_update("removal"),
    ]
    assert list_notices(read_crossref_paper(**{"updated-by": entries})) == [
        ("retracted", "crossref", "2010-02-06", NOTICE),
        ("removed", "crossref", "2010-02-06", NOTICE),
    ]


def test_older_data_without_a_source_and_notices_without_a_doi_are_read() -> None:
    old = {key: value for key, value in make_update(doi="unavailable").items() if key != "source"}
    assert list_notices(read_crossref_paper(**{"updated-by": [old]})) == [("retracted", "crossref", "2010-02-06", None)]


def test_a_new_version_of_the_work_itself_is_not_a_notice() -> None:
    own = make_update("new_version", WORK["DOI"])
    paper = read_crossref_paper(**{"updated-by": [own], "update-to": [own]})
    assert paper.notices == []
    assert paper.retraction is None


def test_a_notice_about_another_work_is_not_retracted_itself() -> None:
    assert read_crossref_paper(**{"update-to": [make_update("retraction", "10.5555/other")]}).notices == []


def test_a_work_that_was_withdrawn_under_its_own_doi_is_withdrawn() -> None:
    paper = read_crossref_paper(**{"update-to": [make_update("withdrawal", WORK["DOI"])]})
    assert list_notices(paper) == [("withdrawn", "crossref", "2010-02-06", "10.5555/kiln.1")]


def test_the_field_is_updated_by_and_not_update_by() -> None:
    assert read_crossref_paper(**{"update-by": [make_update()]}).notices == []


@pytest.mark.parametrize(
    ("updated", "date"),
    [
        ({"date-parts": [[2010]]}, "2010"),
        ({"date-parts": [[2010, 2]]}, "2010-02"),
        ({"date-parts": [["2010", "2", "6"]]}, "2010-02-06"),
        ({"date-parts": [[2010, 2, 31]]}, "2010-02"),
        ({"date-parts": [[2010, 13, 1]]}, "2010"),
        ({"date-parts": [[None]], "date-time": "2010-02-06T00:00:00Z"}, "2010-02-06"),
        ({"date-time": "2010-02-06T00:00:00Z"}, "2010-02-06"),
        ({"date-parts": [[10**30, 2]]}, None),
        ({"date-parts": [[7]]}, None),
        ({"date-parts": "soon"}, None),
        ("2010-02-06", None),
        (None, None),
    ],
)
def test_a_date_is_as_exact_as_crossref_has_it(updated: Any, date: str | None) -> None:
    (notice,) = read_crossref_paper(**{"updated-by": [make_update(updated=updated)]}).notices
    assert notice.date == date


@pytest.mark.parametrize("junk", [None, "retraction", 7, [], [None, "x", []], {"a": 1}, [{"type": None}], [{}]])
def test_updates_of_a_wrong_shape_never_make_a_retraction(junk: Any) -> None:
    assert read_crossref_paper(**{"updated-by": junk, "update-to": junk}).retraction is None


def test_a_marked_title_alone_is_not_a_retraction() -> None:
    paper = read_crossref_paper(title=["RETRACTED: Glazes"])
    assert (paper.title, paper.notices) == ("RETRACTED: Glazes", [])


# PubMed


def read_pubmed_paper(types: str = "", corrections: str = "") -> RawPaper:
    body = EFETCH.replace("<PublicationTypeList>", f"<PublicationTypeList>{types}")
    links = f"<CommentsCorrectionsList>{corrections}</CommentsCorrectionsList>"
    return read_sample("pubmed", body.replace("</MedlineCitation>", f"{links}</MedlineCitation>")).papers[0]


def make_correction(
    kind: str, reference: str = "J Kilns. 2010 Feb 6;3(2):44. doi: 10.5555/NOTICE.", pmid: str = ""
) -> str:
    number = f"<PMID Version='1'>{pmid}</PMID>" if pmid else ""
    return f"<CommentsCorrections RefType='{kind}'><RefSource>{reference}</RefSource>{number}</CommentsCorrections>"


RETRACTED_TYPE = "<PublicationType UI='D016441'>Retracted Publication</PublicationType>"


def test_pubmed_names_the_notice_in_its_corrections() -> None:
    paper = read_pubmed_paper(RETRACTED_TYPE, make_correction("CommentIn") + make_correction("RetractionIn", pmid="99"))
    assert list_notices(paper) == [("retracted", "pubmed", "2010-02-06", NOTICE)]
    assert paper.notices[0].label == "J Kilns. 2010 Feb 6;3(2):44. doi: 10.5555/NOTICE. (PMID 99)"


def test_a_publication_type_without_a_notice_is_a_retraction_of_unknown_date() -> None:
    assert list_notices(read_pubmed_paper(RETRACTED_TYPE)) == [("retracted", "pubmed", None, None)]
    concern = read_pubmed_paper(RETRACTED_TYPE, make_correction("ExpressionOfConcernIn"))
    assert {status for status, *_ in list_notices(concern)} == {"retracted", "concern"}


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("RetractionIn", "retracted"),
        ("RetractedandRepublishedIn", "retracted"),
        ("PartialRetractionIn", "partially_retracted"),
        ("ExpressionOfConcernIn", "concern"),
        ("ErratumIn", "corrected"),
        ("CorrectedandRepublishedIn", "corrected"),
        ("UpdateIn", "updated"),
    ],
)
def test_each_link_from_a_paper_to_its_notice_has_a_status(kind: str, status: str) -> None:
    assert [found for found, *_ in list_notices(read_pubmed_paper(corrections=make_correction(kind)))] == [status]


@pytest.mark.parametrize(
    "kind", ["RetractionOf", "ErratumFor", "ExpressionOfConcernFor", "CommentIn", "CommentOn", "UpdateOf", "Cites", ""]
)
def test_links_from_a_notice_to_its_paper_and_comments_give_no_notice(kind: str) -> None:
    assert read_pubmed_paper(corrections=make_correction(kind)).notices == []


@pytest.mark.parametrize(
    "type_name", ["Retraction of Publication", "Retraction Notice", "Published Erratum", "Expression of Concern"]
)
def test_the_notice_itself_is_not_a_retracted_paper(type_name: str) -> None:
    assert (
        read_pubmed_paper(f"<PublicationType>{type_name}</PublicationType>", make_correction("RetractionOf")).retraction
        is None
    )


@pytest.mark.parametrize(
    ("reference", "date", "doi"),
    [
        ("J Kilns. 1998 Jul;69(7):559-60", "1998-07", None),
        ("J Kilns 1998;69:559", "1998", None),
        ("Sample B, Example A. J Kilns. 1998 Feb 12;53(2):346", "1998-02-12", None),
        ("J Kilns. 2020 Jan-Feb;3:1. doi: 10.5555/(SICI)1<2::3>4.", "2020-01", "10.5555/(sici)1<2::3>4"),
        ("J Kilns. 2021 Xyz 3;1:1", "2021", None),
        ("J Kilns. In press", None, None),
        ("", None, None),
    ],
)
def test_date_and_doi_of_a_notice_are_read_from_its_reference(
    reference: str, date: str | None, doi: str | None
) -> None:
    (notice,) = read_medline_notices("pubmed", [], [("RetractionIn", reference, "")])
    assert (notice.date, notice.notice_doi) == (date, doi)


# Europe PMC


def read_europepmc_paper(**fields: Any) -> RawPaper:
    record = {**EUROPEPMC["resultList"]["result"][0], **fields}
    return read_sample("europepmc", {"hitCount": 1, "resultList": {"result": [record]}}).papers[0]


def test_europe_pmc_lists_its_notices_in_words() -> None:
    reference = "J Kilns. 2010 Feb 6;3(2):44. doi: 10.5555/NOTICE"
    listed = [
        {"id": "1", "source": "MED", "type": "Comment in", "reference": reference, "orderIn": 1},
        {"id": "2", "source": "MED", "type": "Retraction in", "reference": reference, "orderIn": 2},
        {
            "id": "3",
            "source": "MED",
            "type": "Expression of concern in",
            "reference": "J Kilns. 2009;2:1",
            "orderIn": 3,
        },
        {"id": "4", "source": "MED", "type": "Erratum for", "reference": reference, "orderIn": 4},
    ]
    paper = read_europepmc_paper(
        pubTypeList={"pubType": ["Retracted Publication", "Journal Article"]},
        commentCorrectionList={"commentCorrection": listed},
    )
    assert list_notices(paper) == [
        ("concern", "europepmc", "2009", None),
        ("retracted", "europepmc", "2010-02-06", NOTICE),
    ]
    assert "(PMID 2)" in (paper.notices[1].label or "")


def test_europe_pmc_marks_a_retracted_paper_by_its_type_alone_and_not_a_notice() -> None:
    types = {"pubType": ["Retracted Publication"]}
    assert list_notices(read_europepmc_paper(pubTypeList=types)) == [("retracted", "europepmc", None, None)]
    assert read_europepmc_paper(pubTypeList={"pubType": ["Retraction of Publication"]}).notices == []


WRONG_LISTS: list[Any] = [None, "x", [], {"commentCorrection": "x"}, {"commentCorrection": [None, {}, []]}]


@pytest.mark.parametrize("junk", WRONG_LISTS)
def test_a_list_of_the_wrong_type_has_no_notices(junk: Any) -> None:
    assert read_europepmc_paper(commentCorrectionList=junk).notices == []


# OpenAlex


def read_openalex_paper(**fields: Any) -> RawPaper:
    return read_sample("openalex", {"meta": {}, "results": [{**OPENALEX["results"][0], **fields}]}).papers[0]


def test_openalex_has_only_a_flag() -> None:
    assert list_notices(read_openalex_paper(is_retracted=True)) == [("retracted", "openalex", None, None)]
    assert [read_openalex_paper(is_retracted=flag).notices for flag in (False, None, "true", 1)] == [[], [], [], []]


def test_a_notice_that_openalex_flags_is_not_retracted() -> None:
    assert read_openalex_paper(is_retracted=True, type="retraction").notices == []


# Recorded answers

WAKEFIELD = "10.1016/s0140-6736(97)11096-0"


def read_recorded_papers(shared_data: Path, source: str, *files: str) -> Iterator[RawPaper]:
    for file, request, response in iterate_recorded(shared_data, source):
        if file.rpartition("/")[2] in files:
            yield from DEFINITIONS[source].read_response(request, response).papers


def test_a_recorded_retraction_is_found_by_every_source_and_merged_with_its_disagreements(shared_data: Path) -> None:
    records = [
        *read_recorded_papers(shared_data, "crossref", "work_retracted_updated_by.json"),
        *read_recorded_papers(shared_data, "europepmc", "search_doi_retracted_core.json"),
        *read_recorded_papers(shared_data, "openalex", "work_retracted_select.json"),
    ]
    assert len(records) == 3
    assert all(paper.doi == WAKEFIELD and paper.retraction for paper in records)
    (paper,) = merge_duplicates(records)
    early, late = "10.1016/s0140-6736(04)15715-2", "10.1016/s0140-6736(10)60175-4"
    assert [(status, source, doi) for status, source, _, doi in list_notices(paper)] == [
        ("retracted", "europepmc", early),
        ("corrected", "crossref", early),
        ("retracted", "crossref", late),
        ("concern", "europepmc", "10.1097/meg.0b013e328349d184"),
        ("retracted", "openalex", None),
    ]
    assert paper.retraction
    assert (paper.retraction.notice_doi, paper.retraction.date) == (late, "2010-02-06")
    assert paper.provenance["notices"] == "crossref, europepmc, openalex"
    assert not paper.title.startswith("RETRACTED")


def test_recorded_pubmed_articles_are_retracted_and_the_recorded_notice_is_not(shared_data: Path) -> None:
    articles = list(read_recorded_papers(shared_data, "pubmed", "efetch_retracted_articles.xml"))
    assert [paper.retraction and paper.retraction.date for paper in articles] == ["1998-07", "1998-02"]
    (notice,) = read_recorded_papers(shared_data, "pubmed", "efetch_retraction_notice.xml")
    assert notice.retraction is None
    assert [found.status.value for found in notice.notices] == ["corrected"]


def test_recorded_versions_and_corrections_are_not_retractions(shared_data: Path) -> None:
    (version,) = read_recorded_papers(shared_data, "crossref", "work_new_version_self_update.json")
    assert version.notices == []
    (correction,) = read_recorded_papers(shared_data, "crossref", "list_items_with_update_to.json")
    assert correction.notices == []


def test_no_other_recorded_paper_is_retracted(shared_data: Path) -> None:
    found: set[str] = set()
    for source in DEFINITIONS:
        for _, request, response in iterate_recorded(shared_data, source):
            if response.status == 200 and b"etract" in response.body:
                page = DEFINITIONS[source].read_response(request, response)
                found |= {
                    paper.doi or f"{paper.source}:{paper.records[0].record_id}"
                    for paper in page.papers
                    if paper.retraction
                }
    assert WAKEFIELD in found
    assert len(found) == 3, "this one and two articles of PubMed"


def test_a_single_work_of_crossref_is_read_with_its_notices() -> None:
    single = {"status": "ok", "message-type": "work", "message": {**WORK, "updated-by": [make_update()]}}
    assert json.loads(read_sample("crossref", single).papers[0].model_dump_json())["retraction"] == {
        "status": "retracted", "source": "crossref", "date": "2010-02-06", "notice_doi": NOTICE,
    }  # fmt: skip
