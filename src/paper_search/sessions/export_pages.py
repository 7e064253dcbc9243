"""Send the JSON export of a large session in parts: a summary with an address, and pages."""

from collections.abc import Iterator
from itertools import islice
from typing import Any, Final, cast

from pydantic import BaseModel

from paper_search.models import Paper, PaperCollection
from paper_search.session_replies import ExportPage, ExportParts, ExportSummary, NamedPaper
from paper_search.sessions.addresses import build_export_uri
from paper_search.sessions.reply_sizes import clip_text, count_json_bytes
from uraniborg.kernel.json_values import Json, JsonObject

MOST_PAPERS: Final = 50
"""The most papers of a result that `export_results` returns as JSON in one reply."""
_PAGE_BYTES: Final = 24_000
_NAMED_PAPERS: Final = 20
_LISTS: Final = ("papers", "excluded_papers", "removed_papers")
_OBJECTS: Final = ("metadata", "facets")

_Piece = tuple[str, str, Any]
"""A list of papers and one of them, or an object, one of its fields, and its value or one item of it."""


def build_export_summary(session_id: str, collection: PaperCollection) -> ExportSummary:
    """Return what a JSON export contains, its best papers, and where to read all of it."""
    years = [paper.year for paper in collection.papers if paper.year]
    return {
        "session_id": session_id,
        "format": "json",
        "is_summary": True,
        "query": clip_text(collection.metadata.query, 500),
        "total_papers": len(collection.papers),
        "excluded_papers": len(collection.excluded_papers),
        "removed_papers": len(collection.removed_papers),
        "years": [min(years), max(years)] if years else None,
        "best_papers": [_build_named_paper(paper) for paper in collection.papers[:_NAMED_PAPERS]],
        "resource": build_export_uri(session_id),
        "hint": f"JSON of more than {MOST_PAPERS} papers is too long for one reply. Read the resource, and then each "
        "`next`: the pages together are the whole export. The other formats are shorter. `paper-search export "
        f"{session_id} --format json -o papers.json` writes the whole export to a file.",
    }


def build_export_page(session_id: str, collection: PaperCollection, offset: int) -> ExportPage:
    """Return as many parts of the JSON export as fit into one reply, from the part with the number `offset` on.

    The lists of the pages joined, and their objects merged, are the export.
    """
    page: JsonObject = {}
    length = taken = 0
    total = sum(len(getattr(collection, name)) or 1 for name in _LISTS) + sum(
        len(_split_field(value)) for name in _OBJECTS for _, value in _iterate_fields(getattr(collection, name))
    )
    for part, name, value in islice(_iterate_pieces(collection), offset, None):
        dumped = _dump_value(value)
        length += count_json_bytes(dumped)
        if taken and length > _PAGE_BYTES:
            break
        _add_piece(page, part, name, dumped)
        taken += 1
    end = offset + taken
    return {
        "session_id": session_id,
        **cast("ExportParts", page),
        "total_papers": len(collection.papers),
        "offset": offset,
        "total_parts": total,
        "next": build_export_uri(session_id, end) if end < total else None,
    }


def _iterate_pieces(collection: PaperCollection) -> Iterator[_Piece]:
    for part in _LISTS:
        papers: list[Paper] = getattr(collection, part)
        yield from ((part, "", [paper]) for paper in papers) if papers else [(part, "", [])]
    for part in _OBJECTS:
        for name, value in _iterate_fields(getattr(collection, part)):
            yield from ((part, name, piece) for piece in _split_field(value))


def _iterate_fields(part: BaseModel) -> Iterator[tuple[str, Any]]:
    for name, value in part:
        is_left_out = type(part).model_fields[name].exclude_if
        if is_left_out is None or not is_left_out(value):
            yield name, value


def _split_field(value: Any) -> list[Any]:
    """Return the items of a list, each as a list, so that pages can end between them; otherwise the value alone."""
    return [[item] for item in cast("list[Any]", value)] if isinstance(value, list) and value else [value]


def _add_piece(page: JsonObject, part: str, name: str, value: Json) -> None:
    target = cast("JsonObject", page.setdefault(part, {})) if name else page
    earlier = target.get(name or part)
    target[name or part] = [*earlier, *value] if isinstance(value, list) and isinstance(earlier, list) else value


def _dump_value(value: Any) -> Json:
    """Return the value as plain JSON."""
    return _Holder(value=value).model_dump(mode="json")["value"]


class _Holder(BaseModel):
    value: Any


def _build_named_paper(paper: Paper) -> NamedPaper:
    return {"id": paper.id, "title": clip_text(paper.title, 160), "year": paper.year, "doi": clip_text(paper.doi, 100)}
