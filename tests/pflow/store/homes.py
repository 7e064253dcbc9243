"""Files of workflows for the tests: drafts, saved workflows, and raw files in the library."""

import json
from pathlib import Path
from typing import Any

IR: dict[str, Any] = {
    "ir_version": "0.1.0",
    "inputs": {"who": {"type": "string"}, "times": {"type": "integer", "default": 1}},
    "nodes": [{"id": "greet", "type": "echo", "params": {"message": "Hello ${who}"}}],
    "edges": [],
}


def write_workflow_file(home: Path, path: str, content: Any = IR) -> Path:
    """Write a file under the home: text and bytes unchanged, other values as JSON."""
    file = home / path
    file.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, bytes):
        file.write_bytes(content)
    else:
        file.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return file


def write_draft(home: Path, name: str, content: Any = IR) -> Path:
    return write_workflow_file(home, f"workflows/drafts/{name}.json", content)


def write_raw_draft(home: Path, name: str, content: Any = IR) -> Path:
    return write_workflow_file(home, f"workflows/{name}.json", content)


def write_saved(home: Path, name: str, description: str = "Greets people.", ir: dict[str, Any] = IR) -> Path:
    wrapped = {
        "name": name,
        "description": description,
        "ir": ir,
        "created_at": "2026-01-02T03:04:05Z",
        "updated_at": "2026-02-03T04:05:06Z",
        "version": "1.0.0",
    }
    return write_workflow_file(home, f"workflows/{name}.json", wrapped)


def read_json(file: Path) -> dict[str, Any]:
    return json.loads(file.read_text(encoding="utf-8"))


def read_all_files(home: Path) -> dict[str, bytes]:
    """Return the content of all files of workflows, without the lock."""
    found = (path for path in (home / "workflows").rglob("*") if path.is_file() and path.name != ".saving.lock")
    return {path.relative_to(home).as_posix(): path.read_bytes() for path in found}
