"""Replies about imports, for REST and the command line."""

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from universe.replies import NewUniverse


class SkippedRow(TypedDict):
    """A row that was not imported, or a body without a row."""

    row: int | None
    name: str
    reason: str


class ImportedSystemFacts(TypedDict):
    """A system of a table, with the numbers of its bodies and rows."""

    name: str
    bodies: int
    rows: int


class ImportFacts(TypedDict):
    """The systems of a file, and everything that was left out or assumed. Long lists are cut."""

    format: str
    systems: list[ImportedSystemFacts]
    skipped: list[SkippedRow]
    skippedCount: Annotated[int, Field(description="The number of all skipped rows.")]
    notes: list[str]


ImportReply = TypedDict("ImportReply", {"universes": list[NewUniverse], "import": ImportFacts})
ImportReply.__doc__ = "The universes that were created, and the report of the import."
