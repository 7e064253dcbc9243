"""An update keeps the contents of the old shelf."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from paper_library.domain.entries import BuildProblem, Entry
from paper_library.errors import ShelfNotFound
from paper_library.service.build.builder import build_shelf
from paper_library.service.build.stored_entries import OldShelf
from paper_library.service.library import Library
from tests.paper_library.service.build.readers.files import write_file

BIB = """
@article{fish2019, title={Deep Fish of the North}, author={Lovelace, Ada and Gödel, Kurt}, year={2019}, month=may,
  journal={Sea}, doi={10.1000/XYZ}, keywords={fish, cold}, abstract={About fish.}}
"""
BIRD = "@book{bird2020, title={High Birds of the South}, author={Noether, Emmy}, year={2020}}\n"


def entries_of_shelf(folder: Path) -> Iterator[Entry | BuildProblem]:
    """Return every entry of every paper of the shelf in `folder`."""
    shelf = OldShelf(folder)
    try:
        for no in range(shelf.papers):
            yield from shelf.read_entries(no)
    finally:
        shelf.close()


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    write_file(tmp_path / "in", "refs.bib", BIB)
    write_file(tmp_path / "in", "fish2019.md", "# Fish\n\nThey swim.\n")
    write_file(tmp_path / "in", "fish2019.zh.md", "它们游泳。")
    write_file(tmp_path / "sums", "deep/fish2019.json", '{"text": "In depth."}')
    build_shelf([tmp_path / "in"], tmp_path / "shelf", summaries=tmp_path / "sums")
    return tmp_path / "shelf"


def update_shelf(shelf: Path, *inputs: Path) -> Library:
    target = shelf.parent / "updated"
    build_shelf(inputs, target, update=shelf)
    return Library.open(target)


def test_each_entry_of_a_paper_is_read_back_unchanged(shelf: Path) -> None:
    bib, markdown = (entry for entry in entries_of_shelf(shelf) if isinstance(entry, Entry))
    paper_metadata = Library.open(shelf).metadata("fish2019")
    assert (bib.origin, markdown.origin) == ("refs.bib:2", "fish2019.md")
    assert bib.old_paper_id == markdown.old_paper_id == paper_metadata["paper_id"]
    for name in ("title", "authors", "year", "month", "venue", "abstract", "keywords"):
        assert getattr(bib, name) == paper_metadata[name], name
    assert bib.bibtex.startswith("@article{fish2019")
    assert (bib.source, bib.translations, bib.summaries) == ("", {}, {})
    assert (markdown.title, markdown.authors, markdown.identifiers) == ("Fish", [], {"stem": "fish2019"})
    assert markdown.source.startswith("# Fish")
    assert markdown.translations == {"zh": "它们游泳。"}


def test_the_only_entry_of_a_paper_is_read_back_without_additions(tmp_path: Path) -> None:
    text = "---\ntitle: High Birds\nkeywords: [air]\n---\nThey fly.\n"
    write_file(tmp_path / "in", "notes/bird.md", text)
    write_file(tmp_path / "sums", "deep/bird.json", '{"text": "In depth."}')
    build_shelf([tmp_path / "in"], tmp_path / "shelf", summaries=tmp_path / "sums")
    (entry,) = entries_of_shelf(tmp_path / "shelf")
    assert isinstance(entry, Entry)
    assert (entry.origin, entry.origins, entry.identifiers) == ("notes/bird.md", [], {"stem": "bird"})
    assert (entry.title, entry.keywords, entry.source) == ("High Birds", ["air"], "They fly.")
    assert entry.summaries == {}


def test_a_shelf_updated_with_nothing_is_the_same_shelf(shelf: Path) -> None:
    library = update_shelf(shelf)
    assert library.build_id == Library.open(shelf).build_id
    assert library.metadata("fish2019") == Library.open(shelf).metadata("fish2019")


def test_new_papers_are_added_and_the_old_shelf_does_not_change(shelf: Path) -> None:
    before = Library.open(shelf).build_id
    library = update_shelf(shelf, write_file(shelf.parent, "more.bib", BIRD))
    assert library.search("")["total"] == 2
    assert library.summary("fish2019", "deep") == '{"text":"In depth."}'
    assert library.translation("fish2019", "zh") == "它们游泳。"
    assert Library.open(shelf).build_id == before


def test_a_paper_keeps_its_id_when_a_stronger_key_becomes_known(tmp_path: Path) -> None:
    build_shelf([write_file(tmp_path, "a.bib", BIRD)], tmp_path / "shelf")
    before = Library.open(tmp_path / "shelf").metadata("bird2020")["paper_id"]
    library = update_shelf(
        tmp_path / "shelf", write_file(tmp_path, "b.bib", BIRD.replace("year=", "doi={10.1000/bird}, year="))
    )
    assert library.metadata("10.1000/bird")["paper_id"] == before
    assert library.search("")["total"] == 1


def test_a_shelf_can_be_updated_in_place(shelf: Path) -> None:
    build_shelf([write_file(shelf.parent, "more.bib", BIRD)], shelf, update=shelf)
    assert Library.open(shelf).search("")["total"] == 2


def test_every_bibtex_key_of_a_paper_still_leads_to_it_after_an_update(tmp_path: Path) -> None:
    write_file(tmp_path / "in", "a.bib", BIRD)
    write_file(tmp_path / "in", "b.bib", BIRD.replace("bird2020", "noether:birds"))
    build_shelf([tmp_path / "in"], tmp_path / "shelf")
    identity = Library.open(tmp_path / "shelf").metadata("noether:birds")["paper_id"]
    library = update_shelf(tmp_path / "shelf")
    assert [library.metadata(key)["paper_id"] for key in ("bird2020", "noether:birds")] == [identity, identity]


def test_the_origins_of_a_paper_are_the_same_after_an_update(shelf: Path) -> None:
    def read_origins(library: Library) -> list[str]:
        return library.live.get_current().list_origins(0)

    assert read_origins(update_shelf(shelf)) == read_origins(Library.open(shelf))


def test_a_summary_that_a_person_called_default_survives_an_update(tmp_path: Path) -> None:
    write_file(tmp_path / "sums", "default/bird2020.json", '{"text": "Own words."}')
    build_shelf([write_file(tmp_path, "a.bib", BIRD)], tmp_path / "shelf", summaries=tmp_path / "sums")
    assert "Own words." in Library.open(tmp_path / "shelf").summary("bird2020")
    assert "Own words." in update_shelf(tmp_path / "shelf").summary("bird2020")


def test_a_missing_or_changed_asset_is_reported_and_the_rest_is_preserved(shelf: Path) -> None:
    for path in (shelf / "static" / "source").rglob("*.md"):
        path.write_text("# Changed")
    problem, _, entry = list[Any](entries_of_shelf(shelf))
    assert isinstance(problem, BuildProblem)
    assert (problem.origin, problem.kind) == ("Deep Fish of the North", "broken")
    assert (entry.origin, entry.source, entry.translations) == ("fish2019.md", "", {"zh": "它们游泳。"})


def test_a_folder_that_is_not_a_shelf_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ShelfNotFound):
        list(entries_of_shelf(tmp_path / "nowhere"))
