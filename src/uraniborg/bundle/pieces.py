"""Pieces of a bundle: files with descriptions, the sentences of the methods about them, and their times."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from uraniborg.kernel.language.messages import plural

_NOT_IN_NAME: Final = re.compile(r"[^A-Za-z0-9_.-]+")
_MAX_NAME: Final = 80


class BundleFile(NamedTuple):
    """A file of a bundle."""

    path: str
    """Relative to the bundle, with slashes."""
    description: str
    content: bytes


class ListedFile(NamedTuple):
    """A file as the page and the metadata of a bundle list it."""

    path: str
    description: str
    size: int
    digest: str


def list_file(file: BundleFile) -> ListedFile:
    return ListedFile(file.path, file.description, len(file.content), hashlib.sha256(file.content).hexdigest())


@dataclass(frozen=True)
class BundlePiece:
    """What a bundle has of one search, shelf, run, universe or measurement."""

    files: list[BundleFile]
    sentences: list[str] = field(default_factory=list[str])
    """How it was made, for the methods."""
    times: list[str] = field(default_factory=list[str])
    """When it was made, as ISO 8601."""


class Chosen(NamedTuple):
    """Something to export: its id, and the name of its folder or file in the bundle; the id by default."""

    id: str
    name: str = ""


def make_title(counts: Mapping[str, int]) -> str:
    """Return the title of a bundle that nobody named, such as: Export of 1 search and 2 universes."""
    singular = {"searches": "search", "shelves": "shelf"}
    listed = [plural(count, singular.get(name, name[:-1]), name) for name, count in counts.items() if count]
    return f"Export of {', '.join(listed[:-1])}{' and ' if len(listed) > 1 else ''}{''.join(listed[-1:])}."


def make_names(chosen: Sequence[Chosen]) -> list[str]:
    """Return a safe file name for each: letters, digits, dots, hyphens and underscores; no two the same."""
    taken: set[str] = set()
    names: list[str] = []
    for one in chosen:
        stem = _NOT_IN_NAME.sub("-", one.name or one.id).strip(".-")[:_MAX_NAME] or "item"
        name, number = stem, 1
        while name.casefold() in taken:
            number += 1
            name = f"{stem}-{number}"
        taken.add(name.casefold())
        names.append(name)
    return names


def make_text_file(path: str, description: str, text: str) -> BundleFile:
    return BundleFile(path, description, text.encode())


def make_json_file(path: str, description: str, value: Any) -> BundleFile:
    return make_text_file(path, description, json.dumps(value, ensure_ascii=False, indent=1) + "\n")
