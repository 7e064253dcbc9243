"""The sample shelf: real papers in few words, built on first use so that there is something to look at."""

from pathlib import Path
from typing import Final

from paper_library.config import sample_shelf_path
from paper_library.store.manifest import read_manifest
from uraniborg.kernel.errors import UraniborgError

SAMPLE_PAPERS: Final = Path(__file__).parent / "sample_papers"


def sample_shelf(target: Path | None = None) -> Path:
    """Where the sample shelf is, in the data folder unless told otherwise. Builds it if it is not there."""
    path = target or sample_shelf_path()
    if not _is_there(path):
        from paper_library.build.building import build_shelf  # most calls find it built

        build_shelf(
            [SAMPLE_PAPERS / "papers.bib", SAMPLE_PAPERS / "texts"], path, summaries=SAMPLE_PAPERS / "summaries"
        )
    return path


def _is_there(path: Path) -> bool:
    try:
        return read_manifest(path).papers > 0
    except UraniborgError:
        return False
