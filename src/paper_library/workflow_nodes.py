"""The library as nodes of workflows, found under the entry point `pflow.nodes`: parameters in, plain values out.

All of it blocks, as the library does: whoever runs it does so in a thread.
"""

import hashlib
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Protocol

import orjson

from paper_library.config import load_config
from paper_library.errors import OutOfBounds, ShelfNotFound, ShelfUnwritable
from paper_library.limits import DEFAULT_PAGE_SIZE
from paper_library.store.layout import MANIFEST
from paper_library.text.tables import find_table_rows
from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.files import locked, make_folder, shown
from uraniborg.kernel.words import split_words

_PARTS: Final = ("metadata", "summary", "source", "bibtex")
_PATIENCE_S: Final = 60.0
DEFAULT_ROWS: Final = 100
MOST_ROWS: Final = 1000


class Context(Protocol):
    """What is used of what a node is given."""

    @property
    def folder(self) -> Path: ...


def search(params: dict[str, Any], context: Context) -> dict[str, Any]:
    """Papers of a shelf for a query, best first. Raises as `Library.open` and `Library.search`."""
    with _opened(params, context) as library:
        found = library.search(
            params.get("query") or "",
            limit=params.get("limit", DEFAULT_PAGE_SIZE),
            offset=params.get("offset", 0),
            sort=params.get("sort") or "relevance",
        )
    return {name: found[name] for name in ("results", "total", "next_offset")}


def read(params: dict[str, Any], context: Context) -> dict[str, Any]:
    """What is known of a paper, and its summary, its text or its BibTeX entry. Raises as `Library` does."""
    what, paper = params.get("what") or "metadata", params["paper_id"]
    if what not in _PARTS:
        raise OutOfBounds("what", f"one of: {', '.join(_PARTS)}")
    with _opened(params, context) as library:
        metadata = library.metadata(paper)
        if what == "metadata":
            return {"metadata": metadata}
        if what == "summary":
            text = library.summary(paper, params.get("template"))
        else:
            text = library.source(paper) if what == "source" else library.bibtex(paper)
    return {"metadata": metadata, **_piece(text, params.get("offset") or 0, params.get("max_chars"))}


def rows(params: dict[str, Any], context: Context) -> dict[str, Any]:
    """Return the table rows of a paper's text, all or those that contain some words. Raises as `Library.source`."""
    limit = params.get("limit", DEFAULT_ROWS)
    if not 1 <= limit <= MOST_ROWS:
        raise OutOfBounds("limit", f"from 1 to {MOST_ROWS}")
    wanted = set(split_words(params.get("containing") or ""))
    with _opened(params, context) as library:
        text = library.source(params["paper_id"])
    found = [
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


def add(params: dict[str, Any], context: Context) -> dict[str, Any]:
    """Puts papers on a shelf, and makes the shelf if it is not there; what is on it already stays one paper.

    Raises as `build_shelf`.
    """
    papers: list[Any] = params.get("papers") or []
    files: Any = params.get("files") or []
    if not papers and not files and not params.get("sample"):
        raise InvalidInput("There is nothing to add.", hint="Give papers or files.", argument="papers")
    shelf = _named(params, context) or load_config().shelf
    if shelf is None:
        raise ShelfNotFound(
            "No shelf is named, and the settings name none.",
            hint="Give shelf: the folder of one, or of one to be made.",
        )
    shelf = shelf.expanduser().resolve()
    named = [context.folder / Path(file).expanduser() for file in ([files] if isinstance(files, str) else files)]
    try:
        with _alone_at(shelf), tempfile.TemporaryDirectory() as folder:
            return _added(shelf, [*named, *_written(papers, Path(folder))], with_sample=bool(params.get("sample")))
    except OSError as exc:
        raise ShelfUnwritable(
            f"The shelf {shown(shelf)} could not be written: {exc.strerror or 'the disk refused it'}.",
            hint="See that there is room, and that you may write there.",
        ) from exc


@contextmanager
def _alone_at(shelf: Path) -> Generator[None]:
    """One adds at a time: what another adds meanwhile must be on the shelf that this one updates."""
    make_folder(shelf.parent)
    with locked(shelf.parent / f".{shelf.name}.adding", _PATIENCE_S):
        yield


def _written(papers: list[Any], folder: Path) -> list[Path]:
    if not papers:
        return []
    content = orjson.dumps(papers)
    # By a name of their own: an update replaces what a file of the same name said before.
    path = folder / f"papers-{hashlib.sha256(content).hexdigest()[:12]}.json"
    path.write_bytes(content)
    return [path]


def _added(shelf: Path, inputs: list[Path], *, with_sample: bool) -> dict[str, Any]:
    from paper_library.build.builder import build_shelf
    from paper_library.sample import SAMPLE_INPUTS

    before = shelf if (shelf / MANIFEST).is_file() else None
    report = build_shelf([*(SAMPLE_INPUTS if with_sample else ()), *inputs], shelf, update=before)
    return {
        "shelf": str(shelf),
        "papers": report.papers,
        "entries": report.entries,
        "merged": report.merged,
        "problems": [{"origin": one.origin, "reason": one.reason} for one in report.problems],
    }


@contextmanager
def _opened(params: dict[str, Any], context: Context) -> Generator[Any]:
    """The library of the shelf as it is now: one that another node has just added to is read anew."""
    from paper_library.library import Library

    shelf = _named(params, context) or load_config().shelf
    if shelf is None:
        from paper_library.sample import sample_shelf

        shelf = sample_shelf()
    library = Library.open(shelf.expanduser())
    try:
        yield library
    finally:
        library.close()


def _named(params: dict[str, Any], context: Context) -> Path | None:
    return context.folder / Path(params["shelf"]).expanduser() if params.get("shelf") else None


def _piece(text: str, offset: int, most: int | None) -> dict[str, Any]:
    if most is not None and most < 1:
        raise OutOfBounds("max_chars", "at least 1", hint="Leave max_chars out to get everything.")
    if not 0 <= offset <= len(text):
        raise OutOfBounds("offset", f"from 0 to {len(text)}", hint=f"The text has {len(text)} characters.")
    end = len(text) if most is None else min(len(text), offset + most)
    return {"content": text[offset:end], "chars": len(text), "next_offset": end if end < len(text) else None}
