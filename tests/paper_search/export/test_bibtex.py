"""Tests of the BibTeX export: it parses back to the same papers."""

import pytest
from hypothesis import example, given

from paper_search.export import export_bibtex
from paper_search.models import Author, PaperCollection, WorkType
from tests.paper_search.export.reading import read_bibtex
from tests.paper_search.export.samples import (
    CONCERN,
    CORRECTION,
    FLAG,
    RETRACTION,
    collection,
    collections,
    composed,
    list_people,
    paper,
    untimed,
)
from tests.requirements import requirement
from uraniborg.kernel.bibliography.names import split_name


@requirement("PS-C4", "PS-X2", "PS-X3")
def test_an_article_is_written_field_by_field_in_a_fixed_order() -> None:
    made = paper(
        "Perovskite solar cells",
        "Wang, Lei",
        "Alice Smith",
        year=2023,
        venue="Journal of Light & Matter",
        volume="12",
        issue="3",
        pages="101–110",
        publisher="Hven Press",
        doi="10.1000/a_b",
        full_text_url="https://example.org/a_b?x=1&y=2",
        abstract="Never exported.",
        bibtex="@article{stored, title = {Never used}}",
    )
    assert export_bibtex(collection(made)) == "\n".join(
        [
            "@article{wang_2023_perovskite,",
            "  author = {Wang, Lei and Alice Smith},",
            "  title = {{Perovskite solar cells}},",
            "  year = {2023},",
            r"  journal = {Journal of Light \& Matter},",
            "  volume = {12},",
            "  number = {3},",
            "  pages = {101--110},",
            "  publisher = {Hven Press},",
            "  doi = {10.1000/a_b},",
            "  url = {https://example.org/a_b?x=1&y=2}",
            "}",
        ]
    )


@requirement("PS-X2")
def test_an_empty_collection_gives_an_empty_string() -> None:
    assert export_bibtex(collection()) == ""


@requirement("PS-X2")
def test_entries_are_joined_by_one_blank_line_and_nothing_follows_the_last() -> None:
    text = export_bibtex(collection(paper("One"), paper("Two"), paper("Three")))
    assert text.count("\n\n") == 2
    assert [part[0] + part[-1] for part in text.split("\n\n")] == ["@}", "@}", "@}"]


@requirement("PS-X2")
def test_missing_fields_are_left_out() -> None:
    assert export_bibtex(collection(paper(""))) == "@article{unknown_nd_untitled,\n  author = {Unknown}\n}"


@requirement("PS-X2")
@pytest.mark.parametrize("names", [(), ("",), (" \n", "\x00")])
def test_a_paper_without_named_authors_is_by_unknown(names: tuple[str, ...]) -> None:
    assert read_bibtex(export_bibtex(collection(paper("Cells", *names))))[0].authors == ["Unknown"]


@pytest.mark.parametrize(
    ("work_type", "entry_type", "venue_field"),
    [
        (None, "article", "journal"),
        (WorkType.ARTICLE, "article", "journal"),
        (WorkType.CONFERENCE, "inproceedings", "booktitle"),
        (WorkType.PREPRINT, "misc", "howpublished"),
        (WorkType.BOOK, "book", "series"),
        (WorkType.CHAPTER, "incollection", "booktitle"),
        (WorkType.THESIS, "phdthesis", "school"),
        (WorkType.DATASET, "misc", "howpublished"),
        (WorkType.REPORT, "techreport", "institution"),
        (WorkType.OTHER, "misc", "howpublished"),
    ],
)
def test_the_entry_type_follows_from_the_known_fields(
    work_type: WorkType | None, entry_type: str, venue_field: str
) -> None:
    entry = read_bibtex(export_bibtex(collection(paper("Cells", venue="Hven", work_type=work_type))))[0]
    assert entry.kind == entry_type
    assert entry.raw[venue_field] == "Hven"


def test_every_kind_of_work_has_an_entry_type() -> None:
    for work_type in WorkType:
        assert export_bibtex(collection(paper(work_type=work_type))).startswith("@")


