"""Share what the checks of one bundle need: its files, the time left, and what was replayed and repeated."""

from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Final, NamedTuple, cast
from urllib.parse import unquote

from universe.domain.state import Plain, State
from universe.jobs.measurement import Trajectory
from universe.jobs.replies import JobFacts
from universe.nbody.replies import MeasurementReply
from uraniborg.bundle.checks import Check
from uraniborg.bundle.crate import CRATE
from uraniborg.bundle.pieces import Piece
from uraniborg.bundle.reader import Bundle, Unreadable
from uraniborg.kernel.json_values import JsonObject
from uraniborg.kernel.progress import ReportItem

MOST_SECONDS: Final = 1_800.0
"""The time that verification takes unless another limit is chosen."""


class TimeOver(Exception):
    """The time of the verification is over."""


class TimeLimit:
    """The time that all checks of a bundle may take together."""

    def __init__(self, seconds: float = MOST_SECONDS, clock: Callable[[], float] = monotonic) -> None:
        self.seconds = seconds
        self._clock, self._end = clock, clock() + seconds

    def check(self) -> float:
        """Return the seconds that are left. Raise TimeOver if none is."""
        if (left := self._end - self._clock()) <= 0:
            raise TimeOver(f"the time is over: --max-seconds allows more than {self.seconds:g} seconds")
        return left


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


class Replay(NamedTuple):
    """The log of a universe of the bundle, replayed as far as that is possible."""

    entries: list[Any]
    states: list[State]
    """The state at each version, from version 0."""
    problem: str
    """Why the log ends before its last entry; an empty text if it does not."""


class RepeatedRun(NamedTuple):
    """A measurement of the bundle that was repeated."""

    folder: str
    title: str
    """The name of its universe."""
    job: JobFacts
    state: Plain
    reply: MeasurementReply
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
    limit: TimeLimit
    histories: dict[str, History] = field(default_factory=dict[str, History])
    """By folder."""
    origins: dict[str, dict[bytes, int]] = field(default_factory=dict[str, dict[bytes, int]])
    """The versions of universes by the digests of their states, by folder."""
    replays: dict[str, Replay] = field(default_factory=dict[str, Replay])
    """By folder."""
    runs: dict[str, RepeatedRun] = field(default_factory=dict[str, RepeatedRun])
    """By the id of the job."""

    def find_rank(self, path: str) -> int:
        """Return the position of a file in the metadata; the last one if it is not there."""
        return self.frame.ranks.get(path, len(self.frame.ranks))


def read_frame(bundle: Bundle) -> Frame:
    """Return what the metadata state; empty texts for what they do not."""
    try:
        graph: Any = bundle.read_object(CRATE).get("@graph")
    except Unreadable:
        graph = None
    listed = cast("list[Any]", graph) if isinstance(graph, list) else []
    found = [cast("JsonObject", one) for one in listed if isinstance(one, dict)]
    entities = {str(one.get("@id")): one for one in found}
    root = entities.get("./", {})
    parts: Any = root.get("hasPart")
    ids = [
        str(cast("JsonObject", one).get("@id"))
        for one in cast("list[Any]", parts if isinstance(parts, list) else [])
        if isinstance(one, dict)
    ]
    return Frame(
        title=str(root.get("name") or ""),
        date=str(root.get("datePublished") or ""),
        program=str(entities.get("#uraniborg", {}).get("version") or ""),
        schema=str(root.get("schemaVersion") or ""),
        ranks={unquote(key): number for number, key in reversed(list(enumerate(ids)))},
        descriptions={key: str(one.get("description") or "") for key, one in entities.items()},
    )
