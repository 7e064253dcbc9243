"""Phrase files: lists of words and patterns as plain text."""

import re
from importlib.resources import files

import pytest

from uraniborg.kernel.language.phrase_files import read_phrase_file, split_entries, translate_names, translate_pattern

FILES = [("uraniborg.kernel.language", "function_words.txt")] + [
    ("uraniborg.kernel.language", name) for name in ("phrases.txt", "numbers.txt")
]


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("last year", "last \n year"),
        ("(this|next) year", "next year"),
        ("don't", "don’t"),
        (r"\(now\)", "(now)"),
        ("{age} old", "5 years old"),
    ],
)
def test_a_pattern_matches_what_it_looks_like(pattern: str, text: str) -> None:
    assert re.fullmatch(translate_pattern(pattern, translate_names(["age = [0-9]+ years?"])), text)


def test_a_group_captures_nothing() -> None:
    assert re.compile(translate_pattern("(this|next) (year|month)")).groups == 0


def test_a_named_pattern_may_use_those_before_it() -> None:
    assert translate_names(["unit = (day|week)", "age = [0-9] {unit}"])["age"] == r"[0-9]\s+(?:day|week)"


def test_a_name_that_no_pattern_has_is_an_error() -> None:
    with pytest.raises(KeyError):
        translate_pattern("{unknown}")


@pytest.mark.parametrize(("package", "name"), FILES)
def test_a_file_starts_with_its_description_and_has_lists_of_entries(package: str, name: str) -> None:
    assert files(package).joinpath(name).read_text(encoding="utf-8").startswith("# ")
    lists = read_phrase_file(package, name)
    assert lists
    assert all(entries for entries in lists.values())


def test_indented_lines_continue_an_entry() -> None:
    places = dict(split_entries(read_phrase_file("uraniborg.kernel.language", "phrases.txt")["places"], " = "))
    assert "publications?|stud(y|ies)" in places["things"]
    assert "\n" not in places["things"]
