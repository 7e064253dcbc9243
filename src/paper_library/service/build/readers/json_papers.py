"""Read JSON: lists, lines and exports of papers, and CSL-JSON."""

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import orjson

from paper_library.domain.entries import BuildProblem, Entry
from paper_library.service.build.readers.json_fields import is_paper_like, make_entry
from paper_library.service.build.readers.texts_and_dates import (
    GZIP_ERRORS,
    UnreadableInput,
    decode_text,
    open_maybe_compressed,
    yield_file_errors_as_problems,
)
from uraniborg.kernel.boundary import parse_lenient_json

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import Json

MAX_LINE_BYTES = 16 << 20
"""A longer line of a .jsonl file is not a paper."""
MAX_DOCUMENT_BYTES = 512 << 20
"""A .json file is read as a whole; use a .jsonl file for larger collections."""
MAX_DECOMPRESSED_BYTES = 16 << 30
"""The limit of a .gz file, which can decompress without end."""
_LISTS = ("papers", "items", "references", "results", "entries")


@yield_file_errors_as_problems
def read_json_file(path: Path, origin: str) -> Iterator[Entry | BuildProblem]:
    """Yield the papers of a .json file: a list, an object that contains one, or one paper."""
    with open_maybe_compressed(path, origin) as file:
        data = _read_limited_bytes(file)
    try:
        document = _parse_json(data)
    except ValueError as error:
        # Lines of papers are often saved under this name.
        if _looks_like_json_lines(data):
            yield from _read_entries_of_lines(iter(data.splitlines()), origin)
            return
        yield BuildProblem(origin, "broken", f"The text is not JSON: {error}.")
        return
    yield from _read_entries_of_document(document, origin)


@yield_file_errors_as_problems
def read_json_lines_file(path: Path, origin: str) -> Iterator[Entry | BuildProblem]:
    """Yield the papers of a file with one JSON object per line, compressed or not."""
    with open_maybe_compressed(path, origin) as file:
        lines = _read_limited_lines(file)
        try:
            first = next(lines, b"")
            if first.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"["):
                file.seek(0)
                yield from _read_entries_of_document(_parse_json(_read_limited_bytes(file)), origin)
                return
            yield from _read_entries_of_lines(_chain_lines_without_bom(first, lines), origin)
        except ValueError as error:
            yield BuildProblem(origin, "broken", f"The text is not JSON: {error}.")
        except GZIP_ERRORS:
            yield BuildProblem(
                origin, "broken", "The file is damaged or incomplete: it cannot be decompressed. Download it again."
            )


def _parse_json(data: bytes) -> "Json":
    """Return JSON as Python values. Raise ValueError with a message for the user."""
    with suppress(orjson.JSONDecodeError):
        return orjson.loads(data)
    try:
        return parse_lenient_json(decode_text(data))
    except json.JSONDecodeError as error:
        raise ValueError(f"{error.msg} at line {error.lineno}, column {error.colno}") from None


def _read_entries_of_lines(lines: Iterator[bytes], origin: str) -> Iterator[Entry | BuildProblem]:
    found = False
    for number, line in enumerate(lines, 1):
        if line.isspace() or not line:
            continue
        found = True
        where = f"{origin}:{number}"
        if len(line) > MAX_LINE_BYTES:
            yield BuildProblem(
                where, "broken", f"The line is longer than {MAX_LINE_BYTES >> 20} MB. Write one paper per line."
            )
            continue
        try:
            value = _parse_json(line)
        except ValueError as error:
            yield BuildProblem(where, "broken", f"The text is not JSON: {error}.")
            continue
        yield _read_entry_of_item(value, where)
    if not found:
        yield BuildProblem(origin, "skipped", "The file is empty.")


def _read_entries_of_document(document: "Json", origin: str) -> Iterator[Entry | BuildProblem]:
    if isinstance(document, list):
        yield from _read_entries_of_list(document, origin, "")
        return
    if isinstance(document, dict):
        for name in _LISTS:
            if isinstance(items := document.get(name), list):
                template = document.get("template_tag")
                yield from _read_entries_of_list(items, origin, template if isinstance(template, str) else "")
                return
        if is_paper_like(document):
            yield _read_entry_of_item(document, origin)
            return
    yield BuildProblem(
        origin, "skipped", "The file is JSON, but contains neither papers nor CSL-JSON. A paper has at least a title."
    )


def _read_entries_of_list(items: "list[Json]", origin: str, template: str) -> Iterator[Entry | BuildProblem]:
    if not any(is_paper_like(item) for item in items):
        yield BuildProblem(origin, "skipped", "The file is a JSON list without papers. A paper has at least a title.")
        return
    for number, item in enumerate(items, 1):
        yield _read_entry_of_item(item, f"{origin}:{number}", template)


def _read_entry_of_item(item: "Json", where: str, template: str = "") -> Entry | BuildProblem:
    if not isinstance(item, dict):
        return BuildProblem(where, "broken", "The item is not a JSON object with the fields of a paper.")
    entry = make_entry(item, where, template)
    if entry.title or entry.abstract or entry.source:
        return entry
    return BuildProblem(where, "broken", "The item has no title, abstract or text. Add a title.")


def _read_limited_bytes(file: BinaryIO) -> bytes:
    try:
        data = file.read(MAX_DOCUMENT_BYTES + 1)
    except GZIP_ERRORS:
        raise UnreadableInput(
            "The file is damaged or incomplete: it cannot be decompressed. Download it again."
        ) from None
    if len(data) > MAX_DOCUMENT_BYTES:
        raise UnreadableInput(
            f"The file is larger than {MAX_DOCUMENT_BYTES >> 20} MB. Save it as .jsonl, one paper per line."
        )
    return data


def _read_limited_lines(file: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of a file; of a line that is too long only a beginning that is still too long."""
    total = 0
    while line := file.readline(MAX_LINE_BYTES + 1):
        total += len(line)
        if len(line) > MAX_LINE_BYTES:
            rest = line
            while rest and not rest.endswith(b"\n"):
                rest = file.readline(MAX_LINE_BYTES + 1)
                total += len(rest)
                if total > MAX_DECOMPRESSED_BYTES:
                    break
        if total > MAX_DECOMPRESSED_BYTES:
            raise UnreadableInput(
                f"The file decompresses to more than {MAX_DECOMPRESSED_BYTES >> 30} GB. The rest was not read."
            )
        yield line


def _chain_lines_without_bom(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    yield first.removeprefix(b"\xef\xbb\xbf")
    yield from rest


def _looks_like_json_lines(data: bytes) -> bool:
    first, _, rest = data.lstrip().partition(b"\n")
    try:
        return bool(rest.strip()) and isinstance(orjson.loads(first), dict)
    except orjson.JSONDecodeError:
        return False
