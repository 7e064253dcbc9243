"""Files opened as text, whatever they were saved as, and the errors of the disk told as problems."""

import codecs
import errno
import functools
import gzip
import io
import stat
import zlib
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from paper_library.build.entry import Entry, Problem, Reader

MAX_TEXT_BYTES = 1 << 30
"""Larger text files are refused: they are no bibliography."""
_BYTE_ORDER_MARKS = (
    # UTF-32 first: its mark begins like that of UTF-16.
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (codecs.BOM_UTF8, "utf-8-sig"),
)
_OLD_BYTES = "uraniborg.windows-1252"


class Unreadable(OSError):
    """A file cannot be read as what it claims to be, for a reason that is a sentence for people."""

    def __init__(self, sentence: str) -> None:
        # A kind of `OSError`, so that who reads a file has one thing to catch.
        super().__init__(errno.EIO, sentence)
        self.sentence = sentence


def tells_disk_errors(reader: Reader) -> Reader:
    """The reader, with errors of the disk and of whole files as problems instead of exceptions."""

    @functools.wraps(reader)
    def read(path: Path, origin: str) -> Iterator[Entry | Problem]:
        try:
            yield from reader(path, origin)
        except Unreadable as error:
            yield Problem(origin, "broken", error.sentence)
        except OSError as error:
            yield Problem(
                origin, "broken", f"It cannot be read: {error.strerror or 'the disk failed'}. Check the file."
            )

    return read


def read_bytes(path: Path, limit: int = MAX_TEXT_BYTES) -> bytes:
    """The bytes of a regular file. Raises `Unreadable` beyond the limit, and `OSError`."""
    with open_bytes(path) as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise Unreadable(f"It is larger than {limit >> 20} MB. Split it into smaller files.")
    return data


def open_bytes(path: Path) -> BinaryIO:
    """A regular file, opened. Raises `Unreadable` for a pipe, which would keep a build waiting, and `OSError`."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise Unreadable("It is not a regular file.")
    return path.open("rb")


def read_text(path: Path, limit: int = MAX_TEXT_BYTES) -> str:
    """The text of a file; see `decode_text`. Raises `Unreadable` beyond the limit, and `OSError`."""
    return decode_text(read_bytes(path, limit))


def decode_text(data: bytes) -> str:
    """Bytes as text: by their byte order mark, else UTF-8, and byte for byte Windows-1252 where it is not UTF-8."""
    return data.decode(_encoding(data), _OLD_BYTES)


def text_lines(path: Path) -> Iterator[str]:
    """The lines of a text file with their ends (all made `\\n`), one at a time, decoded as `decode_text` does."""
    if path.stat().st_size > MAX_TEXT_BYTES:
        raise Unreadable(f"It is larger than {MAX_TEXT_BYTES >> 20} MB. Split it into smaller files.")
    with open_bytes(path) as file:
        encoding = _encoding(file.read(4))
        file.seek(0)
        with io.TextIOWrapper(file, encoding=encoding, errors=_OLD_BYTES) as text:
            yield from text


@contextmanager
def open_maybe_gzipped(path: Path) -> Generator[BinaryIO]:
    """A file, decompressed on the way when its name ends in `.gz`. Raises `OSError`, `Unreadable`."""
    with open_bytes(path) as file:
        if path.suffix.lower() != ".gz":
            yield file
            return
        with gzip.open(file) as decompressed:
            yield cast("BinaryIO", decompressed)


GZIP_ERRORS = (EOFError, zlib.error, gzip.BadGzipFile)
"""What reading a damaged .gz raises."""


def _encoding(start: bytes) -> str:
    return next((encoding for mark, encoding in _BYTE_ORDER_MARKS if start.startswith(mark)), "utf-8")


def _as_windows_1252(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    if not error.encoding.lower().startswith("utf-8"):
        return "\ufffd", error.end
    wrong = error.object[error.start : error.end]
    # Five bytes mean nothing in Windows-1252; Latin-1 gives them their control characters.
    return "".join(bytes([byte]).decode("cp1252", "ignore") or chr(byte) for byte in wrong), error.end


codecs.register_error(_OLD_BYTES, _as_windows_1252)
