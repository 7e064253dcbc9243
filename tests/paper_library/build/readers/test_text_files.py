"""Titles made from file names."""

import pytest

from paper_library.build.readers.text_files import make_title_from_stem


@pytest.mark.parametrize(
    ("stem", "title"),
    [
        ("attention_is-all_you_need", "Attention is all you need"),
        ("A well-known title", "A well-known title"),
        ("smith2020", "Smith2020"),
        ("2301.00001", "2301.00001"),
        ("___", "Untitled"),
    ],
)
def test_a_file_name_makes_a_title(stem: str, title: str) -> None:
    assert make_title_from_stem(stem) == title
