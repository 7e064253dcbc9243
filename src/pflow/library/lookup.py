"""From a name to its workflow: the library first, then drafts; who finds nothing is told what there is and where."""

import contextlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pflow.errors import WorkflowNotFound
from pflow.ir.diagnostics import nearest
from pflow.library.listing import DRAFTS, LIBRARY, list_workflows
from pflow.library.manager import Stored, WorkflowManager
from pflow.library.names import SUFFIX
from uraniborg.kernel.files import PathRefused, confine

LOCAL: Final = ".pflow/workflows"
_SHOWN: Final = 20


@dataclass(frozen=True, slots=True)
class Found:
    stored: Stored
    warnings: tuple[str, ...] = ()


def find(home: Path, name: str, folder: Path | None = None) -> Found:
    """The workflow of the name; `folder`, by default the working folder, may have drafts of its own in `.pflow`.

    Raises SecurityError, InvalidWorkflow, and WorkflowNotFound with what is `available`, nearest first.
    """
    places = [WorkflowManager.for_library(home), *draft_places(home, folder)]
    # Twice: a draft that is saved meanwhile is in the library after we looked there, and gone before we look here.
    for place in places * 2:
        with contextlib.suppress(WorkflowNotFound):
            stored = place.load(name)
            return Found(stored, tuple(_shadowed(stored, places)))
    raise not_found(home, name, places, folder)


def find_draft(home: Path, name: str, folder: Path | None = None) -> tuple[WorkflowManager, Stored]:
    """The draft of the name, and where it is. Raises as `find` does."""
    places = draft_places(home, folder)
    for place in places:
        with contextlib.suppress(WorkflowNotFound):
            return place, place.load(name)
    raise not_found(home, name, places, folder)


def draft_places(home: Path, folder: Path | None = None) -> list[WorkflowManager]:
    """Where drafts are, in the order in which they count. The last, if the folder has one, is not ours to write to."""
    places = [WorkflowManager.for_drafts(home), WorkflowManager.for_raw_drafts(home)]
    with contextlib.suppress(PathRefused, OSError):
        root = folder or Path.cwd()
        local = confine(root, LOCAL)
        if local.is_dir() and local != (home / LIBRARY).resolve():
            places.append(WorkflowManager(root / LOCAL, "draft", root=root, is_read_only=True))
    return places


def not_found(home: Path, name: str, places: Sequence[WorkflowManager], folder: Path | None = None) -> WorkflowNotFound:
    """The error for a name that none of the places has, with what there is in any."""
    local = [one for place in draft_places(home, folder) if place.is_read_only for one in place.list_all()]
    names = sorted({one.name for one in (*list_workflows(home).workflows, *local)})
    searched = list(dict.fromkeys(place.display_path(name) for place in places))
    meant = nearest(name, names)
    if home.exists() and not home.is_dir():
        hint = "The pflow home is a file, and must be a folder: move it away, or set PFLOW_HOME."
    elif name in names:
        hint = "It is in the library already, and no draft."
    elif meant:
        hint = f"Did you mean '{meant}'?"
    else:
        hint = f"Write it to {home.absolute() / DRAFTS / name}{SUFFIX} first."
    return WorkflowNotFound(
        f"Workflow not found: '{name}'. Looked for {', '.join(searched)}.",
        hint=hint,
        name=name,
        available=_nearest_first(name, names),
        nearest=meant,
        searched=searched,
    )


def _nearest_first(name: str, names: list[str]) -> list[str]:
    from rapidfuzz import fuzz, process  # only who has missed pays for it

    return [one[0] for one in process.extract(name.lower(), names, scorer=fuzz.WRatio, limit=_SHOWN)]


def _shadowed(stored: Stored, places: Sequence[WorkflowManager]) -> list[str]:
    others = [place for place in places if place.display_path(stored.name) != stored.path]
    warnings: list[str] = []
    for place in others:
        if place.kind == "draft" and os.path.lexists(place.folder / f"{stored.name}{SUFFIX}"):
            used = "the saved workflow" if stored.source == "library" else stored.path
            warnings.append(
                f"A draft of the same name exists at {place.display_path(stored.name)}; {used} is used instead. "
                "Save the draft under another name, or remove it."
            )
    return warnings
