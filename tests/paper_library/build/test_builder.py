"""From files to a shelf: nothing lost, nothing invented, the same again from the same."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paper_library.build import builder
from paper_library.build.builder import build_shelf
from paper_library.build.entry_storage import EntrySpool
from paper_library.errors import InputNotFound, NothingToShelve, ShelfExists, ShelfNotFound, ShelfUnwritable
from paper_library.identity import make_paper_id
from paper_library.library import Library
from paper_library.store.shelf import Shelf
from uraniborg.kernel.files import Locked

BIB = """
@article{fish2019, title={Deep Fish of the North}, author={Lovelace, Ada and Gödel, Kurt}, year={2019},
  journal={Sea}, doi={10.1000/XYZ}}
@book{bird2020, title={High Birds of the South}, author={Noether, Emmy}, year={2020}}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    put(tmp_path / "in", "refs.bib", BIB)
    put(tmp_path / "in", "fish2019.md", "# Fish\n\nThey swim in the cold and deep water of the north.\n")
    put(tmp_path / "in", "bird2020.zh.md", "鸟会飞。")
    put(tmp_path / "in", "notes.docx", "x")
    put(tmp_path / "in", "broken.json", "{")
    return tmp_path / "in"


def put(folder: Path, name: str, content: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
    return path


def papers_on(shelf: Path) -> dict[str, dict[str, Any]]:
    """What the shelf says of each paper, with its origins, by id."""
    opened = Shelf.open(shelf)
    said: dict[str, dict[str, Any]] = {}
    for no in range(opened.manifest.papers):
        described = opened.metadata_dict(no)
        said[described["paper_id"]] = {**described, "origins": opened.origins(no)}
    opened.close()
    return said


def test_files_of_every_kind_become_papers_and_the_report_is_complete(folder: Path) -> None:
    target = folder.parent / "shelf"
    report = build_shelf([folder], target)
    assert (report.papers, report.entries, report.merged, report.with_source) == (2, 4, 2, 1)
    assert (report.skipped, report.broken) == (1, 1)
    assert {problem.origin for problem in report.problems} == {"notes.docx", "broken.json"}
    said = papers_on(target)[make_paper_id("doi:10.1000/xyz")]
    assert said["authors"] == ["Ada Lovelace", "Kurt Gödel"]
    assert said["has_source"]
    assert len(report.merges) == 2
    assert all(merge.reasons for merge in report.merges)


def test_the_same_inputs_give_the_same_build_id_wherever_and_in_whatever_order(folder: Path, tmp_path: Path) -> None:
    files = sorted(path for path in folder.iterdir() if path.suffix in (".bib", ".md"))
    ids = {
        build_shelf(files, tmp_path / "one").build_id,
        build_shelf(files[::-1], tmp_path / "two").build_id,
        build_shelf([folder], tmp_path / "elsewhere" / "three").build_id,
    }
    assert len(ids) == 1
    put(folder, "refs.bib", BIB.replace("2020}}", "2021}}"))
    assert build_shelf([folder], tmp_path / "one").build_id not in ids


def test_nothing_of_the_machine_is_on_the_shelf(folder: Path) -> None:
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
        said["title"] for said in papers_on(folder.parent / "shelf").values()
    }


