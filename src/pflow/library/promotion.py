"""A draft becomes a saved workflow: at every moment, also when killed, there is the draft, the saved one, or both."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pflow.errors import LibraryUnwritable, PflowError, WorkflowNotFound
from pflow.library.document import checked_description, wrapped
from pflow.library.lookup import find_draft
from pflow.library.manager import Stored, WorkflowManager
from pflow.library.names import checked_name
from uraniborg.kernel.files import locked, make_private_folder, write_atomic

_LOCK: Final = ".saving.lock"
_PATIENCE_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class Saved:
    """The file of a saved workflow, and a warning if its draft is still there."""

    path: Path
    warnings: tuple[str, ...] = ()


def save_to_library(
    home: Path, draft_name: str, final_name: str, description: str, *, folder: Path | None = None
) -> Saved:
    """Wrap the draft into the library under its final name, and remove it. No other file is overwritten.

    A draft stays, with a warning, if it lies in the project's folder, was edited meanwhile, or cannot be removed.
    Raises SecurityError, InvalidInputs, WorkflowNotFound, InvalidWorkflow, WorkflowExists, LibraryUnwritable, Locked.
    """
    checked_name(final_name)
    checked_description(description)
    find_draft(home, draft_name, folder)
    library = WorkflowManager.for_library(home)
    try:
        make_private_folder(library.folder)
        # One at a time: whoever wraps a draft in its place replaces a file, which must not be one saved meanwhile.
        with locked(library.folder / _LOCK, _PATIENCE_S):
            place, draft = find_draft(home, draft_name, folder)
            return _move(place, draft, library, final_name, description)
    except WorkflowNotFound:  # an OSError too
        raise
    except OSError as exc:
        raise LibraryUnwritable(library.display_path(final_name), exc) from exc


def _move(place: WorkflowManager, draft: Stored, library: WorkflowManager, name: str, description: str) -> Saved:
    path = library.get_path(name)
    if place.get_path(draft.name) == path:
        _replace(path, wrapped(name, draft.ir, description))
        return Saved(path)
    library.save(name, draft.ir, description)
    if reason := _remove_draft(place, draft):
        file = place.display_path(draft.name)
        return Saved(path, (f"The draft stays at {file}: {reason}. Delete it unless you want both workflows.",))
    return Saved(path)


def _remove_draft(place: WorkflowManager, draft: Stored) -> str:
    """Remove the draft that was saved; return the reason if it is still there."""
    if place.is_read_only:
        return "pflow changes no files of a project's folder"
    try:
        if place.load(draft.name) != draft:
            return "it was edited while it was saved"
        place.delete(draft.name)
    except PflowError as exc:
        if not os.path.lexists(place.get_path(draft.name)):
            return ""
        cause = exc.__cause__
        return f"it cannot be removed ({cause.strerror})" if isinstance(cause, OSError) else "it is not the saved one"
    return ""


def _replace(path: Path, content: bytes) -> None:
    try:
        write_atomic(path, content)
    except OSError:
        # In its place, but not surely there after a power cut: that would bring the draft back, so nothing is lost.
        if path.read_bytes() != content:
            raise
