"""Files for tests, and the entries and problems that readers find in them."""

import os
from pathlib import Path
from typing import Any

import pytest

from paper_library.domain.entries import BuildProblem, Entry
from paper_library.service.build.readers import find_reader


def read_file(path: Path) -> list[Entry | BuildProblem]:
    reader = find_reader(path)
    assert reader is not None
    return list(reader(path, path.name))


def write_file(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def write_and_read(folder: Path, name: str, content: str | bytes) -> list[Entry | BuildProblem]:
    return read_file(write_file(folder, name, content))


def select_entries(found: list[Entry | BuildProblem]) -> list[Entry]:
    return [item for item in found if isinstance(item, Entry)]


def select_problems(found: list[Entry | BuildProblem]) -> list[BuildProblem]:
    return [item for item in found if isinstance(item, BuildProblem)]


def get_only_entry(found: list[Entry | BuildProblem]) -> Entry:
    assert len(found) == 1, found
    assert isinstance(found[0], Entry), found
    return found[0]


def get_only_problem(found: list[Entry | BuildProblem]) -> BuildProblem:
    assert len(found) == 1, found
    assert isinstance(found[0], BuildProblem), found
    return found[0]


def make_opening_fail(monkeypatch: pytest.MonkeyPatch, name: str, number: int) -> None:
    """Make opening any file called `name` fail with this error number."""
    real = os.open

    def refuse(path: Any, *args: Any, **kwargs: Any) -> int:
        if os.fsdecode(path).endswith(name):
            raise OSError(number, os.strerror(number), path)
        return real(path, *args, **kwargs)

    monkeypatch.setattr(os, "open", refuse)
