"""A shelf taken apart into the entries it could be built from again, so that it can be added to."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import orjson

from paper_library.build.entry import SEARCH_FIELDS, Entry, Problem
from paper_library.errors import AssetFetchFailed, AssetInvalid
from paper_library.store.assets import Assets
from paper_library.store.layout import DEFAULT_TEMPLATE, SOURCE, SUMMARY, TRANSLATION
from paper_library.store.shelf import Shelf
from paper_library.summary import is_derived

_SINCE_2: Final = ("volume", "issue", "pages", "publisher", "work_type")
"""Texts that shelves of schema 1 do not have."""


def entries_of_shelf(folder: Path) -> Iterator[Entry | Problem]:
    """Every paper of the shelf in `folder`, under the id it has there. Raises as `Shelf.open` does."""
    shelf = Shelf.open(folder)
    assets = Assets()
    try:
        for no in range(shelf.manifest.papers):
            yield from _entry(shelf, no, assets)
    finally:
        shelf.close()


def _entry(shelf: Shelf, no: int, assets: Assets) -> Iterator[Entry | Problem]:
    said = shelf.described(no)
    texts: dict[tuple[str, str], str] = {}
    for ref in shelf.assets(no):
        try:
            texts[ref.kind, ref.name] = assets.read(shelf.folder, ref, said["paper_id"])
        except (AssetFetchFailed, AssetInvalid) as exc:
            yield Problem(said["title"], "broken", exc.message)
    summaries = {name: orjson.loads(text) for (kind, name), text in texts.items() if kind == SUMMARY}
    preferred = said["preferred_summary_template"]
    yield Entry(
        title=said["title"],
        authors=said["authors"],
        year=said["year"],
        month=said["month"],
        venue=said["venue"],
        **{name: said.get(name, "") for name in _SINCE_2},
        notices=said.get("notices", []),
        search={name: said[name] for name in SEARCH_FIELDS if name in said},
        abstract=said["abstract"],
        identifiers={**said["identifiers"], "paper_id": said["paper_id"]},
        keywords=said["keywords"],
        tags=said["tags"],
        institutions=said["institutions"],
        kind=said["kind"],
        language=said["language"],
        bibtex=shelf.bibtex(no),
        source=texts.get((SOURCE, ""), ""),
        translations={name: text for (kind, name), text in texts.items() if kind == TRANSLATION},
        summaries={name: value for name, value in summaries.items() if not is_derived(value)},  # made anew
        preferred_summary="" if preferred == DEFAULT_TEMPLATE else preferred,
        keys=shelf.keys(no),
        origin=said["paper_id"],
        origins=shelf.origins(no),
    )
