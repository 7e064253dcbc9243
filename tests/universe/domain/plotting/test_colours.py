"""Valid and visible colours."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from universe.domain.plotting.drawing import GREY, choose_body_colour, mix_colours


@given(st.text(max_size=12) | st.none() | st.integers() | st.from_regex(r"#[0-9a-fA-F]{3,8}", fullmatch=True))
def test_a_colour_is_always_six_digits(given: object) -> None:
    assert re.fullmatch(r"#[0-9a-f]{6}", choose_body_colour(given))


@pytest.mark.parametrize(
    ("given", "expected"), [("#FFD27D", "#ffd27d"), ("#9cf", "#99ccff"), ("gold", GREY), ("#fff\n", GREY)]
)
def test_colours_as_bodies_give_them(given: str, expected: str) -> None:
    assert choose_body_colour(given) == expected


def test_mixing_goes_from_the_one_to_the_other() -> None:
    assert mix_colours("#000000", "#ffffff", 0) == "#000000"
    assert mix_colours("#000000", "#ffffff", 0.5) == "#808080"
    assert mix_colours("#102030", "#ffffff", 1) == "#ffffff"
