"""Names for the files of an index that follow from the shelf's contents: tantivy makes random ones."""

import hashlib
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import orjson

_META: Final = "meta.json"
_MANAGED: Final = ".managed.json"


def rename_segments(folder: Path, build_id: str) -> None:
    """Rename the segments of the finished index in `folder`, which nothing may have open."""
    meta: dict[str, Any] = orjson.loads((folder / _META).read_bytes())
    for place, segment in enumerate(meta["segments"]):
        old = UUID(segment["segment_id"])
        new = UUID(hashlib.sha256(f"{build_id} {place}".encode()).hexdigest()[:32])
        segment["segment_id"] = str(new)
        for path in folder.glob(f"{old.hex}.*"):
            path.rename(folder / f"{new.hex}{path.suffix}")
    (folder / _META).write_bytes(orjson.dumps(meta, option=orjson.OPT_INDENT_2))
    names = sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))
    (folder / _MANAGED).write_bytes(orjson.dumps(names))
