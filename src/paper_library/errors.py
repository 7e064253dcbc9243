"""Errors that the library raises.

UraniborgError
├── InvalidInput
│   ├── OutOfBounds              invalid_argument: an argument is out of range
│   └── NothingToShelve          nothing_to_shelve: the inputs contain no papers
├── NotFound
│   ├── PaperNotFound            paper_not_found
│   ├── PaperAmbiguous           paper_ambiguous: several papers match a prefix, with candidates
│   ├── TemplateNotAvailable     template_not_available, with available_summary_templates
│   ├── SourceNotAvailable       source_not_available
│   ├── TranslationNotAvailable  translation_not_available, with available_translations
│   ├── ShelfNotFound            shelf_not_found
│   └── InputNotFound            input_not_found
├── Conflict
│   ├── ShelfExists              shelf_exists: the output exists and is not a shelf
│   ├── ShelfTooNew              shelf_too_new: built by a later version
│   ├── RegisterTooNew           register_too_new: the id register was written by a later version
│   ├── ShelfTooOld              shelf_too_old: built by an earlier version, must be built again
│   └── ShelfDamaged             shelf_damaged: incomplete, changed or unreadable
└── Unavailable
    ├── AssetFetchFailed         asset_fetch_failed, with a reason: missing, timeout, …
    ├── ShelfUnwritable          shelf_unwritable: a build could not write to the disk
    ├── AssetInvalid             asset_invalid: the contents have changed
    └── QueryTooSlow             query_too_slow
"""

from collections.abc import Sequence
from typing import Final

from uraniborg.kernel.bibliography.identifiers import is_record_id
from uraniborg.kernel.errors import Conflict, InvalidInput, NotFound, Unavailable

_FROM_A_SEARCH: Final = (
    "This is the id of a paper in a paper search. Read the paper on the paper-search server, in the resource "
    "paper-search://sessions/SESSION_ID/papers; get_session shows the session. "
)
_BUILD_AGAIN: Final = (
    "The shelf was built by an earlier version, which did not store such ids: build it again if the paper is on it. "
)
_CITATION_FORMATS: Final = {"bibtex", "bib", "ris", "csl", "csl-json", "citation", "reference"}


class PaperNotFound(NotFound):
    """No paper of the shelf has this id."""

    code = "paper_not_found"

    def __init__(
        self, paper_id: str, template: str | None = None, nearest: Sequence[str] = (), *, knows_searches: bool = True
    ) -> None:
        self.nearest = nearest
        """The ids and titles of papers that may be meant."""
        self.knows_searches = knows_searches
        """False for a shelf of an earlier version, which does not have the ids that paper searches give."""
        meant = f"Did you mean {' or '.join(nearest)}? " if nearest else ""
        if is_record_id(paper_id):
            meant = _FROM_A_SEARCH if knows_searches else _FROM_A_SEARCH + _BUILD_AGAIN
        super().__init__(
            f"Paper not found: {paper_id[:100]}",
            hint=f"{meant}On this shelf, which the paper-library server serves, use the paper_id of a result of its "
            "search_papers, or a DOI, arXiv id or BibTeX key.",
            paper_id=paper_id[:100],
            **({"template": template[:100]} if template else {}),
        )


class PaperAmbiguous(NotFound):
    """Several papers match a prefix."""

    code = "paper_ambiguous"

    def __init__(self, prefix: str, candidates: list[str]) -> None:
        super().__init__(
            f"Several papers start with {prefix[:100]}: {'; '.join(candidates)}.",
            hint="Use more characters of the id or BibTeX key.",
            paper_id=prefix[:100],
            candidates=candidates,
        )


