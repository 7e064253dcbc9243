"""Shortened values keep their types."""

from typing import Any

import pytest

from pflow.domain.diagnostics import shorten_value


def test_a_short_value_is_unchanged() -> None:
    value = {"a": ["x", 1, None], "b": {"c": "text"}, "d": []}
    assert shorten_value(value) == value


def test_a_long_text_is_cut_with_its_length() -> None:
    assert shorten_value("x" * 1_000, max_chars=3) == "xxx… (1,000 characters)"


def test_a_list_or_an_object_of_texts_is_cut_with_the_number_of_the_rest() -> None:
    assert shorten_value(["a", "b", "c", "d"], max_items=2) == ["a", "b", "… 2 more"]
    assert shorten_value({"a": "x", "b": "y", "c": "z"}, max_items=2) == {"a": "x", "b": "y", "…": "1 more"}


@pytest.mark.parametrize("one", [{"id": "a"}, ["a"], 1, None])
def test_other_lists_and_objects_are_only_cut(one: Any) -> None:
    assert shorten_value([one] * 5, max_items=2) == [one, one]
    assert shorten_value({"a": one, "b": one, "c": one}, max_items=2) == {"a": one, "b": one}


def test_a_text_has_five_hundred_characters_a_list_a_hundred_items_and_a_name_a_hundred_characters() -> None:
    assert shorten_value("x" * 500) == "x" * 500
    assert shorten_value("x" * 501) == f"{'x' * 500}… (501 characters)"
    assert shorten_value(["a"] * 100) == ["a"] * 100
    assert shorten_value(["a"] * 101) == [*["a"] * 100, "… 1 more"]
    assert shorten_value({"n" * 101: "x"}) == {f"{'n' * 100}… (101 characters)": "x"}
