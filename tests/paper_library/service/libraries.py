"""Small shelves of papers with few fields."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from paper_library.domain.replies import SearchPage
from paper_library.service.build.builder import build_shelf
from paper_library.service.library import Library


def build_shelf_of(folder: Path, papers: Iterable[dict[str, Any]]) -> Path:
    """Build a shelf of these papers in `folder` and return its path."""
    listing = folder / "papers.jsonl"
    listing.write_text("\n".join(map(json.dumps, papers)), encoding="utf-8")
    build_shelf([listing], folder / "shelf")
    return folder / "shelf"


def make_library(folder: Path, *papers: dict[str, Any]) -> Library:
    return Library.open(build_shelf_of(folder, papers))


def list_titles(page: SearchPage) -> list[str]:
    return [hit["title"] for hit in page["results"]]


def find_titles(library: Library, query: str, **options: Any) -> set[str]:
    """Return the titles of the papers that a query finds."""
    return set(list_titles(library.search(query, limit=100, **options)))
