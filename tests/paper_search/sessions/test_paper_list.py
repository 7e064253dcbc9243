"""Lists of papers for review: each order, and the conditions of a filter."""

import pytest

from paper_search.review_models import Exclusion, ExclusionReason, PaperDecision, ReviewStatus
from paper_search.sessions.paper_list import PaperConditions, Sort, list_papers
from paper_search.sessions.reviewer_view import ReviewerView
from tests.paper_search.workflow.samples import make_collection

FACTS = (
    # title, score, year, sources
    ("c", 0.2, 2001, ["south"]),
    ("a", 0.9, None, ["north", "south"]),
    ("d", 0.5, 2001, ["north"]),
    ("b", 0.9, 2020, ["north", "south"]),
)
MARKS = {"c": ReviewStatus.EXCLUDE, "d": ReviewStatus.INCLUDE, "b": ReviewStatus.MAYBE}

EVERYTHING = PaperConditions()


def list_titles(sort: Sort = "rank", conditions: PaperConditions = EVERYTHING) -> str:
    """Return the titles of the listed papers, one letter each."""
    collection = make_collection(*(title for title, *_ in FACTS))
    papers = [
        paper.model_copy(update={"relevance_score": score, "year": year, "sources": sources})
        for paper, (_, score, year, sources) in zip(collection.papers, FACTS, strict=True)
    ]
    own = {paper.id: PaperDecision(status=MARKS[paper.title]) for paper in papers if paper.title in MARKS}
    view = ReviewerView("Ada", {"Ada": own})
    listed = list_papers(collection.model_copy(update={"papers": papers}), view, conditions, sort=sort)
    return "".join(paper["title"] for paper in listed["papers"])


@pytest.mark.parametrize(
    ("sort", "titles"),
    [("rank", "cadb"), ("score", "abdc"), ("year", "bcda"), ("title", "abcd"), ("status", "dcba"), ("source", "dabc")],
)
def test_papers_are_sorted_and_equal_ones_keep_their_rank(sort: Sort, titles: str) -> None:
    assert list_titles(sort) == titles


def test_both_ends_of_a_score_range_are_included() -> None:
    assert list_titles(conditions=PaperConditions(score_from=0.5)) == "adb"
    assert list_titles(conditions=PaperConditions(score_to=0.5)) == "cd"
    assert list_titles(conditions=PaperConditions(score_from=0.3, score_to=0.5)) == "d"


def test_an_excluded_paper_of_a_collection_without_excluded_papers_is_listed_with_its_reason() -> None:
    collection = make_collection("a")
    refused = Exclusion(paper_id="e", title="e", reason=ExclusionReason.BY_PERSON, reviewer="Ada", detail="Off topic")
    weak = Exclusion(paper_id="w", title="w", reason=ExclusionReason.BELOW_THRESHOLD)
    metadata = collection.metadata.model_copy(update={"exclusions": [refused, weak]})
    collection = collection.model_copy(update={"metadata": metadata})
    for view in (ReviewerView("Ada", {}), ReviewerView("Eve", {}), ReviewerView("Eve", {}, is_complete=True)):
        listed = list_papers(collection, view, PaperConditions(status=ReviewStatus.EXCLUDE))
        assert [(row["title"], row["reason"]) for row in listed["papers"]] == [("e", "Off topic")]
        assert listed["counts"] == {"include": 0, "exclude": 1, "maybe": 0, "undecided": 1}