@pytest.mark.parametrize(("kind", "field"), [(WorkType.THESIS, "school"), (WorkType.REPORT, "institution")])
def test_the_publisher_of_a_thesis_or_report_is_where_it_was_written(kind: WorkType, field: str) -> None:
    made = paper("Cells", publisher="University of Hven", venue="Some repository", work_type=kind)
    entry = read_bibtex(export_bibtex(collection(made)))[0]
    assert entry.raw[field] == "University of Hven"
    assert "publisher" not in entry.raw
    unknown = read_bibtex(export_bibtex(collection(paper("Cells", work_type=kind))))[0]
    assert field not in unknown.raw


def test_a_preprint_carries_its_arxiv_number() -> None:
    entry = read_bibtex(export_bibtex(collection(paper(identifiers={"arxiv": "2301.00001"}))))[0]
    assert entry.kind == "misc"
    assert (entry.raw["eprint"], entry.raw["archiveprefix"]) == ("2301.00001", "arXiv")


def test_a_published_paper_with_an_arxiv_number_stays_an_article() -> None:
    entry = read_bibtex(export_bibtex(collection(paper(identifiers={"arxiv": "2301.00001"}, venue="Light"))))[0]
    assert (entry.kind, entry.raw["eprint"]) == ("article", "2301.00001")


@requirement("PS-X4")
def test_special_characters_in_a_title_are_escaped_as_specified() -> None:
    text = export_bibtex(collection(paper("A & B: 100% of x_1 {set} #2")))
    assert r"title = {{A \& B: 100\% of x\_1 \{set\} \#2}}" in text


@requirement("PS-X4")
@pytest.mark.parametrize(
    "title", ["{", "}", "a } b", "{{ a", "\\", "\\}", "}}\n@article{evil, title={x}}", "100%", "@comment{"]
)
def test_no_title_can_break_out_of_its_entry(title: str) -> None:
    entries = read_bibtex(export_bibtex(collection(paper(title, "Ada Brook"), paper("Next"))))
    assert [entry.decoded["title"] for entry in entries] == [composed(title), "Next"]


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("Alice Smith", "Alice Smith"),
        ("Wang, Lei", "Wang, Lei"),
        ("Hill, Jr., Sam", "Hill, Jr., Sam"),
        ("Jan van der Berg", "Jan van der Berg"),
        ("Jürgen Müller", r"J{\"u}rgen M{\"u}ller"),
        ("Plato", "Plato"),
        ("ATLAS Collaboration", "{ATLAS Collaboration}"),
        ("Hill and Sons", "{Hill and Sons}"),
        ("others", "{others}"),
        ("and", "{and}"),
        ("Wang Lei", "{Wang Lei}"),
        ("Schmidt KA", "{Schmidt KA}"),
        ("Sam Hill Jr.", "{Sam Hill Jr.}"),
        ("a, b, c, d", "{a, b, c, d}"),
        ("Brook,", "{Brook,}"),
        ("_brook_", r"{\_brook\_}"),
        ("Brook %", r"{Brook \%}"),
        ("Br_ook", r"Br\_ook"),
    ],
)
def test_a_name_is_in_braces_only_where_bibtex_would_split_it_otherwise(name: str, written: str) -> None:
    text = export_bibtex(collection(paper("Cells", "Ada Brook", name, "Tom Reed")))
    assert f"author = {{Ada Brook and {written} and Tom Reed}}" in text
    assert read_bibtex(text)[0].authors == ["Ada Brook", name, "Tom Reed"]


@pytest.mark.parametrize("doi", ["10.1/a{b}c", "10.1/x_y%20#z&<w>;2-2", "10.1/(SICI)10:1<1::AID>3.0.CO;2-2"])
def test_a_doi_is_written_unchanged(doi: str) -> None:
    assert read_bibtex(export_bibtex(collection(paper(doi=doi))))[0].raw["doi"] == doi


def test_a_doi_or_address_that_would_break_the_entry_is_percent_encoded() -> None:
    made = paper("Cells", doi="10.1/a}b\\", full_text_url="https://example.org/{a b\n")
    entry = read_bibtex(export_bibtex(collection(made)))[0]
    assert (entry.raw["doi"], entry.raw["url"]) == ("10.1/a%7Db%5C", "https://example.org/%7Ba%20b")


