"""Lists of papers for review: each order, and the conditions of a filter."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from paper_search.domain.review_models import Exclusion, ExclusionReason, PaperDecision, ReviewDecision, ReviewStatus
from paper_search.service.review.paper_list import (
    DEFAULT_REASONS,
    PaperConditions,
    Sort,
    list_exclusions,
    list_papers,
    list_reasons,
)
from paper_search.service.review.reviewer_view import ReviewerView
from tests.paper_search.workflow.samples import make_collection
from uraniborg.kernel.actors import Actor

FACTS = (
    # title, score, year, sources
    ("c", 0.2, 2001, ["south"]),
    ("a", 0.9, None, ["north", "south"]),
    ("d", 0.5, 2001, ["north"]),
    ("b", 0.9, 2020, ["north", "south"]),
)
MARKS = {"c": ReviewStatus.EXCLUDE, "d": ReviewStatus.INCLUDE, "b": ReviewStatus.MAYBE}

EVERYTHING = PaperConditions()
SCORES = (None, 0.4, 0.1, 0.2)
"""Of excluded papers; None for a paper that was not scored."""


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


def test_papers_are_filtered_by_the_round_that_found_them() -> None:
    collection = make_collection(*"abcd")
    papers = [
        paper.model_copy(update={"found_in_round": number})
        for paper, number in zip(collection.papers, (0, 1, 1, 2), strict=True)
    ]
    collection = collection.model_copy(update={"papers": papers})
    listed = [list_papers(collection, ReviewerView("Ada", {}), PaperConditions(round=number)) for number in (1, 2, 3)]
    assert [_join_titles(one["papers"]) for one in listed] == ["a", "bc", "d"]
    assert listed[0]["facets"]["rounds"] == {"1": 1, "2": 2, "3": 1}


def test_reasons_are_counted_and_own_ones_follow_the_offered_ones_by_frequency() -> None:
    collection = make_collection(*"abcdefg")
    reasons = ["Too old", "Off topic", "Off topic", "Duplicate", "Duplicate", None, None]
    own = {
        paper.id: PaperDecision(status=ReviewStatus.EXCLUDE if reason else ReviewStatus.MAYBE, reason=reason)
        for paper, reason in zip(collection.papers, reasons, strict=True)
    }
    found = list_reasons(collection, ReviewerView("Ada", {"Ada": own}))
    assert [one["reason"] for one in found] == [*DEFAULT_REASONS, "Off topic", "Too old"]
    assert {one["reason"]: one["count"] for one in found if one["count"]} == {
        "Duplicate": 2,
        "Off topic": 2,
        "Too old": 1,
    }


def test_the_pages_of_a_list_have_every_paper_once_and_the_last_one_has_no_next() -> None:
    collection = make_collection(*"abcd")
    for limit, titles in ((2, ["ab", "cd"]), (3, ["abc", "d"])):
        pages = _list_pages(
            lambda offset, limit=limit: list_papers(
                collection, ReviewerView("Ada", {}), EVERYTHING, offset=offset, limit=limit
            )
        )
        assert [_join_titles(page["papers"]) for page in pages] == titles


def test_the_pages_of_exclusions_have_each_once_in_stored_order_or_best_first() -> None:
    low = ExclusionReason.BELOW_THRESHOLD
    exclusions = [
        Exclusion(paper_id="p", title="p", reason=ExclusionReason.BY_PERSON, reviewer="Ada"),
        *(
            Exclusion(paper_id=one, title=one, reason=low, score=score)
            for one, score in zip("wxyz", SCORES, strict=True)
        ),
    ]
    collection = make_collection("a")
    metadata = collection.metadata.model_copy(update={"exclusions": exclusions})
    collection = collection.model_copy(update={"metadata": metadata})
    for reason, titles in ((None, ["pw", "xy", "z"]), (low, ["xz", "yw"])):
        pages = _list_pages(
            lambda offset, reason=reason: list_exclusions(collection, {}, reason=reason, offset=offset, limit=2)
        )
        assert [_join_titles(page["exclusions"]) for page in pages] == titles


def _list_pages(list_page: Callable[[int], Any]) -> list[dict[str, Any]]:
    """Return the pages from the first to the one without a next."""
    pages = [list_page(0)]
    while (offset := pages[-1]["next_offset"]) is not None:
        assert len(pages) < 5
        pages.append(list_page(offset))
    return pages


def _join_titles(rows: Sequence[Any]) -> str:
    return "".join(row["title"] for row in rows)


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


def test_decisions_of_others_are_seen_once_a_round_has_excluded_the_paper() -> None:
    (paper,) = make_collection("a").papers
    for status, hidden in ((ReviewStatus.MAYBE, 1), (ReviewStatus.EXCLUDE, 0)):
        decided = paper.model_copy(update={"decisions": [ReviewDecision(status=status, reviewer="Ada")]})
        fields = ReviewerView("Eve", {}).build_decision_fields(decided)
        assert (fields["others_hidden"], len(fields["others"])) == (hidden, 1 - hidden)


def test_a_mark_of_an_agent_does_not_replace_the_decision_of_the_person_whose_name_it_has() -> None:
    (paper,) = make_collection("a").papers
    decided = paper.model_copy(update={"decisions": [ReviewDecision(status=ReviewStatus.INCLUDE, reviewer="Ada")]})
    marks = {"Ada": {paper.id: PaperDecision(status=ReviewStatus.EXCLUDE)}}
    agent = Actor(kind="agent", name="assistant", authenticated="credential")
    for actors, statuses in (({}, ["exclude"]), ({"Ada": agent}, ["include", "exclude"])):
        others = ReviewerView("Eve", marks, actors=actors).list_other_decisions(decided)
        assert [one.status.value for one in others] == statuses
