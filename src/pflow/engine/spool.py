"""Store output that is too long for a value: files in a folder for each run, deleted after a week."""

import codecs
import os
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pflow.redaction import Secrets
from uraniborg.kernel.boundary import LOSSLESS, encode_lossless
from uraniborg.kernel.files import open_private

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import Json

_MAX_AGE_S: Final = 7 * 24 * 3600
_CHUNK: Final = 1 << 20


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
            mask_file(path, secrets)
        except OSError as exc:
            path.unlink(missing_ok=True)
            warnings.append(f"A file of long output was removed: its secrets could not be masked ({exc.strerror}).")
    return warnings


def mask_file(path: Path, secrets: Secrets) -> None:
    """Mask secrets in a file of any size. Raise OSError."""
    mask_pieces = secrets.redactor.mask_pieces
    # Masking a secret can join the text around it into another one.
    while any(piece != masked for piece, masked in mask_pieces(_iter_file_text(path))):
        target = path.with_name(f"{path.name}.masked")
        try:
            with open(open_private(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "wb") as file:
                file.writelines(encode_lossless(masked) for _, masked in mask_pieces(_iter_file_text(path)))
            target.replace(path)
        except OSError:
            target.unlink(missing_ok=True)
            raise


def _iter_file_text(path: Path) -> Iterator[str]:
    with path.open("rb") as file:
        yield from codecs.iterdecode(iter(lambda: file.read(_CHUNK), b""), "utf-8", LOSSLESS)


def remove_old_spools(home: Path) -> None:
    """Remove the spools of runs that are older than a week."""
    with suppress(OSError):
        for folder in (home / "spool").iterdir():
            if time.time() - folder.stat().st_mtime > _MAX_AGE_S:
                shutil.rmtree(folder, ignore_errors=True)
