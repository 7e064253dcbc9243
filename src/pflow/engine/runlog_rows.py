"""Convert nodes and runs between rows of SQLite and plain objects, with secrets masked."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, cast

import orjson

from pflow.engine.progress_output import NodeStatus
from pflow.errors import RunInterrupted
from pflow.ir.model import DEFAULT_ACTION, ERROR_ACTION
from uraniborg.kernel.actors import Actor, read_actor
from uraniborg.kernel.boundary import make_encodable
from uraniborg.kernel.logging import redact

if TYPE_CHECKING:
    from pflow.run_replies import NodeResult, RunError, RunNode, RunSummary

Door = Literal["console", "terminal", "schedule", "mcp"]
"""The interface through which a run is started."""

_MAX_CHARS: Final = 100_000
"""Characters of JSON that one value may take; of a longer value only the beginning is stored."""
_USUAL_ACTIONS: Final = (DEFAULT_ACTION, ERROR_ACTION)
_NODE_VALUES: Final = ("params", "outputs", "inputs", "messages")
_PROCESS_ENDED: Final["RunError"] = {
    "code": RunInterrupted.code,
    "message": "The run was interrupted: its process has ended.",
    "hint": "Run it again to resume it.",
}
RUN_COLUMNS: Final = (
    "number",
    *("id", "workflow", "source", "status", "started_at", "ended_at", "duration_ms", "failed_node", "error"),
    *("reused", "resumed_from", "inputs", "outputs", "pid", "birth", "warnings", "starter", "actor"),
)
"""Selected by name, so that a run continues when a newer version adds a column to the file."""
END_COLUMNS: Final = ("seq", "node", "type", "status", "action", "started_at", "duration_ms", "note")
NODE_COLUMNS: Final = (*END_COLUMNS[:-1], "error", "note", *_NODE_VALUES)


class NodeRow(NamedTuple):
    """How one node of a run ended. `seq` is the position in the order of their ends; `error` is JSON."""

    seq: int
    node: str
    type: str
    status: NodeStatus
    action: str | None = None
    started_at: str | None = None
    duration_ms: float | None = None
    error: Any = None
    note: str | None = None
    params: Any = None
    """The parameters as the workflow has them, with templates; JSON."""
    outputs: Any = None
    """The outputs; instead of a large value its size. JSON."""
    inputs: Any = None
    """The values of the parameters, if they differ from `params`; JSON."""
    messages: Any = None
    """The last messages of the node; JSON."""

    def to_json(self) -> "RunNode":
        """Return the node as JSON; without the values that the log does not have."""
        fields = self._asdict().items()
        node: Any = {name: value for name, value in fields if value is not None or name not in _NODE_VALUES}
        return node


def read_process_start_time(pid: int) -> str:
    """Return the start time of a process, which a later process with the same id does not share; "" if unknown."""
    try:
        state, *more = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except (OSError, ValueError):
        return ""
    return "" if state in "ZX" else more[18]


def _is_process_alive(pid: int, start_time: str) -> bool:
    """Return True if the process with this id and start time still runs."""
    if start_time or os.name == "nt":  # where `os.kill` would end it
        return not start_time or read_process_start_time(pid) == start_time
    try:
        os.kill(pid, 0)
    except (OSError, OverflowError) as exc:
        return not isinstance(exc, ProcessLookupError)
    return True


def format_masked_json(value: Any) -> str | None:
    """Return the value as JSON, with secrets masked that the caller missed, cut if it is too long."""
    if value is None:
        return None
    masked = redact(value)
    try:
        text = orjson.dumps(masked, default=str).decode()
    except TypeError:  # a key that is not a text, a very large number, or the path of a file
        text = make_encodable(json.dumps(masked, ensure_ascii=False, default=str))
    if len(text) > _MAX_CHARS:
        text = json.dumps({"characters": len(text), "beginning": text[:1_000]}, ensure_ascii=False)
    return text


def parse_json(text: str | None) -> Any:
    return None if text is None else json.loads(text, parse_constant=lambda _: None)


def parse_error(text: str | None) -> "RunError | None":
    """Return a stored error; of one that was cut, an error with the beginning of its text."""
    error = parse_json(text)
    if error is not None and "beginning" in error and "message" not in error:
        return {"code": "error_cut", "message": error["beginning"]}
    return error


def make_node_columns(row: NodeRow) -> tuple[Any, ...]:
    """Return the columns of a node, with secrets masked."""
    action, note, error = row.action, row.note, format_masked_json(row.error)
    if action not in _USUAL_ACTIONS:
        action = action and redact(action)
    note = note and redact(note)
    return (
        row.seq,
        row.node,
        row.type,
        row.status,
        action,
        row.started_at,
        row.duration_ms,
        error,
        note,
        *(format_masked_json(getattr(row, name)) for name in _NODE_VALUES),
    )


def parse_node_row(row: tuple[Any, ...]) -> NodeRow:
    columns = dict(zip(NODE_COLUMNS, row, strict=True))
    columns |= {name: parse_json(columns[name]) for name in _NODE_VALUES}
    return NodeRow(**columns)._replace(error=parse_error(columns["error"]))


def parse_node_end(row: tuple[Any, ...], failed_items: Mapping[str, int]) -> "NodeResult":
    *columns, error = row
    end: Any = dict(zip(END_COLUMNS, columns, strict=True))
    return end | {"error": parse_error(error), "failed_items": failed_items.get(end["node"])}


def parse_run_row(row: tuple[Any, ...]) -> "RunSummary":
    run: Any = dict(zip(RUN_COLUMNS[1:], row[1:], strict=True))
    pid, birth, starter = run.pop("pid"), run.pop("birth"), parse_json(run.pop("starter"))
    actor = read_actor(parse_json(run.pop("actor")))
    if run["status"] == "running" and not _is_process_alive(pid, birth):
        run["status"] = "interrupted"
    return run | {
        "inputs": parse_json(run["inputs"]),
        "error": parse_error(run["error"]) or (_PROCESS_ENDED if run["status"] == "interrupted" else None),
        "outputs": parse_json(run["outputs"]),
        "warnings": parse_texts(run["warnings"]),
        **({"starter": starter} if starter else {}),
        "actor": actor and actor.model_dump(),
    }


def format_starter(door: Door | None, actor: Actor | None) -> str | None:
    """Return the interface and the name of who started a run as JSON; None if there was no interface."""
    return format_masked_json({"door": door, "name": actor.name}) if door and actor else None


def parse_texts(text: str | None) -> list[str]:
    """Return stored warnings or messages; none for a run of an older version. Of texts that were cut, the beginning."""
    found: Any = parse_json(text) or []
    return cast("list[str]", found) if isinstance(found, list) else [found["beginning"]]
