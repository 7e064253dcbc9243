"""What a workflow's file says, read and written: the IR alone, or wrapped with what people want to know of it."""

import json
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, cast

from pflow.errors import InvalidInputs
from pflow.library.parsing import LARGEST_FILE, TOO_LARGE, Plain, invalid, object_from
from uraniborg.kernel.clock import SystemClock, iso

LONGEST_DESCRIPTION: Final = 500
_VERSION: Final = "1.0.0"
_LAST_MOMENT: Final = datetime(9999, 12, 31, tzinfo=UTC).timestamp()


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
