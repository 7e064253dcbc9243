"""Forgeries of the container: what the files, the lists and the zip file itself say, after the digests are right."""

import hashlib
import stat
import warnings
import zipfile
from pathlib import Path
from typing import Any, Final

from tests.uraniborg.bundle.forging import CRATE, DIGESTS, add_file, edit_json, list_paths, replace, reseal, tells

TOP: Final = "bundle"
OTHER_METHODS: Final = b"# Methods\n\nMeasured by a large telescope.\n"


def pack(folder: Path, *more: tuple[zipfile.ZipInfo, bytes], skip: str = "") -> Path:
    """Seal the bundle and write it as a zip file, with more entries at its end."""
    reseal(folder)
    target = folder.with_suffix(".zip")
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in list_paths(folder):
            if path != skip:
                archive.write(folder / path, f"{TOP}/{path}")
        for entry, content in more:
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED)
    return target


def name_entry(path: str) -> zipfile.ZipInfo:
    return zipfile.ZipInfo(f"{TOP}/{path}")


@tells("a path listed twice with two digests", "universe", DIGESTS, "methods.md")
def _(folder: Path) -> Path:
    reseal(folder)
    (folder / DIGESTS).write_text(f"{'0' * 64}  methods.md\n{(folder / DIGESTS).read_text()}")
    return folder


@tells("another size in the metadata", "universe", CRATE)
def _(folder: Path) -> Path:
    reseal(folder)
    text = (folder / CRATE).read_text()
    size = str((folder / "methods.md").stat().st_size)
    (folder / CRATE).write_text(text.replace(f'"contentSize": "{size}"', '"contentSize": "1"'))
    write_digest(folder, CRATE)
    return folder


def write_digest(folder: Path, path: str) -> None:
    """Write the digest of one file anew, and leave the metadata as it is."""
    lines = [line for line in (folder / DIGESTS).read_text().splitlines() if not line.endswith(f"  {path}")]
    lines.append(f"{hashlib.sha256((folder / path).read_bytes()).hexdigest()}  {path}")
    (folder / DIGESTS).write_text("".join(f"{line}\n" for line in lines))


@tells("a file without a digest in the metadata", "universe", CRATE)
def _(folder: Path) -> Path:
    reseal(folder)
    edit_json(folder, CRATE, lambda crate: [one.pop("sha256", None) for one in crate["@graph"]])
    write_digest(folder, CRATE)
    return folder


@tells("a file that leaves the bundle", "universe", "methods.md")
def _(folder: Path) -> Path:
    return pack(folder, (name_entry("../methods.md"), b"# Methods\n"))


@tells("a file of the computer", "universe", "/etc/passwd")
def _(folder: Path) -> Path:
    return pack(folder, (zipfile.ZipInfo("/etc/passwd"), b"root::0:0::/:/bin/sh\n"))


@tells("a link to a file of the computer", "universe", "methods.md")
def _(folder: Path) -> Path:
    link = name_entry("methods.md")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    return pack(folder, (link, b"/etc/passwd"), skip="methods.md")


@tells("a link among the files of a folder", "universe", "methods.md")
def _(folder: Path) -> Path:
    reseal(folder)
    moved = folder.with_suffix(".md")
    (folder / "methods.md").rename(moved)
    (folder / "methods.md").symlink_to(moved)
    return folder


@tells("two entries with one name", "universe", "methods.md")
def _(folder: Path) -> Path:
    with warnings.catch_warnings(action="ignore"):
        return pack(folder, (name_entry("methods.md"), OTHER_METHODS))


@tells("two entries whose names differ in capitals", "universe", "METHODS.MD")
def _(folder: Path) -> Path:
    return pack(folder, (name_entry("METHODS.MD"), OTHER_METHODS))


@tells("two entries whose names differ in how an accent is composed", "universe", "sum", expected="unproven")
def _(folder: Path) -> Path:
    add_file(folder, "r\u00e9sum\u00e9.md", "Accept.\n", "the review")
    add_file(folder, "re\u0301sume\u0301.md", "Reject.\n", "the review")
    return pack(folder)


@tells("an entry that unpacks to a thousand times its size", "universe", "zeros")
def _(folder: Path) -> Path:
    return pack(folder, (name_entry("zeros"), bytes(64_000_000)))


@tells("an entry whose own header has another name than the list of the zip file", "universe", "methods.md")
def _(folder: Path) -> Path:
    target = pack(folder)
    content = target.read_bytes()
    target.write_bytes(content.replace(b"bundle/methods.md", b"bundle/results.md", 1))
    return target


@tells("a program before the zip file", "universe", "bundle.zip", "files", expected="unproven")
def _(folder: Path) -> Path:
    target = pack(folder)
    target.write_bytes(b"#!/bin/sh\necho verified\nexit\n" + target.read_bytes())
    return target


@tells("a file that is only in the zip file as a folder", "universe", "methods.md")
def _(folder: Path) -> Path:
    return pack(folder, (name_entry("methods.md/"), b""), skip="methods.md")


@tells("a line of the list of digests with another kind of line end", "universe", DIGESTS, "results.md")
def _(folder: Path) -> Path:
    reseal(folder)
    replace(folder, DIGESTS, "methods.md\n", "methods.md\u2028" + "0" * 64 + "  results.md\n")
    return folder


@tells("a key twice in the metadata, first with another day", "universe", CRATE)
def _(folder: Path) -> Path:
    reseal(folder)
    replace(folder, CRATE, '"datePublished": ', '"datePublished": "2020-01-01",\n   "datePublished": ')
    write_digest(folder, CRATE)
    return folder


@tells("an entity twice in the metadata, first with another description", "universe", CRATE)
def _(folder: Path) -> Path:
    reseal(folder)

    def change(crate: Any) -> None:
        crate["@graph"].insert(0, {"@id": "methods.md", "@type": "File", "description": "reviewed by three teams"})

    edit_json(folder, CRATE, change)
    write_digest(folder, CRATE)
    return folder
