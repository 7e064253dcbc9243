"""Read, write and replace the texts of workflows, and save drafts to the library without losing one."""

import json
import os
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pflow.domain.ir.checker import CheckResult, require_valid_workflow
from pflow.errors import InvalidWorkflow, LibraryUnwritable, PflowError, WorkflowNotFound
from pflow.service.history import ChangeRecord, RunHistory
from pflow.store.workflow_file import (
    compute_revision,
    encode_wrapped_workflow,
    hold_text_lock,
    read_text,
    require_revision,
    trim_and_validate_description,
    unwrap_ir,
    validate_name,
)
from pflow.store.workflow_library import StoredWorkflow, WorkflowManager, find_draft, list_draft_managers
from uraniborg.kernel.actors import Actor
from uraniborg.kernel.errors import UraniborgError, as_error
from uraniborg.kernel.store.audit_log import record_change
from uraniborg.kernel.store.files import hold_lock, make_private_folder, write_atomic

if TYPE_CHECKING:
    from pflow.service.workflow_replies import Diagnostic, SavedDraft
    from pflow.store.resume_point import ResumePoint
    from pflow.store.workflow_listing import Source
    from uraniborg.kernel.json_values import Json, JsonObject


@dataclass(frozen=True, slots=True)
class DraftText:
    """The text of a draft. A file that is not a workflow has `text` and `diagnostics` instead of a `document`."""

    document: "JsonObject | None"
    revision: str
    text: str | None = None
    diagnostics: "tuple[Diagnostic, ...]" = ()


