"""Tests of feedback that is read for the next round."""

from datetime import date

import pytest

from paper_search.domains import get_domain
from paper_search.intent.feedback import (
    extract_wanted_words,
    read_feedback,
    read_feedback_texts,
)
from paper_search.intent.feedback_directions import Direction
from paper_search.intent.vocabulary import Vocabulary
from paper_search.models import SearchConstraints

VOCABULARY = Vocabulary(get_domain("general").synonyms)
TODAY = date(2024, 6, 15)


@pytest.mark.parametrize(
    ("feedback", "wanted", "unwanted"),
    [
        ("not enough on evaluation", ["evaluation"], []),
        ("There isn't much about evaluation.", ["evaluation"], []),
        ("I didn't find anything on solubility", ["solubility"], []),
        ("nothing on toxicity!", ["toxicity"], []),
        ("no papers on toxicity", ["toxicity"], []),
        ("too few clinical trials", ["clinical trials"], []),
        ("missing: toxicity", ["toxicity"], []),
        ("more on uncertainty", ["uncertainty"], []),
        ("focus on 3D structures", ["3D structures"], []),
        ("toxicity", ["toxicity"], []),
        ("no reviews please", [], ["reviews"]),
        ("No more reviews!", [], ["reviews"]),
        ("less theory", [], ["theory"]),
        ("too many surveys", [], ["surveys"]),
        ("too theoretical", [], ["theoretical"]),
        ("I don't want proteins", [], ["proteins"]),
        ("papers about drugs are not relevant", [], ["drugs"]),
        ("drugs are irrelevant", [], ["drugs"]),
        ("exclude patents", [], ["patents"]),
        ("more on solubility, less theory", ["solubility"], ["theory"]),
        ("solubility but not proteins", ["solubility"], ["proteins"]),
        ("transformers instead of recurrent networks", ["transformers"], ["recurrent networks"]),
        ('not "black ice"', [], ["black ice"]),
        ("more ice, no ice", [], ["ice"]),
        ("ok", [], []),
        ("try again", [], []),
        ("these are irrelevant", [], []),
        ("more like these please", [], []),
        ("", [], []),
    ],
)
def test_complaints_of_absence_add_and_refusals_exclude(feedback: str, wanted: list[str], unwanted: list[str]) -> None:
    lessons = read_feedback(feedback, VOCABULARY, TODAY)
    assert (lessons.wanted, lessons.unwanted) == (wanted, unwanted)


@pytest.mark.parametrize(
    ("feedback", "limits"),
    [
        ("only since 2022", {"year_from": 2022}),
        ("too old", {"year_from": 2019}),
        ("newer papers please", {"year_from": 2019}),
        ("in German please", {"language": "de"}),
        ("show me at most 10 papers", {"max_results": 10}),
    ],
)
def test_limits_in_feedback_are_limits_and_not_words(feedback: str, limits: dict[str, int | str]) -> None:
    lessons = read_feedback(feedback, VOCABULARY, TODAY)
    assert lessons.limits == limits
    assert lessons.wanted == lessons.unwanted == []


def test_a_negation_in_one_text_never_reaches_the_words_of_another() -> None:
    lessons = read_feedback_texts(["no reviews", "Enceladus plumes"], VOCABULARY, TODAY)
    assert (lessons.wanted, lessons.unwanted) == (["Enceladus plumes"], ["reviews"])


def test_a_later_text_overrides_an_earlier_one() -> None:
    lessons = read_feedback_texts(["no reviews, more on ice", "also reviews", "less ice"], VOCABULARY, TODAY)
    assert (lessons.wanted, lessons.unwanted) == (["reviews"], ["ice"])
    assert read_feedback_texts(["since 2010", "since 2015"], VOCABULARY, TODAY).limits == {"year_from": 2015}
    assert not read_feedback_texts([], VOCABULARY, TODAY).has_content


def test_a_direction_is_not_a_search_word() -> None:
    lessons = read_feedback("The query is too strict; also cryovolcanism, no reviews", VOCABULARY, TODAY)
    assert (lessons.wanted, lessons.unwanted) == (["cryovolcanism"], ["reviews"])
    assert lessons.directions == [Direction.WIDER]
    assert lessons.has_content
    assert extract_wanted_words("wider") == extract_wanted_words("fewer results, newer") == ""


def test_an_explicit_number_overrides_a_direction() -> None:
    lessons = read_feedback("fewer papers, at most 10 papers", VOCABULARY, TODAY, SearchConstraints(max_results=80))
    assert lessons.limits == {"max_results": 10}


def test_an_author_in_feedback_is_an_author_and_not_a_word() -> None:
    lessons = read_feedback("only papers by Kepler", VOCABULARY, TODAY)
    assert lessons.authors == ["Kepler"]
    assert lessons.wanted == lessons.unwanted == []


@pytest.mark.parametrize(
    ("feedback", "wanted", "unwanted"),
    [
        ("no reviews", "", ["reviews"]),
        ("more on solubility, less theory", "solubility", ["theory"]),
        ("solubility without animals", "solubility", ["animals"]),
        ("not about climate, please", "", ["climate"]),
        ("not enough on evaluation", "evaluation", []),
        ("newer papers on sea ice since 2020, no reviews", "sea ice", ["reviews"]),
        ("", "", []),
    ],
)
def test_wanted_and_refused_words_of_feedback_are_separated(feedback: str, wanted: str, unwanted: list[str]) -> None:
    assert extract_wanted_words(feedback) == wanted
    assert read_feedback(feedback, Vocabulary({}), TODAY).unwanted == unwanted
