"""Texts of papers from the entry points of other parts."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from paper_library.service.build.builder import build_shelf
from paper_library.service.shelf_catalog import SAMPLE_INPUTS
from universe.service import papers as module
from universe.service.papers import make_paper_text_reader

Reader = Callable[..., Any]
DOI = "10.3847/PSJ/abd022"


class Entry:
    """An entry point that loads to `reader`."""

    def __init__(self, reader: Reader, name: str = "test") -> None:
        self.name = name
        self._reader = reader

    def load(self) -> Reader:
        return self._reader


def _listing(entries: list[Entry]) -> Callable[[str], list[Entry]]:
    def listed(group: str) -> list[Entry]:
        return entries if group == "universe.texts" else []

    return listed


def offer(monkeypatch: pytest.MonkeyPatch, *readers: Reader) -> None:
    entries = [Entry(reader, str(number)) for number, reader in enumerate(readers)]
    monkeypatch.setattr(module, "entry_points", _listing(entries))


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("texts") / "shelf"
    build_shelf(SAMPLE_INPUTS, target)
    return target


def test_the_library_lends_the_text_of_a_paper_by_its_doi_or_arxiv_id(shelf: Path) -> None:
    text_of = make_paper_text_reader(shelf)
    by_doi, by_arxiv = text_of({"doi": DOI}), text_of({"arxiv": "2010.01074", "doi": None})
    assert by_doi is not None
    assert "0.692 ± 0.022" in by_doi
    assert by_arxiv == by_doi
    assert text_of({"id": "agol2021"}) == by_doi


@pytest.mark.parametrize(
    "source",
    [
        {},
        {"doi": "10.1000/none"},
        {"doi": "10.1000/none", "id": "agol2021"},
        {"id": "wolszczan1992"},
        {"doi": 7},
        {"id": " "},
    ],
)
def test_a_paper_or_text_that_the_shelf_does_not_have_is_none(shelf: Path, source: dict[str, Any]) -> None:
    assert make_paper_text_reader(shelf)(source) is None


def test_a_missing_shelf_has_no_texts_and_is_not_created(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("URANIBORG_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("URANIBORG_LIBRARY__SHELF", raising=False)
    (tmp_path / "empty").mkdir()
    for folder in (tmp_path / "missing", tmp_path / "empty", None):
        assert make_paper_text_reader(folder)({"doi": DOI}) is None
    assert [path.name for path in tmp_path.iterdir()] == ["empty"]


def test_the_shelf_of_the_settings_is_the_default(shelf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("URANIBORG_LIBRARY__SHELF", str(shelf))
    assert make_paper_text_reader()({"doi": DOI})


def test_each_paper_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[dict[str, str], str | None]] = []

    def read(identifiers: dict[str, str], shelf: str | None) -> str:
        calls.append((identifiers, shelf))
        return "text"

    offer(monkeypatch, read)
    text_of = make_paper_text_reader("shelf")
    assert [text_of({"doi": "1", "title": "T"}) for _ in range(3)] == ["text"] * 3
    assert calls == [({"doi": "1"}, "shelf")]


def test_a_reader_that_fails_or_returns_something_else_leaves_the_others_to_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object) -> str:
        raise RuntimeError("broken")

    offer(monkeypatch, fail, lambda *_: 42, lambda *_: "", lambda: "no arguments", lambda *_: "text")
    assert make_paper_text_reader()({"doi": "1"}) == "text"


def test_without_any_reader_no_text_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    offer(monkeypatch)
    assert make_paper_text_reader()({"doi": "1"}) is None
