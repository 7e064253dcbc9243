"""`--update` adds papers to a shelf: ids and contents stay, and a second update changes nothing."""

import json
from pathlib import Path

import pytest

from paper_library.service.build.builder import build_shelf
from paper_library.service.library import Library
from paper_library.store.verification import compare_shelves, verify_shelf
from tests.paper_library.operations.command_runs import call_command
from tests.paper_library.operations.shelves import (
    build_readable_shelf,
    flip_bit,
    list_file_stats,
    write_bibliography,
    write_text_file,
)


def read_ids(shelf: Path) -> dict[str, str]:
    library = Library.open(shelf)
    try:
        return {hit["title"]: hit["paper_id"] for hit in library.search("", limit=100)["results"]}
    finally:
        library.close()


def test_a_paper_known_by_its_key_keeps_its_id_when_its_doi_becomes_known(tmp_path: Path) -> None:
    plain = write_text_file(
        tmp_path / "plain.bib", "@article{brahe, title={The new star}, author={Brahe, Tycho}, year=1573}"
    )
    full = write_text_file(
        tmp_path / "full.bib",
        "@article{brahe, title={The new star}, author={Brahe, Tycho}, year=1573, doi={10.1000/star}}",
    )
    old, new = tmp_path / "old", tmp_path / "new"
    build_shelf([plain], old)
    build_shelf([full], new, update=old)
    assert read_ids(new) == read_ids(old)
    assert Library.open(new).metadata("10.1000/star")["paper_id"] == read_ids(old)["The new star"]
    assert [change.fields for change in compare_shelves(old, new).changed] == [("identifiers",)]


def test_papers_are_added_and_existing_papers_do_not_change(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    build_readable_shelf(old)
    source = write_bibliography(tmp_path / "more.bib", "A book of moons")
    report = build_shelf([source], new, update=old)
    assert report.papers == 4
    difference = compare_shelves(old, new)
    assert [change.title for change in difference.added] == ["A book of moons"]
    assert (difference.removed, difference.changed, difference.unchanged) == ([], [], 3)
    before, after = Library.open(old), Library.open(new)
    for paper in read_ids(old).values():
        assert after.metadata(paper) == before.metadata(paper)
        assert json.loads(after.summary(paper)) == json.loads(before.summary(paper))
    comets = read_ids(old)["On comets"]
    assert after.source(comets) == before.source(comets)
    assert after.bibtex("Onthenewstar") == before.bibtex("Onthenewstar")
    assert verify_shelf(new).is_intact


def test_an_update_with_nothing_new_gives_the_same_build(tmp_path: Path) -> None:
    source = tmp_path / "papers"
    source.mkdir()
    write_bibliography(source / "papers.bib", "Star", "Comet", abstract="It shines.")
    write_text_file(source / "moon.md", "---\ntitle: Moon\nauthors: [Sophie Brahe]\n---\n# Moon\n\nIt goes round.\n")
    write_text_file(source / "moon.de.md", "# Mond\n\nEr kreist.\n")
    ids = [build_shelf([source], tmp_path / "0").build_id]
    ids += [build_shelf([source], tmp_path / "1", update=tmp_path / "0").build_id]
    ids += [build_shelf([], tmp_path / "2", update=tmp_path / "1").build_id]
    assert len(set(ids)) == 1
    assert Library.open(tmp_path / "2").translation(read_ids(tmp_path / "2")["Moon"], "de").startswith("# Mond")


def test_a_text_without_authors_is_recognised_again(tmp_path: Path) -> None:
    source = write_text_file(tmp_path / "moon.md", "---\ntitle: The mountains of the moon\n---\nThey cast shadows.\n")
    old = build_shelf([source], tmp_path / "old")
    new = build_shelf([source], tmp_path / "new", update=tmp_path / "old")
    assert (new.papers, new.build_id) == (1, old.build_id)


def test_a_shelf_is_updated_in_place(tmp_path: Path) -> None:
    shelf = tmp_path / "shelf"
    build_readable_shelf(shelf)
    before = read_ids(shelf)
    build_shelf([write_bibliography(tmp_path / "more.bib", "A book of moons")], shelf, update=shelf)
    assert read_ids(shelf).items() > before.items()
    assert verify_shelf(shelf).is_intact


def test_an_update_does_not_change_the_old_shelf(tmp_path: Path) -> None:
    old = tmp_path / "old"
    build_readable_shelf(old)
    before = list_file_stats(old)
    build_shelf([write_bibliography(tmp_path / "more.bib", "A book of moons")], tmp_path / "new", update=old)
    assert list_file_stats(old) == before


@pytest.mark.parametrize("harm", ["missing", "flipped"])
def test_an_update_of_a_damaged_shelf_is_refused_and_creates_no_shelf(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, harm: str
) -> None:
    old, source = tmp_path / "old", write_bibliography(tmp_path / "more.bib", "A book of moons")
    if harm == "flipped":
        build_readable_shelf(old)
        flip_bit(old / "shelf.db", 50_000)
    done = call_command(capsys, "build", source, "-o", tmp_path / "new", "--update", old, "--json")
    assert done.error["code"] == {"missing": "shelf_not_found", "flipped": "shelf_damaged"}[harm]
    assert not (tmp_path / "new").exists()


def test_a_missing_text_of_the_old_shelf_is_reported_and_its_paper_stays(tmp_path: Path) -> None:
    old = tmp_path / "old"
    build_readable_shelf(old)
    (file,) = (old / "static" / "source").rglob("*.md")
    file.unlink()
    report = build_shelf([write_bibliography(tmp_path / "more.bib", "A book of moons")], tmp_path / "new", update=old)
    assert [(one.origin, one.kind) for one in report.problems] == [("On comets", "broken")]
    assert read_ids(tmp_path / "new")["On comets"] == read_ids(old)["On comets"]


def test_every_key_of_a_paper_still_finds_it_after_an_update(tmp_path: Path) -> None:
    entry = "@article{{{}, title={{The new star}}, author={{Brahe, Tycho}}, doi={{10.1000/star}}}}"
    one = write_text_file(tmp_path / "one.bib", entry.format("brahe1573"))
    two = write_text_file(tmp_path / "two.bib", entry.format("Brahe_star"))
    old, new = tmp_path / "old", tmp_path / "new"
    build_shelf([one, two], old)
    build_shelf([], new, update=old)
    for shelf in (old, new):
        library = Library.open(shelf)
        assert library.metadata("brahe1573") == library.metadata("Brahe_star")


def test_two_papers_that_turn_out_to_be_one_keep_the_id_of_one_of_them(tmp_path: Path) -> None:
    first = write_text_file(
        tmp_path / "a.bib", "@article{a, title={The new star}, author={Brahe, Tycho}, doi={10.1000/star}}"
    )
    second = write_text_file(
        tmp_path / "b.bib", "@article{b, title={Of a star never seen before}, eprint={1573.00001}}"
    )
    both = write_text_file(
        tmp_path / "c.bib",
        "@article{c, title={The new star}, author={Brahe, Tycho}, doi={10.1000/star}, eprint={1573.00001}, "
        "archiveprefix={arXiv}}",
    )
    old, new = tmp_path / "old", tmp_path / "new"
    build_shelf([first, second], old)
    build_shelf([both], new, update=old)
    assert set(read_ids(new).values()) <= set(read_ids(old).values())
