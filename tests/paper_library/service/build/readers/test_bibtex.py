"""BibTeX files: all fields, and the readable entries of damaged files."""

from pathlib import Path

import pytest

from paper_library.domain.entries import Entry
from tests.paper_library.service.build.readers.files import (
    get_only_entry,
    get_only_problem,
    select_entries,
    select_problems,
    write_and_read,
)

FULL = r"""@Article{lovelace1843,
  author = {Lovelace, Ada and Charles {Babbage} and {Royal Society of London} and others},
  title = {{Notes} on the {\"U}ber-engine: 50\% of $x^2$ \& more},
  journal = {{Scientific Memoirs}},
  year = 1843, month = sep,
  doi = {10.1234/abc\_def},
  eprint = {1234.56789v2}, archivePrefix = {arXiv},
  pmid = {123456},
  url = {https://example.org/a_b},
  keywords = {engines; analytical machines, old},
  mendeley-tags = {history,reading},
  abstract = {A  long
     text --- with dashes.},
  language = {english},
  affiliation = {University A; University B},
}"""


def test_every_field_arrives_decoded_and_the_text_of_the_entry_is_stored_unchanged(tmp_path: Path) -> None:
    entry = get_only_entry(write_and_read(tmp_path, "refs.bib", f"\n% a remark\n{FULL}\n"))
    assert entry.bibtex == FULL
    assert entry.title == "Notes on the Über-engine: 50% of x² & more"
    assert entry.authors == ["Ada Lovelace", "Charles Babbage", "Royal Society of London"]
    assert (entry.year, entry.month, entry.venue) == (1843, 9, "Scientific Memoirs")
    assert entry.identifiers == {
        "bibkey": "lovelace1843",
        "doi": "10.1234/abc_def",
        "arxiv": "1234.56789v2",
        "pmid": "123456",
        "url": "https://example.org/a_b",
    }
    assert entry.keywords == ["engines", "analytical machines, old"]
    assert entry.tags == ["history", "reading"]
    assert entry.abstract == "A long text — with dashes."
    assert entry.institutions == ["University A", "University B"]
    assert (entry.kind, entry.language, entry.origin) == ("article", "english", "refs.bib:3")


@pytest.mark.parametrize(
    ("kind", "fields", "venue"),
    [
        ("article", "journaltitle = {J}, booktitle = {B}", "J"),
        ("inproceedings", "booktitle = {{Proc. of B}}, journal = {J}", "Proc. of B"),
        ("conference", "booktitle = {B}", "B"),
        ("incollection", "booktitle = {B}, publisher = {P}", "B"),
        ("phdthesis", "school = {University S}", "University S"),
        ("techreport", "institution = {I}", "I"),
        ("book", "publisher = {P}", "P"),
        ("misc", "howpublished = {\\url{https://example.org}}, publisher = {P}", "P"),
        ("misc", "howpublished = {A journal on the web}", "A journal on the web"),
        ("article", "journal = \\mnras", "Monthly Notices of the Royal Astronomical Society"),
        ("article", "journal = {\\apj}", "Astrophysical Journal"),
    ],
)
def test_the_venue_depends_on_the_entry_type(tmp_path: Path, kind: str, fields: str, venue: str) -> None:
    assert get_only_entry(write_and_read(tmp_path, "a.bib", f"@{kind}{{k, title = {{T}}, {fields}}}")).venue == venue


@pytest.mark.parametrize(
    ("fields", "arxiv"),
    [
        ("arxivid = {2301.00001}", "2301.00001"),
        ("arxiv-id = {hep-th/9901001}", "hep-th/9901001"),
        ("eprint = {2301.00001}, eprinttype = {arXiv}", "2301.00001"),
        ("eprint = {2301.00001}, primaryclass = {cs.CL}", "2301.00001"),
        ("journal = {arXiv preprint arXiv:1706.03762}", "1706.03762"),
        ("journal = {CoRR}, volume = {abs/1706.03762}", "1706.03762"),
        ("url = {https://arxiv.org/abs/1706.03762v5}", "1706.03762v5"),
        ("eprint = {hal-01234}, eprinttype = {hal}", None),
        ("volume = {abs/1706.03762}, journal = {Other}", None),
    ],
)
def test_arxiv_ids_are_found_in_all_usual_fields(tmp_path: Path, fields: str, arxiv: str | None) -> None:
    entry = get_only_entry(write_and_read(tmp_path, "a.bib", f"@misc{{k, title = {{T}}, {fields}}}"))
    assert entry.identifiers.get("arxiv") == arxiv


