"""Read what all readers share: text in any encoding, titles from file names, dates, and the errors of one file."""

import codecs
import errno
import functools
import gzip
import io
import os
import re
import zlib
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from paper_library.domain.entries import BuildProblem, Entry, Reader
from paper_library.store.layout import NotRegular, open_regular_file
from uraniborg.kernel.bibliography.plain_text import clean_line
from uraniborg.kernel.errors import is_out_of_room

MAX_TEXT_BYTES = 1 << 30
"""Larger text files are refused: they are not bibliographies."""
PIECE_CHARS = 1 << 20
"""A longer line of a text file comes in pieces."""
_BYTE_ORDER_MARKS = (
    # UTF-32 first: its mark begins like that of UTF-16.
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (codecs.BOM_UTF8, "utf-8-sig"),
)
_OLD_BYTES = "uraniborg.windows-1252"


class UnreadableInput(OSError):
    """The error for a file that is not of the type that its name has; `sentence` is the reason for the user."""

    def __init__(self, sentence: str) -> None:
        # A subclass of OSError, so that callers catch one exception.
        super().__init__(errno.EIO, sentence)
        self.sentence = sentence


def yield_file_errors_as_problems(reader: Reader) -> Reader:
    """Return the reader with errors of one file as problems instead of exceptions.

    Errors that every other file would meet as well, such as a full disk, are raised.
    """

    @functools.wraps(reader)
    def read(path: Path, origin: str) -> Iterator[Entry | BuildProblem]:
        try:
            yield from reader(path, origin)
        except OSError as error:
            if is_out_of_room(error):
                raise
            yield BuildProblem(origin, "broken", describe_read_error(error))

    return read


def describe_read_error(error: OSError) -> str:
    """Return a sentence about a file that could not be read, without its path."""
    if isinstance(error, UnreadableInput):
        return error.sentence
    if isinstance(error, NotRegular):
        return "The path is not a regular file, but a folder, pipe, socket or device. Remove it from the inputs."
    if error.errno in (errno.ELOOP, errno.ENOTDIR):
        return "The file was replaced by a link during the build, which was not followed. Build again."
    return f"The file cannot be read: {error.strerror or 'the disk failed'}. Check the file."


def read_bytes(path: Path, limit: int = MAX_TEXT_BYTES) -> bytes:
    """Return the bytes of a regular file. Raise Unreadable beyond the limit, and OSError."""
    with open_regular_file(path) as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise _make_size_error(limit)
    return data


def read_text(path: Path, limit: int = MAX_TEXT_BYTES) -> str:
    """Return the text of a file; see `decode_text`. Raise Unreadable beyond the limit, and OSError."""
    return decode_text(read_bytes(path, limit))


def decode_text(data: bytes) -> str:
    """Return bytes as text: decoded by byte order mark, else as UTF-8, with invalid bytes as Windows-1252."""
    return data.decode(_detect_encoding(data), _OLD_BYTES)


