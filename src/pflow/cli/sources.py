"""From what the command line names, a workflow or a file, to the workflow."""

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pflow.errors import WorkflowNotFound
from pflow.library.document import read_document
from pflow.library.listing import Summary, list_workflows, matching
from pflow.library.lookup import Found, draft_places, not_found
from pflow.library.manager import Stored, WorkflowManager
from pflow.library.names import SUFFIX
from pflow.service import Service
from uraniborg.kernel.errors import Unavailable
from uraniborg.kernel.files import shown
from uraniborg.kernel.ids import content_id

_LONGEST_STEM: Final = 40
_ODD: Final = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class Source:
    """A workflow that was named. `name` is what its runs go by; `kind` is library, draft or file."""

    name: str
    found: Found
    kind: str
    file: Path | None = None

    @property
    def noted(self) -> str:
        """What the log of runs keeps of where it is from: the kind, and of a file also which."""
        # A database takes no half characters, which a path may have.
        return f"{self.kind} {self.file}".encode("utf-8", "replace").decode() if self.file else self.kind


def names_a_file(given: str) -> bool:
    return given.lower().endswith(SUFFIX) or any(sign in given for sign in (os.sep, os.altsep) if sign)


def run_name(given: str) -> str:
    """What the runs of it are called in the log: of a file, its stem, and what tells it from others of that stem.

    The `@` is in no name of a workflow, so that neither can go on with what the other left.
    """
    if not names_a_file(given):
        return given
    path = _path(given)
    stem = _ODD.sub("-", path.name.removesuffix(SUFFIX))[:_LONGEST_STEM]
    return f"{stem}@{content_id(str(path))[:8]}"


def as_given(message: str, given: str) -> str:
    """A message in which a file is called as it was given, and not by what its runs go by."""
    return message.replace(run_name(given), given) if names_a_file(given) else message


def source_of(service: Service, given: str) -> Source:
    """Raises WorkflowNotFound, SecurityError, InvalidWorkflow."""
    if names_a_file(given):
        return _file_source(given)
    found = service.find_workflow(given)
    return Source(given, found, found.stored.source)


def place_of(service: Service, given: str) -> tuple[Path, str]:
    """The file itself, readable as a workflow or not, and how people are told of it. Raises as `source_of` does."""
    if names_a_file(given):
        path = _path(given)
        return path, shown(path)
    for place in (WorkflowManager.for_library(service.home), *draft_places(service.home, service.folder)):
        if place.exists(given):
            return place.get_path(given), place.display_path(given)
    raise not_found(service.home, given, [], service.folder)


def _path(given: str) -> Path:
    return Path(os.path.abspath(os.path.expanduser(given)))


def _file_source(given: str) -> Source:
    path = _path(given)
    told = shown(path)
    try:
        document = read_document(path, told)
    except (FileNotFoundError, ValueError):  # the latter for what no system takes as a path
        raise WorkflowNotFound(
            f"There is no file {given[:200]!r}.",
            hint="Check the path. A workflow of the library is named without slash and suffix.",
            name=given[:200],
        ) from None
    name = run_name(given)
    stored = Stored(name, document.description, document.ir, "draft", told, document.created_at, document.updated_at)
    return Source(name, Found(stored), "file", path)


def run_as_told(run: Mapping[str, Any]) -> dict[str, Any]:
    """A run of the log with its source as it was before it was `noted`, and of a file its path as `file`."""
    kind, _, path = str(run["source"]).partition(" ")
    return {**run, "source": kind, **({"file": path} if path else {})}


def called(run: Mapping[str, Any]) -> str:
    """What to call the workflow of a run that is told: its name, or the path from here."""
    path = run.get("file")
    if path is None:
        return run["workflow"]
    short = shown(Path(path))
    return short if Path(os.path.abspath(os.path.expanduser(short))) == Path(path) else path


def check_home(home: Path) -> None:
    """Raises Unavailable for what is no folder that can be read, and cannot become one."""
    problem = _problem(home)
    if problem:
        raise Unavailable(
            f"The pflow home {home} {problem}.",
            hint="Move away what is there, set its permissions right, or set PFLOW_HOME to another folder.",
            path=str(home),
        )


def _problem(home: Path) -> str:
    try:
        if home.exists():
            if not home.is_dir():
                return "is no folder"
            return "" if os.access(home, os.R_OK | os.X_OK) else "cannot be read: Permission denied"
        above = next(folder for folder in home.absolute().parents if folder.exists())
    except (OSError, ValueError) as exc:
        return f"cannot be read: {exc.strerror if isinstance(exc, OSError) else 'this is no path'}"
    if not above.is_dir():
        return f"cannot be made: {above} is no folder"
    return "" if os.access(above, os.W_OK | os.X_OK) else f"cannot be made: {above} cannot be written"


def listed(service: Service, pattern: str | None) -> dict[str, Any]:
    """`library` as the tool `list_library` has it; `drafts` alike, with their paths; `problems` are other files."""
    listing = list_workflows(service.home)
    local = [
        one for place in draft_places(service.home, service.folder) if place.is_read_only for one in place.list_all()
    ]
    drafts = [one for one in listing.workflows if one.source == "draft"]
    counts = service.count_runs()
    return {
        "library": service.list_library(pattern),
        "drafts": [_plain(one, counts) for one in matching([*drafts, *_unseen(local, drafts)], pattern)],
        "problems": [{"path": one.path, "problem": one.message} for one in listing.problems],
    }


def _unseen(local: Iterable[Summary], others: Iterable[Summary]) -> list[Summary]:
    """A draft of the home hides one of the project that has its name."""
    taken = {one.name for one in others}
    return [one for one in local if one.name not in taken]


def _plain(one: Summary, counts: dict[str, int]) -> dict[str, Any]:
    return {
        "name": one.name,
        "description": one.description,
        "inputs": list(one.inputs),
        "updated_at": one.updated_at,
        "execution_count": counts.get(one.name, 0),
        "path": one.path,
    }
