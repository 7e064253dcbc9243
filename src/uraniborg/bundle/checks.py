"""The result of a check, and the checks of a bundle's frame: its digests and its RO-Crate metadata."""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal, cast
from urllib.parse import unquote

from uraniborg.bundle.crate import CRATE, DIGESTS, SIGNATURE, make_entity_id
from uraniborg.bundle.reader import MOST_FILES, Bundle, Unreadable
from uraniborg.kernel.logging import make_printable
from uraniborg.kernel.text import plural

Result = Literal["matched", "differs", "not repeated", "not checked"]
"""`not repeated`: a computation that was not done again. `not checked`: something that only the bundle states."""
_LINE: Final = re.compile(r"([0-9a-f]{64})  (.+)")
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}(?:T.*)?")
_MOST_DIGEST_BYTES: Final = 20_000_000
_PROFILES: Final = "https://w3id.org/ro/crate/"


@dataclass(frozen=True)
class Check:
    """What a check found about a file or folder of the bundle."""

    item: str
    result: Result
    detail: str


def check_digests(bundle: Bundle) -> Iterator[Check]:
    """Yield a check for each file that is missing, changed or not listed, and one for the others."""
    try:
        lines = _read_digest_lines(bundle)
    except (Unreadable, UnicodeDecodeError) as exc:
        yield Check(DIGESTS, "differs", str(exc) if isinstance(exc, Unreadable) else "is not text")
        return
    listed: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        if found := _LINE.fullmatch(line):
            if found[2] in listed:
                yield Check(DIGESTS, "differs", f"line {number} lists '{make_printable(found[2])}' again")
            listed[found[2]] = found[1]
        else:
            yield Check(DIGESTS, "differs", f"line {number} is not a digest with a path")
    matched = 0
    for path, digest in listed.items():
        problem = _compare_digest(bundle, path, digest)
        if problem:
            yield Check(make_printable(path), "differs", problem)
        else:
            matched += 1
    for path in bundle.paths:
        if path not in listed and path not in (DIGESTS, SIGNATURE):
            yield Check(make_printable(path), "differs", f"is not listed in {DIGESTS}: it was added later")
    if matched:
        yield Check("files", "matched", f"{plural(matched, 'file has', 'files have')} the listed SHA-256 digest")


def _read_digest_lines(bundle: Bundle) -> list[str]:
    """Return the lines of the list of digests. Raise Unreadable or UnicodeDecodeError."""
    content = bundle.read(DIGESTS)
    lines = content.decode().splitlines() if len(content) <= _MOST_DIGEST_BYTES else []
    if len(content) > _MOST_DIGEST_BYTES or len(lines) > MOST_FILES:
        raise Unreadable(f"has more than {MOST_FILES:,} lines")
    return lines


def _compare_digest(bundle: Bundle, path: str, digest: str) -> str:
    """Return how a file differs from its digest; an empty text if it does not."""
    if not bundle.has(path):
        return "is missing"
    try:
        found = compute_digest(bundle, path)
    except Unreadable as exc:
        return str(exc)
    return "" if found == digest else f"was changed: its SHA-256 digest is {found[:12]}…, not {digest[:12]}…"


def compute_digest(bundle: Bundle, path: str) -> str:
    """Return the SHA-256 digest of a file. Raise Unreadable."""
    digest = hashlib.sha256()
    for block in bundle.iterate_blocks(path):
        digest.update(block)
    return digest.hexdigest()


def check_metadata(bundle: Bundle) -> Iterator[Check]:
    """Yield the violations of RO-Crate 1.1, and the differences between the metadata and the files."""
    try:
        problems = list(list_metadata_problems(bundle.read_object(CRATE), bundle))
    except Unreadable as exc:
        problems = [str(exc)]
    yield from (Check(CRATE, "differs", problem) for problem in problems)
    if not problems:
        yield Check(CRATE, "matched", "the metadata follows RO-Crate 1.1 and describes every file")


def list_metadata_problems(metadata: dict[str, Any], bundle: Bundle) -> Iterator[str]:
    """Yield what violates the rules of RO-Crate 1.1 for a descriptor, a root and files, or is untrue of the bundle."""
    graph: Any = metadata.get("@graph")
    if not isinstance(graph, list) or not all(
        isinstance(one, dict) and isinstance(one.get("@id"), str)  # pyright: ignore[reportUnknownMemberType]
        for one in cast("list[Any]", graph)
    ):
        yield "@graph is not a list of entities, each with an @id"
        return
    entities = {str(one["@id"]): cast("dict[str, Any]", one) for one in cast("list[Any]", graph)}
    if len(entities) < len(cast("list[Any]", graph)):
        yield "two entities have the same @id"
    if "@context" not in metadata:
        yield "@context is missing"
    descriptor = entities.get(CRATE)
    if descriptor is None or not _has_type(descriptor, "CreativeWork"):
        yield f"the descriptor {CRATE} of the type CreativeWork is missing"
        return
    if not str(_get_id(descriptor.get("conformsTo"))).startswith(_PROFILES):
        yield f"the descriptor does not conform to {_PROFILES}…"
    root = entities.get(str(_get_id(descriptor.get("about"))))
    if root is None or not _has_type(root, "Dataset") or not str(root["@id"]).endswith("/"):
        yield "the descriptor is not about a root of the type Dataset whose @id ends in /"
        return
    yield from _list_root_problems(root)
    parts = {_get_id(one) for one in _as_list(root.get("hasPart"))}
    for path in bundle.paths:
        if path in (CRATE, DIGESTS, SIGNATURE):
            continue
        entity = entities.get(make_entity_id(path))
        if entity is None or not _has_type(entity, "File"):
            yield f"'{make_printable(path)}' is not described as a File"
        elif make_entity_id(path) not in parts:
            yield f"'{make_printable(path)}' is not a part of the root"
    for path, entity in entities.items():
        if _has_type(entity, "File"):
            yield from _list_file_problems(unquote(path), entity, bundle)


def _list_root_problems(root: dict[str, Any]) -> Iterator[str]:
    for name in ("name", "description", "license"):
        if not root.get(name):
            yield f"the root has no {name}"
    if not _DATE.fullmatch(str(root.get("datePublished"))):
        yield "datePublished of the root is not a date such as 2026-01-31"


def _list_file_problems(path: str, entity: dict[str, Any], bundle: Bundle) -> Iterator[str]:
    shown = make_printable(path)
    if not bundle.has(path):
        yield f"'{shown}' is described and missing"
        return
    try:
        if "sha256" in entity and compute_digest(bundle, path) != entity["sha256"]:
            yield f"'{shown}' has another SHA-256 digest than the metadata states"
    except Unreadable as exc:
        yield f"'{shown}' {exc}"


def _has_type(entity: dict[str, Any], name: str) -> bool:
    return name in _as_list(entity.get("@type"))


def _as_list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else [] if value is None else [value]


def _get_id(value: Any) -> Any:
    return cast("dict[str, Any]", value).get("@id") if isinstance(value, dict) else None
