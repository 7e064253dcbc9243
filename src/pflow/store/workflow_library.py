"""Load, save and delete the workflows of a folder, and look a name up: in the library first, then in the drafts."""

import contextlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from pflow.domain.ir.checker import CheckResult, check_workflow, require_valid_workflow
from pflow.domain.ir.model import Workflow
from pflow.errors import InvalidWorkflow, LibraryUnwritable, SecurityError, WorkflowExists, WorkflowNotFound
from pflow.store.node_registry import Registry
from pflow.store.workflow_file import (
    SUFFIX,
    encode_wrapped_workflow,
    locate_workflow_file,
    read_document,
    validate_name,
)
from pflow.store.workflow_listing import (
    DRAFTS,
    INDEX,
    LIBRARY,
    Source,
    Summary,
    classify_source,
    filter_workflows,
    list_folders_and_update_index,
    list_workflows,
)
from uraniborg.kernel.language.messages import find_nearest_name
from uraniborg.kernel.store.files import (
    AlreadyExists,
    PathRefused,
    confine_path,
    create_exclusive,
    make_private_folder,
    sync_folder,
    write_atomic,
)

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import Json, JsonObject


@dataclass(frozen=True, slots=True)
class StoredWorkflow:
    """An unchecked workflow on disk. `path` is relative to the home; files without a wrapper have no `created_at`."""

    name: str
    description: str
    ir: "JsonObject"
    source: Source
    path: str
    created_at: str | None
    updated_at: str


class WorkflowManager:
    """The workflows of one kind in one folder. Every method raises SecurityError for an invalid name.

    The library's folder has both kinds: a file with an IR alone is a draft. `folder_kind` is the kind of the folder if
    it differs from `kind`. Displayed paths are relative to `root`. Files of a manager that `is_read_only` are never
    changed.
    """

    def __init__(
        self,
        folder: Path,
        kind: Source,
        *,
        folder_kind: Source | None = None,
        root: Path | None = None,
        index: Path | None = None,
        is_read_only: bool = False,
    ) -> None:
        self.folder = folder
        self.kind: Source = kind
        self._folder_kind: Source = folder_kind or kind
        self._root = root or folder.parent
        self._index = index
        self.is_read_only = is_read_only

    @classmethod
    def for_library(cls, home: Path) -> Self:
        return cls(home / LIBRARY, "library", root=home, index=home / INDEX)

    @classmethod
    def for_drafts(cls, home: Path) -> Self:
        return cls(home / DRAFTS, "draft", root=home, index=home / INDEX)

    @classmethod
    def for_raw_drafts(cls, home: Path) -> Self:
        """Return the manager of the drafts in the folder of the library."""
        return cls(home / LIBRARY, "draft", folder_kind="library", root=home, index=home / INDEX)

    def load(self, name: str) -> StoredWorkflow:
        """Return the workflow. Raise WorkflowNotFound or InvalidWorkflow."""
        shown_path = self.display_path(name)
        try:
            document = read_document(self.get_path(name), shown_path)
        except FileNotFoundError:
            raise self._make_not_found_error(name) from None
        if classify_source(self._folder_kind, document) != self.kind:
            raise self._make_not_found_error(name)
        return StoredWorkflow(
            name, document.description, document.ir, self.kind, shown_path, document.created_at, document.updated_at
        )

    def save(self, name: str, ir: "Mapping[str, Json]", description: str) -> Path:
        """Write a new file, completely or not at all. Raise WorkflowExists, InvalidInputs or LibraryUnwritable."""
        path = self._require_writable_path(name)
        content = encode_wrapped_workflow(name, ir, description)
        try:
            make_private_folder(self.folder)
            create_exclusive(path, content)
        except AlreadyExists:
            raise self._make_exists_error(name) from None
        except OSError as exc:
            _remove_file_if_content_equals(path, content)
            raise LibraryUnwritable(self.display_path(name), exc) from exc
        return path

    def create(self, name: str, ir: "Mapping[str, Json]") -> None:
        """Write a new file with the IR alone. Raise WorkflowExists or LibraryUnwritable."""
        path = self._require_writable_path(name)
        try:
            make_private_folder(self.folder)
            create_exclusive(path, _encode_ir(ir))
        except AlreadyExists:
            raise self._make_exists_error(name) from None
        except OSError as exc:
            raise LibraryUnwritable(self.display_path(name), exc) from exc

    def require_free_name(self, name: str) -> None:
        """Raise WorkflowExists if the folder has a file of this name, readable or not, or a link."""
        if os.path.lexists(self.folder / f"{validate_name(name)}{SUFFIX}"):
            raise self._make_exists_error(name)

    def replace(self, name: str, ir: "Mapping[str, Json]") -> None:
        """Write a file with the IR alone in place of the present one, if any. Raise LibraryUnwritable."""
        path = self._require_writable_path(name)
        try:
            make_private_folder(self.folder)
            write_atomic(path, _encode_ir(ir))
        except OSError as exc:
            raise LibraryUnwritable(self.display_path(name), exc) from exc

    def replace_saved(self, stored: StoredWorkflow, ir: "Mapping[str, Json]") -> None:
        """Replace the IR of a saved workflow; its description stays. Raise InvalidWorkflow or LibraryUnwritable."""
        path = self._require_writable_path(stored.name)
        content = encode_wrapped_workflow(stored.name, ir, stored.description, created_at=stored.created_at)
        try:
            write_atomic(path, content)
        except OSError as exc:
            raise LibraryUnwritable(self.display_path(stored.name), exc) from exc

    def list_all(self) -> list[Summary]:
        """Return the workflows sorted by name. `list_workflows` reports files that cannot be read."""
        listing = list_folders_and_update_index(self._root, {self.folder: self._folder_kind}, self._index)
        return [one for one in listing.workflows if one.source == self.kind]

    def search(self, pattern: str | None) -> list[Summary]:
        """Return the workflows that match the pattern, see `filter_workflows`; all of them without a pattern."""
        return filter_workflows(self.list_all(), pattern)

    def exists(self, name: str) -> bool:
        """Return True if a file of this kind and name exists, readable or not."""
        try:
            self.load(name)
        except WorkflowNotFound:
            return False
        except InvalidWorkflow:
            return True
        return True

    def delete(self, name: str) -> None:
        """Delete the workflow. Raise WorkflowNotFound or LibraryUnwritable."""
        path = self._require_writable_path(name)
        if not self.exists(name):
            raise self._make_not_found_error(name)
        try:
            path.unlink()
            sync_folder(self.folder)
        except FileNotFoundError:
            raise self._make_not_found_error(name) from None
        except OSError as exc:
            raise LibraryUnwritable(self.display_path(name), exc) from exc

    def get_path(self, name: str) -> Path:
        """Return the path of the file, which may not exist."""
        return locate_workflow_file(self.folder, name)

    def display_path(self, name: str) -> str:
        """Return the path of the file from the home, as messages show it."""
        return (self.folder / f"{validate_name(name)}{SUFFIX}").relative_to(self._root).as_posix()

    def _require_writable_path(self, name: str) -> Path:
        path = self.get_path(name)
        if self.is_read_only:
            raise SecurityError(f"{self.display_path(name)} is read-only for pflow.", hint="Edit the file by hand.")
        return path

    def _make_exists_error(self, name: str) -> WorkflowExists:
        return WorkflowExists(
            f"'{name}' already exists: {self.display_path(name)}. Nothing was changed.",
            hint="Choose another name. To change the one that exists, edit its file.",
            name=name,
        )

    def _make_not_found_error(self, name: str) -> WorkflowNotFound:
        return WorkflowNotFound(
            f"There is no workflow at {self.display_path(name)}.", name=name, searched=[self.display_path(name)]
        )


