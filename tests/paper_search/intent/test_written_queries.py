"""Tests of typed queries, loosened and tightened."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paper_search.intent.written_queries import (
    Refiner,
    build_search_query,
    describe_loosening,
    describe_tightening,
    iterate_looser_queries,
    iterate_tighter_queries,
    split_exclusions,
)
from paper_search.query.boolean_query import parse_query
from paper_search.query.rendering import normalise_query
from uraniborg.kernel.boolean_query import Node


def parse_tree(query: str) -> Node:
    node = parse_query(query)
    assert node is not None
    return node


def list_looser_queries(query: str) -> list[str]:
    return [build_search_query(node).boolean_query for node in iterate_looser_queries(parse_tree(query))]


@pytest.mark.parametrize(
    ("query", "looser"),
    [
        ("ice AND snow", ["ice"]),
        ('ice AND (snow OR hail) AND "black ice"', ["ice AND (snow OR hail)", "ice"]),
        ('"sea ice" AND albedo', ['"sea ice"', "sea AND ice"]),
        ("ice AND snow AND NOT hail", ["ice AND NOT hail"]),
        ("(ice AND snow) OR (hail AND rain)", ["ice OR hail"]),
        ("ice", []),
    ],
)
def test_the_most_restrictive_condition_is_dropped_first_and_the_subject_stays(query: str, looser: list[str]) -> None:
    assert list_looser_queries(query) == looser


def test_tightening_drops_the_alternatives() -> None:
    (tighter,) = iterate_tighter_queries(parse_tree("(ice OR snow) AND (road OR street) AND NOT hail"))
    assert build_search_query(tighter).boolean_query == "ice AND road AND NOT hail"
    assert list(iterate_tighter_queries(parse_tree("ice AND snow"))) == []


def test_loosened_and_tightened_conditions_are_described() -> None:
    before = '"sea ice" AND albedo AND NOT hail'
    assert describe_loosening(before, '"sea ice" AND NOT hail') == ["Loosened: albedo is no longer required."]
    assert describe_loosening('"sea ice"', "sea AND ice") == ['Loosened: "sea ice" may now match as separate words.']
    assert describe_loosening('tidal AND "icy moons"', "tidal AND icy") == ["Loosened: moons is no longer required."]
    assert describe_tightening("ice", "ice AND snow") == ["Tightened: snow is required."]
    assert describe_loosening("", "ice") == describe_tightening("ice", "") == []


def test_wanted_and_refused_words_are_added_to_typed_queries() -> None:
    refiner = Refiner([parse_tree("ice AND snow"), parse_tree("hail")], [parse_tree("reviews")])
    assert [query.boolean_query for query in refiner.compose_first_queries(())] == [
        "ice AND snow AND NOT reviews",
        "hail AND NOT reviews",
    ]
    assert [query.boolean_query for query in refiner.compose_with_terms(["albedo"], [])] == [
        "((ice AND snow) OR hail) AND albedo AND NOT reviews"
    ]
    assert next(refiner.compose_first_queries(())).keywords == ["ice", "snow"]


@given(st.text(max_size=60))
def test_every_form_of_any_query_parses_and_keeps_its_exclusions(query: str) -> None:
    node = parse_query(query)
    if node is None:
        return
    for form in (*iterate_looser_queries(node), *iterate_tighter_queries(node)):
        text = build_search_query(form).boolean_query
        assert normalise_query(text) == text
        assert split_exclusions(parse_tree(text))[1] == split_exclusions(parse_tree(normalise_query(query)))[1]