@pytest.mark.parametrize(
    ("fields", "date"),
    [
        ("year = {2020}, month = {March}", (2020, 3)),
        ("year = 2020, month = 3", (2020, 3)),
        ("year = 2020, month = mar # {~15}", (2020, 3)),
        ("date = {2020-03-15/2020-04}", (2020, 3)),
        ("date = {2020}", (2020, None)),
        ("year = {c1999}", (1999, None)),
        ("year = {in press}", (None, None)),
        ("year = {2020}, month = {13}", (2020, None)),
    ],
)
def test_years_and_months_are_read_in_any_notation(
    tmp_path: Path, fields: str, date: tuple[int | None, int | None]
) -> None:
    entry = get_only_entry(write_and_read(tmp_path, "a.bib", f"@misc{{k, title = {{T}}, {fields}}}"))
    assert (entry.year, entry.month) == date


def test_macros_are_expanded_and_comments_and_preambles_skipped(tmp_path: Path) -> None:
    text = """
    @string{ieee = "IEEE"} @STRING(trans = ieee # { Transactions})
    @preamble{"\\newcommand{\\x}{y}"}
    @comment{@article{hidden, title = {Not here}}}
    @comment{
    @article{put_away, title = {Not here either}}
    }
    @article{shown, title = "Quoted {"}inside{"} and " # {joined}, journal = trans # " on " # {Stars}}
    """
    entry = get_only_entry(write_and_read(tmp_path, "a.bib", text))
    assert entry.title == 'Quoted "inside" and joined'
    assert entry.venue == "IEEE Transactions on Stars"


def test_a_child_inherits_from_the_parent_that_its_crossref_names(tmp_path: Path) -> None:
    text = """@inproceedings{child, title = {A talk}, crossref = {Conf99}}
    @proceedings{conf99, title = {Proceedings of a conference}, year = 1999, editor = {Ed Itor}}"""
    parent, child = select_entries(write_and_read(tmp_path, "a.bib", text))
    assert (child.title, child.venue, child.year) == ("A talk", "Proceedings of a conference", 1999)
    assert parent.authors == ["Ed Itor"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "latin-1", "cp1252"])
def test_any_usual_encoding_is_read(tmp_path: Path, encoding: str) -> None:
    text = "@article{k,\n title = {Über die Größe},\n author = {Müller, Jürgen}}\n"
    entry = get_only_entry(write_and_read(tmp_path, "a.bib", text.encode(encoding)))
    assert (entry.title, entry.authors) == ("Über die Größe", ["Jürgen Müller"])


def test_a_file_with_two_encodings_is_decoded_correctly(tmp_path: Path) -> None:
    one = "@misc{a, title = {Größe}}\n"
    found = select_entries(write_and_read(tmp_path, "a.bib", one.encode() + one.encode("latin-1")))
    assert [entry.title for entry in found] == ["Größe", "Größe"]


def test_an_unclosed_entry_is_reported_with_its_line_and_the_others_are_read(tmp_path: Path) -> None:
    text = (
        "@misc{a, title = {A}}\n@misc{b,\n title = {B,\n year = 2000}\n\n@misc{c, title = {C}}\n@misc{d, title = {D}\n"
    )
    found = write_and_read(tmp_path, "refs.bib", text)
    assert [entry.title for entry in select_entries(found)] == ["A", "C"]
    assert [problem.origin for problem in select_problems(found)] == ["refs.bib:2", "refs.bib:7"]
    assert all(
        problem.kind == "broken" and "The braces do not balance" in problem.reason for problem in select_problems(found)
    )


def test_an_extra_brace_is_reported_and_the_fields_before_it_are_read(tmp_path: Path) -> None:
    found = write_and_read(tmp_path, "refs.bib", "@misc{a,\n title = {A}},\n year = {2000},\n}\n@misc{b, title = {B}}")
    assert [entry.title for entry in select_entries(found)] == ["A", "B"]
    assert [problem.origin for problem in select_problems(found)] == ["refs.bib:2"]
    assert "were not read" in select_problems(found)[0].reason


def test_a_lone_escaped_brace_does_not_break_an_entry(tmp_path: Path) -> None:
    found = write_and_read(tmp_path, "a.bib", "@misc{a, title = {Sets \\{1, 2}, year = 2001}\n@misc{b, title = {B}}")
    assert [(entry.title, entry.year) for entry in select_entries(found)] == [("Sets {1, 2", 2001), ("B", None)]


