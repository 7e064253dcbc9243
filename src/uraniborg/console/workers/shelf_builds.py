"""Shelves made from the papers of searches: each build runs in a process of its own and is announced in the feed."""

import asyncio
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from paper_library.config import load_config
from paper_library.store.layout import read_manifest
from uraniborg.kernel.actors import Actor, get_process_actor
from uraniborg.kernel.errors import Conflict, InvalidInput, UraniborgError
from uraniborg.kernel.logging import get_logger, make_printable
from uraniborg.kernel.processes.worker_dialogue import RequestFailed, WorkerEnded, WorkerProcess, start_worker
from uraniborg.kernel.settings import secure_own_folder
from uraniborg.kernel.shared_fields import ActorFields, ChangeFields
from uraniborg.kernel.store.batched_change_feed import QueuedChangeFeed
from uraniborg.kernel.store.change_feed import Publisher
from uraniborg.kernel.store.files import make_private_folder, write_atomic

if TYPE_CHECKING:
    from uraniborg.console.workers.shelf_worker import ShelfProgress, ShelfReport, ShelfRequest


BuildState = Literal["none", "running", "done", "failed"]


class BuildFacts(TypedDict, total=False):
    """What is known of a build: its progress, its report, or its error."""

    phase: str
    done: int
    total: int
    papers: int
    added: int
    error: str
    hint: str


class ShelfBuildChange(ChangeFields, BuildFacts):
    """A build of a shelf from papers of a search progressed or ended. `subject` is the id of the session."""

    kind: Literal["shelf_build"]
    state: NotRequired[BuildState]
    shelf: NotRequired[str]


class ShelfBuildReply(TypedDict):
    """The last build of a shelf from the papers of a search."""

    session_id: str
    state: BuildState
    actor: Annotated[ActorFields | None, Field(description="Who started the build.")]
    shelf: str | None
    path: str | None
    phase: str | None
    done: int
    total: int
    papers: int | None
    added: int | None
    error: str | None
    hint: str | None


class ShelfTarget(TypedDict):
    """A shelf that papers can be put on."""

    name: str
    path: str
    papers: int


class ShelfTargets(TypedDict):
    """The shelves that papers can be put on."""

    shelves: list[ShelfTarget]


_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_MAX_BUILDS: Final = 100
_STOP_S: Final = 5.0
_log = get_logger(__name__)


class ShelfBuildActive(Conflict):
    code = "shelf_build_active"


@dataclass
class ShelfBuild:
    """A build of a shelf from the papers of a session."""

    session_id: str
    shelf: str
    path: Path
    actor: Actor | None = None
    """Who started the build."""
    state: Literal["running", "done", "failed"] = "running"
    facts: BuildFacts = field(default_factory=BuildFacts)
    worker: "WorkerProcess[ShelfRequest, ShelfProgress, ShelfReport] | None" = None

    def to_fields(self) -> ShelfBuildReply:
        """Return the build as the API sends it."""
        return {
            **_make_empty_reply(self.session_id),
            "state": self.state,
            "shelf": self.shelf,
            "path": str(self.path),
            "actor": self.actor and self.actor.model_dump(),
            **self.facts,
        }


def _make_empty_reply(session_id: str) -> ShelfBuildReply:
    return {
        "session_id": session_id,
        "state": "none",
        "actor": None,
        "shelf": None,
        "path": None,
        "phase": None,
        "done": 0,
        "total": 0,
        "papers": None,
        "added": None,
        "error": None,
        "hint": None,
    }


def find_shelves_folder() -> Path:
    """Return the folder of the shelves that the console builds."""
    return secure_own_folder("data", "library") / "shelves"


def list_shelf_targets() -> list[ShelfTarget]:
    """Return the shelves that papers can be put on: that of the settings, and those that were built before. Blocks."""
    configured = load_config().shelf
    folder = find_shelves_folder()
    found = sorted(folder.iterdir()) if folder.is_dir() else []
    paths = [*([configured.expanduser()] if configured else []), *(path for path in found if path.is_dir())]
    return [
        {"name": path.name, "path": str(path), "papers": count} for path in paths if (count := _count_papers(path)) >= 0
    ]


