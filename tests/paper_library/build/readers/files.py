"""Files for tests, and the entries and problems that readers find in them."""

import os
from pathlib import Path
from typing import Any

import pytest

from paper_library.build.entry import Entry, Problem
from paper_library.build.readers import find_reader


def read(path: Path) -> list[Entry | Problem]:
    reader = find_reader(path)
    assert reader is not None
    return list(reader(path, path.name))


def made(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def read_made(folder: Path, name: str, content: str | bytes) -> list[Entry | Problem]:
    return read(made(folder, name, content))


def entries(found: list[Entry | Problem]) -> list[Entry]:
    return [item for item in found if isinstance(item, Entry)]


def problems(found: list[Entry | Problem]) -> list[Problem]:
    return [item for item in found if isinstance(item, Problem)]


def only_entry(found: list[Entry | Problem]) -> Entry:
    assert len(found) == 1, found
    assert isinstance(found[0], Entry), found
    return found[0]


def only_problem(found: list[Entry | Problem]) -> Problem:
    assert len(found) == 1, found
    assert isinstance(found[0], Problem), found
    return found[0]


def fail_to_open(monkeypatch: pytest.MonkeyPatch, name: str, number: int) -> None:
    """Make opening any file called `name` fail with this error number."""
    real = os.open

    def refuse(path: Any, *args: Any, **kwargs: Any) -> int:
        if os.fsdecode(path).endswith(name):
            raise OSError(number, os.strerror(number), path)
        return real(path, *args, **kwargs)

    monkeypatch.setattr(os, "open", refuse)
