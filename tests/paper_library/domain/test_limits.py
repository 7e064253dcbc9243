"""The limits of the library, with their numbers."""

# pyright: reportArgumentType=false

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import httpx
import pytest
from starlette.testclient import TestClient

from paper_library.api.app import make_app
from paper_library.config import LibraryConfig
from paper_library.errors import AssetInvalid
from paper_library.service.build.builder import build_shelf
from paper_library.service.hits import make_hits
from paper_library.service.library import Library
from paper_library.service.query_compiler import CompiledQuery
from paper_library.store.assets import AssetReader
from paper_library.store.shelf import AssetRef, Row, Shelf, StoredText

MEGABYTE = 1024 * 1024
NAMES = [f"Observer {letter}. Hven" for letter in "ABCDEFGHIJKLMNOPQRSTUVWXY"]


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("limits")
    headings = "\n\n".join(f"## Night {number}\n\nClear." for number in range(250))
    authors = "".join(f"  - {name}\n" for name in NAMES)
    (folder / "nights.md").write_text(f"---\ntitle: Nights of a Year\nauthors:\n{authors}---\n\n{headings}\n")
    (folder / "long.md").write_text(f"---\ntitle: A Long Night\n---\n\n{'ø' * 60_000}\n")
    build_shelf([folder / "nights.md", folder / "long.md"], folder / "shelf")
    return folder / "shelf"


@pytest.fixture(scope="module")
def library(shelf: Path) -> Library:
    return Library.open(shelf)


def test_a_result_has_ten_authors_and_the_metadata_all(library: Library) -> None:
    (hit,) = library.search("year")["results"]
    assert hit["authors"] == NAMES[:10]
    assert library.metadata(hit["paper_id"])["authors"] == NAMES


def test_an_outline_has_the_first_two_hundred_headings(library: Library) -> None:
    (hit,) = library.search("year")["results"]
    outline = library.metadata(hit["paper_id"])["outline"]
    assert [heading["title"] for heading in outline] == [f"Night {number}" for number in range(200)]


def test_twenty_facet_values_are_returned_by_default(library: Library) -> None:
    assert len(library.top_facets("author")["result"]) == 20
    assert len(library.top_facets("author", limit=25)["result"]) == 25


def test_an_html_page_has_at_most_fifty_thousand_characters_of_text(shelf: Path) -> None:
    paper = Library.open(shelf).search("long night")["results"][0]["paper_id"]
    with TestClient(make_app(LibraryConfig(shelf=shelf)), base_url="http://localhost") as client:
        for more in ("", "&max_chars=55000"):
            answer = client.get(f"/api/v1/papers/{paper}/source?format=html{more}")
            assert answer.text.count("ø") == 50_000
            assert "continue with offset=50000" in answer.text


def test_two_million_characters_of_full_texts_are_read_for_the_snippets_of_one_page() -> None:
    allowed: list[int] = []

    class Texts:
        def read_texts(self, _no: int, most: int) -> Iterator[StoredText]:
            allowed.append(most)
            yield StoredText("source", "", "x" * min(most, 1_500_000))

    record: dict[str, object] = {"keywords": [], "tags": []}
    rows = [Row(number, f"id{number}", "A title", None, "", [], "", record) for number in range(3)]
    make_hits(cast("Shelf", Texts()), rows, [1.0] * 3, CompiledQuery.make_for_snippets("nowhere"))
    assert allowed == [2_000_000, 500_000, 0]


def test_an_asset_is_read_up_to_64_megabytes(tmp_path: Path) -> None:
    sent = 0

    def chunks() -> Iterator[bytes]:
        nonlocal sent
        while sent < 100:
            sent += 1
            yield bytes(MEGABYTE)

    transport = httpx.MockTransport(lambda _: httpx.Response(200, content=chunks()))
    ref = AssetRef("source", "", hashlib.sha256().hexdigest(), 100 * MEGABYTE, 100 * MEGABYTE)
    with pytest.raises(AssetInvalid):
        AssetReader("http://localhost", transport=transport).read_asset(tmp_path, ref, "p")
    assert sent == 65
