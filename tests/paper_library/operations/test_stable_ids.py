"""The id of a paper survives corrections, rebuilds, and the loss of the shelf or of its register."""

import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paper_library.errors import RegisterTooNew, ShelfUnwritable
from paper_library.service.build import builder
from paper_library.service.build.builder import build_shelf
from paper_library.service.library import Library
from paper_library.store import index as fields
from paper_library.store.layout import compute_file_digest
from paper_library.store.shelf import Shelf
from tests.paper_library.operations.command_runs import call_command, run_process
from tests.paper_library.operations.killed_build import build_until_killed
from tests.paper_library.operations.shelves import write_text_file

LONG = "Comets move around the Sun on long orbits, and their tails point away from it for as long as they are seen."
PLAIN = "@article{brahe, title={The new star}, author={Brahe, Tycho}, year=1573}\n"
WITH_DOI = "@article{brahe, title={The new star}, author={Brahe, Tycho}, year=1573, doi={10.1000/star}}\n"


def read_ids(shelf: Path) -> dict[str, str]:
    """Return the ids of the papers of a shelf by title; the second of two equal titles has a star."""
    opened = Shelf.open(shelf)
    try:
        found: dict[str, str] = {}
        for metadata in sorted(
            map(opened.read_metadata, range(opened.manifest.papers)), key=lambda metadata: metadata["paper_id"]
        ):
            found[f"{metadata['title']}*" if metadata["title"] in found else metadata["title"]] = metadata["paper_id"]
        return found
    finally:
        opened.close()


def read_files(folder: Path) -> dict[str, bytes]:
    """Return the contents of every file of a shelf, without the time of the build."""
    found = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    manifest = json.loads(found.pop("manifest.json"))
    return {**found, "manifest.json": json.dumps({**manifest, "built_at": ""}).encode()}


