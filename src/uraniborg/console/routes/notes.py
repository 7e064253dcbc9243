"""Routes for notes and collections: what people write about the papers of a shelf."""

import asyncio
from typing import Annotated

from fastapi import Body, Query

from paper_library.library import Library, open_shared_library
from paper_library.paper_notes import MOST_CHARACTERS, MOST_COLLECTIONS, PaperNotes, count_collections
from paper_library.replies import NoteList, PaperNoteReply
from paper_library.shelf_catalog import find_known_shelf
from uraniborg.console.routes.dependencies import Sender, make_router
from uraniborg.console.routes.shelves import PaperId, ShelfName
from uraniborg.kernel.actors import Actor
from uraniborg.kernel.errors import UraniborgError

_MOST_LISTED = 500


_NOTE = "/api/shelves/{shelf}/papers/{paper_id}/note"
router = make_router("shelves")


@router.get("/api/shelves/{shelf}/notes", summary="List notes")
async def list_notes(shelf: ShelfName, collection: Annotated[str | None, Query(max_length=200)] = None) -> NoteList:
    """Return the papers with notes, or those of a collection, and all collections of the shelf."""
    return await asyncio.to_thread(_list_notes, shelf, collection)


@router.get(_NOTE, summary="Return the note on a paper")
async def get_note(shelf: ShelfName, paper_id: PaperId) -> PaperNoteReply:
    return await asyncio.to_thread(_read_note, shelf, paper_id)


@router.put(_NOTE, summary="Write the note on a paper")
async def write_note(
    actor: Sender,
    shelf: ShelfName,
    paper_id: PaperId,
    text: Annotated[str, Body(max_length=MOST_CHARACTERS)],
    collections: Annotated[list[str], Body(max_length=MOST_COLLECTIONS)],
    revision: Annotated[str | None, Body(max_length=100)] = None,
) -> PaperNoteReply:
    """Replace the note on a paper, unless somebody else has changed it. The shelf itself stays as it is."""
    return await asyncio.to_thread(_write_note, shelf, paper_id, text, collections, actor, revision)


def _open(shelf: str) -> tuple[Library, PaperNotes]:
    path = find_known_shelf(shelf).path
    library = open_shared_library(path)
    return library, PaperNotes(path, library)


def _read_note(shelf: str, paper_id: str) -> PaperNoteReply:
    library, notes = _open(shelf)
    return notes.read_note(library.find_paper_id(paper_id)).as_dict()


def _write_note(
    shelf: str, paper_id: str, text: str, collections: list[str], actor: Actor, revision: str | None
) -> PaperNoteReply:
    library, notes = _open(shelf)
    known = library.find_paper_id(paper_id)
    return notes.write_note(known, text, collections, by=actor.name, revision=revision, actor=actor).as_dict()


def _list_notes(shelf: str, collection: str | None) -> NoteList:
    library, notes = _open(shelf)
    found = notes.read_all()
    chosen = [note for note in found.values() if collection is None or collection in note.collections]
    return {
        "papers": [{**note.as_dict(), "title": _find_title(library, note.paper_id)} for note in chosen[:_MOST_LISTED]],
        "total": len(chosen),
        "collections": [{"name": name, "papers": count} for name, count in count_collections(found).items()],
    }


def _find_title(library: Library, paper_id: str) -> str | None:
    try:
        return library.metadata(paper_id)["title"]
    except UraniborgError:
        return None
