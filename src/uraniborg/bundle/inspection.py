"""How a check of a bundle reports, what the checks of one bundle share, and checks of digests and metadata."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Final, Literal, NamedTuple, cast
from urllib.parse import unquote

from universe.domain.nbody.measurement_replies import MeasurementReply
from universe.domain.state import Plain, State
from universe.service.jobs.measurement import SampledTrajectory
from universe.service.jobs.options_and_replies import JobFacts
from uraniborg.bundle.pieces import BundlePiece
from uraniborg.bundle.reader import MOST_FILES, Bundle, UnreadableBundle
from uraniborg.bundle.ro_crate_files import CRATE, DIGESTS, SIGNATURE, make_entity_id
from uraniborg.kernel.json_values import JsonObject
from uraniborg.kernel.language.messages import plural
from uraniborg.kernel.logging import make_printable
from uraniborg.kernel.progress_callbacks import ReportItem

Result = Literal["matched", "differs", "stated by the signer", "not repeated", "not checked"]
"""`not repeated`: a computation that was not done again. `not checked`: nothing in the bundle proves or refutes it."""
_LINE: Final = re.compile(r"([0-9a-f]{64})  (.+)")
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}(?:T.*)?")
_MOST_LIST_BYTES: Final = 20_000_000
_MOST_CHARACTERS: Final = 1_000
"""Of a line of the report."""
_PROFILES: Final = "https://w3id.org/ro/crate/"


@dataclass(frozen=True)
class Check:
    """What a check found about a file or folder of the bundle, as text that a terminal can show."""

    item: str
    result: Result
    detail: str
    is_statement: bool = False
    """True for facts that only their author can know, such as who did something, or how a processor rounded: a signer
    can vouch for them."""

    def __post_init__(self) -> None:
        for name, text in (("item", self.item), ("detail", self.detail)):
            object.__setattr__(self, name, make_printable(text[:_MOST_CHARACTERS], keep=""))


def make_statement(item: str, detail: str) -> Check:
    """Return the check of facts that only the bundle states: not checked, unless a known signer vouches for them."""
    return Check(item, "not checked", detail, is_statement=True)


def check_digests(bundle: Bundle) -> Iterator[Check]:
    """Yield a check for each file that is missing, changed or not listed, and one for the others."""
    try:
        lines = _read_digest_lines(bundle)
    except (UnreadableBundle, UnicodeDecodeError) as exc:
        yield Check(DIGESTS, "differs", str(exc) if isinstance(exc, UnreadableBundle) else "is not text")
        return
    listed: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        if found := _LINE.fullmatch(line):
            if found[2] in listed:
                yield Check(DIGESTS, "differs", f"line {number} lists '{found[2]}' again")
            listed[found[2]] = found[1]
        else:
            yield Check(DIGESTS, "differs", f"line {number} is not a digest with a path")
    matched = 0
    for path, digest in listed.items():
        problem = _compare_digest(bundle, path, digest)
        if problem:
            yield Check(path, "differs", problem)
        else:
            matched += 1
    for path in bundle.paths:
        if path not in listed and path not in (DIGESTS, SIGNATURE):
            yield Check(path, "differs", f"is not listed in {DIGESTS}: it was added later")
    if matched:
        yield Check("files", "matched", f"{plural(matched, 'file has', 'files have')} the listed SHA-256 digest")


def _read_digest_lines(bundle: Bundle) -> list[str]:
    """Return the lines of the list of digests. Raise Unreadable or UnicodeDecodeError."""
    lines = bundle.read(DIGESTS, most=_MOST_LIST_BYTES).decode().splitlines()
    if len(lines) > MOST_FILES:
        raise UnreadableBundle(f"has more than {MOST_FILES:,} lines")
    return lines


def _compare_digest(bundle: Bundle, path: str, digest: str) -> str:
    """Return how a file differs from its digest; an empty text if it does not."""
    if not bundle.has(path):
        return "is missing"
    try:
        found = bundle.compute_digest(path)
    except UnreadableBundle as exc:
        return str(exc)
    return "" if found == digest else f"was changed: its SHA-256 digest is {found[:12]}…, not {digest[:12]}…"


def check_metadata(bundle: Bundle) -> Iterator[Check]:
    """Yield the violations of RO-Crate 1.1, and the differences between the metadata and the files."""
    try:
        problems = list(list_metadata_problems(bundle.read_object(CRATE), bundle))
    except UnreadableBundle as exc:
        problems = [str(exc)]
    yield from (Check(CRATE, "differs", problem) for problem in problems)
    if not problems:
        yield Check(CRATE, "matched", "the metadata follows RO-Crate 1.1 and describes every file")


def list_metadata_problems(metadata: JsonObject, bundle: Bundle) -> Iterator[str]:
    """Yield what violates the rules of RO-Crate 1.1 for a descriptor, a root and files, or is untrue of the bundle."""
    graph: Any = metadata.get("@graph")
    if not isinstance(graph, list) or not all(
        isinstance(one, dict) and isinstance(one.get("@id"), str)  # pyright: ignore[reportUnknownMemberType]
        for one in cast("list[Any]", graph)
    ):
        yield "@graph is not a list of entities, each with an @id"
        return
    entities = {str(one["@id"]): cast("JsonObject", one) for one in cast("list[Any]", graph)}
    if len(entities) < len(cast("list[Any]", graph)):
        yield "two entities have the same @id"
    if "@context" not in metadata:
        yield "@context is missing"
    descriptor = entities.get(CRATE)
    if descriptor is None or not _has_type(descriptor, "CreativeWork"):
        yield f"the descriptor {CRATE} of the type CreativeWork is missing"
        return
    if not str(_get_id(descriptor.get("conformsTo"))).startswith(_PROFILES):
        yield f"the descriptor does not conform to {_PROFILES}…"
    root = entities.get(str(_get_id(descriptor.get("about"))))
    if root is None or not _has_type(root, "Dataset") or not str(root["@id"]).endswith("/"):
        yield "the descriptor is not about a root of the type Dataset whose @id ends in /"
        return
    yield from _list_root_problems(root)
    parts = {_get_id(one) for one in _as_list(root.get("hasPart"))}
    for path in bundle.paths:
        if path in (CRATE, DIGESTS, SIGNATURE):
            continue
        entity = entities.get(make_entity_id(path))
        if entity is None or not _has_type(entity, "File"):
            yield f"'{path}' is not described as a File"
        elif make_entity_id(path) not in parts:
            yield f"'{path}' is not a part of the root"
    for path, entity in entities.items():
        if _has_type(entity, "File"):
            yield from _list_file_problems(unquote(path), entity, bundle)


def _list_root_problems(root: JsonObject) -> Iterator[str]:
    for name in ("name", "description", "license"):
        if not root.get(name):
            yield f"the root has no {name}"
    if not _DATE.fullmatch(str(root.get("datePublished"))):
        yield "datePublished of the root is not a date such as 2026-01-31"


def _list_file_problems(path: str, entity: JsonObject, bundle: Bundle) -> Iterator[str]:
    if not bundle.has(path):
        yield f"'{path}' is described and missing"
        return
    try:
        if "sha256" in entity and bundle.compute_digest(path) != entity["sha256"]:
            yield f"'{path}' has another SHA-256 digest than the metadata states"
    except UnreadableBundle as exc:
        yield f"'{path}' {exc}"


def _has_type(entity: JsonObject, name: str) -> bool:
    return name in _as_list(entity.get("@type"))


def _as_list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else [] if value is None else [value]


def _get_id(value: Any) -> Any:
    return cast("JsonObject", value).get("@id") if isinstance(value, dict) else None


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
    piece: BundlePiece | None
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


class ReplayedHistory(NamedTuple):
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
    trajectory: SampledTrajectory | None
    """That of the repeated run."""


class BundleFrame(NamedTuple):
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
    frame: BundleFrame
    report: ReportItem
    limit: TimeLimit
    histories: dict[str, ReplayedHistory] = field(default_factory=dict[str, ReplayedHistory])
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


def read_frame(bundle: Bundle) -> BundleFrame:
    """Return what the metadata state; empty texts for what they do not."""
    try:
        graph: Any = bundle.read_object(CRATE).get("@graph")
    except UnreadableBundle:
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
    return BundleFrame(
        title=str(root.get("name") or ""),
        date=str(root.get("datePublished") or ""),
        program=str(entities.get("#uraniborg", {}).get("version") or ""),
        schema=str(root.get("schemaVersion") or ""),
        ranks={unquote(key): number for number, key in reversed(list(enumerate(ids)))},
        descriptions={key: str(one.get("description") or "") for key, one in entities.items()},
    )
