"""`--update` with unchanged, corrected, incomplete and missing inputs of every kind."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from paper_library.domain.entries import BuildReport
from paper_library.service.build.builder import build_shelf
from paper_library.service.library import Library
from paper_library.store.shelf import Shelf
from paper_library.store.verification import compare_shelves
from tests.paper_library.operations.command_runs import run_process
from tests.paper_library.operations.shelves import write_text_file
from tests.paper_library.service.build.readers.pdfs import write_pdf
from uraniborg.kernel.errors import InvalidInput

LONG = "Comets move around the Sun on long orbits, and their tails point away from it for as long as they are seen."


def make_bibtex(title: str, **more: str) -> str:
    fields = "".join(
        f", {name}={{{value}}}" for name, value in {"author": "Brahe, Tycho", "year": "1573", **more}.items()
    )
    return f"@article{{brahe, title={{{title}}}{fields}}}\n"


def make_jats(title: str) -> str:
    meta = f"<title-group><article-title>{title}</article-title></title-group><abstract><p>{LONG}</p></abstract>"
    return f"<article><front><article-meta>{meta}</article-meta></front><body><p>{LONG}</p></body></article>"


KINDS: dict[str, Callable[[Path, str], object]] = {
    "refs.bib": lambda path, title: path.write_text(
        make_bibtex(title) + make_bibtex(f"{title} too", doi="10.1000/x").replace("{brahe", "{two")
    ),
    "bare.bib": lambda path, title: path.write_text(f"@misc{{a, title={{{title}}}}}\n@misc{{b, title={{Notes}}}}\n"),
    "refs.ris": lambda path, title: path.write_text(f"TY  - JOUR\nTI  - {title}\nAU  - Brahe, Tycho\nER  - \n" * 2),
    "papers.jsonl": lambda path, title: path.write_text(
        f'{{"title": "{title}"}}\n{{"title": "{title}"}}\n{{"title": "Memo"}}\n'
    ),
    "one.json": lambda path, title: path.write_text(json.dumps({"title": title, "markdown": f"# {title}\n\n{LONG}"})),
    "csl.json": lambda path, title: path.write_text(json.dumps([{"id": 7, "type": "book", "title": title}])),
    "notes.md": lambda path, title: path.write_text(f"---\ntitle: {title}\n---\n{LONG}\n"),
    "paper.xml": lambda path, title: path.write_text(make_jats(title)),
    "scan.pdf": lambda path, title: write_pdf(path, [(24, title), (10, LONG), (10, "More of it.")], Title=title),
}
TITLES = ("Notes", "Of a new star seen by all", "Reviews of " + "books on stars, " * 30 + "and more")


def read_content(shelf: Path) -> dict[str, dict[str, Any]]:
    """Return all stored data of the papers of a shelf, by id."""
    opened = Shelf.open(shelf)
    try:
        return {
            (metadata := opened.read_metadata(no))["paper_id"]: {
                **metadata,
                "bibtex": opened.read_bibtex(no),
                "keys": opened.list_keys(no),
                "origins": opened.list_origins(no),
                "texts": [(ref.kind, ref.name, ref.sha256) for ref in opened.list_assets(no)],
            }
            for no in range(opened.manifest.papers)
        }
    finally:
        opened.close()


def read_titles(shelf: Path) -> list[str]:
    return [metadata["title"] for metadata in read_content(shelf).values()]


def read_files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def select_counts(report: BuildReport) -> tuple[int, int, int, int, int]:
    return report.added, report.changed, report.replaced, report.unchanged, report.pruned


@pytest.mark.parametrize("title", TITLES)
@pytest.mark.parametrize("kind", KINDS)
def test_an_update_from_an_unchanged_input_changes_no_byte(tmp_path: Path, kind: str, title: str) -> None:
    (tmp_path / "in").mkdir()
    KINDS[kind](tmp_path / "in" / kind, title)
    shelf = tmp_path / "shelf"
    build_shelf([tmp_path / "in"], shelf)
    before, register = read_files(shelf), (tmp_path / "shelf.ids.json").read_bytes()
    report = build_shelf([tmp_path / "in"], shelf, update=shelf)
    assert read_files(shelf) == before
    assert (tmp_path / "shelf.ids.json").read_bytes() == register
    assert select_counts(report) == (0, 0, 0, report.papers, 0)
    assert report.missing_inputs == {}


def test_two_pdfs_with_short_titles_stay_two_papers(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / "in").mkdir(exist_ok=True)
        write_pdf(tmp_path / "in" / f"{name}.pdf", [(24, "Notes"), (10, f"{LONG} {name}"), (10, "End.")], Title="Notes")
    build_shelf([tmp_path / "in"], tmp_path / "shelf")
    before = read_content(tmp_path / "shelf")
    report = build_shelf([tmp_path / "in"], tmp_path / "shelf", update=tmp_path / "shelf")
    assert (report.papers, report.unchanged) == (2, 2)
    assert read_content(tmp_path / "shelf") == before


def test_a_folder_of_all_formats_gives_the_same_shelf_after_any_number_of_updates(tmp_path: Path) -> None:
    for kind, make in KINDS.items():
        (tmp_path / "in").mkdir(exist_ok=True)
        make(tmp_path / "in" / kind, f"On {kind.split('.')[0]}")
    write_text_file(tmp_path / "in" / "two.md", f"# The same\n\n{LONG} Again.\n")
    write_text_file(tmp_path / "in" / "two.de.md", "# Dasselbe\n\nNoch einmal.\n")
    write_text_file(tmp_path / "sums" / "deep" / "two.json", '{"text": "In depth."}')
    build_shelf([tmp_path / "in"], tmp_path / "shelf", summaries=tmp_path / "sums")
    before = read_files(tmp_path / "shelf")
    for again in ([tmp_path / "in"], [], [tmp_path / "in" / "two.md"], [tmp_path / "in"]):
        build_shelf(again, tmp_path / "shelf", update=tmp_path / "shelf")
        assert read_files(tmp_path / "shelf") == before


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "papers.jsonl"])
def test_a_corrected_title_replaces_the_old_one_and_keeps_the_id(tmp_path: Path, kind: str) -> None:
    (tmp_path / "in").mkdir()
    KINDS[kind](tmp_path / "in" / kind, "Of a new stra seen by all")
    build_shelf([tmp_path / "in"], tmp_path / "shelf")
    ids = set(read_content(tmp_path / "shelf"))
    KINDS[kind](tmp_path / "in" / kind, "Of a new star seen by all")
    report = build_shelf([tmp_path / "in"], tmp_path / "shelf", update=tmp_path / "shelf")
    assert set(read_content(tmp_path / "shelf")) == ids
    assert not [title for title in read_titles(tmp_path / "shelf") if "stra" in title]
    assert (report.added, report.changed, report.pruned) == (0, 0, 0)
    assert {"title"} <= {name for change in report.changes for name in change.fields}


def test_every_field_of_a_corrected_entry_is_replaced(tmp_path: Path) -> None:
    refs = write_text_file(
        tmp_path / "refs.bib",
        make_bibtex("The new star", journal="Sky", keywords="star, Uranus", abstract=LONG, volume="1"),
    )
    build_shelf([refs], tmp_path / "shelf")
    (paper_id,) = read_content(tmp_path / "shelf")
    write_text_file(refs, make_bibtex("The new star", year="1574", author="Brahe, Sophie", keywords="star"))
    report = build_shelf([refs], tmp_path / "shelf", update=tmp_path / "shelf")
    (metadata,) = read_content(tmp_path / "shelf").values()
    assert metadata["paper_id"] == paper_id
    assert (metadata["year"], metadata["authors"], metadata["keywords"]) == (1574, ["Sophie Brahe"], ["star"])
    assert (metadata["venue"], metadata["abstract"], metadata["volume"]) == ("", "", "")
    assert select_counts(report) == (0, 0, 1, 0, 0)
    changed = {"year", "authors", "keywords", "venue", "abstract", "volume", "bibtex"}
    assert set(report.changes[0].fields) == changed
    assert not Library.open(tmp_path / "shelf").search("Uranus")["total"]


def test_a_corrected_entry_replaces_only_its_own_fields_of_a_paper(tmp_path: Path) -> None:
    refs = write_text_file(
        tmp_path / "in" / "refs.bib", make_bibtex("The new star", doi="10.1000/star", keywords="wrong", journal="Sky")
    )
    write_text_file(tmp_path / "in" / "brahe.md", f"---\nkeywords: [mine]\ntitle: new star\n---\n{LONG}\n")
    build_shelf([tmp_path / "in"], tmp_path / "shelf")
    assert read_content(tmp_path / "shelf").popitem()[1]["keywords"] == ["wrong", "mine"]
    write_text_file(refs, make_bibtex("The new star", doi="10.1000/star", keywords="right"))
    report = build_shelf([refs], tmp_path / "shelf", update=tmp_path / "shelf")
    (metadata,) = read_content(tmp_path / "shelf").values()
    assert (metadata["keywords"], metadata["venue"], metadata["has_source"]) == (["right", "mine"], "", True)
    assert select_counts(report) == (0, 1, 0, 0, 0)
    assert report.missing_inputs == {"brahe.md": 1}
    rebuilt = build_shelf([tmp_path / "in"], tmp_path / "rebuilt")
    assert rebuilt.build_id == report.build_id


def test_papers_merged_by_a_wrong_doi_are_separated_when_it_is_corrected(tmp_path: Path) -> None:
    one = write_text_file(tmp_path / "in" / "a.bib", make_bibtex("The new star", doi="10.1000/star"))
    write_text_file(tmp_path / "in" / "b.bib", "@misc{b, title={Of comets in the sky}, doi={10.1000/star}}")
    build_shelf([tmp_path / "in"], tmp_path / "shelf")
    (paper_id,) = read_content(tmp_path / "shelf")
    write_text_file(one, make_bibtex("The new star", doi="10.1000/other"))
    report = build_shelf([tmp_path / "in"], tmp_path / "shelf", update=tmp_path / "shelf")
    assert sorted(read_titles(tmp_path / "shelf")) == ["Of comets in the sky", "The new star"]
    assert paper_id in read_content(tmp_path / "shelf")
    assert (report.added, report.replaced) == (1, 1)


def test_papers_that_are_merged_later_are_found_by_both_ids(tmp_path: Path) -> None:
    write_text_file(tmp_path / "in" / "a.bib", make_bibtex("The new star"))
    write_text_file(tmp_path / "in" / "b.bib", "@misc{b, title={Of a star that was never seen}, doi={10.1000/star}}")
    build_shelf([tmp_path / "in"], tmp_path / "shelf")
    ids = set(read_content(tmp_path / "shelf"))
    write_text_file(tmp_path / "in" / "a.bib", make_bibtex("The new star", doi="10.1000/star"))
    report = build_shelf([tmp_path / "in"], tmp_path / "shelf", update=tmp_path / "shelf")
    assert (report.papers, report.merged_papers) == (1, 1)
    for _ in range(2):
        library = Library.open(tmp_path / "shelf")
        assert {library.metadata(one)["title"] for one in ids} == {"The new star"}
        build_shelf([tmp_path / "in"], tmp_path / "shelf")


def test_removed_entries_stay_until_they_are_pruned_and_return_with_their_ids(tmp_path: Path) -> None:
    two = write_text_file(
        tmp_path / "in" / "refs.bib", make_bibtex("The new star") + make_bibtex("Of comets").replace("{brahe", "{two")
    )
    write_text_file(tmp_path / "in" / "moon.md", f"---\ntitle: The moon\n---\n{LONG}\n")
    shelf = tmp_path / "shelf"
    build_shelf([tmp_path / "in"], shelf)
    before = read_content(shelf)
    write_text_file(two, make_bibtex("The new star"))
    (tmp_path / "in" / "moon.md").unlink()
    kept = build_shelf([tmp_path / "in"], shelf, update=shelf)
    assert read_content(shelf) == before
    assert (select_counts(kept), kept.missing_inputs) == ((0, 0, 0, 3, 0), {"refs.bib": 1, "moon.md": 1})
    pruned = build_shelf([tmp_path / "in"], shelf, update=shelf, prune=True)
    assert read_titles(shelf) == ["The new star"]
    assert (select_counts(pruned), pruned.missing_inputs) == ((0, 0, 0, 1, 2), {})
    assert {change.title for change in pruned.changes} == {"The moon", "Of comets"}
    write_text_file(two, make_bibtex("The new star") + make_bibtex("Of comets").replace("{brahe", "{two"))
    write_text_file(tmp_path / "in" / "moon.md", f"---\ntitle: The moon\n---\n{LONG}\n")
    build_shelf([tmp_path / "in"], shelf, update=shelf)
    assert set(read_content(shelf)) == set(before)


def test_a_pruned_paper_keeps_the_fields_of_its_other_input(tmp_path: Path) -> None:
    write_text_file(tmp_path / "in" / "refs.bib", make_bibtex("The new star", doi="10.1000/star"))
    write_text_file(tmp_path / "in" / "brahe.md", f"---\ntitle: The new star\n---\n{LONG}\n")
    build_shelf([tmp_path / "in"], tmp_path / "shelf")
    (paper_id,) = read_content(tmp_path / "shelf")
    (tmp_path / "in" / "refs.bib").unlink()
    build_shelf([tmp_path / "in"], tmp_path / "shelf", update=tmp_path / "shelf", prune=True)
    (metadata,) = read_content(tmp_path / "shelf").values()
    assert (metadata["paper_id"], metadata["has_source"], metadata["identifiers"]) == (paper_id, True, {})


@pytest.mark.parametrize("prune", [False, True])
def test_an_unreadable_input_removes_no_paper(tmp_path: Path, prune: bool) -> None:
    refs = write_text_file(
        tmp_path / "in" / "refs.bib", make_bibtex("The new star") + make_bibtex("Of comets").replace("{brahe", "{two")
    )
    lines = write_text_file(tmp_path / "in" / "more.json", json.dumps([{"title": "Of the moon and its face"}]))
    build_shelf([tmp_path / "in"], tmp_path / "shelf")
    before = set(read_content(tmp_path / "shelf"))
    write_text_file(refs, make_bibtex("The new star") + "@article{two, title={Of comets")
    write_text_file(lines, "[{")
    report = build_shelf([tmp_path / "in"], tmp_path / "shelf", update=tmp_path / "shelf", prune=prune)
    assert set(read_content(tmp_path / "shelf")) == before
    assert report.broken == 2


def test_another_file_with_the_same_name_does_not_replace_a_paper(tmp_path: Path) -> None:
    for name, title in (("a", "The new star"), ("b", "Of comets and their tails")):
        write_text_file(tmp_path / name / "paper.md", f"---\ntitle: {title}\n---\n{LONG} {name}\n")
        write_text_file(tmp_path / name / "papers.json", json.dumps([{"title": f"{title}, again and again"}]))
    build_shelf([tmp_path / "a" / "paper.md", tmp_path / "a" / "papers.json"], tmp_path / "shelf")
    before = read_content(tmp_path / "shelf")
    report = build_shelf(
        [tmp_path / "b" / "paper.md", tmp_path / "b" / "papers.json"], tmp_path / "shelf", update=tmp_path / "shelf"
    )
    assert (report.papers, report.added, report.unchanged) == (4, 2, 2)
    assert read_content(tmp_path / "shelf").items() >= before.items()


def test_a_renamed_file_is_the_same_paper(tmp_path: Path) -> None:
    text = f"---\ntitle: Notes\n---\n{LONG}\n"
    old = write_text_file(tmp_path / "in" / "draft.md", text)
    build_shelf([tmp_path / "in"], tmp_path / "shelf")
    (paper_id,) = read_content(tmp_path / "shelf")
    old.rename(tmp_path / "in" / "final.md")
    report = build_shelf([tmp_path / "in"], tmp_path / "shelf", update=tmp_path / "shelf", prune=True)
    assert set(read_content(tmp_path / "shelf")) == {paper_id}
    assert report.papers == 1


def test_added_summaries_stay_when_inputs_are_read_again(tmp_path: Path) -> None:
    refs = write_text_file(tmp_path / "refs.bib", make_bibtex("The new star"))
    write_text_file(tmp_path / "sums" / "deep" / "brahe.json", '{"text": "In depth."}')
    build_shelf([refs], tmp_path / "shelf", summaries=tmp_path / "sums")
    write_text_file(refs, make_bibtex("The new star", volume="2"))
    for prune in (False, True):
        build_shelf([refs], tmp_path / "shelf", update=tmp_path / "shelf", prune=prune)
        assert "In depth." in Library.open(tmp_path / "shelf").summary("brahe", "deep")
    (tmp_path / "sums" / "deep" / "brahe.json").unlink()
    build_shelf([refs], tmp_path / "shelf", summaries=tmp_path / "sums", update=tmp_path / "shelf", prune=True)
    assert Library.open(tmp_path / "shelf").metadata("brahe")["available_summary_templates"] == ["default"]


def test_prune_without_an_update_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="prune"):
        build_shelf([write_text_file(tmp_path / "refs.bib", make_bibtex("Star"))], tmp_path / "shelf", prune=True)


def test_the_command_reports_the_changes_of_an_update(tmp_path: Path) -> None:
    write_text_file(
        tmp_path / "in" / "refs.bib", make_bibtex("The new stra") + make_bibtex("Of comets").replace("{brahe", "{two")
    )
    assert run_process("build", "in", "-o", "shelf", cwd=tmp_path).code == 0
    write_text_file(tmp_path / "in" / "refs.bib", make_bibtex("The new star"))
    kept = run_process("build", "in", "-o", "shelf", "--update", "shelf", cwd=tmp_path)
    assert "Update of shelf: 1 replaced, 1 unchanged." in kept.out
    assert "replaced: The new star (title, bibtex)" in kept.out
    assert "Retained, but not in these inputs: 1 from refs.bib. --prune removes them." in kept.out
    pruned = run_process("build", "in", "-o", "shelf", "--update", "shelf", "--prune", "--json", cwd=tmp_path).json
    assert (pruned["pruned"], pruned["unchanged"], pruned["missing_inputs"]) == (1, 1, {})
    assert pruned["changes"] == [
        {"change": "pruned", "paper_id": pruned["changes"][0]["paper_id"], "title": "Of comets", "fields": []}
    ]
    assert compare_shelves(tmp_path / "shelf", tmp_path / "shelf").unchanged == 1
