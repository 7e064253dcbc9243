"""The answer in words, from the Laplace angles of runs for ten years with h at 1, 2 and 50 times its mass.

`ten_years.json` has the angles of real runs; the soak test of the story computes them again.
"""

import copy
import json
from pathlib import Path
from typing import Any, Final

import pytest

from universe.domain.nbody.analysis import compare_run_analyses
from uraniborg.story.resonance_verdicts import ComparisonAnswer, answer_question, format_span
from uraniborg.story.steps import format_question

RUNS: Final[dict[str, Any]] = json.loads(Path(__file__).with_name("ten_years.json").read_text(encoding="utf-8"))
NAMES: Final = {f"trappist-1-{letter}": letter for letter in "bcdefgh"}


def answer(first: Any, second: Any, factor: float) -> ComparisonAnswer:
    comparison = compare_run_analyses(first, second, ["first", "second"])
    return answer_question(first, second, comparison, planet="TRAPPIST-1 h", factor=factor, names=NAMES)


def test_twice_the_mass_keeps_all_five_resonances_and_the_swing_that_changes_most_is_named() -> None:
    assert answer(RUNS["1"], RUNS["2"], 2.0) == ComparisonAnswer(
        "yes",
        "Yes, over these 10 years: with TRAPPIST-1 h twice as heavy, all 5 Laplace resonances hold; 2 swing wider "
        "and 1 swings less wide by 1 degree or more; c-d-e changes most, from 22.5 to 30.8 degrees "
        "to either side.",
    )


def test_smaller_changes_of_the_table_are_not_counted_and_the_words_name_the_threshold() -> None:
    second = copy.deepcopy(RUNS["1"])
    changes = (-0.4, -0.9, 2.0, -3.0, 1.0)
    for row, change in zip((one for one in second["resonances"] if one["kind"] == "laplace"), changes, strict=True):
        row["halfRange"] += change
    words = answer(RUNS["1"], second, 2.0).sentence
    assert "2 swing wider and 1 swings less wide by 1 degree or more; " in words


def test_fifty_times_the_mass_breaks_the_chain_and_the_words_name_the_broken_resonances() -> None:
    assert answer(RUNS["1"], RUNS["50"], 50.0) == ComparisonAnswer(
        "no",
        "No: with TRAPPIST-1 h 50 times as heavy, 2 of 5 Laplace resonances break within these 10 years (c-d-e and "
        "d-e-f); 2 hold and 1 is unclear (b-c-d).",
    )


def test_an_angle_that_is_unclear_leaves_the_question_undecided() -> None:
    second = copy.deepcopy(RUNS["2"])
    second["resonances"][4]["behaviour"] = "unclear"
    found = answer(RUNS["1"], second, 2.0)
    assert found.verdict == "undecided"
    assert "4 of 5 Laplace resonances hold and 1 is unclear" in found.sentence
    for row in second["resonances"][1:]:
        row["behaviour"] = "unclear"
    assert "1 of 5 Laplace resonances holds and 4 are unclear" in answer(RUNS["1"], second, 2.0).sentence


def test_a_span_of_one_year_is_singular() -> None:
    first, second = ({**RUNS[run], "days": 365.25} for run in ("1", "2"))
    assert answer(first, second, 2.0).sentence.startswith("Yes, over 1 year: with TRAPPIST-1 h twice as heavy")
    left = {**second, "ejections": [{"id": "trappist-1-h"}]}
    assert "h leaves within 1 year." in answer(first, left, 2.0).sentence


@pytest.mark.parametrize(
    ("factor", "words"),
    [(0.5, "half as heavy"), (1.0, "just as heavy"), (2.0, "twice as heavy"), (50.0, "50 times as heavy")],
)
def test_the_words_follow_from_the_factor_and_the_span(factor: float, words: str) -> None:
    assert format_question(factor) == f"Is TRAPPIST-1's chain stable if planet h is {words}?"
    first, second = ({**RUNS[run], "days": 730.5} for run in ("1", "2"))
    assert f"Yes, over these 2 years: with TRAPPIST-1 h {words}, all 5" in answer(first, second, factor).sentence


def test_an_angle_that_is_no_longer_near_its_resonance_is_broken() -> None:
    second = {**RUNS["2"], "resonances": RUNS["2"]["resonances"][:4]}
    found = answer(RUNS["1"], second, 2.0)
    assert (found.verdict, "1 of 5 Laplace resonances breaks" in found.sentence) == ("no", True)


def test_only_angles_that_librate_in_the_first_run_are_a_chain() -> None:
    first = copy.deepcopy(RUNS["1"])
    for one in first["resonances"]:
        one["behaviour"] = "circulates"
    found = answer(first, RUNS["2"], 2.0)
    assert (found.verdict, "There is no chain to compare" in found.sentence) == ("undecided", True)
    first["resonances"][0]["behaviour"] = "librates"
    assert "the only Laplace resonance holds" in answer(first, RUNS["2"], 2.0).sentence


def test_equal_runs_have_no_swing_that_changes() -> None:
    assert "no swing changes by 1 degree or more" in answer(RUNS["1"], RUNS["1"], 1.0).sentence


def test_a_run_that_is_not_trustworthy_decides_nothing() -> None:
    found = answer(RUNS["1"], {**RUNS["50"], "trustworthy": False}, 50.0)
    assert found.verdict == "undecided"
    assert "not trustworthy" in found.sentence


def test_a_collision_or_a_planet_that_leaves_is_a_no() -> None:
    collided = {**RUNS["2"], "collisions": [{"bodies": ["trappist-1-g", "trappist-1-h"]}]}
    assert answer(RUNS["1"], collided, 2.0).sentence.startswith("No: with TRAPPIST-1 h twice as heavy, g and h collide")
    left = {**RUNS["2"], "ejections": [{"id": "trappist-1-h"}]}
    assert "h leaves within these 10 years" in answer(RUNS["1"], left, 2.0).sentence


@pytest.mark.parametrize(("days", "text"), [(3652.5, "10 years"), (365.25, "1 year"), (109.575, "0.3 years")])
def test_spans_are_in_years(days: float, text: str) -> None:
    assert format_span(days) == text
