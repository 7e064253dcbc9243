"""Store the PDFs among the inputs on the shelf, beside the texts read from them."""

from collections import Counter
from collections.abc import Sequence
from pathlib import PurePath
from typing import Final

from paper_library.build.input_files import InputFile
from paper_library.build.merge import Paper
from paper_library.build.old_shelf import OldShelf
from paper_library.limits import ASSET_BYTES
from paper_library.regular_files import open_regular_file

_SUFFIX: Final = ".pdf"
_SIGN: Final = b"%PDF-"
_SIGN_WITHIN: Final = 1_024
"""Readers accept bytes before the sign, as Acrobat does."""


class OriginalFiles:
    """The PDFs of a build: those of its inputs, and those of the shelf that it updates."""

    def __init__(self, files: Sequence[InputFile], old: OldShelf | None) -> None:
        counts = Counter(file.origin for file in files)
        # Of two files with one origin it is not known which one a paper comes from.
        self._files = {file.origin: file for file in files if _is_pdf(file.origin) and counts[file.origin] == 1}
        self._old = old

    def read_original(self, paper: Paper) -> bytes | None:
        """Return the PDF of a paper, or None if it has none, it cannot be read, or it is larger than ASSET_BYTES.

        A PDF that is not among the inputs any more is that of the old shelf.
        """
        origins = [origin for origin in paper.origins if _is_pdf(origin)]
        for origin in origins:
            if file := self._files.get(origin):
                return _read_pdf(file)
        if origins and self._old and (no := self._old.numbers.get(paper.paper_id)) is not None:
            return self._old.read_original(no)
        return None


def _is_pdf(origin: str) -> bool:
    return PurePath(origin).suffix.lower() == _SUFFIX


def _read_pdf(file: InputFile) -> bytes | None:
    try:
        with open_regular_file(file.real) as stream:
            content = stream.read(ASSET_BYTES + 1)
    except OSError:
        return None  # the reader of the text has reported it
    return content if _SIGN in content[:_SIGN_WITHIN] and len(content) <= ASSET_BYTES else None