def test_an_unclosed_comment_does_not_swallow_the_file(tmp_path: Path) -> None:
    found = write_and_read(tmp_path, "a.bib", "@comment{ oops {\n@misc{a, title = {A}}\n@misc{b, title = {B}}\n")
    assert [entry.title for entry in select_entries(found)] == ["A", "B"]


def test_entries_with_the_same_key_are_all_read(tmp_path: Path) -> None:
    found = select_entries(
        write_and_read(tmp_path, "a.bib", "@misc{k, title = {A}}\n@misc{k, title = {B}}\n@misc{k, title={A}}")
    )
    assert [(entry.title, entry.identifiers["bibkey"]) for entry in found] == [("A", "k"), ("B", "k"), ("A", "k")]


def test_entries_on_one_line_or_without_commas_or_keys_are_read(tmp_path: Path) -> None:
    text = "@misc{a, title = {A} year = {2001}} @misc{title = {B}, year = 2002} @misc(c, title = {C (D)}, year = 2003)"
    found = select_entries(write_and_read(tmp_path, "a.bib", text))
    assert [(entry.title, entry.year) for entry in found] == [("A", 2001), ("B", 2002), ("C (D)", 2003)]
    assert [entry.identifiers.get("bibkey") for entry in found] == ["a", None, "c"]


def test_an_entry_without_a_title_is_a_problem_that_names_its_key(tmp_path: Path) -> None:
    problem = get_only_problem(write_and_read(tmp_path, "refs.bib", "@misc{smith, year = 2000}"))
    assert (problem.origin, problem.kind) == ("refs.bib:1", "broken")
    assert "smith" in problem.reason


def test_a_file_without_entries_is_skipped(tmp_path: Path) -> None:
    assert get_only_problem(write_and_read(tmp_path, "a.bib", "only words")).kind == "skipped"


def test_macros_made_of_macros_cannot_fill_the_memory(tmp_path: Path) -> None:
    doubling = "".join(f"@string{{m{n + 1} = {' # '.join([f'm{n}'] * 10)}}}\n" for n in range(30))
    text = f'@string{{m0 = "ha"}}\n{doubling}@misc{{a, title = m30}}'
    assert len(get_only_entry(write_and_read(tmp_path, "a.bib", text)).title) <= 10_000


@pytest.mark.parametrize(
    "text",
    [
        "@misc{a, " + " " * 200_000 + "x",
        "@misc{a" + " " * 200_000 + "=}",
        "@misc{a, title = {A}}" + " " * 200_000 + "x",
        "@misc{a, word" + " " * 200_000 + ", title = {A}}",
        "@a{" * 20_000,
        "@comment{\n" + "@misc{a, title = {A}\n" * 50_000,
        "@misc{a, title = {" + "{" * 20_000 + "}" * 20_000 + "}}",
        "@misc{a, title = {" + "$" * 20_000 + "}}",
        "@misc{a, title = {" + "\\href{" * 50_000 + "}" * 50_000 + "}}",
        "@misc{a, author = {" + "A and " * 20_000 + "}, title = {T}}",
    ],
    ids=lambda text: text[:20],
)
@pytest.mark.timeout(30)
def test_hostile_files_are_read_in_a_time_that_grows_with_their_size(tmp_path: Path, text: str) -> None:
    assert write_and_read(tmp_path, "a.bib", text)


def test_twenty_thousand_entries_are_read_one_by_one(tmp_path: Path) -> None:
    from paper_library.service.build.readers.bibtex import read_entries

    path = tmp_path / "many.bib"
    with path.open("w") as file:
        for number in range(20_000):
            file.write(
                f"@article{{key{number},\n  title = {{The {{DNA}} of thing {number}}},\n  author = {{van Dyke{number}, "
                f'Jan and M{{\\"u}}ller, Eva}},\n  journal = {{Journal {number % 50}}},\n  year = {{2001}}\n}}\n'
            )
    count = 0
    for number, entry in enumerate(read_entries(path, "many.bib")):
        assert isinstance(entry, Entry)
        assert entry.title == f"The DNA of thing {number}"
        assert entry.authors == [f"Jan van Dyke{number}", "Eva Müller"]
        count += 1
    assert count == 20_000


def test_text_like_a_tag_in_a_doi_is_part_of_the_doi(tmp_path: Path) -> None:
    entry = get_only_entry(
        write_and_read(tmp_path, "a.bib", "@misc{a, title={A <b>bold</b> one}, doi={10.1234/17:15<b>3.0}}")
    )
    assert (entry.title, entry.identifiers["doi"]) == ("A bold one", "10.1234/17:15<b>3.0")