def test_three_hundred_authors_survive_a_round_trip_in_order() -> None:
    names = [f"Given{number} Family{number}" for number in range(300)]
    assert read_bibtex(export_bibtex(collection(paper("Cells", *names))))[0].authors == names


def test_a_thousand_papers_give_a_thousand_entries_with_unique_keys() -> None:
    made = [paper(f"Cells {number}", "Ada Brook", "Jürgen Müller", year=2020) for number in range(1000)]
    entries = read_bibtex(export_bibtex(collection(*made)))
    assert len({entry.key for entry in entries}) == 1000
    assert entries[999].decoded["title"] == "Cells 999"


def test_right_to_left_text_survives() -> None:
    entry = read_bibtex(export_bibtex(collection(paper("תאים סולאריים", "محمد علي"))))[0]
    assert (entry.decoded["title"], entry.authors) == ("תאים סולאריים", ["محمد علي"])


def test_nul_bytes_and_lone_surrogates_do_no_harm() -> None:
    made = paper("x\ud800\x00y", "Ada\x00 Br\ud800ook")
    entry = read_bibtex(export_bibtex(collection(made)))[0]
    assert (entry.decoded["title"], entry.authors) == ("x\ufffdy", ["Ada Br\ufffdook"])


@requirement("PS-C4", "PS-X2", "PS-X3", "PS-X4")
@untimed
@given(collections)
@example(collection(paper("a", "A and", "and B", "C and D", "and")))
@example(collection(paper("a", "{", "}", "{and", "x} and {y")))
def test_titles_authors_years_and_dois_survive_a_round_trip(made: PaperCollection) -> None:
    entries = read_bibtex(export_bibtex(made))
    assert len(entries) == len(made.papers)
    for entry, original in zip(entries, made.papers, strict=True):
        assert composed(entry.decoded.get("title", "")) == composed(original.title)
        assert [composed(name) for name in entry.authors] == (list_people(original) or ["Unknown"])
        assert entry.raw.get("year") == (None if original.year is None else str(original.year))
        assert entry.raw.get("doi") == original.doi


@untimed
@given(collections)
def test_bibtex_reads_the_family_name_or_the_whole_name(made: PaperCollection) -> None:
    for entry, original in zip(read_bibtex(export_bibtex(made)), made.papers, strict=True):
        for family, name in zip(entry.families, list_people(original), strict=False):
            assert composed(family) in (composed(split_name(name).family), name)


def test_the_editors_of_a_work_without_authors_are_its_editors() -> None:
    editors = [Author(name="Tom Reed"), Author(name="ATLAS Collaboration")]
    edited = read_bibtex(export_bibtex(collection(paper("Cells", year=2020, editors=editors))))[0]
    assert edited.key == "reed_2020_cells"
    assert edited.raw["editor"] == "Tom Reed and {ATLAS Collaboration}"
    assert "author" not in edited.raw
    written = read_bibtex(export_bibtex(collection(paper("Cells", "Ada Brook", editors=editors))))[0]
    assert (written.authors, "editor" in written.raw) == (["Ada Brook"], False)


def test_a_retraction_is_noted_with_its_sources() -> None:
    entry = read_bibtex(export_bibtex(collection(paper(notices=[RETRACTION, FLAG]))))[0]
    note = "Retracted 2010-02-06 (notice doi:10.1000/r_2, source crossref); retracted (source openalex)"
    assert entry.decoded["note"] == note
    assert entry.raw["note"] == note.replace("_", r"\_")


def test_a_concern_is_noted_and_a_correction_is_not() -> None:
    concern, corrected = read_bibtex(
        export_bibtex(collection(paper("One", notices=[CONCERN]), paper("Two", notices=[CORRECTION])))
    )
    assert concern.decoded["note"] == "Expression of concern 2009 (notice doi:10.1000/c, source pubmed)"
    assert "note" not in corrected.raw
