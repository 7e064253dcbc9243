"""Ids cannot be guessed, or follow from content alone."""

import multiprocessing
import os
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uraniborg.kernel.ids import content_id, match_id_prefix, new_id
from uraniborg.kernel.language.messages import find_nearest_ids, format_did_you_mean

PARTS = st.lists(st.text() | st.binary(), max_size=5)


def test_new_ids_are_all_different_and_safe_in_urls_and_file_names() -> None:
    ids = {new_id() for _ in range(1000)}
    assert len(ids) == 1000
    assert all(re.fullmatch(r"[0-9a-f]{32}", made) for made in ids)


def test_a_prefix_names_the_kind_of_the_id() -> None:
    assert re.fullmatch(r"ses_[0-9a-f]{32}", new_id("ses"))


@given(PARTS)
def test_the_same_content_always_has_the_same_id(parts: list[str | bytes]) -> None:
    assert content_id(*parts) == content_id(*parts)


@given(PARTS, PARTS)
def test_different_content_has_different_ids(one: list[str | bytes], other: list[str | bytes]) -> None:
    as_bytes = [[p.encode() if isinstance(p, str) else p for p in parts] for parts in (one, other)]
    assert (content_id(*one) == content_id(*other)) == (as_bytes[0] == as_bytes[1])


def test_where_one_part_ends_and_the_next_begins_counts() -> None:
    assert len({content_id("ab", "c"), content_id("a", "bc"), content_id("abc"), content_id("abc", "")}) == 4


def test_a_content_id_does_not_change_between_releases() -> None:
    assert content_id("10.1000/182", "2019") == "dd88a5def72119f066d42aca764fea68"


def test_an_exact_id_wins_over_ids_that_begin_with_it() -> None:
    assert match_id_prefix("t1", ["t10", "t1", "t11"]) == ["t1"]
    assert match_id_prefix("t", ["u", "t2", "t1"]) == ["t1", "t2"]
    assert match_id_prefix("", ["t1"]) == []


ID = "3e34dd86e5e681766d1050ee82d6c075"


@pytest.mark.parametrize(
    "broken",
    [ID.upper(), ID[:8], f" '{ID}' ", ID[:-3], ID.replace("6", "7", 1), ID[1:], f"{ID[:10]}…", ID + "0"],
)
def test_a_broken_id_finds_the_id_that_was_meant(broken: str) -> None:
    others = [new_id() for _ in range(2_000)]
    assert find_nearest_ids(broken, [*others, ID])[0] == ID


def test_an_id_like_no_other_finds_none_and_at_most_three_are_found() -> None:
    assert find_nearest_ids(new_id(), [new_id() for _ in range(5_000)]) == []
    assert find_nearest_ids(" ", [ID]) == []
    assert find_nearest_ids("", []) == []
    assert len(find_nearest_ids("abc", [f"abc{number}" for number in range(9)])) == 3


def test_nearest_ids_are_a_question_that_can_be_copied() -> None:
    assert format_did_you_mean(["a1", "a2"]) == "Did you mean 'a1' or 'a2'? "
    assert format_did_you_mean([]) == ""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_forked_process_makes_other_ids() -> None:
    new_id()  # from now on, bytes for further ids may be in memory
    with multiprocessing.get_context("fork").Pool(1) as pool:
        theirs = set(pool.apply(_make_ids))
    assert not theirs & {new_id() for _ in range(200)}


def _make_ids() -> list[str]:
    return [new_id() for _ in range(200)]
