"""A log of tool calls from all processes, so that the console can show what agents asked and got.

Arguments and replies are not recorded, except what a tool declares a call to be `about`: with it, the log has the ids
and the text of an error. The log is a folder of numbered files like the change feed: `calls` in the data folder.
`uraniborg serve` creates it; before that, nothing is written.
"""

import atexit
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, Literal, NotRequired

import orjson
from typing_extensions import TypedDict

from uraniborg.kernel.json_values import JsonObject
from uraniborg.kernel.settings import secure_own_folder
from uraniborg.kernel.shared_fields import ChangeFields
from uraniborg.kernel.store.batched_change_feed import QueuedChangeFeed
from uraniborg.kernel.store.change_feed import Announcement, ChangeFeed, create_feed, list_segment_paths

CALL: Final = "call"
FOLDER: Final = "calls"
_SEGMENT_BYTES: Final = 100_000
_BATCH_S: Final = 0.2
"""The time for which a call waits for others: a busy server writes often, and every writing delays its calls."""
_MAX_CHARS: Final = 100
_MAX_MESSAGE_CHARS: Final = 400


class ToolCall(TypedDict):
    """A call of a tool, without its arguments. `about` has the ids of universes, `message` the text of its error."""

    server: str
    at: str
    tool: str
    duration_ms: float
    reply_bytes: int
    error: str | None
    client: str | None
    about: list[str]
    message: str | None


class CallChange(ChangeFields):
    """A tool of an MCP server was called. `subject` is the name of the server."""

    kind: Literal["call"]
    tool: NotRequired[str]
    duration_ms: NotRequired[float]
    reply_bytes: NotRequired[int]
    error: NotRequired[str]
    client: NotRequired[str]
    about: NotRequired[list[str]]
    message: NotRequired[str]


_lock = threading.Lock()
_feed: QueuedChangeFeed | None = None


def find_call_folder() -> Path:
    """Return the folder of the log. It may not exist."""
    return secure_own_folder("data") / FOLDER


def create_call_log() -> None:
    """Create the log, so that all servers record their calls from now on. Raise OSError or Locked."""
    create_feed(find_call_folder())


def record_call(
    server: str,
    tool: str,
    *,
    duration_ms: float,
    reply_bytes: int,
    error: str | None,
    client: str | None,
    about: Sequence[str] = (),
    message: str = "",
) -> None:
    """Record a call soon, in a thread. `error` is a code, `message` its text. Do not raise."""
    facts: JsonObject = {"tool": tool[:_MAX_CHARS], "duration_ms": round(duration_ms, 1), "reply_bytes": reply_bytes}
    if error:
        facts["error"] = error[:_MAX_CHARS]
    if client:
        facts["client"] = client[:_MAX_CHARS]
    if about:
        facts["about"] = [one[:_MAX_CHARS] for one in about]
    if message:
        facts["message"] = message[:_MAX_MESSAGE_CHARS]
    (_feed or _get_feed()).publish(CALL, server, **facts)


def list_calls(
    limit: int, *, tool: str | None = None, about: str | None = None, has_failed: bool = False
) -> list[ToolCall]:
    """Return the last calls, the latest first; nothing if there is no log.

    With `tool`, `about` or `has_failed`: only calls of this tool, about the thing with this id, or with an error.
    """
    calls: list[ToolCall] = []
    for path in reversed(list_segment_paths(find_call_folder())):
        try:
            lines = path.read_bytes().splitlines()
        except FileNotFoundError:  # deleted since it was listed
            continue
        calls += [
            call
            for line in reversed(lines)
            if (call := _parse_call(line)) is not None
            and tool in (None, call["tool"])
            and (about is None or about[:_MAX_CHARS] in call["about"])
            and (call["error"] or not has_failed)
        ]
        if len(calls) >= limit:
            break
    return calls[:limit]


def _parse_call(line: bytes) -> ToolCall | None:
    try:
        stored = orjson.loads(line)
        return {
            "server": stored["subject"],
            "at": stored["at"],
            "tool": stored["tool"],
            "duration_ms": stored["duration_ms"],
            "reply_bytes": stored["reply_bytes"],
            "error": stored.get("error"),
            "client": stored.get("client"),
            "about": list(stored.get("about", ())),
            "message": stored.get("message"),
        }
    except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError):  # a line that a full disk cut
        return None


def _get_feed() -> QueuedChangeFeed:
    global _feed  # noqa: PLW0603 - one writing thread for all servers of the process
    with _lock:
        if _feed is None:
            _feed = QueuedChangeFeed(_CallFeed(), batch_s=_BATCH_S)
            atexit.register(_feed.close)
        return _feed


class _CallFeed(ChangeFeed):
    """The log as writers see it. Each call is announced in the change feed, too."""

    def __init__(self) -> None:
        super().__init__(segment_bytes=_SEGMENT_BYTES)
        self._announcements = ChangeFeed()

    def publish_all(self, changes: Iterable[Announcement]) -> None:
        calls = list(changes)
        self._folder = self._folder or find_call_folder()
        super().publish_all(calls)
        self._announcements.publish_all(calls)
