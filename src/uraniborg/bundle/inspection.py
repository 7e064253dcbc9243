"""What the checks of one bundle share: its files, the program that wrote it, and what was replayed and repeated."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast
from urllib.parse import unquote

from universe.domain.state import State
from universe.jobs.measurement import Trajectory
from uraniborg.bundle.checks import Check
from uraniborg.bundle.crate import CRATE, SCHEMA
from uraniborg.bundle.pieces import Piece, Plain
from uraniborg.bundle.reader import Bundle, Unreadable
from uraniborg.kernel.logging import make_printable
from uraniborg.kernel.progress import ReportItem
from uraniborg.kernel.version import version


class Verified(NamedTuple):
    """What was found about a piece of a bundle."""

    checks: list[Check]
    piece: Piece | None
    """The files and sentences as an export makes them from the records of the bundle; None if it cannot."""
    title: str | None = None
    """The title of a bundle with this piece, if it decides the title."""
    steps: tuple[str, ...] = ()
    """The lines of the page of a bundle with this piece about repeating the work."""


class PieceKind(NamedTuple):
    """A kind of piece: how its pieces are found in a bundle, and how one of them is verified."""

    find: Callable[[Bundle], list[str]]
    """Returns the folders or files."""
    verify: Callable[["Inspection", str], Verified]


class History(NamedTuple):
    """A universe of the bundle, replayed."""

    folder: str
    name: str
    universe_id: str
    """Empty if no record names it."""
    states: list[State]
    """The state at each version, from version 0."""
    commands: list[Any]


class RepeatedRun(NamedTuple):
    """A measurement of the bundle that was repeated."""

    folder: str
    title: str
    """The name of its universe."""
    job: Plain
    state: Plain
    reply: Plain
    """The stored result."""
    trajectory: Trajectory | None
    """That of the repeated run."""


class Frame(NamedTuple):
    """What the metadata of a bundle state about the bundle."""

    title: str
    date: str
    program: str
    schema: str
    ranks: dict[str, int]
    """The positions of the files in the metadata, by path."""
    descriptions: dict[str, str]
    """The descriptions of files by their ids."""


@dataclass
class Inspection:
    """A bundle while it is verified."""

    bundle: Bundle
    frame: Frame
    report: ReportItem
    histories: dict[str, History] = field(default_factory=dict[str, History])
    """By folder."""
    states: dict[str, list[State]] = field(default_factory=dict[str, list[State]])
    """The states of universes by folder, as far as their logs can be replayed."""
    runs: dict[str, RepeatedRun] = field(default_factory=dict[str, RepeatedRun])
    """By the id of the job."""

    def find_rank(self, path: str) -> int:
        """Return the position of a file in the metadata; the last one if it is not there."""
        return self.frame.ranks.get(path, len(self.frame.ranks))

    @property
    def is_current(self) -> bool:
        """Return True if this version of the program claims to have written the bundle."""
        return (self.frame.program, self.frame.schema) == (version(), SCHEMA)


def read_frame(bundle: Bundle) -> Frame:
    """Return what the metadata state; empty texts for what they do not."""
    try:
        graph: Any = bundle.read_object(CRATE).get("@graph")
    except Unreadable:
        graph = None
    listed = cast("list[Any]", graph) if isinstance(graph, list) else []
    found = [cast("Plain", one) for one in listed if isinstance(one, dict)]
    entities = {str(one.get("@id")): one for one in found}
    root = entities.get("./", {})
    parts: Any = root.get("hasPart")
    ids = [
        str(cast("Plain", one).get("@id"))
        for one in cast("list[Any]", parts if isinstance(parts, list) else [])
        if isinstance(one, dict)
    ]
    return Frame(
        title=str(root.get("name") or ""),
        date=str(root.get("datePublished") or ""),
        program=make_printable(str(entities.get("#uraniborg", {}).get("version") or ""))[:40],
        schema=str(root.get("schemaVersion") or ""),
        ranks={unquote(key): number for number, key in reversed(list(enumerate(ids)))},
        descriptions={key: str(one.get("description") or "") for key, one in entities.items()},
    )
