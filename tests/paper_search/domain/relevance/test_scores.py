"""Tests of the scores of a pool: order, bounds and the threshold of 0.3."""

import math
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paper_search.models import RawPaper
from tests.paper_search.domain.relevance.sample_papers import (
    list_scores,
    make_authors,
    make_intent,
    make_paper,
    score_pool,
)

PEROVSKITE = make_intent("perovskite solar cells", "perovskite", "solar cells")
FILLER = (
    "The manuscript follows several strands of thought and arranges them by age. Archives, letters and maps were read "
    "by two curators over four winters, and their remarks were bound into one volume for later visitors."
)
OTHERS = [
    make_paper("Stem cell therapy in mice", "Bone marrow transplants were followed for a year."),
    make_paper("Medieval trade routes of the Baltic", "Letters of merchants show where amber went."),
    make_paper(
        "Perovskite solar cells beyond 25%", "Perovskite solar cells with a passivated surface. Perovskite wins."
    ),
    make_paper("Silicon solar cells", "A review of solar cells made of silicon."),
    make_paper("Graph colouring is hard", None),
]
VOCABULARY = "perovskite solar cells stability graph amber trade merchants efficiency of the new method"
TEXTS = st.lists(st.sampled_from(VOCABULARY.split()), max_size=40).map(" ".join)


@st.composite
def papers_of_few_words(draw: st.DrawFn) -> list[RawPaper]:
    return [
        make_paper(
            draw(TEXTS),
            draw(TEXTS),
            citation_count=draw(st.integers(0, 50_000)),
            year=draw(st.none() | st.integers(1900, 2030)),
        )
        for _ in range(draw(st.integers(0, 6)))
    ]


PAPERS = papers_of_few_words()


def test_the_better_match_scores_higher() -> None:
    both, one, none = list_scores(
        [
            make_paper("Perovskite solar cells", "We make perovskite solar cells that last."),
            make_paper("Solar cells", "We make silicon solar cells that last."),
            make_paper("Deep sea fish", "We follow fish that live long."),
        ],
        PEROVSKITE,
    )
    assert both > one > none


@pytest.mark.parametrize("pool", [[], OTHERS, OTHERS * 20, [OTHERS[2]] * 50, [OTHERS[1]] * 50])
def test_a_paper_with_the_main_concepts_reaches_the_threshold_in_any_pool(pool: list[RawPaper]) -> None:
    once = make_paper("On light", f"{FILLER * 12} Perovskite is used. {FILLER} Solar. {FILLER} Cells. {FILLER}")
    titled = make_paper("Perovskite solar cells")
    assert min(list_scores([once, titled, *pool], PEROVSKITE)[:2]) >= 0.3


@pytest.mark.parametrize("pool", [[], OTHERS, OTHERS * 20, [OTHERS[2]] * 50, [OTHERS[1]] * 50])
def test_a_paper_with_none_of_the_concepts_stays_below_the_threshold_in_any_pool(pool: list[RawPaper]) -> None:
    nothing = make_paper("Whales of the north", FILLER, citation_count=90_000, year=2025)
    generic = make_paper("A new method", "We present results of a study with a new approach.", citation_count=90_000)
    wanted = make_intent("a new method for perovskite solar cells", "perovskite", "solar cells")
    assert max(list_scores([nothing, generic, *pool], wanted)[:2]) < 0.3


def test_one_shared_word_out_of_three_scores_below_the_threshold() -> None:
    stem_cells = make_paper(
        "Stem cells in the cell cycle: cells and more cells", "Cells, cells, cells and again cells."
    )
    assert list_scores([stem_cells], PEROVSKITE)[0] < 0.3
    assert list_scores([stem_cells, *OTHERS], PEROVSKITE)[0] < 0.3


def test_a_long_query_needs_a_smaller_share_of_matches() -> None:
    short = "amber trade guild ships"
    long = f"{short} merchants harbour tolls coast letters silver wool salt herring winter convoy lantern"
    found = make_paper("Harbour life", f"Amber was one of many goods, and ships lay idle. {FILLER}")
    assert list_scores([found], make_intent(long))[0] > 0.8 * list_scores([found], make_intent(short))[0]
    assert list_scores([found, *OTHERS], make_intent(long))[0] >= 0.3


@given(PAPERS)
def test_scores_are_between_zero_and_one_in_the_given_order(papers: list[RawPaper]) -> None:
    result = score_pool(papers, PEROVSKITE)
    assert [one.paper for one in result] == papers
    assert all(0.0 <= one.relevance_score <= 1.0 and not math.isnan(one.relevance_score) for one in result)
    assert all(one.relevance_reason and "\n" not in one.relevance_reason for one in result)


@given(PAPERS, st.randoms())
def test_the_order_of_the_papers_does_not_matter(papers: list[RawPaper], chance: Random) -> None:
    places = [*range(len(papers))]
    chance.shuffle(places)
    in_order = list_scores(papers, PEROVSKITE)
    shuffled = list_scores([papers[place] for place in places], PEROVSKITE)
    assert shuffled == pytest.approx([in_order[place] for place in places], abs=2e-6)


@given(PAPERS)
def test_full_matches_score_above_and_empty_matches_below_the_threshold(papers: list[RawPaper]) -> None:
    for scored in score_pool(papers, PEROVSKITE):
        held = {"perovskite", "solar", "cells"} & set(f"{scored.paper.title} {scored.paper.abstract}".split())
        if len(held) in (0, 3):
            assert (scored.relevance_score >= 0.3) == (len(held) == 3)


