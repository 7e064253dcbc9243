"""Read queries from the command line: words, or the text of a file or of stdin."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from uraniborg.kernel.errors import InvalidInput

_MOST_BYTES: Final = 1_000_000


def join_query_words(words: Sequence[str]) -> str:
    """Return the words as one query; `-` alone is the text of stdin."""
    return read_text("-") if list(words) == ["-"] else " ".join(words)


def read_text(file: str) -> str:
    """Return the text of a file, or of stdin for `-`. Raise InvalidInput if it cannot be read as UTF-8."""
    try:
        data = sys.stdin.buffer.read(_MOST_BYTES) if file == "-" else Path(file).read_bytes()[:_MOST_BYTES]
        return data.decode("utf-8-sig")
    except OSError as error:
        raise InvalidInput(f"{file} cannot be read: {error.strerror}.", hint="Name a file, or - for stdin.") from None
    except UnicodeDecodeError:
        raise InvalidInput(f"{file} is not text in UTF-8.", hint="Save it as UTF-8.") from None
