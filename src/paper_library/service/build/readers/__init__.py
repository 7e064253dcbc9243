"""Read each kind of file that a shelf can be built from."""

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import cast

from paper_library.domain.entries import BuildProblem, Entry, Reader


def _make_lazy_reader(module: str, function: str = "read_entries") -> Reader:
    """Return a reader whose module is imported when it is first used."""

    def read(path: Path, origin: str) -> Iterator[Entry | BuildProblem]:
        reader = cast("Reader", getattr(import_module(f"{__name__}.{module}"), function))
        yield from reader(path, origin)

    return read


_BIBTEX, _RIS, _MARKDOWN, _JATS, _PDF = map(_make_lazy_reader, ("bibtex", "ris", "markdown_files", "jats", "pdf"))
_JSON, _JSON_LINES = (
    _make_lazy_reader("json_papers", "read_json_file"),
    _make_lazy_reader("json_papers", "read_json_lines_file"),
)

READERS: dict[str, Reader] = {
    **dict.fromkeys((".bib", ".bibtex", ".biblatex"), _BIBTEX),
    ".ris": _RIS,
    **dict.fromkeys((".json", ".json.gz", ".csljson"), _JSON),
    **dict.fromkeys((".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz"), _JSON_LINES),
    **dict.fromkeys((".md", ".markdown"), _MARKDOWN),
    **dict.fromkeys((".xml", ".nxml", ".jats"), _JATS),
    ".pdf": _PDF,
}
"""By lower-case suffix; one that has two parts goes before one that has one."""


def find_reader(path: Path) -> Reader | None:
    """Return the reader for a file by its name, or None if shelves are not built from such files."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    return READERS.get("".join(suffixes[-2:])) or READERS.get("".join(suffixes[-1:]))
