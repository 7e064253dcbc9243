"""PDFs: text as paragraphs, metadata, and files that cannot be read."""

import builtins
import logging
from pathlib import Path
from typing import Any

import pytest
from pypdf import PageObject, PdfReader

from paper_library.domain.entries import BuildProblem, Entry
from paper_library.service.build.readers import pdf_pages
from tests.paper_library.service.build.readers.files import (
    get_only_entry,
    get_only_problem,
    read_file,
    select_entries,
    select_problems,
    write_file,
)
from tests.paper_library.service.build.readers.pdfs import write_pdf

BODY = [
    (10.0, "Engines compute what people would otherwise have to com-"),
    (10.0, "pute by hand, and they do it for as long as there is coal in"),
    (10.0, "the cellar."),
    (10.0, "A second paragraph begins here because the line before it is"),
    (10.0, "short and ends with a full stop, as last lines do."),
]


def test_lines_become_paragraphs_and_broken_words_are_joined(tmp_path: Path) -> None:
    path = write_pdf(tmp_path / "a.pdf", [(18.0, "On the engine"), (10.0, "Abstract"), *BODY, (10.0, "7")])
    entry = get_only_entry(read_file(path))
    assert "otherwise have to compute by hand" in entry.source
    assert "the cellar.\n\nA second paragraph" in entry.source
    assert "## Abstract" in entry.source
    assert not entry.source.endswith("7")
    assert entry.abstract.startswith("Engines compute what people")


@pytest.mark.parametrize(
    ("info", "lines", "title"),
    [
        ("The title of record", BODY, "The title of record"),
        (
            "Microsoft Word - draft.doc",
            [(18.0, "On the analytical"), (18.0, "engine"), *BODY],
            "On the analytical engine",
        ),
        ("untitled", [(18.0, "The engine"), *BODY], "The engine"),
        ("paper-final.pdf", BODY, "Some file name"),
        ("", [(10.0, "A short first line"), *BODY], "A short first line"),
        ("", [], "Some file name"),
    ],
)
def test_the_title_comes_from_the_best_source_in_the_file(
    tmp_path: Path, info: str, lines: list[tuple[float, str]], title: str
) -> None:
    found = select_entries(read_file(write_pdf(tmp_path / "some_file_name.pdf", lines, Title=info)))
    assert found[0].title == title


def test_authors_and_keywords_come_from_the_document_info(tmp_path: Path) -> None:
    path = write_pdf(tmp_path / "a.pdf", BODY, Author="Lovelace, Ada; Charles Babbage", Keywords="engines, numbers")
    entry = get_only_entry(read_file(path))
    assert (entry.authors, entry.keywords) == (["Ada Lovelace", "Charles Babbage"], ["engines", "numbers"])
    assert get_only_entry(read_file(write_pdf(tmp_path / "b.pdf", BODY, Author="jdoe"))).authors == []


@pytest.mark.parametrize(
    ("lines", "identifiers"),
    [
        ([(8.0, "https://doi.org/10.1234/abc.5.")], {"doi": "10.1234/abc.5"}),
        ([(8.0, "doi:10.1234/own"), *BODY, (8.0, "as in 10.9999/other")], {"doi": "10.1234/own"}),
        ([*BODY, (8.0, "10.1111/a and 10.2222/b")], {}),
        ([*BODY, (10.0, "References"), (8.0, "Somebody, doi:10.1111/cited")], {}),
        ([(8.0, "arXiv:2301.00001v2 [cs.CL] 3 Jan 2023"), *BODY, (8.0, "arXiv:1706.03762")], {"arxiv": "2301.00001v2"}),
        ([*BODY, (8.0, "arXiv:1706.03762 and arXiv:1706.03763")], {}),
        ([(8.0, "DOI: 10.xxxxxx/draft")], {}),
    ],
)
def test_identifiers_are_the_papers_own(
    tmp_path: Path, lines: list[tuple[float, str]], identifiers: dict[str, str]
) -> None:
    assert get_only_entry(read_file(write_pdf(tmp_path / "a.pdf", lines))).identifiers == identifiers


@pytest.mark.parametrize(
    ("name", "line", "date"),
    [
        ("a", "arXiv:2301.00001v2 [cs.CL] 3 Feb 2023", (2023, 2)),
        ("a", "Copyright 2019 by the author", (2019, None)),
        ("a", "Published: 8 April 2021", (2021, 4)),
        ("2105.00001v3", "nothing", (2021, 5)),
        ("a", "Experiments of 1999 and 2004", (None, None)),
    ],
)
def test_the_year_is_that_of_publication_and_never_that_of_the_file(
    tmp_path: Path, name: str, line: str, date: tuple[int | None, int | None]
) -> None:
    path = write_pdf(tmp_path / f"{name}.pdf", [(10.0, line), *BODY], CreationDate="D:20110101000000Z")
    entry = get_only_entry(read_file(path))
    assert (entry.year, entry.month) == date


def test_an_encrypted_pdf_is_read_if_the_empty_password_opens_it(tmp_path: Path) -> None:
    path = write_pdf(tmp_path / "locked.pdf", BODY, password="secret")
    problem = get_only_problem(read_file(path))
    assert problem.kind == "broken"
    assert "encrypted" in problem.reason
    assert "without a password" in problem.reason


def test_a_scan_has_its_title_and_a_problem_for_the_missing_text(tmp_path: Path) -> None:
    found = read_file(write_pdf(tmp_path / "a.pdf", [], [], Title="A scanned paper"))
    assert [(entry.title, entry.source) for entry in select_entries(found)] == [("A scanned paper", "")]
    assert ["no text layer" in problem.reason for problem in select_problems(found)] == [True]


