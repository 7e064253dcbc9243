"""Replays: the figures of an order, the three orders, and a finished review with known figures."""

import gzip
import math
from collections.abc import Sequence
from datetime import date
from pathlib import Path

import pytest

from paper_search.domain.field_profiles import get_domain
from paper_search.domain.intent.intent_reader import read_intent
from paper_search.domain.intent.vocabulary import Vocabulary
from paper_search.domain.screening.labelled_files import read_labelled_file
from paper_search.domain.screening.replay import (
    ScreenedPaper,
    draw_priors,
    measure_order,
    order_by_learning,
    order_by_question,
    order_randomly,
    summarize_replay,
)

REVIEWS = Path(__file__).parents[5] / "shared/data/reviews"


def make_papers(included: Sequence[bool], texts: Sequence[str] | None = None) -> list[ScreenedPaper]:
    return [
        ScreenedPaper(f"W{row}", texts[row] if texts else f"paper {row}", "", mark) for row, mark in enumerate(included)
    ]


@pytest.mark.parametrize(
    ("marks", "loss", "wss95", "recall_10", "recall_20", "atd"),
    [
        ("1100000000", 0.0, 0.95 - 0.2, 0.5, 1.0, 0.15),
        ("0000000011", 1.0, 0.95 - 1.0, 0.0, 0.0, 0.95),
        ("0100000010", (19 - (9 + 2)) / 16, 0.95 - 0.9, 0.0, 0.5, 0.55),
        ("1111", 0.0, 0.95 - 1.0, 0.0, 0.0, 0.625),
    ],
)
def test_figures_of_an_order(
    marks: str, loss: float, wss95: float, recall_10: float, recall_20: float, atd: float
) -> None:
    assert measure_order([mark == "1" for mark in marks]) == pytest.approx(
        {"loss": loss, "wss95": wss95, "recall_10": recall_10, "recall_20": recall_20, "atd": atd}
    )


def test_95_percent_of_20_included_papers_are_19() -> None:
    marks = [True] * 19 + [False] * 80 + [True]
    assert measure_order(marks)["wss95"] == pytest.approx(0.95 - 0.19)


def test_the_same_seed_draws_the_same_papers_known_before() -> None:
    papers = make_papers([row % 5 == 0 for row in range(50)])
    drawn = [tuple(draw_priors(papers, seed)) for seed in range(20)]
    assert drawn == [tuple(draw_priors(papers, seed)) for seed in range(20)]
    assert len(set(drawn)) > 10
    assert all(papers[first].included and not papers[second].included for first, second in drawn)


@pytest.mark.parametrize("included", [[True] * 3, [False] * 3, [True, False, False], [True]])
def test_a_replay_needs_two_included_papers_and_one_excluded_paper(included: list[bool]) -> None:
    with pytest.raises(ValueError, match="at least two included papers and one excluded paper"):
        draw_priors(make_papers(included), 0)


def test_orders_present_each_other_paper_once() -> None:
    papers = make_papers([row % 4 == 0 for row in range(30)])
    priors = draw_priors(papers, 1)
    intent = read_intent("paper 7", Vocabulary(get_domain("general").synonyms), date(2026, 1, 1))
    expected = sorted(set(range(30)) - set(priors))
    assert sorted(order_by_learning(papers, priors, 1)) == expected
    assert sorted(order_randomly(papers, priors, 1)) == expected
    assert sorted(order_by_question(papers, priors, intent, 2026)) == expected
    assert order_randomly(papers, priors, 1) != order_randomly(papers, priors, 2)


def test_a_learned_order_presents_papers_like_the_included_ones_first() -> None:
    texts = [f"{'melatonin sleep' if row % 6 == 0 else 'plant light'} text{row % 5}" for row in range(60)]
    papers = make_papers([row % 6 == 0 for row in range(60)], texts)
    reported: list[tuple[int, int]] = []
    presented = order_by_learning(papers, draw_priors(papers, 0), 0, lambda done, all_: reported.append((done, all_)))
    assert all(papers[row].included for row in presented[:9])
    assert reported == [(done, 58) for done in range(1, 59)]


@pytest.mark.parametrize("text", ["the same text", ""])
def test_equal_papers_are_not_presented_in_the_order_of_the_file(text: str) -> None:
    papers = make_papers([row < 20 for row in range(40)], [text] * 40)
    losses: list[float] = []
    for seed in range(4):
        priors = draw_priors(papers, seed)
        losses.append(
            summarize_replay(papers, order_by_learning(papers, priors, seed), priors, "learned", seed)["loss"]
        )
    assert all(0.2 < loss < 0.8 for loss in losses)
    assert len(set(losses)) > 1


def test_references_alone_lead_to_the_included_papers() -> None:
    papers = [
        ScreenedPaper(
            f"W{row}", "untitled", "", row % 5 == 0, references=("X", "Y") if row % 5 == 0 else (f"Z{row % 3}",)
        )
        for row in range(40)
    ]
    presented = order_by_learning(papers, draw_priors(papers, 0))
    assert all(papers[row].included for row in presented[:7])


def test_several_papers_with_one_id_are_presented_each() -> None:
    papers = [ScreenedPaper("W1", f"sleep {row}", "", row % 2 == 0, references=("W1",)) for row in range(8)]
    assert sorted(order_by_learning(papers, [0, 1])) == [2, 3, 4, 5, 6, 7]


def test_a_question_order_does_not_depend_on_the_year_or_the_order_of_the_file() -> None:
    texts = ["shift work and cancer", "plants", "cancer of plants", "night work", "shift work", "light", "light"]
    papers = [
        ScreenedPaper(f"W{row}", text, "", row < 3, year=1990 + row if row else None) for row, text in enumerate(texts)
    ]
    intent = read_intent("shift work and cancer", Vocabulary(get_domain("general").synonyms), date(2026, 1, 1))
    titles = [papers[row].title for row in order_by_question(papers, [5], intent, 2026)]
    turned = papers[::-1]
    assert titles[0] == "shift work and cancer"
    assert [turned[row].title for row in order_by_question(turned, [1], intent, 2050)] == titles


def test_a_replay_reports_finite_figures_and_where_the_rule_stops() -> None:
    papers = make_papers([row < 10 for row in range(100)])
    presented = [*range(1, 10), *range(10, 99)]
    reply = summarize_replay(papers, presented, [0, 99], "random", 3, 4)
    assert (reply["papers"], reply["included"], reply["priors"], reply["undecided"]) == (100, 10, ["W0", "W99"], 4)
    stop = reply["stop"]
    assert stop["recall"] == 1
    assert 9 < stop["screened"] < 98
    assert stop["share"] == stop["screened"] / 98
    assert all(math.isfinite(reply[name]) for name in ("loss", "wss95", "recall_10", "recall_20", "atd"))


def test_a_review_of_258_papers_is_ranked_as_well_as_by_the_published_method() -> None:
    path = REVIEWS / "Donners_2021.jsonl.gz"
    if not path.is_file():
        pytest.skip(f"the shared reviews are not in {REVIEWS.name}/")
    papers = read_labelled_file(gzip.decompress(path.read_bytes()), "donners.jsonl").papers
    priors = draw_priors(papers, 0)
    reply = summarize_replay(papers, order_by_learning(papers, priors), priors, "learned", 0)
    assert reply["papers"] == 258
    assert reply["wss95"] == pytest.approx(0.77, abs=0.02)
    assert reply["stop"]["recall"] >= 0.95
