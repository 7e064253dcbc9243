"""Offer the library as nodes of workflows, under the entry point `pflow.nodes`.

All functions block, so callers run them in a thread.
"""

import hashlib
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

import orjson

from paper_library.config import load_config
from paper_library.domain.excerpts import cut_excerpt, find_table_rows
from paper_library.domain.limits import DEFAULT_PAGE_SIZE
from paper_library.errors import OutOfBounds, ShelfNotFound, ShelfUnwritable
from paper_library.store.layout import MANIFEST
from uraniborg.kernel.actors import Actor
from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.language.words import split_words
from uraniborg.kernel.store.files import display_path, hold_lock, make_folder

if TYPE_CHECKING:
    from paper_library.api.node_replies import (
        Addition,
        AdditionParams,
        FoundHits,
        FoundRow,
        LibrarySearchParams,
        PaperContent,
        ReadParams,
        ShelfParams,
        TableParams,
        TableRows,
    )
    from paper_library.service.library import Library
    from uraniborg.kernel.json_values import Json

_PARTS: Final = ("metadata", "summary", "source", "bibtex")
_LOCK_TIMEOUT_S: Final = 60.0
DEFAULT_ROWS: Final = 100
MOST_ROWS: Final = 1000


class LibraryNodeContext(Protocol):
    """The part of the node context that these nodes use."""

    @property
    def folder(self) -> Path: ...


def search_shelf(params: "LibrarySearchParams", context: LibraryNodeContext) -> "FoundHits":
    """Return papers that match a query, best first. Raise the errors of `Library.open` and `Library.search`."""
    with _open_library_or_sample(params, context) as library:
        found = library.search(
            params.get("query") or "",
            limit=params.get("limit", DEFAULT_PAGE_SIZE),
            offset=params.get("offset", 0),
            sort=params.get("sort") or "relevance",
        )
    return {"results": found["results"], "total": found["total"], "next_offset": found["next_offset"]}


def read_paper(params: "ReadParams", context: LibraryNodeContext) -> "PaperContent":
    """Return the metadata of a paper, with its summary, text or BibTeX entry. Raise the errors of `Library`."""
    what, paper = params.get("what") or "metadata", params["paper_id"]
    if what not in _PARTS:
        raise OutOfBounds("what", f"one of: {', '.join(_PARTS)}")
    with _open_library_or_sample(params, context) as library:
        metadata = library.metadata(paper)
        if what == "metadata":
            return {"metadata": metadata}
        if what == "summary":
            text = library.summary(paper, params.get("template"))
        else:
            text = library.source(paper) if what == "source" else library.bibtex(paper)
    excerpt = cut_excerpt(text, params.get("offset") or 0, params.get("max_chars"))
    return {"metadata": metadata, "content": excerpt.text, "chars": len(text), "next_offset": excerpt.next_offset}


def list_table_rows(params: "TableParams", context: LibraryNodeContext) -> "TableRows":
    """Return the table rows of a paper's text, all or those with given words. Raise the errors of `Library.source`."""
    limit = params.get("limit", DEFAULT_ROWS)
    if not 1 <= limit <= MOST_ROWS:
        raise OutOfBounds("limit", f"from 1 to {MOST_ROWS}")
    wanted = set(split_words(params.get("containing") or ""))
    with _open_library_or_sample(params, context) as library:
        text = library.source(params["paper_id"])
    found: list[FoundRow] = [
        {
            "section": one.section,
            "table": one.caption,
            "header": list(one.header),
            "row": list(one.cells),
            "offset": one.offset,
        }
        for one in find_table_rows(text)
        if wanted <= set(split_words(" ".join((one.section, one.caption, *one.header, *one.cells))))
    ]
    return {"rows": found[:limit], "total": len(found)}


def add_papers(params: "AdditionParams", context: LibraryNodeContext) -> "Addition":
    """Add papers to a shelf, and create the shelf if needed; entries of existing papers are merged.

    Raise the errors of `build_shelf`.
    """
    papers, files = params.get("papers") or [], params.get("files") or []
    if not papers and not files and not params.get("sample"):
        raise InvalidInput("papers, files and sample are all empty.", hint="Set papers or files.", argument="papers")
    shelf = _resolve_shelf_parameter(params, context) or load_config().shelf
    if shelf is None:
        raise ShelfNotFound(
            "shelf is not set, and the settings do not name a shelf.",
            hint="Set shelf to the folder of a shelf, or to a new folder.",
        )
    shelf = shelf.expanduser().resolve()
    named = [context.folder / Path(file).expanduser() for file in ([files] if isinstance(files, str) else files)]
    try:
        with _lock_additions(shelf), tempfile.TemporaryDirectory() as folder:
            return _build_with_additions(
                shelf,
                [*named, *_write_papers_file(papers, Path(folder))],
                with_sample=bool(params.get("sample")),
                actor=getattr(context, "actor", None),
            )
    except OSError as exc:
        raise ShelfUnwritable(
            f"The shelf {display_path(shelf)} could not be written: {exc.strerror or 'disk error'}.",
            hint="Check the free disk space and the permissions of the folder.",
        ) from exc


@contextmanager
def _lock_additions(shelf: Path) -> Generator[None]:
    """Lock the shelf for one addition at a time, so that no concurrent addition is lost."""
    make_folder(shelf.parent)
    with hold_lock(shelf.parent / f".{shelf.name}.adding", _LOCK_TIMEOUT_S):
        yield


def _write_papers_file(papers: "list[Json]", folder: Path) -> list[Path]:
    if not papers:
        return []
    content = orjson.dumps(papers)
    # A unique name: an update replaces the entries of an earlier file of the same name.
    path = folder / f"papers-{hashlib.sha256(content).hexdigest()[:12]}.json"
    path.write_bytes(content)
    return [path]


def _build_with_additions(shelf: Path, inputs: list[Path], *, with_sample: bool, actor: Actor | None) -> "Addition":
    from paper_library.service.build.builder import build_shelf
    from paper_library.service.shelf_catalog import SAMPLE_INPUTS, remember_shelf

    remember_shelf(shelf, actor)  # before the build announces it
    before = shelf if (shelf / MANIFEST).is_file() else None
    report = build_shelf([*(SAMPLE_INPUTS if with_sample else ()), *inputs], shelf, update=before, actor=actor)
    return {
        "shelf": str(shelf),
        "papers": report.papers,
        "entries": report.entries,
        "merged": report.merged,
        "problems": [{"origin": one.origin, "reason": one.reason} for one in report.problems],
    }


@contextmanager
def _open_library_or_sample(params: "ShelfParams", context: LibraryNodeContext) -> "Generator[Library]":
    """Yield the library of the shelf, opened again so that additions of other nodes are visible."""
    from paper_library.service.library import Library

    shelf = _resolve_shelf_parameter(params, context) or load_config().shelf
    if shelf is None:
        from paper_library.service.shelf_catalog import sample_shelf

        shelf = sample_shelf()
    library = Library.open(shelf.expanduser())
    try:
        yield library
    finally:
        library.close()


def _resolve_shelf_parameter(params: "ShelfParams", context: LibraryNodeContext) -> Path | None:
    shelf = params.get("shelf")
    return context.folder / Path(shelf).expanduser() if shelf else None
