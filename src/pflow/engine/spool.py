"""Store output that is too long for a value: files in a folder for each run, deleted after a week."""

import os
import shutil
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pflow.redaction import Secrets

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import Json

_MAX_AGE_S: Final = 7 * 24 * 3600


def get_spool_folder(home: Path, run_id: str) -> Path:
    """Return the spool folder of a run, which the first file creates."""
    return home / "spool" / run_id


def has_all_spooled_files(outputs: "Mapping[str, Json]", spool_folder: Path) -> bool:
    """Return True if all spooled files that the outputs name still exist."""
    named = [outputs[key] for key in outputs if key.endswith("_file")]
    if not named:
        return True
    spools = f"{spool_folder.parent}{os.sep}"
    return all(os.path.exists(one) for one in named if isinstance(one, str) and one.startswith(spools))


def mask_or_remove_spool_files(spool_folder: Path, secrets: Secrets) -> list[str]:
    """Mask secrets in the files of a spool. Remove a file that cannot be masked, and return a warning for each."""
    warnings: list[str] = []
    if not secrets.values or not spool_folder.is_dir():
        return warnings
    for path in spool_folder.iterdir():
        try:
            secrets.mask_file(path)
        except OSError as exc:
            path.unlink(missing_ok=True)
            warnings.append(f"A file of long output was removed: its secrets could not be masked ({exc.strerror}).")
    return warnings


def remove_old_spools(home: Path) -> None:
    """Remove the spools of runs that are older than a week."""
    with suppress(OSError):
        for folder in (home / "spool").iterdir():
            if time.time() - folder.stat().st_mtime > _MAX_AGE_S:
                shutil.rmtree(folder, ignore_errors=True)
