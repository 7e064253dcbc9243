"""Save a draft to the library. If the process is killed, the draft, the saved workflow, or both exist."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pflow.errors import LibraryUnwritable, PflowError, WorkflowNotFound
from pflow.library.lookup import find_draft
from pflow.library.manager import StoredWorkflow, WorkflowManager
from pflow.library.names import validate_name
from pflow.library.workflow_file import encode_wrapped_workflow, trim_and_validate_description
from uraniborg.kernel.files import hold_lock, make_private_folder, write_atomic

_LOCK: Final = ".saving.lock"
_PATIENCE_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class SavedWorkflow:
    """The file of a saved workflow, and a warning if its draft is still there."""

    path: Path
    warnings: tuple[str, ...] = ()


def move_draft_to_library(
    home: Path, draft_name: str, final_name: str, description: str, *, folder: Path | None = None
) -> SavedWorkflow:
    """Wrap the draft into the library under its final name, and remove it. No other file is overwritten.

    A draft stays, with a warning, if it is in the project folder, was edited in the meantime, or cannot be removed.
    Raise SecurityError, InvalidInputs, WorkflowNotFound, InvalidWorkflow, WorkflowExists, LibraryUnwritable, Locked.
    """
    validate_name(final_name)
    trim_and_validate_description(description)
    find_draft(home, draft_name, folder)
    library = WorkflowManager.for_library(home)
    try:
        make_private_folder(library.folder)
        # One at a time: wrapping a draft in its place must not replace a workflow saved in the meantime.
        with hold_lock(library.folder / _LOCK, _PATIENCE_S):
            manager, draft = find_draft(home, draft_name, folder)
            return _save_and_remove_draft(manager, draft, library, final_name, description)
    except WorkflowNotFound:  # an OSError too
        raise
    except OSError as exc:
        raise LibraryUnwritable(library.display_path(final_name), exc) from exc


def _save_and_remove_draft(
    manager: WorkflowManager, draft: StoredWorkflow, library: WorkflowManager, name: str, description: str
) -> SavedWorkflow:
    path = library.get_path(name)
    if manager.get_path(draft.name) == path:
        _replace_file_durably(path, encode_wrapped_workflow(name, draft.ir, description))
        return SavedWorkflow(path)
    library.save(name, draft.ir, description)
    if reason := _remove_draft_or_explain(manager, draft):
        file = manager.display_path(draft.name)
        return SavedWorkflow(path, (f"The draft stays at {file}: {reason}. Delete it unless you want both workflows.",))
    return SavedWorkflow(path)


def _remove_draft_or_explain(manager: WorkflowManager, draft: StoredWorkflow) -> str:
    """Remove the draft that was saved; return the reason if it is still there."""
    if manager.is_read_only:
        return "pflow does not change files in a project's folder"
    try:
        if manager.load(draft.name) != draft:
            return "it was edited while it was saved"
        manager.delete(draft.name)
    except PflowError as exc:
        if not os.path.lexists(manager.get_path(draft.name)):
            return ""
        cause = exc.__cause__
        return (
            f"it cannot be removed ({cause.strerror})"
            if isinstance(cause, OSError)
            else "it differs from the saved workflow"
        )
    return ""


def _replace_file_durably(path: Path, content: bytes) -> None:
    try:
        write_atomic(path, content)
    except OSError:
        # In its place, but not surely there after a power cut: that would bring the draft back, so nothing is lost.
        if path.read_bytes() != content:
            raise
