"""What an agent is told of a run: all of it, unless it is too long."""

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import orjson

from pflow.engine.results import RunResult
from pflow.errors import PflowError, SecurityError
from pflow.shortening import shortened
from uraniborg.kernel.errors import InvalidInput, NotFound, UraniborgError
from uraniborg.kernel.files import make_private_folder, open_private

MOST_BYTES: Final = 100_000
"""How long the outputs in a reply may be."""
_PREVIEW: Final = 2_000
_LONGEST: Final = 4_000
_WARNINGS: Final = 50
_HASHES: Final = 200
_OUTPUTS: Final = 100
_DIAGNOSTICS: Final = 50
"""How many findings of the checker an agent is told of at once."""


def told(error: UraniborgError) -> dict[str, Any]:
    """The error in the words of the specification: with a `type`, whoever raised it."""
    kind = "validation_error" if isinstance(error, InvalidInput | NotFound) else PflowError.type
    body = {"type": kind, **error.body()["error"]}
    found = body.get("diagnostics", [])
    if len(found) > _DIAGNOSTICS:
        body |= {"diagnostics": found[:_DIAGNOSTICS], "more_diagnostics": len(found) - _DIAGNOSTICS}
    return body


def refused(error: UraniborgError, name: str) -> dict[str, Any]:
    """The reply to a run that did not begin."""
    body = told(error)
    body.setdefault("node", None)
    return {
        "success": False,
        "outputs": {},
        "error": body,
        "checkpoint": {
            "run_id": None,
            "workflow": None if isinstance(error, SecurityError) else name[:100],
            "completed_nodes": [],
            "failed_node": body["node"],
            "node_actions": {},
            "resumable": False,
        },
        "reused_nodes": [],
        "run_id": None,
        "duration_ms": 0,
        "warnings": [],
    }


def bounded(result: RunResult, home: Path) -> dict[str, Any]:
    """The reply to a run. Outputs that are too large for it are written to files, and told of."""
    reply = result.reply()
    _cut_words(reply)
    reply["outputs"] = dict(result.outputs)
    sizes = {name: len(_text(value)) for name, value in reply["outputs"].items()}
    if len(sizes) > _OUTPUTS and sum(sizes.values()) > MOST_BYTES:  # so many small ones are told of together
        reply["outputs"] = {"all": reply["outputs"]}
        sizes = {"all": sum(sizes.values())}
    budget = MOST_BYTES
    for name, size in sorted(sizes.items(), key=lambda item: item[1]):
        if size <= budget:
            budget -= size
            continue
        value = reply["outputs"][name]
        is_text = isinstance(value, str)
        text = value.encode("utf-8", "replace") if is_text else _text(value)
        place = _written(home, result.run_id, f"{name}.txt" if is_text else f"{name}.json", text)
        reply["outputs"][name] = {
            "truncated": True,
            "bytes": len(text),
            "preview": text[:_PREVIEW].decode("utf-8", "ignore"),
            "file": place,
        }
        where = f"; all of it is in {place} of the pflow home" if place else ""
        reply["warnings"].append(f"The output '{name}' is {len(text):,} bytes long and is cut here{where}.")
    return reply


def _cut_words(reply: dict[str, Any]) -> None:
    """Leave out what only a person with `pflow show` would read to its end."""
    if reply["error"] is not None:
        reply["error"] = shortened(reply["error"], longest=_LONGEST)
    warnings = list(dict.fromkeys(reply["warnings"]))
    more = [f"And {len(warnings) - _WARNINGS:,} more."] if len(warnings) > _WARNINGS else []
    reply["warnings"] = [*(shortened(one, longest=_LONGEST) for one in warnings[:_WARNINGS]), *more]
    checkpoint: dict[str, Any] = reply["checkpoint"] or {}
    if len(checkpoint.get("node_hashes", {})) > _HASHES:
        del checkpoint["node_hashes"]


def _text(value: Any) -> bytes:
    try:
        return orjson.dumps(value, default=str)
    except orjson.JSONEncodeError:  # a whole number of more than 64 bits
        return json.dumps(value, default=str, ensure_ascii=False).encode("utf-8", "replace")


def _written(home: Path, run_id: str, name: str, text: bytes) -> str | None:
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
