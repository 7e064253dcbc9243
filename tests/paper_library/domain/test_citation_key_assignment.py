"""The BibTeX keys of a shelf: given or generated, unique, and the same after every build."""

# pyright: reportTypedDictNotRequiredAccess=false

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

from paper_library.service.build.builder import build_shelf
from paper_library.service.library import Library
from paper_search.citation_keys import add_citation_keys
from paper_search.export import export_bibtex, export_json
from paper_search.models import Author, Paper
from tests.installed_programs import find_program
from tests.paper_search.export.samples import collection
from uraniborg.recordings import QUERY, RECORDING


def read_keys(shelf: Path) -> dict[str, str]:
    """Return the keys of the papers of a shelf, by title."""
    library = Library.open(shelf)
    try:
        found = [library.metadata(hit["paper_id"]) for hit in library.search("", limit=100)["results"]]
        assert all(
            library.metadata(paper_metadata["citation_key"])["paper_id"] == paper_metadata["paper_id"]
            for paper_metadata in found
        )
        return {paper_metadata["title"]: paper_metadata["citation_key"] for paper_metadata in found}
    finally:
        library.close()


def write_papers(path: Path, papers: list[dict[str, Any]]) -> Path:
    path.write_text("\n".join(map(json.dumps, papers)), encoding="utf-8")
    return path


def find_bibtex_keys(text: str) -> list[str]:
    return re.findall(r"^@\w+\{([^,]+),", text, re.MULTILINE)


def make_wang_paper(title: str, **more: Any) -> Paper:
    return Paper(id=f"p_{title[-1]}", title=title, authors=[Author(name="Lei Wang")], year=2023, source="x", **more)


def test_the_keys_of_a_search_equal_those_of_its_bibtex_even_if_papers_share_a_key(tmp_path: Path) -> None:
    papers = [
        make_wang_paper("Perovskite C"),
        make_wang_paper("Perovskite A"),
        make_wang_paper("Perovskite B", doi="10.1000/b"),
        make_wang_paper("Other D"),
    ]
    found = collection(*add_citation_keys(papers))
    (tmp_path / "found.json").write_text(export_json(found), encoding="utf-8")
    (tmp_path / "found.bib").write_text(export_bibtex(found), encoding="utf-8")
    expected = dict(zip((paper.title for paper in papers), find_bibtex_keys(export_bibtex(found)), strict=True))
    assert {"wang_2023_perovskite", "wang_2023_perovskite_a", "wang_2023_perovskite_b"} < set(expected.values())
    for name in ("found.json", "found.bib"):
        build_shelf([tmp_path / name], tmp_path / name.replace(".", "-"))
        assert read_keys(tmp_path / name.replace(".", "-")) == expected


def test_generated_keys_follow_the_scheme_of_searches(tmp_path: Path) -> None:
    papers = [make_wang_paper("Perovskite A"), make_wang_paper("Perovskite B")]
    facts = [{"title": one.title, "authors": ["Lei Wang"], "year": 2023} for one in papers]
    build_shelf([write_papers(tmp_path / "a.jsonl", facts)], tmp_path / "shelf")
    assert list(read_keys(tmp_path / "shelf").values()) == find_bibtex_keys(export_bibtex(collection(*papers)))


def test_the_keys_of_a_recorded_search_are_those_of_its_bibtex(tmp_path: Path) -> None:
    env = {**os.environ, "URANIBORG_HOME": str(tmp_path / "home")}
    message = {
        name: subprocess.run(
            [find_program("python"), "-m", "paper_search", name, "--quiet", "--replay", str(RECORDING), QUERY],
            capture_output=True,
            text=True,
            timeout=50,
            check=True,
            cwd=tmp_path,
            env=env,
        ).stdout
        for name in ("--json", "--bibtex")
    }
    (tmp_path / "found.json").write_text(message["--json"], encoding="utf-8")
    report = build_shelf([tmp_path / "found.json"], tmp_path / "shelf")
    assert report.papers > 5
    assert sorted(read_keys(tmp_path / "shelf").values()) == sorted(find_bibtex_keys(message["--bibtex"]))


def test_a_key_stays_with_its_paper_when_others_come_before_it(tmp_path: Path) -> None:
    facts = [{"title": f"Perovskite {name}", "authors": ["Lei Wang"], "year": 2023} for name in "BCD"]
    build_shelf([write_papers(tmp_path / "a.jsonl", facts)], tmp_path / "shelf")
    before = read_keys(tmp_path / "shelf")
    facts.insert(0, {"title": "Perovskite A", "authors": ["Lei Wang"], "year": 2023})
    build_shelf([write_papers(tmp_path / "a.jsonl", facts)], tmp_path / "shelf")
    after = read_keys(tmp_path / "shelf")
    assert after == {**before, "Perovskite A": "wang_2023_perovskite_c"}


