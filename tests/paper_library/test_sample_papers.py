"""The sample papers are complete, searchable and readable."""

# pyright: reportArgumentType=false

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from paper_library.domain.entries import BuildReport
from paper_library.service.build.builder import build_shelf
from paper_library.service.library import Library
from paper_library.service.shelf_catalog import SAMPLE_INPUTS, SAMPLE_PAPERS, sample_shelf
from paper_library.store.layout import read_manifest

BIBLIOGRAPHY, TEXTS, SHEETS = SAMPLE_INPUTS
SUMMARIES = SAMPLE_PAPERS / "summaries"
PAPERS = 37
WITH_GUIDE = {path.stem for path in TEXTS.glob("*.md") if "." not in path.stem}
WITH_SHEET = {path.stem for path in SHEETS.glob("*.md")}
BRIEF_KEYS = ["question", "method", "result", "limits", "summary"]
LATEX = re.compile(r"[\\{}$]")


@dataclass(frozen=True)
class Sample:
    report: BuildReport
    library: Library
    papers: list[dict[str, Any]]

    def found(self, query: str) -> list[str]:
        """Return the BibTeX keys of the papers that a query finds, best first."""
        hits = self.library.search(query)["results"]
        return [self.library.metadata(hit["paper_id"])["identifiers"]["bibkey"] for hit in hits]


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sample]:
    target = tmp_path_factory.mktemp("sample") / "shelf"
    report = build_shelf(SAMPLE_INPUTS, target, summaries=SUMMARIES)
    library = Library.open(target)
    everything = library.search("", limit=100)["results"]
    yield Sample(report, library, [library.metadata(hit["paper_id"]) for hit in everything])
    library.close()


def test_every_entry_becomes_a_paper_and_no_input_is_skipped_or_broken(sample: Sample) -> None:
    assert sample.report.problems == []
    assert (sample.report.papers, len(sample.papers)) == (PAPERS, PAPERS)


def test_only_texts_and_the_entries_of_their_names_are_merged(sample: Sample) -> None:
    texts = [[origin for origin in merge.origins if origin.endswith(".md")] for merge in sample.report.merges]
    entries = [
        [origin for origin in merge.origins if origin.startswith("papers.bib:")] for merge in sample.report.merges
    ]
    assert {len(one) for one in (*texts, *entries)} == {1}
    assert {Path(text).stem for (text,) in texts} == WITH_GUIDE | WITH_SHEET
    for merge, (text,) in zip(sample.report.merges, texts, strict=True):
        assert sample.library.metadata(merge.paper_id)["identifiers"]["bibkey"] == Path(text).stem


def test_the_sample_command_builds_the_same_shelf(sample: Sample, tmp_path: Path) -> None:
    assert read_manifest(sample_shelf(tmp_path / "shelf")).build_id == sample.report.build_id


def test_every_paper_has_authors_year_venue_and_abstract(sample: Sample) -> None:
    for paper in sample.papers:
        assert paper["authors"], paper["title"]
        assert 1950 < paper["year"] < 2025, paper["title"]
        assert paper["venue"], paper["title"]
        assert 150 < len(paper["abstract"]) < 700, paper["title"]
        assert paper["abstract"].startswith("Our summary: "), "our words must not pass for the authors' abstract"
        assert 3 <= len(paper["keywords"]) <= 6, paper["title"]
        assert paper["keywords"] == [keyword.lower() for keyword in paper["keywords"]]


def test_displayed_fields_contain_no_latex(sample: Sample) -> None:
    for paper in sample.papers:
        shown = [paper["title"], paper["venue"], paper["abstract"], *paper["authors"], *paper["keywords"]]
        assert [text for text in shown if LATEX.search(text)] == []


def test_dois_are_well_formed_and_no_identifier_is_shared(sample: Sample) -> None:
    identifiers = [paper["identifiers"] for paper in sample.papers]
    dois = [one["doi"] for one in identifiers if "doi" in one]
    arxiv = [one["arxiv"] for one in identifiers if "arxiv" in one]
    assert len(dois) == BIBLIOGRAPHY.read_text(encoding="utf-8").count("doi = {") == 32
    assert [doi for doi in dois if not re.fullmatch(r"10\.\d{4,5}/\S+", doi)] == []
    assert len(set(dois)) == len(dois)
    assert len(set(arxiv)) == len(arxiv)
    assert all("doi" in one or "arxiv" in one or one["bibkey"] == "srivastava2014" for one in identifiers)


