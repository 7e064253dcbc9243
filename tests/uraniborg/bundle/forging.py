"""The tools of a forger: changes of the files of a bundle, after which every digest, size and list is right again."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal
from urllib.parse import quote, unquote

import orjson

Kind = Literal["papers", "runs", "universe", "measurements", "story"]
Expected = Literal["differs", "unproven"]
"""`differs`: the bundle contradicts itself. `unproven`: it is coherent, and nothing in it can prove what is stated."""
Forge = Callable[[Path], Path | None]
"""Changes an unpacked bundle; returns the bundle to verify, None for the folder."""
CRATE: Final = "ro-crate-metadata.json"
DIGESTS: Final = "SHA256SUMS"


@dataclass(frozen=True)
class Forgery:
    """A lie that a bundle tells."""

    lie: str
    kind: Kind
    """The kind of bundle that the forgery changes."""
    names: tuple[str, ...]
    """A check that does not match names one of these files or values."""
    expected: Expected
    forge: Forge


FORGERIES: Final[list[Forgery]] = []


def tells(lie: str, kind: Kind, *names: str, expected: Expected = "differs") -> Callable[[Forge], Forge]:
    """Register a function that forges a bundle of this kind; the digests are written anew after it."""

    def register(forge: Forge) -> Forge:
        FORGERIES.append(Forgery(lie, kind, names, expected, forge))
        return forge

    return register


def tell_edits(
    kind: Kind, lies: Mapping[str, Mapping[str, Callable[[Any], object]]], *, expected: Expected = "differs"
) -> None:
    """Register forgeries that change the value in a JSON file, by its path."""
    for path, changes in lies.items():
        for lie, change in changes.items():
            tells(lie, kind, path, expected=expected)(partial(edit_json, path=path, change=change))


def tell_replacements(
    kind: Kind, lies: Mapping[str, Mapping[str, tuple[str, str]]], *, expected: Expected = "differs"
) -> None:
    """Register forgeries that replace an old text of a file by a new one, by its path."""
    for path, texts in lies.items():
        for lie, (old, new) in texts.items():
            tells(lie, kind, path, expected=expected)(partial(replace, path=path, old=old, new=new))


def replace(folder: Path, path: str, old: str, new: str, *, every: bool = False) -> None:
    """Replace a text of a file, which must be there."""
    text = (folder / path).read_text(encoding="utf-8")
    assert old in text, f"{old!r} is not in {path}"
    (folder / path).write_text(text.replace(old, new, -1 if every else 1), encoding="utf-8")


def edit_json(folder: Path, path: str, change: Callable[[Any], object]) -> None:
    """Change the value in a JSON file and write it as the export writes this file."""
    before = (folder / path).read_bytes()
    value = orjson.loads(before)
    write = next((one for one in _WRITERS if one(value) == before), _WRITERS[0])
    change(value)
    (folder / path).write_bytes(write(value))


def edit_lines(folder: Path, path: str, change: Callable[[list[Any]], object]) -> None:
    """Change the values in the lines of a JSON Lines file."""
    lines = [orjson.loads(line) for line in (folder / path).read_bytes().splitlines()]
    change(lines)
    (folder / path).write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))


def _write_indented(indent: int, end: str, *, is_ascii: bool) -> Callable[[Any], bytes]:
    return lambda value: (json.dumps(value, ensure_ascii=is_ascii, indent=indent) + end).encode()


_WRITERS: Final[tuple[Callable[[Any], bytes], ...]] = (
    *(
        _write_indented(indent, end, is_ascii=is_ascii)
        for indent in (1, 2)
        for end in ("\n", "")
        for is_ascii in (False, True)
    ),
    lambda value: orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE),
)


def find_node(run: Any, name: str) -> Any:
    """Return a node of a run."""
    return next(node for node in run["nodes"] if node["node"] == name)


def add_file(folder: Path, path: str, content: str, description: str) -> None:
    """Add a file that the page and the metadata list as the export would."""
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_text(content, encoding="utf-8")
    replace(folder, "README.md", f"| `{CRATE}` |", f"| `{path}` | {description} |\n| `{CRATE}` |")

    def list_file(crate: Any) -> None:
        entity = {"@id": quote(path), "@type": "File", "name": Path(path).name, "description": description}
        crate["@graph"].append({**entity, "encodingFormat": "text/plain", "contentSize": "0", "sha256": ""})
        _find_root(crate)["hasPart"].append({"@id": quote(path)})

    edit_json(folder, CRATE, list_file)


def remove_files(folder: Path, *paths: str) -> None:
    """Delete files and every line that lists them."""
    for path in paths:
        (folder / path).unlink()
    page = (folder / "README.md").read_text().splitlines(keepends=True)
    kept = [line for line in page if not any(line.startswith(f"| `{path}` |") for path in paths)]
    (folder / "README.md").write_text("".join(kept))

    def forget(crate: Any) -> None:
        gone = {quote(path) for path in paths}
        crate["@graph"] = [one for one in crate["@graph"] if one["@id"] not in gone]
        root = _find_root(crate)
        root["hasPart"] = [one for one in root["hasPart"] if one["@id"] not in gone]

    edit_json(folder, CRATE, forget)


def _find_root(crate: Any) -> Any:
    return next(one for one in crate["@graph"] if one["@id"] == "./")


def edit_root(folder: Path, **values: object) -> None:
    """Change properties of the root of the metadata."""
    edit_json(folder, CRATE, lambda crate: _find_root(crate).update(values))


def reseal(folder: Path) -> None:
    """Write every size and digest that the format holds anew, so that only the content can betray a change."""

    def measure(crate: Any) -> None:
        for one in crate["@graph"]:
            if "sha256" in one and (file := folder / unquote(one["@id"])).is_file():
                one["sha256"] = _digest(file)
                one["contentSize"] = str(file.stat().st_size)

    edit_json(folder, CRATE, measure)
    known = [line.partition("  ")[2] for line in (folder / DIGESTS).read_text().splitlines()]
    paths = [path for path in known if (folder / path).is_file()]
    paths += [path for path in list_paths(folder) if path not in {*known, DIGESTS}]
    (folder / DIGESTS).write_text("".join(f"{_digest(folder / path)}  {path}\n" for path in paths))


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def list_paths(folder: Path) -> Iterator[str]:
    """Yield the paths of all files."""
    yield from sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
