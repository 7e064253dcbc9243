"""The frame of a bundle: the page for people, the metadata for programs after RO-Crate 1.1, and the digests."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Final
from urllib.parse import quote

from uraniborg.bundle.pieces import BundleFile, Plain, make_text_file
from uraniborg.kernel.version import version

CRATE: Final = "ro-crate-metadata.json"
DIGESTS: Final = "SHA256SUMS"
README: Final = "README.md"
PROFILE: Final = "https://w3id.org/ro/crate/1.1"
LICENSE: Final = "No licence is stated. Papers and catalogues that are named keep the licences of their owners."
_ABOUT_CRATE: Final = "the same list for programs, as RO-Crate"
_ABOUT_DIGESTS: Final = "the SHA-256 digest of every other file"
_PROGRAM: Final = "#uraniborg"
_EXPORT: Final = "#export"
_TYPES: Final = {
    ".md": "text/markdown",
    ".json": "application/json",
    ".jsonl": "application/jsonl",
    ".svg": "image/svg+xml",
    ".bib": "application/x-bibtex",
    ".ris": "application/x-research-info-systems",
    ".csv": "text/csv",
    ".py": "text/x-python",
}


def add_frame(files: Sequence[BundleFile], *, title: str, date: str, steps: Sequence[str] = ()) -> list[BundleFile]:
    """Return the files with a page that lists them, the metadata and the digests.

    `date` is the day of the newest work, as ISO 8601. `steps` are lines of the page about repeating the work.
    """
    page = make_text_file(README, "this page", _write_readme(files, title, steps))
    every = [page, *files]
    every.append(make_text_file(CRATE, _ABOUT_CRATE, _write_metadata(every, title, date)))
    digests = "".join(f"{hashlib.sha256(one.content).hexdigest()}  {one.path}\n" for one in every)
    return [*every, make_text_file(DIGESTS, _ABOUT_DIGESTS, digests)]


def make_entity_id(path: str) -> str:
    """Return the id of a file in the metadata: its path as a relative URI."""
    return quote(path)


def _write_readme(files: Sequence[BundleFile], title: str, steps: Sequence[str]) -> str:
    lines = [
        f"# {title}",
        "",
        f"Written by Uraniborg {version()}.",
        "",
        "| file | what it is |",
        "|---|---|",
        *(f"| `{one.path}` | {_escape_cell(one.description)} |" for one in files),
        f"| `{CRATE}` | {_ABOUT_CRATE} |",
        f"| `{DIGESTS}` | {_ABOUT_DIGESTS} |",
        "",
        "## Check it",
        "",
        "The first line checks that the files are those that were exported. The second also repeats what can be",
        "repeated: N-body runs within their error, pure workflow nodes, command logs, and the counts of searches.",
        "",
        "```sh",
        f"sha256sum --check {DIGESTS}",
        "uraniborg verify .",
        "```",
        *steps,
        "",
    ]
    return "\n".join(lines)


def _escape_cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _write_metadata(files: Sequence[BundleFile], title: str, date: str) -> str:
    """Return the metadata after RO-Crate 1.1: the descriptor, the root, every file, and the program that wrote them."""
    parts = [{"@id": make_entity_id(one.path)} for one in files]
    program: Plain = {"@id": _PROGRAM, "@type": "SoftwareApplication", "name": "Uraniborg", "version": version()}
    graph: list[Plain] = [
        {
            "@id": CRATE,
            "@type": "CreativeWork",
            "about": {"@id": "./"},
            "conformsTo": {"@id": PROFILE},
        },
        {
            "@id": "./",
            "@type": "Dataset",
            "name": title,
            "description": f"{title} The record of the work: every file is described and has a digest.",
            "datePublished": date,
            "license": LICENSE,
            "hasPart": parts,
            "mentions": {"@id": _EXPORT},
        },
        {
            "@id": _EXPORT,
            "@type": "CreateAction",
            "name": "uraniborg export",
            "instrument": {"@id": _PROGRAM},
            "result": {"@id": "./"},
        },
        program,
        *(_describe_file(one) for one in files),
    ]
    return json.dumps({"@context": f"{PROFILE}/context", "@graph": graph}, ensure_ascii=False, indent=1) + "\n"


def _describe_file(one: BundleFile) -> Plain:
    path = PurePosixPath(one.path)
    return {
        "@id": make_entity_id(one.path),
        "@type": "File",
        "name": path.name,
        "description": one.description,
        "encodingFormat": _TYPES.get(path.suffix, "text/plain"),
        "contentSize": str(len(one.content)),
        "sha256": hashlib.sha256(one.content).hexdigest(),
    }
