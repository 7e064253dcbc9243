"""Build the replies to agents: errors, and results of runs cut to a bounded size."""

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import orjson

from pflow.engine.results import RunResult
from pflow.errors import PflowError, SecurityError
from pflow.shortening import shorten_value
from uraniborg.kernel.errors import InvalidInput, NotFound, UraniborgError
from uraniborg.kernel.files import make_private_folder, open_private

if TYPE_CHECKING:
    from pflow.run_replies import EndedRun, RunError

MAX_OUTPUT_BYTES: Final = 100_000
"""The maximum size of all outputs in a reply."""
_PREVIEW_BYTES: Final = 2_000
_MAX_CHARS: Final = 4_000
_MAX_WARNINGS: Final = 50
_MAX_HASHES: Final = 200
_MAX_OUTPUTS: Final = 100
_MAX_DIAGNOSTICS: Final = 50
"""The maximum number of findings of the checker in a reply."""


def build_error_body(error: UraniborgError) -> "RunError":
    """Return the error as an object with the `type` of the specification, whichever part raised it."""
    kind = "validation_error" if isinstance(error, InvalidInput | NotFound) else PflowError.type
    body: RunError = {"type": kind, **cast("RunError", error.body()["error"])}
    found = body.get("diagnostics", [])
    if len(found) > _MAX_DIAGNOSTICS:
        body["diagnostics"], body["more_diagnostics"] = found[:_MAX_DIAGNOSTICS], len(found) - _MAX_DIAGNOSTICS
    return body


def build_refusal_reply(error: UraniborgError, name: str) -> "EndedRun":
    """Return the reply to a run that did not begin."""
    body = build_error_body(error)
    node = body.setdefault("node", None)
    return {
        "success": False,
        "outputs": {},
        "error": body,
        "checkpoint": {
            "run_id": None,
            "workflow": None if isinstance(error, SecurityError) else name[:100],
            "completed_nodes": [],
            "failed_node": node,
            "node_actions": {},
            "resumable": False,
        },
        "reused_nodes": [],
        "run_id": None,
        "duration_ms": 0,
        "warnings": [],
    }


def build_reply_and_write_large_outputs(result: RunResult, home: Path) -> "EndedRun":
    """Return the reply to a run. Write outputs that are too large to files, and describe these instead."""
    reply = result.reply()
    _shorten_messages_in_place(reply)
    reply["outputs"] = dict(result.outputs)
    sizes = {name: len(_format_json(value)) for name, value in reply["outputs"].items()}
    if len(sizes) > _MAX_OUTPUTS and sum(sizes.values()) > MAX_OUTPUT_BYTES:  # so many small outputs go into one file
        reply["outputs"] = {"all": reply["outputs"]}
        sizes = {"all": sum(sizes.values())}
    budget = MAX_OUTPUT_BYTES
    for name, size in sorted(sizes.items(), key=lambda item: item[1]):
        if size <= budget:
            budget -= size
            continue
        value = reply["outputs"][name]
        is_text = isinstance(value, str)
        text = value.encode() if is_text else _format_json(value)
        path = _try_write_spool_file(home, result.run_id, f"{name}.txt" if is_text else f"{name}.json", text)
        reply["outputs"][name] = {
            "truncated": True,
            "bytes": len(text),
            "preview": text[:_PREVIEW_BYTES].decode("utf-8", "ignore"),
            "file": path,
        }
        where = f"; all of it is in {path} of the pflow home" if path else ""
        reply["warnings"].append(f"The output '{name}' is {len(text):,} bytes long and is cut here{where}.")
    return reply


def _shorten_messages_in_place(reply: "EndedRun") -> None:
    """Shorten errors and warnings in place; `pflow show` prints them in full."""
    if reply["error"] is not None:
        reply["error"] = shorten_value(reply["error"], max_chars=_MAX_CHARS)
    warnings = list(dict.fromkeys(reply["warnings"]))
    more = [f"And {len(warnings) - _MAX_WARNINGS:,} more."] if len(warnings) > _MAX_WARNINGS else []
    reply["warnings"] = [*(shorten_value(one, max_chars=_MAX_CHARS) for one in warnings[:_MAX_WARNINGS]), *more]
    checkpoint = reply["checkpoint"]
    if checkpoint and len(checkpoint.get("node_hashes", ())) > _MAX_HASHES:
        del checkpoint["node_hashes"]


def _format_json(value: Any) -> bytes:
    try:
        return orjson.dumps(value, default=str)
    except orjson.JSONEncodeError:  # an integer of more than 64 bits
        return json.dumps(value, default=str, ensure_ascii=False).encode()


def _try_write_spool_file(home: Path, run_id: str, name: str, text: bytes) -> str | None:
    """Write a file to the spool of a run, and return its path in the pflow home, or None if that fails."""
    folder = home / "spool" / run_id
    path = folder / name
    try:
        make_private_folder(folder)
        file = open_private(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        with open(file, "wb") as stream:
            stream.write(text)
    except OSError:
        with suppress(OSError):
            path.unlink(missing_ok=True)
        return None
    return path.relative_to(home).as_posix()
