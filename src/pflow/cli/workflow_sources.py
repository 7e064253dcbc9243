"""Find what the command line names: a saved workflow, a draft or a file; and check the pflow home."""

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from pflow.errors import WorkflowNotFound
from pflow.service.operations import Service
from pflow.store.workflow_file import SUFFIX, read_document
from pflow.store.workflow_library import (
    FoundWorkflow,
    StoredWorkflow,
    WorkflowManager,
    list_draft_managers,
    make_not_found_error,
)
from pflow.store.workflow_listing import Summary, filter_workflows, list_workflows
from uraniborg.kernel.actors import Actor
from uraniborg.kernel.boundary import make_encodable
from uraniborg.kernel.errors import Unavailable
from uraniborg.kernel.ids import content_id
from uraniborg.kernel.store.files import display_path

if TYPE_CHECKING:
    from pflow.service.run_replies import RunSummary
    from pflow.service.workflow_replies import NamedDraft, NamedWorkflows

Run = TypeVar("Run", bound="RunSummary")

_LONGEST_STEM: Final = 40
_ODD: Final = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class WorkflowSource:
    """A workflow named on the command line. Runs are logged under `name`; `kind` is library, draft or file."""

    name: str
    found: FoundWorkflow
    kind: str
    file: Path | None = None

    @property
    def log_label(self) -> str:
        """The source in the log of runs: the kind, and for a file its path."""
        return make_encodable(f"{self.kind} {self.file}") if self.file else self.kind


def is_file_path(name_or_path: str) -> bool:
    return name_or_path.lower().endswith(SUFFIX) or any(sign in name_or_path for sign in (os.sep, os.altsep) if sign)


def make_logged_name(name_or_path: str) -> str:
    """Return the name under which runs are logged: for a file, its stem and a digest of its path.

    No name of a workflow has an `@`, so runs of a file and of a workflow never resume each other.
    """
    if not is_file_path(name_or_path):
        return make_encodable(name_or_path)
    path = _make_absolute(name_or_path)
    stem = _ODD.sub("-", path.name.removesuffix(SUFFIX))[:_LONGEST_STEM]
    return f"{stem}@{content_id(os.fsencode(path))[:8]}"


def restore_given_name(message: str, name_or_path: str) -> str:
    """Return the message with the file named as on the command line, not by the name of its runs."""
    return message.replace(make_logged_name(name_or_path), name_or_path) if is_file_path(name_or_path) else message


def find_workflow_source(service: Service, name_or_path: str) -> WorkflowSource:
    """Return the workflow that the command line names. Raise WorkflowNotFound, SecurityError or InvalidWorkflow."""
    if is_file_path(name_or_path):
        return _read_file_source(name_or_path)
    found = service.find_workflow(name_or_path)
    return WorkflowSource(name_or_path, found, found.stored.source)


def locate_workflow_file(service: Service, name_or_path: str) -> tuple[Path, str]:
    """Return the path of the file, valid or not, and its display path. Raise WorkflowNotFound or SecurityError."""
    if is_file_path(name_or_path):
        path = _make_absolute(name_or_path)
        return path, display_path(path)
    for manager in (WorkflowManager.for_library(service.home), *list_draft_managers(service.home, service.folder)):
        if manager.exists(name_or_path):
            return manager.get_path(name_or_path), manager.display_path(name_or_path)
    raise make_not_found_error(service.home, name_or_path, [], service.folder)


def _make_absolute(path: str) -> Path:
    return Path(os.path.abspath(os.path.expanduser(path)))


def _read_file_source(name_or_path: str) -> WorkflowSource:
    path = _make_absolute(name_or_path)
    shown_path = display_path(path)
    try:
        document = read_document(path, shown_path)
    except (FileNotFoundError, ValueError):  # ValueError for a path that the system does not accept
        raise WorkflowNotFound(
            f"There is no file {name_or_path[:200]!r}.",
            hint="Check the path. Name a saved workflow without slash and suffix.",
            name=name_or_path[:200],
        ) from None
    name = make_logged_name(name_or_path)
    stored = StoredWorkflow(
        name, document.description, document.ir, "draft", shown_path, document.created_at, document.updated_at
    )
    return WorkflowSource(name, FoundWorkflow(stored), "file", path)


def split_logged_source(run: Run) -> Run:
    """Return a logged run with its source split into `source` and, for a file, `file`."""
    split = run.copy()
    split["source"], _, path = run["source"].partition(" ")
    if path:
        split["file"] = path
    return split


def get_workflow_display_name(run: "RunSummary") -> str:
    """Return the workflow of a logged run: its name, or the path of its file from the working folder."""
    path = run.get("file")
    if path is None:
        return run["workflow"]
    short = display_path(Path(path))
    return short if Path(os.path.abspath(os.path.expanduser(short))) == Path(path) else path


def require_usable_home(home: Path) -> None:
    """Raise Unavailable if the pflow home is not a readable folder and cannot be created."""
    problem = _find_home_problem(home)
    if problem:
        raise Unavailable(
            f"The pflow home {home} {problem}.",
            hint="Move the file away, fix its permissions, or set PFLOW_HOME to another folder.",
            path=str(home),
        )


def _find_home_problem(home: Path) -> str:
    try:
        if home.exists():
            if not home.is_dir():
                return "is not a folder"
            return "" if os.access(home, os.R_OK | os.X_OK) else "cannot be read: Permission denied"
        above = next(folder for folder in home.absolute().parents if folder.exists())
    except (OSError, ValueError) as exc:
        return f"cannot be read: {exc.strerror if isinstance(exc, OSError) else 'this is not a valid path'}"
    if not above.is_dir():
        return f"cannot be created: {above} is not a folder"
    return "" if os.access(above, os.W_OK | os.X_OK) else f"cannot be created: {above} cannot be written"


def list_named_workflows(service: Service, pattern: str | None) -> "NamedWorkflows":
    """Return `library`, as the tool `list_library` does, `drafts` with their paths, and `problems` of other files."""
    listing = list_workflows(service.home)
    local = [
        one
        for manager in list_draft_managers(service.home, service.folder)
        if manager.is_read_only
        for one in manager.list_all()
    ]
    drafts = [one for one in listing.workflows if one.source == "draft"]
    counts = service.history.count_runs()
    writers = service.texts.list_writers() if drafts else {}

    return {
        "library": service.list_library(pattern),
        "drafts": [
            _describe_draft(one, counts, writers.get((one.source, one.name)))
            for one in filter_workflows([*drafts, *_remove_shadowed(local, drafts)], pattern)
        ],
        "problems": [{"path": one.path, "problem": one.message} for one in listing.problems],
    }


def _remove_shadowed(project_drafts: Iterable[Summary], home_drafts: Iterable[Summary]) -> list[Summary]:
    taken = {one.name for one in home_drafts}
    return [one for one in project_drafts if one.name not in taken]


def _describe_draft(summary: Summary, run_counts: dict[str, int], writer: Actor | None) -> "NamedDraft":
    return {
        "name": summary.name,
        "description": summary.description,
        "inputs": list(summary.inputs),
        "updated_at": summary.updated_at,
        "execution_count": run_counts.get(summary.name, 0),
        "path": summary.path,
        "actor": writer and writer.model_dump(),
    }
