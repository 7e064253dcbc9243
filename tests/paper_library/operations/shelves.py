"""Small shelves for tests, and functions that damage a shelf."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from paper_library.domain.entries import BuildReport
from paper_library.service.build.builder import build_shelf
from paper_library.service.library import Library

Damage = Callable[[Path], None]

HOSTILE_TEXT: Final = """# Comets

A tail points away from the Sun <script>alert(1)</script>

<img src=x onerror="alert(2)">
"""


def write_text_file(path: Path, text: str) -> Path:
    """Write a text to a file, in folders that are created if needed, and return the path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def read_titles(shelf: Path) -> set[str]:
    """Return the titles of the papers of a shelf."""
    library = Library.open(shelf)
    try:
        return {hit["title"] for hit in library.search("", limit=100)["results"]}
    finally:
        library.close()


def write_bibliography(path: Path, *titles: str, **fields: str) -> Path:
    """Write a .bib file of papers with these titles and `fields`. Their keys are the titles without blanks."""
    more = "".join(f",\n  {name} = {{{value}}}" for name, value in fields.items())
    entries = (
        f"@article{{{''.join(title.split())},\n  title = {{{title}}},\n  author = {{Brahe, Tycho and Brahe, Sophie}},\n"
        f"  year = {{{1570 + number}}}{more}\n}}\n"
        for number, title in enumerate(titles)
    )
    path.write_text("\n".join(entries), encoding="utf-8")
    return path


def build_titled_shelf(shelf: Path, *titles: str, **fields: str) -> BuildReport:
    """Build a shelf of papers with these titles; replace an existing shelf."""
    source = shelf.with_name(f"{shelf.name}-input")
    source.mkdir(exist_ok=True)
    try:
        return build_shelf([write_bibliography(source / "papers.bib", *titles, **fields)], shelf)
    finally:
        shutil.rmtree(source)


def build_readable_shelf(shelf: Path, text: str = HOSTILE_TEXT) -> BuildReport:
    """Build a shelf of two papers from a bibliography and one, On comets, with its text."""
    source = shelf.with_name(f"{shelf.name}-input")
    source.mkdir()
    write_bibliography(
        source / "papers.bib", "On the new star", "Instruments of astronomy", abstract="Angles and lines."
    )
    (source / "comets.md").write_text(f"---\ntitle: On comets\nauthors: [Sophie Brahe]\n---\n{text}")
    try:
        return build_shelf([source], shelf)
    finally:
        shutil.rmtree(source)


def flip_bit(path: Path, place: int, bit: int = 0) -> None:
    """Flip one bit of a file."""
    content = bytearray(path.read_bytes())
    content[place % len(content)] ^= 1 << bit
    replace_file(path, bytes(content))


def replace_file(path: Path, content: bytes) -> None:
    """Replace a file that may be in use."""
    aside = path.with_name(f"{path.name}.aside")
    aside.write_bytes(content)
    aside.replace(path)


def list_file_stats(folder: Path) -> dict[str, tuple[int, int, int]]:
    """Return every path below a folder with the values that change when it is written."""
    return {
        path.relative_to(folder).as_posix(): ((found := path.lstat()).st_ino, found.st_mtime_ns, found.st_size)
        for path in folder.rglob("*")
    }


def rewrite_manifest(**facts: Any) -> Damage:
    """Return a function that changes fields of the manifest, and removes those that are `...`."""

    def harm(shelf: Path) -> None:
        manifest = shelf / "manifest.json"
        manifest_fields = {**json.loads(manifest.read_bytes()), **facts}
        manifest.write_text(json.dumps({name: value for name, value in manifest_fields.items() if value is not ...}))

    return harm


def _overwrite_file(name: str, content: bytes) -> Damage:
    def harm(shelf: Path) -> None:
        (shelf / name).write_bytes(content)

    return harm


def _truncate_file(name: str) -> Damage:
    return lambda shelf: _overwrite_file(name, (shelf / name).read_bytes()[:-20])(shelf)


def _swap_index(shelf: Path) -> None:
    other = shelf.with_name("other-shelf")
    build_titled_shelf(other, "One", "Two", "Three", "Four")
    shutil.rmtree(shelf / "index")
    (other / "index").rename(shelf / "index")
    shutil.rmtree(other)


def _remove_shelf(shelf: Path) -> None:
    shutil.rmtree(shelf)


def _replace_by_file(shelf: Path) -> None:
    shutil.rmtree(shelf)
    shelf.write_text("no folder")


def remove_database(shelf: Path) -> None:
    rewrite_manifest(files={})(shelf)
    (shelf / "shelf.db").unlink()


def _empty_shelf(shelf: Path) -> None:
    shutil.rmtree(shelf)
    shelf.mkdir()


DAMAGES: Final[dict[str, tuple[Damage, str]]] = {
    "missing": (_remove_shelf, "shelf_not_found"),
    "a file": (_replace_by_file, "shelf_not_found"),
    "an empty folder": (_empty_shelf, "shelf_not_found"),
    "without manifest": (lambda shelf: (shelf / "manifest.json").unlink(), "shelf_damaged"),
    "manifest cut off": (_truncate_file("manifest.json"), "shelf_damaged"),
    "manifest empty": (_overwrite_file("manifest.json", b""), "shelf_damaged"),
    "manifest not JSON": (_overwrite_file("manifest.json", b"\x00\xff\xfe"), "shelf_damaged"),
    "manifest a list": (_overwrite_file("manifest.json", b"[]"), "shelf_damaged"),
    "manifest without facts": (_overwrite_file("manifest.json", b"{}"), "shelf_damaged"),
    "manifest with more facts": (rewrite_manifest(colour="blue"), "shelf_damaged"),
    "manifest of no schema": (rewrite_manifest(schema_version="one"), "shelf_damaged"),
    "manifest of schema 0": (rewrite_manifest(schema_version=0), "shelf_damaged"),
    "manifest without a fact": (rewrite_manifest(build_id=...), "shelf_damaged"),
    "manifest with files in a list": (rewrite_manifest(files=["shelf.db"]), "shelf_damaged"),
    "manifest that forgets the database": (rewrite_manifest(files={}), "shelf_damaged"),
    "manifest of more papers": (rewrite_manifest(papers=4), "shelf_damaged"),
    "newer schema": (rewrite_manifest(schema_version=3), "shelf_too_new"),
    "newer schema with other facts": (rewrite_manifest(schema_version=99, build_id=..., bricks=[]), "shelf_too_new"),
    "without database": (lambda shelf: (shelf / "shelf.db").unlink(), "shelf_damaged"),
    "database cut off": (_truncate_file("shelf.db"), "shelf_damaged"),
    "database empty": (_overwrite_file("shelf.db", b""), "shelf_damaged"),
    "database no database": (_overwrite_file("shelf.db", b"not a database" * 100), "shelf_damaged"),
    "without index": (lambda shelf: shutil.rmtree(shelf / "index"), "shelf_damaged"),
    "without a file of the index": (lambda shelf: next((shelf / "index").glob("*.term")).unlink(), "shelf_damaged"),
    "index of another shelf": (_swap_index, "shelf_damaged"),
    "index description cut off": (_truncate_file("index/meta.json"), "shelf_damaged"),
}
"""Kinds of damage to a shelf, and the code of the error that opening it must give."""
