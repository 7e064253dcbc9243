"""Search for bodies by name."""

import pytest

from universe.domain.names_and_numbers import find_body_ids, shorten_names
from uraniborg.kernel.errors import InvalidInput, NotFound

STARS = {
    "t": {"name": "TRAPPIST-1"},
    "t-b": {"name": "TRAPPIST-1 b"},
    "t-c": {"name": "TRAPPIST-1 c"},
    "x1": {"name": "Twin"},
    "x2": {"name": "twin"},
    "n": {"name": None},
}


@pytest.mark.parametrize(
    ("given", "found"),
    [("t-b", "t-b"), ("T-B", "t-b"), ("trappist-1 B", "t-b"), (" TRAPPIST-1 ", "t"), ("c", "t-c"), ("N", "n")],
)
def test_a_body_is_found_by_id_name_or_last_word(given: str, found: str) -> None:
    assert find_body_ids(STARS, [given]) == [found]


def test_an_unknown_body_is_refused_with_the_nearest() -> None:
    with pytest.raises(NotFound, match="There is no body 'trapist-1 b'") as refused:
        find_body_ids(STARS, ["trapist-1 b"])
    assert refused.value.hint == "Did you mean t-b or t-c or t?"
    with pytest.raises(NotFound) as refused:
        find_body_ids(STARS, ["\u202eqqqqqqqq" * 1000])
    assert len(refused.value.message) < 120
    with pytest.raises(NotFound, match="no body ''"):
        find_body_ids({}, [""])


def test_a_name_that_two_bodies_have_is_refused_with_their_ids() -> None:
    with pytest.raises(InvalidInput, match="2 bodies are called 'TWIN'") as refused:
        find_body_ids(STARS, ["TWIN"])
    assert refused.value.hint == "Give an id: x1, x2."


@pytest.mark.parametrize(("count", "end"), [(8, "x8."), (9, "x8, ….")])
def test_of_many_bodies_with_one_name_the_first_eight_are_listed(count: int, end: str) -> None:
    with pytest.raises(InvalidInput, match=f"{count} bodies are called 'Twin'") as refused:
        find_body_ids({f"x{number}": {"name": "Twin"} for number in range(1, count + 1)}, ["Twin"])
    assert refused.value.hint == f"Give an id: x1, x2, x3, x4, x5, x6, x7, {end}"


def test_short_names_leave_out_the_common_part() -> None:
    assert shorten_names(["TRAPPIST-1", "TRAPPIST-1 b", "TRAPPIST-1 c"]) == ["TRAPPIST-1", "b", "c"]
    assert shorten_names(["Sun", "Mercury", "Mars"]) == ["Sun", "Mercury", "Mars"]
    assert shorten_names(["A", "Star B", "Star C"]) == ["A", "Star B", "Star C"]
    assert shorten_names(["Sun", "A comet with a long name"]) == ["Sun", "A comet with …"]
    assert shorten_names(["A", "A very long name 1", "A very long name 2"], 8) == ["A", "… name 1", "… name 2"]
    assert shorten_names(["", "\n\x1b[31m"]) == ["?", "[31m"]
    assert shorten_names([]) == []
    assert shorten_names(["Alpha Centauri A", "Alpha Centauri B"], 12) == ["A", "B"]
    assert shorten_names(["Proxima Centauri", "Proxima Centauri"], 12) == ["Centauri", "Centauri"]
