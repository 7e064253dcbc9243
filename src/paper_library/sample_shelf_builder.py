"""Build the sample shelf of real papers on first use."""

from pathlib import Path
from typing import Final

from paper_library.config import get_sample_shelf_path
from paper_library.store.verification import verify_shelf
from uraniborg.kernel.actors import Actor
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.files import hold_lock, make_folder

SAMPLE_PAPERS: Final = Path(__file__).parent / "sample_papers"
SAMPLE_INPUTS: Final = tuple(SAMPLE_PAPERS / name for name in ("papers.bib", "texts", "data_sheets"))
"""The bibliography, the reading guides and the data sheets."""


def sample_shelf(target: Path | None = None, actor: Actor | None = None) -> Path:
    """Return the folder of the sample shelf, by default in the data folder; build the shelf if needed.

    `actor` is who builds it, by default the program that runs this process.
    """
    path = target or get_sample_shelf_path()
    if not _has_intact_shelf(path):
        from paper_library.build.builder import build_shelf  # usually the shelf exists

        make_folder(path.parent)
        with hold_lock(path.parent / f".{path.name}.sample", timeout_s=60):
            if not _has_intact_shelf(path):  # another process may have built it meanwhile
                build_shelf(SAMPLE_INPUTS, path, summaries=SAMPLE_PAPERS / "summaries", actor=actor)
    return path


def _has_intact_shelf(path: Path) -> bool:
    try:
        return verify_shelf(path).is_intact
    except UraniborgError:
        return False
