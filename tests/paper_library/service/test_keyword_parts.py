"""Keywords of which a text is a part: when it is one, and how the answer names them."""

from pathlib import Path

import pytest

from paper_library.service.library import Library
from paper_library.service.suggestions import describe_keywords_with_part, find_keywords_with_part
from tests.paper_library.service.libraries import make_library
from tests.requirements import requirement

KEYWORDS = ["Deep learning", "machine learning", "ML", "MLOps", "Training", "深度学习", "Lernen, tiefes"]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    papers = [{"title": f"Paper {at}", "keywords": [word]} for at, word in enumerate(KEYWORDS)]
    both = {"title": "Both", "keywords": ["deep learning"], "tags": ["deep learning"]}
    return make_library(tmp_path_factory.mktemp("parts"), both, *papers)


@requirement("PL-9")
@pytest.mark.parametrize(
    ("part", "names"),
    [
        ("learning", ["deep learning", "machine learning"]),
        ("learn", ["deep learning", "machine learning"]),
        ("earning", []),
        ("rain", []),
        ("train*", ["training"]),
        ("ml", ["ml"]),
        ("度学", ["深度学习"]),
        ("tiefes", ["lernen, tiefes"]),
        ("g l", []),
        ("**", []),
    ],
)
def test_a_part_begins_with_a_word_and_a_short_one_is_a_word(library: Library, part: str, names: list[str]) -> None:
    found = find_keywords_with_part(library.live.get_current(), part)
    assert sorted({name.lower() for _, name in found}) == sorted(names)


@requirement("PL-9")
def test_a_keyword_that_is_also_a_tag_is_named_and_its_papers_are_counted_once(library: Library) -> None:
    page = library.search_by_keyword("deep")
    assert page["total"] == 2
    (note,) = page["interpreted_query"]["ignored"]
    assert note.lower() == 'no paper has the keyword "deep"; it was read as a part of 1 keyword: deep learning.'


def test_at_most_five_keywords_are_named_and_the_others_are_counted() -> None:
    note = describe_keywords_with_part("star", [f"star {number}" for number in range(1_234)])
    assert note.endswith("1,234 keywords: star 0, star 1, star 2, star 3, star 4 and 1,229 more.")


def test_a_venue_that_is_also_a_part_of_keywords_is_named_with_its_filter(tmp_path: Path) -> None:
    library = make_library(tmp_path, {"title": "A", "venue": "Nature", "keywords": ["nature reserve"], "year": 2001})
    page = library.search_by_keyword("Nature")
    assert page["total"] == 1
    assert any('venue:"Nature"' in note for note in page["interpreted_query"]["ignored"])
