"""Papers in markdown, with front matter, with broken front matter, and without any."""

from pathlib import Path

import pytest

from paper_library.service.build.readers.markdown_files import (
    read_bibliography_names,
    read_translation,
    split_translation_name,
)
from tests.paper_library.service.build.readers.files import (
    get_only_entry,
    get_only_problem,
    select_entries,
    select_problems,
    write_and_read,
    write_file,
)

JOSS = """---
title: 'A *fine* tool: `tool` in **Python**'
tags:
  - Python
  - astronomy
authors:
  - name: Ada Lovelace^[corresponding author]
    affiliation: "1, 2"
  - given-names: Charles
    surname: Babbage
    affiliation: 2
affiliations:
  - name: University of London
    index: 1
  - name: Analytical Society
    index: 2
date: 18.10.2022
doi: 10.21105/joss.01234
arxiv: 2301.00010
citekey: lovelace2022
journal: JOSS
lang: no
bibliography: paper.bib
---

# Summary

Text.

# Abstract

What it is
about.

# References
"""


def test_front_matter_describes_the_paper_and_the_body_is_its_source(tmp_path: Path) -> None:
    path = write_file(tmp_path, "paper.md", JOSS)
    entry = get_only_entry(write_and_read(tmp_path, "paper.md", JOSS))
    assert entry.title == "A fine tool: tool in Python"
    assert entry.authors == ["Ada Lovelace", "Charles Babbage"]
    assert entry.institutions == ["University of London", "Analytical Society"]
    assert (entry.year, entry.month, entry.venue) == (2022, 10, "JOSS")
    assert entry.identifiers == {"doi": "10.21105/joss.01234", "arxiv": "2301.00010", "bibkey": "lovelace2022"}
    assert (entry.tags, entry.keywords, entry.language) == (["Python", "astronomy"], [], "no")
    assert entry.abstract == "What it is about."
    assert entry.source.startswith("# Summary")
    assert entry.source.endswith("# References")
    assert read_bibliography_names(path) == ["paper.bib"]


def test_a_value_like_a_number_keeps_its_zeros(tmp_path: Path) -> None:
    entry = get_only_entry(write_and_read(tmp_path, "a.md", "---\ntitle: 1984\narxiv: 2301.10\nyear: 2019\n---\ntext"))
    assert (entry.title, entry.identifiers["arxiv"], entry.year) == ("1984", "2301.10", 2019)


def test_the_year_is_preferred_to_the_date_and_the_first_value_of_a_list_counts(tmp_path: Path) -> None:
    front = "---\ndate: 2021-03-01\nyear: 2019\njournal: [JOSS, JORS]\nvenue: Icarus\n---\ntext"
    entry = get_only_entry(write_and_read(tmp_path, "a.md", front))
    assert (entry.year, entry.month, entry.venue) == (2019, 3, "JOSS")


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# A title\n\ntext", "A title"),
        ("# A title #\n\ntext", "A title"),
        ("# C#\n\ntext", "C#"),
        ("## Smaller\n\n# The title {#sec:x}\n", "The title"),
        ("A title\n=======\n\ntext", "A title"),
        ("```\n# a comment\n```\n\n# The title", "The title"),
        ("text only", "Some fine paper"),
        ("---\n\nA rule, then text.\n\n---\n", "Some fine paper"),
        ("# [A *linked* title](https://example.org)", "A linked title"),
        ("#hashtag\n\ntext", "Some fine paper"),
    ],
)
def test_without_front_matter_the_title_is_the_first_heading_or_the_file_name(
    tmp_path: Path, text: str, title: str
) -> None:
    entry = get_only_entry(write_and_read(tmp_path, "some_fine-paper.md", text))
    assert entry.title == title
    assert entry.source == text.strip()
    assert entry.abstract == ""


@pytest.mark.parametrize(
    ("front", "title"),
    [
        ("title: On this: and that\nauthors: [unclosed", "On this: and that"),
        ("title: 'T'\n\ttab: x", "T"),
        ("title: T\nkey: [" + "[" * 5_000, "T"),
        ("a: &a [*a]\ntitle: T", "T"),
    ],
    ids=["colon", "tab", "deep", "recursive"],
)
def test_broken_front_matter_is_reported_and_the_paper_is_read(tmp_path: Path, front: str, title: str) -> None:
    found = write_and_read(tmp_path, "paper.md", f"---\n{front}\n---\n\nBody.\n")
    assert [(entry.title, entry.source) for entry in select_entries(found)] == [(title, "Body.")]
    assert ["front matter" in problem.reason and problem.kind for problem in select_problems(found)] == ["broken"]


