"""Builds of shelves from files: complete and reproducible."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paper_library.domain.paper_ids import make_paper_id
from paper_library.errors import InputNotFound, NothingToShelve, ShelfExists, ShelfNotFound, ShelfUnwritable
from paper_library.service.build import builder, paper_assembly
from paper_library.service.build.builder import build_shelf
from paper_library.service.build.stored_entries import EntrySpool
from paper_library.service.library import Library
from paper_library.store.shelf import Shelf
from tests.paper_library.service.build.readers.files import write_file
from uraniborg.kernel.store.files import Locked

BIB = """
@article{fish2019, title={Deep Fish of the North}, author={Lovelace, Ada and Gödel, Kurt}, year={2019},
  journal={Sea}, doi={10.1000/XYZ}}
@book{bird2020, title={High Birds of the South}, author={Noether, Emmy}, year={2020}}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_file(tmp_path / "in", "refs.bib", BIB)
    write_file(tmp_path / "in", "fish2019.md", "# Fish\n\nThey swim in the cold and deep water of the north.\n")
    write_file(tmp_path / "in", "bird2020.zh.md", "鸟会飞。")
    write_file(tmp_path / "in", "notes.docx", "x")
    write_file(tmp_path / "in", "broken.json", "{")
    return tmp_path / "in"


def read_papers(shelf: Path) -> dict[str, dict[str, Any]]:
    """Return the metadata and origins of each paper, by id."""
    opened = Shelf.open(shelf)
    metadata: dict[str, dict[str, Any]] = {}
    for no in range(opened.manifest.papers):
        described = opened.read_metadata(no)
        metadata[described["paper_id"]] = {**described, "origins": opened.list_origins(no)}
    opened.close()
    return metadata


def test_files_of_every_kind_become_papers_and_the_report_is_complete(folder: Path) -> None:
    target = folder.parent / "shelf"
    report = build_shelf([folder], target)
    assert (report.papers, report.entries, report.merged, report.with_source) == (2, 4, 2, 1)
    assert (report.skipped, report.broken) == (1, 1)
    assert {problem.origin for problem in report.problems} == {"notes.docx", "broken.json"}
    metadata = read_papers(target)[make_paper_id("doi:10.1000/xyz")]
    assert metadata["authors"] == ["Ada Lovelace", "Kurt Gödel"]
    assert metadata["has_source"]
    assert len(report.merges) == 2
    assert all(merge.reasons for merge in report.merges)


def test_the_same_inputs_give_the_same_build_id_in_any_folder_and_order(folder: Path, tmp_path: Path) -> None:
    files = sorted(path for path in folder.iterdir() if path.suffix in (".bib", ".md"))
    ids = {
        build_shelf(files, tmp_path / "one").build_id,
        build_shelf(files[::-1], tmp_path / "two").build_id,
        build_shelf([folder], tmp_path / "elsewhere" / "three").build_id,
    }
    assert len(ids) == 1
    write_file(folder, "refs.bib", BIB.replace("2020}}", "2021}}"))
    assert build_shelf([folder], tmp_path / "one").build_id not in ids


def test_the_shelf_contains_no_local_paths_or_names(folder: Path) -> None:
    target = folder.parent / "shelf"
    build_shelf([folder], target)
    here = str(folder.parent).encode()
    assert not [path for path in target.rglob("*") if path.is_file() and here in path.read_bytes()]


def test_one_broken_file_of_each_kind_does_not_stop_a_build(folder: Path) -> None:
    for suffix in ("bib", "ris", "json", "jsonl", "md", "xml", "pdf", "nxml", "json.gz"):
        (folder / f"zz.{suffix}").write_bytes(b"\x00\xff\xfe{[<@article{\n%PDF-1.7")
    report = build_shelf([folder], folder.parent / "shelf")
    assert report.papers >= 2
    assert {"Deep Fish of the North", "High Birds of the South"} <= {
        metadata["title"] for metadata in read_papers(folder.parent / "shelf").values()
    }


