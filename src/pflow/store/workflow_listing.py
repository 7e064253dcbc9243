"""List the workflows on disk quickly, with an index of the files that were read, and notice files that changed."""

import contextlib
import json
import os
import re
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypedDict, cast

import orjson

from pflow.errors import InvalidInputs, InvalidWorkflow, SecurityError
from pflow.store.workflow_file import (
    LONGEST_DESCRIPTION,
    SUFFIX,
    WorkflowDocument,
    locate_workflow_file,
    read_document,
    validate_name,
)
from uraniborg.kernel.ids import content_id
from uraniborg.kernel.store.files import make_private_folder, write_atomic

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import Json


Source = Literal["library", "draft"]
LIBRARY: Final = "workflows"
DRAFTS: Final = "workflows/drafts"
INDEX: Final = "cache/library.json"
_LONGEST_PATTERN: Final = 500
_EXPRESSION: Final = re.compile(r"\.[*+]|^\^|\$$|\||\\[wdsb.]")
_ANY_TEXT: Final = re.compile(r"\.[*+]\??|\\[wds][*+]?|\\b")
_ONE_GROUP: Final = re.compile(r"([^()|]*)\((?:\?:)?([^()]*)\)([^()|]*)")
_LONGEST_TYPE: Final = 100
_MOST_TYPES: Final = 50
_FORMAT: Final = 2
_SETTLED_NS: Final = 100_000_000
"""Only files that have not changed for so long are indexed: two changes in one clock tick have the same stamp."""


@dataclass(frozen=True, slots=True)
class Summary:
    """`inputs` are names, `node_types` the types of the nodes; `path` is relative to the home."""

    name: str
    description: str
    inputs: tuple[str, ...]
    node_types: tuple[str, ...]
    updated_at: str
    source: Source
    path: str


@dataclass(frozen=True, slots=True)
class UnreadableWorkflow:
    """A file in a folder of workflows that cannot be read as a workflow."""

    path: str
    message: str


class ReadableEntry(TypedDict):
    """The index entry of a workflow: the stamp of its file, and the fields of its summary."""

    stamp: list[int]
    name: str
    description: str
    inputs: list[str]
    node_types: list[str]
    updated_at: str
    source: Source


class UnreadableEntry(TypedDict):
    """The index entry of a file that cannot be read as a workflow."""

    stamp: list[int]
    problem: str


Entry = ReadableEntry | UnreadableEntry


@dataclass(frozen=True, slots=True)
class Listing:
    """Workflows are in the order of their names, a saved one before drafts of the same name."""

    workflows: tuple[Summary, ...]
    problems: tuple[UnreadableWorkflow, ...]


def list_workflows(home: Path) -> Listing:
    """Return all workflows of the home, saved ones and drafts."""
    return list_folders_and_update_index(home, {home / LIBRARY: "library", home / DRAFTS: "draft"}, home / INDEX)


def list_folders_and_update_index(root: Path, kinds: Mapping[Path, Source], index: Path | None) -> Listing:
    """Return the workflows in the folders under `root`, and update the index. Its entries of other folders stay."""
    started_ns = time.time_ns()
    known = read_index(index) if index else {}
    prefixes: dict[str, Path] = {f"{folder.relative_to(root).as_posix()}/": folder for folder in kinds}
    entries: dict[str, Entry] = {}
    problems: list[UnreadableWorkflow] = []
    for prefix, folder in prefixes.items():
        for file in _iter_workflow_files(folder, prefix, problems):
            path = prefix + file.name
            try:
                entry = _reuse_or_make_entry(file, path, kinds[folder], known.get(path))
            except SecurityError as exc:
                problems.append(UnreadableWorkflow(_replace_unprintable(path), exc.message))
            except FileNotFoundError:
                if file.is_symlink():
                    problems.append(
                        UnreadableWorkflow(_replace_unprintable(path), "The target of the link does not exist.")
                    )
            except OSError as exc:
                problems.append(UnreadableWorkflow(_replace_unprintable(path), f"It cannot be read ({exc.strerror})."))
            else:
                entries[path] = entry
    if index:
        entries_to_store = {
            path: entry for path, entry in known.items() if f"{path.rpartition('/')[0]}/" not in prefixes
        }
        entries_to_store |= {
            path: one for path, one in entries.items() if one is known.get(path) or is_settled(one, started_ns)
        }
        if entries_to_store != known:
            write_index(index, entries_to_store)
    return _build_listing(entries, problems)


