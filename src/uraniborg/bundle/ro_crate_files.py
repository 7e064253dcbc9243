"""Describe a bundle as RO-Crate 1.1: a page for people, metadata for programs, and digests."""

from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Final
from urllib.parse import quote

from uraniborg.bundle.pieces import BundleFile, BundlePiece, ListedFile, list_file, make_json_file, make_text_file
from uraniborg.kernel.json_values import Json, JsonObject
from uraniborg.kernel.version import version

CRATE: Final = "ro-crate-metadata.json"
DIGESTS: Final = "SHA256SUMS"
README: Final = "README.md"
SIGNATURE: Final = "signature.json"
METHODS: Final = "methods.md"
SCHEMA: Final = "2"
"""The form of a bundle. Raise it with every change of a file that an export makes: `verify` compares each byte, and
refers to the program that wrote a bundle of another form."""
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
    listed = list(map(list_file, files))
    page = make_page(listed, title=title, steps=steps, program=version())
    metadata = make_metadata([list_file(page), *listed], title=title, date=date, program=version())
    every = [page, *files, metadata]
    digests = "".join(f"{one.digest}  {one.path}\n" for one in map(list_file, every))
    return [*every, make_text_file(DIGESTS, _ABOUT_DIGESTS, digests)]


def make_methods_file(title: str, pieces: Sequence[BundlePiece]) -> BundleFile:
    """Return the methods: one paragraph, in which no sentence is repeated."""
    sentences = dict.fromkeys(sentence for piece in pieces for sentence in piece.sentences)
    text = f"# Methods\n\n{title}\n\n{' '.join(sentences)}\n"
    return make_text_file(METHODS, "how the results were found, made from what was done", text)


def find_newest_day(pieces: Sequence[BundlePiece]) -> str | None:
    """Return the day of the newest work; None if no piece has a time."""
    return max((time[:10] for piece in pieces for time in piece.times), default=None)


def make_entity_id(path: str) -> str:
    """Return the id of a file in the metadata: its path as a relative URI."""
    return quote(path)


def make_page(files: Sequence[ListedFile], *, title: str, steps: Sequence[str], program: str) -> BundleFile:
    lines = [
        f"# {title}",
        "",
        f"Written by Uraniborg {program}.",
        "",
        "| file | what it is |",
        "|---|---|",
        *(f"| `{one.path}` | {_escape_cell(one.description)} |" for one in files),
        f"| `{CRATE}` | {_ABOUT_CRATE} |",
        f"| `{DIGESTS}` | {_ABOUT_DIGESTS} |",
        "",
        "## Check it",
        "",
        "The first line checks that the files fit the list of digests. The second makes every file again from the",
        "records in the bundle, repeats N-body runs and pure workflow nodes, and names what it cannot check. It exits",
        "with 0 if all matched, with 6 if nothing differs and some was not checked, and with 1 if something differs.",
        "",
        "```sh",
        f"sha256sum --check {DIGESTS}",
        "uraniborg verify .",
        "```",
        *steps,
        "",
    ]
    return make_text_file(README, "this page", "\n".join(lines))


def _escape_cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def make_metadata(files: Sequence[ListedFile], *, title: str, date: str, program: str) -> BundleFile:
    """Return the metadata after RO-Crate 1.1: the descriptor, the root, every file, and the program that wrote them."""
    parts: list[Json] = [{"@id": make_entity_id(one.path)} for one in files]
    software: JsonObject = {"@id": _PROGRAM, "@type": "SoftwareApplication", "name": "Uraniborg", "version": program}
    graph: list[JsonObject] = [
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
            "schemaVersion": SCHEMA,
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
        software,
        *(_describe_file(one) for one in files),
    ]
    return make_json_file(CRATE, _ABOUT_CRATE, {"@context": f"{PROFILE}/context", "@graph": graph})


def _describe_file(one: ListedFile) -> JsonObject:
    path = PurePosixPath(one.path)
    return {
        "@id": make_entity_id(one.path),
        "@type": "File",
        "name": path.name,
        "description": one.description,
        "encodingFormat": _TYPES.get(path.suffix, "text/plain"),
        "contentSize": str(one.size),
        "sha256": one.digest,
    }