def test_each_subject_has_about_a_third_of_the_papers_and_keywords_are_shared(sample: Sample) -> None:
    counted = {one["value"]: one["paper_count"] for one in sample.library.top_facets("keyword", limit=100)["result"]}
    assert (counted["exoplanets"], counted["solar cells"]) == (13, 12)
    assert sum(count > 1 for count in counted.values()) >= 20


def test_one_author_spelled_in_latex_and_in_unicode_is_one_person(sample: Sample) -> None:
    counted = {one["value"]: one["paper_count"] for one in sample.library.top_facets("author")["result"]}
    assert counted["Michael Grätzel"] == 2


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("planet transit", "charbonneau2000"),
        ("habitable zone", "kopparapu2013"),
        ("perovskite tandem", "alashouri2020"),
        ("solar cell efficiency limit", "shockley1961"),
        ("attention", "vaswani2017"),
        ("protein structure", "jumper2021"),
        ("overfitting", "srivastava2014"),
        ("TiO2", "oregan1991"),
        ("ELODIE", "mayor1995"),
        ("Radialgeschwindigkeit", "mayor1995"),
        ("Wirkungsgrad", "shockley1961"),
        ("Bandlucke", "shockley1961"),
        ("位置编码", "vaswani2017"),
        ("注意力", "vaswani2017"),
    ],
)
def test_a_simple_search_finds_the_intended_paper_first(sample: Sample, query: str, best: str) -> None:
    assert sample.found(query)[:1] == [best]


def test_a_search_for_stability_finds_the_papers_on_stability_before_all_others(sample: Sample) -> None:
    assert set(sample.found("perovskite stability")[:2]) == {"khenkin2020", "saliba2016"}


@pytest.mark.parametrize(("word", "bold"), [("Wirkungsgrad", "**Wirkungsgrad"), ("注意力", "**注意")])
def test_a_word_that_only_a_translation_has_is_shown_in_its_passage(sample: Sample, word: str, bold: str) -> None:
    (hit,) = sample.library.search(word)["results"]
    assert bold in hit["snippet_markdown"]


def test_texts_and_translations_start_with_a_note_that_they_are_not_the_paper(sample: Sample) -> None:
    for key in WITH_SHEET:
        assert sample.library.source(key).startswith(
            "*This is a data sheet, written for this sample shelf: numbers that the paper states, without its text."
        )
    for key in WITH_GUIDE:
        assert sample.library.source(key).startswith(
            "*This is a reader's guide, written for this sample shelf. It is not"
        )
    for key in ("mayor1995", "shockley1961"):
        assert "nicht der Text der Arbeit selbst" in sample.library.translation(key, "de").split("\n", 1)[0]
    assert "不是论文原文" in sample.library.translation("vaswani2017", "zh").split("\n", 1)[0]


def test_eight_papers_can_be_read_section_by_section(sample: Sample) -> None:
    with_text = [paper for paper in sample.papers if paper["has_source"]]
    readable = [paper for paper in with_text if paper["identifiers"]["bibkey"] in WITH_GUIDE]
    assert (len(readable), len(with_text)) == (len(WITH_GUIDE), len(WITH_GUIDE) + len(WITH_SHEET)) == (8, 9)
    for paper in readable:
        assert 400 <= len(sample.library.source(paper["paper_id"]).split()) <= 900
        titles = [section["title"] for section in paper["outline"]]
        assert titles == ["What was asked", "What they did", "What they found", "What came of it", "How to read it"]
        assert "start here" in paper["tags"]


def test_ten_papers_have_a_brief_summary_and_two_a_deep_one(sample: Sample) -> None:
    templates = {paper["identifiers"]["bibkey"]: paper["available_summary_templates"] for paper in sample.papers}
    brief = [key for key, names in templates.items() if "brief" in names]
    assert len(brief) == 10
    assert {key for key, names in templates.items() if "deep_read" in names} == {"gillon2017", "vaswani2017"}
    for key in brief:
        assert list(json.loads(sample.library.summary(key))) == BRIEF_KEYS
    for key in ("gillon2017", "vaswani2017"):
        assert {*BRIEF_KEYS, "claims", "open_questions"} <= set(json.loads(sample.library.summary(key, "deep_read")))


def test_a_paper_is_cited_with_its_own_entry(sample: Sample) -> None:
    assert sample.library.bibtex("hochreiter1997").startswith("@article{hochreiter1997,")
    # A macro would be undefined in the bibliography that the entry is copied to.
    assert "@string" not in BIBLIOGRAPHY.read_text(encoding="utf-8").lower()