def filter_workflows(workflows: Iterable[Summary], pattern: str | None) -> list[Summary]:
    """Return the workflows whose name matches a pattern with `*`, `?` or `[`, or that contain all words of another one.

    Words are searched in the name and the description.

    Case and accents are ignored. Raise InvalidInputs for a pattern that is too long.
    """
    if len(pattern or "") > _LONGEST_PATTERN:
        message = f"A pattern has at most {_LONGEST_PATTERN} characters; this one has {len(pattern or ''):,}."
        raise InvalidInputs(message, hint="Use a word or two, or a glob such as 'report-*'.", argument="pattern")
    if not (pattern or "").strip():
        return list(workflows)
    from uraniborg.kernel.language.words import fold_text  # listing all is more common, and must start fast

    wanted = fold_text(pattern or "").strip()
    globs = _convert_to_globs(wanted.removesuffix(SUFFIX))
    if any(sign in wanted for sign in "*?[") or globs != [wanted]:
        return [one for one in workflows if any(fnmatchcase(one.name.lower(), glob) for glob in globs)]
    words = wanted.split()
    texts = ((one, fold_text(f"{one.name}\n{one.description}")) for one in workflows)
    return [one for one, text in texts if all(word in text for word in words)]


def _convert_to_globs(pattern: str) -> list[str]:
    """Return the globs for a simple regular expression or a LIKE pattern; another pattern is its own glob.

    A regular expression is never compiled: a hostile one could take for ever.
    """
    if not _EXPRESSION.search(pattern):
        return [pattern.replace("%", "*")]
    starts, ends = pattern.startswith("^"), pattern.endswith("$")
    text = _ANY_TEXT.sub("*", pattern.removeprefix("^").removesuffix("$")).replace("\\", "")
    group = _ONE_GROUP.fullmatch(text)
    before, choices, after = group.groups() if group else ("", text, "")
    return [
        f"{'' if starts else '*'}{before}{choice}{after}{'' if ends else '*'}" for choice in choices.split("|") if text
    ]


def _iter_workflow_files(folder: Path, prefix: str, problems: list[UnreadableWorkflow]) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as files:
            yield from (one for one in files if one.name.endswith(SUFFIX) and not one.name.startswith("."))
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as exc:
        problems.append(UnreadableWorkflow(prefix, f"The folder cannot be read ({exc.strerror})."))


def _reuse_or_make_entry(file: os.DirEntry[str], path: str, kind: Source, indexed: Entry | None) -> Entry:
    name = file.name.removesuffix(SUFFIX)
    if file.is_symlink():
        locate_workflow_file(Path(file.path).parent, name)
    stamp = make_stamp(file.stat())
    if indexed is not None and indexed["stamp"] == stamp:
        return indexed
    validate_name(name)
    try:
        return _summarize_document(name, kind, read_document(Path(file.path), path), stamp)
    except InvalidWorkflow as exc:
        return {"stamp": stamp, "problem": exc.message}


def _summarize_document(name: str, kind: Source, document: WorkflowDocument, stamp: list[int]) -> ReadableEntry:
    declared = document.ir.get("inputs")
    return {
        "stamp": stamp,
        "name": name,
        "description": document.description[:LONGEST_DESCRIPTION],
        "inputs": list(declared) if isinstance(declared, dict) else [],
        "node_types": _collect_node_types(document.ir.get("nodes")),
        "updated_at": document.updated_at,
        "source": classify_source(kind, document),
    }


def _collect_node_types(nodes: "Json") -> list[str]:
    """Return the types of the nodes, each once, also of the node that a `batch` runs. The file is unchecked."""
    found: dict[str, None] = {}
    waiting = deque(nodes if isinstance(nodes, list) else ())
    while waiting and len(found) < _MOST_TYPES:
        node = waiting.popleft()
        if not isinstance(node, dict):
            continue
        if isinstance(kind := node.get("type"), str):
            found[kind[:_LONGEST_TYPE]] = None
        if isinstance(params := node.get("params"), dict):
            waiting.append(params.get("node"))
    return list(found)


def classify_source(folder_kind: Source, document: WorkflowDocument) -> Source:
    """Return the kind of a document: an IR that is not wrapped is a draft in every folder."""
    return folder_kind if document.is_wrapped else "draft"