def read_register(shelf: Path) -> dict[str, Any]:
    return json.loads(shelf.with_name(f"{shelf.name}.ids.json").read_bytes())["papers"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_text_file(tmp_path / "in" / "refs.bib", PLAIN)
    write_text_file(tmp_path / "in" / "moon.md", f"---\ntitle: The face of teh moon\n---\n{LONG}\n")
    write_text_file(
        tmp_path / "in" / "list.jsonl", '{"title": "On long-haired stars"}\n{"title": "Notes"}\n{"title": "Notes"}\n'
    )
    return tmp_path / "in"


def correct_inputs(folder: Path) -> None:
    """Add a DOI, and correct titles of papers with and without keys."""
    write_text_file(folder / "refs.bib", WITH_DOI)
    write_text_file(folder / "moon.md", f"---\ntitle: The face of the moon\n---\n{LONG}\n")
    lines = '{"title": "Something new"}\n{"title": "On long-haired star"}\n{"title": "Notes"}\n{"title": "Notes"}\n'
    write_text_file(folder / "list.jsonl", lines)


def test_ids_survive_a_title_fix_and_a_new_doi_in_a_rebuild(folder: Path, tmp_path: Path) -> None:
    shelf = tmp_path / "shelf"
    build_shelf([folder], shelf)
    before = read_ids(shelf)
    correct_inputs(folder)
    build_shelf([folder], shelf)
    after = read_ids(shelf)
    assert after["The new star"] == before["The new star"] == Library.open(shelf).metadata("10.1000/star")["paper_id"]
    assert after["The face of the moon"] == before["The face of teh moon"]
    assert after["On long-haired star"] == before["On long-haired stars"]
    assert after["Something new"] not in before.values()


def test_ids_survive_the_loss_of_the_shelf(folder: Path, tmp_path: Path) -> None:
    build_shelf([folder], tmp_path / "shelf")
    before = read_ids(tmp_path / "shelf")
    shutil.rmtree(tmp_path / "shelf")
    correct_inputs(folder)
    build_shelf([folder], tmp_path / "shelf")
    assert set(read_ids(tmp_path / "shelf").values()) >= set(before.values())


@pytest.mark.parametrize("harm", ["missing", "empty", "not JSON", "cut off", "a list", "of other things"])
def test_ids_survive_the_loss_of_the_register(folder: Path, tmp_path: Path, harm: str) -> None:
    shelf, file = tmp_path / "shelf", tmp_path / "shelf.ids.json"
    build_shelf([folder], shelf)
    before, content = read_ids(shelf), file.read_bytes()
    file.unlink()
    harmed = {
        "empty": b"",
        "not JSON": b"\x00\xff",
        "cut off": content[:-30],
        "a list": b"[]",
        "of other things": b'{"paper_library_ids": 1, "papers": []}',
    }
    if harm in harmed:
        file.write_bytes(harmed[harm])
    correct_inputs(folder)
    report = build_shelf([folder], shelf)
    assert set(read_ids(shelf).values()) >= set(before.values())
    assert set(read_register(shelf)) == set(read_ids(shelf).values())
    if harm in harmed:
        assert [(one.origin, one.kind) for one in report.problems] == [("shelf.ids.json", "broken")]
        assert (tmp_path / "shelf.ids.json.damaged").read_bytes() == harmed[harm]


@pytest.mark.parametrize(
    "line",
    [
        {"title": 7},
        {"keys": "doi:10.1000/x"},
        {"keys": [7]},
        {"year": "1573"},
        {"year": True},
        {"key": []},
        "text",
        None,
    ],
)
def test_a_damaged_line_of_the_register_loses_only_its_paper(folder: Path, tmp_path: Path, line: Any) -> None:
    shelf, file = tmp_path / "shelf", tmp_path / "shelf.ids.json"
    build_shelf([folder], shelf)
    before = read_ids(shelf)
    papers = read_register(shelf)
    papers |= {"f" * 32: line, "no id": {"keys": ["bib:brahe"]}}
    file.write_text(json.dumps({"paper_library_ids": 1, "papers": papers}))
    report = build_shelf([folder], shelf)
    assert read_ids(shelf) == before
    assert [one.reason[:4] for one in report.problems] == ["2 of"]


def test_a_register_of_a_later_version_does_not_change(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write_text_file(tmp_path / "shelf.ids.json", '{"paper_library_ids": 2, "papers": {}}')
    with pytest.raises(RegisterTooNew):
        build_shelf([folder], tmp_path / "shelf")
    refused = call_command(capsys, "build", folder, "-o", tmp_path / "shelf", "--json")
    assert (refused.code, refused.error["code"]) == (4, "register_too_new")
    assert "2" in file.read_text()
    assert not (tmp_path / "shelf").exists()


def test_two_builds_from_the_same_inputs_and_register_are_byte_identical(folder: Path, tmp_path: Path) -> None:
    build_shelf([folder], tmp_path / "first")
    correct_inputs(folder)
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        shutil.copy(tmp_path / "first.ids.json", tmp_path / name / "shelf.ids.json")
        build_shelf([folder], tmp_path / name / "shelf")
    one, two = tmp_path / "one", tmp_path / "two"
    assert read_files(one / "shelf") == read_files(two / "shelf")
    assert (one / "shelf.ids.json").read_bytes() == (two / "shelf.ids.json").read_bytes()
    before = read_files(one / "shelf")
    build_shelf([folder], one / "shelf")
    assert read_files(one / "shelf") == before
    assert (one / "shelf.ids.json").read_bytes() == (two / "shelf.ids.json").read_bytes()


def test_builds_in_separate_processes_are_byte_identical(folder: Path, tmp_path: Path) -> None:
    for seed in ("1", "2"):
        assert run_process("build", folder, "-o", f"shelf{seed}", cwd=tmp_path, PYTHONHASHSEED=seed).code == 0
    assert read_files(tmp_path / "shelf1") == read_files(tmp_path / "shelf2")
    assert (tmp_path / "shelf1.ids.json").read_bytes() == (tmp_path / "shelf2.ids.json").read_bytes()


def test_a_build_killed_at_any_moment_loses_no_id(folder: Path, tmp_path: Path) -> None:
    shelf = tmp_path / "shelf"
    build_shelf([folder], shelf)
    before = read_ids(shelf)
    correct_inputs(folder)
    moment, died = 5, True
    while died:
        died = build_until_killed([folder], shelf, moment)
        assert set(read_register(shelf)) >= set(before.values()), f"killed before step {moment}"
        moment += 13
    assert set(read_ids(shelf).values()) >= set(before.values())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "shelf", "shelf.ids.json"]


def test_a_failed_replacement_does_not_change_ids(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf = tmp_path / "shelf"
    build_shelf([folder], shelf)
    before = read_ids(shelf)
    correct_inputs(folder)

    def fails(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("paper_library.service.build.shelf_writer._replace_folder", fails)
        with pytest.raises(ShelfUnwritable):
            build_shelf([folder], shelf)
    assert read_ids(shelf) == before
    build_shelf([folder], shelf)
    assert set(read_ids(shelf).values()) >= set(before.values())


def test_a_full_disk_does_not_change_the_register(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build_shelf([folder], tmp_path / "shelf")
    before = (tmp_path / "shelf.ids.json").read_bytes()
    correct_inputs(folder)

    def fails(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("paper_library.store.id_register.write_atomic", fails)
    with pytest.raises(ShelfUnwritable):
        build_shelf([folder], tmp_path / "shelf")
    assert (tmp_path / "shelf.ids.json").read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "shelf", "shelf.ids.json"]


def test_an_update_into_another_folder_keeps_the_ids(folder: Path, tmp_path: Path) -> None:
    build_shelf([folder], tmp_path / "old")
    shutil.rmtree(folder)
    build_shelf([write_text_file(tmp_path / "new.bib", WITH_DOI)], tmp_path / "new", update=tmp_path / "old")
    assert read_ids(tmp_path / "new") == read_ids(tmp_path / "old")
    assert read_register(tmp_path / "new").keys() == read_register(tmp_path / "old").keys()


def test_a_damaged_register_of_another_shelf_is_not_renamed(folder: Path, tmp_path: Path) -> None:
    build_shelf([folder], tmp_path / "old")
    write_text_file(tmp_path / "old.ids.json", "{")
    report = build_shelf([folder], tmp_path / "new", update=tmp_path / "old")
    assert [one.origin for one in report.problems] == ["old.ids.json"]
    assert (tmp_path / "old.ids.json").read_text() == "{"
    assert read_ids(tmp_path / "new") == read_ids(tmp_path / "old")


WORDS = st.sampled_from(["star", "comet", "new", "old", "moon"])


@st.composite
def records(draw: st.DrawFn) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "authors": draw(st.sampled_from([["Tycho Brahe"], ["Sophie Brahe"], ["Johannes Kepler", "Tycho Brahe"]])),
        "year": draw(st.integers(1570, 1572)),
        "doi": draw(st.sampled_from(["10.1000/a", "10.1000/b"])),
        "bibkey": draw(st.sampled_from(["k", "brahe_1570_star", "l"])),
        "id": draw(st.sampled_from(["1", "2", "3"])),
        "abstract": draw(st.sampled_from(["Short.", LONG])),
    }
    chosen = draw(st.sets(st.sampled_from(sorted(facts))))
    title = " ".join(draw(st.lists(WORDS, min_size=1, max_size=4)))
    return {"title": title, **{name: facts[name] for name in chosen}}


@settings(max_examples=12, deadline=None)
@given(st.lists(records(), min_size=1, max_size=8), st.lists(records(), max_size=4))
def test_any_inputs_give_the_same_shelf_again_by_rebuilding_and_by_updating(
    tmp_path_factory: pytest.TempPathFactory, one: list[dict[str, Any]], two: list[dict[str, Any]]
) -> None:
    folder = tmp_path_factory.mktemp("any")
    shelf = folder / "shelf"
    write_text_file(folder / "in" / "one.jsonl", "\n".join(map(json.dumps, one)))
    write_text_file(folder / "in" / "two.json", json.dumps(two))
    build_shelf([folder / "in"], shelf)
    before, register, known = read_files(shelf), (folder / "shelf.ids.json").read_bytes(), read_all_ids(shelf)
    for update in (None, shelf):
        build_shelf([folder / "in"], shelf, update=update)
        assert read_files(shelf) == before
        assert (folder / "shelf.ids.json").read_bytes() == register
    build_shelf([folder / "in" / "two.json"], shelf, update=shelf)
    assert read_all_ids(shelf) == known


def read_all_ids(shelf: Path) -> set[str]:
    opened = Shelf.open(shelf)
    try:
        return {opened.read_metadata(no)["paper_id"] for no in range(opened.manifest.papers)}
    finally:
        opened.close()


def test_registers_are_not_inputs(folder: Path) -> None:
    for _ in range(2):
        report = build_shelf([folder], folder / "shelf")
        assert report.problems == []
    shutil.rmtree(folder / "shelf")
    write_text_file(folder / "my.ids.json", '[{"title": "A paper of mine and nobody else"}]')
    assert build_shelf([folder], folder / "other").problems == []
    assert "A paper of mine and nobody else" in read_ids(folder / "other")


def test_a_paper_never_gets_the_registered_id_of_another_paper(tmp_path: Path) -> None:
    refs, shelf = tmp_path / "refs.bib", tmp_path / "shelf"
    build_shelf([write_text_file(refs, "@misc{k, title={The new star}, doi={10.1000/wrong}}")], shelf)
    star = read_ids(shelf)["The new star"]
    both = "@misc{k, title={The new star}, doi={10.1000/right}}\n@misc{l, title={Of comets}, doi={10.1000/wrong}}"
    build_shelf([write_text_file(refs, both)], shelf)
    after = read_ids(shelf)
    assert after["The new star"] == star
    assert after["Of comets"] != star


def convert_to_schema_1(shelf: Path) -> None:
    """Convert a shelf to schema 1: no entries, fewer fields, no register."""
    shelf.with_name(f"{shelf.name}.ids.json").unlink()
    manifest = json.loads((shelf / "manifest.json").read_bytes())
    database = sqlite3.connect(shelf / "shelf.db")
    new = ("citation_key", "volume", "issue", "pages", "publisher", "retraction", "title_is_derived")
    for no, metadata in database.execute("SELECT no, metadata FROM paper").fetchall():
        paper_metadata = {name: value for name, value in json.loads(metadata).items() if name not in new}
        database.execute(
            "UPDATE paper SET metadata = ?, digest = 'old' WHERE no = ?", (json.dumps(paper_metadata).encode(), no)
        )
    database.executescript("DROP TABLE entry; ALTER TABLE asset DROP COLUMN is_added;")
    database.close()
    manifest |= {"schema_version": 1}
    manifest["files"]["shelf.db"] = compute_file_digest(shelf / "shelf.db")
    (shelf / "manifest.json").write_text(json.dumps(manifest))


@pytest.fixture
def old_shelf(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_text_file(folder / "brahe.md", f"# Star\n\n{LONG} And so on.\n")
    write_text_file(tmp_path / "sums" / "deep" / "brahe.json", '{"text": "In depth."}')
    with monkeypatch.context() as patched:
        words = [name for name in fields._WORDS if name != fields.FLAG]  # pyright: ignore[reportPrivateUsage]
        patched.setattr(fields, "_WORDS", words)
        build_shelf([folder], tmp_path / "shelf", summaries=tmp_path / "sums")
    convert_to_schema_1(tmp_path / "shelf")
    return tmp_path / "shelf"


def test_a_shelf_of_schema_1_can_be_read(old_shelf: Path) -> None:
    library = Library.open(old_shelf)
    assert library.metadata("brahe")["title"] == "The new star"
    assert library.search("star")["total"] == 2
    assert library.search("is:retracted")["total"] == 0
    assert library.search("star -is:retracted")["total"] == 2
    assert library.bibtex("brahe").startswith("@article{brahe,")
    assert "unknown_nd_notes" in library.bibtex(read_ids(old_shelf)["Notes"])
    assert library.find_paper_id_by_prefix("bra") == library.metadata("brahe")["paper_id"]
    library.close()


@pytest.mark.parametrize("update", [True, False], ids=["update", "rebuild"])
def test_ids_of_a_shelf_of_schema_1_are_reused(folder: Path, old_shelf: Path, tmp_path: Path, update: bool) -> None:
    before = read_ids(old_shelf)
    correct_inputs(folder)
    report = build_shelf([folder], old_shelf, update=old_shelf if update else None)
    after = read_ids(old_shelf)
    assert set(after.values()) >= set(before.values())
    assert after["The face of the moon"] == before["The face of teh moon"]
    if update:
        assert (report.added, report.pruned, report.unchanged, report.replaced) == (1, 0, 2, 3)
        assert "In depth." in Library.open(old_shelf).summary("brahe", "deep")


def test_an_update_of_a_shelf_of_schema_1_keeps_its_contents(folder: Path, old_shelf: Path, tmp_path: Path) -> None:
    before = read_ids(old_shelf)
    more = write_text_file(tmp_path / "more.bib", "@misc{m, title={Of mountains on the moon}}")
    report = build_shelf([more], tmp_path / "new", update=old_shelf)
    after = read_ids(tmp_path / "new")
    assert after.items() >= before.items()
    assert (report.added, report.changed, report.replaced, report.unchanged) == (1, 0, 0, len(before))
    library = Library.open(tmp_path / "new")
    assert library.source("brahe").endswith("And so on.")
    assert "In depth." in library.summary("brahe", "deep")


def test_a_damaged_shelf_without_a_register_is_replaced_and_reported(folder: Path, tmp_path: Path) -> None:
    shelf = tmp_path / "shelf"
    build_shelf([folder], shelf)
    (tmp_path / "shelf.ids.json").unlink()
    (shelf / "shelf.db").write_bytes(b"")
    report = build_shelf([folder], shelf)
    assert report.papers == len(read_ids(shelf))
    assert [one.origin for one in report.problems] == [builder.display_path(shelf)]