def test_a_generated_key_stays_when_the_title_is_corrected(tmp_path: Path) -> None:
    for title in ("Preovskite cells of all kinds", "Perovskite cells of all kinds"):
        facts = {"title": title, "authors": ["Lei Wang"], "year": 2023}
        build_shelf([write_papers(tmp_path / "a.jsonl", [facts])], tmp_path / "shelf")
    assert read_keys(tmp_path / "shelf") == {"Perovskite cells of all kinds": "wang_2023_preovskite"}


def test_a_given_key_replaces_a_generated_one_and_follows_corrections(tmp_path: Path) -> None:
    entry = "@misc{{{}, title={{Perovskite A}}, author={{Wang, Lei}}, year={{2023}}}}"
    facts = {"title": "Perovskite A", "authors": ["Lei Wang"], "year": 2023}
    build_shelf([write_papers(tmp_path / "a.jsonl", [facts])], tmp_path / "shelf")
    for key in ("mine", "ours"):
        (tmp_path / "a.bib").write_text(entry.format(key))
        build_shelf([tmp_path / "a.bib"], tmp_path / "shelf")
        assert read_keys(tmp_path / "shelf") == {"Perovskite A": key}


def test_two_papers_with_the_same_key_keep_their_earlier_keys(tmp_path: Path) -> None:
    one, two = "@misc{k, title={Of stars}}\n", "@misc{k, title={A wholly other thing}}\n"
    (tmp_path / "a.bib").write_text(one)
    build_shelf([tmp_path / "a.bib"], tmp_path / "shelf")
    (tmp_path / "a.bib").write_text(one + two)
    build_shelf([tmp_path / "a.bib"], tmp_path / "shelf")
    assert read_keys(tmp_path / "shelf") == {"Of stars": "k", "A wholly other thing": "k_a"}
    library = Library.open(tmp_path / "shelf")
    assert library.bibtex("k_a").startswith("@misc{k_a, title={A wholly")
    (tmp_path / "a.bib").write_text(two)
    build_shelf([tmp_path / "a.bib"], tmp_path / "shelf")
    assert read_keys(tmp_path / "shelf") == {"A wholly other thing": "k_a"}


def test_papers_of_two_searches_with_the_same_generated_key_are_two_papers(tmp_path: Path) -> None:
    for name, title in (("a", "Deep learning for cats"), ("b", "Deep learning for cats and dogs")):
        paper = make_wang_paper(title).model_copy(update={"citation_key": "wang_2023_deep"})
        (tmp_path / f"{name}.json").write_text(export_json(collection(paper)), encoding="utf-8")
    report = build_shelf([tmp_path / "a.json", tmp_path / "b.json"], tmp_path / "shelf")
    assert report.papers == 2
    assert sorted(read_keys(tmp_path / "shelf").values()) == ["wang_2023_deep", "wang_2023_deep_a"]


def test_many_papers_without_authors_get_keys_quickly(tmp_path: Path) -> None:
    facts = [{"title": f"题 {at}", "abstract": f"第 {at}"} for at in range(3_000)]
    build_shelf([write_papers(tmp_path / "a.jsonl", facts)], tmp_path / "shelf")
    known = read_all_keys(tmp_path / "shelf")
    assert len(set(known)) == 3_000


def read_all_keys(shelf: Path) -> list[str]:
    library = Library.open(shelf)
    papers = json.loads("".join(library.export("", "json")))["papers"]
    library.close()
    return [paper["citation_key"] for paper in papers]


def test_a_hostile_key_of_any_format_stays_one_key_in_the_shelf_and_in_bibtex(tmp_path: Path) -> None:
    key = 'a}@preamble{"\\input{/etc/passwd}"}@misc{c'
    clean = "apreambleinput/etc/passwdmiscc"
    paper = {"title": "On kilns", "authors": ["Ada Lovelace"], "year": 1843}
    write_papers(tmp_path / "papers.jsonl", [{**paper, "citation_key": key}])
    csl = {"id": "x", "type": "book", "citation-key": key, "title": "On csl", "author": [{"family": "Lovelace"}]}
    (tmp_path / "csl.json").write_text(json.dumps([csl]), encoding="utf-8")
    note = f"---\ntitle: On notes\nauthor: Ada Lovelace\ncitekey: {json.dumps(key)}\n---\n\n# On notes\n\nText.\n"
    (tmp_path / "note.md").write_text(note, encoding="utf-8")
    build_shelf([tmp_path / name for name in ("papers.jsonl", "csl.json", "note.md")], tmp_path / "shelf")
    keys = read_keys(tmp_path / "shelf")
    assert keys.keys() == {"On kilns", "On csl", "On notes"}
    assert all(given.removesuffix("_a").removesuffix("_b") == clean for given in keys.values())
    library = Library.open(tmp_path / "shelf")
    try:
        text = library.citations([*keys.values()])
    finally:
        library.close()
    assert sorted(find_bibtex_keys(text)) == sorted(keys.values())
    assert "@preamble" not in text
