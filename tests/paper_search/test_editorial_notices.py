"""Tests of editorial notices: each is stored once, and only some are retractions."""

from itertools import permutations
from typing import Any

import pytest

from paper_search.editorial_notices import (
    EditorialNotice,
    NoticeStatus,
    build_notice_fields,
    describe_notices,
    find_retraction,
    mark_title,
    merge_notices,
    unmark_title,
)
from paper_search.models import Paper, RawPaper


def make_notice(status: str = "retracted", source: str = "crossref", **fields: Any) -> EditorialNotice:
    return EditorialNotice(status=NoticeStatus(status), source=source, **fields)


@pytest.mark.parametrize(
    ("status", "retracted"),
    [
        ("retracted", True),
        ("withdrawn", True),
        ("removed", True),
        ("partially_retracted", True),
        ("concern", False),
        ("corrected", False),
        ("updated", False),
    ],
)
def test_only_retraction_withdrawal_removal_and_partial_retraction_mean_retracted(status: str, retracted: bool) -> None:
    paper = RawPaper(title="Glazes", source="crossref", notices=[make_notice(status)])
    assert (paper.retraction is not None) is retracted
    assert len(NoticeStatus) == 7, "every status is decided about above"


def test_the_most_severe_retraction_comes_first_then_one_with_a_doi_then_the_latest() -> None:
    partial = make_notice("partially_retracted", date="2020", notice_doi="10.5555/p")
    flag = make_notice(source="openalex", date="2015")
    old = make_notice(date="2004-03-06", notice_doi="10.5555/old")
    new = make_notice(date="2010-02", notice_doi="10.5555/new")
    for order in permutations([partial, flag, old, new, make_notice("concern", date="2021")]):
        assert find_retraction(order) == new
    assert find_retraction([partial, flag]) == flag
    assert find_retraction([partial]) == partial
    assert find_retraction([]) is None


def test_a_paper_serialises_its_retraction_with_four_keys_or_null() -> None:
    fields = {"status": "retracted", "source": "crossref", "date": "2010-02-06", "notice_doi": "10.5555/r"}
    paper = Paper(id="p", title="Glazes", source="crossref", notices=[EditorialNotice.model_validate(fields)])
    assert paper.model_dump(mode="json")["retraction"] == fields
    assert Paper.model_validate_json(paper.model_dump_json()) == paper
    assert Paper(id="p", title="Glazes", source="crossref").model_dump(mode="json")["retraction"] is None


def test_notices_with_the_same_status_and_doi_are_merged_with_the_most_exact_date() -> None:
    listed = [
        make_notice(source="pubmed", date="2010-02", notice_doi="10.5555/r"),
        make_notice(source="crossref", date="2010-02-06", notice_doi="10.5555/r", label="Retraction"),
        make_notice(source="europepmc", notice_doi="10.5555/r"),
    ]
    for order in permutations(listed):
        assert merge_notices(order) == [listed[1]]
    assert merge_notices(merge_notices(listed)) == [listed[1]]


def test_notices_that_differ_in_status_or_have_no_doi_stay_separate_in_order_of_date() -> None:
    flag = make_notice(source="openalex")
    other_kind = make_notice("corrected", date="2004-03-06", notice_doi="10.5555/a")
    same_doi = make_notice("retracted", source="pubmed", date="2004-03-06", notice_doi="10.5555/a")
    in_print = make_notice("corrected", source="pubmed", date="1997-03", label="J Kilns 1997 Mar;51(3):533")
    for order in permutations([flag, other_kind, same_doi, in_print]):
        assert merge_notices(order) == [in_print, same_doi, other_kind, flag]


def test_every_notice_of_a_retracted_paper_is_described_with_its_source() -> None:
    described = describe_notices(
        [
            make_notice("corrected", date="2004-03-06", notice_doi="10.5555/a"),
            make_notice("retracted", source="pubmed", date="2004-03-06", notice_doi="10.5555/a"),
            make_notice(source="openalex", date="2003"),
        ]
    )
    assert described == (
        "Retracted 2004-03-06 (notice doi:10.5555/a, source pubmed); retracted 2003 (source openalex); "
        "corrected 2004-03-06 (notice doi:10.5555/a, source crossref)"
    )


def test_a_concern_is_described_and_a_mere_correction_is_not() -> None:
    assert describe_notices([make_notice("concern", date="2009")]) == "Expression of concern 2009 (source crossref)"
    assert describe_notices([make_notice("corrected"), make_notice("updated")]) == ""
    assert describe_notices([]) == ""


def test_no_number_or_length_of_notices_makes_a_long_text() -> None:
    many = [make_notice(notice_doi=f"10.5555/{number}{'x' * 500}") for number in range(5_000)]
    assert describe_notices(many).endswith("and 4992 more")
    shown: Any = build_notice_fields(many)
    assert len(shown["editorial_note"]) == 250
    assert len(shown["retraction"]["notice_doi"]) == 100


def test_papers_without_notices_have_no_notice_fields() -> None:
    assert build_notice_fields([]) == build_notice_fields([make_notice("corrected")]) == {}
    assert build_notice_fields([make_notice("concern")]) == {
        "editorial_note": "Expression of concern (source crossref)"
    }
    assert build_notice_fields([make_notice()]).get("retraction") == {
        "status": "retracted", "source": "crossref", "date": None, "notice_doi": None,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("title", "bare"),
    [
        ("RETRACTED: Glazes and kilns", "Glazes and kilns"),
        ("RETRACTED ARTICLE: Glazes and kilns", "Glazes and kilns"),
        ("WITHDRAWN: Glazes and kilns", "Glazes and kilns"),
        ("REMOVED: Glazes and kilns", "Glazes and kilns"),
        ("[Retracted] Glazes and kilns", "Glazes and kilns"),
        ("[RETRACTED ARTICLE] Glazes and kilns", "Glazes and kilns"),
    ],
)
def test_the_mark_of_a_publisher_is_recognised_and_never_doubled(title: str, bare: str) -> None:
    assert unmark_title(title) == bare
    assert mark_title(title, "retracted") == title
    assert mark_title(bare, "retracted") == "RETRACTED: Glazes and kilns"


@pytest.mark.parametrize(
    "title",
    [
        "Retracted science and the retraction index",
        "RETRACTED PAPERS IN CHEMISTRY",
        "Retracted: Glazes and kilns",
        "Retraction: Glazes and kilns",
        "Withdrawn from the kiln: a memoir",
        "Glazes [Retracted]",
    ],
)
def test_titles_about_retractions_and_titles_of_notices_have_no_mark(title: str) -> None:
    assert unmark_title(title) == title


def test_each_status_has_its_own_mark_and_no_status_has_none() -> None:
    assert mark_title("Glazes", "partially_retracted") == "PARTIALLY RETRACTED: Glazes"
    assert mark_title("Glazes", "withdrawn") == "WITHDRAWN: Glazes"
    assert mark_title("Glazes", None) == "Glazes"
    paper = RawPaper(title="RETRACTED: Glazes", source="crossref")
    assert paper.retraction is None, "a title alone is only a hint"