def test_a_failure_while_writing_leaves_the_old_shelf_and_no_trace(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = folder.parent / "shelf"
    before = build_shelf([folder], target).build_id
    listed = sorted(path.name for path in folder.parent.iterdir())
    put(folder, "more.bib", "@misc{new, title={Something New and Good}}")

    def fails(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(builder, "prepare_paper", fails)
    with pytest.raises(ShelfUnwritable, match="No space"):
        build_shelf([folder], target)
    assert Shelf.open(target).build_id == before
    assert sorted(path.name for path in folder.parent.iterdir()) == listed


def test_two_papers_that_claim_one_bibtex_key_have_two_ids_and_none_is_lost(tmp_path: Path) -> None:
    put(tmp_path, "a.bib", "@misc{k, title={Deep Fish of the North}}")
    put(tmp_path, "b.bib", "@misc{k, title={Wholly Unlike Things}}")
    report = build_shelf([tmp_path / "a.bib", tmp_path / "b.bib"], tmp_path / "shelf")
    said = papers_on(tmp_path / "shelf")
    assert (report.papers, len(said)) == (2, 2)
    assert make_paper_id("bib:k") in said


def test_a_translation_that_belongs_to_no_paper_is_reported_and_makes_no_paper(tmp_path: Path) -> None:
    put(tmp_path / "in", "fish.zh.md", "鱼。")
    put(tmp_path / "in", "refs.bib", BIB)
    report = build_shelf([tmp_path / "in"], tmp_path / "shelf")
    assert (report.papers, [problem.origin for problem in report.problems]) == (2, ["fish.zh.md"])


def test_an_empty_folder_is_refused_and_makes_no_shelf(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    with pytest.raises(NothingToShelve) as refused:
        build_shelf([tmp_path / "in"], tmp_path / "shelf")
    assert refused.value.hint == "Name files with papers, or folders with such files."
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


def test_progress_is_reported_from_reading_to_the_index(folder: Path) -> None:
    told: list[tuple[str, int, int]] = []

    def tell(phase: str, done: int, total: int) -> None:
        told.append((phase, done, total))

    build_shelf([folder], folder.parent / "shelf", progress=tell)
    assert list(dict.fromkeys(phase for phase, _, _ in told)) == ["read", "write", "index"]
    assert all(done <= total or not total for _, done, total in told)


def test_summaries_are_put_on_the_shelf_and_those_of_no_paper_are_reported(folder: Path, tmp_path: Path) -> None:
    put(tmp_path / "sums", "deep/fish2019.json", '{"text": "A zebrafish appears."}')
    put(tmp_path / "sums", "deep/nobody.json", "{}")
    report = build_shelf([folder], tmp_path / "shelf", summaries=tmp_path / "sums")
    assert "deep/nobody.json" in {problem.origin for problem in report.problems}
    library = Library.open(tmp_path / "shelf")
    assert json.loads(library.summary("10.1000/xyz", "deep")) == {"text": "A zebrafish appears."}
    assert library.search("zebrafish")["total"] == 1


def test_a_summary_nested_very_deeply_does_not_stop_a_build(folder: Path, tmp_path: Path) -> None:
    put(tmp_path / "sums", "deep/fish2019.json", "[" * 400 + "]" * 400)
    assert build_shelf([folder], tmp_path / "shelf", summaries=tmp_path / "sums").papers == 2


def test_what_cannot_be_begun_is_refused_before_anything_is_touched(folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "shelf"
    with pytest.raises(InputNotFound):
        build_shelf([tmp_path / "nowhere"], target)
    with pytest.raises(InputNotFound):
        build_shelf([folder], target, summaries=tmp_path / "nowhere")
    assert not target.exists()
    with pytest.raises(ShelfExists):
        build_shelf([folder], folder)
    assert (folder / "refs.bib").exists()


def test_a_build_upon_a_shelf_that_is_not_there_is_refused_and_holds_no_file(
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
    said = draw(st.sets(st.sampled_from(sorted(facts))))
    title = " ".join(draw(st.lists(WORDS, min_size=1, max_size=3)))
    return {"title": title, **{name: facts[name] for name in said}}


@settings(max_examples=15)
@given(st.lists(a_paper(), min_size=1, max_size=8))
def test_every_entry_is_in_exactly_one_paper_and_every_id_is_its_own(
    tmp_path_factory: pytest.TempPathFactory, papers: list[dict[str, Any]]
) -> None:
    folder = tmp_path_factory.mktemp("build")
    put(folder, "p.jsonl", "\n".join(map(json.dumps, papers)))
    report = build_shelf([folder / "p.jsonl"], folder / "shelf")
    said = papers_on(folder / "shelf")
    origins = [origin for paper in said.values() for origin in paper["origins"]]
    assert len(said) == report.papers == len(papers) - report.merged
    assert len(origins) == len(set(origins)) == len(papers)
