"""RIS files of reference managers, valid and invalid."""

from pathlib import Path

import pytest

from paper_library.service.build.readers.ris import MAX_RECORD_CHARS
from tests.paper_library.service.build.readers.files import (
    get_only_entry,
    get_only_problem,
    select_entries,
    select_problems,
    write_and_read,
)

RECORD = """TY  - JOUR
ID  - lovelace1843notes
TI  - Notes on the engine
AU  - Lovelace, Ada
AU  - Babbage, Charles, Jr.
T2  - Scientific Memoirs
PY  - 1843
DA  - 1843/09/01/
DO  - 10.1234/abc
UR  - https://example.org/x
AN  - 12345
DB  - PubMed
KW  - engines
KW  - numbers; logic
AB  - A first line
that goes on.
LA  - en
AD  - London
ER  -
"""


def test_every_field_of_a_record_is_read(tmp_path: Path) -> None:
    entry = get_only_entry(write_and_read(tmp_path, "refs.ris", RECORD))
    assert (entry.title, entry.authors) == ("Notes on the engine", ["Ada Lovelace", "Charles Babbage Jr."])
    assert (entry.year, entry.month, entry.venue, entry.kind) == (1843, 9, "Scientific Memoirs", "article")
    assert entry.abstract == "A first line that goes on."
    assert entry.identifiers == {
        "bibkey": "lovelace1843notes",
        "doi": "10.1234/abc",
        "pmid": "12345",
        "url": "https://example.org/x",
    }
    assert (entry.keywords, entry.language, entry.institutions) == (["engines", "numbers", "logic"], "en", ["London"])
    assert entry.origin == "refs.ris:1"


def test_missing_ends_unknown_types_and_blank_lines_are_accepted(tmp_path: Path) -> None:
    text = "\nTY  - JOUR\nTI  - A\n\nTY  - WHAT\nT1  - B\nY1  - 2001///\nER  -\n\nTY  - BOOK\nTI  - C\nSN  - 123\n"
    found = select_entries(write_and_read(tmp_path, "a.ris", text))
    assert [(entry.title, entry.kind, entry.year) for entry in found] == [
        ("A", "article", None),
        ("B", "misc", 2001),
        ("C", "book", None),
    ]
    assert found[2].identifiers == {"isbn": "123"}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "utf-16"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_encodings_and_line_ends_do_not_matter(tmp_path: Path, encoding: str, end: str) -> None:
    text = "TY  - JOUR\nTI  - Größe\nAU  - Müller, J.\nER  - \n".replace("\n", end)
    entry = get_only_entry(write_and_read(tmp_path, "a.ris", text.encode(encoding)))
    assert (entry.title, entry.authors) == ("Größe", ["J. Müller"])


def test_a_record_without_a_title_is_reported_with_its_line(tmp_path: Path) -> None:
    found = write_and_read(tmp_path, "a.ris", "TY  - JOUR\nAU  - A\nER  - \nTY  - JOUR\nTI  - B\nER  - \n")
    assert [problem.origin for problem in select_problems(found)] == ["a.ris:1"]
    assert [entry.title for entry in select_entries(found)] == ["B"]


def test_a_file_without_records_is_skipped(tmp_path: Path) -> None:
    assert get_only_problem(write_and_read(tmp_path, "a.ris", "words")).kind == "skipped"


@pytest.mark.timeout(30)
def test_a_value_of_very_many_lines_is_read_in_one_pass(tmp_path: Path) -> None:
    entry = get_only_entry(write_and_read(tmp_path, "a.ris", "TY  - JOUR\nTI  - T\nAB  - x\n" + "word\n" * 300_000))
    assert len(entry.abstract.split()) == 300_001


def test_an_arxiv_address_gives_the_arxiv_id(tmp_path: Path) -> None:
    text = "TY  - GEN\nID  - 7\nTI  - T\nUR  - https://arxiv.org/abs/2301.00001v2\nER  - \n"
    identifiers = get_only_entry(write_and_read(tmp_path, "a.ris", text)).identifiers
    assert (identifiers["arxiv"], identifiers["id"]) == ("2301.00001v2", "7")


def test_a_record_beyond_the_limit_is_reported_with_its_line_and_the_others_are_read(tmp_path: Path) -> None:
    long = "TY  - JOUR\nAB  - " + f"{'words ' * 500}\n" * (MAX_RECORD_CHARS // 2_900)
    short = "TY  - JOUR\nTI  - {}\nER  - \n"
    found = write_and_read(tmp_path, "a.ris", f"{short.format('One')}{long}{short.format('Two')}")
    assert [entry.title for entry in select_entries(found)] == ["One", "Two"]
    assert [(problem.origin, problem.kind) for problem in select_problems(found)] == [("a.ris:4", "broken")]
