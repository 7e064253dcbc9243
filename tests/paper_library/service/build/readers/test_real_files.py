"""The readers on real files."""

import json
import re
from pathlib import Path
from typing import Any

from paper_library.domain.entries import BuildProblem, Entry
from paper_library.service.build.readers.markdown_files import read_bibliography_names
from tests.paper_library.service.build.readers.files import get_only_entry, read_file, select_entries, select_problems


def test_every_paper_of_the_corpus_is_read(shared_data: Path) -> None:
    count = with_doi = 0
    for part in sorted((shared_data / "corpus").glob("*.jsonl.gz")):
        for entry in read_file(part):
            assert isinstance(entry, Entry)
            assert entry.title
            assert entry.identifiers["id"]
            assert entry.year
            count += 1
            with_doi += "doi" in entry.identifiers
    assert count == 110_481
    assert with_doi > 10_000


def test_joss_papers_are_read_as_their_index_describes_them(shared_data: Path) -> None:
    index: list[dict[str, Any]] = json.loads((shared_data / "joss" / "index.json").read_text("utf-8"))
    assert len(index) == 55
    for described in index:
        path = shared_data / "joss" / described["slug"] / "paper.md"
        entry = get_only_entry(read_file(path))
        assert _select_letters(entry.title) == _select_letters(described["title"].replace("\\-", ""))
        assert len(entry.authors) == described["n_authors"]
        assert entry.tags == [tag for tag in described["tags"] if tag]
        assert entry.institutions
        assert entry.source
        assert entry.year is not None or not any(map(str.isdigit, described["date"] or ""))
        assert len(read_bibliography_names(path)) == 1


def test_bibliographies_of_joss_papers_are_read_completely(shared_data: Path) -> None:
    found: list[Entry | BuildProblem] = []
    for path in sorted((shared_data / "joss").glob("*/paper.bib")):
        found += read_file(path)
    # Three entries of these files have no title, and say so.
    assert (len(select_entries(found)), len(select_problems(found))) == (865, 3)
    assert all("no title" in problem.reason for problem in select_problems(found))
    assert all(entry.bibtex.startswith("@") and entry.bibtex.endswith("}") for entry in select_entries(found))
    left = [
        entry
        for entry in select_entries(found)
        if "\\" in entry.venue or "{" in " ".join((entry.title, *entry.authors))
    ]
    assert [entry.title for entry in left if "$" not in entry.title] == []


def test_difficult_bibtex_is_read_as_its_maintainers_expect(shared_data: Path) -> None:
    right = dict.fromkeys(("title", "people", "year", "doi"), 0)
    compared = 0
    for path in sorted((shared_data / "bibtex" / "betterbibtex").glob("*.bib")):
        expected = json.loads(path.with_suffix(".expected.json").read_text("utf-8"))
        by_key = {item.get("citationKey"): item for item in expected}
        for entry in select_entries(read_file(path)):
            item = by_key.get(entry.identifiers.get("bibkey"))
            if item is None:
                continue
            compared += 1
            right["title"] += _select_letters(item.get("title", "")) == _select_letters(entry.title)
            right["people"] += set(map(_select_letters, entry.authors)) <= set(_list_people(item))
            right["year"] += item.get("date", "")[:4].rstrip("-") == str(entry.year or "")
            right["doi"] += item.get("DOI", "") == entry.identifiers.get("doi", "")
    assert compared >= 130
    assert all(count >= 0.95 * compared for count in right.values()), right


def test_jats_articles_are_read_with_their_sections(shared_data: Path) -> None:
    found = {
        path.name: get_only_entry(read_file(path))
        for path in sorted((shared_data / "fulltext" / "jats").glob("*.nxml"))
    }
    assert {
        name: (len(entry.authors), entry.year, entry.month, entry.identifiers["doi"]) for name, entry in found.items()
    } == {
        "1471-2180-11-174.nxml": (2, 2011, 8, "10.1186/1471-2180-11-174"),
        "1472-6831-8-11.nxml": (4, 2008, 4, "10.1186/1472-6831-8-11"),
        "ehp-116-1694.nxml": (4, 2008, 8, "10.1289/ehp.11570"),
        "pntd.0002065.nxml": (6, 2013, 2, "10.1371/journal.pntd.0002065"),
        "pone.0000217.nxml": (4, 2007, 2, "10.1371/journal.pone.0000217"),
        "pone.0046493.nxml": (9, 2012, 9, "10.1371/journal.pone.0046493"),
    }
    for entry in found.values():
        assert entry.source.startswith(f"# {entry.title}")
        assert entry.source.count("\n## ") >= 4
        assert "\n## References" in entry.source
        assert len(entry.source) > 30_000
        assert 1_000 < len(entry.abstract) < 3_000
        assert entry.institutions
        assert entry.venue


def test_pdfs_are_read_and_the_encrypted_one_is_reported(shared_data: Path) -> None:
    paths = sorted((shared_data / "fulltext" / "pdf").glob("*.pdf"))
    assert len(paths) == 13
    found = [item for path in paths for item in read_file(path)]
    assert len(select_entries(found)) == 12
    assert [(problem.origin, problem.kind) for problem in select_problems(found)] == [
        ("pypdf_libreoffice-writer-password.pdf", "broken")
    ]
    assert all(entry.source for entry in select_entries(found))
    by_name = {entry.origin: entry for entry in select_entries(found)}
    titles = json.loads((shared_data / "joss" / "index.json").read_text("utf-8"))
    described = next(item["title"] for item in titles if item["slug"] == "multivae")
    assert _select_letters(by_name["multivae.pdf"].title) == _select_letters(described)
    assert by_name["pypdf_multicolumn.pdf"].abstract
    assert len(by_name["multivae.pdf"].source) > 10_000


def _list_people(item: dict[str, Any]) -> list[str]:
    parts = [
        [person.get(name, "") for name in ("firstName", "lastName", "name")] for person in item.get("creators", [])
    ]
    return [_select_letters("".join(names)) for names in parts]


def _select_letters(text: str) -> str:
    """Return only the letters and digits: markup and capitals differ on purpose."""
    return "".join(filter(str.isalnum, re.sub("<[^<>]*>", "", text).lower()))
