"""What a workflow's file says, read and written: the IR alone, or wrapped with what people want to know of it."""

import json
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, cast

import orjson

from pflow.errors import InvalidInputs, InvalidWorkflow
from pflow.ir.diagnostics import error
from uraniborg.kernel.clock import SystemClock, iso

LONGEST_DESCRIPTION: Final = 500
_VERSION: Final = "1.0.0"
_LAST_MOMENT: Final = datetime(9999, 12, 31, tzinfo=UTC).timestamp()
LARGEST_FILE: Final = 20_000_000
TOO_LARGE: Final = f"it is larger than {LARGEST_FILE // 1_000_000} MB"
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_DEEPEST: Final = 500
_TOKEN: Final = re.compile(r'("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?|([{\[])|[}\]]')
Plain = dict[str, Any]
Place = tuple[int, int]
"""Line and column, both counted from 1, in characters."""


@dataclass(frozen=True, slots=True)
class Document:
    """One that is not wrapped has no description, and was last updated when its file was."""

    ir: Plain
    is_wrapped: bool
    description: str
    created_at: str | None
    updated_at: str


def read_document(path: Path, told: str) -> Document:
    """`told` is how messages call the file. Raises InvalidWorkflow, and FileNotFoundError when there is none."""
    try:
        status = path.stat()
        is_file = stat.S_ISREG(status.st_mode)
        data = _content(path, status.st_size) if is_file else b""
    except (FileNotFoundError, NotADirectoryError):
        raise FileNotFoundError from None
    except OSError as exc:
        raise invalid(told, "unreadable_file", f"it cannot be read ({exc.strerror})") from None
    if not is_file:
        raise invalid(told, "not_a_file", "what is there is no file")
    return _document(object_from(data, told), status.st_mtime)


def wrapped(name: str, ir: Mapping[str, Any], description: str) -> bytes:
    """The content of a new file of the library. Raises InvalidInputs, InvalidWorkflow."""
    now = iso(SystemClock().now())
    plain = {
        "name": name,
        "description": checked_description(description),
        "ir": dict(ir),
        "created_at": now,
        "updated_at": now,
        "version": _VERSION,
    }
    try:
        data = (json.dumps(plain, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()
    except RecursionError:
        raise invalid(name, "too_deep", "it is nested too deep") from None
    except (TypeError, ValueError):
        raise invalid(name, "not_json", "it holds values that JSON cannot carry") from None
    if len(data) > LARGEST_FILE:
        raise invalid(name, "file_too_large", TOO_LARGE)
    return data


def checked_description(description: str) -> str:
    """The description, trimmed. Raises InvalidInputs when it is too long."""
    from uraniborg.kernel.text import replace_surrogates  # whoever only reads must start fast

    trimmed = replace_surrogates(description.strip())
    if len(trimmed) > LONGEST_DESCRIPTION:
        raise InvalidInputs(
            f"A description has at most {LONGEST_DESCRIPTION} characters; this one has {len(trimmed):,}.",
            hint="Say in a sentence or two what the workflow does.",
            argument="description",
            allowed=f"at most {LONGEST_DESCRIPTION} characters",
        )
    return trimmed


def _content(path: Path, size: int) -> bytes:
    with path.open("rb") as stream:
        return stream.read() if size <= LARGEST_FILE else stream.read(LARGEST_FILE + 1)


def _document(plain: Plain, modified: float) -> Document:
    moment = iso(datetime.fromtimestamp(min(max(modified, 0.0), _LAST_MOMENT), UTC))
    inner = plain.get("ir")
    if not isinstance(inner, dict) or "nodes" in plain:
        return Document(plain, False, "", None, moment)
    described = plain.get("description")
    return Document(
        cast("Plain", inner),
        True,
        described if isinstance(described, str) else "",
        _moment(plain.get("created_at")),
        _moment(plain.get("updated_at")) or moment,
    )


def _moment(value: Any) -> str | None:
    """A time that another program or a person wrote there, if it can be read as one."""
    try:
        return iso(datetime.fromisoformat(value))
    except (TypeError, ValueError, OverflowError):
        return None


class _Repeated(ValueError):
    pass


def object_from(data: bytes, told: str) -> Plain:
    """The object; `told` is how messages call the file. Raises InvalidWorkflow."""
    text = _text(data, told)
    try:
        # Strict where the standard library is lenient (NaN, half characters), but it rounds large integers.
        orjson.loads(text)
        plain = json.loads(text, object_pairs_hook=_unique)
    except orjson.JSONDecodeError as exc:
        if "depth limit" in exc.msg:
            raise invalid(told, "too_deep", "it is nested too deep", _too_deep(text)) from None
        raise invalid(told, "invalid_json", _lower(exc.msg), (exc.lineno, exc.colno)) from None
    except _Repeated:
        key, place = _repeated(text)
        raise invalid(told, "duplicate_key", f"the key '{key[:80]}' is given twice in one object", place) from None
    except RecursionError:
        raise invalid(told, "too_deep", "it is nested too deep", _too_deep(text)) from None
    if not isinstance(plain, dict):
        place = _place(text, len(text) - len(text.lstrip()))
        raise invalid(told, "not_an_object", "a workflow is a JSON object", place, 'Begin with {"nodes": [.')
    return cast("Plain", plain)


def invalid(told: str, code: str, problem: str, place: Place | None = None, hint: str = "") -> InvalidWorkflow:
    """The error for a file that holds no workflow, with its one diagnostic."""
    where = f"at line {place[0]}, column {place[1]}: " if place else ""
    hint = hint or ("Correct it there and try again." if place else "Correct it and try again.")
    found = error(code, "", f"{told}: {where}{problem}.", hint=hint)
    position = {"line": place[0], "column": place[1]} if place else {}
    message = f"{told} is no workflow: {where}{problem}."
    return InvalidWorkflow(message, hint=hint, diagnostics=[found.plain()], path=told, **position)


def _text(data: bytes, told: str) -> str:
    if len(data) > LARGEST_FILE:
        within = data[:LARGEST_FILE].decode(errors="replace")
        raise invalid(told, "file_too_large", TOO_LARGE, _place(within, len(within)))
    if data.startswith(_BYTE_ORDER_MARK):
        hint = "Save it as UTF-8 without a byte order mark."
        raise invalid(told, "byte_order_mark", "it begins with a byte order mark", (1, 1), hint)
    try:
        return data.decode()
    except UnicodeDecodeError as exc:
        before = data[: exc.start].decode()
        place = _place(before, len(before))
        raise invalid(told, "not_utf8", "this is not UTF-8", place, "Save it as UTF-8.") from None


def _unique(pairs: list[tuple[str, Any]]) -> Plain:
    plain = dict(pairs)
    if len(plain) != len(pairs):
        raise _Repeated
    return plain


def _repeated(text: str) -> tuple[str, Place]:
    """The first key that its object has already, and where. Only for texts that are known to have one."""
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
                return key, _place(text, token.start())
            seen[-1].add(key)
    return "", (1, 1)


def _too_deep(text: str) -> Place:
    depth = 0
    for token in _TOKEN.finditer(text):
        if token[1] is None:
            depth += 1 if token[3] else -1
            if depth > _DEEPEST:
                return _place(text, token.start())
    return 1, 1


def _place(text: str, position: int) -> Place:
    return text.count("\n", 0, position) + 1, position - text.rfind("\n", 0, position)


def _lower(message: str) -> str:
    return message[:1].lower() + message[1:]