def _encode_ir(ir: "Mapping[str, Json]") -> str:
    return json.dumps(ir, indent=2, ensure_ascii=False) + "\n"


def _remove_file_if_content_equals(path: Path, content: bytes) -> None:
    """Remove a file that was written but perhaps not synced, so that a second attempt does not find it."""
    with contextlib.suppress(OSError):
        if path.read_bytes() == content:
            os.unlink(path)


LOCAL_FOLDER: Final = ".pflow/workflows"
_SHOWN: Final = 20


@dataclass(frozen=True, slots=True)
class FoundWorkflow:
    stored: StoredWorkflow
    warnings: tuple[str, ...] = ()


class WorkflowLoader:
    """Finds and checks the workflows of one pflow home, each nested one once."""

    def __init__(self, home: Path, folder: Path, registry: Registry | None = None) -> None:
        self.home = home
        self.folder = folder
        self.registry = registry or Registry(home)
        self._nested: dict[str, Workflow] = {}

    def find(self, name: str) -> FoundWorkflow:
        """Return the workflow of this name.

        Raise SecurityError, InvalidWorkflow, or WorkflowNotFound, which describes a node type of the same name.
        """
        try:
            return find_workflow(self.home, name, self.folder)
        except WorkflowNotFound as missing:
            if interface := self.registry.get(name):
                missing.describe_node_type_instead(interface.type, interface.description, interface.example)
            raise

    def check(self, document: "Json") -> CheckResult:
        """Check the document of a workflow and return all findings."""
        return check_workflow(document, self.registry, load=self.load_document)

    def load_document(self, name: str) -> "JsonObject":
        """Return the document of the workflow of this name. Raise as `find_workflow` does."""
        return find_workflow(self.home, name, self.folder).stored.ir

    def load_nested(self, params: "Mapping[str, Json]") -> Workflow:
        """Return the valid workflow that the parameters of a node name or contain. Raise InvalidWorkflow, too."""
        name = params.get("workflow_name") or params.get("workflow_ref")
        if name is None:
            return require_valid_workflow(self.check(params.get("workflow_ir")), "workflow_ir")
        name = str(name)
        if name not in self._nested:
            self._nested[name] = require_valid_workflow(self.check(self.load_document(name)), name)
        return self._nested[name]


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
