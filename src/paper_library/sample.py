"""The sample shelf: real papers in few words, built on first use so that there is something to look at."""

from pathlib import Path
from typing import Final

from paper_library.config import sample_shelf_path
from paper_library.store.verification import verify
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.files import locked, make_folder

SAMPLE_PAPERS: Final = Path(__file__).parent / "sample_papers"
SAMPLE_INPUTS: Final = tuple(SAMPLE_PAPERS / name for name in ("papers.bib", "texts", "data_sheets"))
"""The bibliography, the reader's guides and the data sheets."""


def sample_shelf(target: Path | None = None) -> Path:
    """Where the sample shelf is, in the data folder unless told otherwise. Builds it if it is not there."""
    path = target or sample_shelf_path()
    if not _is_there(path):
        from paper_library.build.builder import build_shelf  # most calls find it built

        make_folder(path.parent)
        with locked(path.parent / f".{path.name}.sample", timeout_s=60):
            if not _is_there(path):  # another process may have made it meanwhile
                build_shelf(SAMPLE_INPUTS, path, summaries=SAMPLE_PAPERS / "summaries")
    return path


def _is_there(path: Path) -> bool:
    try:
        return verify(path).is_whole
    except UraniborgError:
        return False
