"""Find a workflow by name: the library first, then drafts."""

import contextlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pflow.errors import WorkflowNotFound
from pflow.library.listing import DRAFTS, LIBRARY, list_workflows
from pflow.library.manager import StoredWorkflow, WorkflowManager
from pflow.library.names import SUFFIX
from uraniborg.kernel.files import PathRefused, confine_path
from uraniborg.kernel.suggestions import find_nearest_name

LOCAL_FOLDER: Final = ".pflow/workflows"
_SHOWN: Final = 20


@dataclass(frozen=True, slots=True)
class FoundWorkflow:
    stored: StoredWorkflow
    warnings: tuple[str, ...] = ()


def find_workflow(home: Path, name: str, folder: Path | None = None) -> FoundWorkflow:
    """Return the workflow; the `.pflow` folder in `folder`, by default the working folder, may have drafts.

    Raise SecurityError, InvalidWorkflow, or WorkflowNotFound with the `available` names, nearest first.
    """
    managers = [WorkflowManager.for_library(home), *list_draft_managers(home, folder)]
    # Twice: a draft that is saved meanwhile is in the library after we looked there, and gone before we look here.
    for manager in managers * 2:
        with contextlib.suppress(WorkflowNotFound):
            stored = manager.load(name)
            return FoundWorkflow(stored, tuple(_make_shadowed_draft_warnings(stored, managers)))
    raise make_not_found_error(home, name, managers, folder)


def find_draft(home: Path, name: str, folder: Path | None = None) -> tuple[WorkflowManager, StoredWorkflow]:
    """Return the draft and its manager. Raise the errors of `find_workflow`."""
    managers = list_draft_managers(home, folder)
    for manager in managers:
        with contextlib.suppress(WorkflowNotFound):
            return manager, manager.load(name)
    raise make_not_found_error(home, name, managers, folder)


def list_draft_managers(home: Path, folder: Path | None = None) -> list[WorkflowManager]:
    """Return the managers of all folders of drafts, in the order of the lookup.

    The last one, if the folder has drafts, is read-only.
    """
    managers = [WorkflowManager.for_drafts(home), WorkflowManager.for_raw_drafts(home)]
    with contextlib.suppress(PathRefused, OSError):
        root = folder or Path.cwd()
        local = confine_path(root, LOCAL_FOLDER)
        if local.is_dir() and local != (home / LIBRARY).resolve():
            managers.append(WorkflowManager(root / LOCAL_FOLDER, "draft", root=root, is_read_only=True))
    return managers


def make_not_found_error(
    home: Path, name: str, managers: Sequence[WorkflowManager], folder: Path | None = None
) -> WorkflowNotFound:
    """Return the error for a name that no manager has, with the names that exist."""
    local = [one for place in list_draft_managers(home, folder) if place.is_read_only for one in place.list_all()]
    names = sorted({one.name for one in (*list_workflows(home).workflows, *local)})
    searched = list(dict.fromkeys(place.display_path(name) for place in managers))
    nearest = find_nearest_name(name, names)
    if home.exists() and not home.is_dir():
        hint = "The pflow home is a file, and must be a folder: move it away, or set PFLOW_HOME."
    elif name in names:
        hint = "It is already saved in the library, and not a draft."
    elif nearest:
        hint = f"Did you mean '{nearest}'?"
    else:
        hint = f"Write it to {home.absolute() / DRAFTS / name}{SUFFIX} first."
    return WorkflowNotFound(
        f"Workflow not found: '{name}'. Looked for {', '.join(searched)}.",
        hint=hint,
        name=name,
        available=_rank_by_similarity(name, names),
        nearest=nearest,
        searched=searched,
    )


def _rank_by_similarity(name: str, names: list[str]) -> list[str]:
    from rapidfuzz import fuzz, process  # only needed for an error

    return [one[0] for one in process.extract(name.lower(), names, scorer=fuzz.WRatio, limit=_SHOWN)]


def _make_shadowed_draft_warnings(stored: StoredWorkflow, managers: Sequence[WorkflowManager]) -> list[str]:
    others = [place for place in managers if place.display_path(stored.name) != stored.path]
    warnings: list[str] = []
    for manager in others:
        if manager.kind == "draft" and os.path.lexists(manager.folder / f"{stored.name}{SUFFIX}"):
            used = "the saved workflow" if stored.source == "library" else stored.path
            warnings.append(
                f"A draft of the same name exists at {manager.display_path(stored.name)}; {used} is used instead. "
                "Save the draft under another name, or remove it."
            )
    return warnings
