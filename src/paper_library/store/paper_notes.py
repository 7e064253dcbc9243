"""Store notes and collections of people in a file beside a shelf, which builds replace as a whole.

Each line is the note of a paper at one time, as JSON; the last line of a paper counts. Builds leave the file alone, and
papers keep their ids through builds, so notes stay with their papers. If a build merges two papers, their notes are
read as one, and the next change stores them as one.
"""

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

import orjson

from paper_library.errors import NoteChanged, NotesUnwritable, OutOfBounds, PaperNotFound
from uraniborg.kernel.actors import Actor, get_process_actor, read_actor
from uraniborg.kernel.clock import format_now
from uraniborg.kernel.language.words import fold_text
from uraniborg.kernel.store.audit_log import record_change
from uraniborg.kernel.store.change_feed import ChangeFeed
from uraniborg.kernel.store.files import hold_lock, open_private

if TYPE_CHECKING:
    from paper_library.domain.replies import NoteLine, PaperNoteReply

CHANGE_KIND: Final = "note"
MOST_CHARACTERS: Final = 20_000
MOST_COLLECTIONS: Final = 20
COLLECTION_CHARACTERS: Final = 100
_SUFFIX: Final = ".notes"
_LOCK_S: Final = 5.0
_LINE_END: Final = b"\n"


class PaperNote(NamedTuple):
    """The note of a person on a paper, and the collections that the paper is in."""

    paper_id: str
    text: str = ""
    collections: tuple[str, ...] = ()
    by: str = ""
    at: str = ""
    actor: Actor | None = None
    """Who wrote the note; None in notes of versions that did not store it."""

    @property
    def revision(self) -> str:
        """A text that differs if the note differs."""
        return hashlib.sha256(orjson.dumps([*self[:5]])).hexdigest()[:16]

    def as_dict(self) -> "PaperNoteReply":
        return {**self.to_line(), "revision": self.revision}

    def to_line(self) -> "NoteLine":
        """Return the note as the file stores it."""
        line: NoteLine = {
            "paper_id": self.paper_id,
            "text": self.text,
            "collections": list(self.collections),
            "by": self.by,
            "at": self.at,
        }
        if self.actor:
            line["actor"] = self.actor.model_dump()
        return line


class PaperIds(Protocol):
    """The ids of the papers of a shelf, such as a library. The methods raise PaperNotFound."""

    def find_paper_id(self, paper: str, /) -> str: ...

    def list_merged_ids(self, paper: str, /) -> list[str]: ...


