"""Output that is too long for a value: files, in a folder for each run, for a week."""

import os
import shutil
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from pflow.redaction import Secrets

_KEPT_S: Final = 7 * 24 * 3600


def spool_of(home: Path, run_id: str) -> Path:
    """The folder of a run. It is made when something is put there."""
    return home / "spool" / run_id


def spooled_are_there(outputs: Mapping[str, Any], spool: Path) -> bool:
    """Whether the files that outputs name are there still, of those that runs have spooled beside this one."""
    named = [outputs[key] for key in outputs if key.endswith("_file")]
    if not named:
        return True
    spools = f"{spool.parent}{os.sep}"
    return all(os.path.exists(one) for one in named if isinstance(one, str) and one.startswith(spools))


def scrub(spool: Path, secrets: Secrets) -> list[str]:
    """Mask secrets in what lies there. What cannot be cleaned is removed, which is told."""
    told: list[str] = []
    if not secrets.values or not spool.is_dir():
        return told
    for path in spool.iterdir():
        try:
            secrets.scrub(path)
        except OSError as exc:
            path.unlink(missing_ok=True)
            told.append(f"A file of long output was removed, as it could not be cleaned: {exc.strerror}.")
    return told


def prune(home: Path) -> None:
    """Remove what runs of a week ago left."""
    with suppress(OSError):
        for folder in (home / "spool").iterdir():
            if time.time() - folder.stat().st_mtime > _KEPT_S:
                shutil.rmtree(folder, ignore_errors=True)