def _build_listing(entries: Mapping[str, Entry], problems: list[UnreadableWorkflow]) -> Listing:
    summaries: list[Summary] = []
    for path, entry in entries.items():
        if "problem" in entry:
            problems.append(UnreadableWorkflow(path, entry["problem"]))
        else:
            inputs, types = tuple(entry["inputs"]), tuple(entry["node_types"])
            about = (entry["name"], entry["description"], inputs, types, entry["updated_at"], entry["source"])
            summaries.append(Summary(*about, path))
    summaries.sort(key=lambda one: (one.name, one.source != "library", one.path))
    problems.sort(key=lambda one: one.path)
    return Listing(tuple(summaries), tuple(problems))


def _replace_unprintable(text: str) -> str:
    return "".join(sign if sign.isprintable() else "?" for sign in text)


def make_stamp(status: os.stat_result) -> list[int]:
    """Return numbers that change whenever the file is replaced or changed."""
    return [status.st_mtime_ns, status.st_size, status.st_ctime_ns, status.st_ino]


def is_settled(entry: Entry, read_at_ns: int) -> bool:
    """Return whether every later write to the file will change its stamp."""
    return max(entry["stamp"][0], entry["stamp"][2]) < read_at_ns - _SETTLED_NS


def read_index(index: Path) -> dict[str, Entry]:
    """Return the entries by path; empty if there is no index or it is damaged."""
    try:
        plain = orjson.loads(index.read_bytes())
        entries = plain["files"]
        is_whole = plain["format"] == _FORMAT and plain["digest"] == _digest_entries(entries)
    except (OSError, ValueError, TypeError, KeyError):
        return {}
    return entries if is_whole else {}


def write_index(index: Path, entries: Mapping[str, Entry]) -> None:
    """Replace the index. If it cannot be written, later listings are only slower."""
    content = orjson.dumps({"format": _FORMAT, "digest": _digest_entries(entries), "files": entries})
    with contextlib.suppress(OSError):
        make_private_folder(index.parent)
        write_atomic(index, content)


def _digest_entries(entries: Mapping[str, Entry]) -> str:
    return content_id(orjson.dumps(entries))


_STORED: Final = "cache/file-stamps.json"
_Stamps = dict[tuple[Source, str], list[int]]


class WorkflowFileChange(NamedTuple):
    """A workflow whose file was written or deleted. `source` is the kind of its folder."""

    name: str
    source: Source
    is_deleted: bool


class FileChanges:
    """Compares the files of a home with those of the last look, also of an earlier process. The methods block."""

    def __init__(self, home: Path) -> None:
        self._folders: dict[Source, Path] = {"library": home / LIBRARY, "draft": home / DRAFTS}
        self._stored = home / _STORED
        stored = self._read_stored_stamps()
        self._stamps = self._read_stamps() if stored is None else stored
        if stored is None:
            self.store_look()

    def find_changes(self) -> list[WorkflowFileChange]:
        """Return the workflows that were written or deleted since the last look."""
        before, self._stamps = self._stamps, self._read_stamps()
        written = [one for one, stamp in self._stamps.items() if before.get(one) != stamp]
        deleted = [one for one in before if one not in self._stamps]
        return [
            *(WorkflowFileChange(name, source, is_deleted=False) for source, name in written),
            *(WorkflowFileChange(name, source, is_deleted=True) for source, name in deleted),
        ]

    def store_look(self) -> None:
        """Store the last look for later processes. If it cannot be written, they find its changes again."""
        plain = [[*key, stamp] for key, stamp in self._stamps.items()]
        with suppress(OSError):
            make_private_folder(self._stored.parent)
            write_atomic(self._stored, json.dumps(plain))

    def _read_stored_stamps(self) -> _Stamps | None:
        """Return the stamps of the last look that was stored, or None if there is none or its file is damaged."""
        try:
            plain = cast("list[list[Any]]", json.loads(self._stored.read_bytes()))
            return {(source, name): stamp for source, name, stamp in plain}
        except (OSError, ValueError, TypeError):
            return None

    def _read_stamps(self) -> _Stamps:
        found: _Stamps = {}
        for source, folder in self._folders.items():
            with suppress(OSError), os.scandir(folder) as files:  # the folder may be missing
                for file in files:
                    if file.name.endswith(SUFFIX) and not file.name.startswith("."):
                        with suppress(FileNotFoundError):  # it was deleted meanwhile
                            found[source, file.name.removesuffix(SUFFIX)] = make_stamp(file.stat())
        return found