def _count_papers(path: Path) -> int:
    """Return the number of papers of a shelf, or -1 if the folder is not one."""
    try:
        return read_manifest(path).papers
    except UraniborgError:
        return -1


def find_shelf_path(name: str) -> Path:
    """Return the folder of the shelf with this name, which may not exist yet. Raise InvalidInput."""
    for target in list_shelf_targets():
        if target["name"] == name:
            return Path(target["path"])
    if not _NAME.fullmatch(name):
        raise InvalidInput(
            f"'{make_printable(name[:80])}' cannot be the name of a shelf.",
            hint="Use up to 64 lower-case letters, digits, - and _, beginning with a letter or a digit.",
            argument="name",
        )
    return find_shelves_folder() / name


@dataclass
class ShelfBuilds:
    """The builds of this process, the last one of each session."""

    feed: Publisher = field(default_factory=QueuedChangeFeed)
    _builds: dict[str, ShelfBuild] = field(default_factory=dict[str, ShelfBuild])
    _tasks: "set[asyncio.Task[None]]" = field(default_factory=set)

    def get(self, session_id: str) -> ShelfBuildReply:
        """Return the last build of the session."""
        build = self._builds.get(session_id)
        return build.to_fields() if build else _make_empty_reply(session_id)

    async def start(self, session_id: str, name: str, papers_json: str, actor: Actor | None = None) -> ShelfBuildReply:
        """Start a build and return it. Raise InvalidInput, or ShelfBuildActive if one of the shelf runs.

        `actor` is who starts it, by default the program that runs this process.
        """
        path = await asyncio.to_thread(find_shelf_path, name)
        if any(build.state == "running" and build.path == path for build in self._builds.values()):
            raise ShelfBuildActive(f"The shelf '{name}' is being built.", hint="Wait until the build has ended.")
        build = ShelfBuild(session_id, name, path, actor or get_process_actor())
        self._builds[session_id] = build
        for oldest in [key for key, one in self._builds.items() if one.state != "running"][:-_MAX_BUILDS]:
            del self._builds[oldest]
        task = asyncio.create_task(self._run_build(build, papers_json))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return build.to_fields()

    async def stop(self) -> None:
        """End all builds; the shelves stay as they were."""
        for build in self._builds.values():
            if build.worker is not None:
                build.worker.kill()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=_STOP_S)
        await asyncio.to_thread(self.feed.close)

    async def _run_build(self, build: ShelfBuild, papers_json: str) -> None:
        try:
            papers = await asyncio.to_thread(_store_papers, build.session_id, papers_json)
            build.facts = {**await self._follow_worker(build, papers)}
            build.state = "done"
        except RequestFailed as error:
            build.state = "failed"
            build.facts = {"error": error.message, "hint": error.hint}
        except WorkerEnded:
            build.state = "failed"
            build.facts = {"error": "The build ended early.", "hint": "Try again; the shelf is unchanged."}
        except Exception as exc:
            _log.exception("a shelf cannot be built", exc=exc)
            build.state = "failed"
            build.facts = {
                "error": "The shelf could not be built.",
                "hint": "Read the terminal in which `uraniborg serve` runs, then try again.",
            }
        self._announce(build)

    async def _follow_worker(self, build: ShelfBuild, papers: Path) -> "ShelfReport":
        """Run the worker and announce its progress; return its report. Raise RequestFailed or WorkerEnded."""

        async def announce(progress: "ShelfProgress") -> None:
            build.facts = {**progress}
            self._announce(build)

        actor = build.actor and build.actor.model_dump()
        worker = build.worker = await start_worker("uraniborg.console.workers.shelf_worker")
        try:
            request: ShelfRequest = {"papers": str(papers), "shelf": str(build.path), "actor": actor}
            return (await worker.request(request, on_progress=announce)).result
        finally:
            await worker.end(within_s=_STOP_S)

    def _announce(self, build: ShelfBuild) -> None:
        self.feed.publish("shelf_build", build.session_id, state=build.state, shelf=build.shelf, **build.facts)


def _store_papers(session_id: str, papers_json: str) -> Path:
    """Store the papers under the name of the session, so that a later build replaces them, and return the file."""
    folder = secure_own_folder("data", "library") / "from-searches"
    make_private_folder(folder)
    path = folder / f"search-{session_id}.json"
    write_atomic(path, papers_json)
    return path
