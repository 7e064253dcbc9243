"""Boolean queries on a shelf: exactly the papers that match, all of them counted, the best first."""

# pyright: reportArgumentType=false

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from paper_library.errors import OutOfBounds
from paper_library.service import page_ranking
from paper_library.service.library import Library
from tests.paper_library.service.libraries import build_shelf_of, make_library
from uraniborg.kernel.language.words import extract_terms, split_words

PAPERS: list[dict[str, Any]] = [
    {"title": "Heat transfer in kilns", "abstract": "Bricks dry slowly.", "year": 1990, "doi": "10.1000/kiln"},
    {"title": "Kilns", "abstract": "Heat-transfer of hypersonic ovens.", "year": 2001},
    {"title": "Transfer of warm clay", "abstract": "The heat of ovens.", "keywords": ["glazing"]},
    {"title": "Glazes", "authors": ["Ada Brick", "Jörg Müller"], "venue": "Journal of Ovens", "year": 2010},
    {"title": "Trockene Öfen", "abstract": "Die Wärme der Ziegel.", "year": 2015, "arxiv": "2101.00001"},
    {"title": "Cooling towers", "abstract": "Coolants cool.", "text": "Heat transfer is in the text only."},
    {"title": "窯の熱伝達", "abstract": "温度", "year": 2020},
]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    return make_library(tmp_path_factory.mktemp("kilns"), *PAPERS)


def find_titles(library: Library, query: str, **options: Any) -> set[str]:
    found = library.search_boolean(query, limit=100, **options)
    assert found.total == len(found.papers)
    return {paper["title"] for paper in found.papers}


@pytest.mark.parametrize(
    ("query", "titles"),
    [
        ("heat AND oven", {"Kilns", "Transfer of warm clay"}),
        ("HEAT Ovens", {"Kilns", "Transfer of warm clay"}),
        ('"heat transfer"', {"Heat transfer in kilns", "Kilns"}),
        ("heat-transfer", {"Heat transfer in kilns", "Kilns"}),
        ('"heat transfer" AND NOT hypersonic', {"Heat transfer in kilns"}),
        ("kilns -hypersonic", {"Heat transfer in kilns"}),
        ("kilns NOT (hypersonic OR bricks)", set[str]()),
        ("(kilns OR clay) AND (brick OR warm)", {"Heat transfer in kilns", "Transfer of warm clay"}),
        ("kilns OR clay AND glazing", {"Heat transfer in kilns", "Kilns", "Transfer of warm clay"}),
        ("hyperson*", {"Kilns"}),
        ('"heat transf*" OR "cool* tower"', {"Heat transfer in kilns", "Kilns"}),
        ("müller", {"Glazes"}),
        ("mueller OR ofen", {"Glazes", "Trockene Öfen"}),
        ("öfen AND wärme", {"Trockene Öfen"}),
        ("熱伝達", {"窯の熱伝達"}),
        ("glazing AND heat", {"Transfer of warm clay"}),
        ("heat AND of AND ovens", {"Kilns", "Transfer of warm clay"}),
        ("", set[str]()),
        ("NOT heat", set[str]()),
        ("submarine", set[str]()),
        ('((( " AND OR', set[str]()),
    ],
)
def test_a_query_finds_exactly_the_papers_that_match(library: Library, query: str, titles: set[str]) -> None:
    assert find_titles(library, query) == titles


def test_wanted_words_match_names_and_excluded_words_do_not(library: Library) -> None:
    assert find_titles(library, "brick AND glazes") == {"Glazes"}
    assert "Glazes" in find_titles(library, 'glazes NOT "Journal of Ovens"')
    assert find_titles(library, 'glazes AND "Journal of Ovens" NOT brick') == {"Glazes"}


def test_full_texts_are_not_compared_so_that_the_record_shows_the_match(library: Library) -> None:
    assert "Cooling towers" not in find_titles(library, '"heat transfer" OR heat')


def test_papers_without_a_year_are_within_all_years(library: Library) -> None:
    query = "heat OR glazes OR öfen"
    assert find_titles(library, query, years=(2001, 2010)) == {"Kilns", "Glazes", "Transfer of warm clay"}
    assert find_titles(library, query, years=(None, 1990)) == {"Heat transfer in kilns", "Transfer of warm clay"}
    assert find_titles(library, query, years=(2012, None)) == {"Trockene Öfen", "Transfer of warm clay"}


@pytest.mark.parametrize(
    ("query", "titles"),
    [
        ('"10.1000/KILN"', {"Heat transfer in kilns"}),
        ('"https://doi.org/10.1000/kiln" OR "arXiv:2101.00001v2"', {"Heat transfer in kilns", "Trockene Öfen"}),
        ('"10.1000/nothing"', set[str]()),
        ('"10.1000/kiln" AND hypersonic', set[str]()),
    ],
)
def test_a_query_of_identifiers_finds_the_papers_that_have_them(library: Library, query: str, titles: set[str]) -> None:
    assert find_titles(library, query) == titles


def test_all_matches_are_counted_and_the_best_are_returned_first(tmp_path: Path) -> None:
    papers = [{"title": f"Study {number}", "abstract": "salt"} for number in range(250)]
    library = make_library(tmp_path, *papers, {"title": "Salt of salt lakes", "abstract": "salt and salt"})
    found = library.search_boolean("salt", limit=3)
    assert (found.total, len(found.papers), found.papers[0]["title"]) == (251, 3, "Salt of salt lakes")
    assert len(library.search_boolean("salt", limit=1_000).papers) == 251


def test_a_phrase_with_a_prefix_of_too_many_words_is_refused_with_a_remedy(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_ranking, "WORDS_OF_PREFIX", 1)
    with pytest.raises(OutOfBounds, match="h\\* in a phrase") as refused:
        library.search_boolean('"h* transfer"', limit=10)
    assert "before the *" in refused.value.hint


def test_no_text_makes_the_query_fail(library: Library) -> None:
    for text in ("x" * 9_000, "x" * 9_000 + "*", '"a*" OR *', "(" * 500, "c++ NOT c#", "\x00", "\ud800", "a:b/c* -d"):
        library.search_boolean(text, limit=10)


def count_in_texts(papers: list[dict[str, Any]], phrase: str, word: str, *, excluded: bool) -> int:
    """Return the number of papers whose title and abstract have the phrase, and have or lack the word."""
    texts = [f"{paper['title']} {paper.get('abstract') or ''}" for paper in papers]
    with_phrase = [text for text in texts if f" {phrase} " in f" {' '.join(split_words(text))} "]
    return sum((word in extract_terms(text)) != excluded for text in with_phrase)


@pytest.mark.parametrize(
    ("path", "query", "phrase", "word"),
    [
        ("ir/cranfield/corpus.jsonl.gz", '"heat transfer" AND NOT hypersonic', "heat transfer", "hyperson"),
        pytest.param(
            *("corpus/acl_anthology.part0.jsonl.gz", '"hate speech" AND danish', "hate speech", "danish"),
            marks=pytest.mark.soak,
        ),
    ],
)
def test_a_real_collection_gives_as_many_papers_as_a_plain_count(
    shared_data: Path, tmp_path: Path, path: str, query: str, phrase: str, word: str
) -> None:
    papers = [json.loads(line) for line in gzip.decompress((shared_data / path).read_bytes()).splitlines()]
    found = Library.open(build_shelf_of(tmp_path, papers)).search_boolean(query, limit=1_000)
    right = count_in_texts(papers, phrase, word, excluded="NOT" in query)
    assert found.total == len(found.papers) == right > 0
    assert count_in_texts(found.papers, phrase, word, excluded="NOT" in query) == right
