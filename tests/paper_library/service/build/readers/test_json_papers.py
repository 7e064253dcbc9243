"""Papers in JSON: all field names, CSL-JSON, exports, lines and invalid files."""

import gzip
import json
import math
from pathlib import Path
from typing import Any

import pytest

from paper_library.service.build.readers import json_papers
from tests.paper_library.service.build.readers.files import (
    get_only_entry,
    get_only_problem,
    select_entries,
    select_problems,
    write_and_read,
)

PAPER: dict[str, Any] = {
    "paper_title": "On  the &amp; engine",
    "paper_authors": ["Ada Lovelace", "Babbage, Charles"],
    "publication_date": "1843-09-01",
    "publication_venue": "Memoirs",
    "abstract": "About <i>engines</i>.",
    "DOI": "10.1/x",
    "arxiv_id": "2301.00001",
    "pmid": 123,
    "citation_key": "ada1843",
    "url": "https://example.org",
    "keywords": "engines; numbers",
    "ai_generated_tags": ["old", "", "old"],
    "paper_institutions": [{"name": "London"}],
    "lang": "en",
    "markdown": "# On the engine\r\n\r\nText\x00.\n",
    "summaries": {"simple": {"gist": "It computes."}},
    "translations": {"FR": "# De la machine"},
    "bibtex": "@article{ada1843}",
    "id": "W123",
}


def test_a_paper_is_read_under_all_known_field_names(tmp_path: Path) -> None:
    entry = get_only_entry(write_and_read(tmp_path, "papers.jsonl", json.dumps(PAPER)))
    assert (entry.title, entry.authors) == ("On the & engine", ["Ada Lovelace", "Charles Babbage"])
    assert (entry.year, entry.month, entry.venue) == (1843, 9, "Memoirs")
    assert entry.abstract == "About engines."
    assert entry.identifiers == {
        "doi": "10.1/x",
        "arxiv": "2301.00001",
        "pmid": "123",
        "bibkey": "ada1843",
        "url": "https://example.org",
        "id": "W123",
    }
    assert (entry.keywords, entry.tags, entry.institutions) == (["engines", "numbers"], ["old"], ["London"])
    assert entry.source == "# On the engine\n\nText."
    assert entry.summaries == {"simple": {"gist": "It computes."}}
    assert entry.translations == {"fr": "# De la machine"}
    assert (entry.language, entry.bibtex, entry.origin) == ("en", "@article{ada1843}", "papers.jsonl:1")


@pytest.mark.parametrize("document", [[PAPER], {"papers": [PAPER]}, PAPER], ids=["list", "papers", "one"])
def test_a_json_file_can_be_a_list_an_object_with_papers_or_one_paper(tmp_path: Path, document: Any) -> None:
    assert get_only_entry(write_and_read(tmp_path, "a.json", json.dumps(document))).title == "On the & engine"


def test_csl_json_is_read_with_names_dates_and_types(tmp_path: Path) -> None:
    item = {
        "id": "lovelace1843",
        "type": "article-journal",
        "title": "Notes",
        "author": [{"family": "Lovelace", "given": "Ada"}, {"literal": "Royal Society"}],
        "issued": {"date-parts": [[1843, 9]]},
        "container-title": "Memoirs",
        "DOI": "10.1/x",
        "number": "arXiv:2301.00001",
    }
    for document in ([item], {"items": [item]}):
        entry = get_only_entry(write_and_read(tmp_path, "a.json", json.dumps(document)))
        assert (entry.title, entry.authors) == ("Notes", ["Ada Lovelace", "Royal Society"])
        assert (entry.year, entry.month, entry.venue, entry.kind) == (1843, 9, "Memoirs", "article")
        assert entry.identifiers == {"id": "lovelace1843", "doi": "10.1/x", "arxiv": "arXiv:2301.00001"}


def test_unknown_fields_of_a_template_become_the_summary(tmp_path: Path) -> None:
    paper = {"paper_title": "T", "question1": "Why?", "module_a": {"x": 1}, "source_path": "/home/me/x.md"}
    document = {"template_tag": "deep", "papers": [paper]}
    entry = get_only_entry(write_and_read(tmp_path, "a.json", json.dumps(document)))
    assert entry.summaries == {"deep": {"question1": "Why?", "module_a": {"x": 1}}}
    assert entry.preferred_summary == "deep"