def test_line_numbers_of_drafts_and_running_heads_are_left_out(tmp_path: Path) -> None:
    def make_page(first: int) -> list[tuple[float, str]]:
        lines = [(10.0, f"words and more words of a line{number}") for number in range(first, first + 20)]
        return [(8.0, "Journal of Engines"), *lines, (10.0, f"in the year {1842 + first}")]

    source = get_only_entry(read_file(write_pdf(tmp_path / "a.pdf", make_page(1), make_page(21), make_page(41)))).source
    assert "words and more words of a line words and" in source
    assert "in the year 1843" in source
    assert "Journal of Engines" not in source


def test_sections_become_headings_and_numbered_affiliations_do_not(tmp_path: Path) -> None:
    lines = [
        (10.0, "4 University of London"),
        (10.0, "1 Introduction"),
        *BODY,
        (10.0, "2 The new engine"),
        *BODY,
        (10.0, "2.1 Its wheels"),
        *BODY,
        (10.0, "References"),
    ]
    source = get_only_entry(read_file(write_pdf(tmp_path / "a.pdf", lines))).source
    headings = [line for line in source.split("\n") if line.startswith("#")]
    assert headings == ["## 1 Introduction", "## 2 The new engine", "### 2.1 Its wheels", "## References"]


@pytest.mark.parametrize("cut", [0, 10, 200, 0.5, 0.9])
def test_a_damaged_pdf_gives_a_problem_or_its_readable_part(
    tmp_path: Path, cut: float, capfd: pytest.CaptureFixture[str]
) -> None:
    data = write_pdf(tmp_path / "a.pdf", BODY, BODY).read_bytes()
    kept = data[: int(cut if cut >= 1 else cut * len(data))]
    everything = read_file(write_file(tmp_path, "cut.pdf", kept))
    assert everything
    for found in everything:
        assert isinstance(found, Entry) or found.kind == "broken"
    assert capfd.readouterr().err == ""


def test_a_page_tree_that_contains_itself_is_a_problem(tmp_path: Path) -> None:
    loop = b"""%PDF-1.4
1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj
2 0 obj << /Type /Pages /Kids [2 0 R] /Count 1 >> endobj
trailer << /Root 1 0 R /Size 3 >>
"""
    found = read_file(write_file(tmp_path, "loop.pdf", loop))
    assert [problem.kind for problem in select_problems(found)] == ["broken"]


def test_without_pypdf_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real_import = builtins.__import__

    def refuse_pypdf(name: str, *arguments: Any) -> Any:
        if name == "pypdf":
            raise ModuleNotFoundError(name)
        return real_import(name, *arguments)

    path = write_file(tmp_path, "a.pdf", b"%PDF-1.4")
    monkeypatch.setattr(builtins, "__import__", refuse_pypdf)
    assert read_file(path) == [
        BuildProblem("a.pdf", "skipped", "PDFs need an extra. Install it with: pip install 'uraniborg[pdf]'")
    ]


def test_pypdf_prints_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        read_file(write_file(tmp_path, "a.pdf", b"%PDF-1.4\ngarbage\nstartxref\n99999\n%%EOF"))
    assert [record.name for record in caplog.records if record.name.startswith("pypdf")] == []


def test_the_doi_of_the_document_info_wins_over_those_of_the_text(tmp_path: Path) -> None:
    lines = [(8.0, "doi:10.1234/printed"), *BODY]
    path = write_pdf(tmp_path / "a.pdf", lines, Subject="https://doi.org/10.1234/own.")
    assert get_only_entry(read_file(path)).identifiers == {"doi": "10.1234/own"}


def test_of_several_labelled_dois_the_first_is_the_papers_own(tmp_path: Path) -> None:
    lines = [(8.0, "doi:10.1234/own"), *BODY, (8.0, "comment on doi:10.9999/other")]
    assert get_only_entry(read_file(write_pdf(tmp_path / "a.pdf", lines))).identifiers == {"doi": "10.1234/own"}


def test_a_page_that_cannot_be_read_leaves_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_pdf(tmp_path / "a.pdf", [(10.0, "The first page.")], [(10.0, "The second page.")])
    extract = PageObject.extract_text

    def fail_on_the_first(page: PageObject, *arguments: Any, **options: Any) -> str:
        text = extract(page, *arguments, **options)
        if "first" in text:
            raise KeyError("/Font")
        return text

    monkeypatch.setattr(PageObject, "extract_text", fail_on_the_first)
    assert get_only_entry(read_file(path)).source.strip() == "The second page."


def test_only_the_first_pages_of_an_endless_document_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_pdf(tmp_path / "a.pdf", *([(10.0, f"This is page {word}.")] for word in ("one", "two", "three")))
    monkeypatch.setattr(pdf_pages, "MAX_PAGES", 2)
    assert get_only_entry(read_file(path)).source.strip() == "This is page one.\n\nThis is page two."


def test_a_document_whose_description_cannot_be_read_still_has_its_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_reader: PdfReader) -> object:
        raise KeyError("/Info")

    path = write_pdf(tmp_path / "a.pdf", [(10.0, "Engines compute.")], Title="Engines")
    monkeypatch.setattr(PdfReader, "metadata", property(fail))
    assert get_only_entry(read_file(path)).source.strip() == "Engines compute."


def test_a_pdf_with_an_unknown_encryption_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_reader: PdfReader, _password: str) -> int:
        raise NotImplementedError("Algorithm 9")

    path = write_pdf(tmp_path / "locked.pdf", BODY, password="secret")
    monkeypatch.setattr(PdfReader, "decrypt", refuse)
    assert get_only_problem(read_file(path)).reason == "The PDF has an unsupported encryption. Remove the password."
