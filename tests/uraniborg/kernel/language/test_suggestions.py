"""What was probably meant by an unknown name."""

import pytest

from uraniborg.kernel.language.messages import find_nearest_name, find_nearest_names, format_did_you_mean, resembles


@pytest.mark.parametrize(
    ("word", "known", "meant"),
    [
        ("fetsh", ["fetch", "save"], ["fetch"]),
        ("FETCH", ["fetch", "save"], ["fetch"]),
        ("cmd", ["command", "cwd"], ["cwd", "command"]),
        ("zebra", ["fetch", "save"], []),
        ("", ["a"], []),
        ("name", [], []),
        ("star", ["stars", "start", "stare", "starz"], ["stars", "start", "stare"]),
    ],
)
def test_at_most_three_names_are_suggested_and_the_most_similar_first(
    word: str, known: list[str], meant: list[str]
) -> None:
    assert find_nearest_names(word, known) == meant
    assert find_nearest_name(word, known) == next(iter(meant), None)


def test_names_beyond_the_first_twenty_thousand_are_not_compared() -> None:
    many = [f"n{number}" for number in range(20_000)]
    assert find_nearest_names("fetch", [*many[:-1], "fetch"]) == ["fetch"]
    assert find_nearest_names("fetch", [*many, "fetch"]) == []


def test_one_name_of_more_than_a_thousand_is_not_looked_for() -> None:
    assert find_nearest_name("node_5x", [f"node_{number}" for number in range(1_000)]) is not None
    assert all(find_nearest_name("node_5x", [f"node_{n}" for n in range(1_001)]) is None for _ in range(100))


def test_a_question_names_each_suggestion_and_is_empty_without_one() -> None:
    assert format_did_you_mean(["a", "b"]) == "Did you mean 'a' or 'b'? "
    assert format_did_you_mean([]) == ""
    assert format_did_you_mean(["x" * 500]) == f"Did you mean '{'x' * 100}'? "


def test_a_table_with_one_wrong_letter_resembles_the_right_one() -> None:
    assert resembles("serch", "search", 0.85)
    assert not resembles("library", "search", 0.85)
