"""Tests of tags for the kind of a paper."""

import pytest

from paper_search.models import PaperTag
from tests.paper_search.domain.relevance.sample_papers import make_intent, make_paper, score_pool


def get_tags(title: str, abstract: str | None = None, **fields: object) -> list[PaperTag]:
    return score_pool([make_paper(title, abstract, **fields)], make_intent("anything"))[0].tags


@pytest.mark.parametrize(
    ("title", "abstract", "tag"),
    [
        ("A survey of amber", None, PaperTag.REVIEW),
        ("Amber", "In this review the trade is described.", PaperTag.REVIEW),
        ("An amber dataset", None, PaperTag.DATASET),
        ("Amber", "We release a large-scale dataset of beads.", PaperTag.DATASET),
        ("A theorem about beads", None, PaperTag.THEORETICAL),
        ("Beads", "We prove a lower bound.", PaperTag.THEORETICAL),
        ("Beads", "We propose to count them.", PaperTag.METHOD),
        ("An algorithm for beads", None, PaperTag.METHOD),
        ("An empirical study of beads", None, PaperTag.EMPIRICAL),
        ("Beads", "Participants were randomised into two groups.", PaperTag.EMPIRICAL),
    ],
)
def test_each_kind_is_recognised_by_its_words(title: str, abstract: str | None, tag: PaperTag) -> None:
    assert get_tags(title, abstract) == [tag]


def test_a_paper_can_be_of_several_kinds_in_a_fixed_order() -> None:
    assert get_tags("A benchmark", "We propose a new method. We prove it right.") == [
        PaperTag.METHOD,
        PaperTag.THEORETICAL,
        PaperTag.DATASET,
    ]


def test_the_work_type_dataset_of_a_source_gives_the_tag() -> None:
    assert get_tags("Beads", work_type="dataset") == [PaperTag.DATASET]


def test_without_cues_there_is_no_tag() -> None:
    assert get_tags("Amber", "Beads lay on the coast.") == []