class TemplateNotAvailable(NotFound):
    """The paper has no summary of this template."""

    code = "template_not_available"

    def __init__(self, paper_id: str, template: str, available: list[str]) -> None:
        is_citation = template.lower() in _CITATION_FORMATS
        writers = "export_citations, GET /api/v1/papers/ID/bibtex and `paper-library show --bibtex`"
        citing = f" Citations are not summaries: {writers} write them." if is_citation else ""
        super().__init__(
            f"This paper has no summary '{template[:100]}'.",
            hint=f"Use one of: {', '.join(available)}; or leave the template out.{citing}",
            paper_id=paper_id,
            template=template[:100],
            available_summary_templates=available,
        )


class SourceNotAvailable(NotFound):
    """The paper has no text on this shelf."""

    code = "source_not_available"

    def __init__(self, paper_id: str) -> None:
        super().__init__(
            "The source text of this paper is not available on this shelf.",
            hint="Read the abstract in the metadata, or the summary: get_paper_metadata and get_paper_summary.",
            paper_id=paper_id,
        )


class OriginalNotAvailable(NotFound):
    """The shelf does not have the PDF of the paper."""

    code = "original_not_available"

    def __init__(self, paper_id: str) -> None:
        super().__init__(
            "The PDF of this paper is not on this shelf.",
            hint="Build the shelf from PDFs, or open the paper where it was published.",
            paper_id=paper_id,
        )


class TranslationNotAvailable(NotFound):
    """The paper has no translation into this language."""

    code = "translation_not_available"

    def __init__(self, paper_id: str, lang: str, available: list[str]) -> None:
        super().__init__(
            f"A translation of this paper into '{lang[:40]}' is not available.",
            hint=f"Available translations: {', '.join(available)}." if available else "This paper has no translations.",
            paper_id=paper_id,
            lang=lang[:40],
            available_translations=available,
        )


class NothingToShelve(InvalidInput):
    """The inputs contain no papers."""

    code = "nothing_to_shelve"


class ShelfNotFound(NotFound):
    """The folder does not exist or is not a shelf."""

    code = "shelf_not_found"


class InputNotFound(NotFound):
    """An input of a build does not exist."""

    code = "input_not_found"


class ShelfExists(Conflict):
    """The output of a build exists and is not a shelf."""

    code = "shelf_exists"


class NoteChanged(Conflict):
    """Somebody else has changed the note of a paper meanwhile."""

    code = "note_changed"

    def __init__(self, by: str) -> None:
        super().__init__(
            f"{by or 'Somebody else'} has changed this note meanwhile.", hint="Read it again, then change it.", by=by
        )


class ShelfTooNew(Conflict):
    """The shelf was built by a later version."""

    code = "shelf_too_new"


class ShelfTooOld(Conflict):
    """The shelf was built by an earlier version and must be built again."""

    code = "shelf_too_old"


class RegisterTooNew(Conflict):
    """The id register was written by a later version."""

    code = "register_too_new"


class ShelfDamaged(Conflict):
    """The shelf is incomplete, changed or unreadable."""

    code = "shelf_damaged"
    status = 503


class AssetFetchFailed(Unavailable):
    """An asset could not be read."""

    code = "asset_fetch_failed"


class AssetInvalid(Unavailable):
    """The contents of an asset have changed."""

    code = "asset_invalid"


class ShelfUnwritable(Unavailable):
    """A build could not write to the disk."""

    code = "shelf_unwritable"


class NotesUnwritable(Unavailable):
    """The file with the notes beside a shelf cannot be written."""

    code = "notes_unwritable"

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"The note cannot be stored beside the shelf: {reason}.",
            hint="Check the free disk space and the permissions of the folder that holds the shelf.",
        )


class QueryTooSlow(Unavailable):
    """A query was stopped after its time limit."""

    code = "query_too_slow"


class OutOfBounds(InvalidInput):
    """An argument that is out of range; the message names the allowed values."""

    def __init__(self, argument: str, allowed: str, *, hint: str = "") -> None:
        super().__init__(
            f"{argument} must be {allowed}.",
            hint=hint or f"Call again with {argument} {allowed}.",
            argument=argument,
            allowed=allowed,
        )
