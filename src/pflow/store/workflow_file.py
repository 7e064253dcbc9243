"""Read and write the file of a workflow, with or without a description, and check the name that it has on disk."""

import hashlib
import json
import re
import stat
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import orjson

from pflow.domain.diagnostics import make_error
from pflow.errors import InvalidInputs, InvalidWorkflow, SecurityError, WorkflowChanged
from uraniborg.kernel.clock import SystemClock, format_iso
from uraniborg.kernel.store.files import PathRefused, confine_path, hold_lock

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import Json, JsonObject


LONGEST_DESCRIPTION: Final = 500
_VERSION: Final = "1.0.0"
_LAST_MOMENT: Final = datetime(9999, 12, 31, tzinfo=UTC).timestamp()
LARGEST_FILE: Final = 20_000_000
TOO_LARGE: Final = f"it is larger than {LARGEST_FILE // 1_000_000} MB"
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_DEEPEST: Final = 500
_TOKEN: Final = re.compile(r'("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?|([{\[])|[}\]]')
LineAndColumn = tuple[int, int]
"""Line and column, both counted from 1, in characters."""


@dataclass(frozen=True, slots=True)
class WorkflowDocument:
    """A workflow file. An unwrapped one has no description; its update time is that of the file."""

    ir: "JsonObject"
    is_wrapped: bool
    description: str
    created_at: str | None
    updated_at: str


def read_document(path: Path, display_path: str) -> WorkflowDocument:
    """Return the document. Messages show `display_path`. Raise InvalidWorkflow, or FileNotFoundError."""
    try:
        status = path.stat()
        is_file = stat.S_ISREG(status.st_mode)
        data = _read_up_to_limit(path, status.st_size) if is_file else b""
    except (FileNotFoundError, NotADirectoryError):
        raise FileNotFoundError from None
    except OSError as exc:
        raise make_invalid_file_error(display_path, "unreadable_file", f"it cannot be read ({exc.strerror})") from None
    if not is_file:
        raise make_invalid_file_error(display_path, "not_a_file", "it is not a regular file")
    return _make_document(parse_json_object(data, display_path), status.st_mtime)


def unwrap_ir(plain: "JsonObject") -> "JsonObject":
    """Return the IR of a workflow file: the object itself, or the one that a name and a description wrap."""
    inner = plain.get("ir")
    return plain if not isinstance(inner, dict) or "nodes" in plain else cast("JsonObject", inner)


def read_text(path: Path) -> str | None:
    """Return the text of a file, a workflow or not; None if it is not a file of UTF-8 text, or is too large."""
    try:
        status = path.stat()
        data = _read_up_to_limit(path, status.st_size) if stat.S_ISREG(status.st_mode) else None
        return data.decode() if data is not None and len(data) <= LARGEST_FILE else None
    except (OSError, UnicodeDecodeError):
        return None