@dataclass(frozen=True)
class WorkflowTexts:
    """The texts of the workflows in one pflow home, and of drafts in `folder`."""

    home: Path
    folder: Path
    check_document: Callable[[Any], CheckResult]
    open_resume_point: "Callable[[str], ResumePoint]"
    history: RunHistory

    def read_draft(self, name: str) -> "JsonObject":
        """Return the text of a draft. Raise WorkflowNotFound, SecurityError or InvalidWorkflow."""
        return find_draft(self.home, name, self.folder)[1].ir

    def read_draft_text(self, name: str) -> DraftText:
        """Return the text of a draft, a workflow or not.

        Raise WorkflowNotFound, SecurityError, or InvalidWorkflow for a file that is not a text.
        """
        try:
            document = self.read_draft(name)
        except InvalidWorkflow as problem:
            text = read_text(WorkflowManager.for_drafts(self.home).get_path(name))
            if text is None:
                raise
            return DraftText(None, compute_revision(text), text, tuple(problem.ids["diagnostics"]))
        return DraftText(document, compute_revision(document))

    def create_draft(self, name: str, document: "Mapping[str, Json]", actor: Actor | None = None) -> None:
        """Store the text of a workflow as a new draft, valid or not.

        `actor` is who writes it, by default the program that runs this process.
        Raise WorkflowExists if a saved workflow or a draft has this name, readable or not; SecurityError or
        LibraryUnwritable.
        """
        for manager in (WorkflowManager.for_library(self.home), *list_draft_managers(self.home, self.folder)):
            manager.require_free_name(name)
        self._record_write("draft", name, document, actor)
        WorkflowManager.for_drafts(self.home).create(name, document)

    def write_draft(
        self, name: str, document: "Mapping[str, Json]", revision: str | None = None, actor: Actor | None = None
    ) -> None:
        """Store the text of a workflow as a draft, valid or not; an older text is replaced.

        With `revision`, only if the draft still has the text of this revision. Raise WorkflowChanged, WorkflowNotFound,
        InvalidWorkflow, SecurityError, LibraryUnwritable or Locked.
        """
        with hold_text_lock(self.home, revision):
            if revision is not None:
                require_revision(revision, self.read_draft_text(name).revision, name)
            validate_name(name)
            self._record_write("draft", name, document, actor)
            WorkflowManager.for_drafts(self.home).replace(name, document)

    def replace_workflow(
        self, name: str, document: "Mapping[str, Json]", revision: str | None = None, actor: Actor | None = None
    ) -> CheckResult:
        """Replace the text of a saved workflow by a valid one, and return the findings of the checker.

        With `revision`, only if the workflow still has the text of this revision. Raise WorkflowNotFound,
        WorkflowChanged, InvalidWorkflow, SecurityError, LibraryUnwritable or Locked.
        """
        library = WorkflowManager.for_library(self.home)
        checked = self.check_document(document)
        with hold_text_lock(self.home, revision):
            stored = library.load(name)
            if revision is not None:
                require_revision(revision, compute_revision(stored.ir), name)
            require_valid_workflow(checked, name)
            self._record_write("library", name, document, actor)
            library.replace_saved(stored, document)
        return checked

    def save_to_library(
        self, draft_name: str, final_name: str, description: str, actor: Actor | None = None
    ) -> "SavedDraft":
        """Save a draft to the library. Raise WorkflowNotFound, WorkflowExists, InvalidWorkflow, SecurityError."""
        validate_name(final_name)
        document = find_draft(self.home, draft_name, self.folder)[1].ir
        checked = self.check_document(document)
        require_valid_workflow(checked, draft_name)
        library = WorkflowManager.for_library(self.home)
        # A workflow that is saved under the draft's name keeps its own results and statistics.
        is_renamed = draft_name != final_name and not library.exists(draft_name)
        unmoved: list[str] = []
        with ExitStack() as stack:
            if is_renamed and not library.exists(final_name):
                try:
                    stack.enter_context(self.open_resume_point(draft_name).move_results_to(final_name))
                except (UraniborgError, OSError) as exc:
                    unmoved.append(f"The results of its unfinished run were not moved: {as_error(exc).message}")
            self._record_write("library", final_name, document, actor)
            saved = move_draft_to_library(self.home, draft_name, final_name, description, folder=self.folder)
            if is_renamed and not saved.warnings:
                record_change("draft deleted", draft_name, actor, saved_as=final_name)
        warnings = [*saved.warnings, *unmoved, *(one.message for one in checked.warnings)]
        log = self.history.open_log()
        try:
            if not log.compute_statistics(draft_name)["success_count"]:
                warnings.append("This workflow has not run successfully yet.")
            if is_renamed:
                log.rename_workflow(draft_name, final_name)
        except (UraniborgError, OSError) as exc:
            warnings.append(f"Not all of its statistics were moved: {as_error(exc).message}")
        finally:
            log.close()
        return {"success": True, "path": library.display_path(final_name), "name": final_name, "warnings": warnings}

    def record_new_draft(self, name: str, text: str, actor: Actor | None = None) -> None:
        """Record who creates the file of a draft with this text, before it is created."""
        self._record_write("draft", name, unwrap_ir(json.loads(text)), actor)

    def list_writers(self) -> "dict[tuple[Source, str], Actor | None]":
        """Return who wrote the present text of each saved workflow and draft, by kind and name.

        A text that was written in another way, such as with an editor, is not among them.
        """
        written = ChangeRecord(self.home).list_actors("write")
        found: dict[tuple[Source, str], Actor | None] = {}
        for subject in {subject for subject, _ in written}:
            source, _, name = subject.partition(":")
            kind: Source = "library" if source == "library" else "draft"
            is_saved = kind == "library"
            manager = WorkflowManager.for_library(self.home) if is_saved else WorkflowManager.for_drafts(self.home)
            with suppress(UraniborgError, OSError):
                actor = written.get((subject, compute_revision(manager.load(name).ir)))
                found |= {(kind, name): actor} if actor else {}
        return found

    def _record_write(self, source: "Source", name: str, document: "Mapping[str, Json]", actor: Actor | None) -> None:
        """Record who writes a text, before it is written."""
        ChangeRecord(self.home).add("write", f"{source}:{name}", actor, compute_revision(document))


_LOCK: Final = ".saving.lock"
_PATIENCE_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class PromotedDraft:
    """The file of a saved workflow, and a warning if its draft is still there."""

    path: Path
    warnings: tuple[str, ...] = ()


def move_draft_to_library(
    home: Path, draft_name: str, final_name: str, description: str, *, folder: Path | None = None
) -> PromotedDraft:
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
) -> PromotedDraft:
    path = library.get_path(name)
    if manager.get_path(draft.name) == path:
        _replace_file_durably(path, encode_wrapped_workflow(name, draft.ir, description))
        return PromotedDraft(path)
    library.save(name, draft.ir, description)
    if reason := _remove_draft_or_explain(manager, draft):
        file = manager.display_path(draft.name)
        return PromotedDraft(path, (f"The draft stays at {file}: {reason}. Delete it unless you want both workflows.",))
    return PromotedDraft(path)


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
