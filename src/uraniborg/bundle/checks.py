"""How a check of a bundle reports, and the checks of digests and RO-Crate metadata."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal, cast
from urllib.parse import unquote

from uraniborg.bundle.crate import CRATE, DIGESTS, SIGNATURE, make_entity_id
from uraniborg.bundle.reader import MOST_FILES, Bundle, Unreadable
from uraniborg.kernel.json_values import JsonObject
from uraniborg.kernel.logging import make_printable
from uraniborg.kernel.text import plural

Result = Literal["matched", "differs", "stated by the signer", "not repeated", "not checked"]
"""`not repeated`: a computation that was not done again. `not checked`: nothing in the bundle proves or refutes it."""
_LINE: Final = re.compile(r"([0-9a-f]{64})  (.+)")
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}(?:T.*)?")
_MOST_LIST_BYTES: Final = 20_000_000
_MOST_CHARACTERS: Final = 1_000
"""Of a line of the report."""
_PROFILES: Final = "https://w3id.org/ro/crate/"


@dataclass(frozen=True)
class Check:
    """What a check found about a file or folder of the bundle, as text that a terminal can show."""

    item: str
    result: Result
    detail: str
    is_statement: bool = False
    """True for facts that only their author can know, such as who did something, or how a processor rounded: a signer
    can vouch for them."""

    def __post_init__(self) -> None:
        for name, text in (("item", self.item), ("detail", self.detail)):
            object.__setattr__(self, name, make_printable(text[:_MOST_CHARACTERS], keep=""))


def make_statement(item: str, detail: str) -> Check:
    """Return the check of facts that only the bundle states: not checked, unless a known signer vouches for them."""
    return Check(item, "not checked", detail, is_statement=True)


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
                yield Check(DIGESTS, "differs", f"line {number} lists '{found[2]}' again")
            listed[found[2]] = found[1]
        else:
            yield Check(DIGESTS, "differs", f"line {number} is not a digest with a path")
    matched = 0
    for path, digest in listed.items():
        problem = _compare_digest(bundle, path, digest)
        if problem:
            yield Check(path, "differs", problem)
        else:
            matched += 1
    for path in bundle.paths:
        if path not in listed and path not in (DIGESTS, SIGNATURE):
            yield Check(path, "differs", f"is not listed in {DIGESTS}: it was added later")
    if matched:
        yield Check("files", "matched", f"{plural(matched, 'file has', 'files have')} the listed SHA-256 digest")


def _read_digest_lines(bundle: Bundle) -> list[str]:
    """Return the lines of the list of digests. Raise Unreadable or UnicodeDecodeError."""
    lines = bundle.read(DIGESTS, most=_MOST_LIST_BYTES).decode().splitlines()
    if len(lines) > MOST_FILES:
        raise Unreadable(f"has more than {MOST_FILES:,} lines")
    return lines


def _compare_digest(bundle: Bundle, path: str, digest: str) -> str:
    """Return how a file differs from its digest; an empty text if it does not."""
    if not bundle.has(path):
        return "is missing"
    try:
        found = bundle.compute_digest(path)
    except Unreadable as exc:
        return str(exc)
    return "" if found == digest else f"was changed: its SHA-256 digest is {found[:12]}…, not {digest[:12]}…"


def check_metadata(bundle: Bundle) -> Iterator[Check]:
    """Yield the violations of RO-Crate 1.1, and the differences between the metadata and the files."""
    try:
        problems = list(list_metadata_problems(bundle.read_object(CRATE), bundle))
    except Unreadable as exc:
        problems = [str(exc)]
    yield from (Check(CRATE, "differs", problem) for problem in problems)
    if not problems:
        yield Check(CRATE, "matched", "the metadata follows RO-Crate 1.1 and describes every file")


def list_metadata_problems(metadata: JsonObject, bundle: Bundle) -> Iterator[str]:
    """Yield what violates the rules of RO-Crate 1.1 for a descriptor, a root and files, or is untrue of the bundle."""
    graph: Any = metadata.get("@graph")
    if not isinstance(graph, list) or not all(
        isinstance(one, dict) and isinstance(one.get("@id"), str)  # pyright: ignore[reportUnknownMemberType]
        for one in cast("list[Any]", graph)
    ):
        yield "@graph is not a list of entities, each with an @id"
        return
    entities = {str(one["@id"]): cast("JsonObject", one) for one in cast("list[Any]", graph)}
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
            yield f"'{path}' is not described as a File"
        elif make_entity_id(path) not in parts:
            yield f"'{path}' is not a part of the root"
    for path, entity in entities.items():
        if _has_type(entity, "File"):
            yield from _list_file_problems(unquote(path), entity, bundle)


def _list_root_problems(root: JsonObject) -> Iterator[str]:
    for name in ("name", "description", "license"):
        if not root.get(name):
            yield f"the root has no {name}"
    if not _DATE.fullmatch(str(root.get("datePublished"))):
        yield "datePublished of the root is not a date such as 2026-01-31"


def _list_file_problems(path: str, entity: JsonObject, bundle: Bundle) -> Iterator[str]:
    if not bundle.has(path):
        yield f"'{path}' is described and missing"
        return
    try:
        if "sha256" in entity and bundle.compute_digest(path) != entity["sha256"]:
            yield f"'{path}' has another SHA-256 digest than the metadata states"
    except Unreadable as exc:
        yield f"'{path}' {exc}"


def _has_type(entity: JsonObject, name: str) -> bool:
    return name in _as_list(entity.get("@type"))


def _as_list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else [] if value is None else [value]


def _get_id(value: Any) -> Any:
    return cast("JsonObject", value).get("@id") if isinstance(value, dict) else None