def test_a_failure_while_writing_leaves_the_old_shelf_and_no_other_files(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = folder.parent / "shelf"
    before = build_shelf([folder], target).build_id
    listed = sorted(path.name for path in folder.parent.iterdir())
    write_file(folder, "more.bib", "@misc{new, title={Something New and Good}}")

    def fails(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(paper_assembly, "prepare_paper", fails)
    with pytest.raises(ShelfUnwritable, match="No space"):
        build_shelf([folder], target)
    assert Shelf.open(target).build_id == before
    assert sorted(path.name for path in folder.parent.iterdir()) == listed


def test_two_papers_with_the_same_bibtex_key_have_two_ids(tmp_path: Path) -> None:
    write_file(tmp_path, "a.bib", "@misc{k, title={Deep Fish of the North}}")
    write_file(tmp_path, "b.bib", "@misc{k, title={Wholly Unlike Things}}")
    report = build_shelf([tmp_path / "a.bib", tmp_path / "b.bib"], tmp_path / "shelf")
    metadata = read_papers(tmp_path / "shelf")
    assert (report.papers, len(metadata)) == (2, 2)
    assert make_paper_id("bib:k") in metadata


def test_a_translation_without_a_paper_is_reported_and_creates_no_paper(tmp_path: Path) -> None:
    write_file(tmp_path / "in", "fish.zh.md", "鱼。")
    write_file(tmp_path / "in", "refs.bib", BIB)
    report = build_shelf([tmp_path / "in"], tmp_path / "shelf")
    assert (report.papers, [problem.origin for problem in report.problems]) == (2, ["fish.zh.md"])


def test_an_empty_folder_is_refused_and_creates_no_shelf(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    with pytest.raises(NothingToShelve) as refused:
        build_shelf([tmp_path / "in"], tmp_path / "shelf")
    assert refused.value.hint == "Name files with papers, or folders with such files."
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


def test_progress_is_reported_from_reading_to_the_index(folder: Path) -> None:
    message: list[tuple[str, int, int]] = []

    def record_progress(phase: str, done: int, total: int) -> None:
        message.append((phase, done, total))

    build_shelf([folder], folder.parent / "shelf", progress=record_progress)
    assert list(dict.fromkeys(phase for phase, _, _ in message)) == ["read", "write", "index"]
    assert all(done <= total or not total for _, done, total in message)


def test_summaries_are_added_and_those_without_a_paper_are_reported(folder: Path, tmp_path: Path) -> None:
    write_file(tmp_path / "sums", "deep/fish2019.json", '{"text": "A zebrafish appears."}')
    write_file(tmp_path / "sums", "deep/nobody.json", "{}")
    report = build_shelf([folder], tmp_path / "shelf", summaries=tmp_path / "sums")
    assert "deep/nobody.json" in {problem.origin for problem in report.problems}
    library = Library.open(tmp_path / "shelf")
    assert json.loads(library.summary("10.1000/xyz", "deep")) == {"text": "A zebrafish appears."}
    assert library.search("zebrafish")["total"] == 1


def test_a_summary_nested_very_deeply_does_not_stop_a_build(folder: Path, tmp_path: Path) -> None:
    write_file(tmp_path / "sums", "deep/fish2019.json", "[" * 400 + "]" * 400)
    assert build_shelf([folder], tmp_path / "shelf", summaries=tmp_path / "sums").papers == 2


def test_invalid_builds_are_refused_before_any_file_changes(folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "shelf"
    with pytest.raises(InputNotFound):
        build_shelf([tmp_path / "nowhere"], target)
    with pytest.raises(InputNotFound):
        build_shelf([folder], target, summaries=tmp_path / "nowhere")
    assert not target.exists()
    with pytest.raises(ShelfExists):
        build_shelf([folder], folder)
    assert (folder / "refs.bib").exists()


def test_an_update_of_a_missing_shelf_is_refused_and_keeps_no_file_open(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[EntrySpool] = []
    closed: list[EntrySpool] = []

    class Recorded(EntrySpool):
        def __init__(self, path: Path) -> None:
            super().__init__(path)
            opened.append(self)

        def close(self) -> None:
            super().close()
            closed.append(self)

    monkeypatch.setattr(builder, "EntrySpool", Recorded)
    with pytest.raises(ShelfNotFound):
        build_shelf([folder], tmp_path / "shelf", update=tmp_path / "nowhere")
    assert not (tmp_path / "shelf").exists()
    assert opened
    left_open = [spool for spool in opened if spool not in closed]
    for spool in left_open:
        spool.close()
    assert not left_open


def test_a_second_build_of_one_shelf_at_the_same_time_is_refused(folder: Path, tmp_path: Path) -> None:
    refused: list[bool] = []

    def meanwhile(phase: str, _done: int, _total: int) -> None:
        if phase == "index":
            with pytest.raises(Locked):
                build_shelf([folder], tmp_path / "shelf")
            refused.append(True)

    assert build_shelf([folder], tmp_path / "shelf", progress=meanwhile).papers == 2
    assert refused


WORDS = st.sampled_from(["fish", "bird", "deep", "high", "north", "south", "swim"])


@st.composite
def a_paper(draw: st.DrawFn) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "authors": draw(st.sampled_from([["Ada Lovelace"], ["Kurt Gödel"], ["Ada Lovelace", "Kurt Gödel"]])),
        "year": draw(st.integers(2018, 2020)),
        "doi": draw(st.sampled_from(["10.1000/a", "10.1000/b"])),
        "bibkey": draw(st.sampled_from(["k", "l"])),
    }
    chosen = draw(st.sets(st.sampled_from(sorted(facts))))
    title = " ".join(draw(st.lists(WORDS, min_size=1, max_size=3)))
    return {"title": title, **{name: facts[name] for name in chosen}}


@settings(max_examples=15)
@given(st.lists(a_paper(), min_size=1, max_size=8))
def test_every_entry_is_in_one_paper_and_every_paper_has_its_own_id(
    tmp_path_factory: pytest.TempPathFactory, papers: list[dict[str, Any]]
) -> None:
    folder = tmp_path_factory.mktemp("build")
    write_file(folder, "p.jsonl", "\n".join(map(json.dumps, papers)))
    report = build_shelf([folder / "p.jsonl"], folder / "shelf")
    metadata = read_papers(folder / "shelf")
    origins = [origin for paper in metadata.values() for origin in paper["origins"]]
    assert len(metadata) == report.papers == len(papers) - report.merged
    assert len(origins) == len(set(origins)) == len(papers)