def test_half_a_character_in_front_matter_is_replaced(tmp_path: Path) -> None:
    front = '---\ntitle: "Half \\uD83D of one"\nauthors: ["\\uDC00 Kepler"]\n---\n\nText.\n'
    entry = get_only_entry(write_and_read(tmp_path, "a.md", front))
    assert (entry.title, entry.authors) == ("Half \ufffd of one", ["\ufffd Kepler"])


def test_the_line_of_broken_front_matter_is_its_line_in_the_file(tmp_path: Path) -> None:
    found = write_and_read(tmp_path, "paper.md", "---\ntitle: T\nkey: a: b\n---\nBody.")
    assert "in line 3" in select_problems(found)[0].reason


def test_very_long_front_matter_is_not_parsed(tmp_path: Path) -> None:
    found = write_and_read(tmp_path, "paper.md", "---\ntitle: T\nnote: " + "x" * 300_000 + "\n---\nBody.")
    assert select_entries(found)[0].title == "T"
    assert "longer than" in select_problems(found)[0].reason


@pytest.mark.parametrize("name", ["README.md", "CHANGELOG.md", "license.md", "Code-of-Conduct.md"])
def test_project_files_are_skipped_unless_they_have_front_matter(tmp_path: Path, name: str) -> None:
    problem = get_only_problem(write_and_read(tmp_path, name, "# Project\n\ntext"))
    assert problem.kind == "skipped"
    assert "front matter" in problem.reason
    assert get_only_entry(write_and_read(tmp_path, name, "---\ntitle: A paper\n---\ntext")).title == "A paper"


@pytest.mark.parametrize("content", ["", " \n\t\n", "\ufeff"])
def test_an_empty_file_is_skipped(tmp_path: Path, content: str) -> None:
    assert get_only_problem(write_and_read(tmp_path, "a.md", content)).kind == "skipped"


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("paper.zh.md", ("paper", "zh")),
        ("paper.pt-BR.md", ("paper", "pt-br")),
        ("a.b.deu.markdown", ("a.b", "deu")),
        ("paper.zh-Hans-CN.md", ("paper", "zh-hans-cn")),
        ("paper.md", None),
        ("paper.v2.md", None),
        ("paper.final.md", None),
        (".zh.md", None),
        ("paper.zh.txt", None),
    ],
)
def test_the_language_of_a_translation_is_in_its_name(name: str, parts: tuple[str, str] | None) -> None:
    assert split_translation_name(name) == parts


def test_a_translation_is_read_without_its_front_matter(tmp_path: Path) -> None:
    assert (
        read_translation(write_file(tmp_path, "a.fr.md", "---\ntitle: T\n---\n\n# Titre\r\n\r\nTexte"))
        == "# Titre\n\nTexte"
    )


def test_front_matter_can_name_several_bibliographies_or_none(tmp_path: Path) -> None:
    assert read_bibliography_names(tmp_path / "gone.md") == []
    assert read_bibliography_names(write_file(tmp_path, "a.md", "---\nbibliography: [a.bib, b.bib]\n---\n")) == [
        "a.bib",
        "b.bib",
    ]
    assert read_bibliography_names(write_file(tmp_path, "b.md", "# No front matter")) == []


@pytest.mark.timeout(30)
@pytest.mark.parametrize(
    "text", ["# a" + " " * 300_000 + "b", "# " + "*a " * 100_000, "a" + " " * 300_000 + "\n\nb", "# " + "[" * 300_000]
)
def test_hostile_lines_are_read_in_a_time_that_grows_with_their_size(tmp_path: Path, text: str) -> None:
    assert get_only_entry(write_and_read(tmp_path, "a.md", text)).title


@pytest.mark.parametrize(
    ("front", "title"),
    [("title: Comets\nsubtitle: of *1577*", "Comets: of 1577"), ("subtitle: Alone", "Alone"), ("title: Only", "Only")],
)
def test_a_subtitle_is_part_of_the_title(tmp_path: Path, front: str, title: str) -> None:
    assert get_only_entry(write_and_read(tmp_path, "a.md", f"---\n{front}\n---\n\nText.\n")).title == title
