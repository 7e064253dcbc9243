"""A retraction written into an existing shelf."""

import hashlib
import json
import sqlite3
from pathlib import Path
from typing import Any, Final

from paper_library.store.layout import compute_file_digest

RETRACTION: Final[dict[str, Any]] = {
    "status": "retracted",
    "source": "crossref",
    "date": "2022-05-01",
    "notice_doi": "10.5555/notice.1",
}


def write_retraction(shelf: Path, paper_id: str, retraction: dict[str, Any] | None = RETRACTION) -> Path:
    """Write `retraction` into the metadata of a paper of a shelf that is not open."""
    with sqlite3.connect(shelf / "shelf.db") as database:
        (stored,) = database.execute("SELECT metadata FROM paper WHERE paper_id = ?", (paper_id,)).fetchone()
        metadata = json.dumps({**json.loads(stored), "retraction": retraction}, separators=(",", ":")).encode()
        database.execute("UPDATE paper SET metadata = ? WHERE paper_id = ?", (metadata, paper_id))
    database.close()
    manifest = shelf / "manifest.json"
    facts = json.loads(manifest.read_bytes())
    facts["files"]["shelf.db"] = compute_file_digest(shelf / "shelf.db")
    facts["build_id"] = hashlib.sha256(metadata).hexdigest()[:32]
    manifest.write_text(json.dumps(facts))
    return shelf
