"""A draft becomes a saved workflow: at every moment, also when killed, there is the draft, the saved one, or both."""

import contextlib
from pathlib import Path
from typing import Final

from pflow.errors import LibraryUnwritable, PflowError
from pflow.library.document import checked_description, wrapped
from pflow.library.finding import find_draft
from pflow.library.manager import Stored, WorkflowManager
from pflow.library.names import checked_name
from uraniborg.kernel.files import locked, make_private_folder, write_atomic

_LOCK: Final = ".saving.lock"
_PATIENCE_S: Final = 10.0


def save_to_library(
    home: Path, draft_name: str, final_name: str, description: str, *, folder: Path | None = None
) -> Path:
    """Wrap the draft into the library under its final name, and remove it. Nothing of anybody else is overwritten.

    A draft of the project's own folder is left there, and so is one that was edited meanwhile. Raises SecurityError,
    InvalidInputs, WorkflowNotFound, InvalidWorkflow, WorkflowExists, LibraryUnwritable, Locked.
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
    except OSError as exc:
        raise LibraryUnwritable(library.told(final_name), exc) from exc


def _move(place: WorkflowManager, draft: Stored, library: WorkflowManager, name: str, description: str) -> Path:
    path = library.get_path(name)
    if place.get_path(draft.name) == path:
        _replace(path, wrapped(name, draft.ir, description))
        return path
    library.save(name, draft.ir, description)
    # What may not or cannot be removed, or is not what was saved, stays; whoever runs the name is told of both.
    with contextlib.suppress(PflowError):
        if place.load(draft.name) == draft:
            place.delete(draft.name)
    return path


def _replace(path: Path, content: bytes) -> None:
    try:
        write_atomic(path, content)
    except OSError:
        # In its place, but not surely there after a power cut: that would bring the draft back, so nothing is lost.
        if path.read_bytes() != content:
            raise
