"""Prints what becomes of a shelf for each of many bits of its index that are flipped in turn: `verify|open SHELF`."""

import sys
from collections.abc import Iterator
from pathlib import Path

from paper_library.library import Library
from paper_library.store.verification import verify_shelf
from tests.paper_library.operations.shelves import flipped, put
from uraniborg.kernel.errors import UraniborgError


def flips(shelf: Path) -> Iterator[str]:
    for file in sorted((shelf / "index").iterdir()):
        before = file.read_bytes()
        for place in range(0, len(before), max(1, len(before) // 12)):
            flipped(file, place, place % 8)
            yield f"index/{file.name}"
            put(file, before)


def verified(shelf: Path, name: str) -> str:
    return "found" if f"{name} has changed since the build" in verify_shelf(shelf).problems else "overlooked"


def opened(shelf: Path) -> str:
    try:
        Library.open(shelf).search("star angles comets", facets=["author", "year"])
    except UraniborgError as error:
        return error.code
    return "opened"


if __name__ == "__main__":
    what, folder = sys.argv[1], Path(sys.argv[2])
    for name in flips(folder):
        print(verified(folder, name) if what == "verify" else opened(folder), flush=True)
