"""Tests of preferences in queries."""

from datetime import date

import pytest

from paper_search.domain.field_profiles import get_domain
from paper_search.domain.intent.intent_reader import read_intent
from paper_search.domain.intent.preferences import read_preferences
from paper_search.domain.intent.reading import Reading
from paper_search.domain.intent.strategy_planner import plan_strategy
from paper_search.domain.intent.vocabulary import Vocabulary
from paper_search.models import QueryBuilderInput

VOCABULARY = Vocabulary(get_domain("general").synonyms)
TODAY = date(2024, 6, 15)


@pytest.mark.parametrize(
    ("text", "preferences", "rest"),
    [
        ("ice, preferably sea ice", ["sea ice"], ["ice,"]),
        ("ice; I care most about albedo; since 2020", ["albedo"], ["ice;", ";", "since", "2020"]),
        ("ice, ideally albedo and thickness", ["albedo", "thickness"], ["ice,"]),
        ("ice, especially albedo, thickness and drift", ["albedo", "thickness", "drift"], ["ice,"]),
        ("ice, albedo would be nice", ["albedo"], ["ice,"]),
        ("ice, albedo preferred", ["albedo"], ["ice,"]),
        ("ice, preferably since 2020", ["published in 2020 or later"], ["ice,"]),
        ("ice, preferably in German", ["written in German"], ["ice,"]),
        ("ice, preferably not reviews", ["not reviews"], ["ice,"]),
        ("ice, ideally not older than 2020", ["published in 2020 or later"], ["ice,"]),
        ("ice, preferably review articles", ["review"], ["ice,"]),
        ("ice, preferably related to albedo", ["albedo"], ["ice,"]),
        ("ice, ideally with those", ["with those"], ["ice,"]),
        ("ice, the newer the better", ["published in 2019 or later"], ["ice,"]),
        ("preferably experimental papers on ice", ["experimental"], ["ice"]),
        ("Eis, vorzugsweise in der Arktis", ["Arktis"], ["Eis,"]),
        ("glace, de préférence en Arctique", ["Arctique"], ["glace,"]),
        ("hielo, preferiblemente marino", ["marino"], ["hielo,"]),
        ("gelo, de preferência marinho", ["marinho"], ["gelo,"]),
        ("海冰,最好是北极", ["北极"], ["海冰,"]),
        ("海氷、できれば北極", ["北極"], ["海氷、"]),
        ("preference learning", [], ["preference", "learning"]),
        ("preferred orientation of crystals", [], ["preferred", "orientation", "of", "crystals"]),
        ("care of the elderly", [], ["care", "of", "the", "elderly"]),
        ("ideal gas", [], ["ideal", "gas"]),
        ("a particularly dry summer", [], ["a", "particularly", "dry", "summer"]),
    ],
)
def test_wishes_are_distinguished_from_topics(text: str, preferences: list[str], rest: list[str]) -> None:
    reading = read_preferences(Reading(text), VOCABULARY, TODAY)
    assert reading.preferences == preferences
    assert reading.rest.split() == rest


def test_a_preference_is_not_a_condition_of_any_query_and_is_noted() -> None:
    intent = read_intent("TRAPPIST-1 atmospheres, preferably with JWST, ideally since 2022", VOCABULARY, TODAY)
    assert intent.preferences == ["JWST", "published in 2022 or later"]
    assert intent.constraints.year_from is None
    assert "“JWST” was read as a preference" in " ".join(intent.notes)
    strategy = plan_strategy(QueryBuilderInput(intent=intent), VOCABULARY, ["arxiv"], TODAY)
    assert strategy.queries
    assert strategy.filters.year_from is None
    assert not any("JWST" in f"{query.boolean_query} {query.keywords}" for query in strategy.queries)


def test_a_wish_without_another_subject_becomes_the_subject() -> None:
    intent = read_intent("I care most about sea ice", VOCABULARY, TODAY)
    assert (intent.topic, intent.preferences) == ("sea ice", [])


@pytest.mark.parametrize(
    ("query", "concepts", "excluded"),
    [
        ("no reviews, preferably simulations of galaxies", ["galaxies"], ["reviews"]),
        ("not deep learning; random forests preferred", ["random forests"], ["deep learning"]),
        ("without Greenland, preferably the Alps", ["Alps"], ["Greenland"]),
    ],
)
def test_a_wish_beside_exclusions_alone_becomes_the_subject(
    query: str, concepts: list[str], excluded: list[str]
) -> None:
    intent = read_intent(query, VOCABULARY, TODAY)
    assert (intent.concepts, intent.excluded, intent.preferences) == (concepts, excluded, [])


def test_a_quoted_wish_keeps_its_words() -> None:
    assert read_intent('ice, preferably "first-year ice"', VOCABULARY, TODAY).preferences == ["first-year ice"]