@pytest.mark.parametrize(
    ("identifier", "scheme"),
    [
        ("10.1000/xyz", "doi"),
        ("https://doi.org/10.1000/x", "doi"),
        ("arXiv:2301.00001", "arxiv"),
        ("2301.00001v2", "arxiv"),
        ("W1", "id"),
    ],
)
def test_a_recognised_id_is_stored_under_its_scheme(tmp_path: Path, identifier: str, scheme: str) -> None:
    entry = get_only_entry(write_and_read(tmp_path, "a.jsonl", json.dumps({"title": "T", "_id": identifier})))
    assert entry.identifiers == {scheme: identifier}


def test_bad_lines_are_reported_with_their_numbers_and_the_others_are_read(tmp_path: Path) -> None:
    lines = [b'{"title": "A"}', b"{oops", b"", b"[1]", b'{"year": 3}', b'{"title": "B"}', b"\xff\xfe"]
    found = write_and_read(tmp_path, "papers.jsonl", b"\n".join(lines))
    assert [entry.title for entry in select_entries(found)] == ["A", "B"]
    assert [problem.origin.removeprefix("papers.jsonl:") for problem in select_problems(found)] == ["2", "4", "5", "7"]
    assert {problem.kind for problem in select_problems(found)} == {"broken"}


def test_nan_and_lone_surrogates_are_read(tmp_path: Path) -> None:
    line = json.dumps({"title": "A \ud800 B", "year": math.nan, "summaries": {"s": [math.inf]}})
    entry = get_only_entry(write_and_read(tmp_path, "a.jsonl", line))
    assert (entry.title, entry.year, entry.summaries) == ("A \ufffd B", None, {"s": [None]})


def test_compressed_lines_are_read_up_to_where_the_file_is_damaged(tmp_path: Path) -> None:
    data = gzip.compress(b"".join(b'{"title": "Paper %d"}\n' % number for number in range(50_000)))
    assert len(select_entries(write_and_read(tmp_path, "whole.jsonl.gz", data))) == 50_000
    found = write_and_read(tmp_path, "cut.jsonl.gz", data[: len(data) // 2])
    assert len(select_entries(found)) > 1_000
    assert "cannot be decompressed" in select_problems(found)[-1].reason
    assert get_only_problem(write_and_read(tmp_path, "not.jsonl.gz", b"plain")).kind == "broken"
    assert get_only_problem(write_and_read(tmp_path, "not.json.gz", b"plain")).kind == "broken"


def test_an_endless_line_is_skipped_with_bounded_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_papers, "MAX_LINE_BYTES", 1_000)
    long = json.dumps({"title": "x" * 5_000})
    found = write_and_read(tmp_path, "a.jsonl", f'{{"title": "A"}}\n{long}\n{{"title": "B"}}\n')
    assert [entry.title for entry in select_entries(found)] == ["A", "B"]
    assert [problem.origin for problem in select_problems(found)] == ["a.jsonl:2"]


def test_a_gzip_bomb_is_read_up_to_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_papers, "MAX_DECOMPRESSED_BYTES", 1 << 20)
    monkeypatch.setattr(json_papers, "MAX_DOCUMENT_BYTES", 1 << 20)
    monkeypatch.setattr(json_papers, "MAX_LINE_BYTES", 1 << 16)
    bomb = gzip.compress(b"0" * (8 << 20))
    assert "was not read" in select_problems(write_and_read(tmp_path, "a.jsonl.gz", bomb))[-1].reason
    assert "larger than" in get_only_problem(write_and_read(tmp_path, "a.json.gz", bomb)).reason


@pytest.mark.parametrize(
    "content",
    [
        '{"name": "x", "version": "1", "dependencies": {}}',
        "3",
        '"text"',
        "[]",
        "[1, 2]",
        "{}",
        '{"papers": []}',
        "null",
    ],
)
def test_json_without_papers_is_skipped(tmp_path: Path, content: str) -> None:
    assert get_only_problem(write_and_read(tmp_path, "package.json", content)).kind == "skipped"