def read_text_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a text file with uniform line ends, decoded as `decode_text` does.

    A line longer than `PIECE_CHARS` comes in pieces, of which the last has the end. Raise as `read_text` does.
    """
    with open_regular_file(path) as file:
        if os.fstat(file.fileno()).st_size > MAX_TEXT_BYTES:
            raise _make_size_error(MAX_TEXT_BYTES)
        encoding = _detect_encoding(file.read(4))
        file.seek(0)
        with io.TextIOWrapper(file, encoding=encoding, errors=_OLD_BYTES) as text:
            while piece := text.readline(PIECE_CHARS):
                yield piece


@contextmanager
def open_maybe_compressed(path: Path, name: str) -> Generator[BinaryIO]:
    """Open a file; decompress it if its name ends in `.gz`. Raise OSError and Unreadable."""
    with open_regular_file(path) as file:
        if not name.lower().endswith(".gz"):
            yield file
            return
        with gzip.open(file) as decompressed:
            yield cast("BinaryIO", decompressed)


GZIP_ERRORS = (EOFError, zlib.error, gzip.BadGzipFile)
"""The errors that reading a damaged .gz file raises."""


def _make_size_error(limit: int) -> UnreadableInput:
    return UnreadableInput(f"The file is larger than {limit >> 20} MB. Split it into smaller files.")


def _detect_encoding(start: bytes) -> str:
    return next((encoding for mark, encoding in _BYTE_ORDER_MARKS if start.startswith(mark)), "utf-8")


def _decode_invalid_bytes_as_windows_1252(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    if not error.encoding.lower().startswith("utf-8"):
        return "\ufffd", error.end
    wrong = error.object[error.start : error.end]
    # Five bytes mean nothing in Windows-1252; Latin-1 gives them their control characters.
    return "".join(bytes([byte]).decode("cp1252", "ignore") or chr(byte) for byte in wrong), error.end


codecs.register_error(_OLD_BYTES, _decode_invalid_bytes_as_windows_1252)


_SEPARATORS = re.compile(r"[_\s]+|(?<=[^\W\d])[-.](?=[^\W\d])|(?<=\d)-(?=[^\W\d])|(?<=[^\W\d])-(?=\d)")


def make_title_from_stem(stem: str) -> str:
    """Return `attention_is-all_you_need` as words; a name with blanks keeps its hyphens."""
    text = clean_line(stem)
    if " " not in text:
        text = " ".join(_SEPARATORS.sub(" ", text).split())
    return (text[:1].upper() + text[1:]) or "Untitled"


_MONTHS = {
    name: number
    for number, names in enumerate(
        ("jan", "feb", "mar mär maer", "apr", "may mai", "jun", "jul", "aug", "sep", "oct okt", "nov", "dec dez"), 1
    )
    for name in names.split()
}
_YEAR = re.compile(r"(?<!\d)(1[4-9]\d\d|2[01]\d\d)(?!\d)")
_NUMERIC = re.compile(r"(?<!\d)(1[4-9]\d\d|2[01]\d\d)[-/.](\d{1,2})(?!\d)")
_COMPACT = re.compile(r"(?<!\d)(1[4-9]\d\d|2[01]\d\d)(0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?!\d)")
_BACKWARDS = re.compile(r"(?<!\d)(?:(\d{1,2})[-/.])?(\d{1,2})[-/.](1[4-9]\d\d|2[01]\d\d)(?!\d)")
_WORD = re.compile(r"[^\W\d_]{3,}")
_LAST_YEAR = 2999


def parse_year_and_month(text: str) -> tuple[int | None, int | None]:
    """Return the year and the month of a date, each None if the date has none."""
    text = text.strip()
    if len(text) == 4 and text.isascii() and text.isdigit():
        return parse_year(text), None
    text = text[:200]
    if match := _NUMERIC.search(text) or _COMPACT.search(text):
        return int(match[1]), _get_valid_month(int(match[2]))
    if match := _BACKWARDS.search(text):
        # 03/14/2019 is American and 14/03/2019 is not; where both could be meant, the day comes first.
        first, second = int(match[1] or 0), int(match[2])
        return int(match[3]), _get_valid_month(second) or _get_valid_month(first)
    year = _YEAR.search(text)
    return (int(year[1]) if year else None), _find_named_month(text)


def parse_year(value: object) -> int | None:
    """Return a year given as a number or in a text, or None."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return int(value) if 0 < value <= _LAST_YEAR else None
    if not isinstance(value, str):
        return None
    text = value.strip()
    if text.isascii() and text.isdigit() and len(text) <= 4:
        return int(text) or None
    return parse_year_and_month(text)[0]


def parse_month(value: object) -> int | None:
    """Return a month given as a number (`3`, `"03"`) or by name (`mar`, `March`, `15 mars`), or None."""
    if isinstance(value, int) and not isinstance(value, bool):
        return _get_valid_month(value)
    if not isinstance(value, str):
        return None
    text = value.strip()
    if text.isascii() and text.isdigit():
        return _get_valid_month(int(text)) if len(text) <= 2 else None
    return _find_named_month(text[:200]) or parse_year_and_month(text)[1]


def _find_named_month(text: str) -> int | None:
    for word in _WORD.findall(text):
        if month := _MONTHS.get(word.lower()[:3]) or _MONTHS.get(word.lower()[:4]):
            return month
    return None


def _get_valid_month(number: int) -> int | None:
    return number if 1 <= number <= 12 else None
