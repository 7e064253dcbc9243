"""What one remark on a round asks for."""

from datetime import date

import pytest

from paper_search.domains import get_domain
from paper_search.intent.remarks import read_remark
from paper_search.intent.vocabulary import Vocabulary

VOCABULARY = Vocabulary(get_domain("general").synonyms)
TODAY = date(2024, 6, 15)


@pytest.mark.parametrize(
    ("text", "terms", "excluded"),
    [
        ("not enough on evaluation", ["evaluation"], []),
        ("There isn't much about evaluation.", ["evaluation"], []),
        ("no papers on toxicity", ["toxicity"], []),
        ("missing: toxicity", ["toxicity"], []),
        ("more on uncertainty", ["uncertainty"], []),
        ("no reviews please", [], ["reviews"]),
        ("less theory", [], ["theory"]),
        ("too many surveys", [], ["surveys"]),
        ("I don't want proteins", [], ["proteins"]),
        ("papers about drugs are not relevant", [], ["drugs"]),
        ("more on solubility, less theory", ["solubility"], ["theory"]),
        ("transformers instead of recurrent networks", ["transformers"], ["recurrent networks"]),
        ('not "black ice"', [], ["black ice"]),
        ("more ice, no ice", [], ["ice"]),
        ("- more on solubility\n- skip reviews", ["solubility"], ["reviews"]),
        ("ok", [], []),
        ("try again", [], []),
        ("these are irrelevant", [], []),
        ("", [], []),
    ],
)
def test_complaints_of_absence_add_and_refusals_exclude(text: str, terms: list[str], excluded: list[str]) -> None:
    remark = read_remark(text, VOCABULARY, TODAY)
    assert (remark.terms, remark.excluded) == (terms, excluded)


@pytest.mark.parametrize(
    ("text", "directions", "terms"),
    [
        ("wider", ["broader"], []),
        ("broader please", ["broader"], []),
        ("make it broader", ["broader"], []),
        ("a wider search", ["broader"], []),
        ("widen the scope", ["broader"], []),
        ("narrower", ["narrower"], []),
        ("too broad", ["narrower"], []),
        ("more", ["more"], []),
        ("show me more papers", ["more"], []),
        ("fewer", ["fewer"], []),
        ("fewer results, please", ["fewer"], []),
        ("too many papers", ["fewer"], []),
        ("broader, and more on toxicity", ["broader"], ["toxicity"]),
        ("the wider Caribbean", [], ["wider Caribbean"]),
        ("broader impacts of fishing", [], ["broader impacts", "fishing"]),
    ],
)
def test_directions_are_not_terms(text: str, directions: list[str], terms: list[str]) -> None:
    remark = read_remark(text, VOCABULARY, TODAY)
    assert (remark.directions, remark.terms, remark.excluded) == (directions, terms, [])


@pytest.mark.parametrize(
    ("text", "limits"),
    [
        ("only since 2022", {"year_from": 2022}),
        ("too old", {"year_from": 2019}),
        ("skip those before 2017", {"year_from": 2017}),
        ("nothing after 2020", {"year_to": 2020}),
        ("in German please", {"language": "de"}),
        ("show me at most 10 papers", {"max_results": 10}),
    ],
)
def test_limits_are_limits_and_not_terms(text: str, limits: dict[str, int | str]) -> None:
    remark = read_remark(text, VOCABULARY, TODAY)
    assert remark.limits == limits
    assert remark.terms == remark.excluded == []


def test_what_a_person_would_like_most_is_a_preference_and_no_term() -> None:
    remark = read_remark("more on clouds, preferably with JWST", VOCABULARY, TODAY)
    assert (remark.terms, remark.preferences) == (["clouds"], ["JWST"])


def test_an_author_is_an_author_and_no_term() -> None:
    assert read_remark("only papers by Kepler", VOCABULARY, TODAY).authors == ["Kepler"]