@pytest.mark.parametrize("content", ["{", "", '{"title": "A"', "[" * 100_000, "nonsense"])
def test_invalid_json_is_reported_as_broken(tmp_path: Path, content: str) -> None:
    assert get_only_problem(write_and_read(tmp_path, "a.json", content)).kind == "broken"


def test_json_and_json_lines_are_read_under_each_others_suffix(tmp_path: Path) -> None:
    assert len(select_entries(write_and_read(tmp_path, "a.json", '{"title": "A"}\n{"title": "B"}\n'))) == 2
    assert len(select_entries(write_and_read(tmp_path, "a.jsonl", '[{"title": "A"},\n {"title": "B"}]'))) == 2


def test_deeply_nested_names_do_not_stop_the_reader(tmp_path: Path) -> None:
    nested = '{"name": ' * 900 + '"Ada"' + "}" * 900
    assert get_only_entry(write_and_read(tmp_path, "a.jsonl", f'{{"title": "T", "authors": [{nested}]}}')).authors == []


def test_a_source_that_names_a_database_is_not_a_text(tmp_path: Path) -> None:
    assert get_only_entry(write_and_read(tmp_path, "a.jsonl", '{"title": "T", "source": "crossref"}')).source == ""
    text = "# Title\n\nwords"
    assert (
        get_only_entry(write_and_read(tmp_path, "a.jsonl", json.dumps({"title": "T", "source": text}))).source == text
    )


@pytest.mark.parametrize("wrong", [True, 3.5, [[1], {}], {"x": [None]}, [None], "\x00"])
def test_values_of_the_wrong_type_are_left_out(tmp_path: Path, wrong: Any) -> None:
    names = ("authors", "year", "month", "date", "abstract", "keywords", "tags", "institutions", "language", "type")
    others = ("summaries", "identifiers", "bibtex", "translations", "doi", "id", "text", "number", "venue")
    paper: dict[str, Any] = {"title": "T", **dict.fromkeys((*names, *others), wrong)}
    entry = get_only_entry(write_and_read(tmp_path, "a.jsonl", json.dumps(paper)))
    assert entry.title == "T"
    assert all(isinstance(name, str) and name for name in (*entry.authors, *entry.keywords, *entry.tags))
    assert (entry.year, entry.month, entry.source) in ((None, None, ""), (3, None, ""))


def test_a_paper_that_a_shelf_exported_is_read_with_its_id_and_the_origin_of_its_title(tmp_path: Path) -> None:
    paper = {
        "title": "T",
        "title_is_derived": True,
        "preferred_summary_template": "deep",
        "summaries": {"brief": {"a": "b"}, "deep": {"a": "c"}, "empty": {}},
    }
    entry = get_only_entry(write_and_read(tmp_path, "a.jsonl", json.dumps(paper)))
    assert (entry.title_is_derived, entry.preferred_summary) == (True, "deep")
    assert entry.summaries == {"brief": {"a": "b"}, "deep": {"a": "c"}}
    again = {**paper, "title_is_derived": "yes", "preferred_summary": "brief"}
    entry = get_only_entry(write_and_read(tmp_path, "b.jsonl", json.dumps(again)))
    assert (entry.title_is_derived, entry.preferred_summary) == (False, "deep")


@pytest.mark.parametrize(
    ("given", "identifiers"),
    [
        ("0123456789abcdef", {"id": "0123456789abcdef"}),
        ("arXiv:2301.00001", {"arxiv": "arXiv:2301.00001"}),
        ("10.1234/x", {"doi": "10.1234/x"}),
    ],
)
def test_a_paper_id_of_another_program_is_the_id_of_the_record(
    tmp_path: Path, given: str, identifiers: dict[str, str]
) -> None:
    entry = get_only_entry(write_and_read(tmp_path, "a.jsonl", json.dumps({"title": "T", "paper_id": given})))
    assert entry.identifiers == identifiers