class PaperNotes:
    """The notes on the papers of one shelf. All methods block; any number of processes may use them at once.

    `papers` finds the present ids of papers that were merged; None if no paper was.
    """

    def __init__(self, shelf: Path, papers: PaperIds | None = None) -> None:
        self._shelf = shelf.resolve()
        self._path = self._shelf.with_name(f"{self._shelf.name}{_SUFFIX}")
        self._papers = papers

    def read_note(self, paper_id: str) -> PaperNote:
        """Return the note of a paper; an empty one if there is none."""
        ids = {paper_id, *self._list_merged_ids(paper_id)}
        stored = [note for note in self._read_stored_notes() if note.paper_id in ids]
        return self._join_notes_by_paper(stored).get(paper_id) or PaperNote(paper_id)

    def read_all(self) -> dict[str, PaperNote]:
        """Return the notes by paper, the last one first. A line that cannot be read is left out."""
        notes = self._join_notes_by_paper(self._read_stored_notes())
        return {note.paper_id: note for note in reversed(notes.values())}

    def _join_notes_by_paper(self, stored_notes: list[PaperNote]) -> dict[str, PaperNote]:
        notes: dict[str, PaperNote] = {}
        for stored in stored_notes:
            paper_id = self._find_current_id(stored.paper_id)
            note = stored._replace(paper_id=paper_id)
            notes[paper_id] = _join_notes(earlier, note) if (earlier := notes.pop(paper_id, None)) else note
        return notes

    def _find_current_id(self, paper_id: str) -> str:
        """Return the present id of the paper that had this id when its note was written."""
        try:
            return self._papers.find_paper_id(paper_id) if self._papers else paper_id
        except PaperNotFound:
            return paper_id

    def _list_merged_ids(self, paper_id: str) -> list[str]:
        try:
            return self._papers.list_merged_ids(paper_id) if self._papers else []
        except PaperNotFound:
            return []

    def _read_stored_notes(self) -> list[PaperNote]:
        """Return the notes with the ids that they were written for, the last one last."""
        try:
            lines = self._path.read_bytes().split(_LINE_END)
        except OSError:
            return []
        notes: dict[str, PaperNote] = {}
        for line in lines:
            if note := _parse_line(line):
                notes.pop(note.paper_id, None)
                notes[note.paper_id] = note
        return [note for note in notes.values() if note.text or note.collections]

    def write_note(
        self,
        paper_id: str,
        text: str,
        collections: list[str],
        *,
        by: str,
        revision: str | None = None,
        actor: Actor | None = None,
    ) -> PaperNote:
        """Replace the note of a paper. With `revision`, only if it is still the one of this revision.

        `actor` is who writes it, under the name `by`; by default the program that runs this process.
        Raise OutOfBounds, NoteChanged, NotesUnwritable or Locked.
        """
        own = actor or get_process_actor()
        note = PaperNote(paper_id, _check_text(text), _check_collections(collections), by, format_now(), own)
        with hold_lock(self._path.with_name(f"{self._path.name}.lock"), timeout_s=_LOCK_S):
            known = self.read_note(paper_id)
            if revision is not None and revision != known.revision:
                raise NoteChanged(known.by)
            emptied = [PaperNote(one, by=by, at=note.at, actor=own) for one in self._list_earlier_ids(paper_id)]
            self._append(b"".join(orjson.dumps(one.to_line()) + _LINE_END for one in (note, *emptied)))
        if (known.text or known.collections) and not (note.text or note.collections):
            record_change("note deleted", paper_id, own, shelf=self._shelf)
        ChangeFeed().publish(CHANGE_KIND, paper_id, shelf=str(self._shelf), by=by)
        return note

    def _list_earlier_ids(self, paper_id: str) -> list[str]:
        """Return the other ids with notes on this paper: ids of papers that were merged into it."""
        noted = {note.paper_id for note in self._read_stored_notes()}
        ids = [one for one in self._list_merged_ids(paper_id) if one in noted and one != paper_id]
        return [one for one in ids if self._find_current_id(one) == paper_id]

    def _append(self, lines: bytes) -> None:
        try:
            descriptor = open_private(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
            try:
                size = os.fstat(descriptor).st_size
                if size and os.pread(descriptor, 1, size - 1) != _LINE_END:  # a write that was cut off
                    lines = _LINE_END + lines
                while lines:
                    lines = lines[os.write(descriptor, lines) :]
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        except OSError as exc:
            raise NotesUnwritable(exc.strerror or "disk error") from exc


def count_collections(notes: dict[str, PaperNote]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for note in notes.values():
        for name in note.collections:
            counts[name] = counts.get(name, 0) + 1
    return dict(sorted(counts.items(), key=lambda item: fold_text(item[0])))


def _join_notes(earlier: PaperNote, later: PaperNote) -> PaperNote:
    text = "\n\n".join(one.text for one in (earlier, later) if one.text)
    return later._replace(text=text, collections=tuple(dict.fromkeys((*earlier.collections, *later.collections))))


def _parse_line(line: bytes) -> PaperNote | None:
    try:
        found: NoteLine = orjson.loads(line)
        return PaperNote(
            str(found["paper_id"]),
            str(found["text"]),
            tuple(found["collections"]),
            str(found["by"]),
            str(found["at"]),
            read_actor(found.get("actor")),
        )
    except (orjson.JSONDecodeError, TypeError, KeyError, AttributeError):
        return None


def _check_text(text: str) -> str:
    if len(text) > MOST_CHARACTERS:
        raise OutOfBounds("text", f"at most {MOST_CHARACTERS:,} characters")
    return text


def _check_collections(names: list[str]) -> tuple[str, ...]:
    cleaned = {fold_text(name): name for one in names if (name := " ".join(one.split()))}
    if len(cleaned) > MOST_COLLECTIONS or any(len(name) > COLLECTION_CHARACTERS for name in cleaned.values()):
        raise OutOfBounds("collections", f"at most {MOST_COLLECTIONS} names of {COLLECTION_CHARACTERS} characters")
    return tuple(cleaned.values())
