"""Each hit has its matched fields and, for a passage of the source, section and offset."""

# pyright: reportReturnType=false

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paper_library.domain.markdown import extract_plain_text
from paper_library.service.build.builder import build_shelf
from paper_library.service.hits import MATCHED_FIELDS, find_passage_offset
from paper_library.service.library import Library
from tests.paper_library.service.libraries import make_library

ORBITS = """---
title: Silent Orbits
author: Ada Müller
year: 2020
journal: Annals of Moons
doi: 10.5555/silent.1
keywords: [tides, resonances]
tags: [jupiter]
affiliations:
  - name: Institute of Hven
abstract: Moons show one face. Their orbits are slow.
---
# Introduction

Moons move. See [the catalogue](https://example.org/a/very/long/address) and **much** more.

## Methods

We used a *sextant* and the [method of Kepler](https://example.org/kepler), described by Kepler in full.

# Results

The eccentricity is `0.04` and the moons of GJ-1214b were not seen. Tides were measured twice.
"""
GERMAN = "# Einleitung\n\nMonde zeigen ein Gesicht, sagt das Fernrohr.\n"


@pytest.fixture(scope="module", params=["\n", "\r\n"], ids=["lf", "crlf"])
def moons(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Library:
    folder = tmp_path_factory.mktemp("moons")
    (folder / "in").mkdir()
    for name, text in {"orbits.md": ORBITS, "orbits.de.md": GERMAN}.items():
        (folder / "in" / name).write_bytes(text.replace("\n", request.param).encode())
    (folder / "in" / "orbits.deep_read.json").write_text('{"answer": "A summary of gravitation."}', encoding="utf-8")
    build_shelf([folder / "in"], folder / "shelf")
    return Library.open(folder / "shelf")


def find_hit(library: Library, query: str) -> dict[str, Any]:
    (hit,) = library.search(query)["results"]
    return hit


@pytest.mark.parametrize(
    ("query", "matched"),
    [
        ("silent", ["title"]),
        ("orbit", ["title", "abstract"]),
        ("face", ["abstract"]),
        ("moons", ["abstract", "venue", "full_text"]),
        ("tides", ["keyword", "full_text"]),
        ("resonance", ["keyword"]),
        ("jupiter", ["tag"]),
        ("mueller", ["author"]),
        ("annals", ["venue"]),
        ("10.5555/silent.1", ["identifier"]),
        ("sextant", ["full_text"]),
        ("fernrohr", ["full_text"]),
        ("silent sextant", ["title", "full_text"]),
        ("author:müller", ["author"]),
        ("doi:10.5555/silent.1", ["identifier"]),
        ("institution:hven", ["institution"]),
        ("tag:jupiter face", ["abstract", "tag"]),
        ("year:2020 silent", ["title"]),
        ("title:orbits", ["title"]),
        ('"silent orbits"', ["title"]),
        ('"one face"', ["abstract"]),
        ('"silent face" moons', ["title", "abstract", "venue", "full_text"]),
        ("GJ-1214b", ["full_text"]),
        ("resonan*", ["keyword"]),
        ("year:2020", []),
        ("", []),
    ],
)
def test_a_hit_lists_the_matched_fields(moons: Library, query: str, matched: list[str]) -> None:
    assert find_hit(moons, query)["matched_fields"] == matched
    assert set(matched) <= set(MATCHED_FIELDS)


@pytest.mark.parametrize(
    ("query", "section", "begins"),
    [
        ("sextant", "Methods", "We used a *sextant*"),
        ("kepler", "Methods", "We used a *sextant*"),
        ("eccentricity", "Results", "The eccentricity is"),
        ('"method of kepler"', "Methods", "We used"),
        ("catalogue", "Introduction", "See [the catalogue]"),
        ("GJ-1214b", "Results", "The eccentricity is"),
        ("title:silent eccentricity", "Results", "The eccentricity is"),
    ],
)
def test_a_passage_of_the_source_has_its_section_and_offset(
    moons: Library, query: str, section: str, begins: str
) -> None:
    hit = find_hit(moons, query)
    assert hit["section"] == section
    assert moons.source(hit["paper_id"])[hit["offset"] :].startswith(begins)


@pytest.mark.parametrize("query", ["silent", "face", "mueller", "fernrohr", "", "year:2020", "silent OR face"])
def test_a_passage_from_elsewhere_has_neither_section_nor_offset(moons: Library, query: str) -> None:
    hit = find_hit(moons, query)
    assert (hit["section"], hit["offset"]) == (None, None)


def test_a_phrase_that_only_the_source_has_is_shown_in_a_passage_of_the_source(moons: Library) -> None:
    hit = find_hit(moons, '"moons move"')
    assert "**Moons** **move**" in hit["snippet_markdown"]
    assert (hit["section"], hit["matched_fields"]) == ("Introduction", ["full_text"])


@pytest.mark.parametrize(
    ("query", "section", "marked"),
    [
        ("slow eccentricity tides", "Results", "**eccentricity**"),
        ("moons orbits", None, "**orbits**"),
        ("moons face gesicht", None, "**face**"),
    ],
    ids=["more words in the source", "all words in the abstract", "no passage has more words"],
)
def test_the_passage_with_the_most_different_words_is_shown(
    moons: Library, query: str, section: str | None, marked: str
) -> None:
    hit = find_hit(moons, query)
    assert hit["section"] == section
    assert marked in hit["snippet_markdown"]


def test_markup_is_neither_shown_nor_needed_in_a_search(tmp_path: Path) -> None:
    paper = {"title": "`biopixR` for $k$-mers", "abstract": "The *K*ₘ of $k$-mers."}
    (tmp_path / "marks.json").write_text(json.dumps(paper), encoding="utf-8")
    text = "---\ntitle: Enzymes\n---\n# The `case` of *K*ₘ\n\nWe saw M*m*PPOX.\n"
    (tmp_path / "enzymes.md").write_text(text, encoding="utf-8")
    build_shelf([tmp_path / "marks.json", tmp_path / "enzymes.md"], tmp_path / "shelf")
    library = Library.open(tmp_path / "shelf")
    found = find_hit(library, "mmppox")
    assert found["snippet_markdown"] == "The case of Kₘ. We saw **MmPPOX**."
    assert found["section"] == "The case of Kₘ"
    found = find_hit(library, "mers")
    assert (found["title"], found["snippet_markdown"]) == ("biopixR for k-mers", "The Kₘ of k-**mers**.")


def test_a_source_without_headings_has_offsets_and_no_section(tmp_path: Path) -> None:
    (tmp_path / "plain.md").write_text("---\ntitle: Plain\n---\nOnly a sextant here.\n", encoding="utf-8")
    build_shelf([tmp_path / "plain.md"], tmp_path / "shelf")
    hit = find_hit(Library.open(tmp_path / "shelf"), "sextant")
    assert hit["section"] is None
    assert hit["offset"] is not None


def test_a_section_after_the_listed_headings_is_named(tmp_path: Path) -> None:
    text = "".join(f"# Part {number}\n\nText {number}.\n\n" for number in range(260))
    (tmp_path / "long.md").write_text(f"---\ntitle: Long\n---\n{text}A sextant.\n", encoding="utf-8")
    build_shelf([tmp_path / "long.md"], tmp_path / "shelf")
    library = Library.open(tmp_path / "shelf")
    hit = find_hit(library, "sextant")
    assert len(library.metadata(hit["paper_id"])["outline"]) == 200
    assert hit["section"] == "Part 259"


def test_a_match_in_another_spelling_is_bold(tmp_path: Path) -> None:
    library = make_library(tmp_path, {"title": "Waves", "abstract": "An equation of Schrödinger."})
    assert find_hit(library, "schroedinger")["snippet_markdown"] == "An equation of **Schrödinger**."


def test_keyword_hits_and_similar_papers_have_the_same_keys(moons: Library) -> None:
    (hit,) = moons.search_by_keyword("tides")["results"]
    assert hit["matched_fields"][:1] == ["keyword"]
    assert hit.keys() == find_hit(moons, "silent").keys() >= {"matched_fields", "section", "offset"}
    (hit,) = moons.search_by_keyword("jupiter")["results"]
    assert hit["matched_fields"] == ["tag"]


WORDS = st.sampled_from(
    ["moon", "orbit", "*tide*", "**face**", "[link](http://x.org/moon)", "`code`", "Größe", "的", "a"]
)
PARAGRAPHS = st.lists(st.lists(WORDS, min_size=1, max_size=12).map(" ".join), min_size=1, max_size=12)


@given(PARAGRAPHS, st.data())
def test_a_passage_is_located_at_its_words(paragraphs: list[str], data: st.DataObject) -> None:
    source = "# Heading\n\n" + "\n\n".join(paragraphs)
    plain = extract_plain_text(source)
    starts = [0, *(at + 1 for at, char in enumerate(plain) if char == " ")]
    start = data.draw(st.sampled_from(starts))
    passage = plain[start : start + 200]
    found = find_passage_offset(source, passage, start)
    assert found is not None
    assert extract_plain_text(source[found:]).lstrip("*`_ ").startswith(passage.split()[0].rstrip(".")[:3])


@pytest.mark.parametrize("passage", ["", "...", "absent words here", "的"])
def test_a_passage_that_the_source_lacks_is_not_located(passage: str) -> None:
    assert find_passage_offset("# Heading\n\nSome text.", passage, 0) is None


def test_locating_a_passage_in_a_hostile_text_terminates(tmp_path: Path) -> None:
    assert find_passage_offset("fish " * 100_000, "fish " * 7 + "bird", 0) is None