def test_identical_papers_score_the_same_and_one_paper_is_enough() -> None:
    twins = list_scores([OTHERS[2], OTHERS[2], OTHERS[2]], PEROVSKITE)
    assert len(set(twins)) == 1
    assert list_scores([OTHERS[2]], PEROVSKITE)[0] > 0.5
    assert list_scores([], PEROVSKITE) == []


def test_a_paper_without_an_abstract_is_not_penalised_much() -> None:
    bare, full, weak = list_scores(
        [
            make_paper("Stability of perovskite solar cells"),
            make_paper("Stability of perovskite solar cells", f"Perovskite solar cells degrade. {FILLER}"),
            make_paper("Power electronics", f"Inverters for solar cells. {FILLER}"),
        ],
        PEROVSKITE,
    )
    assert bare > 0.5
    assert bare > weak
    assert bare > 0.7 * full


def test_a_snippet_replaces_a_missing_abstract() -> None:
    with_snippet, without = score_pool(
        [make_paper("On light", snippet="Perovskite solar cells are efficient"), make_paper("On light")], PEROVSKITE
    )
    assert with_snippet.relevance_score > 0.3 > without.relevance_score
    assert "snippet: perovskite, solar cells" in with_snippet.relevance_reason


def test_a_term_that_every_candidate_contains_still_counts() -> None:
    strong, weak = list_scores(
        [
            make_paper("Perovskite", "Perovskite and perovskite again."),
            make_paper("Notes", f"{FILLER} Perovskite. {FILLER}"),
        ],
        make_intent("perovskite"),
    )
    assert strong > weak >= 0.3


def test_adjacent_words_score_higher_than_separate_words() -> None:
    together, apart = list_scores(
        [
            make_paper("A chapter", "We train a neural network on weather and report how the season went."),
            make_paper("A chapter", "We train on neural weather and report how the season network went."),
        ],
        make_intent("neural network"),
    )
    assert together > apart


def test_a_quoted_phrase_scores_higher_than_its_separate_words() -> None:
    wanted = make_intent("attention transformers", "attention", phrases=["multi head attention"])
    exact, loose = list_scores(
        [
            make_paper("Transformers", "They rely on multi-head attention in every layer of attention."),
            make_paper("Transformers", "They rely on attention with a head and multi attention layers."),
        ],
        wanted,
    )
    assert exact > loose


def test_a_wanted_author_raises_only_their_papers() -> None:
    wanted = make_intent("capsule networks", "capsule networks", authors=["Geoffrey Hinton"])
    theirs, other = score_pool(
        [
            make_paper("Routing in capsule networks", authors=make_authors("S. Sabour", "G. E. Hinton")),
            make_paper("Routing in capsule networks", authors=make_authors("Grace Hopper")),
        ],
        wanted,
    )
    assert theirs.relevance_score > other.relevance_score >= 0.3
    assert "author: G. E. Hinton" in theirs.relevance_reason


def test_a_query_for_an_author_alone_finds_the_author() -> None:
    theirs, other = list_scores(
        [
            make_paper("Anything", authors=make_authors("Ada Lovelace")),
            make_paper("Anything", authors=make_authors("Charles Babbage")),
        ],
        make_intent("", authors=["Lovelace"]),
    )
    assert theirs >= 0.3 > other


def test_a_wanted_venue_raises_its_papers() -> None:
    wanted = make_intent("kernel methods", "kernel methods", venues=["ICML"])
    there, other_venue = score_pool(
        [
            make_paper("Kernel methods", venue="International Conference on Machine Learning"),
            make_paper("Kernel methods", venue="Annals of Botany"),
        ],
        wanted,
    )
    assert there.relevance_score > other_venue.relevance_score
    assert "in the venue asked for" in there.relevance_reason


def test_citations_and_recency_order_equals_but_never_beat_a_clearly_better_match() -> None:
    text = ("Perovskite solar cells", "Perovskite solar cells that last.")
    plain, cited, recent, famous_but_weak = list_scores(
        [
            make_paper(*text, year=1990),
            make_paper(*text, year=1990, citation_count=5_000),
            make_paper(*text, year=2025),
            make_paper("Solar panels on roofs", "Cells and roofs.", year=2025, citation_count=500_000),
        ],
        PEROVSKITE,
    )
    assert cited > plain
    assert recent > plain
    assert famous_but_weak < plain


def test_a_query_of_stop_words_alone_matches_these_words() -> None:
    found, other = list_scores(
        [make_paper("To be or not to be"), make_paper("Whales of the north")], make_intent("to be or not to be")
    )
    assert found >= 0.3 > other


def test_a_query_without_words_gives_every_paper_the_same_medium_score() -> None:
    assert list_scores(OTHERS, make_intent("???")) == [0.5] * len(OTHERS)


def test_huge_and_hostile_papers_and_queries_are_scored() -> None:
    monsters = [
        make_paper("", ""),
        make_paper("\u202eperovskite\u202c solar cells", "مواد"),
        make_paper("perovskite " * 50_000, "solar cells " * 200_000),
        make_paper("Perovskite", authors=make_authors(*(f"Author {n}" for n in range(300)))),
        make_paper("Perovskite", year=-5, citation_count=-3, venue=""),
    ]
    wanted = make_intent("perovskite solar cells " * 450, "perovskite" * 900, authors=["", ","], venues=["", "of the"])
    assert all(0 <= score <= 1 for score in list_scores(monsters, wanted))


def test_words_from_other_scripts_match() -> None:
    wanted = make_intent("机器学习", "机器学习")
    found, other = list_scores([make_paper("机器学习综述"), make_paper("海洋生物学")], wanted)
    assert found >= 0.3 > other
