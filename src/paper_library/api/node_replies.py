"""Parameters and outputs of the workflow nodes of the library."""

from typing import NotRequired

from typing_extensions import TypedDict

from paper_library.domain.replies import Hit, StoredMetadata
from uraniborg.kernel.json_values import Json


class ShelfParams(TypedDict):
    shelf: NotRequired[str | None]


class LibrarySearchParams(ShelfParams):
    """The parameters of library-search."""

    query: NotRequired[str | None]
    limit: NotRequired[int]
    offset: NotRequired[int]
    sort: NotRequired[str | None]


class FoundHits(TypedDict):
    """The outputs of library-search."""

    results: list[Hit]
    total: int
    next_offset: int | None


class ReadParams(ShelfParams):
    """The parameters of library-read."""

    paper_id: str
    what: NotRequired[str | None]
    template: NotRequired[str | None]
    offset: NotRequired[int | None]
    max_chars: NotRequired[int | None]


class PaperContent(TypedDict):
    """The outputs of library-read: the metadata, and the part of the paper that was asked for."""

    metadata: StoredMetadata
    content: NotRequired[str]
    chars: NotRequired[int]
    next_offset: NotRequired[int | None]


class TableParams(ShelfParams):
    """The parameters of library-rows."""

    paper_id: str
    containing: NotRequired[str | None]
    limit: NotRequired[int]


class FoundRow(TypedDict):
    """A row of a table, and where it is in the text."""

    section: str
    table: str
    header: list[str]
    row: list[str]
    offset: int


class TableRows(TypedDict):
    """The outputs of library-rows."""

    rows: list[FoundRow]
    total: int


class AdditionParams(ShelfParams):
    """The parameters of library-add."""

    papers: NotRequired[list[Json] | None]
    files: NotRequired[list[str] | str | None]
    sample: NotRequired[bool | None]


class InputProblem(TypedDict):
    origin: str
    reason: str


class Addition(TypedDict):
    """The outputs of library-add."""

    shelf: str
    papers: int
    entries: int
    merged: int
    problems: list[InputProblem]
