"""A script that flips many bits of an index in turn and prints the result of `verify|open SHELF` for each."""

import sys
from collections.abc import Iterator
from pathlib import Path

from paper_library.service.library import Library
from paper_library.store.verification import verify_shelf
from tests.paper_library.operations.shelves import flip_bit, replace_file
from uraniborg.kernel.errors import UraniborgError


def flip_bits(shelf: Path) -> Iterator[str]:
    for file in sorted((shelf / "index").iterdir()):
        before = file.read_bytes()
        for place in range(0, len(before), max(1, len(before) // 12)):
            flip_bit(file, place, place % 8)
            yield f"index/{file.name}"
            replace_file(file, before)


def verify_file(shelf: Path, name: str) -> str:
    return "found" if f"{name} has changed since the build" in verify_shelf(shelf).problems else "overlooked"


def open_shelf(shelf: Path) -> str:
    try:
        Library.open(shelf).search("star angles comets", facets=["author", "year"])
    except UraniborgError as error:
        return error.code
    return "opened"


if __name__ == "__main__":
    what, folder = sys.argv[1], Path(sys.argv[2])
    for name in flip_bits(folder):
        print(verify_file(folder, name) if what == "verify" else open_shelf(folder), flush=True)