def encode_wrapped_workflow(
    name: str, ir: "Mapping[str, Json]", description: str, *, created_at: str | None = None
) -> bytes:
    """Return the content of a file of the library, by default a new one. Raise InvalidInputs or InvalidWorkflow."""
    now = format_iso(SystemClock().now())
    plain = {
        "name": name,
        "description": trim_and_validate_description(description),
        "ir": dict(ir),
        "created_at": created_at or now,
        "updated_at": now,
        "version": _VERSION,
    }
    try:
        data = (json.dumps(plain, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()
    except RecursionError:
        raise make_invalid_file_error(name, "too_deep", "it is nested too deep") from None
    except (TypeError, ValueError):
        raise make_invalid_file_error(name, "not_json", "it has values that JSON cannot represent") from None
    if len(data) > LARGEST_FILE:
        raise make_invalid_file_error(name, "file_too_large", TOO_LARGE)
    return data


def compute_revision(document: "Mapping[str, Json] | str") -> str:
    """Return a short text that differs if a document, or the text of a file that has no document, differs."""
    return hashlib.sha256(json.dumps(document, ensure_ascii=False).encode()).hexdigest()[:16]


def require_revision(revision: str, present_revision: str, name: str) -> None:
    """Raise WorkflowChanged if the text of a workflow is no longer that of this revision."""
    if present_revision != revision:
        raise WorkflowChanged(
            f"'{name}' was changed by somebody else. Nothing was written.",
            hint="Read it again, and make your changes there.",
            name=name,
        )


def hold_text_lock(home: Path, revision: str | None) -> AbstractContextManager[None]:
    """Return a lock: nobody else replaces a text between the look at its revision and the write. Raise Locked."""
    if revision is None or not home.is_dir():
        return nullcontext()
    return hold_lock(home / "texts.lock", timeout_s=10)


def trim_and_validate_description(description: str) -> str:
    """Return the trimmed description. Raise InvalidInputs if it is too long."""
    trimmed = description.strip()
    if len(trimmed) > LONGEST_DESCRIPTION:
        raise InvalidInputs(
            f"A description has at most {LONGEST_DESCRIPTION} characters; this one has {len(trimmed):,}.",
            hint="Describe the workflow in a sentence or two.",
            argument="description",
            allowed=f"at most {LONGEST_DESCRIPTION} characters",
        )
    return trimmed


def _read_up_to_limit(path: Path, size: int) -> bytes:
    with path.open("rb") as stream:
        return stream.read() if size <= LARGEST_FILE else stream.read(LARGEST_FILE + 1)


def _make_document(plain: "JsonObject", modified_at: float) -> WorkflowDocument:
    moment = format_iso(datetime.fromtimestamp(min(max(modified_at, 0.0), _LAST_MOMENT), UTC))
    inner = unwrap_ir(plain)
    if inner is plain:
        return WorkflowDocument(plain, False, "", None, moment)
    described = plain.get("description")
    return WorkflowDocument(
        inner,
        True,
        described if isinstance(described, str) else "",
        _normalize_moment_or_none(plain.get("created_at")),
        _normalize_moment_or_none(plain.get("updated_at")) or moment,
    )


def _normalize_moment_or_none(value: Any) -> str | None:
    """Return a time as ISO text, or None if the value is not a time."""
    try:
        return format_iso(datetime.fromisoformat(value))
    except (TypeError, ValueError, OverflowError):
        return None


class _RepeatedKey(ValueError):
    pass


def parse_json_object(data: bytes, display_path: str) -> "JsonObject":
    """Return the JSON object in the data. Messages show `display_path`. Raise InvalidWorkflow."""
    text = _decode_text(data, display_path)
    try:
        # Strict where the standard library is lenient (NaN, half characters), but it rounds large integers.
        orjson.loads(text)
        plain = json.loads(text, object_pairs_hook=_build_object_without_repeated_keys)
    except orjson.JSONDecodeError as exc:
        if "depth limit" in exc.msg:
            raise make_invalid_file_error(
                display_path, "too_deep", "it is nested too deep", _find_too_deep_position(text)
            ) from None
        position = (exc.lineno, exc.colno)
        problem, hint = _lower_first_letter(exc.msg), _suggest_json_fix(text, exc.pos)
        raise make_invalid_file_error(display_path, "invalid_json", problem, position, hint) from None
    except _RepeatedKey:
        key, position = _find_repeated_key(text)
        raise make_invalid_file_error(
            display_path, "duplicate_key", f"the key '{key[:80]}' is given twice in one object", position
        ) from None
    except RecursionError:
        raise make_invalid_file_error(
            display_path, "too_deep", "it is nested too deep", _find_too_deep_position(text)
        ) from None
    if not isinstance(plain, dict):
        position = _get_line_and_column(text, len(text) - len(text.lstrip()))
        raise make_invalid_file_error(
            display_path, "not_an_object", "a workflow is a JSON object", position, 'Start with {"nodes": [.'
        )
    return cast("JsonObject", plain)


def _suggest_json_fix(text: str, position: int) -> str:
    """Return a hint for the usual mistakes of other formats, or an empty text."""
    if text.startswith(("//", "/*", "#"), position):
        return "JSON has no comments: remove it. A node can have a `purpose`."
    if text.startswith("'", position):
        return "JSON has double quotes only."
    if text.lstrip()[:1] not in ("{", "["):
        return 'A workflow is JSON, not YAML or Markdown: start with {"nodes": [.'
    return ""


def make_invalid_file_error(
    display_path: str, code: str, problem: str, position: LineAndColumn | None = None, hint: str = ""
) -> InvalidWorkflow:
    """Return the error for a file that is not a valid workflow, with one diagnostic."""
    where = f"at line {position[0]}, column {position[1]}: " if position else ""
    hint = hint or ("Correct it there and try again." if position else "Correct it and try again.")
    found = make_error(code, "", f"{display_path}: {where}{problem}.", hint=hint)
    ids = {"line": position[0], "column": position[1]} if position else {}
    message = f"{display_path} is not a valid workflow: {where}{problem}."
    return InvalidWorkflow(message, hint=hint, diagnostics=[found.to_dict()], path=display_path, **ids)


def _decode_text(data: bytes, display_path: str) -> str:
    if len(data) > LARGEST_FILE:
        start = data[:LARGEST_FILE].decode(errors="replace")
        raise make_invalid_file_error(
            display_path, "file_too_large", TOO_LARGE, _get_line_and_column(start, len(start))
        )
    if data.startswith(_BYTE_ORDER_MARK):
        hint = "Save it as UTF-8 without a byte order mark."
        raise make_invalid_file_error(display_path, "byte_order_mark", "it begins with a byte order mark", (1, 1), hint)
    try:
        return data.decode()
    except UnicodeDecodeError as exc:
        before = data[: exc.start].decode()
        position = _get_line_and_column(before, len(before))
        raise make_invalid_file_error(
            display_path, "not_utf8", "this is not UTF-8", position, "Save it as UTF-8."
        ) from None


def _build_object_without_repeated_keys(pairs: list[tuple[str, Any]]) -> "JsonObject":
    plain = dict(pairs)
    if len(plain) != len(pairs):
        raise _RepeatedKey
    return plain


def _find_repeated_key(text: str) -> tuple[str, LineAndColumn]:
    """Return the first repeated key of an object, and its position. The text must have one."""
    seen: list[set[str]] = []
    for token in _TOKEN.finditer(text):
        literal, colon, opening = token.groups()
        if opening:
            seen.append(set())
        elif literal is None:
            seen.pop()
        elif colon:
            key = json.loads(literal)
            if key in seen[-1]:
                return key, _get_line_and_column(text, token.start())
            seen[-1].add(key)
    return "", (1, 1)


def _find_too_deep_position(text: str) -> LineAndColumn:
    depth = 0
    for token in _TOKEN.finditer(text):
        if token[1] is None:
            depth += 1 if token[3] else -1
            if depth > _DEEPEST:
                return _get_line_and_column(text, token.start())
    return 1, 1


def _get_line_and_column(text: str, position: int) -> LineAndColumn:
    return text.count("\n", 0, position) + 1, position - text.rfind("\n", 0, position)


def _lower_first_letter(message: str) -> str:
    return message[:1].lower() + message[1:]


LONGEST_NAME: Final = 50
SUFFIX: Final = ".json"
RULE: Final = (
    "A name has 1 to 50 characters: letters a to z and A to Z, digits, '.', '_' and '-'. It begins with a letter or "
    "digit, has no two dots in a row, and does not end in a dot."
)
_HINT: Final = "Give only the name, such as 'daily-report', without folder, '~' and '.json'."
_ALLOWED: Final = re.compile(r"[A-Za-z0-9._-]*")
_RESERVED_SUFFIX: Final = re.compile(r".*\.(?:json|tmp|lock)", re.IGNORECASE)
# Windows opens the device for any suffix.
_DEVICE: Final = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?", re.IGNORECASE)
_HARMLESS: Final = re.compile(r"(?!.*\.\.)[ -.0-9;-\[\]-}]*")
_CORRECTABLE: Final = re.compile(r"\s*[A-Za-z0-9][A-Za-z0-9 ._/-]*")
"""Names with spaces, folders below the home, or the suffix."""
_SHOWN: Final = 20


def validate_name(name: str) -> str:
    """Return the name if it is valid. Raise SecurityError."""
    allowed = _ALLOWED.match(name)
    valid_prefix = allowed[0] if allowed else ""
    if problem := _find_name_problem(name, valid_prefix):
        raise _make_name_error(name, valid_prefix[:_SHOWN], problem)
    return name


def locate_workflow_file(folder: Path, name: str) -> Path:
    """Return the path of the file, which may not exist. Raise SecurityError, also for links out of the folder."""
    path = folder / f"{validate_name(name)}{SUFFIX}"
    try:
        confine_path(folder, path.name)
    except PathRefused:
        raise SecurityError(
            f"The file of the workflow '{name}' leads out of its folder.",
            hint="Put the file itself into the folder, not a link to it.",
        ) from None
    return path


def _find_name_problem(name: str, valid_prefix: str) -> str:
    problems = {
        "it is empty": not name,
        f"it has {len(name):,} characters": len(name) > LONGEST_NAME,
        f"character {len(valid_prefix) + 1} is not allowed": len(valid_prefix) < len(name),
        "it begins with neither a letter nor a digit": not valid_prefix[:1].isalnum(),
        "it has two dots in a row": ".." in valid_prefix,
        "it ends in a dot": valid_prefix.endswith("."),
        "its ending is reserved for files": bool(_RESERVED_SUFFIX.fullmatch(valid_prefix)),
        "some systems reserve it for a device": bool(_DEVICE.fullmatch(valid_prefix)),
    }
    return next((problem for problem, holds in problems.items() if holds), "")


def _make_name_error(name: str, shown_start: str, problem: str) -> SecurityError:
    """Return the error for an invalid name. The message quotes at most the start of a harmless name."""
    is_shown = shown_start and _HARMLESS.fullmatch(name)
    quoted = f"'{shown_start}{'…' if len(name) > len(shown_start) else ''}'" if is_shown else "This"
    suggested = _suggest_name(name)
    hint = f"Write '{suggested}'. {_HINT}" if suggested else _HINT
    return SecurityError(f"{quoted} is not a valid workflow name: {problem}. {RULE}", hint=hint)


def _suggest_name(name: str) -> str:
    """Return the valid name that was probably meant; an empty text if the name may lead out of the folder."""
    if not _CORRECTABLE.fullmatch(name) or ".." in name:
        return ""
    last = name.strip().removesuffix(SUFFIX).rpartition("/")[2]
    suggested = "-".join(last.lower().split())
    return "" if not suggested or _find_name_problem(suggested, suggested) else suggested
